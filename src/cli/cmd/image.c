/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "cli/cmd/containeropts.h"
#include "engine/place/container/image.h"

struct options {
	const char *engine, *mirror;
};

static const struct command_option options[] = {
	{ 0, "engine", "ENGINE", "docker, podman, or the URL of an engine",
	  TO_WORD(engine, container_engine_words) },
	{ 0, "mirror", "URL", "a mirror of Debian, instead of its own", TO_TEXT(mirror) },
	{ 0 },
};

/* It takes a minute.  Nobody waits without a terminal. */
static void show_phase(const char *phase, void *data UNUSED)
{
	complain("%s ...", phase);
}

static int run(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *configured = app->deck.settings.container.engine;
	const bool is_watched = !app->quiet && isatty(STDERR_FILENO);
	const struct image_order order = {
		.engine = given->engine ? given->engine : configured,
		.configured = configured,
		.mirror = given->mirror,
		.progress = is_watched ? show_phase : NULL,
	};
	cleanup_free char *id = NULL;
	if (image_build_default(&order, &id, err) < 0)
		return -1;
	say("Made the image %s (%s).", CONTAINER_DEFAULT_IMAGE, id);
	return 0;
}

const struct command command_image_build_default = {
	.name = "image build-default",
	.arguments = "",
	.summary = "make the image for sessions in containers",
	OWN_OPTIONS,
	.flags = NEEDS_DECK,
	.run = run,
};
