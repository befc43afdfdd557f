/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `session move` leads the two ends of a move (docs/move.md).  Each step is a command of its own at
 * one end, which this one runs with -H.  It keeps nothing itself: killed anywhere, the same command
 * asks both ends, and continues.
 */
#include "cli/cmd/session-move.h"
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"

#include "base/child.h"
#include "base/machine.h"
#include "driver/archive/archive.h"
#include "driver/git/cargo.h"
#include "engine/deck/hint.h"
#include "engine/hosts/kept.h"
#include "model/host/remote.h"
#include "model/session/move.h"
#include "model/session/naming.h"

#include <signal.h>
#include <unistd.h>

enum {
	STATUS_ABSENT = 2,
	STATUS_UNREACHABLE = 69,
	STATUS_UNKNOWN = 70,
	TREE_COMMITS_MAX = 1000,
	STATUS_UNREAD = 128 + SIGPIPE, /* what it wrote was not read */
};

struct options {
	struct move_words words;
	const char *path, *title;
	bool with_tree, abandons, is_lost;
};

static const struct command_option options[] = {
	{ 0, "to", "HOST", "where it goes: a host of config.toml, or local",
	  TO_VALUE(words.to, VALUE_HOST) },
	{ 0, "path", "DIR", "where it works there, instead of its directory here",
	  TO_VALUE(path, VALUE_DIRECTORY) },
	{ 0, "with-tree", NULL, "with its worktree: its commits, changes, new files and stashes",
	  TO_FLAG(with_tree) },
	{ 't', "title", "TITLE", "its title there; default: the one that it has", TO_TEXT(title) },
	{ 0, "abandon", NULL, "end a move that was begun: the session stays where it is",
	  TO_FLAG(abandons) },
	{ 0, "lost", NULL, "with --abandon: the other host is lost for good, and so is its copy",
	  TO_FLAG(is_lost) },
	{ 0, "step", "STEP", "one step at this end, for the agentdeck that leads the move",
	  TO_TEXT(words.step), .is_hidden = true },
	{ 0, "id", "ID", "the move that the step is of", TO_TEXT(words.id), .is_hidden = true },
	{ 0 },
};

/* ---- both ends -------------------------------------------------------------------------------- */

struct end {
	const struct remote *remote; /* NULL: this machine */
	const char *name;            /* for -H */
	const char *shown;           /* for the other end */
};

struct mover {
	struct app *app;
	struct end from, to;
	const char *named;        /* as its user did, without the host */
	char *id, *title;         /* of the session, which both ends have */
	char *move;               /* id of the move */
	enum move_state state;    /* of the session at its end */
	char *host;               /* that it says it moves to or from */
	char *agent, *session_id; /* NULL: no conversation */
	char *tree, *directory;   /* as cargo, and where it works in its repository; or NULL */
	char *branch;             /* that the tree has become at the other end; or NULL */
};

static void mover_end(struct mover *mover)
{
	free(mover->id);
	free(mover->title);
	free(mover->move);
	free(mover->host);
	free(mover->agent);
	free(mover->session_id);
	free(mover->tree);
	free(mover->directory);
	free(mover->branch);
}

static struct end end_of(const struct remote *remote)
{
	return (struct end){ .remote = remote,
			     .name = remote ? remote->name : REMOTE_HERE,
			     .shown = remote ? remote->name : machine_host() };
}

static void add_words(const struct mover *mover, const struct end *end, const char *const *words,
		      struct strvec *ret)
{
	strvec_push_array(ret,
			  (const char *const[]){ mover->app->deck.program, "-H", end->name, NULL });
	if (mover->app->profile)
		strvec_push_array(ret, (const char *const[]){ "-p", mover->app->profile, NULL });
	strvec_push_array(ret, words);
}

/* What a command at one end said, with --json.  Its exit status; *ret is the caller's. */
struct answer {
	int status;
	struct json_object *object; /* NULL: it was no JSON */
	char *words;
};

static void answer_end(struct answer *answer)
{
	json_object_put(answer->object);
	free(answer->words);
}
#define cleanup_answer CLEANUP(answer_end)

static void take_answer(const struct child_result *result, struct answer *ret)
{
	ret->status = result->exit_status;
	(void)json_parse(strbuf_text(&result->output), result->output.length, "the answer",
			 &ret->object, NULL);
	ret->words = xstrdup_or_null(json_get_string(ret->object, "error", NULL));
	if (!ret->words)
		ret->words = child_last_words(result);
}

static int ask_end(const struct mover *mover, const struct end *end, const char *const *words,
		   struct answer *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	struct child child;
	add_words(mover, end, words, &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv) };
	const int r = child_start(&request, &child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not there any more", argv.items[0]);
	if (r < 0 || child_finish(&child, INT64_MAX, &result, err) < 0)
		return -1;
	take_answer(&result, ret);
	return 0;
}

static bool is_unknown(int status)
{
	return status == STATUS_UNREACHABLE || status == STATUS_UNKNOWN || status > 128;
}

/* Fail with the words of the other end. */
static int fail_answer(const struct end *end, const struct answer *answer, struct error *err)
{
	const enum error_code code = answer->status == STATUS_ABSENT        ? ERROR_NOT_FOUND
				     : answer->status == STATUS_UNREACHABLE ? ERROR_UNREACHABLE
				     : answer->status == STATUS_UNKNOWN     ? ERROR_UNKNOWN
									    : ERROR_INVALID;
	cleanup_free char *words = visible(answer->words);
	const char *after = is_unknown(answer->status) ? "; run this again, it continues" : "";
	return end->remote && !starts_with(words, end->name)
		       ? error_set(err, code, "%s: %s%s", end->name, words, after)
		       : error_set(err, code, "%s%s", words, after);
}

static int look(const struct mover *mover, const struct end *end, const char *session,
		struct answer *ret, struct error *err)
{
	return ask_end(mover, end,
		       (const char *const[]){ "session", "show", session, "--json", NULL }, ret,
		       err);
}

static enum move_state state_of(const struct answer *answer)
{
	return move_state_parse(
		json_get_string(answer->object, "move", move_state_words[MOVE_NONE]));
}

static bool is_of(const struct answer *answer, const char *move)
{
	return streq(json_get_string(answer->object, "move_id", ""), move);
}

/* What the end that is asked to give the session away says about it. */
static int look_at_session(struct mover *mover, const char *session, struct error *err)
{
	cleanup_answer struct answer answer = { 0 };
	if (look(mover, &mover->from, session, &answer, err) < 0)
		return -1;
	if (answer.status != 0) {
		(void)fail_answer(&mover->from, &answer, err);
		return -1;
	}
	const char *id = json_get_string(answer.object, "id", "");
	const char *move = json_get_string(answer.object, "move_id", "");
	if (!naming_is_id(id) || (*move && !naming_is_uuid(move)))
		return error_set(err, ERROR_CORRUPT, "%s says nothing of use about the session",
				 mover->from.name);
	mover->id = xstrdup(id);
	mover->title = visible(json_get_string(answer.object, "title", ""));
	mover->host = visible(json_get_string(answer.object, "move_host", ""));
	mover->agent = xstrdup(json_get_string(answer.object, "agent", ""));
	mover->session_id = xstrdup_or_null(json_get_string(answer.object, "session_id", NULL));
	mover->state = state_of(&answer);
	mover->move = *move && move_blocks(mover->state) ? xstrdup(move) : naming_new_uuid();
	return 0;
}

static int step(const struct mover *mover, const struct end *end, enum move_step step,
		struct answer *ret, struct error *err)
{
	const char *const words[] = {
		"session",
		"move",
		mover->id,
		"--step",
		move_step_name(step),
		"--id",
		mover->move,
		"--to",
		mover->to.shown ? mover->to.shown : "",
		"--json",
		NULL,
	};
	return ask_end(mover, end, words, ret, err);
}

/* A step that has to succeed.  An answer that is lost is asked for again by the same command. */
static int must(const struct mover *mover, const struct end *end, enum move_step which,
		struct error *err)
{
	cleanup_answer struct answer answer = { 0 };
	if (step(mover, end, which, &answer, err) < 0)
		return -1;
	return answer.status == 0 ? 0 : fail_answer(end, &answer, err);
}

/* ---- to the other end ------------------------------------------------------------------------- */

/* How a command ended that was part of the transfer. */
static int finish(struct child *child, struct answer *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (child_finish(child, INT64_MAX, &result, err) < 0)
		return -1;
	take_answer(&result, ret);
	return 0;
}

/* What the import is told of the session.  instead: the move that the session there was seen in. */
static void add_import(const struct mover *mover, const char *instead, struct strvec *ret)
{
	const struct options *given = mover->app->options;
	const char *directory = given->path ? given->path : mover->directory;
	const char *const pairs[][2] = {
		{ "--instead", instead },
		{ "--directory", directory },
		{ "--title", given->title },
		{ "--tree", mover->tree },
	};
	add_words(mover, &mover->to,
		  (const char *const[]){ "session", "import", ARCHIVE_STANDARD, "--move",
					 mover->move, "--session", mover->id, "--from",
					 mover->from.shown, "--json", NULL },
		  ret);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i][1])
			strvec_push_array(ret,
					  (const char *const[]){ pairs[i][0], pairs[i][1], NULL });
}

static int start(const struct strvec *argv, int source, struct child *ret, struct error *err)
{
	const struct child_request request = { .argv = (const char *const *)strvec_argv(argv),
					       .source = source };
	const int r = child_start(&request, ret, err);
	return r > 0 ? error_set(err, ERROR_UNAVAILABLE, "%s is not there any more", argv->items[0])
		     : r;
}

/* From one end to the other through a pipe.  The import believes only the whole of it. */
static int pipe_through(const struct strvec *export, const struct strvec *import,
			struct answer *exported, struct answer *imported, struct error *err)
{
	struct child from, to;
	if (start(export, 0, &from, err) < 0)
		return -1;
	if (start(import, from.output, &to, err) < 0) {
		child_abandon(&from);
		return -1;
	}
	(void)close(from.output);
	from.output = -1;
	to.before = &from;
	const int ended = finish(&to, imported, err);
	if (ended < 0)
		child_abandon(&from);
	return ended < 0 ? -1 : finish(&from, exported, err);
}

/* have: the tree goes, and these commits are there already; NULL: the session does. */
static int transfer(const struct mover *mover, const char *instead, const char *have,
		    struct answer *exported, struct answer *imported, struct error *err)
{
	cleanup_strvec struct strvec export = { 0 }, import = { 0 };
	add_words(mover, &mover->from,
		  (const char *const[]){ "session", "export", mover->id, ARCHIVE_STANDARD, "--move",
					 mover->move, NULL },
		  &export);
	add_import(mover, instead, &import);
	if (have) {
		strvec_push_array(&export, (const char *const[]){ "--tree-but", have, NULL });
		strvec_push(&import, "--is-tree");
	}
	return pipe_through(&export, &import, exported, imported, err);
}

/* The move cannot be done: the session stays where it is.  The copy cannot be started whether or
 * not it can be removed now. */
static int give_back(const struct mover *mover, struct error *why, struct error *err)
{
	cleanup_answer struct answer back = { 0 }, dropped = { 0 };
	if (step(mover, &mover->from, MOVE_STEP_BACK, &back, NULL) < 0 || back.status != 0)
		return error_set(err, why->code,
				 "%s; to keep the session where it is, run agentdeck session move "
				 "%s%s%s --abandon",
				 why->message, mover->from.remote ? mover->from.name : "",
				 mover->from.remote ? ":" : "", mover->id);
	(void)step(mover, &mover->to, MOVE_STEP_DROP, &dropped, NULL);
	return error_move(err, why);
}

/* Another machine says which session it gives away.  One of ours comes back only from where it is,
 * and only by its name here: that machine may call any session what it likes. */
static int check_return(const struct mover *mover, const struct answer *there, struct error *err)
{
	cleanup_free char *host = visible(json_get_string(there->object, "move_host", ""));
	cleanup_free char *title = visible(json_get_string(there->object, "title", ""));
	const enum move_state state = state_of(there);
	if (there->status != 0 || !mover->from.remote || !move_blocks(state))
		return 0;
	if (!streq(host, mover->from.shown))
		return error_set(err, ERROR_INVALID,
				 "session '%s' (%s) %s %s, and comes only from there, not from %s",
				 title, mover->id,
				 state == MOVE_MOVED ? "was moved to" : "is moving to or from",
				 host, mover->from.shown);
	if (!streq(mover->named, mover->id) && !streq(mover->named, title))
		return error_set(err, ERROR_INVALID,
				 "%s gives session %s, which is '%s' here: if that is the one to "
				 "move, name it %s:%s",
				 host, mover->id, title, host, mover->id);
	return 0;
}

/* A refusal has words of its own: without an answer, the link may be the reason.  A file that was
 * cut off says less than why that happened, unless its reader did that. */
static bool is_refusal(const struct answer *imported, const struct answer *exported)
{
	const char *code = json_get_string(imported->object, "code", "");
	return imported->status != 0 && !is_unknown(imported->status) && *code &&
	       (exported->status == 0 || exported->status == STATUS_UNREAD ||
		!streq(code, error_code_name(ERROR_CORRUPT)));
}

/* Does the sender say why it does not send?  It had the session a moment ago: where it is not found
 * now, its state cannot be read. */
static bool is_sure(const struct answer *exported)
{
	return exported->status != 0 && exported->status != STATUS_ABSENT &&
	       !is_unknown(exported->status);
}

/* How the two ends of a transfer ended.  SEND_REFUSED: *why says why it cannot be done.  -1: that
 * is not known. */
enum { SEND_REFUSED = 1 };
static int judge(const struct mover *mover, const struct answer *exported,
		 const struct answer *imported, struct error *why, struct error *err)
{
	/* The receiver has proved the whole.  It reads no further than that, so that a sender on a
	 * host can be cancelled before it has said that it is done. */
	if (imported->status == 0)
		return 0;
	/* A receiver that refuses stops reading, so the sender ends by a signal. */
	if (is_refusal(imported, exported)) {
		(void)fail_answer(&mover->to, imported, why);
		return SEND_REFUSED;
	}
	if (is_unknown(imported->status))
		return fail_answer(&mover->to, imported, err);
	/* Where all of it has come, the session must not start where it was. */
	if (imported->status != 0 && is_sure(exported)) {
		(void)fail_answer(&mover->from, exported, why);
		return SEND_REFUSED;
	}
	if (exported->status == STATUS_UNREACHABLE || exported->status == STATUS_UNKNOWN)
		return fail_answer(&mover->from, exported, err);
	return error_set(err, ERROR_UNKNOWN,
			 "the transfer from %s to %s was cut off: run this again, it continues; "
			 "--abandon ends the move",
			 mover->from.shown, mover->to.shown);
}

static int send_session(struct mover *mover, const struct answer *there, struct error *why,
			struct error *err)
{
	cleanup_answer struct answer exported = { 0 }, imported = { 0 };
	const char *instead = json_get_string(there->object, "move_id", NULL);
	return transfer(mover, instead, NULL, &exported, &imported, err) < 0
		       ? -1
		       : judge(mover, &exported, &imported, why, err);
}

/* Ask an end for a step with the tree.  why: the step cannot be done. */
static int ask_for_tree(const struct mover *mover, const struct end *end, const char *step,
			struct answer *ret, struct error *why, struct error *err)
{
	const struct options *given = mover->app->options;
	const char *directory = given->path ? given->path : or_empty(mover->directory);
	const char *const words[] = { "session",   "move",   mover->id,
				      "--step",    step,     "--id",
				      mover->move, "--path", *directory ? directory : "/",
				      "--json",    NULL };
	if (ask_end(mover, end, words, ret, err) < 0)
		return -1;
	if (is_unknown(ret->status))
		return fail_answer(end, ret, err);
	if (ret->status == 0)
		return 0;
	(void)fail_answer(end, ret, why);
	return SEND_REFUSED;
}

/* What is no commit is left out. */
static char *join_commits(struct json_object *list)
{
	cleanup_strvec struct strvec commits = { 0 };
	const size_t count = json_object_is_type(list, json_type_array)
				     ? json_object_array_length(list)
				     : 0;
	for (size_t i = 0; i < count && i < TREE_COMMITS_MAX; i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(list, i));
		if (cargo_is_commit(or_empty(name)))
			strvec_push(&commits, name);
	}
	return strvec_join(&commits, ",");
}

/* To the repository there, where it changes nothing yet. */
static int send_tree(struct mover *mover, struct error *why, struct error *err)
{
	cleanup_answer struct answer packed = { 0 }, list = { 0 };
	cleanup_answer struct answer exported = { 0 }, imported = { 0 };
	const struct options *given = mover->app->options;
	int r = given->with_tree
			? ask_for_tree(mover, &mover->from, MOVE_TREE_PACK, &packed, why, err)
			: 0;
	if (r != 0 || !given->with_tree)
		return r;
	const char *tree = json_get_string(packed.object, "tree", "");
	const char *directory = json_get_string(packed.object, "directory", "");
	if (!cargo_is_commit(tree) || *directory != '/')
		return error_set(err, ERROR_CORRUPT, "%s says nothing of use about the tree",
				 mover->from.name);
	mover->tree = xstrdup(tree);
	mover->directory = xstrdup(directory);
	r = ask_for_tree(mover, &mover->to, MOVE_TREE_LIST, &list, why, err);
	if (r != 0)
		return r;
	cleanup_free char *have = join_commits(json_object_object_get(list.object, "commits"));
	return transfer(mover, NULL, have, &exported, &imported, err) < 0
		       ? -1
		       : judge(mover, &exported, &imported, why, err);
}

static int send_it(struct mover *mover, struct error *err)
{
	cleanup_answer struct answer there = { 0 };
	cleanup_error struct error why = { 0 };
	if (look(mover, &mover->to, mover->id, &there, err) < 0)
		return -1;
	/* The answer was lost, or this command was killed. */
	if (there.status == 0 && is_of(&there, mover->move) && state_of(&there) == MOVE_READY)
		return 0;
	int r = SEND_REFUSED;
	if (is_unknown(there.status))
		(void)fail_answer(&mover->to, &there, &why);
	else if (check_return(mover, &there, &why) == 0)
		r = send_tree(mover, &why, err);
	if (r == 0)
		r = send_session(mover, &there, &why, err);
	return r == SEND_REFUSED ? give_back(mover, &why, err) : r;
}

static int print_moved(const struct mover *mover)
{
	struct json_object *object = json_success(mover->id, mover->title);
	const char *to = mover->to.remote ? mover->to.name : NULL;
	cleanup_free char *hint = hint_named(mover->app->profile, mover->id);
	json_set_string(object, "moved_to", to);
	json_set_string(object, "move_id", mover->move);
	json_set_string(object, "tree_branch", mover->branch);
	cleanup_free char *branch = visible(or_empty(mover->branch));
	cleanup_free char *kept = *branch ? xasprintf("; its tree from %s is branch %s %s",
						      mover->from.shown, branch,
						      to ? "there" : "here")
					  : NULL;
	return print_done(mover->app, object,
			  to ? xasprintf("%s: moved to %s%s; agentdeck -H %s start %s starts it",
					 mover->title, to, or_empty(kept), to, hint)
			     : xasprintf("%s: moved here from %s%s; agentdeck start %s starts it",
					 mover->title, mover->from.name, or_empty(kept), hint));
}

static int check_direction(const struct mover *mover, struct error *err)
{
	if (mover->state == MOVE_ARRIVING || mover->state == MOVE_READY ||
	    mover->state == MOVE_OTHER)
		return error_set(err, ERROR_INVALID,
				 "session '%s' is still arriving from %s: repeat the agentdeck "
				 "session move that was begun",
				 mover->title, mover->host);
	if (move_blocks(mover->state) && !streq(mover->host, mover->to.shown))
		return error_set(err, ERROR_INVALID,
				 "session '%s' %s to %s: name that host with --to%s", mover->title,
				 mover->state == MOVE_MOVED ? "was moved" : "is moving",
				 mover->host,
				 mover->state == MOVE_MOVED ? ""
							    : ", or end that move with "
							      "--abandon");
	return 0;
}

/* A third host can have the conversation.  The two ends look for themselves. */
static int check_others(const struct mover *mover, struct error *err)
{
	struct app *app = mover->app;
	const struct kept_question question = { .agent = mover->agent,
						.session_id = mover->session_id,
						.id = mover->id,
						.except = { mover->from.remote,
							    mover->to.remote } };
	if (move_blocks(mover->state))
		return 0;
	if (kept_check(&app->deck, &question, err) < 0)
		return -1;
	print_warnings(app);
	return 0;
}

/* The last step.  It also tells what came where an earlier command sent that. */
static int take(struct mover *mover, struct error *err)
{
	cleanup_answer struct answer answer = { 0 };
	const struct options *given = mover->app->options;
	if (step(mover, &mover->to, MOVE_STEP_TAKE, &answer, err) < 0)
		return -1;
	if (answer.status != 0) {
		(void)fail_answer(&mover->to, &answer, err);
		return error_prefix(err, "%s has let go of it, and nothing is lost: run this again",
				    mover->from.shown);
	}
	mover->branch = xstrdup_or_null(json_get_string(answer.object, "tree_branch", NULL));
	/* Another version does not say. */
	if (!given->with_tree || json_get_string(answer.object, "tree", NULL) ||
	    !json_object_object_get_ex(answer.object, "tree", NULL))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "%s: moved to %s, but its tree did not come: the move was begun without "
			 "--with-tree. To get it, move the session back to %s, remove what is left "
			 "of it at %s if that has no tree, and move it again with --with-tree",
			 mover->title, mover->to.shown, mover->from.shown, mover->to.shown);
}

static int move_it(struct mover *mover, struct error *err)
{
	if (check_direction(mover, err) < 0 || check_others(mover, err) < 0 ||
	    (mover->state != MOVE_MOVED &&
	     (must(mover, &mover->from, MOVE_STEP_LEAVE, err) < 0 || send_it(mover, err) < 0 ||
	      must(mover, &mover->from, MOVE_STEP_LET_GO, err) < 0)))
		return -1;
	return take(mover, err) < 0 ? -1 : print_moved(mover);
}

/* ---- not to the other end --------------------------------------------------------------------- */

static int ask_whether_lost(const struct mover *mover, const char *why, struct error *err)
{
	cleanup_free char *question = xasprintf(
		"%s. If its copy there can still be used, two agents can continue one "
		"conversation. Is %s lost for good?",
		why, mover->host);
	cleanup_free char *without = xasprintf("%s: if that host and its copy are lost for good, "
					       "say so with --abandon --lost",
					       why);
	const struct consent consent = { question, "Nothing was changed.", "--lost", without,
					 ERROR_INVALID };
	const struct options *given = mover->app->options;
	return given->is_lost ? 0 : ask_consent(mover->app, &consent, err);
}

/* Can the copy be removed before anything can start it?  0: it is removed.  Its user is asked where
 * that is not known. */
static int end_other(struct mover *mover, struct error *err)
{
	cleanup_answer struct answer there = { 0 }, dropped = { 0 };
	const struct remote *remote = remotes_find(&mover->app->deck.settings.hosts, mover->host);
	if (mover->from.remote || !remote) {
		cleanup_free char *why = xasprintf("%s cannot be asked from here", mover->host);
		return ask_whether_lost(mover, why, err);
	}
	mover->to = end_of(remote);
	if (look(mover, &mover->to, mover->id, &there, err) < 0)
		return -1;
	if (there.status != 0) {
		cleanup_free char *why = xasprintf(
			"%s %s: %s", mover->host,
			there.status == STATUS_ABSENT ? "does not have it" : "does not answer",
			there.words);
		return ask_whether_lost(mover, why, err);
	}
	const enum move_state state = state_of(&there);
	/* An earlier --abandon was cut after the copy had become the session again that once left
	 * there. */
	if (is_of(&there, mover->move) && state == MOVE_MOVED)
		return 0;
	if (!is_of(&there, mover->move) || (state != MOVE_ARRIVING && state != MOVE_READY))
		return error_set(err, ERROR_INVALID,
				 "%s has it: bring it back with agentdeck session move %s:%s --to "
				 "local",
				 mover->host, mover->host, mover->id);
	return step(mover, &mover->to, MOVE_STEP_DROP, &dropped, err) < 0 ? -1
	       : dropped.status != 0 ? fail_answer(&mover->to, &dropped, err)
				     : 0;
}

static int abandon(struct mover *mover, struct error *err)
{
	cleanup_answer struct answer dropped = { 0 };
	const struct remote *remote = remotes_find(&mover->app->deck.settings.hosts, mover->host);
	int r = 0;
	switch (mover->state) {
	case MOVE_LEAVING:
		/* Nothing can start the copy any more, wherever it is. */
		r = must(mover, &mover->from, MOVE_STEP_BACK, err);
		if (r == 0 && remote && !mover->from.remote) {
			mover->to = end_of(remote);
			(void)step(mover, &mover->to, MOVE_STEP_DROP, &dropped, NULL);
		}
		break;
	case MOVE_MOVED:
	case MOVE_READY:
		r = end_other(mover, err);
		if (r == 0)
			r = must(mover, &mover->from, MOVE_STEP_RECLAIM, err);
		break;
	case MOVE_ARRIVING:
		/* The other end still has all of it.  What was here before stays. */
		r = must(mover, &mover->from, MOVE_STEP_DROP, err);
		break;
	case MOVE_NONE:
	case MOVE_ARRIVED:
	case MOVE_OTHER:
	case MOVE_STATES:
		return error_set(err, ERROR_INVALID, "session '%s' is not on its way",
				 mover->title);
	}
	if (r != 0)
		return r < 0 ? -1 : 1;
	struct json_object *object = json_success(mover->id, mover->title);
	json_set_string(object, "moved_to", NULL);
	json_set_string(object, "move_id", mover->move);
	json_set_string(object, "tree_branch", NULL);
	return print_done(
		mover->app, object,
		mover->state == MOVE_ARRIVING
			? xasprintf("%s: the move is given up, and %s still has it", mover->title,
				    mover->host)
			: xasprintf("%s: the move is given up, and it can be started here",
				    mover->title));
}

static int find_end(const struct app *app, const char *name, struct end *ret, struct error *err)
{
	const struct remote *remote = remotes_find(&app->deck.settings.hosts, name);
	cleanup_free char *shown = visible(name);
	if (!remote && !streq(name, REMOTE_HERE))
		return error_set(err, ERROR_NOT_FOUND,
				 "there is no host '%s': agentdeck host list shows them", shown);
	*ret = end_of(remote);
	return 0;
}

static int cmd_session_move(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	CLEANUP(mover_end) struct mover mover = { .app = app };
	const struct remote *remote = NULL;
	const char *session = app->operands.items[0];
	if (given->words.step)
		return move_do_step(app, &given->words, given->path, err);
	if (!given->words.to == !given->abandons)
		return error_set(err, ERROR_USAGE,
				 "say where it goes, with --to HOST, or end a "
				 "move with --abandon");
	(void)remotes_split(&app->deck.settings.hosts, session, &remote, &session);
	mover.from = end_of(remote);
	mover.named = session;
	if (given->words.to && find_end(app, given->words.to, &mover.to, err) < 0)
		return -1;
	if (given->words.to && mover.to.remote == remote)
		return error_set(err, ERROR_USAGE, "it is there: name another host with --to");
	if (look_at_session(&mover, session, err) < 0)
		return -1;
	return given->abandons ? abandon(&mover, err) : move_it(&mover, err);
}

const struct command command_session_move = {
	.name = "session move",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "move a session to another host, or back",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | NAMES_HOSTS | HAS_JSON,
	.run = cmd_session_move,
};
