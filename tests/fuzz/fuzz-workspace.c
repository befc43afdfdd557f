/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The record of a tree, and the verdict of a process that a hostile tree may have taken over: what
 * is accepted is written again as the same, and no text of a verdict moves a terminal.
 */
#include "fuzz/fuzz.h"

#include "model/workspace/origin.h"
#include "model/workspace/verdict.h"

static void check_text(const struct verdict *verdict)
{
	cleanup_strbuf struct strbuf text = { 0 };
	verdict_add_text(verdict, &text);
	HOLDS(fuzz_is_clean(strbuf_text(&text), true));
	for (size_t i = 0; i < verdict->count; i++)
		HOLDS(!strchr(verdict->findings[i].name, '\n'));
}

static void check_verdict(const char *text, size_t size)
{
	cleanup_verdict struct verdict verdict = { 0 }, again = { 0 };
	struct error err = { 0 };
	if (verdict_parse(text, size, &verdict, &err) < 0) {
		HOLDS(!verdict.findings && !verdict.count);
		fuzz_failed(&err);
		return;
	}
	check_text(&verdict);
	cleanup_json struct json_object *json = verdict_to_json(&verdict);
	const char *written = json_print(json);
	HOLDS(verdict_parse(written, strlen(written), &again, NULL) == 0);
	HOLDS(verdict_is_safe(&again) == verdict_is_safe(&verdict));
	cleanup_json struct json_object *second = verdict_to_json(&again);
	HOLDS(streq(json_print(second), written));
}

static void check_origin(const char *text, size_t size)
{
	cleanup_origin struct origin origin = { 0 }, again = { 0 };
	struct error err = { 0 };
	if (origin_parse(text, size, &origin, &err) < 0) {
		HOLDS(!origin.source && !origin.refs);
		fuzz_failed(&err);
		return;
	}
	HOLDS(*origin.source == '/' && *origin.path == '/');
	cleanup_json struct json_object *json = origin_to_json(&origin);
	const char *written = json_print(json);
	HOLDS(origin_parse(written, strlen(written), &again, NULL) == 0);
	cleanup_json struct json_object *second = origin_to_json(&again);
	HOLDS(json_object_equal(json, second));
	for (size_t i = 0; i < origin.ref_count; i++)
		HOLDS(origin_ref(&origin, origin.refs[i].name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	check_verdict(text, size);
	check_origin(text, size);
	return 0;
}
