/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session whose agent has committed something.
 */
#pragma once

#include "unit/tree-fixture.h"

#define TREE "default/trees/" ID "/project"
#define MINE "git -c user.name=a -c user.email=a@b"
#define DO   "git add -A && " MINE " commit -q -m"

/* A session whose agent has committed the file b. */
static struct instance *begin(struct desk *desk, enum workspace_kind kind)
{
	struct instance *instance = new_tree(desk, kind);
	do_sh(desk,
	      "cd project && git config user.name u && git config user.email u@b && cd ../" TREE
	      " && echo b >b && " DO " agent");
	return instance;
}
