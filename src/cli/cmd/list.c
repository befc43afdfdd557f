/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/run/correct.h"

static int run(struct app *app, struct error *err)
{
	cleanup_roster struct roster *roster = NULL;
	const struct roster_wish wish = { .profile = app->deck.profile, .asks = true };
	if (correct_list(&app->deck, &wish, &roster, err) < 0)
		return -1;
	const size_t count = roster_count(roster);
	if (app->json) {
		for (size_t i = 0; i < count; i++) {
			const struct roster_entry *entry = roster_at(roster, i);
			cleanup_json struct json_object *object = json_of_row(
				&entry->row, &entry->view, entry->profile);
			print_json_element(object, i);
		}
		print_json_end(count);
		return 0;
	}
	if (count == 0) {
		printf("No sessions yet. Make one with: agentdeck launch DIRECTORY -t TITLE\n");
		return 0;
	}
	cleanup_table struct table *table = table_new(
		app,
		(const char *const[]){ "TITLE", "ID", "STATUS", "AGENT", "GROUP", "PATH", NULL });
	for (size_t i = 0; i < count; i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		const struct store_row *row = &entry->row;
		cleanup_free char *status = view_text(&entry->view);
		table_add(table,
			  (const char *const[]){ row->title, row->id, status, or_empty(row->agent),
						 or_empty(row->group),
						 or_empty(row->lookup_directory), NULL },
			  view_color(&entry->view));
	}
	table_print(table);
	return 0;
}

const struct command command_list = {
	.name = "list",
	.arguments = "",
	.summary = "list the sessions and what they are doing",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
