/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The judging half.  doctor-gather.c looks.
 */
#include "engine/doctor.h"

#include <inttypes.h>
#include <string.h>

enum { FREE_LOW_MIB = 64, FREE_NONE_MIB = 2 };

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_OK] = "ok",
		[VERDICT_WARNING] = "warning",
		[VERDICT_ERROR] = "error",
		[VERDICT_UNKNOWN] = "unknown",
	};
	return names[verdict];
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].reason);
		free(findings->items[i].remedy);
	}
	free(findings->items);
	*findings = (struct findings){ 0 };
}

bool findings_have_error(const struct findings *findings)
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
	char *const texts[] = {
		facts->user, facts->home_problem, facts->profile_problem,
		facts->config_path, facts->config_problem,
		facts->sessions_problem, facts->tmux_version, facts->tmux_problem,
		facts->default_agent, facts->manager_version, facts->manager_why,
		facts->isolation_why, facts->login_why, facts->cgroup, facts->agent_socket,
		facts->link_path, facts->link_target, facts->notify_program,
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	strvec_clear(&facts->damaged);
	strvec_clear(&facts->damaged_ids);
	strvec_clear(&facts->unscoped);
	strvec_clear(&facts->missing_helpers);
	strvec_clear(&facts->agents);
	strvec_clear(&facts->stand_ins);
	strvec_clear(&facts->agent_problems);
	strvec_clear(&facts->agent_hints);
	strvec_clear(&facts->agent_remedies);
	*facts = (struct doctor_facts){ 0 };
}

/* reason and remedy (NULL: none) become the findings'. */
static void found(struct findings *findings, const char *check, enum verdict verdict, char *reason,
		  char *remedy)
{
	struct finding *items =
		reallocarray(findings->items, findings->count + 1, sizeof(*findings->items));
	if (!items)
		abort();
	items[findings->count++] = (struct finding){ check, verdict, reason, remedy };
	findings->items = items;
}

static void found_ok(struct findings *findings, const char *check, char *reason)
{
	found(findings, check, VERDICT_OK, reason, NULL);
}

static char *join(const struct strvec *words, const char *separator)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < words->count; i++)
		strbuf_addf(&text, "%s%s", i ? separator : "", words->items[i]);
	return strbuf_take(&text);
}

static void judge_config(const struct doctor_facts *facts, struct findings *ret)
{
	if (facts->config_problem)
		found(ret, "config", VERDICT_ERROR, xstrdup(facts->config_problem),
		      xasprintf("correct %s at the place that is named; until then no command works",
				facts->config_path));
	else
		found_ok(ret, "config",
			 xasprintf(facts->config_exists ? "%s is valid"
							: "defaults; %s would change them",
				   facts->config_path));
}

static char *directory_remedy(const struct doctor_facts *facts,
			      const struct doctor_directory *directory)
{
	/* Root is somebody with sudo: the directory is where it should be. */
	if (directory->is_foreign && streq(facts->user, "root"))
		return xstrdup("run agentdeck as the user that it belongs to, without sudo");
	if (directory->is_foreign)
		return xasprintf("sudo chown -R %s: %s, or choose another place with AGENTDECK_HOME",
				 facts->user, directory->path);
	if (directory->exists && directory->mode & 022)
		return xasprintf("chmod 700 %s", directory->path);
	if (directory->exists && !directory->is_writable)
		return xasprintf("chmod 700 %s, or choose another place with AGENTDECK_HOME",
				 directory->path);
	return xstrdup("choose another place with AGENTDECK_HOME");
}

static void judge_state(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "state directory";
	const struct doctor_directory *state = &facts->state;
	int64_t mib = state->free_bytes / (1024 * 1024);
	if (state->problem)
		found(ret, check, VERDICT_ERROR, xstrdup(state->problem),
		      directory_remedy(facts, state));
	else if (state->free_bytes >= 0 && mib < FREE_NONE_MIB)
		found(ret, check, VERDICT_ERROR,
		      xasprintf("%s: the file system is full, and nothing can be saved", state->path),
		      xasprintf("make room: df -h %s", state->path));
	else if (state->free_bytes >= 0 && mib < FREE_LOW_MIB)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("%s: only %" PRId64 " MiB are free", state->path, mib),
		      xasprintf("make room: df -h %s", state->path));
	else if (state->is_volatile)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("%s is in memory: sessions are forgotten at a restart of the machine",
				state->path),
		      xstrdup("choose a place on a disk with AGENTDECK_HOME"));
	else
		found_ok(ret, check, xasprintf("%s, mode %04o, %" PRId64 " MiB free", state->path,
					       state->mode, mib));
}

static void judge_runtime(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "runtime directory";
	const struct doctor_directory *runtime = &facts->runtime;
	if (runtime->problem)
		found(ret, check, VERDICT_ERROR, xstrdup(runtime->problem),
		      directory_remedy(facts, runtime));
	else if (!runtime->exists)
		found_ok(ret, check, xasprintf("%s is made when the first session starts",
					       runtime->path));
	else
		found_ok(ret, check, xasprintf("%s, mode %04o", runtime->path, runtime->mode));
}

static void judge_sessions(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "sessions";
	if (facts->state.problem || facts->sessions_problem) {
		found(ret, check, VERDICT_UNKNOWN,
		      xasprintf("they cannot be listed: %s", facts->sessions_problem
								     ? facts->sessions_problem
								     : "see the state directory"),
		      NULL);
		return;
	}
	if (facts->damaged.count) {
		cleanup_free char *list = join(&facts->damaged, "; ");
		found(ret, check, VERDICT_WARNING,
		      xasprintf("%zu of %zu cannot be read: %s", facts->damaged.count,
				facts->session_count, list),
		      xasprintf("correct the file, or forget the session: agentdeck remove %s",
				facts->damaged_ids.items[0]));
	}
	if (facts->unscoped.count && facts->is_isolated) {
		cleanup_free char *list = join(&facts->unscoped, " ");
		found(ret, check, VERDICT_WARNING,
		      xasprintf("%zu of %zu running were started without a scope and may end with a login: "
				"%s", facts->unscoped.count, facts->live_count, list),
		      xasprintf("agentdeck session restart %s", facts->unscoped.items[0]));
	}
	if (!facts->damaged.count && !(facts->unscoped.count && facts->is_isolated))
		found_ok(ret, check, xasprintf("%zu in all, %zu running", facts->session_count,
					       facts->live_count));
}

static void judge_helpers(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "helpers";
	if (!facts->helpers_known) {
		found(ret, check, VERDICT_UNKNOWN, xstrdup("not looked for while what is above is "
							    "wrong"), NULL);
	} else if (facts->missing_helpers.count) {
		cleanup_free char *list = join(&facts->missing_helpers, ", ");
		found(ret, check, VERDICT_ERROR, xasprintf("not installed: %s", list),
		      xstrdup("install agentdeck again: make install"));
	} else {
		found_ok(ret, check, xstrdup("agentdeck-gate and agentdeck-watch are installed"));
	}
}

static void judge_tmux(const struct doctor_facts *facts, struct findings *ret)
{
	if (facts->tmux_problem)
		found(ret, "tmux", VERDICT_ERROR, xstrdup(facts->tmux_problem),
		      xstrdup("install tmux 3.2 or newer, on Debian: sudo apt-get install tmux"));
	else if (!facts->tmux_enough)
		found(ret, "tmux", VERDICT_ERROR,
		      xasprintf("version %s is too old", facts->tmux_version),
		      xstrdup("install tmux 3.2 or newer"));
	else
		found_ok(ret, "tmux",
			 xasprintf("version %s%s", facts->tmux_version,
				   facts->tmux_loses_ends
					   ? "; before 3.5 it may miss an agent's end, which "
					     "agentdeck-watch makes up for"
					   : ""));
}

static void judge_agents(const struct doctor_facts *facts, struct findings *ret)
{
	cleanup_free char *agents = join(&facts->agents, ", ");
	for (size_t i = 0; i < facts->agent_problems.count; i++)
		found(ret, "agents", VERDICT_WARNING, xstrdup(facts->agent_problems.items[i]),
		      xstrdup("correct the file at the place that is named"));
	for (size_t i = 0; i < facts->agent_hints.count; i++) {
		const char *remedy = facts->agent_remedies.items[i];
		found(ret, "agents", VERDICT_WARNING, xstrdup(facts->agent_hints.items[i]),
		      is_empty(remedy) ? NULL : xstrdup(remedy));
	}
	if (facts->default_agent && !facts->default_known)
		found(ret, "agents", VERDICT_ERROR,
		      xasprintf("default_agent is %s, which is unknown", facts->default_agent),
		      xasprintf("correct default_agent in %s: agentdeck agents list names them",
				facts->config_path));
	else if (facts->default_agent && !facts->default_installed)
		found(ret, "agents", VERDICT_WARNING,
		      xasprintf("default_agent is %s, which is not installed", facts->default_agent),
		      xasprintf("install it, or change default_agent in %s", facts->config_path));
	else if (facts->agents.count)
		found_ok(ret, "agents", TAKE_PTR(agents));
	else
		found(ret, "agents", VERDICT_WARNING,
		      xasprintf("no coding agent is in PATH%s",
				facts->stand_ins.count ? ", only stand-ins are" : ""),
		      xstrdup("install one of those that agentdeck agents list names, or use add -c"));
}

static void judge_systemd(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "systemd";
	if (facts->manager_version)
		found_ok(ret, check, xasprintf("version %s", facts->manager_version));
	else if (!facts->booted_with_systemd)
		found(ret, check, VERDICT_WARNING, xstrdup("this machine does not run it"), NULL);
	else if (!facts->built_with_systemd)
		found(ret, check, VERDICT_WARNING, xstrdup("agentdeck was built without it"),
		      xstrdup("build and install again: ./configure && make && make install"));
	else
		found(ret, check, VERDICT_UNKNOWN,
		      xstrdup("runs; its version is asked of the user manager"), NULL);
}

static void judge_manager(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "user manager";
	char *remedy = NULL;
	if (facts->manager_version) {
		found_ok(ret, check, xstrdup("answers"));
		return;
	}
	if (facts->booted_with_systemd && facts->built_with_systemd)
		remedy = xasprintf("log in again, or start it: sudo loginctl enable-linger %s",
				   facts->user);
	found(ret, check, facts->home_problem ? VERDICT_UNKNOWN : VERDICT_WARNING,
	      xasprintf("not reachable: %s", or_empty(facts->manager_why)), remedy);
}

/* Without a scope a session shares the fate of the login that started it. */
static void judge_isolation(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "isolation";
	if (!facts->isolation_known)
		found(ret, check, VERDICT_UNKNOWN, xstrdup("not known while what is above is wrong"),
		      NULL);
	else if (facts->is_isolated)
		found_ok(ret, check, xasprintf("each session gets a scope of its own (%s)",
					       facts->isolation_why));
	else if (facts->isolation_is_override)
		found(ret, check, VERDICT_WARNING,
		      xstrdup("off by launch_in_user_scope = false: sessions may end with your login"),
		      xasprintf("take that line out of %s", facts->config_path));
	else if (facts->manager_version)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("off, sessions may end with your login: %s", facts->isolation_why),
		      xasprintf("put this into %s: [tmux] launch_in_user_scope = true",
				facts->config_path));
	else
		found(ret, check, VERDICT_WARNING,
		      xstrdup("off, for want of a user manager: sessions may end with your login"), NULL);
}

static void judge_linger(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "linger";
	if (facts->lingers)
		found_ok(ret, check, xasprintf("on: %s's user manager outlives the last logout",
					       facts->user));
	else if (!facts->login_known)
		found(ret, check, VERDICT_UNKNOWN, xasprintf("%s", facts->login_why), NULL);
	else if (facts->isolation_known && facts->isolation_is_override)
		found_ok(ret, check, xstrdup("off, which only matters to sessions with a scope"));
	else if (facts->linger_forbidden)
		found(ret, check, VERDICT_WARNING,
		      xstrdup("off, and [tmux] linger = false: sessions end about 10 s after your last "
			      "logout"),
		      xasprintf("sudo loginctl enable-linger %s", facts->user));
	else
		found(ret, check, VERDICT_WARNING,
		      xstrdup("off: sessions end about 10 s after your last logout, unless the next start "
			      "is allowed to turn it on"),
		      xasprintf("sudo loginctl enable-linger %s", facts->user));
}

static void judge_kill(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "KillUserProcesses";
	if (!facts->login_known)
		found(ret, check, VERDICT_UNKNOWN, xasprintf("%s", facts->login_why), NULL);
	else if (!facts->kills_user_processes)
		found_ok(ret, check, xstrdup("no"));
	else if (facts->isolation_known && !facts->is_isolated)
		found(ret, check, VERDICT_ERROR,
		      xstrdup("yes, and sessions have no scope: they are killed at your logout"),
		      xstrdup("make isolation work (see there), or set KillUserProcesses=no in "
			      "/etc/systemd/logind.conf"));
	else
		found_ok(ret, check, xstrdup("yes: a logout kills what is in its session; scopes are not"));
}

static void judge_login(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "login";
	if (!facts->cgroup) {
		found(ret, check, VERDICT_UNKNOWN, xstrdup("our own control group cannot be read"), NULL);
		return;
	}
	const char *slash = strstr(facts->cgroup, "/session-");
	if (!slash) {
		found_ok(ret, check, xasprintf("this command is in no login session (%s)", facts->cgroup));
		return;
	}
	cleanup_free char *scope = xstrndup(slash + 1, strcspn(slash + 1, "/"));
	if (facts->isolation_known && !facts->is_isolated)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("sessions that are started here belong to %s, your login", scope),
		      xstrdup("see isolation"));
	else
		found_ok(ret, check, xasprintf("this command is in %s; sessions are not", scope));
}

static void judge_ssh_agent(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "ssh agent";
	if (facts->link_alive)
		found_ok(ret, check, xasprintf("sessions reach %s", facts->link_target));
	else if (facts->agent_socket_alive)
		found_ok(ret, check, xasprintf("this login's (%s) is handed to sessions at the next start "
					       "or attach", facts->agent_socket));
	else if (facts->link_target)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("sessions look for it at %s, where none is any more", facts->link_target),
		      xstrdup("log in with ssh -A, then: agentdeck attach SESSION"));
	else if (facts->agent_socket)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("SSH_AUTH_SOCK is %s, where none is", facts->agent_socket),
		      xstrdup("log in again, or unset SSH_AUTH_SOCK"));
	else
		found_ok(ret, check, xstrdup("this login has none, so sessions have none"));
}

static void judge_notify(const struct doctor_facts *facts, struct findings *ret)
{
	static const char check[] = "notify";
	if (facts->notify_program && facts->notify_installed)
		found_ok(ret, check, xasprintf("%s is called when a session wants you", facts->notify_program));
	else if (facts->notify_program)
		found(ret, check, VERDICT_WARNING,
		      xasprintf("there is no program %s: nobody is called when a session wants you",
				facts->notify_program),
		      xasprintf("install it, or change [notify] command in %s", facts->config_path));
}

void doctor_judge(const struct doctor_facts *facts, struct findings *ret)
{
	if (facts->home_problem) {
		found(ret, "home", VERDICT_ERROR, xstrdup(facts->home_problem),
		      xstrdup(facts->home_is_ours ? "unset AGENTDECK_HOME"
						  : "export HOME=/the/directory/that/is/yours"));
	} else {
		if (facts->profile_problem)
			found(ret, "profile", VERDICT_ERROR, xstrdup(facts->profile_problem),
			      xstrdup("unset AGENTDECK_PROFILE"));
		judge_config(facts, ret);
		judge_state(facts, ret);
		judge_runtime(facts, ret);
		judge_sessions(facts, ret);
		judge_helpers(facts, ret);
		judge_agents(facts, ret);
	}
	judge_tmux(facts, ret);
	judge_systemd(facts, ret);
	judge_manager(facts, ret);
	judge_isolation(facts, ret);
	judge_linger(facts, ret);
	judge_kill(facts, ret);
	judge_login(facts, ret);
	judge_ssh_agent(facts, ret);
	judge_notify(facts, ret);
}

const char *doctor_conclusion(const struct doctor_facts *facts, const struct findings *findings)
{
	if (findings_have_error(findings))
		return "Correct the errors first.";
	if (!facts->is_isolated)
		return "Sessions are not kept apart from your login here, and may end with it.";
	if (!facts->lingers)
		return "Sessions outlive a login here, but not the last one: lingering is off.";
	return "Sessions outlive your logins here.";
}
