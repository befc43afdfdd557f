/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/said.h"

#include "driver/transcript/shelf.h"
#include "engine/deck/hint.h"
#include "model/agent/box.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void said_mark_free(struct said_mark *mark)
{
	free(mark->path);
	*mark = (struct said_mark){ 0 };
}

void said_free(struct said *said)
{
	free(said->reply);
	free(said->path);
	*said = (struct said){ 0 };
}

static int no_transcript(struct deck *deck, const struct instance *instance,
			 const struct agent *agent, struct error *err)
{
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "%s writes no transcript that agentdeck can read: see its screen with "
			 "agentdeck output --pane %s",
			 agent->title ? agent->title : agent->name, hint);
}

int said_find(struct deck *deck, const struct instance *instance, struct transcript *ret,
	      const struct agent_files **ret_files, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	const struct agent *agent;
	if (deck_agent(deck, instance->agent, &agent, err) < 0)
		return -1;
	const struct agent_files *files = agent_find_files(agent);
	if (!files || !files->reply)
		return no_transcript(deck, instance, agent, err);
	cleanup_free char *home = conversation->config_home ? xstrdup(conversation->config_home)
							    : deck_config_home(deck, agent);
	const char *id = conversation->session_id, *hint = conversation->transcript_path;
	*ret_files = files;
	if (!id || !home)
		return SAID_NONE;
	const int r = agent->transcript ? transcript_find(home, instance_launch_directory(instance),
							  id, hint, ret, err)
					: shelf_pick(files, home, id, hint, ret, err);
	return r > 0 ? SAID_NONE : r;
}

int said_mark(struct deck *deck, const struct instance *instance, struct said_mark *ret,
	      struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct agent_files *files;
	struct stat st;
	ret->is_unknown = true;
	const int r = said_find(deck, instance, &found, &files, err);
	if (r < 0)
		return -1;
	if (r == 0) {
		cleanup_close int fd = open(found.path,
					    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		const bool is_gone = fd < 0 && (errno == ENOENT || errno == ELOOP);
		if (!is_gone && (fd < 0 || fstat(fd, &st) < 0))
			return error_set_errno(err, errno, "read %s", found.path);
		if (!is_gone) {
			ret->path = TAKE_PTR(found.path);
			ret->size = st.st_size;
			ret->inode = st.st_ino;
		}
	}
	ret->is_unknown = false;
	return 0;
}

/* One turn, read backwards. */
struct turn {
	char *reply;
	bool is_over, is_error;
	bool has_work; /* a record of the agent's, whatever it says */
};

struct looking {
	const struct agent_files *files;
	const char *text; /* NULL: any */
	struct turn turn, next;
	struct said *said;
	bool is_found;
};

static void looking_free(struct looking *looking)
{
	free(looking->turn.reply);
	free(looking->next.reply);
}

static bool is_message(const struct looking *looking, const char *text)
{
	return looking->text && text && box_same_text(text, looking->text);
}

/* A prompt that is not the message, or need not be: the turn that was read is its turn.  An agent
 * may take a prompt into the turn that it works on, so the reply to the message may be in there. */
static void pass_prompt(struct looking *looking)
{
	looking->said->is_followed |= looking->text || looking->next.has_work;
	if (!looking->turn.has_work)
		return;
	free(looking->next.reply);
	looking->next = looking->turn;
	looking->turn = (struct turn){ 0 };
}

/* The agent's record: its last words in the turn, or work before or after them. */
static void take_work(struct looking *looking, const struct json_object *record, char *reply)
{
	struct turn *turn = &looking->turn;
	if (reply && !turn->reply) {
		turn->is_over = !turn->has_work && !shelf_goes_on(looking->files, record);
		turn->is_error = shelf_is_error(looking->files, record);
		turn->reply = TAKE_PTR(reply);
	}
	free(reply);
	turn->has_work = true;
}

static bool visit(const struct json_object *record, void *data)
{
	struct looking *looking = data;
	cleanup_free char *queued = shelf_queued(looking->files, record);
	struct transcript_turn turn = { 0 };
	looking->said->is_taken |= is_message(looking, queued);
	switch (shelf_read(looking->files, record, &turn)) {
	case SHELF_REPLY:
	case SHELF_WORK:
		take_work(looking, record, turn.text);
		return false;
	case SHELF_PROMPT:
		looking->is_found = is_message(looking, turn.text);
		free(turn.text);
		if (!looking->is_found)
			pass_prompt(looking);
		return looking->is_found;
	case SHELF_TAG:
		if (!looking->text)
			pass_prompt(looking);
		return false;
	default:
		return false;
	}
}

static void conclude(struct looking *looking)
{
	struct said *said = looking->said;
	struct turn *turn = &looking->turn;
	if (!looking->is_found && looking->text)
		return;
	/* Use the first turn after a prompt.  Older records belong to the turn before. */
	if (!looking->text || (!turn->is_over && looking->next.has_work))
		turn = &looking->next;
	said->is_taken |= looking->is_found || turn->has_work;
	said->is_over = turn->is_over;
	said->is_error = turn->is_error;
	said->reply = TAKE_PTR(turn->reply);
}

/* The offset from which the transcript counts. */
static int64_t begin_of(const struct said_mark *mark, const struct said_mark *seen,
			const char *path, const struct stat *st)
{
	/* A file that became smaller was written again. */
	const bool is_marked = mark->path && streq(mark->path, path) && mark->size <= st->st_size;
	const int64_t begin = is_marked ? mark->size : 0;
	const bool is_seen = seen && seen->path && streq(seen->path, path) &&
			     seen->inode == st->st_ino && seen->size <= st->st_size;
	return is_seen && seen->size > begin ? seen->size : begin;
}

/* What ends within a line is read again, when the line is whole. */
static void note_seen(struct said_mark *seen, const char *path, const struct stat *st)
{
	char last = '\0';
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || pread(fd, &last, 1, st->st_size - 1) != 1 || last != '\n')
		return;
	replace_string(&seen->path, path);
	seen->size = st->st_size;
	seen->inode = st->st_ino;
}

/* seen: as of said_is_taken(); NULL: nothing. */
static int look(struct deck *deck, const struct instance *instance, const struct said_mark *mark,
		struct said_mark *seen, struct looking *looking, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	struct stat st;
	int r = said_find(deck, instance, &found, &looking->files, err);
	if (r == 0 && mark->is_unknown)
		r = error_set(err, ERROR_SYSTEM, "%s could not be read before the message was sent",
			      found.path);
	if (r != 0)
		return r;
	if (stat(found.path, &st) < 0)
		return SAID_NONE;
	looking->said->path = xstrdup(found.path);
	/* A command led to another conversation, whose words are no reply to the command. */
	const bool is_other = !looking->text && mark->path && !streq(mark->path, found.path);
	const int64_t begin = begin_of(mark, seen, found.path, &st);
	if (begin < st.st_size && !is_other)
		r = transcript_visit_back(found.path, begin, visit, looking, err);
	if (r < 0)
		return -1;
	conclude(looking);
	if (seen)
		note_seen(seen, found.path, &st);
	return 0;
}

int said_look(struct deck *deck, const struct instance *instance, const struct said_mark *mark,
	      const char *text, struct said *ret, struct error *err)
{
	cleanup_said struct said said = { 0 };
	CLEANUP(looking_free) struct looking looking = { .text = text, .said = &said };
	const int r = look(deck, instance, mark, NULL, &looking, err);
	if (r != 0)
		return r;
	*ret = said;
	said = (struct said){ 0 };
	return 0;
}

bool said_is_taken(struct deck *deck, const struct instance *instance, const struct said_mark *mark,
		   struct said_mark *seen, const char *text)
{
	cleanup_said struct said said = { 0 };
	CLEANUP(looking_free) struct looking looking = { .text = text, .said = &said };
	return look(deck, instance, mark, seen, &looking, NULL) == 0 && said.is_taken;
}
