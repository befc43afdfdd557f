/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/changes.h"

#include "base/clock.h"
#include "driver/follow.h"
#include "engine/activity.h"
#include "engine/view.h"
#include "model/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

enum {
	LOOK_MS = 1000,
	/* tmux before 3.5 may have to be told more than once that its agent has ended (see engine/view.c). */
	NUDGES = 10,
};

/* One session. */
struct member {
	char *base;
	const struct store_row *row;     /* borrowed from its profile's rows */
	struct process_id server, pane;  /* those that the descriptors are of */
	int server_fd, pane_fd;          /* -1: has ended, or there is none */
	char *directory;                 /* whose activity is followed */
	bool is_touched;                 /* something of it may be other than it was */
	bool needs_look;
	unsigned nudges;                 /* looks that are left, to get its end written down */
};

struct profile {
	char *name;
	struct store *store;
	bool is_borrowed;
	struct store_rows rows;
	struct member *members;
	size_t count;
	bool is_stale;                   /* its rows are to be read again */
};

struct changes {
	struct deck *deck;
	bool all_profiles, looks, has_ids;
	struct strvec ids;
	struct follow *follow;
	struct profile *profiles;
	size_t count;
	struct changes_memory memory;
	int64_t look_at_ms;              /* the next one; meaningless while nobody needs any */
	size_t told;
	change_handler handler;          /* during changes_wait() */
	void *context;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void member_clear(struct member *member)
{
	close_fd(&member->server_fd);
	close_fd(&member->pane_fd);
	free(member->base);
	free(member->directory);
}

static void profile_clear(struct profile *profile)
{
	for (size_t i = 0; i < profile->count; i++)
		member_clear(&profile->members[i]);
	free(profile->members);
	store_rows_free(&profile->rows);
	if (!profile->is_borrowed)
		store_close(profile->store);
	free(profile->name);
}

void changes_close(struct changes *changes)
{
	if (!changes)
		return;
	for (size_t i = 0; i < changes->count; i++)
		profile_clear(&changes->profiles[i]);
	free(changes->profiles);
	follow_close(changes->follow);
	strvec_clear(&changes->ids);
	changes_memory_free(&changes->memory);
	free(changes);
}

/* ---- telling ------------------------------------------------------------------------------------ */

static void tell(struct changes *changes, const struct change *change)
{
	if (!changes_remember(&changes->memory, change))
		return;
	changes->told++;
	if (changes->handler)
		changes->handler(change, changes->context);
}

static void tell_removed(struct changes *changes, const struct profile *profile,
			 const struct store_row *row)
{
	const struct change change = { .profile = profile->name, .id = row->id, .title = row->title,
				       .state = "removed", .since_us = clock_wall_us() };
	tell(changes, &change);
}

/* Of its state: what the manifest says of it, or, of what nobody has written down, now. */
static int64_t state_since(const struct profile *profile, const struct store_row *row,
			   const struct lifecycle_view *view)
{
	cleanup_instance struct instance *instance = NULL;
	if (view->is_silent || view->state != row->state)
		return clock_wall_us();
	if (row->damage || store_load(profile->store, row->base, &instance, NULL) != 0)
		return 0;
	return instance->observed.since;
}

static void tell_member(struct changes *changes, const struct profile *profile, struct member *member)
{
	const struct store_row *row = member->row;
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	lifecycle_view_row(row, &view);
	const bool runs = view.state == STATE_RUNNING && !view.is_silent;
	/* The end that a stop is waiting for. */
	const bool is_asked_for = row->state == STATE_STOPPING && view.state == STATE_STOPPED;
	const struct change change = {
		.profile = profile->name,
		.id = row->id,
		.title = row->title,
		.state = lifecycle_view_status(&view),
		.activity = runs ? instance_activity_name(view.activity) : NULL,
		.reason = is_asked_for ? NULL : view.reason,
		.since_us = runs && view.activity != ACTIVITY_UNKNOWN ? view.activity_since
								       : state_since(profile, row, &view),
	};
	/* It may begin to answer again, and nothing would tell. */
	member->needs_look |= changes->looks && view.is_silent;
	tell(changes, &change);
}

/* ---- what is watched ----------------------------------------------------------------------------- */

static void watch_process(struct process_id *watched, int *fd, const struct process_id *now)
{
	if (process_same(watched, now))
		return;
	close_fd(fd);
	*watched = *now;
	if (now->pid)
		(void)process_open(now, fd, NULL);
}

/* Before it is looked at: what happens in between is then told twice, and not missed. */
static int watch_member(struct changes *changes, const struct profile *profile, struct member *member,
			struct error *err)
{
	const struct store_row *row = member->row;
	static const struct process_id none;
	const bool same_boot = process_same_boot(row->boot_id);
	const bool is_new_run = row->server.pid != member->server.pid ||
				row->server.start != member->server.start;
	const bool is_new_pane = row->pane.pid != member->pane.pid || row->pane.start != member->pane.start;
	watch_process(&member->server, &member->server_fd, same_boot ? &row->server : &none);
	watch_process(&member->pane, &member->pane_fd, same_boot ? &row->pane : &none);
	if (is_new_pane)
		member->nudges = member->pane_fd < 0 && member->server_fd >= 0 ? NUDGES : 0;
	if (!is_new_run && streq(or_empty(member->directory), or_empty(row->run_directory)))
		return 0;
	/* Not there: the run is over, or its directory is still to be made; its manifest will tell. */
	int r = follow_run(changes->follow, profile->name, row->base, row->run_directory, err);
	if (r < 0)
		return r;
	replace_string(&member->directory, row->run_directory);
	return 0;
}

static int update(struct changes *changes, struct profile *profile, struct member *member,
		  struct error *err)
{
	member->is_touched = false;
	if (watch_member(changes, profile, member, err) < 0)
		return -1;
	member->needs_look = changes->looks && activity_needs_look(changes->deck, member->row);
	tell_member(changes, profile, member);
	return 0;
}

/* ---- which there are ------------------------------------------------------------------------------ */

static bool is_wanted(const struct changes *changes, const struct store_row *row)
{
	return !changes->has_ids || strvec_contains(&changes->ids, row->id);
}

static struct member *find_member(const struct profile *profile, const char *base)
{
	for (size_t i = 0; i < profile->count; i++)
		if (profile->members[i].base && streq(profile->members[i].base, base))
			return &profile->members[i];
	return NULL;
}

static int list_again(struct changes *changes, struct profile *profile, struct error *err)
{
	struct store_rows rows = { 0 };
	size_t count = 0;
	if (store_list(profile->store, &rows, err) < 0)
		return -1;
	struct member *members = xcalloc(rows.count + 1, sizeof(*members));
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (!is_wanted(changes, row))
			continue;
		struct member *old = find_member(profile, row->base);
		members[count] = old ? *old : (struct member){ .base = xstrdup(row->base),
							       .server_fd = -1, .pane_fd = -1,
							       .is_touched = true };
		members[count++].row = row;
		if (old)
			old->base = NULL; /* it has moved */
	}
	for (size_t i = 0; i < profile->count; i++) {
		if (!profile->members[i].base)
			continue;
		tell_removed(changes, profile, profile->members[i].row);
		member_clear(&profile->members[i]);
	}
	free(profile->members);
	store_rows_free(&profile->rows);
	profile->members = members;
	profile->count = count;
	profile->rows = rows;
	profile->is_stale = false;
	return 0;
}

/* NULL: it is none that is followed. */
static int find_profile(struct changes *changes, const char *name, struct profile **ret, struct error *err)
{
	for (size_t i = 0; i < changes->count; i++) {
		*ret = &changes->profiles[i];
		if (streq((*ret)->name, name))
			return 0;
	}
	const bool is_own = streq(name, changes->deck->profile);
	struct store *store = changes->deck->store;
	*ret = NULL;
	if (!is_own && !changes->all_profiles)
		return 0;
	if (!is_own && store_open(changes->deck->paths.state, name, &store, err) < 0)
		return -1;
	changes->profiles = xreallocarray(changes->profiles, changes->count + 1, sizeof(*changes->profiles));
	*ret = &changes->profiles[changes->count++];
	**ret = (struct profile){ .name = xstrdup(name), .store = store, .is_borrowed = is_own,
				  .is_stale = true };
	return 0;
}

static int find_profiles(struct changes *changes, struct error *err)
{
	const int state = store_state_directory(changes->deck->store);
	cleanup_strvec struct strvec names = { 0 };
	struct profile *profile;
	if (find_profile(changes, changes->deck->profile, &profile, err) < 0)
		return -1;
	if (!changes->all_profiles)
		return 0;
	if (fs_list(state, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (naming_check_profile(names.items[i], NULL) == 0 &&
		    fstatat(state, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
		    find_profile(changes, names.items[i], &profile, err) < 0)
			return -1;
	}
	return 0;
}

/* Everything is to be looked at. */
static int touch_all(struct changes *changes, struct error *err)
{
	if (find_profiles(changes, err) < 0)
		return -1;
	for (size_t i = 0; i < changes->count; i++) {
		struct profile *profile = &changes->profiles[i];
		profile->is_stale = true;
		for (size_t k = 0; k < profile->count; k++)
			profile->members[k].is_touched = true;
	}
	return 0;
}

static int settle(struct changes *changes, struct error *err)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct profile *profile = &changes->profiles[i];
		if (profile->is_stale && list_again(changes, profile, err) < 0)
			return -1;
		for (size_t k = 0; k < profile->count; k++)
			if (profile->members[k].is_touched &&
			    update(changes, profile, &profile->members[k], err) < 0)
				return -1;
	}
	return 0;
}

/* ---- looking at those whose files say nothing ------------------------------------------------------- */

static bool is_to_be_looked_at(const struct member *member)
{
	return member->needs_look || member->nudges > 0;
}

static bool somebody_needs_looks(const struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		for (size_t k = 0; k < changes->profiles[i].count; k++)
			if (is_to_be_looked_at(&changes->profiles[i].members[k]))
				return true;
	return false;
}

static void look(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct profile *profile = &changes->profiles[i];
		for (size_t k = 0; k < profile->count; k++) {
			struct member *member = &profile->members[k];
			if (!is_to_be_looked_at(member))
				continue;
			if (member->needs_look)
				activity_look(changes->deck, member->row);
			if (member->nudges > 0)
				member->nudges--;
			member->is_touched = true;
		}
	}
	changes->look_at_ms = clock_ms() + LOOK_MS;
}

int changes_open(struct deck *deck, const struct changes_wish *wish, struct changes **ret,
		 struct error *err)
{
	cleanup_changes struct changes *changes = xcalloc(1, sizeof(*changes));
	changes->deck = deck;
	changes->all_profiles = wish->all_profiles;
	changes->looks = wish->looks;
	changes->has_ids = wish->ids;
	if (wish->ids)
		strvec_push_all(&changes->ids, wish->ids);
	if (follow_open(deck->paths.state, wish->all_profiles ? NULL : deck->profile, &changes->follow,
			err) < 0 ||
	    find_profiles(changes, err) < 0 || settle(changes, err) < 0)
		return -1;
	look(changes);
	if (settle(changes, err) < 0)
		return -1;
	*ret = TAKE_PTR(changes);
	return 0;
}

void changes_each(const struct changes *changes, change_handler handler, void *context)
{
	for (size_t i = 0; i < changes->memory.count; i++)
		handler(&changes->memory.items[i], context);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

struct followed {
	struct changes *changes;
	struct error *err;
	bool failed;
};

static void on_followed(const struct follow_event *event, void *context)
{
	struct followed *followed = context;
	struct profile *profile = NULL;
	if (followed->failed)
		return;
	if (event->what == FOLLOW_ALL) {
		followed->failed = touch_all(followed->changes, followed->err) < 0;
		return;
	}
	if (find_profile(followed->changes, event->profile, &profile, followed->err) < 0) {
		followed->failed = true;
		return;
	}
	struct member *member = profile ? find_member(profile, event->base) : NULL;
	if (member)
		member->is_touched = true;
	if (profile && event->what != FOLLOW_ACTIVITY)
		profile->is_stale = true;
}

/* A process has ended: what is known of its session may be older than that. */
static void on_end(struct profile *profile, struct member *member, int *fd)
{
	close_fd(fd);
	member->is_touched = true;
	profile->is_stale = true;
}

/* The descriptors of every process, in one order; used to ask, and to read the answer.  Returns how many. */
static size_t each_process(struct changes *changes, struct pollfd *events, bool is_answer)
{
	size_t count = 0;
	for (size_t i = 0; i < changes->count; i++) {
		struct profile *profile = &changes->profiles[i];
		for (size_t k = 0; k < profile->count; k++) {
			struct member *member = &profile->members[k];
			int *fds[] = { &member->server_fd, &member->pane_fd };
			for (size_t n = 0; n < ARRAY_SIZE(fds); n++, count++) {
				if (!is_answer && events)
					events[count] = (struct pollfd){ .fd = *fds[n], .events = POLLIN };
				if (!is_answer || !events[count].revents)
					continue;
				on_end(profile, member, fds[n]);
				if (fds[n] == &member->pane_fd)
					member->nudges = NUDGES;
			}
		}
	}
	return count;
}

/* Until something happens, up to deadline_ms. */
static int wait_for_events(struct changes *changes, int64_t deadline_ms, struct error *err)
{
	const size_t count = each_process(changes, NULL, false);
	cleanup_free struct pollfd *events = xcalloc(count + 1, sizeof(*events));
	struct followed followed = { changes, err, false };
	(void)each_process(changes, events, false);
	events[count] = (struct pollfd){ .fd = follow_descriptor(changes->follow), .events = POLLIN };
	const int timeout = deadline_ms == INT64_MAX ? -1 : clock_left_ms(deadline_ms);
	if (poll(events, count + 1, timeout) < 0 && errno != EINTR)
		return error_set_errno(err, errno, "wait for changes");
	(void)each_process(changes, events, true);
	/* After the processes, which are found by their place: this may add profiles. */
	if (events[count].revents &&
	    (follow_read(changes->follow, on_followed, &followed, err) < 0 || followed.failed))
		return -1;
	return 0;
}

int changes_wait(struct changes *changes, int64_t deadline_ms, change_handler handler, void *context,
		 struct error *err)
{
	int r = 0;
	changes->told = 0;
	changes->handler = handler;
	changes->context = context;
	while (r == 0 && changes->told == 0) {
		const bool is_looking = somebody_needs_looks(changes);
		if (is_looking && clock_ms() >= changes->look_at_ms)
			look(changes);
		else if (clock_ms() >= deadline_ms)
			r = CHANGES_TIMEOUT;
		else
			r = wait_for_events(changes, is_looking && changes->look_at_ms < deadline_ms
							     ? changes->look_at_ms : deadline_ms, err);
		if (r == 0)
			r = settle(changes, err);
	}
	changes->handler = NULL;
	return r;
}
