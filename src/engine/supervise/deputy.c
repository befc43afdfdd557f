/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/deputy.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/watch.h"
#include "engine/place/oom.h"
#include "engine/roster/roster.h"
#include "engine/roster/statusline.h"
#include "engine/supervise/claims.h"
#include "engine/supervise/filelimit.h"
#include "engine/supervise/notify.h"
#include "engine/supervise/screens.h"
#include "engine/supervise/supervise.h"

#include <sys/epoll.h>
#include <sys/inotify.h>

/* The terminal comes first. */
enum { BEGIN_MS = 20 };

struct deputy {
	struct deck *deck;
	const struct instance *instance;
	struct loop *loop;
	struct child_watch watch;
	struct roster *roster;
	struct screens screens;
	bool is_begun;             /* what comes from now on is new */
	struct rlimit usual_files; /* RLIMIT_NOFILE of what is started */
	int socket;                /* inotify(7) of the tmux socket; -1: none */
	struct loop_source *attached;
};

/* ---- notices ----------------------------------------------------------------------------------- */

static bool is_anything_wanted(const struct deck *deck)
{
	return deck->settings.notify.on.count &&
	       (deck->settings.notify.command.count || deck->settings.notify.desktop ||
		deck->settings.notify.bell || deck->settings.notify.osc != NOTIFY_OSC_NONE);
}

/* What all attached terminals call the same occasion.  The caller frees. */
static char *name_of(const struct roster_entry *entry, const char *occasion)
{
	/* Until an end is recorded, each terminal knows another time of it. */
	int64_t which = 0;
	if (streq(occasion, "oom"))
		which = oom_look(entry->row.run.directory, entry->control_group);
	else if (entry->view.activity != ACTIVITY_UNKNOWN)
		which = entry->since_us;
	return xasprintf("%s %s %lld", entry->row.id, occasion, (long long)which);
}

static void tell(const struct deputy *deputy, const struct roster_event *event,
		 const char *occasion)
{
	const struct deck *deck = deputy->deck;
	if (!occasion || !strvec_contains(&deck->settings.notify.on, occasion) ||
	    supervise_is_running(deck))
		return;
	cleanup_free char *name = name_of(event->entry, occasion);
	if (!claims_take(deck, name))
		return;
	notify_send(deck, deputy->loop, &(struct notification){ occasion, event->entry, NULL },
		    filelimit_usual(&deputy->usual_files));
}

static void on_event(const struct roster_event *event, void *context)
{
	struct deputy *deputy = context;
	const struct roster_entry *entry = event->entry;
	if (!deputy->is_begun)
		return;
	switch (event->what) {
	case ROSTER_ADDED:
	case ROSTER_CHANGED:
	case ROSTER_ACTIVITY:
		if (entry->row.damage || (event->what != ROSTER_ADDED && !event->differs))
			return;
		tell(deputy, event, notify_doing(event));
		/* There is no supervisor to restart what is to run. */
		tell(deputy, event, notify_end(event, entry->row.desired == DESIRED_RUNNING));
		return;
	case ROSTER_KILLED:
		tell(deputy, event, "oom");
		return;
	case ROSTER_OUTPUT:
		if (!supervise_is_running(deputy->deck))
			screens_look(&deputy->screens, event->entry);
		return;
	case ROSTER_NUDGED:
	case ROSTER_REMOVED:
		return;
	}
}

/* What fails is tried again when something happens. */
static void on_due(void *context)
{
	const struct deputy *deputy = context;
	cleanup_error struct error err = { 0 };
	if (roster_read(deputy->roster, &err) < 0)
		log_warning("notify: %s", err.message);
}

static void on_begin(void *context)
{
	struct deputy *deputy = context;
	cleanup_error struct error err = { 0 };
	const struct roster_order order = {
		.loop = deputy->loop, .due = on_due, .looks = ROSTER_LOOKS_TELLS, .memory = true
	};
	filelimit_raise(&deputy->usual_files);
	if (roster_open(deputy->deck, &order, on_event, deputy, &deputy->roster, &err) < 0) {
		log_warning("no notices while no supervisor runs: %s", err.message);
		return;
	}
	deputy->screens = (struct screens){ .deck = deputy->deck,
					    .program = deputy->deck->program,
					    .loop = deputy->loop,
					    .roster = deputy->roster,
					    .usual_files = &deputy->usual_files };
	on_due(deputy);
	deputy->is_begun = true;
	log_info("notifies while no supervisor runs");
}

/* ---- the status line --------------------------------------------------------------------------- */

static void on_socket(int fd, uint32_t events UNUSED, void *context)
{
	struct deputy *deputy = context;
	watch_drain(fd);
	if (!terminal_has_clients(deputy->instance->run.socket))
		return;
	loop_remove(TAKE_PTR(deputy->attached));
	statusline_show(deputy->deck->store, deputy->instance->base);
}

/* tmux marks its socket when the first terminal is attached.  Later ones find a status line that is
 * kept up to date. */
static void watch_socket(struct deputy *deputy)
{
	const char *socket = deputy->instance->run.socket;
	if (terminal_has_clients(socket))
		return;
	deputy->socket = watch_open(socket, IN_ATTRIB | IN_DONT_FOLLOW);
	if (deputy->socket >= 0)
		(void)loop_add_io(deputy->loop,
				  &(struct loop_io){ deputy->socket, EPOLLIN, on_socket, deputy },
				  &deputy->attached, NULL);
}

/* ---- its turns --------------------------------------------------------------------------------- */

static bool take_turns(void *data)
{
	const struct deputy *deputy = data;
	cleanup_error struct error err = { 0 };
	int r;
	do
		r = loop_turn(deputy->loop, 0, &err);
	while (r > 0);
	if (r < 0)
		log_warning("no notices while no supervisor runs: %s", err.message);
	return r == 0;
}

struct deputy *deputy_begin(struct deck *deck, const struct instance *instance)
{
	cleanup_error struct error err = { 0 };
	cleanup_deputy struct deputy *deputy = xcalloc(1, sizeof(*deputy));
	*deputy = (struct deputy){ .deck = deck, .instance = instance, .socket = -1 };
	if (loop_new(&deputy->loop, &err) < 0 ||
	    (is_anything_wanted(deck) && loop_add_timer(deputy->loop, clock_ms() + BEGIN_MS,
							on_begin, deputy, NULL, &err) < 0)) {
		log_warning("no notices while no supervisor runs: %s", err.message);
		return NULL;
	}
	watch_socket(deputy);
	/* The loop's descriptor tells only of later events. */
	if (!take_turns(deputy))
		return NULL;
	deputy->watch = (struct child_watch){ .fd = loop_descriptor(deputy->loop),
					      .on_readable = take_turns,
					      .data = deputy };
	return TAKE_PTR(deputy);
}

const struct child_watch *deputy_watch(const struct deputy *deputy)
{
	return deputy ? &deputy->watch : NULL;
}

void deputy_end(struct deputy *deputy)
{
	if (!deputy)
		return;
	if (deputy->is_begun)
		(void)take_turns(deputy);
	roster_close(deputy->roster);
	loop_free(deputy->loop);
	screens_clear(&deputy->screens);
	if (deputy->socket >= 0)
		(void)close(deputy->socket);
	filelimit_restore(&deputy->usual_files);
	free(deputy);
}
