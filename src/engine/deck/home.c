/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/home.h"

#include "base/fsutil.h"
#include "model/plan/resume.h"

#include <errno.h>
#include <fcntl.h>

#define PLACES "conversations"

char *home_path(const struct deck *deck, const char *id)
{
	return home_path_in(deck, deck->profile, id);
}

char *home_path_in(const struct deck *deck, const char *profile, const char *id)
{
	return xasprintf("%s/%s/" PLACES "/%s", deck->paths.state, profile, id);
}

int home_create(const struct deck *deck, const char *id, struct error *err)
{
	cleanup_close int all = -1, own = -1;
	const int profile = store_profile_directory(deck->store);
	if (fs_open_private_directory_at(profile, PLACES, true, &all, err) < 0 ||
	    fs_open_private_directory_at(all, id, true, &own, err) < 0)
		return error_prefix(err, "the directory for the conversations of %s", id);
	if (fs_flush(all) < 0 || fs_flush(profile) < 0)
		return error_set_file(err, errno, "sync the directory for the conversations of %s",
				      id);
	return 0;
}

int home_make(const struct deck *deck, const struct instance *instance, const struct agent *agent,
	      struct error *err)
{
	return resume_needs_state(agent) ? home_create(deck, instance->id, err) : 0;
}

int home_remove(const struct deck *deck, const char *id, struct error *err)
{
	cleanup_close int all = -1;
	int r = fs_open_private_directory_at(store_profile_directory(deck->store), PLACES, false,
					     &all, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (unlinkat(all, id, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno == ENOTEMPTY || errno == EEXIST)
		return HOME_KEPT;
	cleanup_free char *path = home_path(deck, id);
	return error_set_file(err, errno, "remove %s", path);
}

void home_leave(struct deck *deck, const char *id, enum home_end end)
{
	cleanup_error struct error local = { 0 };
	int r = home_remove(deck, id, &local);
	cleanup_free char *path = home_path(deck, id);
	cleanup_free char *shown = visible(path);
	if (r < 0)
		deck_warn(deck, "%s", local.message);
	else if (r == HOME_KEPT)
		deck_warn(deck, "the conversations of session %s remain in %s: %s", id, shown,
			  end == HOME_TRASHED ? "agentdeck undo needs them; agentdeck prune says "
						"when nothing does"
					      : "delete that directory if you no longer need them");
}
