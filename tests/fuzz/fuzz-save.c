/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What plugins of tmux have saved, in lines or in JSON: a row that is read names only conversations
 * that can exist, and the plan gives each row a title that no other one has.
 */
#include "fuzz/fuzz.h"

#include "base/jsonio.h"
#include "driver/foreign/foreign.h"
#include "model/session/naming.h"

static const char *lookup(const char *name)
{
	(void)name;
	return NULL;
}

static void check_texts(const struct strvec *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		HOLDS(is_utf8(texts->items[i], strlen(texts->items[i])));
}

static void check_row(const struct import_row *row)
{
	HOLDS(!is_empty(row->source) && starts_with(row->origin, row->source));
	HOLDS(row->title && is_utf8(row->title, strlen(row->title)));
	/* One session of tmux is one group. */
	HOLDS(!strchr(or_empty(row->group), '/'));
	HOLDS(!row->needs_agent || row->argv.count);
	for (size_t i = 0; i < row->id_count; i++)
		HOLDS(naming_is_session_id(row->ids[i].id));
	check_texts(&row->argv);
	check_texts(&row->arguments);
	check_texts(&row->dangers);
	check_texts(&row->told);
}

static void check_plan(const struct import_rows *rows)
{
	const struct import_target target = { .profile = "default" };
	cleanup_json struct json_object *titles = json_object_new_object();
	cleanup_import_plan struct import_plan plan = { 0 };
	import_plan(rows, &target, &plan);
	HOLDS(plan.count == rows->count);
	for (size_t i = 0; i < plan.count; i++) {
		const struct import_step *step = &plan.steps[i];
		HOLDS(import_is_made(step) == (step->title != NULL));
		if (!step->title)
			continue;
		HOLDS(naming_check_title(step->title, NULL) == 0);
		HOLDS(!*step->group || naming_check_group(step->group, NULL) == 0);
		HOLDS(!json_object_object_get_ex(titles, step->title, NULL));
		json_set_bool(titles, step->title, true);
	}
}

/* As if each could become a session. */
static void set_facts(struct import_row *row)
{
	row->facts.directory = xstrdup("/srv");
	row->facts.agent = xstrdup("demo");
	row->facts.takes_id = true;
}

static void check_source(const struct foreign_source *source)
{
	const struct foreign_place place = { .home = fuzz_directory(),
					     .from = fuzz_directory(),
					     .lookup = lookup };
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_error struct error err = { 0 };
	const int r = source->read(&place, &rows, &err);
	HOLDS(r == 0 || r == -1);
	if (r < 0)
		fuzz_failed(&err);
	check_texts(&rows.told);
	for (size_t i = 0; i < rows.count; i++) {
		check_row(&rows.rows[i]);
		set_facts(&rows.rows[i]);
	}
	check_plan(&rows);
}

static void write_input(const char *name, const uint8_t *data, size_t size)
{
	cleanup_free char *path = xasprintf("%s/%s", fuzz_directory(), name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, data, size, path, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	write_input("last", data, size);
	write_input("assistant-sessions.json", data, size);
	check_source(&foreign_tmux_resurrect);
	check_source(&foreign_tmux_assistant_resurrect);
	return 0;
}
