/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/meter.h"

#include "base/clock.h"
#include "engine/roster/usage.h"

/* In hundredths of a percent. */
enum { PAUSE_MS = 2000, LIVELY_CPU = 100 };

struct meter {
	struct loop_source *timer;
	const struct roster *roster;
	struct ui *ui;
	bool *is_changed;
	int64_t read_ms; /* 0: never */
	bool is_lively;  /* the values will change by themselves */
	bool is_ours;    /* the next frame is drawn because of us */
};

static bool is_wanted(const struct meter *meter)
{
	return meter->ui->has_usage || list_order(meter->ui->list) == ORDER_MEMORY;
}

static bool runs(const struct item *item)
{
	return doing_is_alive(item->doing) && item->doing != DOING_UNKNOWN;
}

static bool is_visible(const struct meter *meter, const struct item *item)
{
	const size_t top = list_top(meter->ui->list, meter->ui->height);
	const size_t height = meter->ui->height;
	return (item->line >= top && item->line - top < height) ||
	       (item->pinned_line >= top && item->pinned_line - top < height);
}

static void read_one(struct meter *meter, struct roster_entry *entry, struct item *item)
{
	if (!item->owner) {
		item->owner = xcalloc(1, sizeof(struct usage));
		*(struct usage *)item->owner = (struct usage){ .entry = entry, .cpu = -1 };
	}
	struct usage *usage = item->owner;
	const bool is_first = usage->server.pid == 0;
	usage_read(usage);
	const bool is_there = usage->server.pid != 0;
	list_measure(meter->ui->list, item, is_there ? usage->seen.now.memory : -1, usage->cpu);
	/* One reading does not tell what the processor does. */
	meter->is_lively |= is_there &&
			    (is_first || item->doing == DOING_BUSY || usage->cpu > LIVELY_CPU);
}

static void read_all(struct meter *meter)
{
	const bool all = list_order(meter->ui->list) == ORDER_MEMORY;
	meter->is_lively = false;
	for (size_t i = 0; i < roster_count(meter->roster); i++) {
		struct roster_entry *entry = roster_at(meter->roster, i);
		struct item *item = entry->owner;
		if (item && runs(item) && (all || is_visible(meter, item)))
			read_one(meter, entry, item);
	}
	meter->read_ms = clock_ms();
	meter->is_ours = true;
	*meter->is_changed = true;
}

static void on_time(void *context)
{
	struct meter *meter = context;
	if (is_wanted(meter))
		read_all(meter);
}

void meter_settle(struct meter *meter)
{
	const bool is_ours = meter->is_ours;
	meter->is_ours = false;
	const bool is_due = is_wanted(meter) && (!is_ours || meter->is_lively);
	(void)loop_set_timer(meter->timer,
			     !is_due               ? INT64_MAX
			     : meter->read_ms == 0 ? 0
						   : meter->read_ms + PAUSE_MS,
			     NULL);
}

void meter_forget(struct item *item)
{
	free(TAKE_PTR(item->owner));
}

int meter_new(struct loop *loop, const struct roster *roster, struct ui *ui, bool *is_changed,
	      struct meter **ret, struct error *err)
{
	cleanup_meter struct meter *meter = xcalloc(1, sizeof(*meter));
	*meter = (struct meter){ .roster = roster, .ui = ui, .is_changed = is_changed };
	if (loop_add_timer(loop, INT64_MAX, on_time, meter, &meter->timer, err) < 0)
		return -1;
	*ret = TAKE_PTR(meter);
	return 0;
}

void meter_free(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < roster_count(meter->roster); i++) {
		struct item *item = roster_at(meter->roster, i)->owner;
		if (item)
			meter_forget(item);
	}
	loop_remove(meter->timer);
	free(meter);
}
