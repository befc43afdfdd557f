/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/image.h"

#include "base/program.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/containeropts.h"
#include "cli/cmd/roleask.h"
#include "cli/cmd/roles.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "engine/deck/stages.h"
#include "engine/place/container/image.h"

struct options {
	const char *engine, *mirror;
	struct strvec apt;
};

static const struct command_option options[] = {
	{ 0, "engine", "ENGINE", "docker, podman, or the URL of an engine",
	  TO_WORD(engine, container_engine_words) },
	{ 0, "mirror", "URL", "a mirror of Debian, instead of its own", TO_TEXT(mirror) },
	{ 0, "aptopt", "TEXT", "an option of apt, as in apt.conf; may be given several times",
	  TO_LIST(apt) },
	{ 0 },
};

/* The build takes a minute, and progress is for a person at a terminal. */
static void show_phase(const char *phase, void *data UNUSED)
{
	complain("%s ...", phase);
}

static int make_image(const struct app *app, const struct options *given, FILE *out,
		      struct error *err)
{
	const char *configured = app->deck.settings.container.engine;
	const bool is_watched = !app->quiet && isatty(STDERR_FILENO);
	const struct image_order order = {
		.engine = given->engine ? given->engine : configured,
		.configured = configured,
		.mirror = given->mirror,
		.apt = &given->apt,
		.progress = is_watched ? show_phase : NULL,
	};
	cleanup_image_made struct image_made made = { 0 };
	if (image_build_default(&order, &made, err) < 0)
		return -1;
	say_to(out, xasprintf("Made the image %s (%s) in %s%s%s.", CONTAINER_DEFAULT_IMAGE, made.id,
			      made.engine, made.instead ? ", since docker does not answer: " : "",
			      or_empty(made.instead)));
	return 0;
}

int image_add(struct app *app, const struct lifecycle_new *wish, struct instance **ret,
	      struct error *err)
{
	struct error why = { 0 };
	bool lacks_default_image = false;
	struct container_order container = { 0 };
	cleanup_role_answers struct role_answers answers = { 0 };
	struct lifecycle_new asking = *wish;
	stages_enter(&app->deck, STAGE_ROLE);
	if (wish->container && wish->container->role &&
	    role_consent(app, wish->container->role, err) < 0)
		return -1;
	if (wish->container) {
		container = *wish->container;
		container.ret_lacks_default_image = &lacks_default_image;
		asking.container = &container;
		if (role_ask_variables(app, &container, &answers, err) < 0)
			return -1;
	}
	int r = lifecycle_add(&app->deck, &asking, ret, &why);
	if (r == 0)
		return 0;
	if (!lacks_default_image || app->json || !ask_is_possible() ||
	    !program_is_installed(CONTAINER_IMAGE_PROGRAM))
		return error_move(err, &why);
	complain("%s", why.message);
	if (ask_yes("Make it now? That takes a minute or two, and downloads Debian's packages.",
		    "The image was not made.", NULL) != 0)
		return error_move(err, &why);
	error_clear(&why);
	const struct options order = { .engine = wish->container->engine };
	return make_image(app, &order, stderr, err) < 0
		       ? -1
		       : lifecycle_add(&app->deck, &asking, ret, err);
}

static int cmd_image(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	return make_image(app, given, stdout, err);
}

const struct command command_image_build_default = {
	.name = "image build-default",
	.kind = COMMAND_CHANGES,
	.arguments = "",
	.summary = "make the image for sessions in containers",
	OWN_OPTIONS,
	.flags = NEEDS_DECK,
	.run = cmd_image,
};
