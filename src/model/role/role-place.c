/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What gives a container more of this machine.
 */
#include "model/role/role-internal.h"

#include "base/fsutil.h"

#include <string.h>
#include <strings.h>

void role_ask(struct reading *reading, enum recipe_rights least, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *what = xvasprintf(format, args);
	va_end(args);
	if (reading->order->rights >= least)
		role_find(reading, ROLE_ASKS, "%s", what);
	else
		role_find(reading, ROLE_REFUSED,
			  "%s: a role may ask for this with [container] role_rights = \"%s\"", what,
			  least == RIGHTS_OPEN ? "open" : "standard");
}

/* ---- mounts ---------------------------------------------------------------------------------- */

struct mount {
	char *type, *source, *target;
	bool read_only;
};

static void mount_clear(struct mount *mount)
{
	free(mount->type);
	free(mount->source);
	free(mount->target);
}
#define cleanup_mount CLEANUP(mount_clear)

/* A path that "SOURCE:TARGET:ro" can hold, and a question can show. */
static bool is_plain_path(const char *path)
{
	if (*path != '/')
		return false;
	for (const char *s = path; *s; s++)
		if (*s == ':' || (unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

bool role_is_forbidden(const char *source)
{
	static const char *const whole[] = { "/dev", "/proc", "/run", "/sys", "/var/run" };
	bool is_forbidden = streq(source, "/") || streq(source, "/var") ||
			    ends_with(source, ".sock");
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		is_forbidden |= path_is_below(source, whole[i]);
	return is_forbidden;
}

/* A path that is written in another way could be any. */
static bool is_settled(const char *path)
{
	return !strstr(path, "//") && !strstr(path, "/./") && !strstr(path, "/../") &&
	       !ends_with(path, "/.") && !ends_with(path, "/..");
}

static void add_mount(struct reading *reading, const struct mount *mount)
{
	const char *type = mount->type ? mount->type : "volume";
	if (!streq(type, "bind")) {
		role_find(reading, ROLE_REFUSED,
			  "a mount of type %s: only \"bind\" works yet; what has to outlive the "
			  "container can be in the agent's home",
			  type);
		return;
	}
	if (!mount->source || !mount->target || !is_plain_path(mount->source) ||
	    !is_plain_path(mount->target) || !is_settled(mount->source)) {
		role_find(
			reading, ROLE_REFUSED,
			"a mount of %s at %s: both must be absolute paths without colons and dots",
			mount->source ? mount->source : "nothing",
			mount->target ? mount->target : "no place");
		return;
	}
	if (role_is_forbidden(mount->source)) {
		role_find(reading, ROLE_REFUSED,
			  "%s is a socket, a device or a directory with some: through it the agent "
			  "could command this machine",
			  mount->source);
		return;
	}
	strvec_pushf(&reading->role->mounts, "%s:%s%s", mount->source, mount->target,
		     mount->read_only ? ":ro" : "");
	role_ask(reading, RIGHTS_STANDARD, "%s of this machine at %s, %s", mount->source,
		 mount->target, mount->read_only ? "read-only" : "to read and write");
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (streq(word, *words))
			return true;
	return false;
}

/* KEY=VALUE or KEY.  False: a key that is not known, and it was found. */
static bool read_option(struct reading *reading, char *option, struct mount *ret)
{
	static const char *const sources[] = { "source", "src", NULL };
	static const char *const targets[] = { "target", "dst", "destination", NULL };
	static const char *const locks[] = { "readonly", "ro", NULL };
	char *value = strchr(option, '=');
	if (value)
		*value++ = '\0';
	char **slot = streq(option, "type")        ? &ret->type
		      : is_one_of(option, sources) ? &ret->source
		      : is_one_of(option, targets) ? &ret->target
						   : NULL;
	if (slot && value)
		replace_string(slot, value);
	else if (is_one_of(option, locks))
		ret->read_only = !value || streq(value, "true") || streq(value, "1");
	else if (!streq(option, "consistency")) {
		role_find(reading, ROLE_REFUSED, "a mount with the option %s", option);
		return false;
	}
	return true;
}

void role_add_mount_text(struct reading *reading, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	cleanup_mount struct mount mount = { 0 };
	char *rest = copy;
	for (char *option; (option = strsep(&rest, ","));)
		if (!read_option(reading, option, &mount))
			return;
	add_mount(reading, &mount);
}

void role_add_volume(struct reading *reading, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	const char *source = strsep(&rest, ":"), *target = strsep(&rest, ":");
	const char *option = rest ? rest : "rw";
	if (!streq(option, "ro") && !streq(option, "rw")) {
		role_find(reading, ROLE_REFUSED, "a mount with the option %s", option);
		return;
	}
	cleanup_mount struct mount mount = {
		.type = target && *source == '/' ? xstrdup("bind") : NULL,
		.source = xstrdup(source),
		.target = xstrdup_or_null(target),
		.read_only = streq(option, "ro"),
	};
	add_mount(reading, &mount);
}

static void read_mount_object(struct reading *reading, struct json_object *value)
{
	cleanup_mount struct mount mount = { 0 };
	json_object_object_foreach(value, key, member) {
		role_enter(reading, key);
		cleanup_free char *text = role_text(reading, member, ROLE_REFUSED);
		cleanup_free char *option = text ? xasprintf("%s=%s", key, text) : NULL;
		const bool is_read = option && read_option(reading, option, &mount);
		role_leave(reading);
		if (!is_read)
			return;
	}
	add_mount(reading, &mount);
}

void role_read_mounts(struct reading *reading, struct json_object *value)
{
	const size_t count = json_object_array_length(value);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(value, i);
		role_enter_index(reading, i);
		if (json_object_is_type(item, json_type_object)) {
			read_mount_object(reading, item);
		} else {
			cleanup_free char *text = role_text(reading, item, ROLE_REFUSED);
			if (text)
				role_add_mount_text(reading, text);
		}
		role_leave(reading);
	}
}

/* ---- capabilities and networks --------------------------------------------------------------- */

void role_add_capability(struct reading *reading, const char *name)
{
	const char *plain = strncasecmp(name, "CAP_", 4) == 0 ? name + 4 : name;
	cleanup_free char *upper = xstrdup(plain);
	for (char *s = upper; *s; s++)
		*s = (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
	if (!*upper || upper[strspn(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] || streq(upper, "ALL")) {
		role_find(reading, ROLE_REFUSED,
			  "capability %s: a role can ask for one of capabilities(7), by its name",
			  name);
		return;
	}
	if (!strvec_contains(&reading->role->cap_add, upper))
		strvec_push(&reading->role->cap_add, upper);
	role_ask(reading, RIGHTS_OPEN, "capability %s", upper);
}

void role_add_network(struct reading *reading, const char *name)
{
	if (streq(name, "host") || strchr(name, ':')) {
		role_find(reading, ROLE_REFUSED,
			  "network %s: the container would be in the network of this machine or "
			  "of another container",
			  name);
		return;
	}
	replace_string(&reading->role->network, streq(name, "bridge") ? "default" : name);
	if (!streq(name, "none") && !streq(name, "internal") && !streq(name, "default") &&
	    !streq(name, "bridge"))
		role_ask(reading, RIGHTS_OPEN, "network %s, with what else is in it", name);
}

void role_add_docker(struct reading *reading, const char *how)
{
	enum recipe_docker docker;
	if (!recipe_docker_parse(how, &docker)) {
		role_find(reading, ROLE_REFUSED,
			  "%s: a Docker inside is \"rootless\" or \"rootless-tcp\", since the "
			  "agent could be root on this machine with another one",
			  how);
		return;
	}
	if (docker == DOCKER_NONE)
		return;
	replace_string(&reading->role->docker, how);
	role_ask(reading, RIGHTS_OPEN,
		 "a Docker of its own inside, which can use more of this machine's kernel");
}
