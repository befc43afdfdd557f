/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/environment.h"

#include "base/jsonio.h"
#include "base/program.h"
#include "driver/tmux/tmux.h"
#include "engine/deck/home.h"
#include "engine/deck/incarnation.h"
#include "engine/deck/proof.h"
#include "engine/place/runfiles.h"
#include "model/plan/resume.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Belongs to the login, the terminal, the service or the run that we were called from. */
static const char *const transient[] = {
	"TMUX",
	"TMUX_PANE",
	"STY",
	"WINDOW",
	"SSH_TTY",
	"SSH_AUTH_SOCK",
	"XDG_SESSION_ID",
	"XDG_SESSION_TYPE",
	"XDG_SESSION_CLASS",
	"XDG_SEAT",
	"XDG_VTNR",
	"INVOCATION_ID",
	"JOURNAL_STREAM",
	"NOTIFY_SOCKET",
	"WATCHDOG_USEC",
	"WATCHDOG_PID",
	"LISTEN_FDS",
	"LISTEN_PID",
	"LISTEN_FDNAMES",
	"MAINPID",
	"MANAGERPID",
	"SYSTEMD_EXEC_PID",
	"OLDPWD",
	"PWD",
	"SHLVL",
	"_",
	"LINES",
	"COLUMNS",
	"TERM",
	"TERM_PROGRAM",
	"TERM_PROGRAM_VERSION",
	ENV_INSTANCE,
	ENV_INSTANCE_PROFILE,
	ENV_BASE,
	ENV_PROFILE,
	ENV_SHARED_INSTANCE,
	ENV_RUN,
	ENV_TOKEN,
	ENV_PANE_DIED,
	INCARNATION_MARK,
	"AGENTDECK_HOST",
	/* agent-deck sets these for the sessions of its own. */
	"AGENTDECK_CONTEXT_LEVEL",
	"AGENTDECK_GROUP",
	"AGENTDECK_LIFECYCLE",
	"AGENTDECK_PARENT_ID",
	"AGENTDECK_ROLE",
	"AGENTDECK_SESSION_ID",
	"AGENTDECK_SESSION_TITLE",
	"AGENTDECK_TOOL",
	"CLAUDE_SESSION_ID",
};

/* Does the pattern ("NAME", "PREFIX*", "A*B") name this variable? */
static bool matches(const char *pattern, const char *name)
{
	/* fnmatch(3) is slow, since it converts both texts to wide characters. */
	if (*pattern != *name && !strchr("*?[\\", *pattern))
		return false;
	return fnmatch(pattern, name, 0) == 0;
}

static bool is_transient(const char *name)
{
	if (starts_with(name, ENV_LAST_SECRET))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(transient); i++)
		if (streq(transient[i], name))
			return true;
	return false;
}

/* Is name among these NAME=VALUE? */
static bool is_set(const struct strvec *assignments, const char *name)
{
	for (size_t i = 0; i < assignments->count; i++) {
		size_t length = strcspn(assignments->items[i], "=");
		if (strlen(name) == length && strncmp(assignments->items[i], name, length) == 0)
			return true;
	}
	return false;
}

static bool is_scrubbed(const struct agent *agent, const struct strvec *own, const char *name)
{
	for (size_t i = 0; i < agent->scrub.count; i++)
		if (matches(agent->scrub.items[i], name))
			return true;
	/* What the registry sets takes the place of what was there. */
	return is_set(own, name);
}

/* Where things are, and how its user likes them.  No value of these is a secret; what might hold
 * one (NODE_OPTIONS, HTTPS_PROXY, *_API_KEY) is not here. */
static const char *const keepable[] = {
	"PATH",
	"LANG",
	"LANGUAGE",
	"LC_*",
	"TZ",
	"SHELL",
	"EDITOR",
	"VISUAL",
	"PAGER",
	"XDG_CONFIG_HOME",
	"XDG_DATA_HOME",
	"XDG_STATE_HOME",
	"XDG_CACHE_HOME",
	"XDG_CONFIG_DIRS",
	"XDG_DATA_DIRS",
	"COLORTERM",
	"NVM_DIR",
	"NVM_BIN",
	"FNM_DIR",
	"VOLTA_HOME",
	"PNPM_HOME",
	"BUN_INSTALL",
	"DENO_INSTALL",
	"GOPATH",
	"GOBIN",
	"CARGO_HOME",
	"RUSTUP_HOME",
	"JAVA_HOME",
	"PYENV_ROOT",
	"VIRTUAL_ENV",
	"CONDA_PREFIX",
	"NODE_EXTRA_CA_CERTS",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
};

static bool is_place(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keepable); i++)
		if (matches(keepable[i], name))
			return true;
	return false;
}

static bool is_keepable(const struct deck *deck, const char *name)
{
	return is_place(name) || strvec_contains(&deck->settings.environment_keep, name);
}

/* What an agent may need and only a login may have: the way to the network, and the account and
 * region of a provider.  These may hold secrets, so only their names are kept. */
static const char *const needed[] = {
	"*_PROXY",
	"*_proxy",
	"*_API_KEY",
	"ANTHROPIC_*",
	"AWS_*",
	"AZURE_*",
	"CLAUDE_CODE_SKIP_*",
	"CLAUDE_CODE_USE_*",
	"CLOUDSDK_*",
	"CLOUD_ML_REGION",
	"GH_HOST",
	"GOOGLE_*",
	"NODE_OPTIONS",
	"NODE_TLS_REJECT_UNAUTHORIZED",
	"OLLAMA_HOST",
	"OPENAI_*",
	"OPENROUTER_*",
	"REQUESTS_CA_BUNDLE",
	"VERTEX_*",
};

static bool is_needed(const struct agent *agent, const char *name)
{
	if (is_transient(name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (matches(needed[i], name))
			return true;
	return agent && strvec_contains(&agent->login_variables, name);
}

#define FROM_ENVIRONMENT "env:"

/* A value that is for the agent in a container, and not for its window here? */
static bool is_secret(const struct instance *instance, const struct agent *agent, const char *name)
{
	const struct recipe *recipe = instance->recipe;
	if (!recipe || streq(name, "HOME") || is_place(name))
		return false;
	for (size_t i = 0; i < recipe->secret_count; i++) {
		const struct recipe_secret *secret = &recipe->secrets[i];
		if (streq(name, secret->name) ||
		    (starts_with(secret->source, FROM_ENVIRONMENT) &&
		     streq(name, secret->source + strlen(FROM_ENVIRONMENT))))
			return true;
	}
	return strvec_contains(&agent->login_variables, name);
}

#define PATH_ENTRY "PATH="

static bool has_directory(const char *path, const char *directory)
{
	const size_t length = strlen(directory);
	for (const char *part = path; part; part = strchr(part, ':')) {
		part += *part == ':';
		if (strcspn(part, ":") == length && strncmp(part, directory, length) == 0)
			return true;
	}
	return false;
}

/* Is it a part of the PATH that was kept, as that of cron is? */
static bool is_poorer_path(const char *path, const char *kept)
{
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy;
	for (const char *directory; (directory = strsep(&rest, ":"));)
		if (!has_directory(kept, directory))
			return false;
	return strlen(path) < strlen(kept);
}

/* The environment of a container's agent is that of its recipe. */
static void keep_name(const struct agent *agent, const char *name, struct instance *instance)
{
	if (!instance->recipe && is_needed(agent, name) &&
	    !strvec_contains(&instance->env_names, name))
		strvec_push(&instance->env_names, name);
}

void environment_keep(struct deck *deck, struct instance *instance)
{
	const struct agent *agent = NULL;
	cleanup_free char *path = xstrdup_or_null(environment_kept_path(instance));
	const char *now = getenv("PATH");
	const bool is_poorer = path && now && is_poorer_path(now, path);
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	strvec_clear(&instance->env_kept);
	/* No login starts it, as with cron: what its login had is still what it needs. */
	if (!is_poorer)
		strvec_clear(&instance->env_names);
	for (char **item = environ; *item; item++) {
		cleanup_free char *name = xstrndup(*item, strcspn(*item, "="));
		if (!is_keepable(deck, name))
			keep_name(agent, name, instance);
		else if (is_poorer && streq(name, "PATH"))
			strvec_pushf(&instance->env_kept, PATH_ENTRY "%s", path);
		else
			strvec_push(&instance->env_kept, *item);
	}
}

const char *environment_kept_path(const struct instance *instance)
{
	for (size_t i = 0; i < instance->env_kept.count; i++)
		if (starts_with(instance->env_kept.items[i], PATH_ENTRY))
			return instance->env_kept.items[i] + strlen(PATH_ENTRY);
	return NULL;
}

void environment_take_kept(const struct instance *instance)
{
	for (size_t i = 0; i < instance->env_kept.count; i++) {
		const char *entry = instance->env_kept.items[i];
		const size_t length = strcspn(entry, "=");
		cleanup_free char *name = xstrndup(entry, length);
		if (entry[length])
			(void)setenv(name, entry + length + 1, starts_with(entry, PATH_ENTRY));
	}
}

void environment_of_kept(const struct instance *instance, struct strvec *ret)
{
	for (char **item = environ; *item; item++) {
		cleanup_free char *name = xstrndup(*item, strcspn(*item, "="));
		if (!is_set(&instance->env_kept, name))
			strvec_push(ret, *item);
	}
	strvec_push_all(ret, &instance->env_kept);
}

int environment_of_run(const struct place_run *run, struct strvec *ret)
{
	cleanup_strvec struct strvec all = { 0 };
	/* The capsule of a container has the container's environment. */
	const struct process_id *server = run->window.pid ? &run->window : &run->server;
	if (proof_of(run->id, server) != PROOF_OURS ||
	    process_environment(server->pid, &all, NULL) != 0)
		return PROCESS_GONE;
	tmux_show_bus(&all);
	strvec_clear(ret);
	for (size_t i = 0; i < all.count; i++) {
		cleanup_free char *name = xstrndup(all.items[i], strcspn(all.items[i], "="));
		if (!is_transient(name))
			strvec_push(ret, all.items[i]);
	}
	return 0;
}

void environment_missing(const struct instance *instance, struct strvec *ret)
{
	cleanup_strvec struct strvec now = { 0 };
	const struct place_run run = place_run_of(instance);
	if (!instance->env_names.count || instance->recipe || environment_of_run(&run, &now) != 0)
		return;
	for (size_t i = 0; i < instance->env_names.count; i++)
		if (!is_set(&now, instance->env_names.items[i]))
			strvec_push(ret, instance->env_names.items[i]);
}

int environment_of_secrets(const struct instance *instance, struct strvec *ret)
{
	cleanup_strvec struct strvec all = { 0 };
	const struct recipe *recipe = instance->recipe;
	const struct process_id *agent = &instance->run.pane;
	if (!recipe || !agent->pid || proof_of(instance->id, agent) != PROOF_OURS ||
	    process_environment(agent->pid, &all, NULL) != 0)
		return PROCESS_GONE;
	for (size_t i = 0; i < recipe->secret_count; i++) {
		const struct recipe_secret *secret = &recipe->secrets[i];
		const size_t length = strlen(secret->name);
		for (size_t j = 0; starts_with(secret->source, FROM_ENVIRONMENT) && j < all.count;
		     j++)
			if (starts_with(all.items[j], secret->name) && all.items[j][length] == '=')
				strvec_pushf(ret, ENV_LAST_SECRET "%s", all.items[j]);
	}
	return 0;
}

void environment_plain(struct strvec *ret)
{
	for (char **item = environ; *item; item++) {
		cleanup_free char *name = xstrndup(*item, strcspn(*item, "="));
		if (!is_transient(name))
			strvec_push(ret, *item);
	}
}

static bool is_name(const char *name)
{
	return *name && !strchr("0123456789", *name) &&
	       !name[strspn(name,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static char *joined_path(const char *first, const char *second)
{
	struct strbuf path = { 0 };
	cleanup_free char *copy = xstrdup(second);
	char *rest = copy;
	strbuf_adds(&path, first);
	for (const char *directory; (directory = strsep(&rest, ":"));)
		if (*directory && !has_directory(strbuf_text(&path), directory))
			strbuf_addf(&path, "%s%s", path.length ? ":" : "", directory);
	return strbuf_take(&path);
}

/* Where our own files are was settled when this program began. */
static bool is_settled(const char *name)
{
	static const char *const names[] = { "HOME",          "AGENTDECK_HOME", "XDG_CONFIG_HOME",
					     "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
					     "TMPDIR" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(name, names[i]))
			return true;
	return false;
}

static void adopt(const struct strvec *entries, bool replaces)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *entry = entries->items[i];
		const size_t length = strcspn(entry, "=");
		cleanup_free char *name = xstrndup(entry, length);
		if (!entry[length] || !is_name(name) || is_transient(name) || is_settled(name))
			continue;
		const char *value = entry + length + 1, *ours = or_empty(getenv("PATH"));
		cleanup_free char *path = !streq(name, "PATH") ? NULL
					  : replaces           ? joined_path(value, ours)
							       : joined_path(ours, value);
		(void)setenv(name, path ? path : value, path || replaces);
	}
}

void environment_adopt(const struct strvec *login)
{
	adopt(login, true);
}

void environment_complete(const struct strvec *run)
{
	adopt(run, false);
}

char *environment_hook(const struct deck *deck, const struct instance *instance)
{
	cleanup_json struct json_object *argv = json_object_new_array();
	json_object_array_add(argv, json_text(runfiles_hook_program(deck, instance)));
	json_object_array_add(argv, json_object_new_string("hook"));
	/* TOML does not know "\/". */
	return xstrdup(json_object_to_json_string_ext(
		argv, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* What the registry entry sets, with its slots filled. */
static void push_own(const struct deck *deck, const struct instance *instance,
		     const struct agent *agent, struct strvec *ret)
{
	cleanup_free char *state = home_path(deck, instance->id);
	cleanup_free char *settings = runfiles_settings(instance);
	cleanup_free char *hook = environment_hook(deck, instance);
	const struct resume_slots slots = { .settings = settings, .hook = hook, .state = state };
	strvec_push_all(ret, &agent->set);
	resume_expand(&agent->isolation_environment, &slots, ret);
	if (resume_can_expand(&agent->report_environment, &slots))
		resume_expand(&agent->report_environment, &slots, ret);
}

/* Where the agent looks without being told. */
static char *usual_home(const struct deck *deck, const struct instance *instance,
			const struct agent *agent)
{
	if (instance->recipe && agent->config_home && starts_with(agent->config_home, "~"))
		return xasprintf("%s%s", instance->recipe->home, agent->config_home + 1);
	return deck_default_home(deck, agent);
}

/* The agent's home is part of the conversation's identity: from any login, a run is started with
 * the home that the conversation was born in. */
static void push_home(const struct deck *deck, const struct instance *instance,
		      const struct agent *agent, struct strvec *ret)
{
	const char *name = agent->config_home_env, *home = instance->conversation.config_home;
	if (!name || !home)
		return;
	const char *now = instance->recipe ? NULL : getenv(name);
	cleanup_free char *usual = usual_home(deck, instance, agent);
	/* Not set where it says what is so anyway: some agents then look elsewhere for a part of
	 * it. */
	if ((now && streq(now, home)) || !usual || !streq(usual, home))
		strvec_pushf(ret, "%s=%s", name, home);
}

/* The variables that identify the session. */
static void push_names(const struct instance *instance, struct strvec *ret)
{
	strvec_pushf(ret, ENV_INSTANCE "=%s", instance->id);
	strvec_pushf(ret, ENV_INSTANCE_PROFILE "=%s", instance->profile);
	strvec_pushf(ret, ENV_BASE "=%s", instance->base);
}

/* The container's PATH and whatever else its image sets stay as they are. */
void environment_inside(const struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct strvec *ret)
{
	strvec_push(ret, "TERM=xterm-256color");
	/* claude asks only terminals that it knows for keys such as Shift+Enter. */
	strvec_push(ret, "TERM_PROGRAM=tmux");
	strvec_push(ret, "COLORTERM=truecolor");
	strvec_push(ret, "LANG=C.UTF-8");
	strvec_pushf(ret, "HOME=%s", instance->recipe->home);
	strvec_push(ret, recipe_is_root(instance->recipe) ? "USER=root" : "USER=agent");
	strvec_pushf(ret, "PWD=%s", instance_launch_directory(instance));
	push_names(instance, ret);
	strvec_push_all(ret, &instance->recipe->environment);
	push_home(deck, instance, agent, ret);
	push_own(deck, instance, agent, ret);
}

void environment_build(const struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct strvec *ret)
{
	struct stat st;
	bool has_runtime = false, has_home = false, has_path = false;
	cleanup_strvec struct strvec own = { 0 };
	push_own(deck, instance, agent, &own);
	for (char **item = environ; *item; item++) {
		cleanup_free char *name = xstrndup(*item, strcspn(*item, "="));
		if (is_transient(name) || is_scrubbed(agent, &own, name) ||
		    is_secret(instance, agent, name) ||
		    (deck->unusable_runtime && streq(name, "XDG_RUNTIME_DIR")) ||
		    (instance->conversation.config_home && agent->config_home_env &&
		     streq(name, agent->config_home_env)))
			continue;
		has_runtime |= streq(name, "XDG_RUNTIME_DIR");
		has_home |= streq(name, "HOME");
		has_path |= starts_with(*item, PATH_ENTRY) && !streq(*item, PATH_ENTRY);
		strvec_push(ret, *item);
	}
	push_home(deck, instance, agent, ret);
	strvec_push_all(ret, &own);
	/* We found it in the user database; not every agent looks there, and its conversations are
	 * below it. */
	if (!has_home)
		strvec_pushf(ret, "HOME=%s", deck->paths.home);
	if (!has_path)
		strvec_push(ret, PATH_ENTRY PROGRAM_DEFAULT_PATH);
	/* The agent's own tools want the user manager as well, also when we were called by cron. */
	if (!has_runtime && stat(deck->paths.user_runtime, &st) == 0 && st.st_uid == getuid())
		strvec_pushf(ret, "XDG_RUNTIME_DIR=%s", deck->paths.user_runtime);
	/* tmux sets its own for the pane; its server needs one that exists. */
	strvec_push(ret, "TERM=xterm-256color");
	strvec_pushf(ret, "PWD=%s", instance_launch_directory(instance));
	strvec_pushf(ret, "SSH_AUTH_SOCK=%.*s" RUN_SSH_LINK,
		     (int)(path_basename(instance->run.directory) - instance->run.directory),
		     instance->run.directory);
	push_names(instance, ret);
	strvec_pushf(ret, ENV_RUN "=%s", instance->run.id);
}
