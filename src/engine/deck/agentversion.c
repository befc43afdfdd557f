/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/agentversion.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE "agent-versions.json"

enum {
	CACHE_MAX = 1 << 20,
	ANSWER_MS = 3000,
	/* More at once would compete for the processors and miss their deadlines. */
	AT_ONCE = 4,
	VERSION_MAX = 60,
};

/* Ask an agent that did not answer again after this time: the machine may have been busy. */
static const int64_t silence_us = 600LL * 1000 * 1000;

struct question {
	struct agent_seen *seen;
	char *program; /* path with all links resolved */
	char *stamp;   /* of that file and of the arguments */
	struct strvec argv;
	struct child child;
	bool runs;
};

#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

char *agentversion_find(const char *text)
{
	for (const char *s = text; *(s += strcspn(s, DIGITS)); s += strspn(s, DIGITS ".")) {
		size_t number = strspn(s, DIGITS);
		if (s[number] != '.' || !strspn(s + number + 1, DIGITS))
			continue;
		size_t length = strspn(s, DIGITS LETTERS ".-+_");
		while (strchr(".-+_", s[length - 1]))
			length--;
		return xstrndup(s, length < VERSION_MAX ? length : VERSION_MAX);
	}
	return NULL;
}

const char *agentversion_program(const struct agent *agent)
{
	const char *shell = getenv("SHELL");
	if (agent->command.count)
		return agent->command.items[0];
	return is_empty(shell) ? "/bin/sh" : shell;
}

/* Package managers set the time of modification to any value; the time of change is the
 * kernel's. */
static char *stamp_of(const char *program, const struct strvec *arguments)
{
	struct stat st;
	cleanup_strbuf struct strbuf stamp = { 0 };
	if (stat(program, &st) < 0)
		return NULL;
	strbuf_addf(&stamp, "%lld.%09ld %lld.%09ld %lld", (long long)st.st_ctim.tv_sec,
		    st.st_ctim.tv_nsec, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		    (long long)st.st_size);
	for (size_t i = 0; i < arguments->count; i++)
		strbuf_addf(&stamp, " %s", arguments->items[i]);
	return strbuf_take(&stamp);
}

static struct json_object *read_cache(int dirfd)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *cache = NULL;
	if (dirfd >= 0 && fs_read(dirfd, CACHE, CACHE_MAX, &text, NULL) == 0 &&
	    json_parse(strbuf_text(&text), text.length, CACHE, &cache, NULL) == 0 &&
	    json_object_is_type(cache, json_type_object))
		return TAKE_PTR(cache);
	return json_object_new_object();
}

/* Errors are ignored: without the cache we ask again. */
static void write_cache(int dirfd, struct json_object *cache)
{
	cleanup_json struct json_object *kept = json_object_new_object();
	json_object_object_foreach(cache, program, entry)
		if (access(program, F_OK) == 0)
			json_set(kept, program, json_object_get(entry));
	const char *text = json_print(kept);
	if (dirfd >= 0)
		(void)fs_replace(dirfd, CACHE, text, strlen(text), FS_VOLATILE, NULL);
}

/* Look up the answer; if the cache has it, put it into seen. */
static bool is_known(const struct question *question, const struct json_object *cache)
{
	const struct json_object *entry = json_get_object(cache, question->program);
	if (!entry || !streq(json_get_string(entry, "stamp", ""), question->stamp))
		return false;
	const char *version = json_get_string(entry, "version", NULL);
	int64_t age = clock_wall_us() - json_get_int(entry, "asked_us", 0);
	replace_string(&question->seen->version, version);
	return version || (age >= 0 && age < silence_us);
}

static void remember(const struct question *question, struct json_object *cache)
{
	struct json_object *entry = json_make_object(cache, question->program);
	json_set_string(entry, "stamp", question->stamp);
	json_set_string(entry, "version", question->seen->version);
	json_set_int(entry, "asked_us", clock_wall_us());
}

/* False also when another program runs the agent: it would print its own version. */
static bool prepare(struct agent_seen *seen, struct question *ret)
{
	const struct agent *agent = seen->agent;
	char program[PATH_MAX];
	if (!seen->path || !agent->version.count || registry_program(&agent->command) != 0 ||
	    !realpath(seen->path, program))
		return false;
	char *stamp = stamp_of(program, &agent->version);
	if (!stamp)
		return false;
	*ret = (struct question){ .seen = seen, .program = xstrdup(program), .stamp = stamp };
	strvec_push(&ret->argv, seen->path);
	strvec_push_all(&ret->argv, &agent->version);
	return true;
}

static void question_clear(struct question *question)
{
	free(question->program);
	free(question->stamp);
	strvec_clear(&question->argv);
}

static void ask(struct question *questions, size_t count, int directory)
{
	int64_t deadline = clock_ms() + ANSWER_MS;
	for (size_t i = 0; i < count; i++) {
		/* Not in the user's directory, whose files may choose the version. */
		struct child_request request = {
			.argv = (const char *const *)questions[i].argv.items,
			.directory = directory,
			.new_session = true,
		};
		questions[i].runs = child_start(&request, &questions[i].child, NULL) == 0;
	}
	for (size_t i = 0; i < count; i++) {
		cleanup_child_result struct child_result result = { 0 };
		if (!questions[i].runs ||
		    child_finish(&questions[i].child, deadline, &result, NULL) < 0 ||
		    result.exit_status != 0)
			continue;
		char *version = agentversion_find(strbuf_text(&result.output));
		questions[i].seen->version = version ? version
						     : agentversion_find(
							       strbuf_text(&result.errors));
	}
}

void agentversion_look(const char *state, const struct agent *const *agents, size_t count,
		       struct agent_seen *ret)
{
	cleanup_close int dirfd = -1;
	cleanup_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free struct question *questions = xcalloc(count ? count : 1, sizeof(*questions));
	size_t open_count = 0;
	(void)fs_open_private_directory(state, &dirfd, NULL);
	cleanup_json struct json_object *cache = read_cache(dirfd);
	for (size_t i = 0; i < count; i++) {
		ret[i] = (struct agent_seen){ .agent = agents[i] };
		ret[i].path = program_path(agentversion_program(agents[i]), NULL, NULL);
		if (!prepare(ret + i, questions + open_count))
			continue;
		if (is_known(questions + open_count, cache))
			question_clear(questions + open_count);
		else
			open_count++;
	}
	for (size_t i = 0; i < open_count; i += AT_ONCE)
		ask(questions + i, open_count - i < AT_ONCE ? open_count - i : AT_ONCE,
		    root > 0 ? root : 0);
	for (size_t i = 0; i < open_count; i++) {
		remember(questions + i, cache);
		question_clear(questions + i);
	}
	if (open_count)
		write_cache(dirfd, cache);
}

void agent_seen_clear(struct agent_seen *seen)
{
	free(seen->path);
	free(seen->version);
	*seen = (struct agent_seen){ 0 };
}
