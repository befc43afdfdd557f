/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/location.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/place/place.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool location_is_known(const struct agent *agent)
{
	return agent->transcript && streq(agent->transcript, "projects");
}

/* The project directory that a transcript is in: "-home-me-work" of
 * ".../projects/-home-me-work/ID.jsonl"; "" for a path of another form. */
static char *folder_of(const char *transcript_path)
{
	static const char above[] = "projects";
	cleanup_strvec struct strvec parts = { 0 };
	cleanup_free char *copy = xstrdup(transcript_path);
	char *rest = copy;
	for (const char *part; (part = strsep(&rest, "/"));)
		if (*part)
			strvec_push(&parts, part);
	size_t count = parts.count;
	return xstrdup(count >= 3 && streq(parts.items[count - 3], above) ? parts.items[count - 2]
									  : "");
}

/* Would an agent in this directory keep its transcripts in the folder? */
static bool belongs_to(const char *directory, const char *folder)
{
	cleanup_free char *real = NULL;
	if (fs_real_directory(directory, &real, NULL) != 0)
		real = xstrdup(directory);
	cleanup_free char *slug = transcript_slug(real);
	return streq(slug, folder);
}

/* A UUID that its user has written in capitals, of a file whose name has none. */
static int find_in_lower_case(const struct instance *instance, const char *home,
			      const char *session_id, struct transcript *ret, struct error *err)
{
	cleanup_free char *lower = xstrdup(session_id);
	for (char *c = lower; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
	if (!naming_same_session_id(lower, session_id) || streq(lower, session_id))
		return TRANSCRIPT_NONE;
	return transcript_find(home, instance_launch_directory(instance), lower, NULL, ret, err);
}

/* hint: as for transcript_find(). */
static int find_below(const struct instance *instance, const char *home, const char *session_id,
		      const char *hint, struct transcript *ret, struct error *err)
{
	const char *launch = instance_launch_directory(instance);
	const char *began = instance_transcript_directory(instance);
	int r = transcript_find(home, launch, session_id, hint, ret, err);
	/* A transcript says first where it began, and it may have moved since. */
	if (r == TRANSCRIPT_NONE && !streq(launch, began))
		r = transcript_find(home, began, session_id, NULL, ret, err);
	return r == TRANSCRIPT_NONE ? find_in_lower_case(instance, home, session_id, ret, err) : r;
}

int location_find(const struct instance *instance, const char *session_id, struct transcript *ret,
		  struct error *err)
{
	return find_below(instance, instance->conversation.config_home, session_id,
			  instance->conversation.transcript_path, ret, err);
}

/* ---- the home ------------------------------------------------------------------------------- */

/* Is it the agent's default in a home directory, perhaps in one of before? */
static bool is_below_a_home(const struct agent *agent, const char *path)
{
	return agent && path && starts_with(or_empty(agent->config_home), "~/") &&
	       ends_with(path, agent->config_home + 1);
}

/* A directory that this user cannot access counts as gone, too: the user id has changed.  An agent
 * makes its home when it needs it, so a missing one counts as usable while the user's home
 * directory is. */
static bool is_usable(const struct agent *agent, const char *home)
{
	enum { ALL = R_OK | W_OK | X_OK };
	if (access(home, ALL) == 0)
		return true;
	if (errno != ENOENT || !is_below_a_home(agent, home))
		return false;
	cleanup_free char *user = xstrndup(home, strlen(home) - strlen(agent->config_home + 1));
	return access(user, ALL) == 0;
}

bool location_same_home(const struct agent *agent, const char *one, const char *other)
{
	return streq(or_empty(one), or_empty(other)) ||
	       (is_below_a_home(agent, one) && is_below_a_home(agent, other) &&
		!(is_usable(agent, one) && is_usable(agent, other)));
}

/* Is the default home of today to replace the one that the instance has?  *ret_found: the
 * transcript in it. */
static bool prefers(const struct instance *instance, const struct agent *agent, const char *today,
		    struct transcript *ret_found)
{
	const struct conversation *conversation = &instance->conversation;
	const char *id = location_is_known(agent) ? conversation->session_id : NULL;
	cleanup_transcript struct transcript before = { 0 };
	const bool is_here = id && find_below(instance, today, id, NULL, ret_found, NULL) == 0;
	const bool is_there = id && location_find(instance, id, &before, NULL) == 0;
	if (is_here != is_there)
		return is_here;
	/* A home that only has the name of a default may be on a disk that is not mounted now. */
	if (!conversation->home_is_default)
		return false;
	return is_here ? ret_found->modified_ns >= before.modified_ns
		       : !is_usable(agent, conversation->config_home);
}

bool location_settle_home(const struct deck *deck, struct instance *instance,
			  const struct agent *agent)
{
	struct conversation *conversation = &instance->conversation;
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *today = deck_default_home(deck, agent);
	if (!today || !conversation->config_home || place_home(instance))
		return false;
	const bool is_today = streq(today, conversation->config_home);
	const bool is_default = conversation->home_is_default ||
				is_below_a_home(agent, conversation->config_home);
	if (!is_today && !(is_default && prefers(instance, agent, today, &found)))
		return false;
	replace_string(&conversation->config_home, today);
	conversation->home_is_default = true;
	if (found.path)
		replace_string(&conversation->transcript_path, found.path);
	return !is_today;
}

int location_set_home(const struct deck *deck, struct instance *instance, const struct agent *agent,
		      const char *home, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *usual = deck_default_home(deck, agent), *shown = visible(home);
	const char *id = location_is_known(agent) ? conversation->session_id : NULL;
	int r = id ? find_below(instance, home, id, NULL, &found, err) : 0;
	if (r < 0)
		return -1;
	if (r == TRANSCRIPT_NONE && conversation->first_turn_seen)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s has no conversation %s of %s in it: name the directory that "
				 "has it (nothing was changed)",
				 shown, id, agent->title);
	replace_string(&conversation->config_home, home);
	conversation->home_is_default = usual && streq(usual, home);
	replace_string(&conversation->transcript_path, found.path);
	return 0;
}

/* Has the transcript left the project directory that it was last known in? */
static bool has_moved(const struct instance *instance, const char *folder)
{
	const char *known = instance->conversation.transcript_path;
	cleanup_free char *before = known ? folder_of(known) : NULL;
	return !before || !streq(before, folder);
}

/* The agent may have been killed before it could report that it had moved.  *ret_elsewhere: an
 * agent in the launch directory may not find it. */
static int follow(struct instance *instance, const struct transcript *found, bool *ret_elsewhere,
		  struct error *err)
{
	cleanup_free char *folder = folder_of(found->path);
	cleanup_free char *directory = NULL;
	*ret_elsewhere = *folder && !belongs_to(instance_launch_directory(instance), folder);
	if (!*ret_elsewhere || !has_moved(instance, folder))
		return 0;
	/* claude 2.1.330 brings it back to where it began when it removes its worktree. */
	const char *began = instance_transcript_directory(instance);
	int r = belongs_to(began, folder) ? (directory = xstrdup(began), 0)
					  : transcript_last_directory(found->path, &directory, err);
	if (r < 0)
		return -1;
	if (r == 0)
		instance_set_launch_directory(instance, directory);
	*ret_elsewhere = r == TRANSCRIPT_NONE;
	return 0;
}

int location_look(struct instance *instance, enum transcript_fact *ret, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	bool is_elsewhere = false;
	int r = location_find(instance, instance->conversation.session_id, &found, err);
	if (r < 0 || (r == 0 && follow(instance, &found, &is_elsewhere, err) < 0))
		return -1;
	if (r == TRANSCRIPT_NONE) {
		*ret = TRANSCRIPT_ABSENT;
		return 0;
	}
	/* The agent finds it under this name alone. */
	replace_string(&instance->conversation.session_id, found.session_id);
	replace_string(&instance->conversation.transcript_path, found.path);
	*ret = !found.has_turns ? TRANSCRIPT_EMPTY
	       : is_elsewhere   ? TRANSCRIPT_ELSEWHERE
				: TRANSCRIPT_TURNS;
	return 0;
}

void location_log(const struct instance *instance, const char *before)
{
	const char *now = instance_launch_directory(instance);
	if (!streq(now, before))
		log_info("conversation %s: found in %s", instance->conversation.session_id, now);
}

int location_settle(struct instance *instance, enum transcript_fact *ret, struct error *err)
{
	cleanup_free char *before = xstrdup(instance_launch_directory(instance));
	if (location_look(instance, ret, err) < 0)
		return -1;
	location_log(instance, before);
	return 0;
}

int location_refresh(struct instance *instance, const struct agent *agent, struct error *err)
{
	enum transcript_fact fact;
	return location_is_known(agent) && instance->conversation.session_id &&
			       instance->conversation.config_home
		       ? location_settle(instance, &fact, err)
		       : 0;
}

/* *ret: the length of the original's file; *ret_path: its path, which the caller frees.
 * TRANSCRIPT_NONE: there is no such file. */
static int find_original(const struct instance *instance, const struct agent *agent,
			 char **ret_path, int64_t *ret, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_transcript struct transcript found = { 0 };
	struct stat st;
	if (!conversation->forked_from || !conversation->config_home || place_home(instance) ||
	    !location_is_known(agent))
		return TRANSCRIPT_NONE;
	const int r = location_find(instance, conversation->forked_from, &found, err);
	if (r != 0 || !found.has_turns || lstat(found.path, &st) < 0)
		return r < 0 ? -1 : TRANSCRIPT_NONE;
	*ret = st.st_size;
	*ret_path = TAKE_PTR(found.path);
	return 0;
}

void location_note_fork(struct instance *instance, const struct agent *agent)
{
	cleanup_free char *path = NULL;
	(void)find_original(instance, agent, &path, &instance->conversation.forked_at, NULL);
}

int location_make_fork(struct instance *instance, const struct agent *agent, bool *ret,
		       struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	cleanup_free char *path = NULL, *real = NULL, *copy = NULL;
	int64_t length;
	*ret = false;
	if (!conversation->forked_at || !conversation->session_id ||
	    !naming_is_session_id(conversation->session_id) || conversation->first_turn_seen)
		return 0;
	int r = find_original(instance, agent, &path, &length, err);
	if (r != 0 || length <= conversation->forked_at)
		return r < 0 ? -1 : 0;
	const struct transcript_branch branch = { path, conversation->forked_at,
						  conversation->session_id };
	r = fs_real_directory(instance_launch_directory(instance), &real, err);
	if (r == 0)
		r = transcript_branch(&branch, conversation->config_home, real, &copy, err);
	/* The agent has begun a file for it, or the directory is gone, which the start will say. */
	if (r != 0)
		return r < 0 ? -1 : 0;
	replace_string(&conversation->transcript_path, copy);
	log_info("conversation %s: copied from %s as that was at byte %lld",
		 conversation->session_id, conversation->forked_from,
		 (long long)conversation->forked_at);
	*ret = true;
	return 0;
}

bool location_learn(struct instance *instance, const struct agent *agent,
		    const char *transcript_path, const char *cwd)
{
	cleanup_free char *real = NULL;
	if (!location_is_known(agent) || !transcript_path || !cwd ||
	    fs_real_directory(cwd, &real, NULL) != 0)
		return false;
	cleanup_free char *folder = folder_of(transcript_path);
	if (!*folder || belongs_to(instance_launch_directory(instance), folder) ||
	    !belongs_to(real, folder))
		return false;
	/* claude 2.1.330, resumed from another directory, names a file that is not there. */
	if (instance->conversation.first_turn_seen && access(transcript_path, F_OK) < 0)
		return false;
	instance_set_launch_directory(instance, real);
	return true;
}

/* A worktree in a directory that was moved has moved with it. */
static void move_launch_directory(struct instance *instance, const char *directory)
{
	const char *launch = instance->conversation.directory;
	const char *from = instance_lookup_directory(instance);
	const size_t length = strlen(from);
	cleanup_free char *real = NULL;
	if (!launch)
		return;
	if (strncmp(launch, from, length) == 0 && launch[length] == '/') {
		cleanup_free char *moved = path_join(directory, launch + length + 1);
		if (fs_real_directory(moved, &real, NULL) == 0)
			replace_string(&instance->conversation.directory, real);
	}
	location_forget_missing(instance);
}

int location_move(struct instance *instance, const struct agent *agent, const char *directory,
		  bool copies, enum location_outcome *ret, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	cleanup_free char *copy = NULL, *real = NULL;
	enum transcript_fact fact = TRANSCRIPT_ABSENT;
	const bool can_look = location_is_known(agent) && conversation->session_id &&
			      conversation->config_home;
	/* Where it is now: from here on another project directory is not a move by the agent. */
	if (can_look && location_settle(instance, &fact, err) < 0)
		return -1;
	move_launch_directory(instance, directory);
	instance_set_directory(instance, directory);
	if (fact != TRANSCRIPT_ABSENT && location_settle(instance, &fact, err) < 0)
		return -1;
	*ret = fact == TRANSCRIPT_ABSENT      ? LOCATION_NONE
	       : fact == TRANSCRIPT_ELSEWHERE ? LOCATION_ELSEWHERE
					      : LOCATION_HERE;
	if (*ret != LOCATION_ELSEWHERE || !copies)
		return 0;
	int r = fs_real_directory(instance_launch_directory(instance), &real, err);
	if (r == 0)
		r = transcript_copy(conversation->transcript_path, conversation->config_home, real,
				    &copy, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(
			err, ERROR_EXISTS,
			"another transcript of conversation %s is already where the copy would "
			"go: nothing was changed",
			conversation->session_id);
	replace_string(&conversation->transcript_path, copy);
	*ret = LOCATION_COPIED;
	return 0;
}

void location_forget_missing(struct instance *instance)
{
	cleanup_free char *real = NULL;
	if (instance->conversation.directory &&
	    fs_real_directory(instance->conversation.directory, &real, NULL) == FS_ABSENT)
		replace_string(&instance->conversation.directory, NULL);
}

/* A mount point without its disk is an empty directory. */
static bool is_missing_or_empty(const char *path)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return fs_list(fd, &names, NULL) == 0 && names.count == 0;
}

int location_check_home(const struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	const char *home = conversation->config_home;
	cleanup_free char *usual = deck_default_home(deck, agent);
	if (!home || !conversation->first_turn_seen || conversation->home_is_default ||
	    place_home(instance) || streq(home, or_empty(usual)) || !is_missing_or_empty(home))
		return 0;
	cleanup_free char *shown = visible(home);
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return error_set(err, ERROR_NOT_FOUND,
			 "its conversation is in %s, which is missing or empty: mount its disk, or "
			 "say where it is with agentdeck session set %s home DIRECTORY, or begin a "
			 "new conversation in it with agentdeck session start --fresh %s",
			 shown, hint, hint);
}

int location_check(const struct deck *deck, const struct instance *instance, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_free char *real = NULL;
	cleanup_free char *shown = visible(instance_launch_directory(instance));
	cleanup_free char *home = visible(instance_transcript_directory(instance));
	int r = fs_real_directory(instance_launch_directory(instance), &real, err);
	cleanup_free char *hint = r == FS_ABSENT ? hint_session(deck, instance->title, instance->id)
						 : NULL;
	if (r == FS_ABSENT && conversation->directory)
		return error_set(
			err, ERROR_NOT_FOUND,
			"its conversation %s was last in %s, which is missing: restore that "
			"directory, or continue in another one with agentdeck session set %s path "
			"DIRECTORY, or begin a new conversation in %s with agentdeck session start "
			"--fresh %s",
			or_empty(conversation->session_id), shown, hint, home, hint);
	if (r == FS_ABSENT)
		return error_set(
			err, ERROR_NOT_FOUND,
			"its directory %s is missing: restore it, or, if it was moved, say where "
			"it is with agentdeck session set %s path DIRECTORY, or forget "
			"the session with agentdeck remove %s",
			shown, hint, hint);
	return r < 0 ? -1 : 0;
}
