/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/hooks.h"

#include "base/child.h"
#include "base/fsutil.h"

#include <fcntl.h>
#include <regex.h>
#include <string.h>

enum { MAX_SETTINGS = 1 << 20 };

int hooks_load(const char *path, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *settings = NULL;
	int r = fs_read(AT_FDCWD, path, MAX_SETTINGS, &text, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "Settings file not found: %s", path);
	if (r < 0 || json_parse(text.data, text.length, path, &settings, err) < 0)
		return -1;
	if (!json_matches(settings, "disableAllHooks=true"))
		*ret = json_object_get(json_get_object(settings, "hooks"));
	return 0;
}

static bool fits(const char *matcher, const char *subject)
{
	regex_t pattern;
	if (is_empty(matcher) || streq(matcher, "*"))
		return true;
	cleanup_free char *whole = xasprintf("^(%s)$", matcher);
	if (regcomp(&pattern, whole, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	bool found = regexec(&pattern, subject, 0, NULL, 0) == 0;
	regfree(&pattern);
	return found;
}

static void run_one(const char *command, const char *input, int timeout_ms)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "/bin/sh", "-c", command, NULL },
		.input = input,
		.input_length = strlen(input),
	};
	(void)child_run(&request, timeout_ms, &result, NULL);
}

void hooks_run(const struct json_object *hooks, const char *event, const char *subject,
	       struct json_object *payload, int timeout_ms)
{
	const struct json_object *groups = json_get_array(hooks, event);
	size_t group_count = groups ? json_object_array_length(groups) : 0;
	const char *input = json_object_to_json_string_ext(
		payload, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	for (size_t i = 0; i < group_count; i++) {
		const struct json_object *group = json_object_array_get_idx(groups, i);
		const struct json_object *commands = json_get_array(group, "hooks");
		if (!commands || !fits(json_get_string(group, "matcher", NULL), subject))
			continue;
		for (size_t k = 0; k < json_object_array_length(commands); k++) {
			const struct json_object *hook = json_object_array_get_idx(commands, k);
			const char *command = json_get_string(hook, "command", NULL);
			if (command && streq(json_get_string(hook, "type", ""), "command"))
				run_one(command, input, timeout_ms);
		}
	}
}
