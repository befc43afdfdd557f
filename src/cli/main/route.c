/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/route.h"

#include "base/child.h"
#include "base/termsize.h"
#include "base/version.h"
#include "cli/main/attached.h"
#include "cli/main/far.h"
#include "cli/main/fleet.h"
#include "cli/show/output.h"
#include "engine/deck/once.h"
#include "engine/hosts/hosts.h"
#include "engine/hosts/kept.h"
#include "model/session/naming.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { KILLED = 128 };

/* How long the other side waits for the end of a change whose answer was lost. */
#define ASK_WAIT_S "30"

struct target {
	const struct remote *remote; /* NULL: this machine */
	bool is_given;               /* by the command line */
};

/* Is the operand at this index a session, by the synopsis? */
static bool is_session(const struct app *app, size_t index)
{
	const struct command *command = app->command;
	if (command->flags & NAMES_HOSTS)
		return false;
	/* An option names the sessions: all operands are the message. */
	if (command->flags & TAKES_SEVERAL && command->flags & HAS_MESSAGE &&
	    (app->every || app->group || app->named.count))
		return false;
	for (const char *word = command->arguments; *word;) {
		const size_t length = strcspn(word, " ");
		if (index == 0 || memmem(word, length, "...", 3))
			return memmem(word, length, "SESSION", 7) != NULL;
		index--;
		word += length + strspn(word + length, " ");
	}
	return false;
}

/* What is asked of this program itself, as by a completion, is answered here. */
static const char *usual_host(const struct app *app)
{
	return app->command->flags & IS_OF_PROGRAM ? NULL : getenv(REMOTE_VARIABLE);
}

/* What this option has, if that is a session, as with --in; else NULL. */
static const char **session_of(const struct app *app, const struct command_option *option)
{
	void *at = (char *)app->options + option->offset;
	const char **value = at;
	const bool is_session = option->type == OPTION_TEXT && !option->is_of_app &&
				option->offer.kind == VALUE_SESSION;
	return is_session && *value ? value : NULL;
}

static bool may_name_host(const struct app *app)
{
	const struct command_option *option = app->command->options;
	for (; option && option->name; option++) {
		const char **value = session_of(app, option);
		if (value && strchr(*value, ':'))
			return true;
	}
	for (size_t i = 0; i < app->operands.count; i++)
		if (strchr(app->operands.items[i], ':') && is_session(app, i))
			return true;
	for (size_t i = 0; i < app->named.count; i++)
		if (strchr(app->named.items[i], ':'))
			return true;
	return app->host || !is_empty(usual_host(app));
}

static int find(const struct remotes *remotes, const char *name, const struct remote **ret,
		struct error *err)
{
	cleanup_free char *shown = visible(name);
	*ret = remotes_find(remotes, name);
	return *ret || streq(name, REMOTE_HERE)
		       ? 0
		       : error_set(err, ERROR_NOT_FOUND,
				   "there is no host '%s': agentdeck host list shows them", shown);
}

/* Take the host out of one word, and out of the same word of the line, at *at or behind it. */
static int split_word(char **word, const struct remotes *remotes, struct strvec *words, size_t *at,
		      struct target *target, struct error *err)
{
	const struct remote *remote;
	const char *session;
	cleanup_free char *named = xstrdup(*word);
	cleanup_free char *option = xasprintf("=%s", named);
	if (!remotes_split(remotes, named, &remote, &session))
		return 0;
	if (target->is_given && target->remote != remote)
		return error_set(err, ERROR_USAGE,
				 "%s: one command works on one host: name each of the others in a "
				 "command of its own",
				 named);
	*target = (struct target){ remote, true };
	replace_string(word, session);
	for (; *at < words->count; ++*at) {
		char **slot = &words->items[*at];
		const bool is_option = starts_with(*slot, "--") && ends_with(*slot, option);
		if (!is_option && !streq(*slot, named))
			continue;
		cleanup_free char *rest = xasprintf(
			"%.*s%s", is_option ? (int)(strlen(*slot) - strlen(named)) : 0, *slot,
			session);
		replace_string(slot, rest);
		++*at;
		break;
	}
	return 0;
}

static int split_options(struct app *app, const struct remotes *remotes, struct strvec *words,
			 struct target *target, struct error *err)
{
	const struct command_option *option = app->command->options;
	for (; option && option->name; option++) {
		const char **value = session_of(app, option);
		cleanup_free char *word = value ? xstrdup(*value) : NULL;
		size_t at = app->command_at;
		if (word && split_word(&word, remotes, words, &at, target, err) < 0)
			return -1;
		if (word)
			*value += strlen(*value) - strlen(word);
	}
	return 0;
}

static int split_operands(struct app *app, const struct remotes *remotes, struct strvec *words,
			  struct target *target, struct error *err)
{
	size_t at = app->command_at;
	for (size_t i = 0; i < app->operands.count; i++)
		if (is_session(app, i) &&
		    split_word(&app->operands.items[i], remotes, words, &at, target, err) < 0)
			return -1;
	at = app->command_at;
	for (size_t i = 0; i < app->named.count; i++)
		if (split_word(&app->named.items[i], remotes, words, &at, target, err) < 0)
			return -1;
	return split_options(app, remotes, words, target, err);
}

static int find_target(struct app *app, const struct remotes *remotes, struct strvec *words,
		       struct target *ret, struct error *err)
{
	const char *usual = usual_host(app);
	if (app->host && find(remotes, app->host, &ret->remote, err) < 0)
		return -1;
	ret->is_given = app->host;
	if (split_operands(app, remotes, words, ret, err) < 0)
		return -1;
	if (ret->is_given || is_empty(usual))
		return 0;
	return find(remotes, usual, &ret->remote, err) < 0 ? error_prefix(err, REMOTE_VARIABLE) : 0;
}

/* The words for the other side, which must not route them to a host of its own. */
static void make_words(const struct app *app, const struct strvec *line, const char *once,
		       const char *seat, const char *via, struct strvec *ret)
{
	strvec_push_array(ret, (const char *const[]){ "-H", REMOTE_HERE, NULL });
	if (app->profile)
		strvec_push_array(ret, (const char *const[]){ "-p", app->profile, NULL });
	if (once)
		strvec_push_array(ret, (const char *const[]){ "--once", once, NULL });
	if (seat)
		strvec_push_array(ret, (const char *const[]){ "--seat", seat, "--via", via, NULL });
	if (app->is_bare && app->kind != COMMAND_TERMINAL)
		strvec_push(ret, app->command->name);
	for (size_t i = app->command_at; i < line->count; i++)
		strvec_push(ret, line->items[i]);
}

/* Standard input goes along only where a word says that it is read: else a loop over the lines of
 * a file would lose them to its first command. */
static bool reads_input(const struct strvec *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (streq(words->items[i], "-") || ends_with(words->items[i], "=-"))
			return true;
	return false;
}

/* The id of a change, for a command that takes one; NULL: it has none.  The caller frees. */
static char *make_once(const struct app *app)
{
	const bool is_change = app->kind == COMMAND_CHANGES && !streq(app->command->name, "once") &&
			       app->command->flags & (NEEDS_DECK | NEEDS_STORE | NEEDS_SESSION);
	return app->once ? xstrdup(app->once) : is_change ? naming_new_uuid() : NULL;
}

static bool is_attach(const struct app *app)
{
	return streq(app->command->name, "session attach");
}

/* The link was lost during a change, which is never repeated.  Returns its exit status. */
static int settle(const struct app *app, struct deck *deck, const struct remote *remote,
		  const char *once, const char *why, struct error *err)
{
	cleanup_json struct json_object *answer = NULL;
	const char *host = remote->name, *name = app->command->name;
	if (!once || hosts_ask_once(deck, remote, once, ASK_WAIT_S, &answer, NULL) < 0)
		return error_set(err, ERROR_UNKNOWN,
				 "%s: the link is lost: %s; whether %s was done there is unknown: "
				 "ask with agentdeck -H %s %s%s, and do not repeat it before",
				 host, why, name, host, once ? "once " : "list", or_empty(once));
	const char *state = json_get_string(answer, "state", "");
	const int64_t status = json_get_int(answer, "status", -1);
	if (streq(state, once_state_words[ONCE_REFUSED]))
		return error_set(err, ERROR_UNREACHABLE,
				 "%s: the link was lost before %s began, and nothing was done: %s",
				 host, name, why);
	const bool has_ended = streq(state, once_state_words[ONCE_ENDED]) && status >= 0 &&
			       status <= UINT8_MAX;
	cleanup_free char *ended = has_ended ? xasprintf("%s ended there with exit status %d, and "
							 "its output is lost",
							 name, (int)status)
					     : xasprintf("%s has not ended there: ask with "
							 "agentdeck -H %s once %s",
							 name, host, once);
	if (app->json || !has_ended)
		return error_set(err, ERROR_UNKNOWN, "%s: the link was lost: %s; %s", host, why,
				 ended);
	complain("%s: the link was lost: %s; %s", host, why, ended);
	return (int)status;
}

/* One of two versions may not know a word of the command. */
static void name_gap(const struct remote *remote, const struct link *link)
{
	cleanup_free char *there = visible(link_hello(link)->version);
	if (!streq(there, agentdeck_version))
		complain("%s has agentdeck %s, and this is %s: if it does not know a word, update "
			 "the older one",
			 remote->name, there, agentdeck_version);
}

/* A start has the size of the terminal here, and hints the name that the host has here.  Another
 * version may not know these options. */
static void add_ours(const struct app *app, const struct link *link, const struct strvec *words,
		     const char *host, struct strvec *ret)
{
	cleanup_free char *size = app->size ? xstrdup(app->size) : termsize_here_text();
	const bool is_known = streq(link_hello(link)->version, agentdeck_version);
	if (size && is_known && app->kind == COMMAND_CHANGES)
		strvec_push_array(ret, (const char *const[]){ "--size", size, NULL });
	if (is_known)
		strvec_push_array(ret, (const char *const[]){ "--via", host, NULL });
	strvec_push_all(ret, words);
}

/* Does the command list sessions, for what is kept of the host? */
static bool lists_sessions(const struct app *app)
{
	const char *name = app->command->name;
	return app->json && (streq(name, "list") || streq(name, "events"));
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (streq(word, *words))
			return true;
	return false;
}

/* All sessions, unless an option that is not known here selects some. */
static enum kept_scope scope_of(const struct app *app)
{
	static const char *const usual[] = { "--json", "-A", "--all-hosts", NULL };
	static const char *const more[] = { "-a", "-aA", "-Aa", "--all-profiles", NULL };
	const bool is_events = streq(app->command->name, "events");
	enum kept_scope scope = KEPT_PROFILE;
	if (app->is_bare)
		return KEPT_SOME;
	for (const char *const *word = &app->words[app->command_at + 1]; *word; word++) {
		if (is_events && is_one_of(*word, more))
			scope = KEPT_ALL;
		else if (!is_one_of(*word, usual))
			return KEPT_SOME;
	}
	return scope;
}

static void hear(void *context, struct json_object *value)
{
	kept_hear(context, value);
}

static int run_there(struct app *app, struct deck *deck, const struct remote *remote,
		     const struct strvec *words, const char *once, struct error *err)
{
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec sized = { 0 };
	cleanup_error struct error why = { 0 };
	CLEANUP(kept_end) struct kept kept = { 0 };
	int status;
	if (hosts_open(deck, remote, &link, err) < 0 ||
	    (app->kind == COMMAND_CHANGES && hosts_check_machine(remote, link, err) < 0))
		return -1;
	add_ours(app, link, words, remote->name, &sized);
	struct far_order order = { .link = link,
				   .words = &sized,
				   .via = remote->name,
				   .json = app->json,
				   .is_change = app->kind == COMMAND_CHANGES,
				   .input = reads_input(words) ? STDIN_FILENO : -1 };
	if (lists_sessions(app)) {
		kept_begin(deck, remote, scope_of(app), app->profile, &kept);
		order.hear = hear;
		order.context = &kept;
	}
	const bool has_run = far_run(&order, &status, &why) == 0;
	if (order.hear && has_run && status == 0 && streq(app->command->name, "list"))
		kept_complete(&kept);
	if (order.hear)
		kept_save(&kept);
	if (has_run ? status == error_exit_status(ERROR_USAGE) : why.code == ERROR_USAGE)
		name_gap(remote, link);
	if (has_run)
		return status;
	if (why.code == ERROR_SYSTEM)
		return error_move(err, &why);
	if (why.code != ERROR_UNREACHABLE)
		return error_set(err, why.code, "%s: %s", remote->name, why.message);
	if (app->kind != COMMAND_CHANGES)
		return error_set(err, ERROR_UNREACHABLE, "%s: the link is lost: %s", remote->name,
				 why.message);
	return settle(app, deck, remote, once, why.message, err);
}

static int run_beside(const struct app *app, struct deck *deck, const struct remote *remote,
		      const struct strvec *words, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	struct termios before;
	const bool is_terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	const bool runs_program = app->command->flags & HAS_REST;
	cleanup_free char *once = way_of(remote)->is_sure ? NULL : naming_new_uuid();
	/* The pipes of a program stay pipes; the others say themselves what they need. */
	const struct hosts_order how = { remote, words, once,
					 !runs_program || (is_terminal && isatty(STDOUT_FILENO)),
					 false };
	int status = 0;
	if (hosts_argv(deck, &how, &argv, err) < 0)
		return -1;
	const int r = child_foreground_bound((const char *const *)strvec_argv(&argv), NULL, &status,
					     err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	bool is_lost = false;
	if (r == 0)
		status = hosts_end_of(deck, &how, status, &is_lost);
	if (r == 0 && is_terminal && (is_lost || (status > KILLED && !runs_program)))
		attached_restore_terminal(&before);
	if (r == 0 && is_lost && runs_program)
		return error_set(
			err, ERROR_UNKNOWN,
			"%s: %s or the program ended with 255: what it has done is unknown",
			remote->name, argv.items[0]);
	if (r == 0 && is_lost)
		return error_set(err, ERROR_UNREACHABLE, "%s: its %s has ended", remote->name,
				 argv.items[0]);
	return r < 0 ? -1 : status;
}

int route_command(struct app *app, const struct strvec *words, struct error *err)
{
	cleanup_deck struct deck deck = { 0 };
	cleanup_strvec struct strvec line = { 0 }, there = { 0 };
	struct target target = { 0 };
	/* What agentdeck itself calls is meant for the machine where that happens. */
	if (app->kind == COMMAND_INTERNAL && app->host && !streq(app->host, REMOTE_HERE))
		return error_set(err, ERROR_REFUSED, "%s is called by agentdeck itself",
				 app->command->name);
	if (app->command->flags & ASKS_A_HOST) {
		app->host = app->host ? app->host : usual_host(app);
		return ROUTE_HERE;
	}
	/* With -H it is for that host alone: so its own agentdeck asks no others. */
	const bool is_fleet = app->all_hosts && !app->host;
	if (app->kind == COMMAND_INTERNAL || (!is_fleet && !may_name_host(app)))
		return ROUTE_HERE;
	if (deck_open_anyway(NULL, "link", &deck, err) < 0)
		return -1;
	strvec_push_all(&line, words);
	if (is_fleet)
		return fleet_run(app, &deck, &line, err);
	if (find_target(app, &deck.settings.hosts, &line, &target, err) < 0)
		return -1;
	if (!target.remote)
		return ROUTE_HERE;
	cleanup_free char *once = make_once(app);
	cleanup_free char *seat = is_attach(app) ? naming_new_uuid() : NULL;
	make_words(app, &line, once, seat, target.remote->name, &there);
	const struct attached_order order = { &deck, target.remote, &there, app->profile };
	if (seat)
		return attached_run(&order, err);
	return app->kind == COMMAND_TERMINAL
		       ? run_beside(app, &deck, target.remote, &there, err)
		       : run_there(app, &deck, target.remote, &there, once, err);
}
