/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workspace/verdict.h"

#include "base/sha256.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { SCHEMA = 1 };

static const struct {
	const char *word, *heading;
} kinds[] = {
	[FINDING_UNKNOWN] = { "unknown", "not known" },
	[FINDING_FILE] = { "file", "file" },
	[FINDING_STATE] = { "state", "in progress" },
	[FINDING_STASH] = { "stash", "stash" },
	[FINDING_BRANCH] = { "branch", "branch" },
	[FINDING_DETACHED] = { "detached", "detached HEAD" },
	[FINDING_REF] = { "ref", "ref" },
	[FINDING_REFLOG] = { "reflog", "only in the log" },
	[FINDING_CONTENT] = { "content", "stored outside of git's objects" },
	[FINDING_IGNORED] = { "ignored", "ignored" },
	[FINDING_KEPT_STASH] = { "kept-stash", "stash that stays in the source repository" },
	[FINDING_KEPT_LOG] = { "kept-log", "in the log of a branch that stays" },
	[FINDING_MERGED] = { "merged", "merged" },
};
_Static_assert(ARRAY_SIZE(kinds) == FINDING_KIND_COUNT, "a kind without a word");

bool finding_is_loss(enum finding_kind kind)
{
	return kind < FINDING_IGNORED;
}

const char *finding_kind_name(enum finding_kind kind)
{
	assert((size_t)kind < FINDING_KIND_COUNT);
	return kinds[kind].word;
}

enum finding_kind finding_kind_of_name(const char *name)
{
	int i = 0;
	while (i < FINDING_KIND_COUNT && !streq(kinds[i].word, name))
		i++;
	return (enum finding_kind)i;
}

bool verdict_has(const struct verdict *verdict, enum finding_kind kind)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (verdict->findings[i].kind == kind)
			return true;
	return verdict->more[kind] > 0;
}

bool verdict_is_safe(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (finding_is_loss(verdict->findings[i].kind))
			return false;
	return true;
}

static size_t count_of(const struct verdict *verdict, enum finding_kind kind)
{
	size_t count = 0;
	for (size_t i = 0; i < verdict->count; i++)
		count += verdict->findings[i].kind == kind;
	return count;
}

/* Cut before a character, not in one. */
static char *shown(const char *text)
{
	cleanup_free char *part = xstrndup(or_empty(text), VERDICT_TEXT_MOST + 1);
	char *whole = visible(part);
	size_t length = strlen(whole);
	if (length <= VERDICT_TEXT_MOST)
		return whole;
	for (length = VERDICT_TEXT_MOST - 3; length > 0 && (whole[length] & 0xc0) == 0x80;)
		length--;
	memcpy(whole + length, "...", sizeof("..."));
	return whole;
}

void verdict_add(struct verdict *verdict, enum finding_kind kind, const char *where,
		 const char *name, const char *detail)
{
	if (count_of(verdict, kind) >= VERDICT_MOST) {
		verdict->more[kind]++;
		return;
	}
	verdict->findings = xreallocarray(verdict->findings, verdict->count + 1,
					  sizeof(*verdict->findings));
	verdict->findings[verdict->count++] = (struct finding){
		.kind = kind,
		.where = shown(where),
		.name = shown(name),
		.detail = shown(detail),
	};
}

void verdict_unknown(struct verdict *verdict, const char *where, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *why = xvasprintf(format, args);
	va_end(args);
	verdict_add(verdict, FINDING_UNKNOWN, where, "", why);
}

void verdict_free(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->count; i++) {
		free(verdict->findings[i].where);
		free(verdict->findings[i].name);
		free(verdict->findings[i].detail);
	}
	free(verdict->findings);
	*verdict = (struct verdict){ 0 };
}

/* ---- JSON ---- */

static struct json_object *finding_to_json(const struct finding *finding)
{
	struct json_object *json = json_object_new_object();
	json_set_string(json, "kind", finding_kind_name(finding->kind));
	json_set_string(json, "where", finding->where);
	json_set_string(json, "name", finding->name);
	json_set_string(json, "detail", finding->detail);
	return json;
}

struct json_object *verdict_to_json(const struct verdict *verdict)
{
	struct json_object *json = json_object_new_object();
	json_set_int(json, "schema", SCHEMA);
	json_set_string(json, "verdict", verdict_is_safe(verdict) ? "safe" : "unsafe");
	struct json_object *findings = json_object_new_array();
	for (size_t i = 0; i < verdict->count; i++)
		json_object_array_add(findings, finding_to_json(&verdict->findings[i]));
	json_set(json, "findings", findings);
	struct json_object *more = json_make_object(json, "more");
	for (int i = 0; i < FINDING_KIND_COUNT; i++)
		if (verdict->more[i])
			json_set_int(more, kinds[i].word, verdict->more[i]);
	struct json_object *confinement = json_make_object(json, "confinement");
	json_set_bool(confinement, "landlock", verdict->confinement.landlock);
	json_set_bool(confinement, "seccomp", verdict->confinement.seccomp);
	return json;
}

static int finding_from_json(struct verdict *verdict, struct json_object *json, struct error *err)
{
	const char *word = json_get_string(json, "kind", NULL);
	const char *where = json_get_string(json, "where", NULL);
	const char *name = json_get_string(json, "name", NULL);
	const char *detail = json_get_string(json, "detail", NULL);
	if (!word || !where || !name || !detail || finding_kind_of_name(word) == FINDING_KIND_COUNT)
		return error_set(err, ERROR_CORRUPT, "verdict: an invalid finding");
	enum finding_kind kind = finding_kind_of_name(word);
	if (count_of(verdict, kind) >= VERDICT_MOST)
		return error_set(err, ERROR_CORRUPT, "verdict: too many findings of one kind");
	verdict_add(verdict, kind, where, name, detail);
	return 0;
}

static int more_from_json(struct verdict *verdict, struct json_object *json, struct error *err)
{
	for (int i = 0; i < FINDING_KIND_COUNT; i++) {
		int64_t more = json_get_int(json, kinds[i].word, 0);
		if (more < 0 || (more && count_of(verdict, (enum finding_kind)i) != VERDICT_MOST))
			return error_set(err, ERROR_CORRUPT, "verdict: an impossible count");
		verdict->more[i] = more;
	}
	return 0;
}

static int from_json(struct verdict *verdict, struct json_object *json, struct error *err)
{
	const char *word = json_get_string(json, "verdict", "");
	struct json_object *findings = json_get_array(json, "findings");
	if (json_get_int(json, "schema", 0) != SCHEMA || !findings ||
	    (!streq(word, "safe") && !streq(word, "unsafe")))
		return error_set(err, ERROR_CORRUPT, "verdict: not a verdict");
	for (size_t i = 0; i < json_object_array_length(findings); i++)
		if (finding_from_json(verdict, json_object_array_get_idx(findings, i), err) < 0)
			return -1;
	if (more_from_json(verdict, json_get_object(json, "more"), err) < 0)
		return -1;
	struct json_object *confinement = json_get_object(json, "confinement");
	verdict->confinement.landlock = json_get_bool(confinement, "landlock", false);
	verdict->confinement.seccomp = json_get_bool(confinement, "seccomp", false);
	if (verdict_is_safe(verdict) != streq(word, "safe"))
		return error_set(err, ERROR_CORRUPT, "verdict: it contradicts its findings");
	return 0;
}

int verdict_parse(const char *text, size_t length, struct verdict *ret, struct error *err)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_verdict struct verdict verdict = { 0 };
	if (length > VERDICT_JSON_MOST)
		return error_set(err, ERROR_CORRUPT, "verdict: over %d bytes", VERDICT_JSON_MOST);
	if (json_parse(text, length, "verdict", &json, err) < 0 ||
	    from_json(&verdict, json, err) < 0)
		return -1;
	*ret = verdict;
	verdict = (struct verdict){ 0 };
	return 0;
}

/* ---- text ---- */

static void add_line(const struct finding *finding, struct strbuf *buf)
{
	strbuf_addf(buf, "%s: ", kinds[finding->kind].heading);
	if (*finding->where)
		strbuf_addf(buf, "in %s: ", finding->where);
	strbuf_addf(buf, "%s%s%s\n", finding->name, *finding->name && *finding->detail ? ": " : "",
		    finding->detail);
}

char *verdict_line(const struct verdict *verdict)
{
	cleanup_strbuf struct strbuf text = { 0 };
	verdict_add_text(verdict, &text);
	for (size_t i = 0; i < text.length; i++)
		if (text.data[i] == '\n')
			text.data[i] = ';';
	return xstrdup(strbuf_text(&text));
}

const char *verdict_claim(const struct verdict *verdict)
{
	for (int kind = FINDING_UNKNOWN + 1; kind < FINDING_IGNORED; kind++)
		if (verdict_has(verdict, (enum finding_kind)kind))
			return "has work that exists nowhere else";
	return "may have work that exists nowhere else";
}

static void add_texts(const struct verdict *verdict, int end, struct strbuf *buf)
{
	for (int kind = 0; kind < end; kind++) {
		for (size_t i = 0; i < verdict->count; i++)
			if ((int)verdict->findings[i].kind == kind)
				add_line(&verdict->findings[i], buf);
		if (verdict->more[kind])
			strbuf_addf(buf, "%s: and %" PRId64 " more\n", kinds[kind].heading,
				    verdict->more[kind]);
	}
}

void verdict_add_text(const struct verdict *verdict, struct strbuf *buf)
{
	add_texts(verdict, FINDING_KIND_COUNT, buf);
}

void verdict_add_losses(const struct verdict *verdict, struct strbuf *buf)
{
	_Static_assert(FINDING_IGNORED == FINDING_CONTENT + 1, "what is no loss comes last");
	add_texts(verdict, FINDING_IGNORED, buf);
}

char *verdict_digest(const struct verdict *verdict)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_strbuf struct strbuf text = { 0 };
	verdict_add_losses(verdict, &text);
	return xstrdup(sha256_text(strbuf_text(&text), digest));
}

/* The words for losses, by kind: one, and several. */
static const char *const counted[FINDING_IGNORED][2] = {
	[FINDING_UNKNOWN] = { "thing not known", "things not known" },
	[FINDING_FILE] = { "file", "files" },
	[FINDING_STATE] = { "operation in progress", "operations in progress" },
	[FINDING_STASH] = { "stash", "stashes" },
	[FINDING_BRANCH] = { "branch", "branches" },
	[FINDING_DETACHED] = { "detached HEAD", "detached HEADs" },
	[FINDING_REF] = { "ref", "refs" },
	[FINDING_REFLOG] = { "commit in the log", "commits in the log" },
	[FINDING_CONTENT] = { "store of large files", "stores of large files" },
};

char *verdict_count_text(const struct verdict *verdict)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t kind = 0; kind < ARRAY_SIZE(counted); kind++) {
		const int64_t count = (int64_t)count_of(verdict, (enum finding_kind)kind) +
				      verdict->more[kind];
		if (count)
			strbuf_addf(&text, "%s%" PRId64 " %s", text.length ? ", " : "", count,
				    counted[kind][count > 1]);
	}
	return xstrdup(strbuf_text(&text));
}
