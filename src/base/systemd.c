/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/systemd.h"

#include "base/library.h"

LIBRARY_NOTE("[{\"feature\":\"systemd\",\"description\":\"Scopes that outlive a logout\","
	     "\"priority\":\"required\",\"soname\":[\"libsystemd.so.0\"]}]");

struct systemd sd;

static const struct library_function functions[] = {
#define ENTRY(name) { "sd_" #name, (void **)&sd.name },
	SYSTEMD_FUNCTIONS(ENTRY)
#undef ENTRY
};

static struct library library = {
	.name = "libsystemd",
	.sonames = { "libsystemd.so.0" },
	.purpose = "which speaks to systemd",
	.packages = "libsystemd0 (Debian), systemd-libs (Fedora, Arch)",
	.functions = functions,
	.n_functions = ARRAY_SIZE(functions),
};

int systemd_load(struct error *err)
{
	if (library_load(&library, err) == 0)
		return 0;
	if (err)
		err->code = ERROR_SYSTEM;
	return -1;
}
