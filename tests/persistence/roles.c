/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/roles.h"

static void git(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("git", "-C", at_home("roles"), "-c", "user.name=a", "-c",
				      "user.email=a@b"));
	strvec_push_array(argv, words);
	(void)machine_user_ok((const char *const *)argv->items);
}

void roles_begin(const char *dockerfile)
{
	machine_write(at_home("roles/web/Dockerfile"), 0644, dockerfile);
	git(WORDS("init", "--quiet", "-b", "main"));
}

void roles_commit(const char *role)
{
	machine_write(at_home("roles/web/devcontainer.json"), 0644, role);
	git(WORDS("add", "-A"));
	git(WORDS("commit", "--quiet", "-m", "a role"));
}

void roles_lose(void)
{
	(void)machine_user_ok(WORDS("mv", at_home("roles"), at_home("away")));
}
