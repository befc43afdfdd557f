/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/faults.h"

#include "persistence/census.h"

#include <string.h>

#define MARKER "whatever goes wrong"

struct fault_world world;

const char *state_path(const char *path)
{
	return at_home(kept(".local/state/agentdeck/%s", path));
}

const char *manifest_path(const struct session *session)
{
	return state_path(kept("default/%s/instance.json", session->id));
}

size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* ---- the world --------------------------------------------------------------------------- */

static void begin_world(void)
{
	session_add(&world.other, NULL, "other", WORDS("--agent", "demo"));
	session_start(&world.other, NULL);
	session_say(&world.other, MARKER);
	session_stop(&world.other, NULL);
	session_add(&world.deck, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&world.deck, NULL);
	session_say(&world.deck, MARKER);
	write_decoy(&world.deck);
	/* From now on every start resumes. */
	session_restart(&world.deck, NULL);
}

static void end_world(void)
{
	const char *session_id = world.other.session_id;
	assert_came_back(&world.deck, world.deck.session_id, MARKER, 1);
	session_start(&world.other, NULL);
	assert_came_back(&world.other, session_id, MARKER, 1);
}

/* One line for each session, with what must not be lost, doubled or confused. */
static const char *take_rows(void)
{
	struct strbuf text = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	struct reply list = deck_look(WORDS("list", "--json"));
	ASSERT(list.status == 0 && list.json, "list: status %d: %s", list.status, list.errors);
	for (size_t i = 0; i < json_object_array_length(list.json); i++) {
		struct json_object *row = json_object_array_get_idx(list.json, i);
		strvec_pushf(&lines, "%s %s %s\n", json_get_string(row, "id", "-"),
			     json_get_string(row, "title", "-"),
			     json_get_string(row, "session_id", "-"));
	}
	for (size_t i = 0; i < lines.count; i++)
		strbuf_adds(&text, lines.items[i]);
	return keep(strbuf_take(&text));
}

void tell_deck(const char *verb)
{
	struct reply reply = deck_look(WORDS("session", verb, world.deck.id));
	ASSERT(reply.status == 0, "session %s: %s%s", verb, reply.errors, reply.output);
	(void)session_look(&world.deck);
}

/* ---- steps ------------------------------------------------------------------------------- */

static const char *expand(const struct fault *fault, const char *word)
{
	if (starts_with(word, "~/"))
		return at_home(word + 2);
	if (streq(word, "@argument"))
		return fault->argument;
	return streq(word, "@deck") ? world.deck.id : streq(word, "@other") ? world.other.id : word;
}

bool is_one_message(const char *errors)
{
	for (const char *line = errors; *line; line += strcspn(line, "\n") + 1)
		if (starts_with(line, "agentdeck: ") != (line == errors) ||
		    (line != errors && !starts_with(line, "  | ")) || !strchr(line, '\n'))
			return false;
	return *errors;
}

static void take_step(const struct fault *fault, const struct fault_step *step)
{
	struct strvec *argv = kept_vector();
	for (const char *const *word = step->words; *word; word++)
		strvec_push(argv, expand(fault, *word));
	struct answer answer = machine_user((const char *const *)argv->items);
	cleanup_free char *shown = visible_argv(strvec_argv(argv));
	const char *where = kept("%s: %s", fault->name, shown);
	ASSERT(answer.status == step->status, "%s: status %d, not %d: %s%s", where, answer.status,
	       step->status, answer.errors, answer.output);
	if (!step->says)
		ASSERT(*answer.errors == '\0', "%s: it says %s", where, answer.errors);
	else
		ASSERT(is_one_message(answer.errors) && strstr(answer.errors, step->says),
		       "%s: not one message with '%s' but: %s", where, step->says, answer.errors);
	const char *shows = step->shows ? expand(fault, step->shows) : "";
	ASSERT(strstr(answer.output, shows), "%s: it does not show '%s' but: %s", where, shows,
	       answer.output);
}

/* ---- what holds afterwards --------------------------------------------------------------- */

static void assert_no_rest(const char *where)
{
	struct answer found = machine_root(WORDS("find", state_path("default"), "-name", ".new-*",
						 "-o", "-name", ".removed-*", "-o", "-name",
						 ".tmp-*"));
	ASSERT(found.status == 0 && *found.output == '\0', "%s: this is left: %s%s", where,
	       found.output, found.errors);
}

/* Only the history on the screen is checked here; its memory is checked at the very end. */
static void assert_is_back(const char *session_id, const char *where)
{
	ASSERT(streq(or_empty(world.deck.session_id), session_id), "%s: conversation %s became %s",
	       where, session_id, or_empty(world.deck.session_id));
	assert_flag(&world.deck, "--resume", session_id);
	assert_no_flag(&world.deck, "--session-id");
	WAIT_FOR(session_shows(&world.deck, "> " MARKER),
		 "%s: its history is not on the screen:\n%s", where,
		 or_empty(session_screen(&world.deck)));
}

static void assert_whole(const struct fault *fault, const char *rows, const struct process *agent)
{
	const char *after = take_rows(), *session_id = world.deck.session_id;
	ASSERT(streq(after, rows), "%s: the sessions were\n%sand are\n%s", fault->name, rows,
	       after);
	ASSERT(fault->run == NEW_RUN || machine_alive(agent), "%s: the agent has ended",
	       fault->name);
	tell_deck("start");
	ASSERT(streq(world.deck.status, "running"), "%s: it is %s", fault->name, world.deck.status);
	bool same = world.deck.agent_pid == agent->pid && machine_alive(agent);
	ASSERT(same == (fault->run == SAME_RUN), "%s: it is %s run", fault->name,
	       same ? "still the same" : "another");
	assert_is_back(session_id, fault->name);
	assert_isolated(&world.deck);
	assert_census(1, fault->name);
	(void)session_look(&world.other);
	ASSERT(streq(world.other.status, "stopped"), "%s: the other one is %s", fault->name,
	       world.other.status);
	assert_no_rest(fault->name);
}

void run_faults(const struct fault *faults, size_t count)
{
	begin_world();
	for (const struct fault *fault = faults; fault < faults + count; fault++) {
		const char *rows = take_rows();
		struct process agent = session_agent(&world.deck);
		if (fault->strike)
			fault->strike(fault);
		for (const struct fault_step *step = fault->steps; step->words; step++)
			take_step(fault, step);
		if (fault->mend)
			fault->mend(fault);
		assert_whole(fault, rows, &agent);
	}
	print_message("%zu faults\n", count);
	end_world();
}
