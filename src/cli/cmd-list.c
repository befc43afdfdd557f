/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table.h"

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (lifecycle_list(&app->deck, &rows, err) < 0)
		return -1;
	if (app->json) {
		for (size_t i = 0; i < rows.count; i++) {
			cleanup_json struct json_object *object = json_of_row(&rows.rows[i], app->deck.profile);
			print_json_element(object, i);
		}
		print_json_end(rows.count);
		return 0;
	}
	if (rows.count == 0) {
		printf("No sessions yet. Make one with: agentdeck launch DIRECTORY -t TITLE\n");
		return 0;
	}
	cleanup_table struct table *table = table_new(app, (const char *const[]){
		"TITLE", "ID", "STATUS", "AGENT", "GROUP", "PATH", NULL });
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		cleanup_lifecycle_view struct lifecycle_view view = { 0 };
		lifecycle_view_row(row, &view);
		cleanup_free char *status = view_text(&view);
		table_add(table, (const char *const[]){ row->title, row->id, status, or_empty(row->agent),
							or_empty(row->group), or_empty(row->cwd), NULL },
			  view_color(&view));
	}
	table_print(table);
	return 0;
}

const struct command command_list = {
	.name = "list",
	.arguments = "",
	.summary = "list the sessions and what they are doing",
	.description = "",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
