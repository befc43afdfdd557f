/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent's report, from its standard input into the manifest.  Long strings are cut so that valid
 * JSON stays valid.  Whatever the report says, the manifest stays readable, the id is one that the
 * agent accepts, and no id is forgotten.
 *
 * In the input the first few \001 and \002 stand for nearly as much text as a string may keep, with
 * one byte and two bytes for a character; the first byte chooses the agent.
 */
#include "fuzz/fuzz.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation/report.h"
#include "engine/place/runfiles.h"
#include "model/plan/resume.h"
#include "unit/report-text.h"

#include <sys/mman.h>
#include <sys/stat.h>

enum { LONG_TEXT = REPORT_STRING_MAX - 4, LONG_TEXTS = 3 };

#define FIRST_ID "0aaaaaaa-0000-4000-8000-000000000001"

/* One of each kind: we choose the id, and a start may change it; the agent reports its id with any
 * event. */
static const char *const agents[] = { "claude", "codex" };
static const char *const ids[ARRAY_SIZE(agents)] = { "0123abcd", "1123abcd" };

struct desk {
	struct deck deck;
	char *manifests[ARRAY_SIZE(agents)], *tokens[ARRAY_SIZE(agents)];
	int input; /* the report is read from it */
};

static char *read_manifest(const struct desk *desk, size_t i)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *name = xasprintf("%s/instance.json", ids[i]);
	HOLDS(fs_read(store_profile_directory(desk->deck.store), name, 1 << 20, &text, NULL) == 0);
	return strbuf_take(&text);
}

static void add_instance(struct desk *desk, size_t i)
{
	cleanup_instance struct instance *instance = instance_new();
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	struct attempt attempt = { .rung = RUNG_RESUME,
				   .reason = REASON_CONVERSATION_DATA_PRESENT,
				   .session_id = i ? NULL : (char *)FIRST_ID };
	const struct agent *agent;
	if (deck_agent(&desk->deck, agents[i], &agent, NULL) < 0)
		abort();
	replace_string(&instance->id, ids[i]);
	replace_string(&instance->base, ids[i]);
	replace_string(&instance->title, agents[i]);
	replace_string(&instance->cwd, fuzz_directory());
	replace_string(&instance->agent, agents[i]);
	replace_string(&instance->backend, "host");
	instance->created_at = INT64_C(1776157681000000);
	strvec_push_all(&instance->argv, &agent->command);
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run-1");
	instance->run.directory = xasprintf("%s/run/%s", fuzz_directory(), ids[i]);
	instance->run.socket = xasprintf("%s/" RUN_SOCKET, instance->run.directory);
	run_add_attempt(&instance->run, &attempt);
	conversation_set_id(&instance->conversation, FIRST_ID, ORIGIN_MINTED, 1);
	if (runfiles_write(&desk->deck, instance, agent, NULL) < 0 ||
	    store_lock_profile(desk->deck.store, clock_ms() + 60000, &lock, NULL) != 0 ||
	    store_create(lock, instance, NULL, NULL) != 0)
		abort();
	desk->tokens[i] = runfiles_token(instance);
	desk->manifests[i] = read_manifest(desk, i);
}

static struct desk *open_desk(void)
{
	static struct desk desk = { .input = -1 };
	if (desk.input >= 0)
		return &desk;
	setenv("AGENTDECK_HOME", fuzz_directory(), 1);
	setenv("HOME", fuzz_directory(), 1);
	unsetenv("AGENTDECK_PROFILE");
	desk.input = memfd_create("report", MFD_CLOEXEC);
	if (desk.input < 0 || deck_open("default", "fuzz", &desk.deck, NULL) < 0 ||
	    deck_open_store(&desk.deck, NULL) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
		add_instance(&desk, i);
	return &desk;
}

static void expand(const uint8_t *data, size_t size, struct strbuf *ret)
{
	for (size_t i = 0, texts = 0; i < size; i++) {
		bool is_long = (data[i] == 1 || data[i] == 2) && texts++ < LONG_TEXTS;
		size_t count = !is_long ? 0 : data[i] == 1 ? LONG_TEXT : LONG_TEXT / 2;
		for (size_t j = 0; j < count; j++)
			strbuf_adds(ret, data[i] == 1 ? "a" : "\xc3\xa9");
		if (!is_long)
			strbuf_add(ret, data + i, 1);
	}
}

/* No string, not even a member's name, is more than one character longer than the limit. */
static void check_strings(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string)) {
		HOLDS((size_t)json_object_get_string_len(value) <= REPORT_STRING_MAX + 8);
	} else if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			check_strings(json_object_array_get_idx(value, i));
	} else if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, name, member) {
			HOLDS(strlen(name) <= REPORT_STRING_MAX + 8);
			check_strings(member);
		}
	}
}

/* Through report_read() into *ret.  False: it is too large. */
static bool read_report(struct desk *desk, const struct strbuf *text, struct strbuf *ret)
{
	cleanup_json struct json_object *whole = NULL, *cut = NULL;
	struct error err = { 0 };
	HOLDS(ftruncate(desk->input, 0) == 0 && lseek(desk->input, 0, SEEK_SET) == 0);
	HOLDS(fs_write_all(desk->input, strbuf_text(text), text->length, "input", NULL) == 0);
	HOLDS(lseek(desk->input, 0, SEEK_SET) == 0);
	if (report_read(desk->input, clock_ms() + 60000, ret, &err) < 0) {
		HOLDS(err.code == ERROR_CORRUPT && text->length > REPORT_MAX && !ret->data);
		fuzz_failed(&err);
		return false;
	}
	HOLDS(ret->length <= REPORT_MAX && ret->length <= text->length);
	if (json_parse(strbuf_text(text), text->length, "whole", &whole, NULL) < 0)
		return true;
	HOLDS(json_parse(strbuf_text(ret), ret->length, "cut", &cut, NULL) == 0);
	check_strings(cut);
	HOLDS(text->length >= REPORT_STRING_MAX || json_object_equal(whole, cut));
	return true;
}

static void check_instance(struct desk *desk, size_t i)
{
	cleanup_instance struct instance *instance = NULL;
	const struct agent *agent;
	HOLDS(store_load(desk->deck.store, ids[i], &instance, NULL) == 0);
	HOLDS(deck_agent(&desk->deck, agents[i], &agent, NULL) == 0);
	const struct conversation *conversation = &instance->conversation;
	HOLDS(conversation->session_id && resume_takes_id(agent, conversation->session_id));
	HOLDS(streq(conversation->session_id, FIRST_ID) ||
	      strvec_contains(&conversation->previous, FIRST_ID));
	HOLDS(!conversation->transcript_path || conversation->transcript_path[0] == '/');
	HOLDS(instance->run.attempt_count == 1 && streq(instance->run.id, "run-1"));
}

static void take_report(struct desk *desk, size_t i, const struct strbuf *text)
{
	struct error err = { 0 };
	int r = report_text(&desk->deck, ids[i], &(struct sender){ .token = desk->tokens[i] },
			    strbuf_text(text), text->length, &err);
	cleanup_free char *now = read_manifest(desk, i);
	HOLDS(r == 0 || r == REPORT_FOREIGN || (r < 0 && err.code == ERROR_CORRUPT));
	HOLDS(r == 0 || streq(now, desk->manifests[i]));
	if (r < 0)
		fuzz_failed(&err);
	check_instance(desk, i);
	/* Without this run's token nothing happens at all. */
	HOLDS(report_text(&desk->deck, ids[i], &(struct sender){ .token = "guessed" },
			  strbuf_text(text), text->length, NULL) != 0);
	cleanup_free char *name = xasprintf("%s/instance.json", ids[i]);
	if (!streq(now, desk->manifests[i]))
		HOLDS(fs_replace(store_profile_directory(desk->deck.store), name,
				 desk->manifests[i], strlen(desk->manifests[i]), FS_VOLATILE,
				 NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct desk *desk = open_desk();
	cleanup_strbuf struct strbuf text = { 0 }, report = { 0 };
	size_t i = size && data[0] == 'c';
	expand(size ? data + 1 : data, size ? size - 1 : 0, &text);
	if (!read_report(desk, &text, &report))
		return 0;
	take_report(desk, i, &report);
	return 0;
}
