/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/recover.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "base/runner.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/roster/view.h"
#include "engine/run/need.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>

enum {
	/* A start waits up to 30 s for its lock, and up to 20 s for tmux on a machine that has just
	   booted. */
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

struct recovery {
	struct deck *deck;
	const struct recover_order *order;
	recover_progress progress;
	void *context;
	struct recover_counts counts;
	const struct store_row **rows; /* borrowed */
	struct loop *loop;
	size_t slots, running;
};

static void recovery_end(struct recovery *recovery)
{
	free(recovery->rows);
	loop_free(recovery->loop);
}
#define cleanup_recovery CLEANUP(recovery_end)

/* A session that is being restarted. */
struct worker {
	struct recovery *recovery;
	const struct store_row *row;
	int64_t since_ms;
};

static bool is_in_group(const struct store_row *row, const char *group)
{
	return !group || naming_is_in_group(row->group, group);
}

static bool is_wanted(const struct store_row *row, const struct recover_order *order)
{
	if (row->damage)
		return !order->group;
	const enum presence presence = place_presence(&row->run);
	const struct need_facts facts = {
		.state = row->state,
		.desired = row->desired,
		.presence = presence,
		.is_shell = row->rung == RUNG_SHELL,
		.is_between = presence == PRESENCE_ALIVE &&
			      place_is_between(&row->run.server, &row->run.pane),
		.lacks_window = place_lacks_window(&row->run),
	};
	const enum need need = need_of(&facts);
	const bool is_at_rest = need == NEED_NOTHING ||
				(need == NEED_REST && row->ending != ENDING_DUE);
	if (is_at_rest || !is_in_group(row, order->group))
		return false;
	cleanup_view struct view view = view_of(row);
	return !order->only_error || state_is_error(view.state);
}

/* A stop by a user leaves no reason. */
static bool is_offer(const struct store_row *row, const struct recover_order *order)
{
	return !row->damage && !order->only_error && row->reason && row->ending != ENDING_DUE &&
	       state_is_at_rest(row->state, row->desired) && is_in_group(row, order->group);
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
		recovery->counts.offers += is_offer(row, recovery->order);
		if (is_wanted(row, recovery->order))
			recovery->rows[recovery->counts.total++] = row;
	}
	qsort(recovery->rows, recovery->counts.total, sizeof(*recovery->rows), by_use);
}

static void count(struct recovery *recovery, const struct revive_result *result, int64_t elapsed_ms)
{
	struct recover_counts *counts = &recovery->counts;
	counts->done++;
	if (result->outcome == REVIVE_FAILED)
		counts->failed++;
	else if (result->outcome == REVIVED)
		counts->revived++;
	else if (result->outcome == REVIVE_ALIVE)
		counts->alive++;
	else
		counts->left++;
	counts->elsewhere += result->elsewhere;
	recovery->progress(counts, result, elapsed_ms, recovery->context);
}

static void fail(struct recovery *recovery, const struct store_row *row, const char *why)
{
	/* Borrowed: const for the callback. */
	const struct revive_result result = {
		.outcome = REVIVE_FAILED,
		.id = row->id,
		.title = row->title,
		.error = (char *)why,
	};
	count(recovery, &result, 0);
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

static void take_answer(const struct worker *worker, const struct child_result *answer)
{
	cleanup_revive_result struct revive_result result = { 0 };
	keep_warnings(worker->recovery->deck, strbuf_text(&answer->errors));
	revive_answer(answer, &result);
	/* The result of a session that was removed meanwhile has no name. */
	replace_string(&result.id, worker->row->id);
	replace_string(&result.title, worker->row->title);
	count(worker->recovery, &result, clock_ms() - worker->since_ms);
}

/* Nothing: ours.  The command itself reports what cannot be read. */
static void choose_environment(const struct recovery *recovery, const struct store_row *row,
			       struct strvec *ret)
{
	cleanup_instance struct instance *instance = NULL;
	if (recovery->order->kept_environment &&
	    store_load(recovery->deck->store, row->base, &instance, NULL) == 0)
		environment_of_kept(instance, ret);
}

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct worker *worker = context;
	worker->recovery->running--;
	if (result)
		take_answer(worker, result);
	else
		fail(worker->recovery, worker->row, failure->message);
}

/* A worker that is silent for too long is ended: the next start knows how to finish its state. */
static void start(struct recovery *recovery, const struct store_row *row)
{
	const struct deck *deck = recovery->deck;
	const char *more = recovery->order->takes_over ? "--take-over" : NULL;
	const char *dry = recovery->order->mode == REVIVE_TRIAL ? "--dry-run" : NULL;
	cleanup_strvec struct strvec environment = { 0 };
	choose_environment(recovery, row, &environment);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const[]){ deck->program, "--profile", deck->profile,
						       "revive", row->base,
						       dry ? dry : more, dry ? more : NULL, NULL },
			.environment = environment.items,
			/* An interrupt of the recovery must not leave half a start. */
			.new_session = true,
		},
		.timeout_ms = WORKER_TIMEOUT_MS,
	};
	struct worker *worker = xcalloc(1, sizeof(*worker));
	*worker = (struct worker){ recovery, row, clock_ms() };
	recovery->running++;
	runner_start(recovery->loop, &request, on_end, worker);
}

/* Each in its turn, as many at a time as there is room for. */
static int run(struct recovery *recovery, struct error *err)
{
	for (size_t next = 0; next < recovery->counts.total || recovery->running;) {
		const bool may_start = next < recovery->counts.total &&
				       recovery->running < recovery->slots &&
				       !(recovery->running && memory_is_short());
		if (!may_start) {
			if (loop_turn(recovery->loop, INT64_MAX, err) < 0)
				return -1;
			continue;
		}
		const struct store_row *row = recovery->rows[next++];
		if (row->damage)
			fail(recovery, row, row->damage);
		else
			start(recovery, row);
	}
	return 0;
}

int recover_run(struct deck *deck, const struct recover_order *order, recover_progress progress,
		void *context, struct recover_counts *ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_recovery struct recovery recovery = {
		.deck = deck,
		.order = order,
		.progress = progress,
		.context = context,
		.slots = order->jobs ? order->jobs : recover_jobs(),
	};
	if (loop_new(&recovery.loop, err) < 0 || store_list(deck->store, &rows, err) < 0)
		return -1;
	choose(&recovery, &rows);
	progress(&recovery.counts, NULL, 0, context);
	if (recovery.counts.total)
		log_info("recover%s: %zu sessions, %zu at a time",
			 order->mode == REVIVE_TRIAL ? " (dry run)" : "", recovery.counts.total,
			 recovery.slots);
	if (run(&recovery, err) < 0)
		return -1;
	*ret = recovery.counts;
	return 0;
}

/* NULL: it has none that can be read.  The caller puts it. */
static struct json_object *last_line(const char *text)
{
	struct json_object *object = NULL;
	size_t length = strlen(text);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	size_t start = length;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	(void)json_parse(text + start, length - start, "agentdeck recover", &object, NULL);
	return object;
}

/* A line about one session says why that one failed.  The caller frees. */
static char *why_failed(const struct child_result *result, const struct json_object *line)
{
	const bool is_of_one = json_get_string(line, "event", NULL);
	const char *why = is_of_one ? NULL : json_get_string(line, "error", NULL);
	if (why)
		return xstrdup(why);
	return result->errors.length
		       ? child_last_words(result)
		       : xasprintf("agentdeck recover ended with status %d and did not say why",
				   result->exit_status);
}

int recover_answer(const struct child_result *result, struct recover_counts *ret, struct error *err)
{
	cleanup_json struct json_object *line = last_line(strbuf_text(&result->output));
	if (!streq(json_get_string(line, "event", ""), "summary")) {
		cleanup_free char *why = why_failed(result, line);
		return error_set(err, ERROR_CHILD, "%s", why);
	}
	*ret = (struct recover_counts){
		.total = (size_t)json_get_int(line, "total", 0),
		.revived = (size_t)json_get_int(line, "revived", 0),
		.alive = (size_t)json_get_int(line, "running", 0),
		.left = (size_t)json_get_int(line, "left", 0),
		.elsewhere = (size_t)json_get_int(line, "elsewhere", 0),
		.failed = (size_t)json_get_int(line, "failed", 0),
		.offers = (size_t)json_get_int(line, "ended_by_themselves", 0),
	};
	ret->done = ret->total;
	return 0;
}
