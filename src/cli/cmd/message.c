/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/message.h"

#include "base/fsutil.h"
#include "model/agent/display.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* More may be read than is pasted, since control characters are removed. */
enum { READ_MAX = DELIVER_MAX + (1 << 20) };

/* A named pipe or a symbolic link is fine, since the user names it. */
static int read_file(const char *file, struct strbuf *ret, struct error *err)
{
	if (streq(file, "-"))
		return fs_read_fd(STDIN_FILENO, "standard input", READ_MAX, ret, err);
	cleanup_free char *shown = visible(file);
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", shown);
	return fs_read_fd(fd, shown, READ_MAX, ret, err);
}

int message_read(const char *text, const char *file, struct strbuf *ret, struct error *err)
{
	cleanup_strbuf struct strbuf raw = { 0 }, clean = { 0 };
	if (text && file)
		return error_set(err, ERROR_USAGE,
				 "give the message as words or as a file, not both");
	if (!text && !file)
		return error_set(err, ERROR_USAGE,
				 "the message is missing: write it after the session, use "
				 "--message-file FILE, or write - for standard input");
	if (!file && streq(text, "-"))
		file = "-";
	if (file && read_file(file, &raw, err) < 0)
		return -1;
	size_t removed = file ? display_clean(strbuf_text(&raw), raw.length, &clean)
			      : display_clean(text, strlen(text), &clean);
	while (clean.length && clean.data[clean.length - 1] == '\n')
		clean.data[--clean.length] = '\0';
	if (strspn(strbuf_text(&clean), " \t\n") == clean.length)
		return error_set(err, ERROR_USAGE, "the message is empty");
	if (clean.length > DELIVER_MAX)
		return error_set(err, ERROR_USAGE,
				 "the message has %zu bytes, and the limit is %d: put it into a "
				 "file and send the agent its name",
				 clean.length, DELIVER_MAX);
	if (removed)
		fprintf(stderr,
			"agentdeck: removed %zu bytes of control characters from the message\n",
			removed);
	*ret = clean;
	clean = (struct strbuf){ 0 };
	return 0;
}

/* Say in one clause what happened to the message, and what to do.  The caller frees. */
static char *explain(const char *hint, const struct delivery_result *result)
{
	const char *reason = or_empty(result->reason);
	switch (result->delivery) {
	case DELIVERY_NOT_READY:
		return xasprintf(
			"not sent, not ready: %s. Look with agentdeck attach %s, and send it again",
			reason, hint);
	case DELIVERY_DRAFT:
		return xasprintf(
			"not sent, %s. Send or delete it yourself (agentdeck attach %s), or use "
			"session send --replace-draft",
			reason, hint);
	case DELIVERY_TYPED:
		return xasprintf(
			"typed and not submitted, %s. Press Enter yourself: agentdeck attach %s",
			reason, hint);
	case DELIVERY_UNVERIFIED:
		return xasprintf(
			"sent, but not proven: %s. Look with agentdeck session output %s --pane "
			"before you send it again",
			reason, hint);
	default:
		return xasprintf("not sent, %s. Look with agentdeck session show %s", reason, hint);
	}
}

void message_add_json(struct json_object *object, const char *hint,
		      const struct delivery_result *result)
{
	json_set_string(object, "delivery", delivery_name(result->delivery));
	json_set_string(object, "session_id", result->session_id);
	if (result->delivery == DELIVERY_SUBMITTED)
		return;
	cleanup_free char *text = explain(hint, result);
	json_set_bool(object, "success", false);
	json_set_string(object, "error", text);
	json_set_string(object, "code", error_code_name(ERROR_DELIVERY));
}

int message_judge(const char *title, const char *hint, const struct delivery_result *result,
		  struct error *err)
{
	if (result->delivery == DELIVERY_SUBMITTED)
		return 0;
	cleanup_free char *shown = visible(title);
	cleanup_free char *text = explain(hint, result);
	return error_set(err, ERROR_DELIVERY, "%s: %s", shown, text);
}
