/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/links.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/jsonio.h"
#include "engine/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PREFIX "agentdeck: "

enum {
	PIECE = 16384,
	LINE_MOST = 1 << 20,
	ERRORS_MOST = 4096,
	ROWS_MOST = 5000, /* most sessions of one host; TEXTS_MOST bounds their texts */
	TEXTS_MOST = 16384,
	TIMEOUTS = 2, /* one to notice a dead connection, one to connect again */
	SECOND_MS = 1000,
	RETRY_MOST_MS = 60000,
	SKEW_LEAST_US = 2000000,  /* a smaller difference of the clocks is ignored */
	STEP_LEAST_US = 60000000, /* a smaller jump is a slow line, not a set clock */
};

/* The link to one host. */
struct link_of_host {
	struct links *links;
	const struct remote *remote;
	size_t host; /* list_host() */
	struct child child;
	struct loop_source *output, *errors, *end;
	struct loop_source *timer; /* deadline of the first line; without a command, the next try */
	struct strbuf line, said;  /* what is not read yet of descriptor 1, and what 2 has said */
	char *why;                 /* the error that the command printed as JSON; NULL: none */
	int64_t retry_ms;          /* the last pause */
	int64_t skew_us;           /* our clock minus the host's */
	bool runs, has_told;
	bool is_twin; /* an earlier host has the same sessions, and nothing is taken from this one */
};

struct links {
	struct errands *errands;
	struct deck *deck;
	struct link_of_host *items;
	size_t count;
};

static struct list *list_of(const struct link_of_host *link)
{
	return link->links->errands->ui->list;
}

static void tell(const struct link_of_host *link, enum host_condition condition, int64_t since_us,
		 const char *why)
{
	list_tell_host(list_of(link), link->host, condition, since_us, why);
	*link->links->errands->is_changed = true;
}

/* The host before this one that has the same sessions, so that they are shown once; NULL: none. */
static const char *twin_of(const struct link_of_host *link)
{
	struct deck *deck = link->links->deck;
	cleanup_free char *own = hosts_identity(deck, link->remote);
	for (size_t i = 0; own && i < link->host; i++) {
		const struct remote *other = i ? &deck->settings.hosts.items[i - 1] : NULL;
		cleanup_free char *identity = hosts_identity(deck, other);
		if (identity && streq(identity, own))
			return other ? other->name : REMOTE_HERE;
	}
	return NULL;
}

/* ---- what it says ----------------------------------------------------------------------------- */

static void shift(int64_t *time_us, int64_t skew_us)
{
	*time_us += *time_us ? skew_us : 0;
}

static struct item *item_of(const struct link_of_host *link, const char *id)
{
	cleanup_free char *name = xasprintf("%s:%s", link->remote->name, id);
	return list_find(list_of(link), name);
}

static bool is_too_long(const struct facts *facts)
{
	const char *const texts[] = { facts->title,     facts->group,  facts->agent,
				      facts->directory, facts->reason, facts->held };
	size_t length = 0;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		length += strlen(or_empty(texts[i]));
	return length > TEXTS_MOST;
}

static void take_row(struct link_of_host *link, struct json_object *object)
{
	struct facts facts;
	struct ui *ui = link->links->errands->ui;
	if (!facts_read(object, &facts) || is_too_long(&facts) ||
	    !streq(or_empty(facts.key.profile), link->links->errands->profile))
		return;
	facts.key.host = link->remote->name;
	shift(&facts.since_us, link->skew_us);
	shift(&facts.created_us, link->skew_us);
	shift(&facts.used_us, link->skew_us);
	struct item *item = item_of(link, facts.key.id);
	if (item)
		list_change(ui->list, item, &facts);
	else if (list_count_of(ui->list, link->host) < ROWS_MOST)
		item = list_add(ui->list, &facts);
	if (item && streq(or_empty(ui->preview.id), item->id))
		ui->preview.is_stale = true;
}

static void remove_row(struct link_of_host *link, const char *id)
{
	struct item *item = item_of(link, id);
	if (item)
		list_remove(list_of(link), item);
}

/* Note the host's clock, by which ages are corrected.  It can be set while the link is there. */
static void note_clock(struct link_of_host *link, const char *seen_at, int64_t least_us)
{
	const int64_t there = clock_parse(seen_at);
	const int64_t skew = clock_wall_us() - there;
	if (there >= 0 && llabs(skew - link->skew_us) >= least_us)
		link->skew_us = skew;
}

/* The first line proves that the host is reachable, and which machine it is. */
static void begin_to_hear(struct link_of_host *link, const char *seen_at)
{
	link->has_told = true;
	link->skew_us = 0;
	link->retry_ms = 0;
	(void)loop_set_timer(link->timer, INT64_MAX, NULL);
	note_clock(link, seen_at, SKEW_LEAST_US);
	link->is_twin = twin_of(link);
	if (link->is_twin)
		(void)kill(link->child.pid, SIGTERM);
}

static void hear(struct link_of_host *link, const char *text, size_t length)
{
	cleanup_json struct json_object *object = NULL;
	if (json_parse(text, length, "its output", &object, NULL) < 0 ||
	    !json_object_is_type(object, json_type_object))
		return;
	const char *event = json_get_string(object, "event", "");
	const char *error = json_get_string(object, "error", NULL);
	if (!*event && error) {
		free(link->why);
		link->why = xstrdup(error);
		return;
	}
	const char *seen_at = json_get_string(object, "seen_at", "");
	if (!link->has_told)
		begin_to_hear(link, seen_at);
	note_clock(link, seen_at, STEP_LEAST_US);
	if (link->is_twin)
		return;
	if (streq(event, "removed"))
		remove_row(link, json_get_string(object, "id", ""));
	else if (streq(event, "snapshot_complete"))
		list_complete_host(list_of(link), link->host);
	else
		take_row(link, object);
	*link->links->errands->is_changed = true;
}

static void hear_lines(struct link_of_host *link)
{
	struct strbuf *text = &link->line;
	size_t begin = 0;
	for (const char *end; begin < text->length &&
			      (end = memchr(text->data + begin, '\n', text->length - begin));) {
		const size_t length = (size_t)(end - text->data) - begin;
		hear(link, text->data + begin, length);
		begin += length + 1;
	}
	strbuf_drop(text, begin);
	if (text->length > LINE_MOST) {
		strbuf_free(text);
		(void)kill(link->child.pid, SIGTERM);
	}
}

/* ---- its process ------------------------------------------------------------------------------ */

static void begin(struct link_of_host *link);

/* False: there is nothing more now. */
static bool read_some(struct link_of_host *link, int fd)
{
	char bytes[PIECE];
	const bool is_output = fd == link->child.output;
	struct strbuf *text = is_output ? &link->line : &link->said;
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	if (is_output || text->length < ERRORS_MOST)
		strbuf_add(text, bytes, (size_t)n);
	if (is_output)
		hear_lines(link);
	return true;
}

static void on_output(int fd, uint32_t events, void *context)
{
	struct link_of_host *link = context;
	struct loop_source **source = fd == link->child.output ? &link->output : &link->errors;
	if (read_some(link, fd) || events & EPOLLIN)
		return;
	loop_remove(*source);
	*source = NULL;
}

static void end_sources(struct link_of_host *link)
{
	struct loop_source **sources[] = { &link->output, &link->errors, &link->end };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		loop_remove(*sources[i]);
		*sources[i] = NULL;
	}
}

/* What follows the lead, if the text has it.  Borrowed. */
static const char *skip_lead(const char *text, const char *lead)
{
	return starts_with(text, lead) ? text + strlen(lead) : text;
}

/* Why the command ended: its JSON, or the first line of its errors, without the host's name and the
 * time, which the list shows.  NULL: it did not say.  The caller frees. */
static char *words_of(const struct link_of_host *link)
{
	cleanup_free char *said = xstrdup(link->why ? link->why : strbuf_text(&link->said));
	cleanup_free char *name = xasprintf("%s: ", link->remote->name);
	cleanup_free char *since = xasprintf("%s is unreachable (since ", link->remote->name);
	said[strcspn(said, "\n")] = '\0';
	const char *text = skip_lead(skip_lead(said, PREFIX), name);
	const char *end = starts_with(text, since) ? strstr(text, "): ") : NULL;
	text = end ? end + strlen("): ") : text;
	return *text ? visible(text) : NULL;
}

/* The backoff: 1 s, and twice as much each time.  Hosts of one network do not come at the same
 * moment. */
static void retry_later(struct link_of_host *link)
{
	const int64_t next = link->retry_ms ? 2 * link->retry_ms : SECOND_MS;
	link->retry_ms = next < RETRY_MOST_MS ? next : RETRY_MOST_MS;
	const int64_t spread = (clock_ms() * 7 + (int64_t)link->host * 131) % (link->retry_ms / 4);
	(void)loop_set_timer(link->timer, clock_ms() + link->retry_ms - spread, NULL);
}

/* status: the exit status of the command; -1: it could not be started. */
static void report_away(struct link_of_host *link, int status, const char *why)
{
	const bool is_lost = link->has_told || status == error_exit_status(ERROR_UNREACHABLE);
	const char *twin = twin_of(link);
	if (twin) {
		cleanup_free char *text = xasprintf("it is %s under another name", twin);
		/* Remove the sessions that it listed before it was known to be a twin. */
		list_tell_host(list_of(link), link->host, HOST_AWAY, 0, NULL);
		list_complete_host(list_of(link), link->host);
		tell(link, HOST_REFUSES, 0, text);
		return;
	}
	const int64_t since = hosts_unreachable_since(link->links->deck, link->remote);
	tell(link, is_lost ? HOST_AWAY : HOST_REFUSES,
	     !is_lost ? 0
	     : since  ? since
		      : clock_wall_us(),
	     why);
	retry_later(link);
}

static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct link_of_host *link = context;
	const int fds[] = { link->child.output, link->child.errors };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		while (read_some(link, fds[i]))
			;
	end_sources(link);
	const int status = child_reap(&link->child);
	link->runs = false;
	cleanup_free char *why = words_of(link);
	report_away(link, status, why);
}

static void on_time(void *context)
{
	struct link_of_host *link = context;
	if (!link->runs) {
		begin(link);
		return;
	}
	/* The command has printed nothing before its deadline, and still runs. */
	end_sources(link);
	child_abandon(&link->child);
	link->runs = false;
	report_away(link, error_exit_status(ERROR_UNREACHABLE), "it did not answer in time");
}

static int start(struct link_of_host *link, struct error *err)
{
	const struct errands *errands = link->links->errands;
	struct loop *loop = errands->loop;
	const char *const argv[] = { errands->program,   "--profile", errands->profile, "-H",
				     link->remote->name, "events",    "--json",         NULL };
	const struct child_request request = { .argv = argv, .new_session = true };
	const int r = child_start(&request, &link->child, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_UNAVAILABLE, "program '%s' does not exist",
					 argv[0]);
	link->runs = true;
	const struct child *child = &link->child;
	const struct loop_io output = { child->output, EPOLLIN, on_output, link };
	const struct loop_io errors = { child->errors, EPOLLIN, on_output, link };
	const struct loop_io end = { child->pidfd, EPOLLIN, on_end, link };
	(void)fcntl(child->output, F_SETFL, O_NONBLOCK);
	(void)fcntl(child->errors, F_SETFL, O_NONBLOCK);
	if (loop_add_io(loop, &output, &link->output, err) < 0 ||
	    loop_add_io(loop, &errors, &link->errors, err) < 0)
		return -1;
	return loop_add_io(loop, &end, &link->end, err);
}

static void stop(struct link_of_host *link)
{
	end_sources(link);
	if (link->runs)
		child_abandon(&link->child);
	link->runs = false;
}

static void begin(struct link_of_host *link)
{
	cleanup_error struct error why = { 0 };
	const int64_t timeout_ms = link->remote->timeout_s * SECOND_MS * TIMEOUTS;
	strbuf_free(&link->line);
	strbuf_free(&link->said);
	free(TAKE_PTR(link->why));
	link->has_told = link->is_twin = false;
	if (start(link, &why) == 0) {
		(void)loop_set_timer(link->timer, clock_ms() + timeout_ms, NULL);
		return;
	}
	stop(link);
	cleanup_free char *text = visible(why.message);
	report_away(link, -1, text);
}

/* ---- all of them ------------------------------------------------------------------------------ */

int links_new(struct errands *errands, struct deck *deck, struct links **ret, struct error *err)
{
	const struct remotes *remotes = &deck->settings.hosts;
	cleanup_strvec struct strvec names = { 0 };
	if (!remotes->count)
		return 0;
	struct links *links = xcalloc(1, sizeof(*links));
	*links = (struct links){ errands, deck, xcalloc(remotes->count, sizeof(*links->items)), 0 };
	*ret = links;
	strvec_push(&names, REMOTE_HERE);
	for (size_t i = 0; i < remotes->count; i++) {
		struct link_of_host *link = &links->items[links->count++];
		*link = (struct link_of_host){ .links = links,
					       .remote = &remotes->items[i],
					       .host = i + 1 };
		strvec_push(&names, remotes->items[i].name);
		if (loop_add_timer(errands->loop, INT64_MAX, on_time, link, &link->timer, err) < 0)
			return -1;
	}
	list_set_hosts(errands->ui->list, &names);
	return 0;
}

void links_free(struct links *links)
{
	if (!links)
		return;
	for (size_t i = 0; i < links->count; i++) {
		struct link_of_host *link = &links->items[i];
		stop(link);
		loop_remove(link->timer);
		strbuf_free(&link->line);
		strbuf_free(&link->said);
		free(link->why);
	}
	free(links->items);
	free(links);
}

void links_begin(struct links *links)
{
	for (size_t i = 0; links && i < links->count; i++)
		begin(&links->items[i]);
}

void links_retry(struct links *links, size_t host)
{
	for (size_t i = 0; i < links->count; i++) {
		struct link_of_host *link = &links->items[i];
		if ((host == SIZE_MAX || host == link->host) && !link->runs)
			begin(link);
	}
}
