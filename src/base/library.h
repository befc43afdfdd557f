/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Optional shared libraries: loaded when they are first needed, so that a program starts without
 * them and a missing one costs only what it is for.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the address of one function goes. */
struct library_function {
	const char *name;
	void **slot;
};

/* All strings and arrays are static. */
struct library {
	const char *name;       /* as people know it: "libcurl" */
	const char *sonames[3]; /* tried in this order; unused ones are NULL */
	const char *purpose;    /* "which speaks to container engines" */
	const char *packages;   /* "libcurl4 (Debian), libcurl (Fedora)" */
	const struct library_function *functions;
	size_t n_functions;
	bool is_loaded;
};

/* Load library and fill the slots of its functions.  Does nothing the second time: the library
 * stays loaded until the process ends.  ERROR_UNAVAILABLE, with the packages to install: it is
 * missing, or it lacks one of the functions. */
int library_load(struct library *library, struct error *err);

/* Tells package managers what this program may load later.  json is a string literal, see
 * https://uapi-group.org/specifications/specs/elf_dlopen_metadata/.  At most once in a file. */
#define LIBRARY_NOTE(json)                                                                    \
	static const struct {                                                                 \
		uint32_t owner_size, text_size, type;                                         \
		char owner[4];                                                                \
		char text[(sizeof(json) + 3) & ~(size_t)3];                                   \
	} library_note __attribute__((used, retain, section(".note.dlopen"), aligned(4))) = { \
		sizeof("FDO"), sizeof(json), 0x407c0c0aU, "FDO", json,                        \
	}
