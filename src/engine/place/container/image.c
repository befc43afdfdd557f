/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/image.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/program.h"
#include "driver/engine/engine.h"

#include <string.h>

/* What agents call beside a shell. */
#define PACKAGES "ca-certificates,curl,git,less,procps"

enum { END_MS = 60000 };

static int find_program(struct error *err)
{
	if (program_is_installed("mmdebstrap"))
		return 0;
	return error_set(
		err, ERROR_UNAVAILABLE,
		"cannot make an image: mmdebstrap is not installed. Install it (Debian, Ubuntu, "
		"Fedora: package mmdebstrap), or use an image that the engine has: --image IMAGE");
}

static int start_program(const char *mirror, struct child *ret, struct error *err)
{
	/* The tar file comes last, when everything is downloaded and unpacked. */
	const char *const argv[] = {
		"mmdebstrap",
		"--quiet",
		"--variant=minbase",
		"--include=" PACKAGES,
		"--format=tar",
		"stable",
		"-",
		mirror,
		NULL,
	};
	struct child_request request = { .argv = argv };
	int r = child_start(&request, ret, err);
	return r == CHILD_NOT_INSTALLED ? find_program(err) : r;
}

/* Which of the two failed?  An archive that ends too soon makes no sense to the engine, either. */
static int finish(struct child *child, int imported, struct error *refusal, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error why = { 0 };
	if (imported < 0 && refusal->code != ERROR_CHILD) {
		child_abandon(child);
		return error_move(err, refusal);
	}
	int r = child_finish(child, clock_ms() + END_MS, &result, &why);
	if (r == 0 && result.exit_status != 0) {
		cleanup_free char *words = child_last_words(&result);
		return error_set(err, ERROR_CHILD, "mmdebstrap made no image: %s", words);
	}
	if (imported < 0)
		return error_move(err, refusal);
	return r < 0 ? error_move(err, &why) : 0;
}

/* Under another name until it is whole. */
static int import(struct engine *engine, const char *mirror, char **ret_id, struct error *err)
{
	struct child child;
	cleanup_free char *id = NULL;
	cleanup_error struct error why = { 0 };
	if (start_program(mirror, &child, err) < 0)
		return -1;
	int imported = engine_import(engine, child.output, CONTAINER_DEFAULT_REPOSITORY, "new", &id,
				     &why);
	if (finish(&child, imported, &why, err) < 0)
		return -1;
	*ret_id = TAKE_PTR(id);
	return 0;
}

int image_build_default(const char *engine_wish, const char *mirror, char **ret_id,
			struct error *err)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_engine struct engine *engine = NULL;
	cleanup_free char *id = NULL;
	if (find_program(err) < 0 || engine_find(engine_wish, NULL, &address, err) < 0 ||
	    engine_open(&address, &engine, err) < 0)
		return -1;
	int r = import(engine, mirror, &id, err);
	if (r == 0)
		r = engine_tag(engine, id, CONTAINER_DEFAULT_REPOSITORY, CONTAINER_DEFAULT_TAG,
			       err);
	/* An image that is not whole goes with its only name. */
	(void)engine_untag(engine, CONTAINER_DEFAULT_REPOSITORY ":new", NULL);
	if (r < 0)
		return -1;
	*ret_id = TAKE_PTR(id);
	return 0;
}
