/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/resolve.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "base/program.h"
#include "driver/context/context.h"
#include "engine/deck/stages.h"
#include "engine/place/container/build.h"
#include "engine/place/container/logins.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/nesting.h"
#include "engine/place/container/pull.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what needs no engine -------------------------------------------------------------------- */

static const char *or_else(const char *given, const char *configured)
{
	return given ? given : configured;
}

/* Places in the container that are not the user's. */
static bool is_reserved(const char *target)
{
	static const char *const ours[] = { "/", "/agentdeck", "/proc", "/sys", "/dev" };
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (streq(target, ours[i]) ||
		    (i && starts_with(target, ours[i]) && target[strlen(ours[i])] == '/'))
			return true;
	return false;
}

static bool has_part(const char *path, const char *part)
{
	const size_t length = strlen(part);
	for (const char *at = path; (at = strstr(at, part)); at += length)
		if (at > path && at[-1] == '/' && (!at[length] || at[length] == '/'))
			return true;
	return false;
}

static int check_target(const struct recipe *recipe, const char *target, const char *shown,
			struct error *err)
{
	if (*target != '/' || has_part(target, "..") || has_part(target, "."))
		return error_set(err, ERROR_USAGE,
				 "invalid mount '%s': its place in the container must be an "
				 "absolute path without '.' and '..' (example: ~/data:/data:ro)",
				 shown);
	if (is_reserved(target))
		return error_set(err, ERROR_USAGE,
				 "invalid mount '%s': %s in the container is not available; "
				 "choose another place",
				 shown, target);
	bool is_taken = recipe->directory && streq(recipe->directory, target);
	for (size_t i = 0; i < recipe->mount_count; i++)
		is_taken |= streq(recipe->mounts[i].target, target);
	if (is_taken)
		return error_set(err, ERROR_USAGE, "invalid mount '%s': %s is mounted already",
				 shown, target);
	return 0;
}

/* SOURCE[:TARGET][:ro]; the copy is the source then.  Returns the target in it, or NULL. */
static const char *split_mount(char *copy, bool *ret_read_only)
{
	char *colon = strrchr(copy, ':');
	*ret_read_only = false;
	if (colon && (streq(colon, ":ro") || streq(colon, ":rw"))) {
		*ret_read_only = streq(colon, ":ro");
		*colon = '\0';
		colon = strrchr(copy, ':');
	}
	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static int apply_mount(const char *text, struct recipe *recipe, struct error *err)
{
	cleanup_free char *copy = xstrdup(text), *shown = visible(text), *source = NULL;
	bool read_only;
	const char *target = split_mount(copy, &read_only);
	if (!*copy || (target && !*target))
		return error_set(err, ERROR_USAGE,
				 "invalid mount '%s' (examples: ~/data, ~/data:/data:ro)", shown);
	source = realpath(copy, NULL);
	if (!source)
		return errno == ENOENT || errno == ENOTDIR
			       ? error_set(err, ERROR_NOT_FOUND,
					   "mount '%s': %s does not exist: create it first", shown,
					   copy)
			       : error_set_file(err, errno, "mount '%s'", shown);
	if (!target)
		target = source;
	if (check_target(recipe, target, shown, err) < 0)
		return -1;
	recipe_add_mount(recipe, source, target, read_only);
	return 0;
}

static int apply_variable(const char *text, struct recipe *recipe, struct error *err)
{
	const char *equals = strchr(text, '=');
	cleanup_free char *name = xstrndup(text, equals ? (size_t)(equals - text) : strlen(text));
	cleanup_free char *shown = visible(name);
	if (!equals || !recipe_is_variable(name))
		return error_set(err, ERROR_USAGE, "invalid variable '%s': write --env NAME=VALUE",
				 shown);
	strvec_push(&recipe->environment, text);
	return 0;
}

/* NAME[=SOURCE] */
static int apply_secret(const char *text, struct recipe *recipe, struct error *err)
{
	const char *equals = strchr(text, '=');
	cleanup_free char *name = xstrndup(text, equals ? (size_t)(equals - text) : strlen(text));
	cleanup_free char *source = equals ? xstrdup(equals + 1) : xasprintf("env:%s", name);
	if (recipe_check_secret(name, source, err) < 0)
		return -1;
	recipe_add_secret(recipe, name, source);
	return 0;
}

static int apply_capability(const char *text, struct recipe *recipe, struct error *err)
{
	const char *name = starts_with(text, "CAP_") ? text + strlen("CAP_") : text;
	if (!*name || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] || streq(name, "ALL")) {
		cleanup_free char *shown = visible(text);
		return error_set(err, ERROR_USAGE,
				 "invalid capability '%s': name one of capabilities(7), such as "
				 "NET_ADMIN",
				 shown);
	}
	if (!strvec_contains(&recipe->cap_add, name))
		strvec_push(&recipe->cap_add, name);
	return 0;
}

static int apply_cpus(const char *text, struct recipe *recipe, struct error *err)
{
	if (!recipe_cpus_parse(text, &recipe->cpus)) {
		cleanup_free char *shown = visible(text);
		return error_set(err, ERROR_USAGE,
				 "invalid number of processors '%s' (examples: 2, 0.5)", shown);
	}
	return 0;
}

static int apply_network(const char *name, struct recipe *recipe, struct error *err)
{
	/* The engines allow only these names. */
	if (!*name ||
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			      "0123456789_.-")] ||
	    !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", *name)) {
		cleanup_free char *shown = visible(name);
		return error_set(err, ERROR_USAGE,
				 "invalid network '%s': choose default, none, internal, shared or "
				 "the name of a network",
				 shown);
	}
	replace_string(&recipe->network, streq(name, "default")  ? NETWORK_OWN
					 : streq(name, "shared") ? NULL
								 : name);
	return 0;
}

static int parse_docker(const char *text, enum recipe_docker *ret, struct error *err)
{
	cleanup_free char *shown = visible(text);
	return recipe_docker_parse(text, ret)
		       ? 0
		       : error_set(err, ERROR_USAGE,
				   "a Docker inside must be rootless, rootless-tcp or none, "
				   "not '%s': with another one the agent could be root on "
				   "this machine",
				   shown);
}

static int apply_words(const struct container_order *order, struct recipe *recipe,
		       struct error *err)
{
	recipe->login = LOGIN_IGNORE;
	if (order->auth && !recipe_login_parse(order->auth, &recipe->login)) {
		cleanup_free char *shown = visible(order->auth);
		return error_set(err, ERROR_USAGE, "--auth must be sync, token or ignore, not '%s'",
				 shown);
	}
	if (order->program && !recipe_program_parse(order->program, &recipe->program)) {
		cleanup_free char *shown = visible(order->program);
		return error_set(err, ERROR_USAGE, "--program must be image or host, not '%s'",
				 shown);
	}
	return order->docker ? parse_docker(order->docker, &recipe->docker, err) : 0;
}

static int apply_all(const struct strvec *texts,
		     int (*apply)(const char *text, struct recipe *recipe, struct error *err),
		     struct recipe *recipe, struct error *err)
{
	for (size_t i = 0; texts && i < texts->count; i++)
		if (apply(texts->items[i], recipe, err) < 0)
			return -1;
	return 0;
}

static int apply_build(const struct container_order *order, struct recipe *recipe,
		       struct error *err)
{
	if (order->image)
		return error_set(err, ERROR_USAGE,
				 "--build makes the image, and --image names one: omit one of "
				 "them");
	return build_find(order->build, &recipe->build, err);
}

static void apply_role(const struct role_source *source, struct recipe *recipe)
{
	replace_string(&recipe->role, source->name);
	replace_string(&recipe->role_digest, source->digest);
	replace_string(&recipe->role_url, source->url);
	replace_string(&recipe->role_ref, source->ref);
	replace_string(&recipe->role_commit, source->commit);
	if (!is_reserved(source->role.workspace))
		replace_string(&recipe->workspace, source->role.workspace);
	for (size_t i = 0; i < source->role.command_count; i++) {
		const struct role_command *command = &source->role.commands[i];
		recipe_add_command(recipe, role_event_key(command->event),
				   command->event == ROLE_POST_START, &command->argv);
	}
	if (!source->context)
		return;
	const char *dockerfile = role_source_dockerfile(source);
	replace_string(&recipe->build, source->context);
	replace_string(&recipe->build_hash, source->context_digest);
	replace_string(&recipe->build_file,
		       streq(dockerfile, CONTEXT_DOCKERFILE) ? NULL : dockerfile);
	replace_string(&recipe->build_target, source->role.target);
	strvec_push_all(&recipe->build_args, &source->role.build_args);
}

static bool has_variable(const struct strvec *list, const char *variable)
{
	const size_t length = strcspn(variable, "=") + 1;
	for (size_t i = 0; list && i < list->count; i++)
		if (strncmp(list->items[i], variable, length) == 0)
			return true;
	return false;
}

int container_apply(const struct container_order *order, struct recipe *recipe, struct error *err)
{
	if (order->role)
		apply_role(order->role, recipe);
	if ((order->build && apply_build(order, recipe, err) < 0) ||
	    apply_words(order, recipe, err) < 0 ||
	    apply_network(or_else(order->network, "default"), recipe, err) < 0 ||
	    (order->cpus && apply_cpus(order->cpus, recipe, err) < 0) ||
	    apply_all(order->mounts, apply_mount, recipe, err) < 0 ||
	    apply_all(order->environment, apply_variable, recipe, err) < 0 ||
	    apply_all(order->secrets, apply_secret, recipe, err) < 0 ||
	    apply_all(order->cap_add, apply_capability, recipe, err) < 0)
		return -1;
	return recipe->login == LOGIN_TOKEN ? logins_add_own(order->login, recipe, err) : 0;
}

/* ---- the agent's program --------------------------------------------------------------------- */

/* Images have programs of their own in these, which a mount of the whole directory would hide. */
static bool is_of_the_system(const char *directory)
{
	static const char *const directories[] = {
		"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"
	};
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (streq(directory, directories[i]))
			return true;
	return false;
}

/* The directory of the file that runs, so that no symbolic link leads out of what is mounted. */
static int settle_program(const struct instance *instance, bool is_asked, struct recipe *recipe,
			  struct error *err)
{
	const char *name = instance->argv.items[0];
	cleanup_free char *shown = visible(name), *found = NULL, *file = NULL;
	if (is_asked && recipe->program == PROGRAM_IN_IMAGE)
		return 0;
	found = program_path(name, NULL, instance->cwd);
	file = found ? realpath(found, NULL) : NULL;
	/* A script needs what is around it, which may be anywhere on this host. */
	const bool is_usable = file && !program_is_text(file);
	if (!is_usable && is_asked)
		return file ? error_set(err, ERROR_INVALID,
					"--program host: %s is a script, which does not work "
					"without what it is installed with: install the agent in "
					"the image, and use --program image",
					shown)
			    : error_set(err, ERROR_NOT_FOUND,
					"--program host: %s is not installed here: install it, or "
					"use --program image",
					shown);
	recipe->program = is_usable ? PROGRAM_FROM_HOST : PROGRAM_IN_IMAGE;
	if (!is_usable)
		return 0;
	const char *last = path_basename(file);
	recipe->program_directory = xstrndup(file, (size_t)(last - file - (last - file > 1)));
	replace_string(&recipe->program_file, streq(last, path_basename(name)) ? NULL : last);
	if (is_of_the_system(recipe->program_directory))
		replace_string(&recipe->program_mount, file);
	return 0;
}

static int take_program(struct deck *deck, const struct instance *instance, bool is_asked,
			struct recipe *recipe, struct error *err)
{
	stages_enter(deck, STAGE_AGENT);
	return settle_program(instance, is_asked, recipe, err);
}

/* ---- the engine and its image ---------------------------------------------------------------- */

/* wish: the engine as it was asked for; NULL: any. */
static int refuse_default(const char *engine, const char *wish, struct error *err)
{
	return error_set(err, ERROR_NOT_FOUND,
			 "%s has no default image yet: %smake it with agentdeck image "
			 "build-default%s%s, or name an image with --image IMAGE",
			 engine,
			 program_is_installed(CONTAINER_IMAGE_PROGRAM) ? ""
								       : "install mmdebstrap, and ",
			 wish ? " --engine " : "", or_empty(wish));
}

static int refuse_image(const struct recipe *recipe, const char *image, struct error *err)
{
	cleanup_free char *shown = visible(image);
	return error_set(err, ERROR_NOT_FOUND,
			 "%s has no image %s: get it with %s pull %s, or name another one",
			 recipe->engine, shown, recipe->engine, shown);
}

/* Offer the user a download, unless no registry can have the image. */
static int refuse_missing(const struct container_order *order, const struct recipe *recipe,
			  const char *image, struct error *err)
{
	cleanup_free char *shown = visible(image);
	cleanup_free char *why = recipe->build
					 ? xasprintf("%s/" CONTEXT_DOCKERFILE
						     " begins from %s, which %s does not have",
						     recipe->build, shown, recipe->engine)
					 : xasprintf("%s has no image %s", recipe->engine, shown);
	return error_set(err, ERROR_NOT_FOUND, "%s: %s%s", why,
			 pull_is_possible(image) ? "add --pull to download it" : "make or load it",
			 order->role || recipe->build ? ""
						      : ", or name another one with --image IMAGE");
}

/* Take the image for the recipe, and forget how to build one.  ENGINE_ABSENT: there is none. */
static int settle_image(struct engine *engine, const char *image, struct recipe *recipe,
			struct error *err)
{
	cleanup_engine_image struct engine_image found = { 0 };
	int r = engine_inspect_image(engine, image, &found, err);
	if (r != 0)
		return r;
	replace_string(&recipe->image, image);
	replace_string(&recipe->image_id, found.id);
	strvec_clear(&recipe->layers);
	strvec_push_all(&recipe->layers, &found.layers);
	/* The image was not built from a directory that we know. */
	replace_string(&recipe->build, NULL);
	replace_string(&recipe->build_hash, NULL);
	strvec_clear(&recipe->bases);
	return 0;
}

/* Download an image that the engine lacks, if its user agrees. */
static int get_image(struct deck *deck, struct engine *engine, const struct container_order *order,
		     const struct recipe *recipe, const char *image, struct error *err)
{
	cleanup_engine_image struct engine_image found = { 0 };
	const bool may_pull = order->may_pull ||
			      (order->pulls && strvec_contains(order->pulls, image));
	int r;
	if (!may_pull || !pull_is_possible(image)) {
		if (order->ret_missing && pull_is_possible(image))
			replace_string(order->ret_missing, image);
		return refuse_missing(order, recipe, image, err);
	}
	if (pull_image(deck, recipe, image, err) < 0)
		return -1;
	r = engine_inspect_image(engine, image, &found, err);
	return r > 0 ? refuse_image(recipe, image, err) : r;
}

static int choose_image(struct deck *deck, struct engine *engine,
			const struct container_order *order, struct recipe *recipe,
			struct error *err)
{
	const char *image = order->image ? order->image : CONTAINER_DEFAULT_IMAGE;
	const int r = settle_image(engine, image, recipe, err);
	if (r != ENGINE_ABSENT)
		return r;
	if (streq(image, CONTAINER_DEFAULT_IMAGE)) {
		if (order->ret_missing)
			replace_string(order->ret_missing, image);
		return refuse_default(recipe->engine, order->engine, err);
	}
	stages_enter(deck, STAGE_IMAGE);
	if (get_image(deck, engine, order, recipe, image, err) < 0)
		return -1;
	const int after = settle_image(engine, image, recipe, err);
	return after > 0 ? refuse_image(recipe, image, err) : after;
}

static int get_bases(struct deck *deck, struct engine *engine, const struct container_order *order,
		     const struct recipe *recipe, struct error *err)
{
	stages_enter(deck, STAGE_BASE);
	for (;;) {
		cleanup_free char *missing = NULL;
		if (build_find_missing(engine, recipe, &missing, err) < 0)
			return -1;
		if (!missing)
			return 0;
		if (get_image(deck, engine, order, recipe, missing, err) < 0)
			return -1;
	}
}

/* In Docker's rootless engine root of the container is the engine's user.  Podman is asked to keep
 * the id. */
static char *user_of(const struct engine_facts *facts)
{
	if (facts->is_rootless && facts->kind == ENGINE_DOCKER)
		return xstrdup("0:0");
	return xasprintf("%u:%u", (unsigned)geteuid(), (unsigned)getegid());
}

/* configured: the engine of the configuration, or NULL. */
static int ask_engine(struct deck *deck, const struct container_order *order,
		      const char *configured, struct recipe *recipe, struct error *err)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_engine struct engine *engine = NULL;
	struct engine_facts facts;
	if (engine_find(order->engine, configured, &address, err) < 0 ||
	    engine_open(&address, &engine, err) < 0 || engine_facts(engine, &facts, err) < 0)
		return -1;
	if (address.instead)
		deck_warn(deck, "the container is in podman, since docker does not answer: %s",
			  address.instead);
	replace_string(&recipe->engine, engine_kind_name(facts.kind));
	recipe->address = TAKE_PTR(address.url);
	recipe->tls = TAKE_PTR(address.tls);
	recipe->context = TAKE_PTR(address.context);
	recipe->user = user_of(&facts);
	if (recipe->docker && nested_check(engine, &facts, err) < 0)
		return -1;
	if (!recipe->build)
		return choose_image(deck, engine, order, recipe, err);
	return get_bases(deck, engine, order, recipe, err) < 0
		       ? -1
		       : build_image(deck, engine, recipe, err);
}

static struct engine_address address_of(const struct recipe *recipe)
{
	return (struct engine_address){ .url = recipe->address,
					.tls = recipe->tls,
					.context = recipe->context };
}

int container_open_engine(const struct recipe *recipe, struct engine **ret, struct error *err)
{
	const struct engine_address address = address_of(recipe);
	return engine_open(&address, ret, err);
}

struct container_needs container_needs(const struct instance *instance)
{
	const struct recipe *recipe = instance->recipe;
	return recipe ? (struct container_needs){ .engine = recipe->engine,
						  .address = address_of(recipe),
						  .memory = recipe->memory > 0,
						  .pids = recipe->pids > 0,
						  .cpus = recipe->cpus > 0 }
		      : (struct container_needs){ 0 };
}

/* ---- the recipe ------------------------------------------------------------------------------ */

/* The lists of an order, with what its role and the configuration add. */
struct lists {
	struct strvec mounts, environment, cap_add;
};

static void lists_clear(struct lists *lists)
{
	strvec_clear(&lists->mounts);
	strvec_clear(&lists->environment);
	strvec_clear(&lists->cap_add);
}

/* The user was asked about the path as it is written: a link would lead to another place, also to
 * one that no role gets. */
static int check_link(const char *path, const char *real, struct error *err)
{
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	cleanup_free char *shown = visible(path);
	return strlen(real) == length && memcmp(path, real, length) == 0
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "the role mounts %s, and a part of that is a link: let it name "
				   "the directory itself",
				   shown);
}

static int add_role(const struct deck *deck, const struct container_order *order, struct lists *ret,
		    struct error *err)
{
	const struct role *role = &order->role->role;
	for (size_t i = 0; i < role->mounts.count; i++) {
		cleanup_free char *copy = xstrdup(role->mounts.items[i]);
		bool read_only;
		(void)split_mount(copy, &read_only);
		cleanup_free char *real = realpath(copy, NULL), *shown = visible(copy);
		struct stat st;
		if (real && (role_is_forbidden(real) || nesting_is_ours(deck, real) ||
			     stat(real, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))))
			return error_set(err, ERROR_INVALID,
					 "the role mounts %s, through which its agent could "
					 "command this machine or other sessions",
					 shown);
		if (real && check_link(copy, real, err) < 0)
			return -1;
		strvec_push(&ret->mounts, role->mounts.items[i]);
	}
	for (size_t i = 0; i < role->environment.count; i++)
		if (!has_variable(order->environment, role->environment.items[i]))
			strvec_push(&ret->environment, role->environment.items[i]);
	strvec_push_all(&ret->cap_add, &role->cap_add);
	return 0;
}

static int gather_lists(const struct deck *deck, const struct container_order *order,
			const struct container_defaults *defaults, struct lists *ret,
			struct error *err)
{
	if (order->role && add_role(deck, order, ret, err) < 0)
		return -1;
	if (order->environment)
		strvec_push_all(&ret->environment, order->environment);
	if (order->cap_add)
		strvec_push_all(&ret->cap_add, order->cap_add);
	if (order->mounts)
		strvec_push_all(&ret->mounts, order->mounts);
	for (size_t i = 0; i < defaults->mounts.count; i++) {
		const char *mount = defaults->mounts.items[i];
		const bool is_below_home = starts_with(mount, "~/");
		strvec_pushf(&ret->mounts, "%s%s", is_below_home ? deck->paths.home : "",
			     mount + is_below_home);
	}
	return 0;
}

static int check_login(const struct agent *agent, const struct recipe *recipe, struct error *err)
{
	if (recipe->login != LOGIN_SYNC || agent->login_files.count)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--auth sync: the entry of agent %s names no files of a login: use token "
			 "or ignore, or name them (home.login)",
			 agent->name);
}

/* What a guest's own words say: its program, its login and its secrets. */
int container_resolve_agent(struct deck *deck, const struct container_order *order,
			    const struct instance *instance, struct recipe *recipe,
			    bool *ret_asks_program, struct error *err)
{
	const struct container_defaults defaults = settings_container(&deck->settings,
								      instance->group);
	const struct agent *agent;
	if (deck_agent(deck, instance->agent, &agent, err) < 0)
		return -1;
	const struct logins_order logins = { agent->name, order->logins, NULL, &defaults };
	const struct container_order own = {
		.auth = logins_how(&logins, agent->name),
		.program = or_else(order->program, defaults.program),
		.secrets = order->secrets,
		.login = &agent->login_variables,
	};
	*ret_asks_program = own.program != NULL;
	return container_apply(&own, recipe, err) < 0 || check_login(agent, recipe, err) < 0 ||
			       logins_add(deck, &logins, recipe, err) < 0
		       ? -1
		       : take_program(deck, instance, own.program != NULL, recipe, err);
}

static int check_mount_path(const struct deck *deck, const char *text, struct error *err)
{
	cleanup_free char *copy = xstrdup(text);
	bool read_only;
	(void)split_mount(copy, &read_only);
	return nesting_check_path(deck, copy, err);
}

void container_limit(const struct deck *deck, const struct instance *instance,
		     struct recipe *recipe)
{
	const struct limits limits = settings_limits(&deck->settings, instance);
	recipe->memory = limits.memory_max != LIMIT_INFINITY ? limits.memory_max : 0;
	recipe->pids = limits.tasks_max != LIMIT_INFINITY ? limits.tasks_max : 0;
}

/* Docker's API and podman's know no memory.high.  They take "shares" for a weight, which runtimes
 * turn into different weights, by their version. */
const char *container_limit_instead(enum limit limit)
{
	static const char *const instead[LIMIT_COUNT] = {
		[LIMIT_MEMORY_HIGH] = "use --memory-max",
		[LIMIT_CPU_WEIGHT] = "use --cpus when you make the session",
	};
	return instead[limit];
}

static void warn(struct deck *deck, const struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->cap_add.count; i++)
		deck_warn(deck,
			  "capability %s gives the agent more power over this machine than a "
			  "container has: check that it needs it",
			  recipe->cap_add.items[i]);
}

int container_resolve(struct deck *deck, const struct container_order *order,
		      const struct instance *instance, struct recipe **ret, struct error *err)
{
	const struct container_defaults defaults = settings_container(&deck->settings,
								      instance->group);
	struct container_order whole = *order;
	const struct role *role = order->role ? &order->role->role : NULL;
	CLEANUP(lists_clear) struct lists lists = { 0 };
	const struct agent *agent;
	cleanup_recipe struct recipe *recipe = recipe_new();
	if (deck_agent(deck, instance->agent, &agent, err) < 0)
		return -1;
	const struct logins_order logins = { agent->name, order->logins,
					     role ? &role->logins : NULL, &defaults };
	whole.login = &agent->login_variables;
	whole.engine = or_else(order->engine, defaults.engine);
	whole.image = order->build || role ? order->image : or_else(order->image, defaults.image);
	whole.network = or_else(order->network, defaults.network);
	whole.auth = logins_how(&logins, agent->name);
	whole.program = or_else(order->program, defaults.program);
	whole.cpus = or_else(order->cpus, defaults.cpus);
	whole.docker = or_else(order->docker, defaults.docker);
	if (role) {
		whole.image = role->image;
		whole.network = or_else(whole.network, role->network);
		whole.cpus = or_else(whole.cpus, role->cpus);
		whole.docker = or_else(whole.docker, role->docker);
	}
	whole.mounts = &lists.mounts;
	whole.environment = &lists.environment;
	whole.cap_add = &lists.cap_add;
	if (gather_lists(deck, order, &defaults, &lists, err) < 0)
		return -1;
	stages_enter(deck, STAGE_CREDENTIALS);
	recipe->directory = xstrdup(instance_lookup_directory(instance));
	for (size_t i = 0; i < lists.mounts.count; i++)
		if (check_mount_path(deck, lists.mounts.items[i], err) < 0)
			return error_prefix(err, "--mount");
	if (container_apply(&whole, recipe, err) < 0 || check_login(agent, recipe, err) < 0 ||
	    logins_add(deck, &logins, recipe, err) < 0 ||
	    take_program(deck, instance, whole.program != NULL, recipe, err) < 0 ||
	    ask_engine(deck, &whole, defaults.engine, recipe, err) < 0)
		return -1;
	container_limit(deck, instance, recipe);
	warn(deck, recipe);
	*ret = TAKE_PTR(recipe);
	return 0;
}

struct recipe *container_copy(const struct deck *deck, const struct instance *like,
			      const struct instance *instance)
{
	struct recipe *recipe = recipe_copy(like->recipe);
	recipe_drop_tree_mounts(recipe);
	nested_unname(recipe, like->base);
	container_limit(deck, instance, recipe);
	return recipe;
}

void container_place(const struct deck *deck, struct instance *instance, struct recipe *recipe)
{
	replace_string(&instance->backend, PLACE_CONTAINER);
	free(instance->base);
	instance->base = recipe_base(instance->id, recipe->directory, instance->agent);
	free(recipe->home);
	recipe->home = xasprintf("%s/%s/%s/" PATHS_HOME_DIRECTORY, deck->paths.state, deck->profile,
				 instance->base);
	free(recipe->keep_tag);
	recipe->keep_tag = xasprintf("agentdeck/keep:%s", instance->base);
	if (recipe->build)
		replace_string(&recipe->image, recipe->keep_tag);
	nested_name(recipe, instance->base);
	recipe_free(instance->recipe);
	instance->recipe = recipe;
}

void container_drop(const struct recipe *recipe)
{
	cleanup_engine struct engine *engine = NULL;
	if (recipe->build && container_open_engine(recipe, &engine, NULL) == 0)
		build_discard(engine, recipe);
}

void container_keep(const struct instance *instance)
{
	const struct recipe *recipe = instance->recipe;
	cleanup_engine struct engine *engine = NULL;
	cleanup_error struct error err = { 0 };
	if (!recipe || !recipe->build)
		return;
	if (container_open_engine(recipe, &engine, &err) < 0 ||
	    build_settle(engine, recipe, &err) < 0)
		log_warning("the image has no name that keeps it yet: %s", err.message);
}

/* ---- changes --------------------------------------------------------------------------------- */

static int change_image(const char *image, struct recipe *recipe, struct error *err)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_free char *before = xstrdup(or_empty(recipe->image_id));
	if (container_open_engine(recipe, &engine, err) < 0)
		return -1;
	const int r = settle_image(engine, image, recipe, err);
	if (r != 0)
		return r < 0 ? -1 : refuse_image(recipe, image, err);
	log_info("image: %s -> %s", before, recipe->image_id);
	return 0;
}

/* The mount that is replaced is dropped first: its place may be anywhere in the list, and frees its
 * target. */
static int change_mount(const struct deck *deck, const char *id, const char *text,
			struct recipe *recipe, struct error *err)
{
	cleanup_recipe struct recipe *changed = recipe_copy(recipe);
	cleanup_free char *copy = xstrdup(text);
	bool read_only;
	const char *target = split_mount(copy, &read_only);
	cleanup_free char *source = target ? NULL : realpath(copy, NULL);
	recipe_drop_mount(changed, target ? target : or_empty(source));
	if (check_mount_path(deck, text, err) < 0 || apply_mount(text, changed, err) < 0 ||
	    nesting_check(deck, id, changed, err) < 0)
		return -1;
	recipe_swap_mounts(recipe, changed);
	return 0;
}

static int check_free(const struct instance *instance, const char *why, struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	return instance_has_container(instance)
		       ? error_set(err, ERROR_INVALID,
				   "%s has a container %s: free it first with agentdeck session "
				   "eject, which keeps what resumes",
				   title, why)
		       : 0;
}

/* An own network keeps its name when `internal` changes, so it cannot be replaced while a container
 * uses it. */
static int change_network(const char *text, struct instance *instance, struct error *err)
{
	return check_free(instance, "in its network", err) < 0
		       ? -1
		       : apply_network(text, instance->recipe, err);
}

/* The Docker inside goes with the container beside which it was made. */
static int change_docker(const char *text, struct instance *instance, struct error *err)
{
	struct recipe *recipe = instance->recipe;
	cleanup_engine struct engine *engine = NULL;
	struct engine_facts facts;
	enum recipe_docker docker;
	if (parse_docker(text, &docker, err) < 0 ||
	    check_free(instance, "with the Docker inside that it has now", err) < 0 ||
	    (docker &&
	     (container_open_engine(recipe, &engine, err) < 0 ||
	      engine_facts(engine, &facts, err) < 0 || nested_check(engine, &facts, err) < 0)))
		return -1;
	nested_unname(recipe, instance->base);
	recipe->docker = docker;
	nested_name(recipe, instance->base);
	return 0;
}

int container_change(const struct deck *deck, struct instance *instance, enum container_part part,
		     const char *text, struct error *err)
{
	static const char *const names[] = { "image", "mounts", "secrets", "network", "Docker" };
	struct recipe *recipe = instance->recipe;
	if (!recipe)
		return error_set(err, ERROR_INVALID,
				 "%s has no %s: it lives on this host, not in a container",
				 instance->title, names[part]);
	return part == CONTAINER_IMAGE     ? change_image(text, recipe, err)
	       : part == CONTAINER_MOUNT   ? change_mount(deck, instance->id, text, recipe, err)
	       : part == CONTAINER_NETWORK ? change_network(text, instance, err)
	       : part == CONTAINER_DOCKER  ? change_docker(text, instance, err)
					   : apply_secret(text, recipe, err);
}
