/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/adopt/enlist.h"

#include "base/fsutil.h"
#include "driver/transcript/holder.h"
#include "driver/transcript/transcript.h"
#include "engine/adopt/adopt.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/run/add.h"
#include "model/session/naming.h"

static int refuse_open(const struct discover_find *find, pid_t pid, struct error *err)
{
	return error_set(err, ERROR_EXISTS,
			 "conversation %s is open in process %d: take that over with agentdeck "
			 "adopt %d, or end it first",
			 find->session_id, (int)pid, (int)pid);
}

/* Is it open in an agent outside of agentdeck?  Only an id proves that. */
static int check_open(struct deck *deck, const struct adopt_finds *running,
		      const struct discover_find *find, struct error *err)
{
	static const struct holder_skip none;
	struct process_id holder;
	if (holder_find(find->agent, find->home, find->session_id, &none, &holder) == 0)
		return refuse_open(find, holder.pid, err);
	for (size_t i = 0; i < running->count; i++) {
		const struct adopt_find *other = &running->finds[i];
		const int pid = (int)other->process.pid;
		if (!streq(other->agent->name, find->agent->name))
			continue;
		if (naming_same_session_id(other->session_id, find->session_id))
			return refuse_open(find, other->process.pid, err);
		if (streq(other->cwd, find->directory) && !other->owner &&
		    (other->doubt || !other->session_id))
			deck_warn(deck,
				  "%s runs in the directory of conversation %s (process %d): if "
				  "it has that open, end it before you start the session",
				  find->agent->title, find->session_id, pid);
	}
	return 0;
}

/* A session whose agent does not find its conversation would begin another one. */
static int check_place(const struct discover_find *find, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *real = NULL, *shown = visible(find->directory);
	int r = fs_real_directory(find->directory, &real, err);
	if (r < 0)
		return -1;
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "the directory of conversation %s does not exist any more: %s",
				 find->session_id, shown);
	if (!location_is_known(find->agent))
		return 0;
	r = transcript_find(find->home, real, find->session_id, NULL, &found, err);
	return r <= 0 ? r
		      : error_set(err, ERROR_NOT_FOUND,
				  "%s would not find conversation %s from %s: it began there "
				  "under another path",
				  find->agent->title, find->session_id, shown);
}

/* The titles of this profile.  A session of any profile that cannot be read may have what is to be
 * given away. */
static int list_titles(struct deck *deck, struct json_object *ret, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, err) < 0 || owner_check_read(&profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		for (size_t j = 0; profiles.items[i].is_own && j < profiles.items[i].rows.count;
		     j++)
			json_set_int(ret, or_empty(profiles.items[i].rows.rows[j].title), 1);
	return 0;
}

int enlist(struct deck *deck, const struct discover_find *finds, size_t count, const char *group,
	   struct instance **ret, struct error *err)
{
	cleanup_adopt_finds struct adopt_finds running = { 0 };
	cleanup_json struct json_object *taken = json_object_new_object();
	cleanup_strvec struct strvec titles = { 0 };
	if (adopt_look(deck, &running, err) < 0 || list_titles(deck, taken, err) < 0)
		return -1;
	cleanup_free struct lifecycle_new *wishes = xcalloc(count + 1, sizeof(*wishes));
	for (size_t i = 0; i < count; i++) {
		const struct discover_find *find = &finds[i];
		if (check_open(deck, &running, find, err) < 0 || check_place(find, err) < 0)
			return -1;
		cleanup_free char *title = discover_title(find->directory, taken);
		strvec_push(&titles, title);
	}
	for (size_t i = 0; i < count; i++)
		wishes[i] = (struct lifecycle_new){
			.title = titles.items[i],
			.group = group,
			.directory = finds[i].directory,
			.agent = finds[i].agent->name,
			.session_id = finds[i].session_id,
			.config_home = finds[i].home,
			.last_used_at = finds[i].modified_us,
		};
	/* Checks the owners again, under the lock. */
	return lifecycle_add_many(deck, wishes, count, ret, err);
}
