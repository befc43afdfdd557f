/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A transcript that its agent may be writing: the scanners that read it from its head and from its
 * end must see the same conversation, whatever is torn in it.
 *
 * Each \001 among the first bytes of the input stands for so many blanks that a line with a few of
 * them is longer than the scanner's buffer.
 */
#include "fuzz/fuzz.h"

#include "driver/transcript/shelf.h"

#include <sys/stat.h>

enum { BLANK = 32760, BLANKS = 5 };

#define PROJECTS agent_files_named("projects")
#define ID       "0bbbbbbb-0000-4000-8000-000000000002"

struct seen {
	char *reply, *time, *cwd;
	bool has_turns;
	bool has_number; /* of a time, which is not written as it is */
};

static bool visit(struct json_object *record, void *data)
{
	struct seen *seen = data;
	const char *type = json_get_string(record, "type", "");
	bool is_assistant = streq(type, "assistant");
	HOLDS(json_object_is_type(record, json_type_object));
	/* No further than the first turn, as the scanner does. */
	if (!seen->has_turns && !seen->cwd)
		replace_string(&seen->cwd, json_get_string(record, "cwd", NULL));
	if ((is_assistant || streq(type, "user")) && json_get_object(record, "message"))
		seen->has_turns = true;
	struct transcript_turn turn = { 0 };
	if (shelf_turn(PROJECTS, record, &turn) && turn.is_reply) {
		replace_string(&seen->reply, turn.text);
		replace_string(&seen->time, json_get_string(record, "timestamp", ""));
		seen->has_number = json_get_int(record, "time", 0) != 0;
	}
	free(turn.text);
	return true;
}

static void write_input(const char *path, const uint8_t *data, size_t size, bool *ret_has_escapes)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *blank = xcalloc(BLANK, 1);
	memset(blank, ' ', BLANK);
	for (size_t i = 0, blanks = 0; i < size; i++) {
		bool is_blank = data[i] == 1 && blanks++ < BLANKS;
		strbuf_add(&text, is_blank ? blank : (const char *)data + i, is_blank ? BLANK : 1);
	}
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, strbuf_text(&text), text.length, path, NULL) < 0)
		abort();
	*ret_has_escapes = memmem(strbuf_text(&text), text.length, "\\u", 2) != NULL;
}

static void check_find(const char *home, const char *path, const struct seen *seen)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_transcript struct transcript latest = { 0 };
	HOLDS(transcript_find(home, "/srv", ID, path, &found, NULL) == 0);
	HOLDS(streq(found.path, path) && streq(found.session_id, ID));
	HOLDS(found.has_turns == seen->has_turns);
	HOLDS(streq(or_empty(found.cwd), or_empty(seen->cwd)));
	bool is_ours = seen->has_turns && streq(or_empty(seen->cwd), "/srv");
	HOLDS(shelf_latest(home, "/srv", NULL, NULL, &latest, NULL) ==
	      (is_ours ? 0 : TRANSCRIPT_NONE));
}

static void check_reply(const char *path, const struct seen *seen)
{
	char *reply = NULL, *time = NULL;
	int r = shelf_last_reply(PROJECTS, path, &reply, &time, NULL);
	HOLDS(r == (seen->reply ? 0 : TRANSCRIPT_NONE));
	HOLDS(r == 0 ? streq(reply, seen->reply) && (seen->has_number || streq(time, seen->time))
		     : !reply && !time);
	free(reply);
	free(time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *home = xasprintf("%s/projects", fuzz_directory());
	cleanup_free char *folder = xasprintf("%s/-srv", home);
	cleanup_free char *path = xasprintf("%s/" ID ".jsonl", folder);
	struct seen seen = { 0 };
	bool has_escapes;

	(void)mkdir(home, 0700);
	(void)mkdir(folder, 0700);
	write_input(path, data, size, &has_escapes);
	HOLDS(transcript_visit(path, 0, visit, &seen, NULL) == 0);
	/* Letters that are written as \u0061 can be read, but we do not search for them: no agent
	 * writes them. */
	if (!has_escapes) {
		check_find(fuzz_directory(), path, &seen);
		check_reply(path, &seen);
	}
	free(seen.reply);
	free(seen.time);
	free(seen.cwd);
	return 0;
}
