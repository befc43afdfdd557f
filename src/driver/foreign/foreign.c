/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/foreign.h"

const struct foreign_source *const foreign_sources[] = {
	&foreign_agent_deck,
	&foreign_empires,
	&foreign_squad,
	&foreign_directories,
	&foreign_tmux_assistant_resurrect,
	&foreign_tmux_resurrect,
	NULL,
};

size_t foreign_count(void)
{
	return ARRAY_SIZE(foreign_sources) - 1;
}

const struct foreign_source *foreign_find(const char *name)
{
	for (size_t i = 0; foreign_sources[i]; i++)
		if (streq(foreign_sources[i]->name, name))
			return foreign_sources[i];
	return NULL;
}
