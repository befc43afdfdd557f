/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/roster.h"

#include "base/clock.h"
#include "driver/follow/follow.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/roster/run-watch.h"
#include "engine/roster/statusline.h"
#include "engine/screen/activity.h"
#include "model/session/state.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

enum {
	ASK_MS = 1000, /* a server that did not answer */
	/* from the first output to the look, so that what belongs to it is there, too */
	DRAW_MS = 100,
	LOOK_MS = 2000, /* between two looks at a screen */
	DELAY_MS = 250, /* of a look for which there was no room */
	/* to the first nudge, and from one to the next; doubled so many times */
	NUDGE_MS = 100,
	MOST_DOUBLINGS = 9,
};

/* What is to be done with a member, each with what is above it. */
enum news {
	NEWS_NONE,
	NEWS_DOING,    /* look at it again */
	NEWS_LISTED,   /* a later listing has found its manifest: found is its row */
	NEWS_MANIFEST, /* read its manifest again */
};

struct member {
	struct roster_entry entry;
	struct roster *roster;
	char *base;
	struct run_watch watch;
	char *directory; /* whose activity is followed */
	/* of the agent, and of which process it was: pid 0: of none */
	char *terminal;
	struct process_id terminal_of;
	int64_t look_at_ms; /* INT64_MAX: nothing was printed since the last look */
	int64_t looked_at_ms;
	int64_t nudge_at_ms; /* INT64_MAX: there is no need */
	unsigned nudges;
	bool is_added;   /* the reader knows it */
	bool is_watched; /* all that is there of its run */
	bool is_unseen;  /* in the listing that is being read */
	bool has_kills;  /* to be told of */
	enum news news;
	struct store_row *found; /* NULL: none */
};

struct profile {
	char *name;
	struct store *store;
	bool is_listed; /* else it is to be listed (again) */
};

struct roster {
	struct deck *deck;
	roster_handler handler;
	void (*due)(void *context);
	void *context;
	char *only; /* profile; NULL: all */
	struct strvec ids;
	bool has_ids, asks, memory;
	enum roster_looks looks;
	bool watches_later; /* from the next roster_read() on */
	struct loop *loop;  /* NULL: nothing is watched */
	struct loop_source *timer, *following;
	struct follow *follow;
	struct profile **profiles;
	size_t profile_count;
	bool knows_profiles;
	struct member **members;
	size_t count, capacity;
};

/* Only the first failure is reported, and the rest of the work continues. */
static void note(int *result, int r, struct error **err)
{
	if (r >= 0)
		return;
	*result = -1;
	*err = NULL;
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void tell(const struct roster *roster, const struct roster_event *event)
{
	if (roster->handler)
		roster->handler(event, roster->context);
}

static void tell_what(struct member *member, enum roster_what what)
{
	tell(member->roster, &(struct roster_event){ .what = what, .entry = &member->entry });
}

static bool is_same(const char *a, const char *b)
{
	return a == b || streq(or_empty(a), or_empty(b));
}

static unsigned compare(const struct roster_entry *entry, const struct store_row *row,
			const struct view *view)
{
	const struct store_row *now = &entry->row;
	unsigned differs = 0;
	if (!is_same(now->title, row->title))
		differs |= ROSTER_TITLE;
	if (entry->view.state != view->state || entry->view.is_silent != view->is_silent)
		differs |= ROSTER_STATE;
	if (entry->view.activity != view->activity)
		differs |= ROSTER_DOING;
	if (!is_same(entry->view.reason, view->reason))
		differs |= ROSTER_REASON;
	if (!is_same(now->held, row->held))
		differs |= ROSTER_HELD;
	if (!is_same(now->group, row->group) || !is_same(now->agent, row->agent) ||
	    !is_same(now->session_id, row->session_id) || !is_same(now->tags, row->tags) ||
	    now->is_pinned != row->is_pinned || now->archived_at != row->archived_at ||
	    now->queued != row->queued || !is_same(now->lookup_directory, row->lookup_directory))
		differs |= ROSTER_LISTED;
	if (now->desired != row->desired)
		differs |= ROSTER_WISH;
	return differs;
}

/* ---- watching ---------------------------------------------------------------------------------- */

static void on_due(void *context)
{
	const struct roster *roster = context;
	roster->due(roster->context);
}

static void on_follow(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	on_due(context);
}

static int watch_all(struct roster *roster, struct error *err)
{
	if (follow_open(roster->deck->paths.state, roster->only, &roster->follow, err) < 0)
		return -1;
	const struct loop_io io = { follow_descriptor(roster->follow), EPOLLIN, on_follow, roster };
	return loop_add_io(roster->loop, &io, &roster->following, err);
}

/* Tell the reader at this time of clock_ms() (0: at once; INT64_MAX: never) that it is due. */
static void wake(struct roster *roster, int64_t at_ms)
{
	if (roster->timer)
		(void)loop_set_timer(roster->timer, at_ms, NULL);
}

static void raise_news(struct member *member, enum news news)
{
	if (member->news < news)
		member->news = news;
}

/* Mark the member: its manifest and its processes are to be looked at again. */
static void touch(struct member *member)
{
	raise_news(member, NEWS_MANIFEST);
	wake(member->roster, 0);
}

static void on_run(enum run_event event, void *context)
{
	struct member *member = context;
	if (event == RUN_ENDED) {
		touch(member);
		return;
	}
	member->has_kills = true;
	wake(member->roster, 0);
}

static void watch_memory(struct member *member, const struct place_run *run)
{
	free(TAKE_PTR(member->entry.control_group));
	if (member->watch.server.source)
		member->entry.control_group = place_control_group(run);
	run_watch_memory(&member->watch, member->entry.control_group);
}

/* Watch what is there of the run that is in its row, before its state is read: what happens in
 * between is then told twice, and not missed. */
static int watch(struct member *member, struct error *err)
{
	const struct store_row *row = &member->entry.row;
	struct roster *roster = member->roster;
	if (!roster->follow)
		return 0;
	struct place_watch now = { 0 };
	if (!row->damage)
		now = place_watch(&row->run);
	const bool is_new_run = !member->is_watched ||
				!process_same(&member->watch.server.id, &now.server);
	member->is_watched = false;
	if (run_watch_processes(&member->watch, &now, err) < 0)
		return -1;
	if (roster->memory && is_new_run)
		watch_memory(member, &row->run);
	if (is_new_run || !is_same(member->directory, row->run.directory)) {
		/* Not there: the run is over, or its directory is still to be made; its manifest
		 * will tell. */
		if (follow_run(roster->follow, member->entry.profile, member->base,
			       row->run.directory, err) < 0)
			return -1;
		replace_string(&member->directory, row->run.directory);
	}
	member->is_watched = true;
	return 0;
}

/* Be told of the next output in its terminal. */
static void arm(struct member *member)
{
	struct roster *roster = member->roster;
	if (roster->follow)
		(void)follow_terminal(roster->follow, member->entry.profile, member->base,
				      member->terminal, NULL);
}

/* The next look is at_ms at the earliest. */
static void plan_look(struct member *member, int64_t at_ms)
{
	const int64_t earliest = member->looked_at_ms ? member->looked_at_ms + LOOK_MS : 0;
	const int64_t wanted = at_ms > earliest ? at_ms : earliest;
	if (wanted < member->look_at_ms)
		member->look_at_ms = wanted;
}

/* The process on whose terminal the agent is shown: the window's server of a run in a container,
 * else the pane. */
static const struct process_id *shown_by(const struct store_row *row)
{
	return row->run.window.pid ? &row->run.window : &row->run.pane;
}

/* Follow what the agent prints.  has_changed: what it does has changed without that. */
static void watch_terminal(struct member *member, bool has_changed)
{
	struct roster *roster = member->roster;
	const struct store_row *row = &member->entry.row;
	const bool is_running = !row->damage && state_is_running(member->entry.view.state);
	const struct process_id now = is_running ? *shown_by(row) : (struct process_id){ 0 };
	if (!process_same(&now, &member->terminal_of) || (now.pid && !member->terminal)) {
		free(member->terminal);
		member->terminal = now.pid ? activity_terminal(roster->deck, row) : NULL;
		member->terminal_of = now;
		member->look_at_ms = INT64_MAX;
		arm(member);
		has_changed = true;
	}
	if (member->terminal && has_changed)
		plan_look(member, clock_ms() + activity_young_ms(row));
}

/* ---- one session ------------------------------------------------------------------------------- */

/* A server that is known not to answer is asked, which takes time, only if that is wished. */
static struct view look_at(const struct roster *roster, const struct store_row *row)
{
	if (!roster->asks && !row->damage && state_is_running(row->state) && row->run.directory &&
	    place_is_live(&row->run) && runfiles_is_silent(row->run.directory))
		return (struct view){
			.state = STATE_RUNNING,
			.is_silent = true,
			.reason = xstrdup("its tmux server does not answer"),
		};
	struct view view = view_of(row);
	view.is_old = roster->looks == ROSTER_LOOKS_IF_OLD && state_is_running(view.state) &&
		      !view.is_silent && activity_is_old(roster->deck, row);
	return view;
}

static void plan_nudge(struct member *member)
{
	const struct store_row *row = &member->entry.row;
	const bool is_between = place_is_between(&row->run.server, &row->run.pane) &&
				place_is_live(&row->run);
	if (!is_between) {
		member->nudge_at_ms = INT64_MAX;
	} else if (member->nudge_at_ms == INT64_MAX) {
		/* tmux hears of the end at the same moment as we do.  A reader without a
		 * loop comes later, and nudges at once. */
		member->nudges = 0;
		member->nudge_at_ms = clock_ms() + (member->roster->loop ? NUDGE_MS : 0);
	}
}

static void plan_first_look(struct member *member, bool is_other)
{
	const struct roster *roster = member->roster;
	const struct view *view = &member->entry.view;
	const struct store_row *row = &member->entry.row;
	const bool is_mute = view->is_silent && !view->host;
	/* The server may begin to answer again, and no event would tell. */
	if (is_mute && (roster->looks == ROSTER_LOOKS || roster->looks == ROSTER_LOOKS_IF_OLD))
		member->look_at_ms = roster->loop && member->looked_at_ms
					     ? member->looked_at_ms + ASK_MS
					     : 0;
	else if (roster->loop && roster->looks != ROSTER_LOOKS_NOT)
		watch_terminal(member, is_other);
	else if (roster->looks == ROSTER_LOOKS ? activity_can_change(roster->deck, row)
					       : view->is_old)
		member->look_at_ms = 0;
}

static int update(struct roster *roster, struct member *member, enum roster_what what,
		  const struct store_row *before, struct error *err)
{
	struct roster_entry *entry = &member->entry;
	cleanup_view struct view view = entry->view;
	/* Tried again by the next call. */
	int r = watch(member, err);
	if (r < 0)
		raise_news(member, NEWS_DOING);
	entry->view = look_at(roster, &entry->row);
	entry->since_us = view_since(&entry->row, &entry->view);
	plan_nudge(member);
	plan_first_look(member, view.activity != entry->view.activity);
	const struct roster_event event = {
		.what = member->is_added ? what : ROSTER_ADDED,
		.entry = entry,
		.differs = compare(entry, before, &view),
		.state_before = view.state,
		.activity_before = view.activity,
		.was_held = before->held,
	};
	member->is_added = true;
	tell(roster, &event);
	return r;
}

static void drop_found(struct member *member)
{
	if (member->found)
		store_row_free(member->found);
	free(TAKE_PTR(member->found));
}

static void member_free(struct member *member)
{
	run_watch_end(&member->watch);
	store_row_free(&member->entry.row);
	drop_found(member);
	view_free(&member->entry.view);
	free(member->entry.control_group);
	free(member->directory);
	free(member->terminal);
	free(member->base);
	free(member);
}

static void remove_member(struct roster *roster, size_t index)
{
	struct member *member = roster->members[index];
	roster->count--;
	memmove(roster->members + index, roster->members + index + 1,
		(roster->count - index) * sizeof(struct member *));
	if (roster->follow)
		(void)follow_run(roster->follow, member->entry.profile, member->base, NULL, NULL);
	member->entry.since_us = clock_wall_us();
	if (member->is_added)
		tell_what(member, ROSTER_REMOVED);
	member_free(member);
}

static struct member *add_member(struct roster *roster, const struct profile *profile,
				 const char *base)
{
	struct member *member = xcalloc(1, sizeof(*member));
	member->entry.profile = profile->name;
	member->entry.store = profile->store;
	member->roster = roster;
	member->base = xstrdup(base);
	member->watch.loop = roster->loop;
	member->watch.tell = on_run;
	member->watch.context = member;
	member->nudge_at_ms = member->look_at_ms = INT64_MAX;
	if (roster->count == roster->capacity) {
		roster->capacity = roster->capacity ? 2 * roster->capacity : 64;
		roster->members = xreallocarray(roster->members, roster->capacity,
						sizeof(struct member *));
	}
	return roster->members[roster->count++] = member;
}

/* Beginning after the last one that was found: listings come in the order of the members. */
static struct member *find_member(const struct roster *roster, const struct profile *profile,
				  const char *base, size_t *hint)
{
	for (size_t i = 0; i < roster->count; i++) {
		struct member *member = roster->members[(*hint + i) % roster->count];
		if (member->entry.profile != profile->name || !streq(member->base, base))
			continue;
		*hint += i + 1;
		return member;
	}
	return NULL;
}

static bool is_wanted(const struct roster *roster, const struct store_row *row)
{
	return !roster->has_ids || strvec_contains(&roster->ids, row->id);
}

/* What its manifest says now.  False: there is none. */
static bool next_row(struct member *member, enum news news, struct store_row *ret)
{
	if (news == NEWS_LISTED) {
		*ret = *member->found;
		free(TAKE_PTR(member->found));
		return true;
	}
	drop_found(member);
	return store_load_row(member->entry.store, member->base, ret) == 0;
}

/* Look at the member again; before is its row as it was told last. */
static int refresh(struct roster *roster, size_t index, struct error *err)
{
	struct member *member = roster->members[index];
	const enum news news = member->news;
	struct store_row before = { 0 };
	int r;
	member->news = NEWS_NONE;
	if (news == NEWS_DOING)
		return update(roster, member, ROSTER_ACTIVITY, &member->entry.row, err);
	struct store_row now;
	if (!next_row(member, news, &now)) {
		remove_member(roster, index);
		return 1;
	}
	before = member->entry.row;
	member->entry.row = now;
	if (is_wanted(roster, &now)) {
		r = update(roster, member, ROSTER_CHANGED, &before, err);
	} else {
		remove_member(roster, index);
		r = 1;
	}
	store_row_free(&before);
	return r;
}

/* ---- which there are --------------------------------------------------------------------------- */

/* With several profiles the message names it.  ERROR_NOT_FOUND is for the state directory. */
static int fail_profile(const struct roster *roster, const char *name, struct error *err)
{
	if (roster->only)
		return -1;
	if (err)
		err->code = ERROR_SYSTEM;
	return error_prefix(err, "profile %s", name);
}

static int list_profile(struct roster *roster, struct profile *profile, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const size_t known = roster->count;
	size_t hint = 0;
	if (store_list(profile->store, &rows, err) < 0)
		return fail_profile(roster, profile->name, err);
	for (size_t i = 0; i < known; i++)
		roster->members[i]->is_unseen = roster->members[i]->entry.profile == profile->name;
	for (size_t i = 0; i < rows.count; i++) {
		struct store_row *row = &rows.rows[i];
		if (!is_wanted(roster, row))
			continue;
		struct member *member = known ? find_member(roster, profile, row->base, &hint)
					      : NULL;
		if (member) {
			drop_found(member);
			member->found = xcalloc(1, sizeof(*row));
			*member->found = *row;
			raise_news(member, NEWS_LISTED);
			member->is_unseen = false;
		} else {
			member = add_member(roster, profile, row->base);
			member->entry.row = *row;
			raise_news(member, NEWS_DOING);
		}
		row->storage = NULL;
	}
	for (size_t i = known; i > 0; i--)
		if (roster->members[i - 1]->is_unseen)
			remove_member(roster, i - 1);
	profile->is_listed = true;
	return 0;
}

static struct profile *known_profile(const struct roster *roster, const char *name)
{
	for (size_t i = 0; i < roster->profile_count; i++)
		if (streq(roster->profiles[i]->name, name))
			return roster->profiles[i];
	return NULL;
}

/* Is another directory in the place of the one that we have open?  None is not another one. */
static bool is_replaced(const struct profile *profile)
{
	struct stat known, now;
	return fstat(store_profile_directory(profile->store), &known) == 0 &&
	       fstatat(store_state_directory(profile->store), profile->name, &now,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       (known.st_dev != now.st_dev || known.st_ino != now.st_ino);
}

static void remove_members_of(struct roster *roster, const struct profile *profile)
{
	for (size_t i = roster->count; i > 0; i--)
		if (roster->members[i - 1]->entry.profile == profile->name)
			remove_member(roster, i - 1);
}

/* A profile that was removed and made again is opened again. */
static int find_profile(struct roster *roster, const char *name, struct error *err)
{
	struct store *store;
	struct profile *profile = known_profile(roster, name);
	if (profile && !is_replaced(profile))
		return 0;
	if (deck_open_profile(roster->deck, name, &store, err) < 0)
		return fail_profile(roster, name, err);
	if (profile) {
		remove_members_of(roster, profile);
		store_close(profile->store);
		profile->store = store;
		profile->is_listed = false;
		return 0;
	}
	profile = xcalloc(1, sizeof(*profile));
	*profile = (struct profile){ .name = xstrdup(name), .store = store };
	roster->profiles = xreallocarray(roster->profiles, roster->profile_count + 1,
					 sizeof(struct profile *));
	roster->profiles[roster->profile_count++] = profile;
	return 0;
}

static int find_profiles(struct roster *roster, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	int result = 0;
	roster->knows_profiles = true;
	if (roster->only)
		return find_profile(roster, roster->only, err);
	if (deck_profiles(roster->deck, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		note(&result, find_profile(roster, names.items[i], err), &err);
	return result;
}

/* Anything may have changed. */
static void list_again(struct roster *roster)
{
	roster->knows_profiles = false;
	for (size_t i = 0; i < roster->profile_count; i++)
		roster->profiles[i]->is_listed = false;
}

static void on_followed(const struct follow_event *event, void *context)
{
	struct roster *roster = context;
	size_t hint = 0;
	if (event->what == FOLLOW_ALL) {
		list_again(roster);
		return;
	}
	/* Not opened here: that would make a directory that was just removed. */
	struct profile *profile = known_profile(roster, event->profile);
	if (!profile || is_replaced(profile)) {
		roster->knows_profiles = false;
		return;
	}
	struct member *member = find_member(roster, profile, event->base, &hint);
	if (!member && event->what == FOLLOW_MANIFEST && profile->is_listed)
		member = add_member(roster, profile, event->base);
	if (!member)
		return;
	if (event->what == FOLLOW_OUTPUT) {
		plan_look(member, clock_ms() + DRAW_MS);
		return;
	}
	raise_news(member, event->what == FOLLOW_ACTIVITY ? NEWS_DOING : NEWS_MANIFEST);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static void nudge(struct member *member)
{
	const struct store_row *row = &member->entry.row;
	place_nudge(&row->run);
	if (member->nudges < MOST_DOUBLINGS)
		member->nudges++;
	/* With backoff: a server that does not listen costs less and less. */
	member->nudge_at_ms = clock_ms() + ((int64_t)NUDGE_MS << member->nudges);
	tell_what(member, ROSTER_NUDGED);
}

static void tell_what_is_due(struct roster *roster)
{
	for (size_t i = 0; i < roster->count; i++) {
		struct member *member = roster->members[i];
		if (member->has_kills) {
			member->has_kills = false;
			tell_what(member, ROSTER_KILLED);
		}
		if (member->nudge_at_ms <= clock_ms())
			nudge(member);
	}
}

static void look_at_screen(struct member *member)
{
	struct roster *roster = member->roster;
	member->look_at_ms = INT64_MAX;
	member->looked_at_ms = clock_ms();
	/* Before the look, so that it misses nothing. */
	arm(member);
	if (roster->looks == ROSTER_LOOKS_TELLS) {
		tell_what(member, ROSTER_OUTPUT);
		return;
	}
	statusline_look(roster->deck, member->entry.store, &member->entry.row);
	raise_news(member, NEWS_DOING);
}

/* False: none was due. */
static bool look_at_screens(struct roster *roster)
{
	const int64_t now = clock_ms();
	bool found = false;
	for (size_t i = 0; i < roster->count; i++) {
		struct member *member = roster->members[i];
		if (member->look_at_ms > now)
			continue;
		found = true;
		/* A reader without a loop has ROSTER_PATIENCE_MS.  The other screens stay marked
		 * old. */
		if (roster->loop || roster->looks == ROSTER_LOOKS ||
		    clock_ms() - now < ROSTER_PATIENCE_MS)
			look_at_screen(member);
		else
			member->look_at_ms = INT64_MAX;
	}
	return found;
}

static int settle(struct roster *roster, struct error *err)
{
	int result = 0;
	if (!roster->knows_profiles)
		note(&result, find_profiles(roster, err), &err);
	roster->knows_profiles &= result == 0;
	for (size_t i = 0; i < roster->profile_count; i++)
		if (!roster->profiles[i]->is_listed)
			note(&result, list_profile(roster, roster->profiles[i], err), &err);
	for (size_t i = 0; i < roster->count;) {
		int r = roster->members[i]->news ? refresh(roster, i, err) : 0;
		note(&result, r, &err);
		/* A removed member leaves its place to the next one. */
		i += r <= 0;
	}
	return result;
}

static void set_timer(struct roster *roster)
{
	int64_t at_ms = INT64_MAX;
	for (size_t i = 0; i < roster->count; i++) {
		const struct member *member = roster->members[i];
		const int64_t next = member->nudge_at_ms < member->look_at_ms ? member->nudge_at_ms
									      : member->look_at_ms;
		at_ms = next < at_ms ? next : at_ms;
	}
	wake(roster, at_ms);
}

int roster_read(struct roster *roster, struct error *err)
{
	const bool only_shows = roster->watches_later;
	int result = 0;
	roster->watches_later = false;
	if (roster->loop && !roster->follow && !only_shows) {
		if (watch_all(roster, err) < 0)
			return -1;
		list_again(roster);
	}
	/* In any case: what it could not watch it tries again by itself. */
	if (roster->follow)
		note(&result, follow_read(roster->follow, on_followed, roster, err), &err);
	note(&result, settle(roster, err), &err);
	if (look_at_screens(roster))
		note(&result, settle(roster, err), &err);
	tell_what_is_due(roster);
	set_timer(roster);
	if (only_shows)
		wake(roster, 0);
	return result;
}

/* ---- the interface ----------------------------------------------------------------------------- */

int roster_open(struct deck *deck, const struct roster_order *order, roster_handler handler,
		void *context, struct roster **ret, struct error *err)
{
	cleanup_roster struct roster *roster = xcalloc(1, sizeof(*roster));
	*roster = (struct roster){
		.deck = deck,
		.handler = handler,
		.due = order->due,
		.context = context,
		.only = xstrdup_or_null(order->profile),
		.has_ids = order->ids,
		.looks = order->looks,
		.asks = order->asks,
		.memory = order->memory,
		.loop = order->loop,
		.watches_later = order->shows_first,
	};
	if (order->ids)
		strvec_push_all(&roster->ids, order->ids);
	if (order->loop &&
	    loop_add_timer(order->loop, INT64_MAX, on_due, roster, &roster->timer, err) < 0)
		return -1;
	if (order->loop && !order->shows_first && watch_all(roster, err) < 0)
		return -1;
	*ret = TAKE_PTR(roster);
	return 0;
}

void roster_close(struct roster *roster)
{
	if (!roster)
		return;
	for (size_t i = 0; i < roster->count; i++)
		member_free(roster->members[i]);
	free(roster->members);
	for (size_t i = 0; i < roster->profile_count; i++) {
		store_close(roster->profiles[i]->store);
		free(roster->profiles[i]->name);
		free(roster->profiles[i]);
	}
	free(roster->profiles);
	loop_remove(roster->timer);
	loop_remove(roster->following);
	follow_close(roster->follow);
	strvec_clear(&roster->ids);
	free(roster->only);
	free(roster);
}

void roster_look(struct roster_entry *entry)
{
	/* The entry is the first field of its member. */
	touch((struct member *)entry);
}

void roster_look_later(struct roster_entry *entry)
{
	struct member *member = (struct member *)entry;
	member->look_at_ms = clock_ms() + DELAY_MS;
	wake(member->roster, member->look_at_ms);
}

size_t roster_count(const struct roster *roster)
{
	return roster->count;
}

struct roster_entry *roster_at(const struct roster *roster, size_t index)
{
	return &roster->members[index]->entry;
}

struct roster_entry *roster_find(const struct roster *roster, const char *profile, const char *id)
{
	for (size_t i = 0; id && i < roster->count; i++) {
		struct roster_entry *entry = roster_at(roster, i);
		if ((!profile || streq(entry->profile, profile)) && streq(entry->row.id, id))
			return entry;
	}
	return NULL;
}

const struct store_row *roster_running_row(const struct roster *roster, const char *id)
{
	const struct roster_entry *entry = roster_find(roster, NULL, id);
	return entry && state_is_running(entry->view.state) ? &entry->row : NULL;
}
