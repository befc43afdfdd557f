/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/output.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/helper.h"
#include "engine/terminal/kind.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

void say_to(FILE *out, char *line)
{
	cleanup_free char *text = line;
	cleanup_free char *shown = visible(text);
	fprintf(out, "%s\n", shown);
}

bool output_is_ascii(const struct app *app)
{
	return app->deck.settings.ui_ascii || !streq(nl_langinfo(CODESET), "UTF-8");
}

void settle_terminal(void)
{
	cleanup_free char *note = terminal_settle_kind();
	if (note)
		complain("%s", note);
}

int give_terminal(const struct app *app, const char *name, const struct strvec *words,
		  struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int status;
	if (!app->once)
		return helper_become(name, words, err);
	if (helper_argv(name, words, &argv, err) < 0)
		return -1;
	const int r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status,
				       err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s does not run", argv.items[0]);
	return r < 0 ? -1 : status;
}

int print_done(const struct app *app, struct json_object *object, char *line)
{
	cleanup_json struct json_object *result = object;
	cleanup_free char *text = line;
	if (app->json)
		print_json(result);
	else if (!app->quiet)
		say_to(stdout, TAKE_PTR(text));
	return 0;
}

void print_warnings(struct app *app)
{
	for (size_t i = 0; i < app->deck.warnings.count; i++)
		complain("warning: %s", app->deck.warnings.items[i]);
	strvec_clear(&app->deck.warnings);
}

/* End as a write would: by SIGPIPE; -1 where that is ignored. */
static int end_unread(struct error *err)
{
	(void)raise(SIGPIPE);
	return error_set(err, ERROR_SYSTEM, "standard output is closed");
}

int output_wait(int fd, int64_t deadline_ms, struct error *err)
{
	/* poll(2) tells POLLERR and POLLHUP without being asked. */
	struct pollfd sources[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	const int timeout = deadline_ms == INT64_MAX ? -1 : clock_left_ms(deadline_ms);
	if (poll(sources, ARRAY_SIZE(sources), timeout) < 0)
		return errno == EINTR ? 0 : error_set_errno(err, errno, "wait");
	return sources[1].revents ? end_unread(err) : 0;
}

int output_turn(struct loop *loop, int64_t deadline_ms, struct error *err)
{
	int r = loop_turn(loop, 0, err);
	if (r == 0 && output_wait(loop_descriptor(loop), deadline_ms, err) < 0)
		return -1;
	for (r = r < 0 ? r : 1; r > 0;)
		r = loop_turn(loop, 0, err);
	return r;
}

enum { PRINT_SIZE = 64 << 10 };

void print_written(struct json_writer *writer)
{
	if (writer->text.length < PRINT_SIZE)
		return;
	fwrite(writer->text.data, 1, writer->text.length, stdout);
	writer->text.length = 0;
}

void print_json(struct json_object *object)
{
	cleanup_json_writer struct json_writer writer = { 0 };
	json_stamp(object);
	json_write_value(&writer, NULL, object);
	puts(writer.text.data);
}

void print_json_line_to(FILE *out, struct json_object *object)
{
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	json_stamp(object);
	json_write_value(&writer, NULL, object);
	fprintf(out, "%s\n", writer.text.data);
}

void print_json_line(struct json_object *object)
{
	print_json_line_to(stdout, object);
}

void print_json_element(struct json_object *object, size_t index)
{
	cleanup_json_writer struct json_writer writer = { .depth = 1, .has_members = index > 0 };
	json_stamp(object);
	json_write_value(&writer, NULL, object);
	fputs(index ? "" : "[", stdout);
	fputs(writer.text.data, stdout);
}

void print_json_end(size_t count)
{
	puts(count ? "\n]" : "[\n]");
}
