/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/fleet.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/machine.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/hosts/hosts.h"
#include "model/session/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	PIECE = 16384,
	OUTPUT_MAX = 32 << 20, /* of one host, until it is printed */
	TIMEOUTS = 2,          /* a connection that does not answer is replaced first */
	HERE_TIMEOUT_S = 30,
	KILLED = 128
};

/* How the text of a command is shown. */
enum form {
	FORM_ROWS,  /* as a table that is made here from JSON */
	FORM_COUNT, /* as one line with the host's name, which is made here from JSON */
	FORM_BLOCK, /* whole, below the host's name */
	FORM_LINES, /* line by line, as they come, with the host's name */
	FORM_FIRST, /* that of the first host which succeeds: the others are ended */
	FORM_NEXT,  /* not shown: the rows say which session to attach to */
};

struct verb {
	const char *name;
	enum form form;
	bool is_bounded; /* each host has a deadline for all of it */
};

static const struct verb verbs[] = {
	{ "list", FORM_ROWS, true },      { "status", FORM_COUNT, true },
	{ "status", FORM_FIRST, false },  { "events", FORM_LINES, false },
	{ "history", FORM_BLOCK, false }, { "recover", FORM_BLOCK, false },
	{ "doctor", FORM_BLOCK, false },  { "session attach", FORM_NEXT, true },
};

struct fleet;

/* One host, and the agentdeck of this machine that runs the command there. */
struct member {
	struct fleet *fleet;
	const struct remote *remote; /* NULL: this machine */
	const char *name;
	struct child child;
	struct loop_source *output, *errors, *end, *deadline;
	struct strbuf text[2]; /* of descriptors 1 and 2: what is not shown yet */
	int status;
	bool is_over;
};

struct fleet {
	struct app *app;
	struct deck *deck;
	const struct verb *verb;
	const struct strvec *words;
	struct loop *loop;
	struct member *members;
	size_t count, running, shown; /* shown: elements of the JSON array, or blocks */
	struct strvec seen;           /* the ids of the sessions that were shown */
	/* Sessions that the host which told of them does not know to live: another one may. */
	struct json_object *doubtful;
	bool is_json;   /* what we print */
	bool asks_json; /* what the hosts print */
	int signal;     /* that ends us; 0: none */
	const struct member *first;
	/* FORM_NEXT: who waits first */
	const struct member *next;
	char *next_id;
	struct attention attention; /* its own */
};

static void fleet_end(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct member *member = &fleet->members[i];
		child_abandon(&member->child);
		strbuf_free(&member->text[0]);
		strbuf_free(&member->text[1]);
	}
	loop_free(fleet->loop);
	strvec_clear(&fleet->seen);
	json_object_put(fleet->doubtful);
	free(fleet->members);
	free(fleet->next_id);
}

static bool is_word(const struct strvec *words, const char *letter, const char *name)
{
	for (size_t i = 0; i < words->count && !streq(words->items[i], "--"); i++)
		if (starts_with(words->items[i], letter) || starts_with(words->items[i], name))
			return true;
	return false;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

/* An element that another agentdeck passed on has "via" already (cli/main/far.c). */
static void add_via(const struct member *member, struct json_object *value)
{
	if (json_object_object_get_ex(value, "via", NULL))
		return;
	const char *id = member->remote ? "" : machine_id();
	json_set_string(value, "via", member->name);
	json_set_string(value, "via_machine_id", is_empty(id) ? NULL : id);
}

static void print_element(struct fleet *fleet, const struct member *member,
			  struct json_object *value)
{
	if (!json_object_is_type(value, json_type_object))
		return;
	add_via(member, value);
	print_json_element(value, fleet->shown++);
	(void)fflush(stdout);
}

/* A session that two hosts have, because they share a home, is one. */
static bool is_new(struct fleet *fleet, struct json_object *row)
{
	const char *id = json_get_string(row, "id", NULL);
	if (!id)
		return true;
	if (strvec_contains(&fleet->seen, id))
		return false;
	strvec_push(&fleet->seen, id);
	return true;
}

static bool is_failure(struct json_object *value)
{
	return json_get_string(value, "code", NULL) && json_get_string(value, "error", NULL);
}

/* For the next list without -A, which is of the usual profile. */
static void note_waiting(const struct member *member, size_t count)
{
	if (member->remote && !member->fleet->app->profile)
		hosts_note_waiting(member->fleet->deck, member->remote, count);
}

/* ---- sessions --------------------------------------------------------------------------------- */

static struct table *new_rows(const struct fleet *fleet)
{
	return table_new(fleet->app, (const char *const[]){ "HOST", "SESSION", "AGENT", "STATUS",
							    "PATH", NULL });
}

static void add_row(struct table *table, const struct member *member, struct json_object *row)
{
	const char *activity = json_get_string(row, "activity", NULL);
	const bool is_waiting = streq(or_empty(activity), "waiting");
	const char *cells[] = { member->name,
				json_get_string(row, "title", NULL),
				json_get_string(row, "agent", NULL),
				json_get_bool(row, "activity_asks", false) ? doing_name(DOING_ASKS)
				: activity                                 ? activity
					   : json_get_string(row, "status", NULL),
				json_get_string(row, "path", NULL),
				NULL };
	table_add(table, cells, is_waiting ? TONE_WAITING : TONE_PLAIN);
}

static void show_row(struct fleet *fleet, struct table *table, const struct member *member,
		     struct json_object *row)
{
	if (!is_new(fleet, row))
		return;
	if (fleet->is_json)
		print_element(fleet, member, row);
	else
		add_row(table, member, row);
}

static void show_rows(struct fleet *fleet, const struct member *member, struct json_object *rows)
{
	size_t waiting = 0;
	cleanup_table struct table *table = new_rows(fleet);
	const size_t before = fleet->seen.count;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		if (!json_object_is_type(row, json_type_object))
			continue;
		waiting += streq(json_get_string(row, "activity", ""), "waiting");
		const char *move = json_get_string(row, "move", NULL);
		/* The host that it came from has it, too, and does not start it. */
		const bool is_away = move && move_blocks(move_state_parse(move));
		if (is_away || streq(json_get_string(row, "status", ""), "unknown")) {
			add_via(member, row);
			json_object_array_add(fleet->doubtful, json_object_get(row));
			continue;
		}
		show_row(fleet, table, member, row);
	}
	if (!fleet->is_json && fleet->seen.count > before)
		table_print(table);
	if (!is_word(fleet->words, "-g", "--group") &&
	    !is_word(fleet->words, "--status", "--status"))
		note_waiting(member, waiting);
}

static const struct member *member_named(const struct fleet *fleet, const char *name)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (streq(fleet->members[i].name, name))
			return &fleet->members[i];
	return NULL;
}

static void show_doubtful(struct fleet *fleet)
{
	cleanup_table struct table *table = new_rows(fleet);
	const size_t before = fleet->seen.count;
	for (size_t i = 0; i < json_object_array_length(fleet->doubtful); i++) {
		struct json_object *row = json_object_array_get_idx(fleet->doubtful, i);
		const struct member *member = member_named(fleet, json_get_string(row, "via",
										  REMOTE_HERE));
		if (member)
			show_row(fleet, table, member, row);
	}
	if (!fleet->is_json && fleet->seen.count > before)
		table_print(table);
}

/* A row's time is by its host's clock, which via_now_at corrects. */
static void choose_next(struct fleet *fleet, const struct member *member, struct json_object *rows)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct facts facts;
		struct json_object *row = json_object_array_get_idx(rows, i);
		const int64_t there = clock_parse(json_get_string(row, "via_now_at", ""));
		/* A host can send anything. */
		if (!json_object_is_type(row, json_type_object) || !facts_read(row, &facts) ||
		    !doing_waits(facts.doing))
			continue;
		struct attention one = { facts.doing, facts.marks, facts.since_us, facts.key.id };
		if (one.since_us && there >= 0)
			one.since_us += clock_wall_us() - there;
		if (fleet->next && attention_compare(&fleet->attention, &one) <= 0)
			continue;
		fleet->next = member;
		replace_string(&fleet->next_id, one.id);
		fleet->attention = one;
		fleet->attention.id = fleet->next_id;
	}
}

/* ---- counts ----------------------------------------------------------------------------------- */

static void show_count(struct fleet *fleet, const struct member *member, struct json_object *value)
{
	static const char *const words[] = { "asks",  "waiting", "busy",    "idle",
					     "error", "stopped", "unknown", "total" };
	struct json_object *counts = json_get_object(value, "counts");
	cleanup_strbuf struct strbuf line = { 0 };
	const int64_t waiting = json_get_int(counts, "waiting", 0);
	note_waiting(member, (size_t)waiting);
	if (fleet->is_json) {
		print_element(fleet, member, value);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		int64_t count = json_get_int(counts, words[i], 0);
		/* "waiting" includes those that ask. */
		if (streq(words[i], "waiting"))
			count -= json_get_int(counts, "asks", 0);
		const bool is_total = i + 1 == ARRAY_SIZE(words);
		if (count || is_total)
			strbuf_addf(&line, "%s%lld %s", line.length ? ", " : "", (long long)count,
				    is_total ? "in all" : words[i]);
	}
	say("%s: %s", member->name, strbuf_text(&line));
}

/* ---- what a host says ------------------------------------------------------------------------- */

static void show_value(struct fleet *fleet, const struct member *member, struct json_object *value)
{
	const bool is_array = json_object_is_type(value, json_type_array);
	if (!is_array && is_failure(value)) {
		if (fleet->is_json)
			print_element(fleet, member, value);
		else
			complain("%s", json_get_string(value, "error", ""));
		return;
	}
	if (fleet->verb->form == FORM_ROWS && is_array)
		show_rows(fleet, member, value);
	else if (fleet->verb->form == FORM_NEXT && is_array)
		choose_next(fleet, member, value);
	else if (fleet->verb->form == FORM_COUNT && !is_array)
		show_count(fleet, member, value);
	else if (is_array)
		for (size_t i = 0; i < json_object_array_length(value); i++)
			print_element(fleet, member, json_object_array_get_idx(value, i));
	else
		print_element(fleet, member, value);
}

static bool is_stream(const struct fleet *fleet)
{
	return fleet->verb->form == FORM_LINES ||
	       (fleet->is_json && fleet->app->command->flags & JSON_LINES);
}

static void show_line(struct fleet *fleet, const struct member *member, const char *line)
{
	cleanup_json struct json_object *value = NULL;
	if (!fleet->is_json) {
		say("%s: %s", member->name, line);
	} else if (json_parse(line, strlen(line), "a line", &value, NULL) == 0 &&
		   json_object_is_type(value, json_type_object)) {
		add_via(member, value);
		print_json_line(value);
	}
	(void)fflush(stdout);
}

/* Show whole lines, and what is left at the end. */
static void take_lines(struct member *member, size_t which)
{
	struct strbuf *text = &member->text[which];
	size_t begin = 0;
	for (char *end;
	     begin < text->length &&
	     ((end = memchr(text->data + begin, '\n', text->length - begin)) || member->is_over);) {
		const size_t length = end ? (size_t)(end - text->data) - begin
					  : text->length - begin;
		cleanup_free char *line = xstrndup(text->data + begin, length);
		if (which == 1)
			say_to(stderr,
			       xasprintf("%s%s%s",
					 starts_with(line, "agentdeck: ") ? "" : member->name,
					 starts_with(line, "agentdeck: ") ? "" : ": ", line));
		else
			show_line(member->fleet, member, line);
		begin += end ? length + 1 : length;
	}
	strbuf_drop(text, begin);
}

static void show_block(struct fleet *fleet, struct member *member)
{
	if (!member->text[0].length)
		return;
	say("%s%s:", fleet->shown++ ? "\n" : "", member->name);
	char *rest = member->text[0].data;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (rest || *line)
			say("%s", line);
}

/* The output of the member is complete. */
static void conclude(struct fleet *fleet, struct member *member)
{
	cleanup_json struct json_object *value = NULL;
	struct strbuf *text = &member->text[0];
	take_lines(member, 1);
	if (fleet->verb->form == FORM_FIRST && fleet->first && fleet->first != member)
		return;
	if (is_stream(fleet))
		take_lines(member, 0);
	else if (!fleet->asks_json)
		show_block(fleet, member);
	else if (text->length &&
		 json_parse(strbuf_text(text), text->length, "its output", &value, NULL) == 0)
		show_value(fleet, member, value);
	else if (member->status == 0)
		member->status = error_exit_status(ERROR_CORRUPT);
	strbuf_free(text);
	(void)fflush(stdout);
}

/* ---- the processes ---------------------------------------------------------------------------- */

static void stop(const struct member *member)
{
	if (!member->is_over && member->child.pid > 0)
		(void)kill(member->child.pid, SIGTERM);
}

static void stop_all(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		stop(&fleet->members[i]);
}

/* False: there is nothing more now. */
static bool read_some(struct member *member, size_t which)
{
	char bytes[PIECE];
	struct strbuf *text = &member->text[which];
	const ssize_t n = read(which ? member->child.errors : member->child.output, bytes,
			       sizeof(bytes));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	strbuf_add(text, bytes, (size_t)n);
	if (which == 1 || is_stream(member->fleet))
		take_lines(member, which);
	if (text->length > OUTPUT_MAX) {
		complain("%s: it says too much", member->name);
		strbuf_free(text);
		stop(member);
	}
	return true;
}

static void on_output(int fd, uint32_t events, void *context)
{
	struct member *member = context;
	const size_t which = fd == member->child.errors;
	struct loop_source **source = which ? &member->errors : &member->output;
	if (read_some(member, which) || events & EPOLLIN)
		return;
	/* Stop watching at end of file, which would be reported again and again. */
	loop_remove(*source);
	*source = NULL;
}

static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct member *member = context;
	struct fleet *fleet = member->fleet;
	struct loop_source **sources[] = { &member->output, &member->errors, &member->end,
					   &member->deadline };
	for (size_t which = 0; which < 2; which++)
		while (read_some(member, which))
			;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		loop_remove(*sources[i]);
		*sources[i] = NULL;
	}
	member->status = member->status ? member->status : child_reap(&member->child);
	if (member->child.pid > 0)
		(void)child_reap(&member->child);
	member->is_over = true;
	fleet->running--;
	if (fleet->verb->form == FORM_FIRST && member->status == 0 && !fleet->first) {
		fleet->first = member;
		stop_all(fleet);
	}
	conclude(fleet, member);
}

static void on_deadline(void *context)
{
	struct member *member = context;
	complain("%s did not answer in time", member->name);
	member->status = error_exit_status(ERROR_UNREACHABLE);
	stop(member);
}

static void on_signal(int number, void *context)
{
	struct fleet *fleet = context;
	if (fleet->signal)
		fleet->running = 0;
	fleet->signal = number;
	stop_all(fleet);
}

static void make_argv(const struct fleet *fleet, const struct member *member, struct strvec *argv)
{
	const struct app *app = fleet->app;
	const bool is_next = fleet->verb->form == FORM_NEXT;
	strvec_push_array(argv,
			  (const char *const[]){ fleet->deck->program, "-H", member->name, NULL });
	if (is_next && app->profile)
		strvec_push_array(argv, (const char *const[]){ "-p", app->profile, NULL });
	if (is_next)
		strvec_push_array(argv, (const char *const[]){ "list", "--json", NULL });
	for (size_t i = 0; i < fleet->words->count && !is_next; i++) {
		strvec_push(argv, fleet->words->items[i]);
		if (i == app->command_at && fleet->asks_json && !app->json)
			strvec_push(argv, "--json");
	}
}

static int begin(struct fleet *fleet, struct member *member, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	make_argv(fleet, member, &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv) };
	const int64_t timeout_s = member->remote ? member->remote->timeout_s * TIMEOUTS
						 : HERE_TIMEOUT_S;
	const int r = child_start(&request, &member->child, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_UNAVAILABLE, "%s is not there any more",
					 argv.items[0]);
	fleet->running++;
	const struct child *child = &member->child;
	const struct loop_io output = { child->output, EPOLLIN, on_output, member };
	const struct loop_io errors = { child->errors, EPOLLIN, on_output, member };
	const struct loop_io end = { child->pidfd, EPOLLIN, on_end, member };
	(void)fcntl(child->output, F_SETFL, O_NONBLOCK);
	(void)fcntl(child->errors, F_SETFL, O_NONBLOCK);
	if (fleet->verb->is_bounded &&
	    loop_add_timer(fleet->loop, clock_ms() + timeout_s * 1000, on_deadline, member,
			   &member->deadline, err) < 0)
		return -1;
	return loop_add_io(fleet->loop, &output, &member->output, err) < 0 ||
			       loop_add_io(fleet->loop, &errors, &member->errors, err) < 0
		       ? -1
		       : loop_add_io(fleet->loop, &end, &member->end, err);
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Choose this machine and all hosts, but each machine once, as far as that is known. */
static void choose_members(struct fleet *fleet)
{
	const struct remotes *remotes = &fleet->deck->settings.hosts;
	cleanup_strvec struct strvec known = { 0 };
	fleet->members = xcalloc(remotes->count + 1, sizeof(*fleet->members));
	for (size_t i = 0; i <= remotes->count; i++) {
		const struct remote *remote = i ? &remotes->items[i - 1] : NULL;
		cleanup_free char *identity = hosts_identity(fleet->deck, remote);
		if (identity && strvec_contains(&known, identity)) {
			if (!fleet->is_json)
				complain("%s is left out: it is one of the others, under another "
					 "name",
					 remote ? remote->name : REMOTE_HERE);
			continue;
		}
		if (identity)
			strvec_push(&known, identity);
		fleet->members[fleet->count++] = (struct member){ .fleet = fleet,
								  .remote = remote,
								  .name = remote ? remote->name
										 : REMOTE_HERE };
	}
}

static int find_verb(struct fleet *fleet, struct error *err)
{
	const struct app *app = fleet->app;
	const bool waits = is_word(fleet->words, "-w", "--wait");
	if (app->once || (app->operands.count && !streq(app->command->name, "history")))
		return error_set(err, ERROR_USAGE, "-A is for all sessions of all hosts: omit %s",
				 app->once ? "--once" : app->operands.items[0]);
	for (size_t i = 0; i < ARRAY_SIZE(verbs) && !fleet->verb; i++)
		if (streq(verbs[i].name, app->command->name) &&
		    (verbs[i].form != FORM_COUNT || !waits))
			fleet->verb = &verbs[i];
	if (!fleet->verb)
		return error_set(err, ERROR_USAGE, "%s has no -A", app->command->name);
	if (fleet->verb->form == FORM_NEXT && !is_word(fleet->words, "-n", "--next"))
		return error_set(err, ERROR_USAGE, "-A of attach needs --next");
	return 0;
}

/* A change that may have been made counts more than one that was not, and that more than the rest. */
static int status_of(const struct fleet *fleet)
{
	static const enum error_code first[] = { ERROR_UNKNOWN, ERROR_UNREACHABLE };
	int highest = 0;
	if (fleet->first)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		for (size_t k = 0; k < fleet->count; k++)
			if (fleet->members[k].status == error_exit_status(first[i]))
				return fleet->members[k].status;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->members[i].status > highest)
			highest = fleet->members[i].status;
	return highest;
}

/* The options of attach, without those that chose the session: "-A", "-nA", "--next". */
static int attach_next(const struct fleet *fleet, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	const struct strvec *words = fleet->words;
	if (!fleet->next)
		return error_set(err, ERROR_NOT_FOUND, "no session waits for an answer");
	strvec_push_array(&argv, (const char *const[]){ fleet->deck->program, "-H",
							fleet->next->name, NULL });
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];
		const bool is_short = word[0] == '-' && word[1] &&
				      !word[1 + strspn(word + 1, "nA")];
		if (!is_short && !streq(word, "--next") && !streq(word, "--all-hosts"))
			strvec_push(&argv, word);
	}
	strvec_push(&argv, fleet->next_id);
	(void)execv(fleet->deck->program, strvec_argv(&argv));
	return error_set_errno(err, errno, "run %s", fleet->deck->program);
}

int fleet_run(struct app *app, struct deck *deck, const struct strvec *words, struct error *err)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	CLEANUP(fleet_end)
	struct fleet fleet = { .app = app,
			       .deck = deck,
			       .words = words,
			       .is_json = app->json,
			       .doubtful = json_object_new_array() };
	struct loop_source *ignored;
	if (find_verb(&fleet, err) < 0 || loop_new(&fleet.loop, err) < 0)
		return -1;
	fleet.asks_json = app->json || fleet.verb->form == FORM_ROWS ||
			  fleet.verb->form == FORM_COUNT || fleet.verb->form == FORM_NEXT;
	choose_members(&fleet);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (loop_add_signal(fleet.loop, ending[i], on_signal, &fleet, &ignored, err) < 0)
			return -1;
	for (size_t i = 0; i < fleet.count; i++)
		if (begin(&fleet, &fleet.members[i], err) < 0)
			return -1;
	while (fleet.running)
		if (output_turn(fleet.loop, INT64_MAX, err) < 0)
			return -1;
	if (fleet.signal)
		return KILLED + fleet.signal;
	if (fleet.verb->form == FORM_NEXT)
		return attach_next(&fleet, err);
	show_doubtful(&fleet);
	if (fleet.is_json && !is_stream(&fleet))
		print_json_end(fleet.shown);
	return status_of(&fleet);
}
