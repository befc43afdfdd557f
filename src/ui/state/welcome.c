/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/welcome.h"

#include "base/jsonio.h"

#include <inttypes.h>
#include <string.h>

#define NOTHING "nothing on this machine"
#define UNKNOWN "unknown: the look failed"

void welcome_free(struct welcome *welcome)
{
	for (size_t i = 0; i < OFFER_COUNT; i++)
		free(welcome->details[i]);
	free(welcome->source);
	*welcome = (struct welcome){ 0 };
}

const char *welcome_label(enum welcome_row row)
{
	static const char *const labels[OFFER_COUNT] = {
		[OFFER_NEW] = "Start an agent here",
		[OFFER_DISCOVER] = "Take over a conversation",
		[OFFER_IMPORT] = "Import from another tool",
		[OFFER_DEMO] = "Try it without a model",
	};
	return labels[row];
}

bool welcome_has_nothing(const struct welcome *welcome)
{
	return streq(or_empty(welcome->details[welcome->at]), NOTHING);
}

/* How many are in this array of the answer, *ret, which may be NULL.  *ret_none: what to say if
 * there are none. */
static size_t count_in(const char *text, const char *name, struct json_object **ret,
		       const char **ret_none)
{
	*ret_none = UNKNOWN;
	if (!text || json_parse(text, strlen(text), "agentdeck", ret, NULL) < 0 ||
	    !json_object_is_type(*ret, json_type_object))
		return 0;
	struct json_object *array = json_get_array(*ret, name);
	/* import says so where no program has any. */
	if (array || streq(json_get_string(*ret, "code", ""), error_code_name(ERROR_NOT_FOUND)))
		*ret_none = NOTHING;
	return array ? json_object_array_length(array) : 0;
}

void welcome_set_conversations(struct welcome *welcome, const char *text)
{
	cleanup_json struct json_object *answer = NULL;
	const char *none;
	const size_t count = count_in(text, "conversations", &answer, &none);
	cleanup_free char *told = count ? xasprintf("%zu%s on this machine", count,
						    json_get_bool(answer, "has_more", false)
							    ? " or more"
							    : "")
					: xstrdup(none);
	replace_string(&welcome->details[OFFER_DISCOVER], told);
}

void welcome_set_sources(struct welcome *welcome, const char *text)
{
	cleanup_json struct json_object *answer = NULL;
	cleanup_strbuf struct strbuf told = { 0 };
	const char *none;
	const size_t count = count_in(text, "sources", &answer, &none);
	struct json_object *array = count ? json_get_array(answer, "sources") : NULL;
	for (size_t i = 0; i < count; i++) {
		struct json_object *source = json_object_array_get_idx(array, i);
		const int64_t sessions = json_get_int(source, "sessions", 0);
		const char *name = json_get_string(source, "name", "");
		strbuf_addf(&told, "%s%s: %" PRId64 " session%s", i ? ", " : "", name, sessions,
			    sessions == 1 ? "" : "s");
		replace_string(&welcome->source, count == 1 ? name : NULL);
	}
	cleanup_free char *shown = visible(count ? strbuf_text(&told) : none);
	replace_string(&welcome->details[OFFER_IMPORT], shown);
}
