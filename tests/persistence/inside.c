/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/inside.h"

#include <string.h>

/* ---- what is there ----------------------------------------------------------------------- */

const char *inside_label(const struct inside *inside)
{
	return kept("io.agentdeck.instance=%s", inside->session.id);
}

/* "ID NAME", the container that is not the Docker inside. */
static const char *without_nested(const char *found)
{
	const char *first = strchr(found, '\n');
	const char *space = strchr(found, ' ');
	if (!first || !space)
		return found;
	const bool is_nested = ends_with(kept("%.*s", (int)(first - found), found), "-dind");
	return is_nested                   ? first + 1
	       : ends_with(first, "-dind") ? kept("%.*s", (int)(first - found), found)
					   : found;
}

void inside_look(struct inside *inside)
{
	(void)session_look(&inside->session);
	const char *found = engine_say(
		inside->engine, WORDS("ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Names}}",
				      "--filter", kept("label=%s", inside_label(inside))));
	found = without_nested(found);
	ASSERT(*found && !strchr(found, '\n'), "not one container: '%s'", found);
	size_t length = strcspn(found, " ");
	inside->id = kept("%.*s", (int)length, found);
	inside->name = kept("%s", found + length + 1);
	inside->agent = machine_process(inside->session.agent_pid);
}

struct process window_of(const struct inside *inside)
{
	struct answer answer = machine_user(WORDS("tmux", "-S", or_empty(inside->session.socket),
						  "display-message", "-p", "#{pid}"));
	ASSERT(answer.status == 0, "no window: %s", answer.errors);
	return machine_process((pid_t)strtol(answer.output, NULL, 10));
}

struct process view_of(const struct inside *inside)
{
	struct answer answer = machine_user(WORDS("tmux", "-S", or_empty(inside->session.socket),
						  "display-message", "-p", "#{pane_pid}"));
	ASSERT(answer.status == 0, "no window: %s", answer.errors);
	return machine_process((pid_t)strtol(answer.output, NULL, 10));
}

void assert_running(struct inside *inside, const char *when)
{
	inside_look(inside);
	ASSERT(streq(inside->session.status, "running"), "status %s %s", inside->session.status,
	       when);
	ASSERT(inside->agent.pid, "no agent %s", when);
	ASSERT(strstr(machine_cgroup(inside->agent.pid), inside->id),
	       "the agent is not in the container %s: %s", when, machine_cgroup(inside->agent.pid));
}

void assert_same_agent(struct inside *inside, const char *when)
{
	struct process before = inside->agent;
	assert_running(inside, when);
	ASSERT(machine_alive(&before) && inside->agent.pid == before.pid, "another agent %s", when);
}

/* ---- stories ----------------------------------------------------------------------------- */

void inside_begin_with(struct inside *inside, enum engine engine, struct login *login,
		       const char *const *words)
{
	struct strvec *argv = kept_vector();
	*inside = (struct inside){ .engine = engine, .turns = 1 };
	engine_prepare(engine, PLAIN_IMAGE);
	strvec_push_array(argv, WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
				      engine_address(engine)));
	strvec_push_array(argv, words);
	session_add(&inside->session, login, "deck", (const char *const *)argv->items);
	session_start(&inside->session, login);
	session_say(&inside->session, INSIDE_MARKER);
	assert_running(inside, "at first");
	inside->session_id = inside->session.session_id;
}

void inside_begin_in(struct inside *inside, enum engine engine, struct login *login)
{
	inside_begin_with(inside, engine, login, WORDS(NULL));
}

void inside_begin(struct inside *inside, enum engine engine)
{
	inside_begin_in(inside, engine, NULL);
}

void assert_back(struct inside *inside, const char *id)
{
	const char *before = inside->id;
	assert_came_back(&inside->session, inside->session_id, INSIDE_MARKER, inside->turns);
	inside->turns++;
	assert_running(inside, "after it came back");
	if (id)
		ASSERT(streq(inside->id, id), "another container");
	else
		ASSERT(!streq(inside->id, before), "the same container");
}

void await_end(struct inside *inside)
{
	WAIT_FOR((session_look(&inside->session), !streq(inside->session.status, "running")),
		 "it seems to run");
	WAIT_FOR(!machine_alive(&inside->agent), "its agent is left");
}

void assert_agents(unsigned expected, const char *when)
{
	/* Its status is 1 when it counts none. */
	struct answer answer = machine_root(WORDS("pgrep", "-c", "-x", "agentdeck-demo-"));
	ASSERT(streq(answer.output, kept("%u\n", expected)), "%s agents %s", answer.output, when);
}
