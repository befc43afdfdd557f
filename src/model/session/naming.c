/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/naming.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <uuid/uuid.h>

enum { SESSION_ID_MAX = 128, FILE_NAME_MAX = 64 };

#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static const char crockford[] = "0123456789abcdefghjkmnpqrstvwxyz";

char *naming_new_id(void)
{
	unsigned char bytes[INSTANCE_ID_LENGTH * 5 / 8];
	uint64_t bits = 0;
	char id[INSTANCE_ID_LENGTH + 1] = "";

	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		if (errno != EINTR)
			abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		bits = bits << 8 | bytes[i];
	for (size_t i = 0; i < INSTANCE_ID_LENGTH; i++, bits >>= 5)
		id[i] = crockford[bits & 31];
	return xstrdup(id);
}

bool naming_is_id(const char *text)
{
	return strlen(text) == INSTANCE_ID_LENGTH && strspn(text, crockford) == INSTANCE_ID_LENGTH;
}

bool naming_is_foreign_id(const char *text)
{
	const size_t digits = strspn(text, "0123456789abcdef");
	const char *time = text + digits + 1;
	return digits == 8 && text[digits] == '-' && *time &&
	       time[strspn(time, "0123456789")] == '\0';
}

char *naming_new_uuid(void)
{
	uuid_t uuid;
	char text[UUID_STR_LEN];
	uuid_generate_random(uuid);
	uuid_unparse_lower(uuid, text);
	return xstrdup(text);
}

bool naming_is_uuid(const char *text)
{
	uuid_t uuid;
	return uuid_parse(text, uuid) == 0;
}

bool naming_same_session_id(const char *a, const char *b)
{
	if (!a || !b)
		return false;
	return streq(a, b) || (strcasecmp(a, b) == 0 && naming_is_uuid(a));
}

char *naming_session_id_key(const char *session_id)
{
	char *key = xstrdup(session_id);
	/* Not tolower(3): names must not depend on the locale. */
	for (char *c = key; naming_is_uuid(session_id) && *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return key;
}

bool naming_has_session_id(const struct strvec *ids, const char *session_id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (naming_same_session_id(ids->items[i], session_id))
			return true;
	return false;
}

/* The characters that Unicode calls white space and that are no control characters, in UTF-8. */
static const char *const white_space[] = {
	" ",      "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
	"\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
	"\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

static bool has_white_space_at_an_end(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(white_space); i++)
		if (starts_with(text, white_space[i]) || ends_with(text, white_space[i]))
			return true;
	return false;
}

/* C0, DEL and, as U+0080 to U+009F, C1.  text is UTF-8. */
static bool has_control_character(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if (*s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0))
			return true;
	return false;
}

/* The rule of naming_check_title() that text breaks, NULL if none. */
static const char *broken_title_rule(const char *text)
{
	if (!*text)
		return "it is empty";
	if (!is_utf8(text, strlen(text)))
		return "it is not valid UTF-8";
	if (has_control_character(text))
		return "it contains a control character";
	if (has_white_space_at_an_end(text))
		return "it starts or ends with white space";
	return NULL;
}

static int check_length(const char *kind, const char *text, struct error *err)
{
	if (strlen(text) <= NAMING_TITLE_MAX)
		return 0;
	return error_set(err, ERROR_USAGE, "this %s has %zu bytes; the limit is %d", kind,
			 strlen(text), NAMING_TITLE_MAX);
}

int naming_check_title(const char *title, struct error *err)
{
	int r = check_length("title", title, err);
	if (r < 0)
		return r;
	const char *rule = broken_title_rule(title);
	if (!rule)
		return 0;
	cleanup_free char *shown = visible(title);
	return error_set(err, ERROR_USAGE, "invalid title \"%s\": %s", shown, rule);
}

int naming_check_group(const char *group, struct error *err)
{
	int r = check_length("group", group, err);
	if (r < 0)
		return r;
	for (const char *part = group, *end; part; part = *end ? end + 1 : NULL) {
		end = strchrnul(part, '/');
		cleanup_free char *name = xstrndup(part, (size_t)(end - part));
		const char *rule = broken_title_rule(name);
		if (!rule)
			continue;
		cleanup_free char *shown = visible(group);
		bool whole = part == group && !*end;
		return error_set(err, ERROR_USAGE, "invalid group \"%s\": %s%s", shown,
				 whole ? "" : "a part between \"/\": ", rule);
	}
	return 0;
}

bool naming_is_in_group(const char *group, const char *other)
{
	const char *own = or_empty(group);
	return streq(own, other) || (starts_with(own, other) && own[strlen(other)] == '/');
}

static bool is_file_name(const char *text)
{
	size_t length = strlen(text);
	return length >= 1 && length <= FILE_NAME_MAX && strchr(ALPHANUMERIC, text[0]) &&
	       strspn(text, ALPHANUMERIC "_.-") == length;
}

bool naming_is_agent(const char *text)
{
	return is_file_name(text);
}

int naming_check_profile(const char *profile, struct error *err)
{
	static const char *const reserved[] = { "logs", "hooks",   "agents",      "run",
						"once", "answers", "roles.cache", "config.toml" };
	cleanup_free char *shown = visible(profile);
	if (!is_file_name(profile))
		return error_set(
			err, ERROR_USAGE,
			"invalid profile \"%s\": use 1 to %d letters, digits, \"_\", \".\" "
			"and \"-\", a letter or digit first",
			shown, FILE_NAME_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (streq(profile, reserved[i]))
			return error_set(err, ERROR_USAGE,
					 "invalid profile \"%s\": agentdeck uses this name itself",
					 shown);
	return 0;
}

bool naming_is_session_id(const char *text)
{
	size_t length = strlen(text);
	return length >= 1 && length <= SESSION_ID_MAX && text[0] != '-' && text[0] != '.' &&
	       strspn(text, ALPHANUMERIC "._-") == length;
}

#define SCOPE_PREFIX "agentdeck-tmux-"
#define SCOPE_SUFFIX ".scope"

char *naming_scope(const char *id)
{
	return xasprintf(SCOPE_PREFIX "%s" SCOPE_SUFFIX, id);
}

bool naming_is_scope_of(const char *unit, const char *id)
{
	const size_t before = strlen(SCOPE_PREFIX), length = strlen(id);
	return starts_with(unit, SCOPE_PREFIX) && strncmp(unit + before, id, length) == 0 &&
	       streq(unit + before + length, SCOPE_SUFFIX);
}

/* A "-" in the name of a slice makes it a part of another one (systemd.slice(5)), and the id of a
 * copy may have one. */
char *naming_slice(const char *id)
{
	cleanup_strbuf struct strbuf name = { 0 };
	strbuf_addf(&name, "agentdeck-");
	for (const char *c = id; *c; c++)
		if (strchr(ALPHANUMERIC, *c))
			strbuf_addf(&name, "%c", *c);
		else
			strbuf_addf(&name, "\\x%02x", (unsigned char)*c);
	strbuf_addf(&name, ".slice");
	return strbuf_take(&name);
}

/* The start of the path up to the part of this name.  NULL: it has no such part. */
static char *group_up_to(const char *group, const char *part)
{
	const size_t length = strlen(part);
	for (const char *found = strstr(group, part); found; found = strstr(found + 1, part))
		if (found > group && found[-1] == '/' && (!found[length] || found[length] == '/'))
			return xstrndup(group, (size_t)(found - group) + length);
	return NULL;
}

char *naming_session_group(const char *id, const char *group)
{
	cleanup_free char *slice = naming_slice(id);
	cleanup_free char *scope = naming_scope(id);
	char *found = group_up_to(group, slice);
	return found ? found : group_up_to(group, scope);
}

#define BASE_PREFIX "ad-"

char *naming_id_of_base(const char *base)
{
	const char *rest = starts_with(base, BASE_PREFIX) ? base + strlen(BASE_PREFIX) : base;
	cleanup_free char *id = xstrndup(rest, strcspn(rest, "-"));
	return rest != base && naming_is_id(id) ? TAKE_PTR(id) : xstrdup(base);
}
