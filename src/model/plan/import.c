/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/import.h"

#include "base/jsonio.h"
#include "model/session/naming.h"

#include <string.h>

/* Room for " (2)" and more. */
enum { TITLE_MAX = 250, TITLE_ROOM = 240 };

struct import_row *import_rows_add(struct import_rows *rows)
{
	rows->rows = xreallocarray(rows->rows, rows->count + 1, sizeof(*rows->rows));
	rows->rows[rows->count] = (struct import_row){ 0 };
	return &rows->rows[rows->count++];
}

void import_row_add_id(struct import_row *row, const char *id)
{
	if (is_empty(id) || !naming_is_session_id(id))
		return;
	for (size_t i = 0; i < row->id_count; i++)
		if (naming_same_session_id(row->ids[i].id, id))
			return;
	row->ids = xreallocarray(row->ids, row->id_count + 1, sizeof(*row->ids));
	row->ids[row->id_count++] = (struct import_id){ .id = xstrdup(id) };
}

void import_row_set_open(struct import_row *row, const char *id, const char *home)
{
	size_t index = 0;
	while (index < row->id_count && !naming_same_session_id(row->ids[index].id, id))
		index++;
	if (index == row->id_count)
		import_row_add_id(row, id);
	if (index == row->id_count)
		return;
	struct import_id open = row->ids[index];
	memmove(row->ids + 1, row->ids, index * sizeof(*row->ids));
	open.is_open = true;
	open.is_guess = false;
	replace_string(&open.home, home);
	row->ids[0] = open;
}

static void id_free(struct import_id *id)
{
	free(id->id);
	free(id->path);
	free(id->home);
	free(id->directory);
	free(id->owner);
}

static void row_free(struct import_row *row)
{
	const struct import_facts *facts = &row->facts;
	char *texts[] = {
		row->source,  row->origin,        row->profile,       row->title,
		row->group,   row->notes,         row->directory,     row->tool,
		row->parent,  row->live_id,       row->refusal,       facts->directory,
		facts->agent, facts->imported_as, facts->imported_id, facts->imported_profile,
		facts->runs,  facts->obstacle,
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	strvec_clear(&row->argv);
	strvec_clear(&row->arguments);
	strvec_clear(&row->dangers);
	strvec_clear(&row->homes);
	strvec_clear(&row->told);
	for (size_t i = 0; i < row->id_count; i++)
		id_free(&row->ids[i]);
	free(row->ids);
}

void import_rows_free(struct import_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		row_free(&rows->rows[i]);
	free(rows->rows);
	strvec_clear(&rows->told);
	*rows = (struct import_rows){ 0 };
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Cut at the end of a character. */
static void cut(char *text, size_t most)
{
	size_t length = strlen(text);
	if (length <= most)
		return;
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	text[most] = '\0';
}

static char *trim(char *text)
{
	while (*text == ' ')
		text++;
	for (size_t length = strlen(text); length > 0 && text[length - 1] == ' '; length--)
		text[length - 1] = '\0';
	return text;
}

char *import_title(const char *title, const char *fallback)
{
	cleanup_free char *copy = xstrdup(or_empty(title));
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	cut(copy, TITLE_ROOM);
	const char *clean = trim(copy);
	if (naming_check_title(clean, NULL) == 0)
		return xstrdup(clean);
	/* C1 controls, or no UTF-8. */
	cleanup_free char *shown = visible(clean);
	cut(shown, TITLE_ROOM);
	return xstrdup(naming_check_title(shown, NULL) == 0 ? shown : fallback);
}

char *import_group(const char *group)
{
	struct strbuf path = { 0 };
	cleanup_free char *copy = xstrdup(or_empty(group));
	char *rest = copy;
	for (char *name; (name = strsep(&rest, "/"));) {
		cleanup_free char *clean = import_title(name, "");
		if (*clean)
			strbuf_addf(&path, "%s%s", path.length ? "/" : "", clean);
	}
	char *whole = strbuf_take(&path);
	if (*whole && naming_check_group(whole, NULL) < 0) {
		free(whole);
		whole = xstrdup("");
	}
	return whole;
}

/* The name of its directory; the caller frees. */
static char *directory_name(const struct import_row *row)
{
	const char *directory = or_empty(row->directory);
	size_t end = strlen(directory), start;
	while (end > 0 && directory[end - 1] == '/')
		end--;
	for (start = end; start > 0 && directory[start - 1] != '/';)
		start--;
	return xstrndup(directory + start, end - start);
}

/* taken: for "<profile>/<title>" of each title the number to try next, so that thousands of equal
 * titles cost one look each. */
static void settle_title(struct json_object *taken, struct import_step *step)
{
	cleanup_free char *directory = directory_name(step->row);
	cleanup_free char *name = import_title(directory, "session");
	cleanup_free char *title = import_title(step->row->title, name);
	cleanup_free char *first = xasprintf("%s/%s", step->profile, title);
	cleanup_free char *whole = xstrdup(first);
	int64_t number = json_get_int(taken, first, 1);
	while (json_object_object_get_ex(taken, whole, NULL)) {
		free(whole);
		number++;
		whole = xasprintf("%s (%lld)", first, (long long)number);
	}
	json_set_int(taken, first, number);
	json_set_int(taken, whole, 1);
	step->title = xstrdup(whole + strlen(step->profile) + 1);
}

/* ---- conversations ---------------------------------------------------------------------------- */

static bool is_same(const struct import_row *a, const struct import_id *left,
		    const struct import_row *b, const struct import_id *right)
{
	return streq(or_empty(a->facts.agent), or_empty(b->facts.agent)) &&
	       streq(or_empty(left->home), or_empty(right->home)) &&
	       naming_same_session_id(left->id, right->id);
}

/* The one to continue: an id counts when its transcript exists.  A program that was told the id of
 * the conversation that this one is a copy of has the wrong one. */
static const struct import_id *choose(const struct import_row *row)
{
	for (size_t i = 0; i < row->id_count; i++) {
		const struct import_id *id = &row->ids[i];
		if (row->parent && naming_same_session_id(id->id, row->parent))
			continue;
		if (id->path || id->is_open || (!row->facts.sees_files && !id->is_guess))
			return id;
	}
	return NULL;
}

static bool is_guessed(const struct import_row *row, const struct import_id *id)
{
	if (!id || !id->is_guess || row->hint == IMPORT_HINT_NEWEST)
		return false;
	return row->hint != IMPORT_HINT_ONLY || row->facts.choices > 1 || row->facts.is_shared;
}

/* The caller frees. */
static char *guess_of(const struct import_row *row, const struct import_id *id)
{
	if (row->facts.is_shared)
		return xasprintf("--guess continues %s, but several sessions share its directory",
				 id->id);
	if (row->facts.choices > 1)
		return xasprintf("--guess continues %s, the newest of %zu in its directory", id->id,
				 row->facts.choices);
	return xasprintf("--guess continues %s, which only its directory suggests", id->id);
}

/* What to say of the conversation that it continues.  The caller frees. */
static char *remark_of(const struct import_row *row, const struct import_id *id)
{
	if (!row->facts.sees_files)
		return xstrdup("its conversation was not checked");
	if (id->directory)
		return xasprintf("its conversation began in %s", id->directory);
	if (id->is_guess && row->hint == IMPORT_HINT_ONLY && !is_guessed(row, id))
		return xstrdup("it is the only conversation of its directory");
	return xstrdup("");
}

/* Can this row become a session at all, as far as its conversation does not matter? */
static bool is_refused(const struct import_row *row, const struct import_consent *consent,
		       struct import_step *step)
{
	const struct import_facts *facts = &row->facts;
	if (facts->imported_as) {
		step->verdict = IMPORT_DONE;
		step->why = xasprintf("it is session '%s'", facts->imported_as);
	} else if (facts->was_imported && !consent->again) {
		step->verdict = IMPORT_REMOVED;
		step->why = xstrdup("it was imported and then removed: --again imports it again");
	} else if (row->refusal) {
		step->verdict = IMPORT_REFUSE;
		step->why = xstrdup(row->refusal);
	} else if (facts->obstacle) {
		step->verdict = IMPORT_REFUSE;
		step->why = xasprintf("its directory %s cannot be looked up: %s", row->directory,
				      facts->obstacle);
	} else if (!facts->directory) {
		step->verdict = IMPORT_REFUSE;
		step->why = row->directory
				    ? xasprintf("its directory %s does not exist", row->directory)
				    : xstrdup("its directory is not known");
	} else if (row->is_dangerous && !consent->dangers) {
		step->verdict = IMPORT_REFUSE;
		step->why = xstrdup("its command line, which needs a shell, makes the agent ask "
				    "for no permission: --dangerous imports it as it is");
	} else if (facts->runs && !facts->is_certain) {
		step->verdict = IMPORT_REFUSE;
		step->why = xasprintf("it runs in %s: end it there first", facts->runs);
	} else {
		return false;
	}
	return true;
}

static void settle_conversation(const struct import_row *row, const struct import_consent *consent,
				struct import_step *step)
{
	const struct import_id *id = row->facts.takes_id ? choose(row) : NULL;
	if (id && id->owner) {
		step->verdict = IMPORT_CONFLICT;
		step->why = xasprintf("its conversation belongs to session %s", id->owner);
	} else if (row->facts.runs && !(id && id->is_open)) {
		/* The session would get another conversation than the process that is ended. */
		step->verdict = IMPORT_REFUSE;
		step->why = xasprintf("it runs in %s: end it there first", row->facts.runs);
	} else if (is_guessed(row, id) && !consent->guesses) {
		step->verdict = IMPORT_ASK;
		step->why = guess_of(row, id);
	} else if (id) {
		step->verdict = IMPORT_MAKE;
		step->taken = id;
		step->why = remark_of(row, id);
	} else {
		const bool has_lost = row->facts.takes_id && row->id_count > 0;
		step->verdict = IMPORT_FRESH;
		step->why = xstrdup(has_lost ? "its conversation is not on disk" : "");
	}
}

/* Does the step give way to the other one, which wants the same conversation? */
static bool gives_way(const struct import_step *step, const struct import_step *other)
{
	if (other == step || other->verdict != IMPORT_MAKE || !other->taken ||
	    !is_same(step->row, step->taken, other->row, other->taken))
		return false;
	if (step->taken->is_open != other->taken->is_open)
		return other->taken->is_open;
	return other->row->last_used_at > step->row->last_used_at ||
	       (other->row->last_used_at == step->row->last_used_at && other < step);
}

/* The step to which this one gives way: of two that want one conversation, the later one has it. */
static const struct import_step *find_rival(const struct import_plan *plan,
					    const struct import_step *step)
{
	for (size_t i = 0; i < plan->count && step->taken; i++)
		if (gives_way(step, &plan->steps[i]))
			return &plan->steps[i];
	return NULL;
}

static void settle_rivals(struct import_plan *plan)
{
	const struct import_step **rivals = xcalloc(plan->count + 1, sizeof(struct import_step *));
	for (size_t i = 0; i < plan->count; i++)
		rivals[i] = find_rival(plan, &plan->steps[i]);
	for (size_t i = 0; i < plan->count; i++) {
		struct import_step *step = &plan->steps[i];
		if (!rivals[i])
			continue;
		const bool is_later = rivals[i]->row->last_used_at > step->row->last_used_at &&
				      !rivals[i]->taken->is_open;
		free(step->why);
		step->why = xasprintf("its conversation goes to '%s'%s",
				      or_empty(rivals[i]->row->title),
				      rivals[i]->row->facts.runs ? ", which runs"
				      : is_later                 ? ", which was used later"
								 : "");
		step->verdict = IMPORT_CONFLICT;
		step->taken = NULL;
	}
	free(rivals);
}

static void settle_running(struct import_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct import_step *step = &plan->steps[i];
		if (!step->row->facts.runs || !import_is_made(step))
			continue;
		step->verdict = IMPORT_RUNS;
		free(step->why);
		step->why = xasprintf("it runs in %s", step->row->facts.runs);
	}
}

void import_plan(const struct import_rows *rows, const struct import_target *target,
		 struct import_plan *ret)
{
	cleanup_json struct json_object *taken = json_object_new_object();
	struct import_plan plan = { .count = rows->count,
				    .steps = xcalloc(rows->count + 1, sizeof(*plan.steps)) };
	for (size_t i = 0; i < rows->count; i++) {
		struct import_step *step = &plan.steps[i];
		step->row = &rows->rows[i];
		step->profile = step->row->profile ? step->row->profile : target->profile;
		if (!is_refused(step->row, &target->consent, step))
			settle_conversation(step->row, &target->consent, step);
	}
	settle_rivals(&plan);
	settle_running(&plan);
	for (size_t i = 0; target->titles && i < target->titles->count; i++)
		json_set_int(taken, target->titles->items[i], 1);
	for (size_t i = 0; i < plan.count; i++) {
		struct import_step *step = &plan.steps[i];
		if (!import_is_made(step) && step->verdict != IMPORT_RUNS)
			continue;
		settle_title(taken, step);
		step->group = import_group(step->row->group);
		step->drops_dangers = step->row->dangers.count > 0 && !target->consent.dangers;
	}
	*ret = plan;
}

void import_plan_free(struct import_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->steps[i].title);
		free(plan->steps[i].group);
		free(plan->steps[i].why);
	}
	free(plan->steps);
	*plan = (struct import_plan){ 0 };
}

bool import_is_made(const struct import_step *step)
{
	return step->verdict == IMPORT_MAKE || step->verdict == IMPORT_FRESH;
}

bool import_can_adopt(const struct import_step *step)
{
	return step->verdict == IMPORT_RUNS ||
	       (step->verdict == IMPORT_DONE && step->row->facts.can_join);
}

const char *import_verdict_name(enum import_verdict verdict)
{
	static const char *const names[IMPORT_VERDICTS] = { "import",   "fresh", "done",
							    "removed",  "runs",  "ask",
							    "conflict", "refuse" };
	return names[verdict];
}
