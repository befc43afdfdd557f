/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/table.h"

#include "base/clock.h"
#include "engine/oom.h"
#include "engine/usage.h"

#include <poll.h>
#include <string.h>

enum { FIRST_PAUSE_MS = 200, LONGEST_INTERVAL_S = 3600 };

/* "412M", "1.2G"; "" for what is not known, "-" for what has no bounds. */
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

/* Only what is short: "memory 12%, io 3%". */
static char *pressure_text(const struct unit_usage *usage)
{
	const struct {
		const char *name;
		int64_t value;
	} all[] = { { "memory", usage->memory_pressure }, { "cpu", usage->cpu_pressure },
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
	char *text = oom_text(usage->now.oom_kills);
	if (text)
		return text;
	return xstrdup(usage->in_scope ? "" : "no scope");
}

/* The one that comes first. */
static int64_t nearest_limit(const struct unit_usage *usage)
{
	if (usage->memory_high >= 0 && usage->memory_high < usage->memory_max)
		return usage->memory_high;
	return usage->memory_max;
}

static struct table *make_table(const struct app *app, const struct usage_list *list)
{
	struct table *table = table_new(app, (const char *const[]){ "TITLE", "ID", "STATUS", "MEMORY", "MAX",
								    "CPU%", "TASKS", "PRESSURE", "NOTE",
								    NULL });
	for (size_t i = 0; i < list->count; i++) {
		const struct usage *usage = &list->items[i];
		cleanup_lifecycle_view struct lifecycle_view view = { 0 };
		lifecycle_view_row(usage->row, &view);
		cleanup_free char *status = view_text(&view);
		cleanup_free char *memory = size_text(usage->now.memory);
		cleanup_free char *most = size_text(nearest_limit(&usage->now));
		cleanup_free char *cpu = percent_text(usage->cpu);
		cleanup_free char *tasks = number_text(usage->now.tasks);
		cleanup_free char *pressure = pressure_text(&usage->now);
		cleanup_free char *note = note_text(usage);
		table_add(table, (const char *const[]){ usage->row->title, usage->row->id, status, memory, most,
							cpu, tasks, pressure, note, NULL },
			  usage->now.oom_kills > 0 ? "red" : view_color(&view));
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
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	cleanup_json struct json_object *object = json_object_new_object();
	const struct unit_usage *now = &usage->now;
	char date[CLOCK_TEXT_SIZE];
	lifecycle_view_row(usage->row, &view);
	json_set_string(object, "at", clock_format(clock_wall_us(), date));
	json_set_string(object, "id", usage->row->id);
	json_set_string(object, "title", usage->row->title);
	json_set_string(object, "group", or_empty(usage->row->group));
	json_set_string(object, "agent", usage->row->agent);
	json_set_string(object, "status", lifecycle_view_status(&view));
	json_set_string(object, "activity", instance_activity_name(view.activity));
	json_set_bool(object, "in_scope", usage->in_scope);
	set_number(object, "memory", now->memory);
	set_number(object, "memory_peak", now->memory_peak);
	set_number(object, "swap", now->swap);
	set_number(object, "memory_high", now->memory_high);
	set_number(object, "memory_max", now->memory_max);
	set_percent(object, "cpu_percent", usage->cpu);
	set_number(object, "cpu_us", now->cpu_us);
	set_number(object, "tasks", now->tasks);
	set_number(object, "tasks_max", now->tasks_max);
	set_percent(object, "cpu_pressure", now->cpu_pressure);
	set_percent(object, "memory_pressure", now->memory_pressure);
	set_percent(object, "io_pressure", now->io_pressure);
	set_number(object, "oom_kills", now->oom_kills);
	print_json_line(object);
}

static void print_list(const struct app *app, const struct usage_list *list)
{
	for (size_t i = 0; app->json && i < list->count; i++)
		print_line(&list->items[i]);
	if (app->json)
		return;
	if (list->count == 0) {
		printf("No session is running.\n");
		return;
	}
	cleanup_table struct table *table = make_table(app, list);
	table_print(table);
}

static int show_page(struct app *app, struct live *live, const struct usage_list *list,
		     struct error *err)
{
	cleanup_strbuf struct strbuf page = { 0 };
	int64_t memory = 0, cpu = 0;
	for (size_t i = 0; i < list->count; i++) {
		memory += list->items[i].now.memory > 0 ? list->items[i].now.memory : 0;
		cpu += list->items[i].cpu > 0 ? list->items[i].cpu : 0;
	}
	cleanup_free char *sum = size_text(memory), *share = percent_text(cpu);
	strbuf_addf(&page, "%zu running, %s of memory, %s%% of a processor; q leaves\n\n", list->count, sum,
		    share);
	if (list->count) {
		cleanup_table struct table *table = make_table(app, list);
		cleanup_free char *text = table_text(table, live_width(live));
		strbuf_adds(&page, text);
	}
	return live_show(live, strbuf_text(&page), err);
}

/* What was read takes the place of what was there. */
static int read_again(struct app *app, enum usage_order order, struct usage_list *list, struct error *err)
{
	struct usage_list next = { 0 };
	if (usage_read(&app->deck, list, &next, err) < 0)
		return -1;
	usage_list_free(list);
	*list = next;
	usage_sort(list, order);
	return 0;
}

static int run_live(struct app *app, enum usage_order order, int64_t interval_ms,
		    struct usage_list *list, struct error *err)
{
	cleanup_live struct live *live = NULL;
	if (live_open(&live, err) < 0)
		return -1;
	for (int64_t deadline = clock_ms() + interval_ms;;) {
		if (show_page(app, live, list, err) < 0)
			return -1;
		int r = live_wait(live, deadline, err);
		if (r < 0 || r == LIVE_ENDED)
			return r < 0 ? -1 : 0;
		if (r == LIVE_RESIZED)
			continue;
		deadline = clock_ms() + interval_ms;
		if (read_again(app, order, list, err) < 0)
			return -1;
	}
}

static int run_lines(struct app *app, enum usage_order order, int64_t interval_ms,
		     struct usage_list *list, struct error *err)
{
	for (;;) {
		print_list(app, list);
		if (fflush(stdout) != 0)
			return error_set(err, ERROR_SYSTEM, "nobody reads standard output any more");
		(void)poll(NULL, 0, (int)interval_ms);
		if (read_again(app, order, list, err) < 0)
			return -1;
	}
}

static int run(struct app *app, struct error *err)
{
	cleanup_usage_list struct usage_list list = { 0 };
	const char *interval = option_value(app, "interval"), *sort = option_value(app, "sort");
	enum usage_order order = USAGE_BY_MEMORY;
	int64_t seconds = 2;
	if (interval && !parse_int64(interval, 1, LONGEST_INTERVAL_S, &seconds))
		return error_set(err, ERROR_USAGE, "--interval is a whole number of seconds, 1 to %d",
				 LONGEST_INTERVAL_S);
	if (sort && !usage_order_parse(sort, &order))
		return error_set(err, ERROR_USAGE, "--sort is memory, cpu, tasks or title");
	if (interval && option_given(app, "once"))
		return error_set(err, ERROR_USAGE, "--once does not go with --interval: leave one of them out");
	if (usage_read(&app->deck, NULL, &list, err) < 0)
		return -1;
	/* A share of the processor needs two readings. */
	if (list.count)
		(void)poll(NULL, 0, FIRST_PAUSE_MS);
	if (read_again(app, order, &list, err) < 0)
		return -1;
	bool once = option_given(app, "once");
	if (!once && !app->json && live_is_possible())
		return run_live(app, order, seconds * 1000, &list, err);
	if (interval)
		return run_lines(app, order, seconds * 1000, &list, err);
	print_list(app, &list);
	return 0;
}

static const struct command_option options[] = {
	{ '1', "once", NULL, "show it once and end, on a terminal too" },
	{ 'i', "interval", "S", "seconds between two readings; without it 2" },
	{ 's', "sort", "WHAT", "by memory (which is usual), cpu, tasks or title" },
	{ 0 },
};

const struct command command_top = {
	.name = "top",
	.arguments = "",
	.summary = "show what the running sessions use",
	.description =
		"On a terminal it is shown anew every two seconds, until q or Ctrl-C. Elsewhere it is shown\n"
		"once, or again and again with --interval. --json prints a line for each session, with\n"
		"null for what cannot be known.\n"
		"\n"
		"MEMORY is that of the session's scope, with what the kernel keeps of its files; MAX the limit\n"
		"that is reached first (session limit). CPU% is since the reading before, the first time\n"
		"within 0.2 seconds; 100 is one processor. TASKS are processes and threads. PRESSURE is how\n"
		"much of the last ten seconds some of them had to wait for memory, processor or disk. NOTE\n"
		"tells how many of its processes the kernel has killed for lack of memory.\n"
		"\n"
		"A session without a scope, and a machine that does not count by scope, are counted process by\n"
		"process: memory that several share counts for each.",
	.options = options,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
