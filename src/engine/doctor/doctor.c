/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The doctor's second half: judges the facts that doctor-gather.c gathers.
 */
#include "engine/doctor/doctor.h"

#include "base/version.h"
#include "engine/place/container/resolve.h"

#include <inttypes.h>
#include <string.h>

enum { FREE_LOW_MIB = 64, FREE_NONE = 64 << 10, KIB = 1 << 10 };

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_OK] = "ok",
		[VERDICT_WARNING] = "warning",
		[VERDICT_ERROR] = "error",
		[VERDICT_UNKNOWN] = "unknown",
	};
	return names[verdict];
}

void doctor_findings_free(struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].reason);
		free(findings->items[i].remedy);
	}
	free(findings->items);
	*findings = (struct doctor_findings){ 0 };
}

bool doctor_findings_have_error(const struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].verdict == VERDICT_ERROR)
			return true;
	return false;
}

static void directory_free(struct doctor_directory *directory)
{
	free(directory->path);
	free(directory->problem);
}

void doctor_facts_free(struct doctor_facts *facts)
{
	directory_free(&facts->state);
	directory_free(&facts->runtime);
	free(facts->unusable_runtime);
	char *const texts[] = {
		facts->user,
		facts->home_problem,
		facts->profile_problem,
		facts->config_path,
		facts->config_problem,
		facts->sessions_problem,
		facts->tmux_version,
		facts->tmux_problem,
		facts->default_agent,
		facts->manager_version,
		facts->manager_why,
		facts->isolation_why,
		facts->login_why,
		facts->cgroup,
		facts->agent_socket,
		facts->link_path,
		facts->link_target,
		facts->supervisor_choice,
		facts->notify_program,
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < facts->engine_count; i++) {
		free(facts->engines[i].name);
		free(facts->engines[i].problem);
		free(facts->engines[i].version);
		free(facts->engines[i].api_version);
	}
	free(facts->engines);
	free(facts->capsule_problem);
	strvec_clear(&facts->damaged);
	strvec_clear(&facts->damaged_ids);
	strvec_clear(&facts->limit_gaps);
	strvec_clear(&facts->unscoped);
	strvec_clear(&facts->lacking);
	strvec_clear(&facts->lacking_names);
	strvec_clear(&facts->unreported);
	strvec_clear(&facts->elsewhere);
	strvec_clear(&facts->missing_helpers);
	strvec_clear(&facts->other_helpers);
	strvec_clear(&facts->open_helpers);
	strvec_clear(&facts->agents);
	strvec_clear(&facts->stand_ins);
	strvec_clear(&facts->agent_problems);
	strvec_clear(&facts->agent_hints);
	strvec_clear(&facts->agent_remedies);
	*facts = (struct doctor_facts){ 0 };
}

static void PRINTF_LIKE(3, 4) found(struct doctor_findings *findings, enum doctor_verdict verdict,
				    const char *format, ...)
{
	struct doctor_finding finding = { .verdict = verdict };
	struct doctor_finding *items = reallocarray(findings->items, findings->count + 1,
						    sizeof(*items));
	va_list args;
	va_start(args, format);
	if (!items || vasprintf(&finding.reason, format, args) < 0)
		abort();
	va_end(args);
	items[findings->count++] = finding;
	findings->items = items;
}

/* How a judge_...() says what it has found; it calls its findings ret. */
#define ok(...)      found(ret, VERDICT_OK, __VA_ARGS__)
#define warn(...)    found(ret, VERDICT_WARNING, __VA_ARGS__)
#define wrong(...)   found(ret, VERDICT_ERROR, __VA_ARGS__)
#define unknown(...) found(ret, VERDICT_UNKNOWN, __VA_ARGS__)
/* And what to do about the last of them. */
#define advise(...) (ret->items[ret->count - 1].remedy = xasprintf(__VA_ARGS__))

static void judge_home(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (!facts->home_problem)
		return;
	wrong("%s", facts->home_problem);
	advise("%s", facts->home_is_ours ? "unset AGENTDECK_HOME"
					 : "export HOME=/the/directory/that/is/yours");
}

static void judge_profile(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (!facts->profile_problem)
		return;
	wrong("%s", facts->profile_problem);
	advise("unset AGENTDECK_PROFILE, or name an existing profile with -p");
}

static void judge_config(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const char *path = facts->config_path;
	if (facts->config_problem) {
		wrong("%s", facts->config_problem);
		advise("correct %s at the position named; until then the last valid configuration "
		       "is used, and no session can be created",
		       path);
	} else if (facts->config_exists) {
		ok("%s is valid", path);
	} else {
		ok("defaults; %s would change them", path);
	}
}

static void advise_on_directory(const struct doctor_facts *facts,
				const struct doctor_directory *directory,
				struct doctor_findings *ret)
{
	/* Root may be a user with sudo: the directory is in the right place. */
	if (directory->is_foreign && streq(facts->user, "root"))
		advise("run agentdeck as the user who owns it, without sudo");
	else if (directory->is_foreign)
		advise("sudo chown -R %s: %s, or choose another place with AGENTDECK_HOME",
		       facts->user, directory->path);
	else if (directory->exists && directory->mode & 022)
		advise("chmod 700 %s", directory->path);
	else if (directory->exists && !directory->is_writable)
		advise("chmod 700 %s, or choose another place with AGENTDECK_HOME",
		       directory->path);
	else
		advise("choose another place with AGENTDECK_HOME");
}

static void judge_state(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const struct doctor_directory *state = &facts->state;
	int64_t mib = state->free_bytes / (1024 * 1024);
	if (state->problem) {
		wrong("%s", state->problem);
		advise_on_directory(facts, state, ret);
	} else if (state->free_bytes >= 0 && state->free_bytes < FREE_NONE) {
		wrong("%s: the file system is full, and nothing can be saved", state->path);
		advise("free some space: df -h %s", state->path);
	} else if (state->free_bytes >= 0 && mib < FREE_LOW_MIB) {
		const int64_t kib = state->free_bytes / KIB;
		warn("%s: only %" PRId64 " %s are free", state->path, mib ? mib : kib,
		     mib ? "MiB" : "KiB");
		advise("free some space: df -h %s", state->path);
	} else if (state->is_volatile) {
		warn("%s is in memory: a restart of the machine forgets all sessions", state->path);
		advise("choose a place on a disk with AGENTDECK_HOME");
	} else {
		ok("%s, mode %04o, %" PRId64 " MiB free", state->path, state->mode, mib);
	}
}

static void judge_runtime(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const struct doctor_directory *runtime = &facts->runtime;
	if (runtime->problem) {
		wrong("%s", runtime->problem);
		advise_on_directory(facts, runtime, ret);
	} else if (facts->unusable_runtime) {
		warn("%s is not a directory that you own and can write to: the files of running "
		     "sessions are in %s",
		     facts->unusable_runtime, runtime->path);
		advise("log in again, or export XDG_RUNTIME_DIR=/run/user/%u", (unsigned)getuid());
	} else if (!runtime->exists) {
		ok("%s will be created when the first session starts", runtime->path);
	} else {
		ok("%s, mode %04o", runtime->path, runtime->mode);
	}
}

static void judge_sessions(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const bool unscoped = facts->unscoped.count && facts->is_isolated;
	if (facts->state.problem || facts->sessions_problem) {
		unknown("sessions cannot be listed: %s", facts->sessions_problem
								 ? facts->sessions_problem
								 : "see the state directory");
		return;
	}
	if (facts->damaged.count) {
		cleanup_free char *list = strvec_join(&facts->damaged, "; ");
		warn("%zu of %zu cannot be read: %s", facts->damaged.count, facts->session_count,
		     list);
		advise("correct the file, or forget the session: agentdeck remove %s",
		       facts->damaged_ids.items[0]);
	}
	if (unscoped) {
		cleanup_free char *list = strvec_join(&facts->unscoped, " ");
		warn("%zu of %zu running were started without a scope and may end with a login: "
		     "%s",
		     facts->unscoped.count, facts->live_count, list);
		advise("agentdeck session restart %s", facts->unscoped.items[0]);
	}
	if (facts->lacking.count) {
		cleanup_free char *list = strvec_join(&facts->lacking, " ");
		cleanup_free char *names = strvec_join(&facts->lacking_names, ", ");
		warn("%zu of %zu running lack variables that their last start by hand had (%s): "
		     "%s",
		     facts->lacking.count, facts->live_count, names, list);
		advise("where they are set: agentdeck session restart %s. For the next reboot, "
		       "write NAME=VALUE into ~/.config/environment.d/agents.conf",
		       facts->lacking.items[0]);
	}
	for (size_t i = 0; i < facts->unreported.count; i++) {
		warn("%s, so agentdeck follows its screen and its files",
		     facts->unreported.items[i]);
		advise("allow its hooks, and start it again: agentdeck's are among them");
	}
	if (!facts->damaged.count && !unscoped && !facts->lacking.count && !facts->unreported.count)
		ok("%zu in all, %zu running", facts->session_count, facts->live_count);
}

static void judge_machine(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	cleanup_free char *names = strvec_join(&facts->elsewhere, ", ");
	if (facts->elsewhere_count) {
		warn("%zu of %zu sessions run on another machine or in another container: %s",
		     facts->elsewhere_count, facts->session_count, names);
		advise("use them there; if they no longer run there: agentdeck recover "
		       "--take-over");
	}
	if (facts->renamed_count) {
		warn("%zu of them ran on a machine of this name with another machine id: if that "
		     "is this machine, its id is not kept",
		     facts->renamed_count);
		advise("keep /etc/machine-id on the disk: sudo systemd-machine-id-setup --commit");
	} else if (facts->machine_id_is_volatile) {
		warn("/etc/machine-id is in memory: after the next boot, the sessions of this boot "
		     "count as another machine's");
		advise("keep it on the disk: sudo systemd-machine-id-setup --commit");
	}
	if (facts->is_fleeting) {
		warn("this container has no id that outlives it: after its restart, nothing tells "
		     "its sessions from those of another container");
		advise("after each restart, if nothing else uses this home: agentdeck recover "
		       "--take-over");
	}
}

static void judge_helpers(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	cleanup_free char *missing = strvec_join(&facts->missing_helpers, ", ");
	cleanup_free char *other = strvec_join(&facts->other_helpers, ", ");
	if (!facts->deck_is_open) {
		unknown("not checked: fix the problem above first");
	} else if (facts->open_helpers.count) {
		wrong("%s", facts->open_helpers.items[0]);
	} else if (*missing) {
		wrong("not installed: %s", missing);
		advise("install agentdeck again: make install");
	} else if (*other) {
		wrong("not of the version of agentdeck, %s: %s", agentdeck_version, other);
		advise("install agentdeck again: make install");
	} else {
		ok("agentdeck's other programs are installed, and of its version");
	}
}

static void judge_tmux(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->tmux_problem) {
		wrong("%s", facts->tmux_problem);
		advise("install tmux 3.2 or newer, on Debian: sudo apt-get install tmux");
	} else if (!facts->tmux_enough) {
		wrong("version %s is too old", facts->tmux_version);
		advise("install tmux 3.2 or newer");
	} else {
		ok("version %s%s", facts->tmux_version,
		   facts->tmux_loses_ends
			   ? "; before 3.5 it may miss that an agent ended; agentdeck-watch "
			     "covers that"
			   : "");
	}
}

static void judge_agents(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	cleanup_free char *agents = strvec_join(&facts->agents, ", ");
	for (size_t i = 0; i < facts->agent_problems.count; i++) {
		warn("%s", facts->agent_problems.items[i]);
		advise("correct the file at the position named");
	}
	for (size_t i = 0; i < facts->agent_hints.count; i++) {
		warn("%s", facts->agent_hints.items[i]);
		if (!is_empty(facts->agent_remedies.items[i]))
			advise("%s", facts->agent_remedies.items[i]);
	}
	if (facts->default_agent && facts->default_installed == ANSWER_UNKNOWN) {
		wrong("default_agent is %s, which is unknown", facts->default_agent);
		advise("correct default_agent in %s: agentdeck agents list names them",
		       facts->config_path);
	} else if (facts->default_agent && facts->default_installed == ANSWER_NO) {
		warn("default_agent is %s, which is not installed", facts->default_agent);
		advise("install it, or change default_agent in %s", facts->config_path);
	} else if (facts->agents.count) {
		ok("%s", agents);
	} else {
		warn("no coding agent is in PATH%s",
		     facts->stand_ins.count ? ", only demo and shell" : "");
		advise("install one that agentdeck agents list names; any other program runs with "
		       "launch -c");
	}
}

static void judge_systemd(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->manager_version) {
		ok("version %s", facts->manager_version);
	} else if (!facts->booted_with_systemd) {
		warn("this machine does not run it");
	} else if (!facts->built_with_systemd) {
		warn("agentdeck was built without it");
		advise("build and install again: ./configure && make && make install");
	} else {
		unknown("runs; the user manager knows its version");
	}
}

static void judge_manager(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->manager_version) {
		ok("answers");
		return;
	}
	found(ret, facts->home_problem ? VERDICT_UNKNOWN : VERDICT_WARNING, "not reachable: %s",
	      or_empty(facts->manager_why));
	if (!facts->booted_with_systemd || !facts->built_with_systemd)
		return;
	/* logind starts it with the first login, or with lingering, and not again. */
	if (facts->is_known_user)
		advise("sudo systemctl restart user@%u.service", (unsigned)getuid());
	else
		advise("log in again, or start it: sudo loginctl enable-linger %s", facts->user);
}

/* Without a scope a session ends with the login that started it. */
static void judge_isolation(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (!facts->deck_is_open) {
		unknown("not checked: fix the problem above first");
	} else if (facts->has_main) {
		ok("the sessions end with the Pod, container or job, and with no login");
	} else if (facts->is_isolated) {
		ok("each session gets its own scope (%s)", facts->isolation_why);
	} else if (facts->isolation_is_override) {
		warn("off by launch_in_user_scope = false: sessions may end with your login");
		advise("take that line out of %s", facts->config_path);
	} else if (facts->manager_version) {
		warn("off, sessions may end with your login: %s", facts->isolation_why);
		advise("put this into %s: [tmux] launch_in_user_scope = true", facts->config_path);
	} else {
		warn("off, because no user manager runs: sessions may end with your login");
	}
	for (size_t i = 0; i < facts->limit_gaps.count; i++)
		warn("%s", facts->limit_gaps.items[i]);
}

static void judge_linger(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->lingers && facts->is_guarded) {
		ok("on: %s's user manager outlives the last logout, and systemd restarts it when "
		   "it is killed",
		   facts->user);
	} else if (facts->lingers) {
		ok("on: %s's user manager outlives the last logout. If it is killed, the sessions "
		   "end until it is started again; sudo agentdeck supervise --guard %s has "
		   "systemd do that",
		   facts->user, facts->user);
	} else if (facts->login_why) {
		unknown("%s", facts->login_why);
	} else if (facts->deck_is_open && facts->isolation_is_override) {
		ok("off; it only matters for sessions with a scope");
	} else {
		warn("%s",
		     facts->linger_forbidden
			     ? "off, and [tmux] linger = false: sessions end about 10 s after your "
			       "last logout"
			     : "off: sessions end about 10 s after your last logout, unless the "
			       "next start can turn it on");
		advise("%ssudo loginctl enable-linger %s",
		       facts->linger_forbidden ? "" : "start a session; if it is off then, too: ",
		       facts->user);
	}
}

static void judge_kill(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->kills_user_processes == ANSWER_UNKNOWN) {
		unknown("%s", facts->login_why);
	} else if (facts->kills_user_processes == ANSWER_NO) {
		ok("no");
	} else if (facts->deck_is_open && !facts->is_isolated) {
		wrong("yes, and sessions have no scope: they are killed at your logout");
		advise("fix isolation (see above), or set KillUserProcesses=no in "
		       "/etc/systemd/logind.conf");
	} else {
		ok("yes: a logout kills the processes of its login session, but not those in "
		   "scopes");
	}
}

static void judge_login(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const char *slash = facts->cgroup ? strstr(facts->cgroup, "/session-") : NULL;
	cleanup_free char *scope = slash ? xstrndup(slash + 1, strcspn(slash + 1, "/")) : NULL;
	if (!facts->cgroup) {
		unknown("our own control group cannot be read");
	} else if (!scope) {
		ok("this command is not in a login session (%s)", facts->cgroup);
	} else if (facts->deck_is_open && !facts->is_isolated) {
		warn("sessions started here belong to %s, your login, and may end with it", scope);
		advise("see isolation");
	} else {
		ok("this command is in %s, but sessions are not", scope);
	}
}

static void judge_ssh_agent(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->link_alive) {
		ok("sessions reach %s", facts->link_target);
	} else if (facts->agent_socket_alive) {
		ok("this login's SSH agent (%s) is passed to sessions at the next start or attach",
		   facts->agent_socket);
	} else if (facts->link_target) {
		warn("sessions look for it at %s, where none is running now", facts->link_target);
		advise("log in with ssh -A, then: agentdeck attach SESSION");
	} else if (facts->agent_socket) {
		warn("SSH_AUTH_SOCK is %s, where no SSH agent is running", facts->agent_socket);
		advise("log in again, or unset SSH_AUTH_SOCK");
	} else {
		ok("this login has no SSH agent, so sessions have none");
	}
}

/* Without one, sessions wait for their user after a crash or a reboot. */
static void judge_supervisor(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const bool is_enabled = streq(or_empty(facts->supervisor_choice), "installed");
	if (facts->has_main) {
		ok("the main program keeps it: sessions restart by themselves after a crash, and "
		   "with the next Pod, container or job");
	} else if (facts->supervisor_runs && (!facts->manager_version || !is_enabled)) {
		ok("sessions restart by themselves after a crash, and after a reboot if something "
		   "starts the supervisor again");
	} else if (facts->supervisor_runs && !facts->lingers) {
		ok("sessions restart by themselves after a crash, and after a reboot with your "
		   "next login");
	} else if (facts->supervisor_runs) {
		ok("sessions restart by themselves after a crash or reboot");
	} else if (!facts->manager_version && is_enabled) {
		warn("it is enabled, and does not run because the user manager does not: nothing "
		     "restarts your sessions");
		advise("start the user manager (see above)");
	} else if (!facts->manager_version) {
		ok("none runs: after a crash or reboot, run agentdeck recover");
	} else if (facts->supervisor_choice && streq(facts->supervisor_choice, "declined")) {
		ok("you uninstalled it: after a crash or reboot, run agentdeck recover");
	} else {
		/* A start decides it once, and only where a unit is installed. */
		warn("none runs: after a crash or reboot, nothing restarts your sessions");
		advise("%sagentdeck supervise --install",
		       facts->supervisor_choice ? "" : "start a session; if none runs then, too: ");
	}
}

static void judge_notify(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	const char *program = facts->notify_program;
	if (program && facts->notify_installed) {
		ok("%s is called when a session needs you", program);
	} else if (program) {
		warn("program %s does not exist: no notification is sent when a session needs you",
		     program);
		advise("install it, or change [notify] command in %s", facts->config_path);
	}
}

/* Without XDG_DATA_DIRS, as in a login over SSH, fish looks nowhere in /usr/local. */
static void judge_completion(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	if (facts->fish_completes == ANSWER_UNKNOWN)
		return;
	if (facts->fish_completes == ANSWER_YES) {
		ok("fish finds the completion of agentdeck");
		return;
	}
	warn("fish does not look where the completion of agentdeck was installed");
	advise("mkdir -p ~/.config/fish/completions && "
	       "agentdeck completion fish >~/.config/fish/completions/agentdeck.fish");
}

static void judge_silence(const struct doctor_engine *engine, struct doctor_findings *ret)
{
	wrong("%s cannot be used: %s", engine->name, engine->problem);
	if (streq(engine->name, "docker"))
		advise("start it, and let your user use its socket: sudo systemctl start docker; "
		       "sudo usermod -aG docker $USER");
	else if (streq(engine->name, "podman"))
		advise("systemctl --user enable --now podman.socket");
	else
		advise("start the engine, or change engine in [container] of config.toml");
}

/* Docker refuses a container with a limit that it cannot set. */
static void judge_limits(const struct doctor_facts *facts, const struct doctor_engine *engine,
			 struct doctor_findings *ret)
{
	const struct {
		bool is_wanted, is_there;
		const char *what, *controller;
	} limits[] = {
		{ facts->limits_memory, engine->counts_memory, "memory", "memory" },
		{ facts->limits_pids, engine->counts_pids, "processes", "pids" },
		{ facts->limits_cpus, engine->counts_cpus, "processors", "cpu" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		if (!limits[i].is_wanted || limits[i].is_there)
			continue;
		warn("%s cannot limit %s, as your configuration or a session asks", engine->name,
		     limits[i].what);
		advise(engine->is_rootless
			       ? "let your user manager have the controller %s: Delegate=%s in "
				 "user@.service (systemctl edit user@.service), then log in again"
			       : "the kernel lacks the controller %s (cgroup v2: %s in "
				 "/sys/fs/cgroup/cgroup.controllers)",
		       limits[i].controller, limits[i].controller);
	}
}

/* Missing parts of the engine that no session has needed yet.  The caller frees. */
static char *engine_lacks(const struct doctor_facts *facts, const struct doctor_engine *engine)
{
	const struct {
		bool is_lacking;
		const char *what;
	} parts[] = {
		{ !facts->limits_memory && !engine->counts_memory, "limits of memory" },
		{ !facts->limits_pids && !engine->counts_pids, "limits of processes" },
		{ !facts->limits_cpus && !engine->counts_cpus, "limits of processors" },
		{ !facts->needs_image && !engine->has_image,
		  "a default image (agentdeck image build-default)" },
	};
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].is_lacking)
			strbuf_addf(&text, "%s%s",
				    text.length ? ", " : "; for containers it lacks ",
				    parts[i].what);
	return xstrdup(strbuf_text(&text));
}

static void judge_engine(const struct doctor_facts *facts, const struct doctor_engine *engine,
			 struct doctor_findings *ret)
{
	if (engine->problem) {
		judge_silence(engine, ret);
		return;
	}
	cleanup_free char *lacks = engine_lacks(facts, engine);
	ok("%s %s answers (API %s%s)%s", engine->name, or_empty(engine->version),
	   or_empty(engine->api_version), engine->is_rootless ? ", rootless" : "", lacks);
	judge_limits(facts, engine, ret);
	if (engine == facts->engines && facts->needs_image && !engine->has_image) {
		warn("%s has no default image: launch --container needs --image", engine->name);
		advise("agentdeck image build-default --engine %s", engine->name);
	}
}

static void judge_containers(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	for (size_t i = 0; i < facts->engine_count; i++)
		judge_engine(facts, facts->engines + i, ret);
	for (enum limit limit = 0; facts->uses_containers && limit < LIMIT_COUNT; limit++) {
		if (!facts->has_unusable_limit[limit])
			continue;
		warn("%s of your configuration does nothing in containers", limit_name(limit));
		advise("%s", container_limit_instead(limit));
	}
	if (facts->capsule_problem) {
		wrong("%s", facts->capsule_problem);
		advise("install agentdeck again: make install");
	}
}

void doctor_judge(const struct doctor_facts *facts, struct doctor_findings *ret)
{
	static const struct {
		const char *name;
		void (*judge)(const struct doctor_facts *facts, struct doctor_findings *ret);
		enum { OF_ANY, OF_HOME, OF_LOGINS } kind;
	} checks[] = {
		{ "home", judge_home, OF_ANY },
		{ "profile", judge_profile, OF_HOME },
		{ "config", judge_config, OF_HOME },
		{ "state directory", judge_state, OF_HOME },
		{ "runtime directory", judge_runtime, OF_HOME },
		{ "sessions", judge_sessions, OF_HOME },
		{ "machine", judge_machine, OF_HOME },
		{ "helpers", judge_helpers, OF_HOME },
		{ "agents", judge_agents, OF_HOME },
		{ "tmux", judge_tmux, OF_ANY },
		{ "systemd", judge_systemd, OF_LOGINS },
		{ "user manager", judge_manager, OF_LOGINS },
		{ "isolation", judge_isolation, OF_ANY },
		{ "linger", judge_linger, OF_LOGINS },
		{ "KillUserProcesses", judge_kill, OF_LOGINS },
		{ "login", judge_login, OF_LOGINS },
		{ "ssh agent", judge_ssh_agent, OF_ANY },
		{ "supervisor", judge_supervisor, OF_HOME },
		{ "notify", judge_notify, OF_ANY },
		{ "completion", judge_completion, OF_ANY },
		{ "containers", judge_containers, OF_HOME },
	};
	for (size_t i = 0, first = ret->count; i < ARRAY_SIZE(checks); i++) {
		if (!(checks[i].kind == OF_HOME && facts->home_problem) &&
		    !(checks[i].kind == OF_LOGINS && facts->has_main))
			checks[i].judge(facts, ret);
		for (; first < ret->count; first++)
			ret->items[first].check = checks[i].name;
	}
}

const char *doctor_conclusion(const struct doctor_facts *facts,
			      const struct doctor_findings *findings)
{
	if (doctor_findings_have_error(findings))
		return "Correct the errors first.";
	if (facts->has_main)
		return "Sessions here end with their Pod, container or job, and the next one "
		       "resumes them.";
	if (!facts->is_isolated)
		return "Sessions on this machine depend on your login and may end with it.";
	if (!facts->lingers)
		return "Sessions here survive a logout, but not your last one: lingering is off.";
	return "Sessions on this machine survive your logouts.";
}
