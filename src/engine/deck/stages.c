/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/stages.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY "logs"
#define SUFFIX    ".log"

enum { ID_LENGTH = sizeof("20261127-080501-123456") - 1, SECOND_US = 1000000, SECOND_MS = 1000 };

struct stages {
	char *id;
	struct strbuf text; /* what is said before there is a file */
	int fd;             /* -1: there is none (yet) */
	bool is_inside;     /* a stage has begun */
	enum stage now;
	int64_t begun_ms, since_ms, ms[STAGE_COUNT];
};

static const char *stage_name(enum stage stage)
{
	static const char *const names[STAGE_COUNT] = {
		[STAGE_IDENTITY] = "identity",
		[STAGE_ROLE] = "role",
		[STAGE_CREDENTIALS] = "credentials",
		[STAGE_BASE] = "base",
		[STAGE_AGENT] = "agent",
		[STAGE_IMAGE] = "image",
		[STAGE_WORKSPACE] = "workspace",
		[STAGE_NETWORK] = "network",
		[STAGE_SIDECAR] = "sidecar",
		[STAGE_CAPSULE] = "capsule",
		[STAGE_WINDOW] = "window",
	};
	return names[stage];
}

/* ---- the file -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names sort by their times. */
static void drop_oldest(int directory)
{
	cleanup_strvec struct strvec names = { 0 }, ours = { 0 };
	if (fs_list(directory, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (strlen(names.items[i]) == ID_LENGTH + strlen(SUFFIX) &&
		    ends_with(names.items[i], SUFFIX))
			strvec_push(&ours, names.items[i]);
	if (ours.count)
		qsort(ours.items, ours.count, sizeof(*ours.items), compare);
	for (size_t i = 0; i + STAGES_KEPT < ours.count; i++)
		(void)unlinkat(directory, ours.items[i], 0);
}

static void write_text(struct stages *stages)
{
	if (fs_write_all(stages->fd, strbuf_text(&stages->text), stages->text.length, DIRECTORY,
			 NULL) == 0)
		stages->text.length = 0;
}

/* A run continues without a file. */
static void open_file(const struct deck *deck, struct stages *stages)
{
	cleanup_error struct error err = { 0 };
	cleanup_close int directory = -1;
	cleanup_free char *name = xasprintf("%s" SUFFIX, stages->id);
	if (!deck->store || fs_open_private_directory_at(store_state_directory(deck->store),
							 DIRECTORY, true, &directory, &err) < 0)
		goto without;
	stages->fd = fs_openat(directory, name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	drop_oldest(directory);
without:
	if (stages->fd < 0)
		log_warning("the stages of %s are not written down: %s", stages->id,
			    err.message ? err.message : "its file cannot be made");
}

static void add_line(struct stages *stages, const char *line)
{
	char now[CLOCK_TEXT_SIZE];
	strbuf_addf(&stages->text, "%s %s\n", clock_format(clock_wall_us(), now), line);
	if (stages->fd >= 0)
		write_text(stages);
}

/* ---- the stages ------------------------------------------------------------------------------ */

static void tell(const struct deck *deck, const struct stage_news *news)
{
	if (deck->on_stage)
		deck->on_stage(news);
}

static void leave(const struct deck *deck, struct stages *stages, bool is_failure)
{
	if (!stages->is_inside)
		return;
	const int64_t ms = clock_ms() - stages->since_ms;
	cleanup_free char *line = xasprintf("%s: %s after %.3f s", stage_name(stages->now),
					    is_failure ? "failed" : "done", (double)ms / SECOND_MS);
	stages->ms[stages->now] += ms;
	stages->is_inside = false;
	add_line(stages, line);
	tell(deck, &(struct stage_news){ .run = stages->id,
					 .text = stage_name(stages->now),
					 .is_end = true,
					 .is_failure = is_failure,
					 .ms = ms });
}

int stages_begin(struct deck *deck)
{
	const int64_t now_us = clock_wall_us();
	const time_t seconds = (time_t)(now_us / SECOND_US);
	struct tm parts;
	char text[ID_LENGTH + 1];
	if (deck->stages)
		return STAGES_ELSEWHERE;
	struct stages *stages = xcalloc(1, sizeof(*stages));
	stages->fd = -1;
	stages->begun_ms = clock_ms();
	(void)strftime(text, sizeof(text), "%Y%m%d-%H%M%S", gmtime_r(&seconds, &parts));
	stages->id = xasprintf("%s-%06d", text, (int)(now_us % SECOND_US));
	deck->stages = stages;
	return 0;
}

void stages_enter(struct deck *deck, enum stage stage)
{
	struct stages *stages = deck->stages;
	if (!stages || (stages->is_inside && stages->now == stage))
		return;
	leave(deck, stages, false);
	stages->now = stage;
	stages->is_inside = true;
	stages->since_ms = clock_ms();
	if (stages->fd < 0 && stage >= STAGE_IMAGE)
		open_file(deck, stages);
	add_line(stages, stage_name(stage));
	tell(deck, &(struct stage_news){ .run = stages->id,
					 .text = stage_name(stage),
					 .is_slow = stage == STAGE_IMAGE,
					 .ms = stages->since_ms - stages->begun_ms });
}

void stages_say(const struct deck *deck, const char *line)
{
	if (deck->stages)
		add_line(deck->stages, line);
}

/* "role 0.1 s, image 12.9 s": what took no time is left out. */
static void summarize(const struct stages *stages, struct strbuf *ret)
{
	enum { LEAST_MS = 50 };
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		if (stages->ms[i] >= LEAST_MS)
			strbuf_addf(ret, "%s%s %.1f s", ret->length ? ", " : "", stage_name(i),
				    (double)stages->ms[i] / SECOND_MS);
}

static void name_file(const struct deck *deck, const struct stages *stages, struct error *err)
{
	cleanup_free char *message = TAKE_PTR(err->message);
	const enum error_code code = err->code;
	error_clear(err);
	(void)error_set(err, code,
			"%s (the stage was %s; %s/" DIRECTORY "/%s" SUFFIX " has all of it)",
			message, stage_name(stages->now), deck->paths.state, stages->id);
}

void stages_end(struct deck *deck, struct error *err)
{
	struct stages *stages = deck->stages;
	cleanup_strbuf struct strbuf all = { 0 };
	if (!stages)
		return;
	leave(deck, stages, err != NULL);
	summarize(stages, &all);
	tell(deck, &(struct stage_news){ .run = stages->id,
					 .text = strbuf_text(&all),
					 .is_end = true,
					 .is_failure = err != NULL,
					 .is_last = true,
					 .ms = clock_ms() - stages->begun_ms });
	if (err && err->message && stages->fd >= 0) {
		add_line(stages, err->message);
		name_file(deck, stages, err);
	}
	if (stages->fd >= 0)
		(void)close(stages->fd);
	strbuf_free(&stages->text);
	free(stages->id);
	free(stages);
	deck->stages = NULL;
}
