/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/entry.h"

#include "base/fsutil.h"
#include "driver/transcript/shelf.h"
#include "driver/transcript/transcript.h"
#include "engine/conversation/owner.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void entry_clear(struct entry *entry)
{
	free(entry->origin);
	free(entry->directory);
	free(entry->launch);
	free(entry->home);
	free(entry->place);
	free(entry->id);
	free(entry->config_home);
}

/* ---- what this machine has already ------------------------------------------------------------ */

int entry_find_owners(const struct deck *deck, struct known *ret, struct error *err)
{
	cleanup_known struct known known = { 0 };
	if (known_gather(deck, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < known.count; i++)
		if (known.sessions[i].is_damaged && !known.sessions[i].is_removed)
			return owner_fail_unread(known.sessions[i].id, err);
	*ret = known;
	known = (struct known){ 0 };
	return 0;
}

static bool has_conversation(const struct known_session *session, const char *session_id)
{
	const struct instance *instance = session->instance;
	return naming_same_session_id(instance->conversation.session_id, session_id) ||
	       naming_same_session_id(instance_next_session_id(instance), session_id);
}

static const struct known_session *by_conversation(const struct known *known,
						   const struct entry *entry)
{
	const struct parcel *parcel = entry->parcel;
	for (size_t i = 0; parcel->session_id && i < known->count; i++) {
		const struct known_session *session = known->sessions + i;
		if (session != entry->self && session->instance &&
		    streq(session->instance->agent, parcel->agent) &&
		    has_conversation(session, parcel->session_id))
			return session;
	}
	return NULL;
}

static const struct known_session *by_origin(const struct known *known, const char *origin)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct instance *instance = known->sessions[i].instance;
		if (instance && streq(or_empty(instance->imported_from), origin))
			return known->sessions + i;
	}
	return NULL;
}

static int fail_imported(const struct known_session *owner, struct error *err)
{
	cleanup_free char *shown = visible(owner->instance->title);
	return error_set(err, ERROR_EXISTS,
			 "this session was imported before, as session '%s' (%s) in profile %s: "
			 "remove that one first",
			 shown, owner->id, owner->profile);
}

static int fail_owned(const struct entry *entry, const struct known_session *owner,
		      struct error *err)
{
	cleanup_free char *shown = visible(owner->instance->title);
	const char *conversation = entry->parcel->session_id;
	const bool has_it = has_conversation(owner, conversation);
	cleanup_free char *hint = hint_named(owner->profile, owner->id);
	if (owner->is_removed)
		return error_set(err, ERROR_EXISTS,
				 "this session was removed here, and is in the trash of profile %s "
				 "as '%s' (%s): bring it back with agentdeck undo %s",
				 owner->profile, shown, owner->id, hint);
	if (conversation && owner->instance->conversation.session_id && !has_it)
		return error_set(err, ERROR_EXISTS,
				 "it is here already, as session '%s' (%s) in profile %s, and has "
				 "another conversation now",
				 shown, owner->id, owner->profile);
	if (!has_it)
		conversation = NULL;
	return error_set(err, ERROR_EXISTS,
			 "%s%s is here already: session '%s' (%s) in profile %s has it",
			 conversation ? "conversation " : "it", or_empty(conversation), shown,
			 owner->id, owner->profile);
}

/* The conversation has no id: it is the file in the place of the session. */
static bool is_latest(const struct parcel *parcel)
{
	return parcel->number && !parcel->session_id;
}

/* A session has one owner in all profiles and homes of this user: two would be continued apart. */
int entry_check_owners(const struct entry *entry, const struct known *known, struct error *err)
{
	const struct parcel *parcel = entry->parcel;
	const struct known_session *owner = by_conversation(known, entry);
	const struct known_session *same = by_origin(known, entry->origin);
	if (!same && entry->kind == ENTRY_RESTORE && parcel->imported_from)
		same = by_origin(known, parcel->imported_from);
	if (!owner && (entry->kind == ENTRY_RESTORE || is_latest(parcel)))
		owner = same ? same : known_find(known, parcel->id);
	if (same == entry->self)
		same = NULL;
	if (owner && owner != entry->self && owner->instance)
		return fail_owned(entry, owner, err);
	/* One without a conversation may come again after its removal. */
	return same && same->instance && !same->is_removed ? fail_imported(same, err) : 0;
}

/* Does the file of this path begin with the conversation, and what follows? */
enum likeness { LIKE_NOTHING, LIKE_ITS_START, LIKE_ALL };

/* An import that was killed half-way has left the very file. */
static int compare_file(const char *path, const struct parcel *parcel, enum likeness *ret,
			struct error *err)
{
	struct archive_source source = { .fd = -1 };
	struct stat st;
	cleanup_close int fd = -1;
	if (transcript_open(NULL, path, &fd, err) < 0)
		return -1;
	const int r = archive_measure_start(fd, path, parcel->size, &source, err);
	if (r < 0)
		return -1;
	if (r == ARCHIVE_SHORT || !streq(source.digest, parcel->digest))
		*ret = LIKE_NOTHING;
	else if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	else
		*ret = (uint64_t)st.st_size == parcel->size ? LIKE_ALL : LIKE_ITS_START;
	return 0;
}

/* A second copy of a conversation on this disk would be continued apart from the first. */
int entry_check_disk(const struct entry *entry, bool *ret_is_there, struct error *err)
{
	cleanup_shelf struct shelf shelf = { 0 };
	enum likeness likeness = LIKE_ALL;
	bool is_there = false;
	if (entry->parcel->session_id && entry->parcel->number) {
		struct stat st;
		cleanup_free char *place = path_join(entry->home, entry->place);
		if (shelf_list(agent_movable_files(entry->agent), entry->home, &shelf, err) < 0)
			return -1;
		const struct shelf_item *item = shelf_find(&shelf, entry->parcel->session_id);
		/* A link, or a file of a name that is no UUID, is on no shelf. */
		const char *path = item ? item->path : lstat(place, &st) == 0 ? place : NULL;
		if (!path && shelf.problem)
			return error_set(
				err, ERROR_SYSTEM,
				"it is not known whether conversation %s is on this machine "
				"already: %s: make that readable, or move it away",
				entry->parcel->session_id, shelf.problem);
		if (path && compare_file(path, entry->parcel, &likeness, err) < 0)
			return -1;
		is_there = path && streq(path, place) &&
			   (likeness == LIKE_ALL ||
			    (likeness == LIKE_ITS_START && entry->kind == ENTRY_RESTORE));
		/* entry_plant() looks again. */
		const bool may_grow = entry->kind == ENTRY_MOVE && likeness == LIKE_NOTHING;
		if (path && !is_there && !(may_grow && streq(path, place)))
			return error_set(
				err, ERROR_EXISTS,
				"conversation %s is on this machine already, in %s: "
				"continue it with agentdeck add --session-id, or move that "
				"file away first",
				entry->parcel->session_id, path);
	}
	*ret_is_there = is_there;
	return 0;
}

/* ---- where it goes ----------------------------------------------------------------------------- */

static int fail_directory(const char *path, const char *advice, struct error *err)
{
	cleanup_free char *shown = visible(path);
	return error_set(err, ERROR_NOT_FOUND,
			 "%s is not a directory on this machine: make it, or %s", shown, advice);
}

/* Without slashes at its end, so nothing of "/". */
static size_t directory_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] == '/')
		length--;
	return length;
}

bool entry_is_moved(const char *move, const char *path)
{
	const size_t length = directory_length(move, strcspn(move, "="));
	return strncmp(path, move, length) == 0 && (path[length] == '/' || !path[length]);
}

char *entry_moved(const struct strvec *moves, const char *path)
{
	for (size_t i = 0; moves && i < moves->count; i++) {
		const char *move = moves->items[i];
		const char *place = move + strcspn(move, "=") + 1;
		const size_t old = directory_length(move, strcspn(move, "="));
		const size_t new = directory_length(place, strlen(place));
		const char *rest = path + old + strspn(path + old, "/");
		if (entry_is_moved(move, path))
			return xasprintf("%.*s%s%s", (int)new, place, *rest || new == 0 ? "/" : "",
					 rest);
	}
	return xstrdup(path);
}

/* A tree does not come along: its session continues in the repository. */
static int settle_directory(const struct unpack_order *order, const char *advice,
			    struct entry *entry, struct error *err)
{
	const struct parcel *parcel = entry->parcel;
	cleanup_free char *path = order->directory ? xstrdup(order->directory)
						   : entry_moved(order->moves, parcel->directory);
	cleanup_free char *repository = parcel->repository
						? entry_moved(order->moves, parcel->repository)
						: NULL;
	const int r = fs_real_directory(path, &entry->directory, err);
	if (r != FS_ABSENT)
		return r;
	if (entry->kind != ENTRY_RESTORE || !repository ||
	    fs_real_directory(repository, &entry->directory, NULL) != 0)
		return fail_directory(path, advice, err);
	entry->is_replaced = true;
	return 0;
}

static int settle_directories(const struct unpack_order *order, struct entry *entry,
			      struct error *err)
{
	const char *advice = entry->kind == ENTRY_RESTORE ? "say where it is with --map OLD=NEW"
			     : entry->kind == ENTRY_MOVE
				     ? "name the one that takes its place with --path"
				     : "name the one that takes its place with --directory";
	const struct parcel *parcel = entry->parcel;
	if (settle_directory(order, advice, entry, err) < 0)
		return -1;
	if (parcel->launch_directory && !order->directory && !entry->is_replaced) {
		cleanup_free char *launch = entry_moved(order->moves, parcel->launch_directory);
		if (entry->kind != ENTRY_RESTORE || access(launch, X_OK) == 0) {
			const int r = fs_real_directory(launch, &entry->launch, err);
			return r == FS_ABSENT ? fail_directory(launch, advice, err) : r;
		}
	}
	entry->launch = xstrdup(entry->directory);
	return 0;
}

/* Would its agent find the conversation where it comes to? */
static int settle_place(struct entry *entry, struct error *err)
{
	const struct parcel *parcel = entry->parcel;
	const struct agent_files *files = agent_movable_files(entry->agent);
	if (files && files->reach == FILES_BOUND && parcel->began &&
	    !streq(parcel->began, entry->launch)) {
		cleanup_free char *began = visible(parcel->began);
		return error_set(err, ERROR_INVALID,
				 "%s continues this conversation only in %s, where it began: "
				 "make that directory, and let the session work there",
				 entry->agent->title, began);
	}
	entry->place = shelf_place(files, parcel->session_id, entry->launch, parcel->place);
	return entry->place ? 0
			    : error_set(err, ERROR_CORRUPT,
					"the file does not say where %s keeps this conversation",
					entry->agent->title);
}

static int settle_latest(struct entry *entry, struct error *err)
{
	const char *pattern = entry->agent->isolation_conversation;
	const char *name = entry->parcel->place;
	if (!pattern || fnmatch(pattern, name, FNM_PERIOD) != 0)
		return error_set(err, ERROR_INVALID,
				 "%s keeps no conversation in a file %s here, so agentdeck cannot "
				 "import it",
				 entry->agent->title, name);
	entry->place = xstrdup(name);
	return 0;
}

/* The home that it had, where that is here: its conversation may have gone on there since.  A file
 * that is imported is often another person's, so it does not choose a home. */
static void find_home(const struct deck *deck, const struct unpack_order *order,
		      struct entry *entry)
{
	const char *home = entry->parcel->home;
	struct stat st;
	if (entry->kind != ENTRY_RESTORE)
		return;
	entry->config_home = deck_default_home(deck, entry->agent);
	if (!home)
		return;
	cleanup_free char *path = *home == '~' ? xasprintf("%s%s", deck->paths.home, home + 1)
					       : entry_moved(order->moves, home);
	entry->is_rehomed = stat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid();
	if (!entry->is_rehomed)
		replace_string(&entry->config_home, path);
}

static int settle_home(const struct deck *deck, struct entry *entry, struct error *err)
{
	cleanup_free char *home = entry->config_home ? xstrdup(entry->config_home)
						     : deck_config_home(deck, entry->agent);
	if (!entry->parcel->number)
		return 0;
	if (is_latest(entry->parcel))
		return settle_latest(entry, err);
	if (!agent_movable_files(entry->agent) || !home || *home != '/')
		return error_set(
			err, ERROR_INVALID,
			"agentdeck does not know where %s keeps its conversations here, and "
			"cannot import one",
			entry->agent->title);
	/* The home itself may be a link of its user's. */
	entry->home = realpath(home, NULL);
	if (!entry->home)
		entry->home = TAKE_PTR(home);
	return settle_place(entry, err);
}

/* A session that comes back stays the one that an import made. */
static const char *made_from(const struct entry *entry)
{
	return entry->kind == ENTRY_RESTORE && entry->parcel->imported_from
		       ? entry->parcel->imported_from
		       : entry->origin;
}

int entry_settle(struct deck *deck, const struct unpack_file *file,
		 const struct unpack_order *order, struct entry *entry, struct error *err)
{
	const struct parcel *parcel = entry->parcel;
	entry->origin = xasprintf("agentdeck %s %s", or_empty(file->parcels.host), parcel->id);
	if (settle_directories(order, entry, err) < 0 ||
	    deck_agent(deck, parcel->agent, &entry->agent, err) < 0)
		return -1;
	find_home(deck, order, entry);
	if (settle_home(deck, entry, err) < 0)
		return -1;
	entry->wish = (struct lifecycle_new){
		.title = order->title ? order->title : parcel->title,
		.group = order->group ? order->group : parcel->group,
		.directory = entry->directory,
		.launch_directory = streq(entry->launch, entry->directory) ? NULL : entry->launch,
		.agent = parcel->agent,
		.argv = &parcel->argv,
		.session_id = parcel->number || entry->kind == ENTRY_RESTORE ? parcel->session_id
									     : NULL,
		.config_home = entry->config_home,
		.resume = resume_policy_name(parcel->resume_policy),
		.restart = restart_policy_name(parcel->restart_policy),
		.end_policy = parcel->end_policy,
		.sleep_after = parcel->sleep_after,
		.limits = parcel->limits,
		.notes = parcel->notes,
		.tags = parcel->tags,
		.is_pinned = parcel->is_pinned,
		.archived_at = parcel->archived_at,
		.imported_from = made_from(entry),
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

static int fail_taken(const char *home, const char *place, struct error *err)
{
	return error_set(err, ERROR_EXISTS, "%s/%s came into being just now: try again", home,
			 place);
}

static int put(int copy, const char *home, const struct entry *entry, struct error *err)
{
	const int r = entry->kind == ENTRY_MOVE ? transcript_grow(copy, home, entry->place, err)
						: transcript_put(copy, home, entry->place, err);
	if (r != TRANSCRIPT_TAKEN)
		return r;
	return entry->kind == ENTRY_MOVE
		       ? error_set(err, ERROR_EXISTS,
				   "%s/%s is here already, and has what the conversation that "
				   "arrives does not begin with: move that file away first",
				   home, entry->place)
		       : fail_taken(home, entry->place, err);
}

/* In the place of a session that does not exist yet, or comes back. */
static int plant_latest(struct deck *deck, int copy, struct entry *entry, struct error *err)
{
	cleanup_free char *id = entry->wish.id ? xstrdup(entry->wish.id) : naming_new_id();
	cleanup_free char *home = home_path(deck, id);
	if (home_create(deck, id, err) < 0) {
		(void)home_remove(deck, id, NULL);
		return -1;
	}
	struct error why = { 0 };
	if (put(copy, home, entry, &why) < 0) {
		if (!entry->wish.id && why.code != ERROR_EXISTS)
			entry_uproot(deck, entry->parcel, id);
		return error_move(err, &why);
	}
	entry->id = TAKE_PTR(id);
	entry->wish.id = entry->id;
	return 0;
}

int entry_plant(struct deck *deck, const struct unpack_file *file, struct entry *entry,
		struct error *err)
{
	cleanup_close int copy = -1;
	if (extract(deck, &file->archive, entry->parcel, &copy, err) < 0)
		return -1;
	if (is_latest(entry->parcel))
		return plant_latest(deck, copy, entry, err);
	return put(copy, entry->home, entry, err);
}

/* If absence cannot be proved, keep the conversation. */
static bool may_exist(struct deck *deck, const char *id)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(deck->store, &rows, NULL) < 0)
		return true;
	for (size_t i = 0; i < rows.count; i++)
		if (streq(rows.rows[i].id, id))
			return true;
	return false;
}

void entry_uproot(struct deck *deck, const struct parcel *parcel, const char *id)
{
	if (!id || !is_latest(parcel) || may_exist(deck, id))
		return;
	cleanup_free char *home = home_path(deck, id);
	cleanup_free char *path = path_join(home, parcel->place);
	(void)unlink(path);
	(void)home_remove(deck, id, NULL);
}
