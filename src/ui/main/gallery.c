/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/gallery.h"

#include "base/clock.h"
#include "ui/main/lens.h"

enum {
	REST_MS = 80,      /* a page that is only passed is not looked at */
	LOOK_MS = 200,     /* one screen, at most so often */
	LOOK_EACH_MS = 50, /* and for each on the page so much */
	LOOKS_MAX = 4,     /* at the same time: a server may be slow to answer */
};

/* A session on the page. */
struct look {
	struct gallery *gallery;
	char *id; /* NULL: it is not on the page any more, and ends with its command */
	struct lens lens;
	bool is_due, is_running;
	int64_t next_ms; /* not before */
	struct look *next;
};

struct gallery {
	struct glance *glance;
	struct wall *wall;
	struct loop_source *timer;
	struct look *looks;
	size_t running;
};

static void serve(struct gallery *gallery);

/* ---- the looks -------------------------------------------------------------------------------- */

static void on_ring(void *context)
{
	struct look *look = context;
	look->is_due = true;
	serve(look->gallery);
}

static struct look *find(const struct gallery *gallery, const char *id)
{
	for (struct look *look = gallery->looks; look; look = look->next)
		if (look->id && streq(look->id, id))
			return look;
	return NULL;
}

static void drop(struct gallery *gallery, struct look *dropped)
{
	struct look **at = &gallery->looks;
	while (*at != dropped)
		at = &(*at)->next;
	*at = dropped->next;
	free(dropped->id);
	free(dropped);
}

static void show(struct gallery *gallery, const char *id, const char *text)
{
	if (wall_set_screen(gallery->wall, id, text))
		*gallery->glance->errands->is_changed = true;
	glance_at(gallery->glance, id, text);
}

static void on_screen(const struct child_result *result, const struct error *failure UNUSED,
		      void *context)
{
	struct look *look = context;
	struct gallery *gallery = look->gallery;
	gallery->running--;
	look->is_running = false;
	if (!look->id)
		drop(gallery, look);
	else if (result && result->exit_status == 0)
		show(gallery, look->id, strbuf_text(&result->output));
	serve(gallery);
}

/* A session that does not run keeps its last screen. */
static void begin_look(struct gallery *gallery, struct look *look)
{
	size_t first;
	const int64_t each = (int64_t)wall_page(gallery->wall, &first) * LOOK_EACH_MS;
	look->is_due = false;
	look->is_running = lens_look(&look->lens, look->id);
	gallery->running += look->is_running;
	if (look->is_running)
		look->next_ms = clock_ms() + (each > LOOK_MS ? each : LOOK_MS);
}

/* The due one that was to be looked at first; NULL: none is. */
static struct look *next_due(const struct gallery *gallery)
{
	struct look *next = NULL;
	for (struct look *look = gallery->looks; look; look = look->next)
		if (look->id && look->is_due && !look->is_running &&
		    (!next || look->next_ms < next->next_ms))
			next = look;
	return next;
}

static void serve(struct gallery *gallery)
{
	struct look *look;
	while (gallery->running < LOOKS_MAX && (look = next_due(gallery))) {
		if (look->next_ms > clock_ms()) {
			(void)loop_set_timer(gallery->timer, look->next_ms, NULL);
			return;
		}
		begin_look(gallery, look);
	}
}

static void on_time(void *context)
{
	serve(context);
}

/* ---- the page --------------------------------------------------------------------------------- */

static void leave(struct gallery *gallery, struct look *look)
{
	(void)lens_close(&look->lens);
	if (look->is_running)
		free(TAKE_PTR(look->id));
	else
		drop(gallery, look);
}

static void add(struct gallery *gallery, const char *id)
{
	struct look *look = xcalloc(1, sizeof(*look));
	*look = (struct look){ .gallery = gallery,
			       .lens = { .glance = gallery->glance,
					 .on_ring = on_ring,
					 .on_screen = on_screen,
					 .context = look },
			       .id = xstrdup(id),
			       .is_due = true,
			       .next_ms = clock_ms() + REST_MS,
			       .next = gallery->looks };
	gallery->looks = look;
}

void gallery_settle(struct gallery *gallery)
{
	const struct wall *wall = gallery->wall;
	size_t first;
	const size_t count = wall_page(wall, &first);
	for (struct look *look = gallery->looks, *next; look; look = next) {
		next = look->next;
		if (look->id && !wall_is_on_page(wall, look->id))
			leave(gallery, look);
	}
	for (size_t i = first; i < first + count; i++)
		if (!find(gallery, wall->ids.items[i]))
			add(gallery, wall->ids.items[i]);
	serve(gallery);
}

void gallery_note(struct gallery *gallery, const char *id)
{
	struct look *look = find(gallery, id);
	if (look)
		look->is_due = true;
}

void gallery_rest(struct gallery *gallery)
{
	for (struct look *look = gallery->looks, *next; look; look = next) {
		next = look->next;
		if (look->id)
			leave(gallery, look);
	}
}

int gallery_new(struct glance *glance, struct wall *wall, struct gallery **ret, struct error *err)
{
	struct gallery *gallery = xcalloc(1, sizeof(*gallery));
	*gallery = (struct gallery){ .glance = glance, .wall = wall };
	if (loop_add_timer(glance->errands->loop, INT64_MAX, on_time, gallery, &gallery->timer,
			   err) < 0) {
		free(gallery);
		return -1;
	}
	*ret = gallery;
	return 0;
}

void gallery_free(struct gallery *gallery)
{
	if (!gallery)
		return;
	gallery_rest(gallery);
	while (gallery->looks)
		drop(gallery, gallery->looks);
	loop_remove(gallery->timer);
	free(gallery);
}
