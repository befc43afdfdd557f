/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/recover.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/environment.h"
#include "engine/lifecycle-internal.h"
#include "engine/view.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>

enum {
	/* A start waits up to 30 s for its lock, and up to 20 s for tmux on a machine that has just booted. */
	WORKER_TIMEOUT_MS = 120000,
	JOBS_MAX = 256,
	MEMINFO_MAX = 64 << 10,
};
#define MEMORY_EACH ((int64_t)512 << 20)

/* In bytes; false when the kernel does not tell (proc(5), /proc/meminfo). */
static bool read_memory(int64_t *ret_total, int64_t *ret_available)
{
	cleanup_strbuf struct strbuf text = { 0 };
	long long total, available;
	if (fs_read(AT_FDCWD, "/proc/meminfo", MEMINFO_MAX, &text, NULL) != 0)
		return false;
	const char *first = strstr(strbuf_text(&text), "MemTotal:");
	const char *second = strstr(strbuf_text(&text), "MemAvailable:");
	if (!first || !second || sscanf(first, "MemTotal: %lld kB", &total) != 1 ||
	    sscanf(second, "MemAvailable: %lld kB", &available) != 1)
		return false;
	*ret_total = total * 1024;
	*ret_available = available * 1024;
	return true;
}

unsigned recover_jobs(void)
{
	cpu_set_t set;
	int64_t total, available;
	int64_t jobs = 2 * (sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1);
	if (read_memory(&total, &available) && available / MEMORY_EACH < jobs)
		jobs = available / MEMORY_EACH;
	return jobs < 1 ? 1 : jobs > JOBS_MAX ? JOBS_MAX : (unsigned)jobs;
}

static bool memory_is_short(void)
{
	int64_t total, available;
	return read_memory(&total, &available) && available < total / 20;
}

/* One that is being brought back. */
struct worker {
	const struct store_row *row;
	int64_t since_ms;
};

struct recovery {
	struct deck *deck;
	const struct recover_wish *wish;
	recover_progress progress;
	void *context;
	struct recover_counts counts;
	const struct store_row **rows; /* borrowed */
	struct child *children;        /* and workers: of the same index; a child without a pid is free */
	struct worker *workers;
	size_t slots, running;
};

static void recovery_end(struct recovery *recovery)
{
	for (size_t i = 0; recovery->children && i < recovery->slots; i++)
		child_abandon(&recovery->children[i]);
	free(recovery->rows);
	free(recovery->children);
	free(recovery->workers);
}
#define cleanup_recovery CLEANUP(recovery_end)

static bool is_in_group(const struct store_row *row, const char *group)
{
	const char *own = or_empty(row->group);
	size_t length = group ? strlen(group) : 0;
	return !group || streq(own, group) || (starts_with(own, group) && own[length] == '/');
}

static bool is_wanted(const struct store_row *row, const struct recover_wish *wish)
{
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	if (row->damage)
		return !wish->group;
	if (row->desired != DESIRED_RUNNING || !is_in_group(row, wish->group) ||
	    (lifecycle_row_is_live(row) && row->rung != RUNG_SHELL &&
	     /* a restart that was killed, or is at work: then it is waited for */
	     row->state != STATE_STOPPING && !lifecycle_is_between(&row->server, &row->pane)))
		return false;
	lifecycle_view_row(row, &view);
	return !wish->only_error || view.state == STATE_ERROR;
}

/* A stop by somebody leaves no reason. */
static bool is_offer(const struct store_row *row, const struct recover_wish *wish)
{
	return !row->damage && !wish->only_error && row->desired == DESIRED_STOPPED &&
	       row->state == STATE_STOPPED && row->reason && is_in_group(row, wish->group);
}

static int by_use(const void *a, const void *b)
{
	const struct store_row *const *left = a, *const *right = b;
	int64_t first = (*left)->last_used_at, second = (*right)->last_used_at;
	return first > second ? -1 : first < second;
}

static void choose(struct recovery *recovery, const struct store_rows *rows)
{
	recovery->rows = xcalloc(rows->count + 1, sizeof(*recovery->rows));
	for (size_t i = 0; i < rows->count; i++) {
		const struct store_row *row = &rows->rows[i];
		recovery->counts.offers += is_offer(row, recovery->wish);
		if (is_wanted(row, recovery->wish))
			recovery->rows[recovery->counts.total++] = row;
	}
	qsort(recovery->rows, recovery->counts.total, sizeof(*recovery->rows), by_use);
}

static void count(struct recovery *recovery, const struct recover_row *row)
{
	struct recover_counts *counts = &recovery->counts;
	counts->done++;
	if (row->failed)
		counts->failed++;
	else if (row->outcome == REVIVED)
		counts->revived++;
	else if (row->outcome == REVIVE_ALIVE)
		counts->alive++;
	else
		counts->left++;
	recovery->progress(counts, row, recovery->context);
}

static void fail(struct recovery *recovery, const struct store_row *row, const char *why)
{
	count(recovery, &(struct recover_row){ .id = row->id, .title = row->title, .failed = true,
					       .error = why });
}

/* What the workers warn of is the same for many. */
static void keep_warnings(struct deck *deck, const char *text)
{
	static const char prefix[] = "agentdeck: warning: ";
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, prefix) &&
		    !strvec_contains(&deck->warnings, line + strlen(prefix)))
			strvec_push(&deck->warnings, line + strlen(prefix));
}

/* The answer of agentdeck revive. */
static void read_answer(struct recovery *recovery, const struct worker *worker,
			const struct child_result *result)
{
	cleanup_json struct json_object *object = NULL;
	struct recover_row row = { .id = worker->row->id, .title = worker->row->title,
				   .elapsed_ms = clock_ms() - worker->since_ms };
	const char *text = strbuf_text(&result->output);
	keep_warnings(recovery->deck, strbuf_text(&result->errors));
	if (json_parse(text, result->output.length, "agentdeck revive", &object, NULL) == 0) {
		row.error = json_get_string(object, "error", NULL);
		row.reason = json_get_string(object, "reason", NULL);
		row.rung = json_get_string(object, "rung", NULL);
		row.session_id = json_get_string(object, "session_id", NULL);
		row.note = json_get_string(object, "note", NULL);
		row.failed = row.error || !revive_outcome_parse(json_get_string(object, "outcome", ""),
								&row.outcome);
	}
	if (object && (row.error || !row.failed)) {
		count(recovery, &row);
		return;
	}
	cleanup_free char *words = child_last_words(result);
	cleanup_free char *why = xasprintf("agentdeck revive ended with status %d: %s",
					   result->exit_status, words);
	fail(recovery, worker->row, why);
}

/* Nothing: ours.  What cannot be read is told by the command itself. */
static void choose_environment(const struct recovery *recovery, const struct store_row *row, struct strvec *ret)
{
	cleanup_instance struct instance *instance = NULL;
	if (recovery->wish->kept_environment &&
	    store_load(recovery->deck->store, row->base, &instance, NULL) == 0)
		environment_of_kept(instance, ret);
}

static int start(struct recovery *recovery, const struct store_row *row, struct error *err)
{
	size_t slot = 0;
	const struct deck *deck = recovery->deck;
	cleanup_strvec struct strvec environment = { 0 };
	choose_environment(recovery, row, &environment);
	const struct child_request request = {
		.argv = (const char *const[]){ deck->program, "--profile", deck->profile, "revive", row->base,
					       recovery->wish->dry ? "--dry-run" : NULL, NULL },
		.environment = environment.items,
		/* Who interrupts the recovery has not asked for half a start. */
		.new_session = true,
	};
	while (recovery->children[slot].pid > 0)
		slot++;
	int r = child_start(&request, &recovery->children[slot], err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s is missing: install agentdeck again",
				 deck->program);
	if (r < 0)
		return -1;
	recovery->workers[slot] = (struct worker){ .row = row, .since_ms = clock_ms() };
	recovery->running++;
	return 0;
}

static int64_t next_deadline(const struct recovery *recovery)
{
	int64_t deadline = INT64_MAX;
	for (size_t i = 0; i < recovery->slots; i++)
		if (recovery->children[i].pid > 0 &&
		    recovery->workers[i].since_ms + WORKER_TIMEOUT_MS < deadline)
			deadline = recovery->workers[i].since_ms + WORKER_TIMEOUT_MS;
	return deadline;
}

/* Wait for one, and tell.  One that is silent for too long is ended: its start has a state that the next
 * start knows what to do about. */
static void finish_one(struct recovery *recovery)
{
	const int64_t deadline = next_deadline(recovery);
	size_t slot = child_wait_any(recovery->children, recovery->slots, deadline);
	for (size_t i = 0; slot == recovery->slots && i < recovery->slots; i++)
		if (recovery->children[i].pid > 0 &&
		    recovery->workers[i].since_ms + WORKER_TIMEOUT_MS <= deadline)
			slot = i;
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error why = { 0 };
	recovery->running--;
	if (child_finish(&recovery->children[slot], deadline, &result, &why) < 0)
		fail(recovery, recovery->workers[slot].row, why.message);
	else
		read_answer(recovery, &recovery->workers[slot], &result);
}

int recover_run(struct deck *deck, const struct recover_wish *wish, recover_progress progress,
		void *context, struct recover_counts *ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_recovery struct recovery recovery = {
		.deck = deck, .wish = wish, .progress = progress, .context = context,
		.slots = wish->jobs ? wish->jobs : recover_jobs(),
	};
	if (store_list(deck->store, &rows, err) < 0)
		return -1;
	choose(&recovery, &rows);
	recovery.children = xcalloc(recovery.slots, sizeof(*recovery.children));
	recovery.workers = xcalloc(recovery.slots, sizeof(*recovery.workers));
	progress(&recovery.counts, NULL, context);
	if (recovery.counts.total)
		log_info("recover%s: %zu sessions, %zu at a time", wish->dry ? " (dry run)" : "",
			 recovery.counts.total, recovery.slots);
	for (size_t next = 0; next < recovery.counts.total || recovery.running;) {
		bool may_start = next < recovery.counts.total && recovery.running < recovery.slots &&
				 !(recovery.running && memory_is_short());
		if (!may_start) {
			finish_one(&recovery);
			continue;
		}
		const struct store_row *row = recovery.rows[next++];
		cleanup_error struct error why = { 0 };
		if (row->damage)
			fail(&recovery, row, row->damage);
		else if (start(&recovery, row, &why) < 0)
			fail(&recovery, row, why.message);
	}
	*ret = recovery.counts;
	return 0;
}
