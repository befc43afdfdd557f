/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/assess/assess.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/helper.h"

#include <string.h>

/* AGAIN_MS: if the answer came sooner than that, it may be asked for again. */
enum { OUTPUT_MOST = ORIGIN_JSON_MOST, AGAIN_MS = 3000, TRIES = 3, SHA256_LENGTH = 64 };

static int find_program(char **ret, struct error *err)
{
	const char *chosen = getenv(ASSESS_PROGRAM_VARIABLE);
	cleanup_free char *own = helper_own_program();
	if (is_empty(chosen))
		return helper_find(own, "agentdeck-assess", ret, err);
	*ret = xstrdup(chosen);
	return 0;
}

/* Run it with the record as input.  Its status is 0. */
static int ask(const char *word, const struct origin *origin, int timeout_ms,
	       struct child_result *ret, struct error *err)
{
	char *const environment[] = { (char[]){ "LC_ALL=C" }, NULL };
	cleanup_free char *program = NULL;
	if (strlen(or_empty(origin->base)) == SHA256_LENGTH)
		return error_set(err, ERROR_INVALID,
				 "its objects have SHA-256 names, which libgit2 cannot read");
	if (find_program(&program, err) < 0)
		return -1;
	const char *const argv[] = { program, word, NULL };
	cleanup_json struct json_object *json = origin_to_json(origin);
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = argv,
		.environment = environment,
		.input = json_print(json),
		.input_length = strlen(json_print(json)),
		.max_output = OUTPUT_MOST,
	};
	int r = child_run(&request, timeout_ms, &result, err);
	if (r < 0)
		return -1;
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "agentdeck-assess is not installed");
	if (result.exit_status > 128)
		return error_set(err, ERROR_CHILD, "agentdeck-assess was killed by signal %d",
				 result.exit_status - 128);
	if (result.exit_status != 0) {
		static const char own[] = "agentdeck-assess: ";
		cleanup_free char *words = child_last_words(&result);
		if (starts_with(words, own))
			return error_set(err, ERROR_CHILD, "%s", words + strlen(own));
		return error_set(err, ERROR_CHILD, "agentdeck-assess failed with status %d: %s",
				 result.exit_status, words);
	}
	*ret = result;
	result = (struct child_result){ 0 };
	return 0;
}

static void ask_verdict(const char *word, const struct origin *origin, int timeout_ms,
			struct verdict *ret)
{
	cleanup_error struct error err = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	struct verdict verdict = { 0 };
	if (ask(word, origin, timeout_ms, &result, &err) < 0 ||
	    verdict_parse(strbuf_text(&result.output), result.output.length, &verdict, &err) < 0)
		verdict_unknown(&verdict, "", "%s", err.message);
	*ret = verdict;
}

/* `git gc`, or another command of git's in the tree, makes it unreadable for a moment. */
static void ask_again(const char *word, const struct origin *origin, int timeout_ms,
		      struct verdict *ret)
{
	const int64_t begin = clock_ms();
	struct verdict verdict = { 0 };
	ask_verdict(word, origin, timeout_ms, &verdict);
	for (int i = 1;
	     i < TRIES && verdict_has(&verdict, FINDING_UNKNOWN) && clock_ms() - begin < AGAIN_MS;
	     i++) {
		verdict_free(&verdict);
		ask_verdict(word, origin, timeout_ms, &verdict);
	}
	*ret = verdict;
}

void assess_verdict(const struct origin *origin, int timeout_ms, struct verdict *ret)
{
	ask_again("verdict", origin, timeout_ms, ret);
}

void assess_branch(const struct origin *origin, int timeout_ms, struct verdict *ret)
{
	ask_again("branch", origin, timeout_ms, ret);
}

int assess_changes(const struct origin *origin, bool with_diff, int timeout_ms, struct changes *ret,
		   struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	return ask(with_diff ? "diff" : "changes", origin, timeout_ms, &result, err) < 0 ||
			       changes_parse(strbuf_text(&result.output), result.output.length, ret,
					     err) < 0
		       ? -1
		       : 0;
}

int assess_origin(struct origin *origin, int timeout_ms, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct origin complete = { 0 };
	if (ask("record", origin, timeout_ms, &result, err) < 0 ||
	    origin_parse(strbuf_text(&result.output), result.output.length, &complete, err) < 0)
		return -1;
	origin_free(origin);
	*origin = complete;
	return 0;
}
