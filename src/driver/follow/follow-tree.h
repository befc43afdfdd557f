/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The watches of follow.h, and the events that they led to.  Only follow.c includes it.
 */
#pragma once

#include "driver/follow/follow-event.h"

#include "base/error.h"

#include <stdbool.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define FOLLOW_MANIFEST_NAME "instance.json"

/* The manifest is never written in place: every change is a rename. */
#define PARENT_EVENTS   (IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR)
#define STATE_EVENTS    (PARENT_EVENTS | IN_DELETE_SELF | IN_MOVE_SELF)
#define INSTANCE_EVENTS (IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR)
#define RUN_EVENTS      (IN_MOVED_TO | IN_ONLYDIR)
#define TERMINAL_EVENTS (IN_MODIFY | IN_ONESHOT | IN_DONT_FOLLOW)

/* The watch of one directory, or of a terminal. It is part of the struct of that directory. */
struct watch {
	int wd; /* -1: none */
	enum { STATE, PROFILE, INSTANCE, RUN, TERMINAL } place;
	struct profile *profile;
	struct member *member;
};

/* An instance's directory, with or without a manifest. */
struct member {
	LIST_ENTRY(member) link;
	struct profile *profile;
	char *base;
	struct watch watch, run, terminal;
	unsigned seen;
	bool is_known; /* it had a manifest */
};

struct profile {
	LIST_ENTRY(profile) link;
	char *name;
	int fd;
	struct watch watch;
	LIST_HEAD(, member) members;
	void *members_by_base; /* tsearch(3) */
	unsigned seen;
};

struct pending {
	enum follow_what what;
	char *profile, *base;
};

struct follow {
	int fd;
	char *state, *only;
	struct stat identity; /* of the state directory */
	struct watch watch;
	void *watches; /* tsearch(3) by wd */
	LIST_HEAD(, profile) profiles;
	unsigned scan; /* number of the last look at everything */
	bool overflow;
	int64_t retry_at_ms; /* when to try again what we could not watch; 0: we watch all */
	struct pending *pending;
	size_t count, size;
};

/* Queue an event, unless it equals the last one in the queue. */
void follow_tell(struct follow *follow, enum follow_what what, const char *profile,
		 const char *base);
void follow_tell_of(struct follow *follow, enum follow_what what, const struct member *member);

/* NULL: it is not ours, or not any more. Borrowed. */
struct watch *follow_find_watch(struct follow *follow, int wd);
/* Watch the directory fd instead of the one before. FOLLOW_ABSENT: it is gone, or not ours. */
int follow_set_watch(struct follow *follow, struct watch *watch, int fd, uint32_t events,
		     struct error *err);
/* Watch a terminal once instead of the one before. FOLLOW_ABSENT: it is gone, or not ours. */
int follow_set_terminal(struct follow *follow, struct watch *watch, const char *path,
			struct error *err);
void follow_remove_watch(struct follow *follow, struct watch *watch);
/* Like follow_remove_watch(), but when the kernel has removed it already. */
void follow_forget_watch(struct follow *follow, struct watch *watch);
/* FOLLOW_ABSENT: there is no such directory, or it is a link. The caller closes *ret. */
int follow_open_directory(int dirfd, const char *name, int flags, int *ret, struct error *err);

/* NULL: unknown. Borrowed. */
struct profile *follow_find_profile(struct follow *follow, const char *name);
struct member *follow_find_member(struct profile *profile, const char *base);
/* Watch the directory that has this name now. FOLLOW_ABSENT. */
int follow_watch_profile(struct follow *follow, const char *name, struct profile **ret,
			 struct error *err);
int follow_watch_member(struct follow *follow, struct profile *profile, const char *base,
			struct member **ret, struct error *err);
/* The directory is gone: forget it, and queue an event. */
void follow_lose_profile(struct follow *follow, struct profile *profile);
void follow_lose_member(struct follow *follow, struct member *member);
/* Forget it, without an event. */
void follow_drop_profile(struct follow *follow, struct profile *profile);

/* Watch what exists. aloud: queue an event for each manifest. */
int follow_look_at_member(struct follow *follow, struct profile *profile, const char *base,
			  bool aloud, struct error *err);
int follow_look_at_profile(struct follow *follow, const char *name, bool aloud, struct error *err);
/* Watch all that exists and forget the rest, without events. */
int follow_look_at_all(struct follow *follow, struct error *err);
