/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * runArgs: options of docker run.  What is not in the table is refused.
 */
#include "model/role/role-internal.h"

#include "model/settings/limits.h"

#include <ctype.h>
#include <string.h>

static void take_variable(struct reading *reading, const char *value)
{
	const char *equals = strchr(value, '=');
	cleanup_free char *name = xstrndup(value, equals ? (size_t)(equals - value) : 0);
	if (equals)
		role_set_variable(reading, name, equals + 1);
	else
		role_find(reading, ROLE_REFUSED,
			  "--env %s would read a variable of this machine: write it as "
			  "${localEnv:%s} in containerEnv",
			  value, value);
}

/* "8gb" and "8g" are our "8G". */
void role_set_memory(struct reading *reading, const char *text)
{
	cleanup_free char *size = xstrdup(text);
	const size_t number = strspn(size, ".0123456789");
	if (size[number])
		size[number] = (char)toupper((unsigned char)size[number]);
	if (size[number] && streq(size + number + 1, "b"))
		size[number + 1] = '\0';
	if (!limit_parse_size(size, &reading->role->memory))
		role_find(reading, ROLE_REFUSED, "%s is no size of memory (example: 4g)", text);
}

static void take_cpus(struct reading *reading, const char *value)
{
	double number;
	if (recipe_cpus_parse(value, &number))
		replace_string(&reading->role->cpus, value);
	else
		role_find(reading, ROLE_REFUSED, "--cpus %s is no number of processors", value);
}

static void take_user(struct reading *reading, const char *value)
{
	replace_string(&reading->role->user, value);
}

static void take_security(struct reading *reading, const char *value)
{
	if (!streq(value, "no-new-privileges") && !streq(value, "no-new-privileges:true") &&
	    !streq(value, "no-new-privileges=true"))
		role_find(reading, ROLE_REFUSED,
			  "--security-opt %s would weaken what keeps the container apart from "
			  "this machine",
			  value);
}

static const struct argument {
	const char *name;
	char letter;                                              /* 0: it has none */
	bool is_alone;                                            /* without a value */
	void (*take)(struct reading *reading, const char *value); /* NULL: left out */
} arguments[] = {
	{ "cap-add", 0, false, role_add_capability },
	{ "cap-drop", 0, false, NULL }, /* all are dropped */
	{ "cpus", 0, false, take_cpus },
	{ "env", 'e', false, take_variable },
	{ "hostname", 'h', false, NULL },
	{ "init", 0, true, NULL }, /* the capsule collects what has ended */
	{ "label", 'l', false, NULL },
	{ "memory", 'm', false, role_set_memory },
	{ "mount", 0, false, role_add_mount_text },
	{ "name", 0, false, NULL },
	{ "net", 0, false, role_add_network },
	{ "network", 0, false, role_add_network },
	{ "rm", 0, true, NULL },
	{ "security-opt", 0, false, take_security },
	{ "user", 'u', false, take_user },
	{ "volume", 'v', false, role_add_volume },
};

/* "--NAME", "--NAME=VALUE", "-L"; *ret_value is in the word, or NULL. */
static const struct argument *find(const char *word, const char **ret_value)
{
	const bool is_long = starts_with(word, "--");
	const char *name = word + (is_long ? 2 : 1);
	const size_t length = strcspn(name, "=");
	*ret_value = NULL;
	if (*word != '-' || !*name)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		const struct argument *argument = &arguments[i];
		if (!is_long && argument->letter == *name && !name[1])
			return argument;
		if (!is_long || strlen(argument->name) != length ||
		    strncmp(argument->name, name, length) != 0)
			continue;
		*ret_value = name[length] ? name + length + 1 : NULL;
		return argument;
	}
	return NULL;
}

/* Takes one argument, and the next word if that is its value.  Returns the number of words. */
static size_t take(struct reading *reading, const struct strvec *words, size_t at)
{
	const char *word = words->items[at], *value;
	const struct argument *argument = find(word, &value);
	if (!argument || (argument->is_alone && value && !streq(value, "true"))) {
		role_find(reading, ROLE_REFUSED,
			  "%.*s: of the options of docker run only those count that "
			  "docs/roles.md lists",
			  (int)strcspn(word, "="), word);
		return 1;
	}
	if (argument->is_alone)
		return 1;
	const bool is_next = !value && at + 1 < words->count;
	if (is_next)
		value = words->items[at + 1];
	if (!value)
		role_find(reading, ROLE_REFUSED, "%s has no value", word);
	else if (argument->take)
		argument->take(reading, value);
	return is_next ? 2 : 1;
}

void role_read_arguments(struct reading *reading, struct json_object *value)
{
	cleanup_strvec struct strvec words = { 0 };
	if (!role_texts(reading, value, &words))
		return;
	for (size_t i = 0; i < words.count;) {
		role_enter_index(reading, i);
		i += take(reading, &words, i);
		role_leave(reading);
	}
}
