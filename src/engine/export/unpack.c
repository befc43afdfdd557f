/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/unpack.h"

#include "base/fsutil.h"
#include "driver/store/trash.h"
#include "driver/transcript/shelf.h"
#include "driver/transcript/transcript.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/run/lifecycle.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void unpack_close(struct unpack_file *file)
{
	archive_close(&file->archive);
	parcels_free(&file->parcels);
}

static int check_conversations(const struct unpack_file *file, struct error *err)
{
	const struct archive *archive = &file->archive;
	for (size_t i = 0; i < file->parcels.count; i++) {
		const struct parcel *parcel = &file->parcels.items[i];
		if (!parcel->number)
			continue;
		if (archive->members[parcel->number].size != parcel->size)
			return error_set(err, ERROR_CORRUPT,
					 "%s: a conversation in it has another size than it says",
					 archive->path);
		if (archive_copy(archive, parcel->number, parcel->digest, -1, err) < 0)
			return -1;
	}
	return 0;
}

int unpack_open(const char *path, struct unpack_file *ret, struct error *err)
{
	cleanup_unpack struct unpack_file file = UNPACK_NO_FILE;
	if (archive_open(path, &file.archive, err) < 0 ||
	    parcels_parse(file.archive.description, path, file.archive.count, &file.parcels, err) <
		    0 ||
	    check_conversations(&file, err) < 0)
		return -1;
	*ret = file;
	file = UNPACK_NO_FILE;
	return 0;
}

/* ---- what this machine has already ------------------------------------------------------------ */

/* One session on its way in. */
struct entry {
	const struct parcel *parcel; /* borrowed, as is agent */
	const struct agent *agent;
	struct lifecycle_new wish;
	char *origin, *directory, *launch, *home;
};

static void entry_clear(struct entry *entry)
{
	free(entry->origin);
	free(entry->directory);
	free(entry->launch);
	free(entry->home);
}
#define cleanup_entry CLEANUP(entry_clear)

static bool is_same(const struct entry *entry, const char *agent, const char *session_id)
{
	return streq(or_empty(agent), entry->agent->name) &&
	       naming_same_session_id(session_id, entry->parcel->session_id);
}

static int fail_imported(const struct store_row *row, const char *profile, struct error *err)
{
	cleanup_free char *shown = visible(or_empty(row->title));
	return error_set(err, ERROR_EXISTS,
			 "this session was imported before, as session '%s' (%s) in profile %s: "
			 "remove that one first",
			 shown, row->id, profile);
}

static int fail_owned(const struct entry *entry, const char *title, const char *id,
		      const char *profile, const char *place, struct error *err)
{
	cleanup_free char *shown = visible(or_empty(title));
	const char *conversation = entry->parcel->session_id;
	return error_set(err, ERROR_EXISTS,
			 "%s%s is here already: session '%s' (%s) %sprofile %s has it",
			 conversation ? "conversation " : "it", or_empty(conversation), shown, id,
			 place, profile);
}

/* A session has one owner in all profiles and homes of this user: two would be continued apart. */
static int check_rows(const struct entry *entry, const struct owner_profile *profile,
		      struct error *err)
{
	const char *name = store_profile(profile->store);
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		cleanup_instance struct instance *instance = NULL;
		if (row->damage)
			return owner_fail_unread(row, err);
		if (is_same(entry, row->agent, row->session_id) ||
		    is_same(entry, row->agent, row->next_session_id))
			return fail_owned(entry, row->title, row->id, name, "in ", err);
		if (store_load(profile->store, row->base, &instance, NULL) == 0 &&
		    streq(or_empty(instance->imported_from), entry->origin))
			return fail_imported(row, name, err);
	}
	return 0;
}

static int check_trash(const struct entry *entry, struct store *store, struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	if (trash_list(store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < trash.count; i++) {
		const struct instance *instance = trash.items[i].instance;
		if (instance && is_same(entry, instance->agent, instance->conversation.session_id))
			return fail_owned(entry, instance->title, instance->id,
					  store_profile(store), "in the trash of ", err);
	}
	return 0;
}

static int check_owners(struct deck *deck, const struct entry *entry, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (check_rows(entry, &profiles.items[i], err) < 0 ||
		    check_trash(entry, profiles.items[i].store, err) < 0)
			return -1;
	return 0;
}

/* An import that was killed half-way has left the very file. */
static int compare_file(const char *path, const struct parcel *parcel, bool *ret, struct error *err)
{
	struct archive_source source = { .fd = -1 };
	cleanup_close int fd = -1;
	if (transcript_open(NULL, path, &fd, err) < 0 ||
	    archive_measure(fd, path, &source, err) < 0)
		return -1;
	*ret = source.size == parcel->size && streq(source.digest, parcel->digest);
	return 0;
}

/* Where the conversation comes to.  The caller frees. */
static char *destination_of(const struct entry *entry)
{
	cleanup_free char *slug = transcript_slug(entry->launch);
	return xasprintf("%s/projects/%s/%s.jsonl", entry->home, slug, entry->parcel->session_id);
}

/* A second copy of a conversation on this disk would be continued apart from the first. */
static int check_disk(const struct entry *entry, bool *ret_is_there, struct error *err)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_free char *place = destination_of(entry);
	bool is_alike = false;
	if (shelf_list(entry->agent->transcript, entry->home, &shelf, err) < 0)
		return -1;
	const struct shelf_item *item = shelf_find(&shelf, entry->parcel->session_id);
	if (!item)
		return 0;
	if (compare_file(item->path, entry->parcel, &is_alike, err) < 0)
		return -1;
	if (!is_alike || !streq(item->path, place))
		return error_set(err, ERROR_EXISTS,
				 "conversation %s is on this machine already, in %s: continue it "
				 "with agentdeck add --session-id, or move that file away first",
				 entry->parcel->session_id, item->path);
	*ret_is_there = true;
	return 0;
}

/* ---- making it -------------------------------------------------------------------------------- */

static int find_directory(const char *path, const char *option, char **ret, struct error *err)
{
	cleanup_free char *shown = visible(path);
	const int r = fs_real_directory(path, ret, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not a directory on this machine: make it, or %s", shown,
				 option);
	return r;
}

static int settle_directories(const struct unpack_order *order, struct entry *entry,
			      struct error *err)
{
	static const char advice[] = "name the one that takes its place with --directory";
	const struct parcel *parcel = entry->parcel;
	const char *launch = order->directory ? NULL : parcel->launch_directory;
	if (find_directory(order->directory ? order->directory : parcel->directory, advice,
			   &entry->directory, err) < 0)
		return -1;
	if (launch)
		return find_directory(launch, advice, &entry->launch, err);
	entry->launch = xstrdup(entry->directory);
	return 0;
}

static int settle_home(const struct deck *deck, struct entry *entry, struct error *err)
{
	cleanup_free char *home = deck_config_home(deck, entry->agent);
	if (!entry->parcel->number)
		return 0;
	if (!location_is_known(entry->agent) || !home || *home != '/')
		return error_set(
			err, ERROR_INVALID,
			"agentdeck does not know where %s keeps its conversations here, and "
			"cannot import one",
			entry->agent->title);
	/* The home itself may be a link of its user's. */
	entry->home = realpath(home, NULL);
	if (!entry->home)
		entry->home = TAKE_PTR(home);
	return 0;
}

static int settle(struct deck *deck, const struct unpack_file *file,
		  const struct unpack_order *order, struct entry *entry, struct error *err)
{
	const struct parcel *parcel = entry->parcel;
	if (deck_agent(deck, parcel->agent, &entry->agent, err) < 0 ||
	    settle_directories(order, entry, err) < 0 || settle_home(deck, entry, err) < 0)
		return -1;
	entry->origin = xasprintf("agentdeck %s %s", or_empty(file->parcels.host), parcel->id);
	entry->wish = (struct lifecycle_new){
		.title = order->title ? order->title : parcel->title,
		.group = order->group ? order->group : parcel->group,
		.directory = entry->directory,
		.launch_directory = streq(entry->launch, entry->directory) ? NULL : entry->launch,
		.agent = parcel->agent,
		.argv = &parcel->argv,
		.session_id = parcel->number ? parcel->session_id : NULL,
		.resume = parcel->resume,
		.restart = parcel->restart,
		.end_policy = parcel->end_policy,
		.limits = parcel->limits,
		.notes = parcel->notes,
		.imported_from = entry->origin,
		.created_at = parcel->created_at,
		.last_used_at = parcel->last_used_at,
	};
	return lifecycle_check_new(deck, &entry->wish, err);
}

/* The conversation in an open file that has no name. */
static int extract(struct deck *deck, const struct archive *archive, const struct parcel *parcel,
		   int *ret, struct error *err)
{
	cleanup_free char *name = xasprintf(FS_TEMPORARY_PREFIX "import-%d", (int)getpid());
	const int profile = store_profile_directory(deck->store);
	(void)unlinkat(profile, name, 0);
	cleanup_close int fd = fs_openat(profile, name,
					 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || unlinkat(profile, name, 0) < 0)
		return error_set_file(err, errno, "make a file in %s", deck->paths.state);
	if (archive_copy(archive, parcel->number, parcel->digest, fd, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_set_errno(err, errno, "read a copy");
	*ret = TAKE_FD(fd);
	return 0;
}

static int plant(struct deck *deck, const struct archive *archive, const struct entry *entry,
		 struct error *err)
{
	cleanup_free char *place = destination_of(entry);
	cleanup_close int copy = -1;
	if (extract(deck, archive, entry->parcel, &copy, err) < 0)
		return -1;
	const int r = transcript_put(copy, place, entry->home, entry->launch, err);
	return r == TRANSCRIPT_TAKEN ? error_set(err, ERROR_EXISTS,
						 "%s came into being just now: try again", place)
				     : r;
}

static int make(struct deck *deck, const struct unpack_file *file, struct entry *entry,
		struct instance **ret, struct error *err)
{
	bool is_there = false;
	if (check_owners(deck, entry, err) < 0)
		return -1;
	if (entry->parcel->number && check_disk(entry, &is_there, err) < 0)
		return -1;
	if (entry->parcel->number && !is_there && plant(deck, &file->archive, entry, err) < 0)
		return -1;
	return lifecycle_add(deck, &entry->wish, ret, err);
}

int unpack_session(struct deck *deck, const struct unpack_order *order, struct instance **ret,
		   struct error *err)
{
	cleanup_unpack struct unpack_file file = UNPACK_NO_FILE;
	cleanup_entry struct entry entry = { 0 };
	if (unpack_open(order->file, &file, err) < 0)
		return -1;
	if (file.parcels.count != 1)
		return error_set(err, ERROR_INVALID, "%s has %zu sessions, and not one",
				 order->file, file.parcels.count);
	entry.parcel = &file.parcels.items[0];
	return settle(deck, &file, order, &entry, err) < 0 ? -1
							   : make(deck, &file, &entry, ret, err);
}
