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
#include "engine/place/container/nestedwish.h"

struct options {
	const char *engine, *mirror;
	bool docker;
	struct strvec apt;
};

static const struct command_option options[] = {
	{ 0, "engine", "ENGINE", "docker, podman, or the URL of an engine",
	  TO_WORD(engine, container_engine_words) },
	{ 0, "mirror", "URL", "a mirror of Debian, instead of its own", TO_TEXT(mirror) },
	{ 0, "docker", NULL, "make the image for --docker rootless instead", TO_FLAG(docker) },
	{ 0, "aptopt", "TEXT", "an option of apt, as in apt.conf; may be given several times",
	  TO_LIST(apt) },
	{ 0 },
};

/* The engine lacks an image, and its user does not want it now. */
enum { IMAGE_MISSING = 1 };

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
		.is_docker = given->docker,
		.engine = given->engine ? given->engine : configured,
		.configured = configured,
		.mirror = given->mirror,
		.apt = &given->apt,
		.progress = is_watched ? show_phase : NULL,
	};
	cleanup_image_made struct image_made made = { 0 };
	if (image_build_default(&order, &made, err) < 0)
		return -1;
	say_to(out, xasprintf("Made the image %s (%s) in %s%s%s.",
			      given->docker ? NESTED_IMAGE : CONTAINER_DEFAULT_IMAGE, made.id,
			      made.engine, made.instead ? ", since docker does not answer: " : "",
			      or_empty(made.instead)));
	return 0;
}

static int offer_default(struct app *app, const struct container_order *order,
			 const struct error *why, struct error *err)
{
	if (app->json || !ask_is_possible() || !program_is_installed(CONTAINER_IMAGE_PROGRAM))
		return IMAGE_MISSING;
	complain("%s", why->message);
	if (ask_yes("Make it now? That takes a minute or two, and downloads Debian's packages.",
		    "The image was not made.", NULL) != 0)
		return IMAGE_MISSING;
	const struct options given = { .engine = order->engine };
	return make_image(app, &given, stderr, err);
}

static int offer_download(struct app *app, const char *image, const struct error *why)
{
	cleanup_free char *question = xasprintf("Download %s now?", image);
	const struct consent consent = { question, "The image was not downloaded.", "--pull",
					 why->message, why->code };
	if (!app->json && ask_is_possible())
		complain("%s", why->message);
	return ask_consent(app, &consent, NULL) == 0 ? 0 : IMAGE_MISSING;
}

/* Until the engine has all images: a build can begin from several. */
static int add(struct app *app, const struct lifecycle_new *wish,
	       const struct container_order *given, struct instance **ret, struct error *err)
{
	struct container_order order = *given;
	struct lifecycle_new asking = *wish;
	cleanup_strvec struct strvec agreed = { 0 };
	bool was_made = false;
	asking.container = &order;
	for (;;) {
		cleanup_free char *missing = NULL;
		struct error why = { 0 };
		order.ret_missing = &missing;
		order.pulls = &agreed;
		if (lifecycle_add(&app->deck, &asking, ret, &why) == 0)
			return 0;
		const bool is_default = streq(or_empty(missing), CONTAINER_DEFAULT_IMAGE);
		const int r = !missing || was_made ? IMAGE_MISSING
			      : is_default         ? offer_default(app, given, &why, err)
						   : offer_download(app, missing, &why);
		if (r == IMAGE_MISSING)
			return error_move(err, &why);
		error_clear(&why);
		if (r < 0)
			return -1;
		was_made = is_default;
		strvec_push(&agreed, missing);
	}
}

int image_add(struct app *app, const struct lifecycle_new *wish, struct instance **ret,
	      struct error *err)
{
	cleanup_role_answers struct role_answers answers = { 0 };
	stages_enter(&app->deck, STAGE_ROLE);
	if (!wish->container)
		return lifecycle_add(&app->deck, wish, ret, err);
	struct container_order order = *wish->container;
	if ((order.role && role_consent(app, order.role, err) < 0) ||
	    role_ask_variables(app, &order, &answers, err) < 0)
		return -1;
	return add(app, wish, &order, ret, err);
}

static int cmd_image_build_default(struct app *app, struct error *err)
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
	.run = cmd_image_build_default,
};
