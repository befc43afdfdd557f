/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/way.h"

#include <unistd.h>

bool way_has_socket(const struct way_files *files)
{
	return files->control && access(files->control, F_OK) == 0;
}

const struct way *way_of(const struct remote *remote)
{
	static const struct way *const ways[REMOTE_KINDS] = {
		[REMOTE_SSH] = &way_ssh,
		[REMOTE_KUBERNETES] = &way_kubernetes,
	};
	return ways[remote_kind(remote)];
}

int way_check(const struct remote *remote, enum way_ability ability, struct error *err)
{
	const char *lacks = way_of(remote)->lacks[ability];
	return lacks ? error_set(err, ERROR_INVALID, "%s: %s", remote->name, lacks) : 0;
}
