/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deck_remove_profile()
 */
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/store/trash.h"
#include "engine/deck/deck.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LOCK_TIMEOUT_MS = 30000 };

#define CONVERSATIONS "conversations"
#define TREES         "trees"
#define INDEX         "instances.json"

static bool is_known(const char *file)
{
	return streq(file, CONVERSATIONS) || streq(file, TREES) || streq(file, TRASH_DIRECTORY) ||
	       streq(file, INDEX) || streq(file, INDEX ".lock");
}

/* Only what agentdeck can make again is removed. */
static int check_is_empty(struct store *store, const char *name, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_trash struct trash trash = { 0 };
	cleanup_strvec struct strvec files = { 0 };
	if (store_list(store, &rows, err) < 0 || trash_list(store, &trash, err) < 0 ||
	    fs_list(store_profile_directory(store), &files, err) < 0)
		return -1;
	if (rows.count)
		return error_set(err, ERROR_INVALID,
				 "profile '%s' has %zu session%s: remove %s first", name,
				 rows.count, rows.count == 1 ? "" : "s",
				 rows.count == 1 ? "it" : "them");
	if (trash.count)
		return error_set(err, ERROR_INVALID,
				 "the trash of profile '%s' has %zu session%s: delete %s with "
				 "agentdeck -p %s prune first",
				 name, trash.count, trash.count == 1 ? "" : "s",
				 trash.count == 1 ? "it" : "them", name);
	for (size_t i = 0; i < files.count; i++) {
		cleanup_free char *shown = visible(files.items[i]);
		if (!is_known(files.items[i]))
			return error_set(err, ERROR_INVALID,
					 "the directory of profile '%s' holds '%s', which does not "
					 "belong to agentdeck: move it away first",
					 name, shown);
	}
	return 0;
}

/* Remove a directory that holds nothing, or does not exist. */
static int remove_empty(const struct deck *deck, int profile, const char *name, const char *file,
			struct error *err)
{
	if (unlinkat(profile, file, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != ENOTDIR)
		return error_set_file(err, errno, "remove %s/%s/%s", deck->paths.state, name, file);
	return error_set(err, ERROR_INVALID,
			 "%s/%s/%s holds files that agentdeck does not delete: move it away first",
			 deck->paths.state, name, file);
}

int deck_remove_profile(const struct deck *deck, const char *name, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_store struct store *store = NULL;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	if (deck_profiles(deck, &names, err) < 0)
		return -1;
	if (!strvec_contains(&names, name))
		return error_set(err, ERROR_NOT_FOUND,
				 "there is no profile '%s': agentdeck profile list", name);
	if (deck_open_profile(deck, name, &store, err) < 0)
		return -1;
	const int r = store_lock_profile(store, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck holds the profile's lock: try again");
	if (r < 0 || check_is_empty(store, name, err) < 0)
		return -1;
	const int directory = store_profile_directory(store), state = store_state_directory(store);
	if (remove_empty(deck, directory, name, CONVERSATIONS, err) < 0 ||
	    remove_empty(deck, directory, name, TREES, err) < 0 ||
	    remove_empty(deck, directory, name, TRASH_DIRECTORY, err) < 0)
		return -1;
	/* Another agentdeck may make a session now: then the directory is not empty, and stays. */
	if (fs_remove(directory, INDEX, err) < 0 || fs_remove(directory, INDEX ".lock", err) < 0)
		return -1;
	if (unlinkat(state, name, AT_REMOVEDIR) < 0)
		return error_set_errno(err, errno, "remove the profile '%s'", name);
	(void)fs_flush(state);
	log_info("profile removed: %s", name);
	return 0;
}
