/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/dispatch.h"

#include "base/log.h"
#include "base/version.h"
#include "cli/core/parse.h"
#include "cli/help/help.h"
#include "cli/main/route.h"
#include "cli/show/output.h"
#include "cli/show/progress.h"
#include "engine/deck/hint.h"
#include "engine/deck/once.h"
#include "engine/deck/stages.h"
#include "model/host/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void settle_process(void)
{
	/* Only for the width of text in tables.  All that programs read or write stays as in the C
	 * locale. */
	setlocale(LC_CTYPE, "");
	/* At its file size limit (RLIMIT_FSIZE) a write then fails with an error, as on a full
	 * disk, and we can report it. */
	(void)signal(SIGXFSZ, SIG_IGN);
	/* Occupy closed standard descriptors: a file of ours with that number would be printed
	 * into. */
	for (int fd = open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0 && fd <= STDERR_FILENO;)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Callers leave us signal settings that break our work.  A signal that they have us ignore (nohup)
 * is their user's wish. */
static void settle_signals(const struct command *command)
{
	sigset_t none;
	/* While it is ignored, the kernel keeps no status of a child (waitid(2)). */
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	if (!(command->flags & KEEPS_SIGNALS))
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Lines that only pass by are for a terminal. */
static void show_progress(const char *line, bool is_failure)
{
	if (is_failure || isatty(STDERR_FILENO))
		say_to(stderr, xasprintf("  | %s", line));
}

/* The variable is for no program that we start. */
static bool tells_stages(const struct app *app)
{
	const bool is_asked = getenv(ENV_STAGES) != NULL;
	(void)unsetenv(ENV_STAGES);
	return app->json || is_asked;
}

/* A pane of agent-deck's names its own profile.  Its user may have meant ours. */
static void tell_foreign_profile(struct app *app)
{
	cleanup_strvec struct strvec profiles = { 0 };
	const char *foreign = app->profile ? NULL : deck_env_foreign_profile();
	if (!foreign || streq(foreign, app->deck.profile) ||
	    deck_profiles(&app->deck, &profiles, NULL) < 0 ||
	    !(app->command->flags & MAKES_PROFILE || strvec_contains(&profiles, foreign)))
		return;
	strvec_pushf(&app->deck.warnings,
		     "AGENTDECK_PROFILE is agent-deck's in this terminal: using profile %s; "
		     "for another one use -p",
		     app->deck.profile);
}

/* No command can use a manifest that cannot be read. */
static int refuse_damaged(struct app *app, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	/* The row has only the message, not the kind of error. */
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0)
		return -1;
	return error_set(err, ERROR_CORRUPT, "%s", app->session->damage);
}

static int open_deck(struct app *app, struct error *err)
{
	const char *name = app->command->name;
	const unsigned flags = app->command->flags;
	const bool is_internal = app->command->kind == COMMAND_INTERNAL;
	if (!app->once && !(flags & (NEEDS_DECK | NEEDS_STORE | NEEDS_SESSION)))
		return 0;
	const char *component = strrchr(name, ' ') ? strrchr(name, ' ') + 1 : name;
	if ((flags & IS_STRICT ? deck_open(app->profile, component, &app->deck, err)
			       : deck_open_anyway(app->profile, component, &app->deck, err)) < 0)
		return -1;
	/* Before the output: some commands run long, and attach takes the terminal. */
	if (app->deck.config_problem && !is_internal) {
		strvec_push_take(&app->deck.warnings,
				 xasprintf("%s (using %s)", app->deck.config_problem,
					   deck_config_in_use(&app->deck)));
		print_warnings(app);
	}
	if (!is_internal)
		tell_foreign_profile(app);
	const bool tells = tells_stages(app);
	if (!app->quiet) {
		app->deck.on_progress = app->json ? progress_line : show_progress;
		app->deck.on_stage = tells ? progress_stage_line : progress_stage;
	}
	/* A caller from a new login hands that login's SSH agent to the sessions. */
	deck_refresh_ssh_agent(&app->deck);
	return 0;
}

static int open_store(struct app *app, struct error *err)
{
	const unsigned flags = app->command->flags;
	if (!(flags & (NEEDS_STORE | NEEDS_SESSION)))
		return 0;
	if ((!(flags & MAKES_PROFILE) && deck_check_profile(&app->deck, err) < 0) ||
	    deck_open_store(&app->deck, err) < 0)
		return -1;
	if (!(flags & NEEDS_SESSION))
		return 0;
	if (app_resolve(app, app->operands.items[0], &app->rows, &app->session, err) < 0)
		return -1;
	return app->session->damage ? refuse_damaged(app, err) : 0;
}

static int begin_once(const struct app *app, struct once *once, struct error *err)
{
	/* The one that started this worker has the id. */
	if (!app->once || app->instance)
		return 0;
	if ((app->kind != COMMAND_CHANGES && app->kind != COMMAND_TERMINAL) || !app->deck.profile)
		return error_set(err, ERROR_USAGE, "%s cannot be run with --once",
				 app->command->name);
	return once_begin(&app->deck, app->once,
			  app->kind == COMMAND_CHANGES ? ONCE_MUST_BE_KEPT : ONCE_MAY_BE_LOST, once,
			  err);
}

static int report_error(const struct app *app, const struct error *err)
{
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_failure(object, err);
		if (app->question) {
			json_set_string(object, "question", app->question);
			json_set_string(object, "consent", app->consent);
		}
		if (app->command && app->command->flags & JSON_LINES)
			print_json_line(object);
		else
			print_json(object);
	} else {
		/* The message may name files that a stranger's repository brought along. */
		complain("%s", err->message);
	}
	return error_exit_status(err->code);
}

static int run_here(struct app *app, struct error *err)
{
	struct once once = ONCE_NONE;
	int r = open_deck(app, err);
	if (r == 0)
		r = begin_once(app, &once, err);
	/* What refuses from here on has an end that its caller can ask for. */
	if (r == 0)
		r = open_store(app, err);
	if (r == 0)
		r = app->command->run(app, err);
	once_end(&once, r < 0 ? error_exit_status(err->code) : r);
	stages_end(&app->deck, r < 0 ? err : NULL);
	print_warnings(app);
	/* A profile that has sessions by now is not removed. */
	if (app->command->flags & MAKES_PROFILE && app->deck.store && store_is_new(app->deck.store))
		(void)deck_remove_profile(&app->deck, app->deck.profile, NULL);
	if (r < 0)
		log_error("%s: %s", app->command->name, err->message);
	return r;
}

static int run_command(struct app *app, const struct strvec *words, struct error *err)
{
	settle_signals(app->command);
	const int r = route_command(app, words, err);
	if (r != ROUTE_HERE)
		return r;
	/* What runs here starts commands of ours that are for this machine, too. */
	(void)unsetenv(REMOTE_VARIABLE);
	return run_here(app, err);
}

/* Help that the user asked for goes to standard output.  Else the command is missing. */
static int explain(const struct app *app)
{
	FILE *out = app->wants_help ? stdout : stderr;
	if (app->family)
		print_family(out, app->family);
	else
		print_help(out, app->command);
	return app->wants_help ? 0 : error_exit_status(ERROR_USAGE);
}

/* A full disk or a closed pipe must not look like success, even if it was so only for a while. */
static int check_output(int status)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != 0)
		return status;
	fprintf(stderr, "agentdeck: standard output: %s\n",
		errno ? strerror(errno) : "a part was not written");
	return 1;
}

#ifndef DEBUG_BUILD
/* Our mistake is not a reason to exit: the supervisor looks after other sessions. */
static void log_second_error(const char *first, const char *second)
{
	log_error("a second error, \"%s\", came after \"%s\": please report this", second, first);
}
#endif

static void print_version(const struct app *app)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "program", "agentdeck");
	json_set_string(object, "version", agentdeck_version);
	(void)print_done(app, object, xasprintf("agentdeck %s", agentdeck_version));
}

int dispatch(int argc, char *argv[])
{
#ifndef DEBUG_BUILD
	error_on_second(log_second_error);
#endif
	cleanup_app struct app app = { .words = (const char *const *)argv + 1 };
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error err = { 0 };

	settle_process();
	app.color = isatty(STDOUT_FILENO) && is_empty(getenv("NO_COLOR"));
	/* An error in the command line is JSON, too. */
	for (int i = 1; i < argc && !streq(argv[i], "--"); i++)
		app.json |= streq(argv[i], "--json");
	/* The parser moves the words, and overwrites those of a message. */
	strvec_push_array(&words, (const char *const *)argv + 1);
	int r = parse_command_line(&app, argc, argv, &err);
	if (r == 0 && app.via && remote_is_name(app.via))
		hint_set_host(app.via);
	if (r == 0 && app.wants_version)
		print_version(&app);
	else if (r == 0 && (app.wants_help || !app.command))
		r = explain(&app);
	else if (r == 0)
		r = run_command(&app, &words, &err);
	return check_output(r < 0 ? report_error(&app, &err) : r);
}
