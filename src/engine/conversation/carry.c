/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/carry.h"

#include "base/fsutil.h"
#include "driver/transcript/transcript.h"
#include "engine/conversation/location.h"
#include "engine/place/place.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void carry_clear(struct carry *carry)
{
	if (carry->transcript >= 0)
		(void)close(carry->transcript);
	free(carry->path);
	free(carry->session_id);
	*carry = CARRY_NOTHING;
}

int carry_find(const struct instance *instance, const struct agent *agent, const char *session_id,
	       const char *within, struct carry *ret, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *shown = visible(instance_launch_directory(instance));
	int fd;
	if (!location_is_known(agent) || !instance->conversation.config_home ||
	    !agent->config_home || !starts_with(agent->config_home, "~/"))
		return error_set(err, ERROR_INVALID,
				 "agentdeck does not know where %s keeps its conversations, and "
				 "cannot copy one to another home or directory: begin a new one "
				 "there",
				 agent->title);
	int r = location_find(instance, session_id, &found, err);
	if (r == TRANSCRIPT_NONE || (r == 0 && !found.has_turns))
		return error_set(err, ERROR_NOT_FOUND,
				 "%s has no conversation %s with a turn in %s, so there is nothing "
				 "to copy: check its id, and call this in its directory",
				 agent->title, session_id, shown);
	if (r < 0 || transcript_open(within, found.path, &fd, err) < 0)
		return -1;
	*ret = (struct carry){ .transcript = fd };
	ret->path = TAKE_PTR(found.path);
	ret->session_id = TAKE_PTR(found.session_id);
	return 0;
}

/* Open the config home below the new home, and make what is missing. */
static int make_config_home(const struct instance *instance, int directory, int *ret,
			    struct error *err)
{
	const char *home = place_home(instance);
	cleanup_close int fd = -1;
	cleanup_free char *rest = xstrdup(instance->conversation.config_home + strlen(home));
	char *next = rest;
	if (fs_open_private_directory_at(directory, path_basename(home), true, &fd, err) < 0)
		return -1;
	for (const char *name; (name = strsep(&next, "/"));) {
		int below = -1;
		if (!*name)
			continue;
		if (fs_open_private_directory_at(fd, name, true, &below, err) < 0)
			return -1;
		const int above = fd;
		fd = below;
		const int r = fs_flush(above);
		(void)close(above);
		if (r < 0)
			return error_set_file(err, errno, "sync %s", home);
	}
	*ret = TAKE_FD(fd);
	return 0;
}

/* The copy is found from there.  A tree that is not made yet has no links in its own path. */
static char *directory_of(const struct instance *instance)
{
	const char *launch = instance_launch_directory(instance);
	cleanup_free char *above = xstrdup(launch), *real = NULL;
	while (fs_real_directory(above, &real, NULL) != 0) {
		char *slash = strrchr(above, '/');
		if (!slash || slash == above)
			return xstrdup(launch);
		*slash = '\0';
	}
	return xasprintf("%s%s", real, launch + strlen(above));
}

int carry_put(const struct carry *carry, const struct instance *instance, int directory,
	      struct error *err)
{
	cleanup_close int config_home = -1;
	cleanup_free char *real = directory_of(instance);
	return make_config_home(instance, directory, &config_home, err) < 0 ||
			       transcript_plant(carry->transcript, carry->path, config_home, real,
						err) != 0
		       ? -1
		       : 0;
}

int carry_copy(const struct carry *carry, const struct instance *instance, struct error *err)
{
	cleanup_free char *real = directory_of(instance), *copy = NULL;
	return transcript_copy(carry->path, instance->conversation.config_home, real, &copy, err) <
			       0
		       ? -1
		       : 0;
}

char *carry_path(const struct carry *carry, const struct instance *instance)
{
	cleanup_free char *real = directory_of(instance);
	cleanup_free char *slug = transcript_slug(real);
	return xasprintf("%s/projects/%s/%s", instance->conversation.config_home, slug,
			 path_basename(carry->path));
}
