/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

struct counts {
	size_t states[STATE_COUNT];
	size_t busy, waiting, idle, unknown, total;
};

static void count_row(const struct store_row *row, struct counts *counts)
{
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	lifecycle_view_row(row, &view);
	counts->total++;
	if (view.is_silent) {
		counts->unknown++;
		return;
	}
	counts->states[view.state]++;
	if (view.state != STATE_RUNNING)
		return;
	counts->busy += view.activity == ACTIVITY_BUSY;
	counts->waiting += view.activity == ACTIVITY_WAITING;
	counts->idle += view.activity == ACTIVITY_IDLE;
}

static void print_counts_json(const struct counts *counts)
{
	cleanup_json struct json_object *object = json_object_new_object();
	for (size_t i = 0; i < STATE_COUNT; i++)
		json_set_int(object, instance_state_name((enum instance_state)i),
			     (int64_t)counts->states[i]);
	json_set_int(object, "unknown", (int64_t)counts->unknown);
	json_set_int(object, "busy", (int64_t)counts->busy);
	json_set_int(object, "waiting", (int64_t)counts->waiting);
	json_set_int(object, "idle", (int64_t)counts->idle);
	json_set_int(object, "total", (int64_t)counts->total);
	print_json(object);
}

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	struct counts counts = { 0 };
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		count_row(&rows.rows[i], &counts);
	if (app->json) {
		print_counts_json(&counts);
		return 0;
	}
	if (counts.unknown)
		printf("%zu unknown (the tmux server does not answer), ", counts.unknown);
	printf("%zu running (%zu busy, %zu waiting, %zu idle), %zu stopped, %zu in error, %zu in all\n",
	       counts.states[STATE_RUNNING], counts.busy, counts.waiting, counts.idle,
	       counts.states[STATE_STOPPED], counts.states[STATE_ERROR], counts.total);
	return 0;
}

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.summary = "count the sessions by state",
	.description = "",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
