/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/live.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "engine/place/oom.h"
#include "engine/roster/usage.h"
#include "engine/supervise/supervise.h"

#include <string.h>

struct options {
	bool once;
	int64_t interval_s; /* 0: not given */
	enum usage_order order;
};

static const char *const orders[] = {
	[USAGE_BY_MEMORY] = "memory",
	[USAGE_BY_CPU] = "cpu",
	[USAGE_BY_TASKS] = "tasks",
	[USAGE_BY_TITLE] = "title",
};

static const struct command_option options[] = {
	{ '1', "once", NULL, "show it once and end, on a terminal too", TO_FLAG(once) },
	{ 'i', "interval", "S", "seconds between two readings; without it 2",
	  TO_SECONDS(interval_s, 1, 3600) },
	{ 's', "sort", "WHAT", "by memory (which is usual), cpu, tasks or title",
	  TO_CHOICE(order, orders) },
	{ 0 },
};

enum { FIRST_PAUSE_MS = 200, USUAL_INTERVAL_MS = 2000 };

struct top {
	struct app *app;
	struct error *err;
	enum usage_order order;
	int64_t interval_ms; /* 0: it is shown once */
	struct roster *roster;
	struct loop_source *timer;
	struct live *live;    /* NULL: no terminal that shows it again and again */
	struct usage **shown; /* those that run, in order; each is the owner of its entry */
	size_t count;
	bool is_over, has_failed;
};

/* "412M", "1.2G"; "" if it is unknown, "-" without a limit.  The caller frees. */
static char *size_text(int64_t bytes)
{
	static const char suffixes[] = "KMGT";
	double value = (double)bytes / 1024;
	size_t i = 0;
	if (bytes < 0)
		return xstrdup("");
	if (bytes == LIMIT_INFINITY)
		return xstrdup("-");
	for (; value >= 1000 && suffixes[i + 1]; i++)
		value /= 1024;
	return xasprintf(value < 10 && i > 0 ? "%.1f%c" : "%.0f%c", value, suffixes[i]);
}

static char *percent_text(int64_t hundredths)
{
	return hundredths < 0 ? xstrdup("") : xasprintf("%.1f", (double)hundredths / 100);
}

static char *number_text(int64_t number)
{
	return number < 0 ? xstrdup("") : xasprintf("%lld", (long long)number);
}

/* What the session lacks: "memory 12%, io 3%". */
static char *pressure_text(const struct cgroup_usage *usage)
{
	const struct {
		const char *name;
		int64_t value;
	} all[] = { { "memory", usage->memory_pressure },
		    { "cpu", usage->cpu_pressure },
		    { "io", usage->io_pressure } };
	cleanup_strbuf struct strbuf text = { 0 };
	bool known = false;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		known |= all[i].value >= 0;
		if (all[i].value >= 50)
			strbuf_addf(&text, "%s%s %.0f%%", text.length ? ", " : "", all[i].name,
				    (double)all[i].value / 100);
	}
	if (known && !text.length)
		strbuf_adds(&text, "none");
	return strbuf_take(&text);
}

static char *note_text(const struct usage *usage)
{
	char *text = oom_text(usage->seen.now.oom_kills);
	if (text)
		return text;
	return xstrdup(usage->seen.in_scope ? "" : "no scope");
}

/* The limit that is reached first. */
static int64_t nearest_limit(const struct cgroup_usage *usage)
{
	if (usage->memory_high >= 0 && usage->memory_high < usage->memory_max)
		return usage->memory_high;
	return usage->memory_max;
}

static struct table *make_table(const struct top *top)
{
	struct table *table = table_new(
		top->app, (const char *const[]){ "TITLE", "ID", "STATUS", "MEMORY", "MAX", "CPU%",
						 "TASKS", "PRESSURE", "NOTE", NULL });
	for (size_t i = 0; i < top->count; i++) {
		const struct usage *usage = top->shown[i];
		const struct view *view = &usage->entry->view;
		cleanup_free char *status = view_text(view);
		cleanup_free char *memory = size_text(usage->seen.now.memory);
		cleanup_free char *most = size_text(nearest_limit(&usage->seen.now));
		cleanup_free char *cpu = percent_text(usage->cpu);
		cleanup_free char *tasks = number_text(usage->seen.now.tasks);
		cleanup_free char *pressure = pressure_text(&usage->seen.now);
		cleanup_free char *note = note_text(usage);
		table_add(table,
			  (const char *const[]){ usage->entry->row.title, usage->entry->row.id,
						 status, memory, most, cpu, tasks, pressure, note,
						 NULL },
			  usage->seen.now.oom_kills > 0 ? TONE_ERROR : view_tone(view));
	}
	return table;
}

static void set_number(struct json_object *object, const char *key, int64_t value)
{
	if (value < 0 || value == LIMIT_INFINITY)
		json_set(object, key, NULL);
	else
		json_set_int(object, key, value);
}

static void set_percent(struct json_object *object, const char *key, int64_t hundredths)
{
	cleanup_free char *text = xasprintf("%.2f", (double)hundredths / 100);
	json_set(object, key,
		 hundredths < 0 ? NULL : json_object_new_double_s((double)hundredths / 100, text));
}

static void print_line(const struct usage *usage)
{
	cleanup_json struct json_object *object = json_of_entry(usage->entry);
	const struct cgroup_usage *now = &usage->seen.now;
	json_set_time(object, "seen_at", clock_wall_us());
	json_set_bool(object, "in_scope", usage->seen.in_scope);
	set_number(object, "memory_bytes", now->memory);
	set_number(object, "memory_peak_bytes", now->memory_peak);
	set_number(object, "swap_bytes", now->swap);
	set_number(object, "memory_high_bytes", now->memory_high);
	set_number(object, "memory_max_bytes", now->memory_max);
	set_percent(object, "cpu_percent", usage->cpu);
	set_number(object, "cpu_ms", now->cpu_us < 0 ? -1 : now->cpu_us / 1000);
	set_number(object, "tasks", now->tasks);
	set_number(object, "tasks_max", now->tasks_max);
	set_percent(object, "cpu_pressure_percent", now->cpu_pressure);
	set_percent(object, "memory_pressure_percent", now->memory_pressure);
	set_percent(object, "io_pressure_percent", now->io_pressure);
	set_number(object, "oom_kills", now->oom_kills);
	print_json_line(object);
}

static void print_list(const struct top *top)
{
	for (size_t i = 0; top->app->json && i < top->count; i++)
		print_line(top->shown[i]);
	if (top->app->json)
		return;
	if (top->count == 0) {
		printf("No session is running.\n");
		return;
	}
	cleanup_table struct table *table = make_table(top);
	table_print(table);
}

static int show_page(const struct top *top)
{
	cleanup_strbuf struct strbuf page = { 0 };
	int64_t memory = 0, cpu = 0;
	for (size_t i = 0; i < top->count; i++) {
		const struct usage *usage = top->shown[i];
		memory += usage->seen.now.memory > 0 ? usage->seen.now.memory : 0;
		cpu += usage->cpu > 0 ? usage->cpu : 0;
	}
	cleanup_free char *sum = size_text(memory), *share = percent_text(cpu);
	strbuf_addf(&page, "%zu running, %s of memory, %s%% of a processor; q leaves\n\n",
		    top->count, sum, share);
	if (top->count) {
		cleanup_table struct table *table = make_table(top);
		cleanup_free char *text = table_text(table, live_width(top->live));
		strbuf_adds(&page, text);
	}
	return live_show(top->live, strbuf_text(&page), top->err);
}

/* ---- the roster ----------------------------------------------------------------------------- */

/* The sessions whose usage was read last, in order. */
static void gather(struct top *top)
{
	const size_t count = roster_count(top->roster);
	top->shown = xreallocarray(top->shown, count + 1, sizeof(struct usage *));
	top->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct usage *usage = roster_at(top->roster, i)->owner;
		if (usage->server.pid)
			top->shown[top->count++] = usage;
	}
	usage_sort(top->shown, top->count, top->order);
}

static void show_again(void *context)
{
	struct top *top = context;
	gather(top);
	top->has_failed = top->has_failed || show_page(top) < 0;
}

static void on_event(const struct roster_event *event, void *context UNUSED)
{
	struct roster_entry *entry = event->entry;
	if (event->what == ROSTER_ADDED) {
		struct usage *usage = entry->owner = xcalloc(1, sizeof(*usage));
		usage->entry = entry;
	} else if (event->what == ROSTER_REMOVED) {
		free(TAKE_PTR(entry->owner));
	}
}

static void read_on(void *context)
{
	struct top *top = context;
	top->has_failed = top->has_failed || roster_read(top->roster, top->err) < 0;
	if (top->live && !top->has_failed)
		show_again(top);
}

/* A server that was stopped (SIGSTOP) sends no event: so those that run are looked at each time. */
static void read_usages(struct top *top)
{
	for (size_t i = 0; i < roster_count(top->roster); i++) {
		struct roster_entry *entry = roster_at(top->roster, i);
		struct usage *usage = entry->owner;
		usage_read(usage);
		if (usage->server.pid)
			roster_look(entry);
	}
}

static void on_tick(void *context)
{
	struct top *top = context;
	read_usages(top);
	read_on(top);
	if (!top->live && !top->has_failed) {
		gather(top);
		print_list(top);
		top->is_over = !top->interval_ms;
	}
	if (!top->is_over)
		(void)loop_set_timer(top->timer, clock_ms() + top->interval_ms, NULL);
}

static void top_clear(struct top *top)
{
	for (size_t i = 0; top->roster && i < roster_count(top->roster); i++)
		free(roster_at(top->roster, i)->owner);
	roster_close(top->roster);
	free(top->shown);
}

static int watch(struct top *top, struct loop *loop)
{
	const struct roster_order order = {
		.loop = loop,
		.due = read_on,
		.profile = top->app->deck.profile,
		.looks = supervise_is_running(&top->app->deck) ? ROSTER_LOOKS_NOT : ROSTER_LOOKS,
		.asks = true,
	};
	if (roster_open(&top->app->deck, &order, on_event, top, &top->roster, top->err) < 0 ||
	    roster_read(top->roster, top->err) < 0)
		return -1;
	read_usages(top);
	gather(top);
	/* A share of the processor needs two readings. */
	return loop_add_timer(loop, clock_ms() + (top->count ? FIRST_PAUSE_MS : 0), on_tick, top,
			      &top->timer, top->err);
}

static int cmd_top(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_loop struct loop *loop = NULL;
	CLEANUP(top_clear)
	struct top top = {
		.app = app,
		.err = err,
		.order = given->order,
		.interval_ms = given->interval_s * 1000,
	};
	cleanup_live struct live *live = NULL;
	if (given->interval_s && given->once)
		return error_set(err, ERROR_USAGE,
				 "--once does not go with --interval: omit one of them");
	if (loop_new(&loop, err) < 0 || watch(&top, loop) < 0)
		return -1;
	if (!given->once && !app->json && live_is_possible()) {
		if (live_open(loop, show_again, &top, &live, err) < 0)
			return -1;
		top.live = live;
		top.interval_ms = top.interval_ms ? top.interval_ms : USUAL_INTERVAL_MS;
	}
	while (!top.is_over && !top.has_failed && !(live && live_is_over(live))) {
		if (fflush(stdout) != 0)
			return error_set(err, ERROR_SYSTEM, "standard output is closed");
		if (output_turn(loop, INT64_MAX, err) < 0)
			return -1;
	}
	return top.has_failed ? -1 : 0;
}

const struct command command_top = {
	.name = "top",
	.kind = COMMAND_FOLLOWS,
	.arguments = "",
	.summary = "show what the running sessions use",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON | JSON_LINES,
	.run = cmd_top,
};
