/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/container-internal.h"

#include "base/child.h"
#include "base/fsutil.h"
#include "engine/place/container/agenthome.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/logins.h"
#include "engine/place/runfiles.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An agent writes in the capsule's directory, and can put something else in a file's place. */
#define IN_THE_WAY "%s/%s cannot be written: move away what is there"

enum { SECRET_MAX = 64 << 10, SECRET_COMMAND_MS = 60000 };

char *container_capsule_directory(const struct deck *deck, const struct instance *instance)
{
	cleanup_free char *room = instance_room(instance);
	return room ? xasprintf("%s/%s/%s", deck->paths.state, instance->profile, room)
		    : xasprintf("%s/%s/%s/" PATHS_CAPSULE_DIRECTORY, deck->paths.state,
				instance->profile, instance->base);
}

char *container_room(const struct deck *deck, const struct instance *owner, int room)
{
	return xasprintf("%s/%s/%s/" INSTANCE_ROOMS "/%d", deck->paths.state, owner->profile,
			 owner->base, room);
}

char *container_users(const struct deck *deck, const struct instance *instance)
{
	return xasprintf("%s/%s/%s/" PATHS_USERS_DIRECTORY, deck->paths.state, instance->profile,
			 instance->base);
}

char *container_nested_directory(const struct deck *deck, const struct instance *instance)
{
	cleanup_free char *users = container_users(deck, instance);
	return path_join(users, "docker");
}

char *container_certificates(const struct deck *deck, const struct instance *instance)
{
	cleanup_free char *users = container_users(deck, instance);
	return path_join(users, "certificates");
}

char *container_programs(const struct deck *deck)
{
	return xasprintf("%.*scontainer", (int)(path_basename(deck->gate) - deck->gate),
			 deck->gate);
}

char *container_host_program(const struct instance *instance)
{
	const struct recipe *recipe = instance->recipe;
	const struct attempt *attempt = run_attempt(&instance->run);
	if (recipe->program != PROGRAM_FROM_HOST || run_is_shell(&instance->run))
		return NULL;
	const struct strvec *argv = attempt ? &attempt->argv : &instance->argv;
	return path_join(recipe->program_directory, recipe->program_file
							    ? recipe->program_file
							    : path_basename(argv->items[0]));
}

/* A home that was lost has the conversation: an empty one in its place would begin another.  It is
 * made before the capsule's directory, so that this one tells of it. */
static int check_home(const struct instance *instance, const char *capsule, struct error *err)
{
	const char *home = instance->recipe->home;
	const bool is_new = !instance->container_id && access(capsule, F_OK) < 0;
	if (is_new || access(home, F_OK) == 0 || errno != ENOENT)
		return 0;
	cleanup_free char *shown = visible(home);
	return error_set(err, ERROR_NOT_FOUND,
			 "%s does not exist, and the conversation is in it; nothing was changed: "
			 "restore it, or make an empty directory there to begin without it",
			 shown);
}

/* The agents in the container cannot write the directory that has these. */
static int make_rooms(const struct deck *deck, const struct instance *instance, struct error *err)
{
	for (int room = 1; !guest_is(instance) && room <= GUEST_ROOMS; room++) {
		cleanup_free char *path = container_room(deck, instance, room);
		cleanup_close int fd = -1;
		if (fs_open_private_directory(path, &fd, err) < 0)
			return -1;
	}
	return 0;
}

static int make_nested(const struct deck *deck, const struct instance *instance, struct error *err)
{
	cleanup_free char *path = container_nested_directory(deck, instance);
	cleanup_free char *certificates = container_certificates(deck, instance);
	cleanup_close int fd = -1, other = -1;
	if (!instance->recipe->docker || guest_is(instance))
		return 0;
	return fs_open_private_directory(path, &fd, err) < 0
		       ? -1
		       : fs_open_private_directory(certificates, &other, err);
}

int container_make_directories(const struct deck *deck, const struct instance *instance,
			       struct error *err)
{
	cleanup_close int fd = -1, reports = -1, home = -1;
	cleanup_free char *capsule = container_capsule_directory(deck, instance);
	if (check_home(instance, capsule, err) < 0 ||
	    fs_open_private_directory(instance->recipe->home, &home, err) < 0 ||
	    fs_open_private_directory(capsule, &fd, err) < 0 ||
	    make_rooms(deck, instance, err) < 0 || make_nested(deck, instance, err) < 0)
		return -1;
	if (fs_open_private_directory_at(fd, CAPSULE_REPORTS, true, &reports, err) < 0)
		return error_prefix(err, IN_THE_WAY, capsule, CAPSULE_REPORTS);
	container_sweep_tickets(fd);
	/* No agent runs that could be writing a report. */
	fs_sweep_temporaries(reports);
	return 0;
}

static int write_text(int fd, const char *name, const char *text, struct error *err)
{
	return fs_replace(fd, name, text, strlen(text), FS_VOLATILE, err);
}

/* An unknown user has neither a name nor a home for the programs in there.  In Docker's rootless
 * engine the user is root. */
static int write_users(int fd, const struct recipe *recipe, struct error *err)
{
	const char *colon = strchr(recipe->user, ':');
	const char *gid = colon ? colon + 1 : recipe->user;
	const int length = (int)strcspn(recipe->user, ":");
	const bool is_root = recipe_is_root(recipe);
	cleanup_strbuf struct strbuf passwd = { 0 }, group = { 0 };
	strbuf_addf(&passwd, "root:x:0:0:root:%s:/bin/sh\n", is_root ? recipe->home : "/root");
	strbuf_adds(&group, "root:x:0:\n");
	if (!is_root)
		strbuf_addf(&passwd, "agent:x:%.*s:%s:agent:%s:/bin/sh\n", length, recipe->user,
			    gid, recipe->home);
	if (!streq(gid, "0"))
		strbuf_addf(&group, "agent:x:%s:\n", gid);
	return write_text(fd, "passwd", strbuf_text(&passwd), err) < 0 ||
			       write_text(fd, "group", strbuf_text(&group), err) < 0 ||
			       (recipe->docker &&
				write_text(fd, NESTED_IDS, "agent:100000:65536\n", err) < 0)
		       ? -1
		       : 0;
}

static void copy_login(struct deck *deck, const struct agenthome *home)
{
	const struct agent *agent = home->agent;
	cleanup_free char *config = deck_config_home(deck, agent), *reason = NULL;
	const struct agenthome_user user = { deck->paths.home, config };
	cleanup_error struct error err = { 0 };
	if (!agent->login_files.count)
		return;
	if (agenthome_copy_login(home, &user, &reason, &err) < 0)
		deck_warn(deck, "the login of %s was not copied: %s", agent->title, err.message);
	else if (reason)
		deck_warn(deck,
			  "no login of %s to copy: %s. Log in on this machine and start it again, "
			  "or log in inside",
			  agent->title, reason);
}

static void seed(struct deck *deck, const struct agenthome *home)
{
	cleanup_error struct error err = { 0 };
	if (agenthome_seed(home, &err) < 0)
		deck_warn(deck, "the first settings of %s were not written: %s", home->agent->title,
			  err.message);
}

/* The home of another login of the recipe.  false: there is none, with a warning. */
static bool find_home(struct deck *deck, const struct recipe_slot *slot, struct agenthome *ret)
{
	cleanup_error struct error err = { 0 };
	if (logins_find(deck, slot->name, &ret->agent, &err) == 0)
		return true;
	deck_warn(deck, "%s", err.message);
	return false;
}

/* The agent begins without these files as well, so a failure is no reason not to start. */
void container_fill_home(struct deck *deck, const struct instance *instance,
			 const struct agent *agent, const struct strvec *secrets)
{
	const struct recipe *recipe = instance->recipe;
	struct agenthome home = { agent, recipe->home, instance_launch_directory(instance),
				  secrets };
	seed(deck, &home);
	if (recipe->login == LOGIN_SYNC && !secrets)
		copy_login(deck, &home);
	for (size_t i = 0; i < recipe->slot_count; i++) {
		if (!find_home(deck, &recipe->slots[i], &home))
			continue;
		seed(deck, &home);
		if (recipe->slots[i].login == LOGIN_SYNC && !secrets)
			copy_login(deck, &home);
	}
}

/* A container of an earlier version mounts them from the capsule's directory. */
static bool has_older_users(int capsule)
{
	struct stat st;
	return fstatat(capsule, "passwd", &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode);
}

int container_write_files(const struct deck *deck, const struct instance *instance,
			  struct error *err)
{
	cleanup_close int fd = -1, users = -1;
	cleanup_free char *directory = container_capsule_directory(deck, instance);
	cleanup_free char *beside = container_users(deck, instance);
	/* A container that is brought up for a guest has no run of its own. */
	cleanup_free char *token = instance->run.directory ? runfiles_token(instance)
							   : naming_new_uuid();
	if (fs_open_private_directory(directory, &fd, err) < 0)
		return -1;
	if (!guest_is(instance) &&
	    (fs_open_private_directory(beside, &users, err) < 0 ||
	     write_users(users, instance->recipe, err) < 0 ||
	     (has_older_users(fd) && write_users(fd, instance->recipe, err) < 0)))
		return -1;
	if (write_text(fd, CAPSULE_TOKEN, or_empty(token), err) < 0)
		return error_prefix(err, IN_THE_WAY, directory, CAPSULE_TOKEN);
	return 0;
}

/* ---- secrets ------------------------------------------------------------------------------- */

static int from_file(const char *path, struct strbuf *ret, struct error *err)
{
	int r = fs_read(AT_FDCWD, path, SECRET_MAX, ret, err);
	return r > 0 ? error_set(err, ERROR_NOT_FOUND, "%s is missing", path) : r;
}

static int from_command(const char *text, struct strbuf *ret, struct error *err)
{
	cleanup_json struct json_object *list = NULL;
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	if (json_parse(text, strlen(text), "command", &list, err) < 0)
		return -1;
	json_set(object, "argv", json_object_get(list));
	json_get_strings(object, "argv", &argv);
	if (!argv.count)
		return error_set(err, ERROR_CORRUPT, "the command is empty");
	const struct child_request request = {
		.argv = (const char *const *)argv.items,
		.max_output = SECRET_MAX,
	};
	int r = child_run(&request, SECRET_COMMAND_MS, &result, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_NOT_FOUND, "%s is not installed",
					 argv.items[0]);
	/* The output may be the secret, so an error shows only the status. */
	if (result.exit_status != 0)
		return error_set(err, ERROR_CHILD, "%s ended with status %d", argv.items[0],
				 result.exit_status);
	strbuf_adds(ret, strbuf_text(&result.output));
	if (result.output.data)
		explicit_bzero(result.output.data, result.output.length);
	return 0;
}

/* The user's variable; else the secret's value in the last run (environment_of_secrets()). */
static const char *find_variable(const struct recipe_secret *secret, const char *variable)
{
	cleanup_free char *last = xasprintf(ENV_LAST_SECRET "%s", secret->name);
	const char *value = getenv(variable);
	return is_empty(value) ? getenv(last) : value;
}

static int resolve(const struct recipe_secret *secret, struct strbuf *ret, struct error *err)
{
	const char *source = secret->source;
	if (starts_with(source, "file:"))
		return from_file(source + strlen("file:"), ret, err);
	if (starts_with(source, "command:"))
		return from_command(source + strlen("command:"), ret, err);
	const char *name = starts_with(source, "env:") ? source + strlen("env:") : source;
	const char *value = find_variable(secret, name);
	if (is_empty(value))
		return error_set(err, ERROR_NOT_FOUND,
				 "the variable %s is not set here: export it and start the session "
				 "from there, or name another source: agentdeck session set "
				 "SESSION recipe.secret NAME=file:PATH",
				 name);
	strbuf_adds(ret, value);
	return 0;
}

void container_warn_of_secrets(struct deck *deck, const struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->secret_count; i++) {
		const struct recipe_secret *secret = &recipe->secrets[i];
		const char *path = secret->source + strlen("file:");
		struct stat status;
		if (!starts_with(secret->source, "file:") || stat(path, &status) < 0 ||
		    !(status.st_mode & (S_IRGRP | S_IROTH)))
			continue;
		cleanup_free char *shown = visible(path);
		if (status.st_uid == geteuid() || geteuid() == 0)
			deck_warn(deck, "others can read %s, which has the secret %s: chmod 600 %s",
				  shown, secret->name, shown);
		else
			deck_warn(
				deck,
				"others can read %s, which has the secret %s and is another "
				"user's: copy it to a file that only you can read, and name that: "
				"agentdeck session set SESSION recipe.secret %s=file:PATH",
				shown, secret->name, secret->name);
	}
}

int container_resolve_secrets(const struct recipe *recipe, struct strvec *ret, struct error *err)
{
	for (size_t i = 0; i < recipe->secret_count; i++) {
		const struct recipe_secret *secret = &recipe->secrets[i];
		cleanup_strbuf struct strbuf value = { 0 };
		if (resolve(secret, &value, err) < 0)
			return error_prefix(err, "secret %s", secret->name);
		const char *text = strbuf_text(&value);
		strvec_pushf(ret, "%s=%.*s", secret->name, (int)strcspn(text, "\n"), text);
		explicit_bzero(value.data, value.length);
	}
	return 0;
}

void container_wipe(struct strvec *secrets)
{
	for (size_t i = 0; i < secrets->count; i++)
		explicit_bzero(secrets->items[i], strlen(secrets->items[i]));
	strvec_clear(secrets);
}
