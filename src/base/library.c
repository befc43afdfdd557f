/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/library.h"

#include <dlfcn.h>

int library_load(struct library *library, struct error *err)
{
	if (library->is_loaded)
		return 0;
	void *handle = NULL;
	for (size_t i = 0; !handle && i < ARRAY_SIZE(library->sonames); i++)
		if (library->sonames[i])
			handle = dlopen(library->sonames[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return error_set(err, ERROR_UNAVAILABLE, "%s is missing, %s: install %s",
				 library->name, library->purpose, library->packages);
	for (size_t i = 0; i < library->n_functions; i++) {
		const struct library_function *function = &library->functions[i];
		*function->slot = dlsym(handle, function->name);
		if (!*function->slot)
			return error_set(err, ERROR_UNAVAILABLE,
					 "%s is too old, it lacks %s: install %s", library->name,
					 function->name, library->packages);
	}
	library->is_loaded = true;
	return 0;
}
