/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "engine/doctor/doctor.h"

#include <string.h>

/* A machine on which all is well.  Literals are not owned: the facts are never freed, only the
 * vectors of changed copies. */
static struct doctor_facts healthy(void)
{
	return (struct doctor_facts){
		.user = (char *)"deck",
		.config_path = (char *)"/c/config.toml",
		.config_exists = true,
		.state = { .path = (char *)"/s",
			   .exists = true,
			   .is_writable = true,
			   .mode = 0700,
			   .free_bytes = INT64_C(1) << 30 },
		.runtime = { .path = (char *)"/r",
			     .exists = true,
			     .is_writable = true,
			     .mode = 0700,
			     .free_bytes = -1 },
		.session_count = 3,
		.live_count = 2,
		.deck_is_open = true,
		.tmux_version = (char *)"3.5a",
		.tmux_enough = true,
		.built_with_systemd = true,
		.booted_with_systemd = true,
		.manager_version = (char *)"252.39",
		.is_isolated = true,
		.isolation_why = (char *)"systemd-run detected",
		.kills_user_processes = ANSWER_NO,
		.lingers = true,
		.supervisor_runs = true,
		.supervisor_choice = (char *)"installed",
		.cgroup = (char *)"/user.slice/user-4711.slice/session-4.scope",
	};
}

static const struct doctor_finding *find(const struct doctor_findings *findings, const char *check)
{
	for (size_t i = 0; i < findings->count; i++)
		if (streq(findings->items[i].check, check))
			return &findings->items[i];
	return NULL;
}

/* Check the verdict of one check.  text must be in its reason, remedy in its remedy ("": any
 * remedy, NULL: none). */
static void check(const struct doctor_facts *facts, const char *name, enum doctor_verdict verdict,
		  const char *text, const char *remedy)
{
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	doctor_judge(facts, &findings);
	const struct doctor_finding *finding = find(&findings, name);
	if (!finding)
		fail_msg("there is no check \"%s\"", name);
	if (finding->verdict != verdict)
		fail_msg("%s is %s, not %s: %s", name, doctor_verdict_name(finding->verdict),
			 doctor_verdict_name(verdict), finding->reason);
	if (!strstr(finding->reason, text))
		fail_msg("%s: \"%s\" does not say \"%s\"", name, finding->reason, text);
	if (!remedy)
		assert_null(finding->remedy);
	else if (!finding->remedy || !strstr(finding->remedy, remedy))
		fail_msg("%s: the remedy \"%s\" does not say \"%s\"", name,
			 or_empty(finding->remedy), remedy);
}

static void a_healthy_machine_has_only_good_news(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	strvec_push(&facts.agents, "agent (/usr/bin/agent)");
	doctor_judge(&facts, &findings);
	assert_int_equal(findings.count, 15);
	for (size_t i = 0; i < findings.count; i++) {
		assert_int_equal(findings.items[i].verdict, VERDICT_OK);
		assert_null(findings.items[i].remedy);
	}
	assert_false(doctor_findings_have_error(&findings));
	assert_string_equal(doctor_conclusion(&facts, &findings),
			    "Sessions on this machine survive your logouts.");
	strvec_clear(&facts.agents);
}

static void a_damaged_config_is_an_error_and_hides_only_what_depends_on_it(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	facts.config_problem = (char *)"/c/config.toml:3:1: no such key";
	facts.deck_is_open = false;
	check(&facts, "config", VERDICT_ERROR, "/c/config.toml:3:1", "/c/config.toml");
	check(&facts, "isolation", VERDICT_UNKNOWN, "not checked: fix", NULL);
	check(&facts, "helpers", VERDICT_UNKNOWN, "", NULL);
	check(&facts, "tmux", VERDICT_OK, "3.5a", NULL);
	check(&facts, "sessions", VERDICT_OK, "3 in all, 2 running", NULL);
	doctor_judge(&facts, &findings);
	assert_true(doctor_findings_have_error(&findings));
	assert_string_equal(doctor_conclusion(&facts, &findings), "Correct the errors first.");
}

static void without_a_home_nothing_below_it_is_judged(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	facts.home_problem = (char *)"there is no home directory";
	check(&facts, "home", VERDICT_ERROR, "no home", "export HOME=");
	facts.home_is_ours = true;
	check(&facts, "home", VERDICT_ERROR, "no home", "unset AGENTDECK_HOME");
	doctor_judge(&facts, &findings);
	assert_null(find(&findings, "state directory"));
	assert_non_null(find(&findings, "linger"));
}

static void a_profile_that_cannot_be_one_is_an_error(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.profile_problem = (char *)"invalid profile \"../x\"";
	check(&facts, "profile", VERDICT_ERROR, "../x", "unset AGENTDECK_PROFILE");
}

static void each_trouble_of_the_state_directory_has_its_remedy(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	struct doctor_directory *directory = &facts.state;
	directory->problem = (char *)"/s belongs to user 0, not to you";
	directory->is_foreign = true;
	check(&facts, "state directory", VERDICT_ERROR, "belongs to", "sudo chown -R deck: /s");
	check(&facts, "sessions", VERDICT_UNKNOWN, "", NULL);
	char *deck = facts.user;
	facts.user = (char *)"root";
	check(&facts, "state directory", VERDICT_ERROR, "belongs to", "without sudo");
	facts.user = deck;
	directory->is_foreign = false;
	directory->mode = 0777;
	check(&facts, "state directory", VERDICT_ERROR, "", "chmod 700 /s");
	directory->mode = 0500;
	directory->is_writable = false;
	check(&facts, "state directory", VERDICT_ERROR, "", "chmod 700 /s");
	directory->exists = false;
	directory->mode = 0;
	check(&facts, "state directory", VERDICT_ERROR, "", "AGENTDECK_HOME");
}

static void a_full_file_system_is_an_error_and_a_nearly_full_one_a_warning(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.state.free_bytes = 0;
	check(&facts, "state directory", VERDICT_ERROR, "full", "df -h /s");
	/* A manifest has a few KiB. */
	facts.state.free_bytes = INT64_C(2000) << 10;
	check(&facts, "state directory", VERDICT_WARNING, "only 1 MiB", "df -h /s");
	facts.state.free_bytes = INT64_C(200) << 10;
	check(&facts, "state directory", VERDICT_WARNING, "only 200 KiB", "df -h /s");
	facts.state.free_bytes = INT64_C(20) << 20;
	check(&facts, "state directory", VERDICT_WARNING, "20 MiB", "df -h /s");
	facts.state.free_bytes = INT64_C(64) << 20;
	check(&facts, "state directory", VERDICT_OK, "64 MiB", NULL);
}

static void a_state_directory_in_memory_is_a_warning(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.state.is_volatile = true;
	check(&facts, "state directory", VERDICT_WARNING, "in memory", "AGENTDECK_HOME");
}

static void a_runtime_directory_may_be_missing_but_not_foreign(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.runtime.exists = false;
	check(&facts, "runtime directory", VERDICT_OK, "will be created", NULL);
	facts.runtime.exists = facts.runtime.is_foreign = true;
	facts.runtime.problem = (char *)"/r belongs to user 0";
	check(&facts, "runtime directory", VERDICT_ERROR, "/r belongs", "chown");
}

static void damaged_and_unscoped_sessions_are_both_named(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	strvec_push(&facts.damaged, "/s/default/aaaa/instance.json:1:1: no JSON");
	strvec_push(&facts.damaged_ids, "aaaa");
	strvec_push(&facts.unscoped, "bbbb");
	check(&facts, "sessions", VERDICT_WARNING, "instance.json:1:1", "agentdeck remove aaaa");
	doctor_judge(&facts, &findings);
	size_t count = 0;
	for (size_t i = 0; i < findings.count; i++)
		count += streq(findings.items[i].check, "sessions");
	assert_int_equal(count, 2);
	strvec_clear(&facts.damaged);
	strvec_clear(&facts.damaged_ids);
	check(&facts, "sessions", VERDICT_WARNING, "1 of 2", "agentdeck session restart bbbb");
	facts.is_isolated = false;
	check(&facts, "sessions", VERDICT_OK, "3 in all", NULL);
	strvec_clear(&facts.unscoped);
}

static void variables_that_sessions_lack_are_named(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	strvec_push(&facts.lacking, "api");
	strvec_push(&facts.lacking_names, "HTTPS_PROXY");
	strvec_push(&facts.lacking_names, "AWS_PROFILE");
	check(&facts, "sessions", VERDICT_WARNING, "(HTTPS_PROXY, AWS_PROFILE): api",
	      "environment.d");
	strvec_push(&facts.unreported, "api reports nothing: its hooks are off");
	strvec_clear(&facts.lacking);
	check(&facts, "sessions", VERDICT_WARNING, "api reports nothing", "allow its hooks");
	strvec_clear(&facts.unreported);
	strvec_clear(&facts.lacking_names);
}

static void what_runs_elsewhere_is_named_with_the_way_to_go_on(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.elsewhere_count = 2;
	strvec_push(&facts.elsewhere, "pod-1");
	strvec_push(&facts.elsewhere, "pod-2");
	check(&facts, "machine", VERDICT_WARNING, "2 of 3 sessions", "recover --take-over");
	check(&facts, "machine", VERDICT_WARNING, "pod-1, pod-2", "recover --take-over");
	strvec_clear(&facts.elsewhere);
}

static void a_machine_id_that_is_not_kept_is_a_warning(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.machine_id_is_volatile = true;
	check(&facts, "machine", VERDICT_WARNING, "in memory", "--commit");
	facts.renamed_count = 1;
	check(&facts, "machine", VERDICT_WARNING, "its id is not kept", "--commit");
}

static void a_container_without_a_lasting_id_is_a_warning(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.is_fleeting = true;
	check(&facts, "machine", VERDICT_WARNING, "after its restart", "recover --take-over");
}

static void missing_helpers_are_an_error(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	strvec_push(&facts.missing_helpers, "/l/agentdeck-gate");
	check(&facts, "helpers", VERDICT_ERROR, "/l/agentdeck-gate", "make install");
	strvec_clear(&facts.missing_helpers);
}

static void helpers_of_another_version_are_an_error(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	strvec_push(&facts.other_helpers, "/l/agentdeck-ui");
	check(&facts, "helpers", VERDICT_ERROR, "/l/agentdeck-ui", "make install");
	strvec_clear(&facts.other_helpers);
}

static void tmux_must_be_there_and_new_enough(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.tmux_loses_ends = true;
	check(&facts, "tmux", VERDICT_OK, "before 3.5", NULL);
	facts.tmux_enough = false;
	facts.tmux_version = (char *)"3.1c";
	check(&facts, "tmux", VERDICT_ERROR, "3.1c is too old", "3.2");
	facts.tmux_problem = (char *)"not installed";
	facts.tmux_version = NULL;
	check(&facts, "tmux", VERDICT_ERROR, "not installed", "install tmux");
}

static void no_agent_is_a_warning_and_an_unknown_default_an_error(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	check(&facts, "agents", VERDICT_WARNING, "no coding agent", "agentdeck agents list");
	strvec_push(&facts.stand_ins, "demo");
	check(&facts, "agents", VERDICT_WARNING, "only demo and shell", "");
	facts.default_agent = (char *)"clod";
	check(&facts, "agents", VERDICT_ERROR, "clod, which is unknown", "/c/config.toml");
	facts.default_installed = ANSWER_NO;
	check(&facts, "agents", VERDICT_WARNING, "clod, which is not installed", "install");
	facts.default_installed = ANSWER_YES;
	strvec_push(&facts.agents, "clod (/usr/bin/clod)");
	check(&facts, "agents", VERDICT_OK, "/usr/bin/clod", NULL);
	strvec_push(&facts.agent_problems, "/c/agents/x.toml:1:1: no");
	check(&facts, "agents", VERDICT_WARNING, "x.toml", "");
	strvec_clear(&facts.stand_ins);
	strvec_clear(&facts.agents);
	strvec_clear(&facts.agent_problems);
}

static void a_hint_of_an_agent_s_entry_is_a_warning_with_its_remedy(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	strvec_push(&facts.agents, "clod (/usr/bin/clod)");
	strvec_push(&facts.agent_hints, "Clod: it forgets");
	strvec_push(&facts.agent_remedies, "remind it");
	check(&facts, "agents", VERDICT_WARNING, "it forgets", "remind it");
	replace_string(&facts.agent_remedies.items[0], "");
	check(&facts, "agents", VERDICT_WARNING, "it forgets", NULL);
	strvec_clear(&facts.agents);
	strvec_clear(&facts.agent_hints);
	strvec_clear(&facts.agent_remedies);
}

static void without_a_manager_only_a_machine_with_systemd_gets_a_remedy(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.manager_version = NULL;
	facts.manager_why = (char *)"/run/user/4711 does not exist";
	facts.is_isolated = false;
	check(&facts, "user manager", VERDICT_WARNING, "/run/user/4711",
	      "loginctl enable-linger deck");
	/* One that died: a login that is open, or lingering, does not start it again. */
	facts.is_known_user = true;
	check(&facts, "user manager", VERDICT_WARNING, "/run/user/4711", "systemctl restart user@");
	facts.is_known_user = false;
	check(&facts, "systemd", VERDICT_UNKNOWN, "", NULL);
	check(&facts, "isolation", VERDICT_WARNING, "may end with your login", NULL);
	facts.built_with_systemd = false;
	check(&facts, "systemd", VERDICT_WARNING, "built without", "configure");
	facts.booted_with_systemd = false;
	check(&facts, "systemd", VERDICT_WARNING, "does not run it", NULL);
	check(&facts, "user manager", VERDICT_WARNING, "/run/user/4711", NULL);
}

static void isolation_turned_off_names_the_line_to_take_out(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	facts.is_isolated = false;
	facts.isolation_why = (char *)"systemd-run not available";
	check(&facts, "isolation", VERDICT_WARNING, "systemd-run not available",
	      "launch_in_user_scope = true");
	facts.isolation_is_override = true;
	check(&facts, "isolation", VERDICT_WARNING, "launch_in_user_scope = false",
	      "/c/config.toml");
	check(&facts, "login", VERDICT_WARNING, "session-4.scope", "isolation");
	facts.lingers = false;
	check(&facts, "linger", VERDICT_OK, "only matters", NULL);
}

static void a_host_of_an_engine_needs_nothing_of_logins(void **state UNUSED)
{
	static const char *const of_logins[] = { "systemd", "user manager", "linger",
						 "KillUserProcesses", "login" };
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	struct doctor_facts facts = healthy();
	facts.has_main = true;
	/* The main program itself turns it off, whatever the configuration says. */
	facts.is_isolated = false;
	facts.isolation_is_override = true;
	facts.manager_version = NULL;
	facts.manager_why = (char *)"libsystemd is missing";
	facts.lingers = facts.booted_with_systemd = false;
	check(&facts, "isolation", VERDICT_OK, "with the Pod, container or job", NULL);
	check(&facts, "supervisor", VERDICT_OK, "main program", NULL);
	doctor_judge(&facts, &findings);
	for (size_t i = 0; i < ARRAY_SIZE(of_logins); i++)
		assert_null(find(&findings, of_logins[i]));
	assert_string_equal(doctor_conclusion(&facts, &findings),
			    "Sessions here end with their Pod, container or job, and the next one "
			    "resumes them.");
}

static void the_guard_is_explained(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	check(&facts, "linger", VERDICT_OK, "supervise --guard deck", NULL);
	facts.is_guarded = true;
	check(&facts, "linger", VERDICT_OK, "systemd restarts it", NULL);
}

static void lingering_off_is_a_warning_with_the_command(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	facts.lingers = false;
	check(&facts, "linger", VERDICT_WARNING, "last logout", "loginctl enable-linger deck");
	check(&facts, "linger", VERDICT_WARNING, "last logout", "start a session");
	doctor_judge(&facts, &findings);
	assert_non_null(strstr(doctor_conclusion(&facts, &findings), "lingering is off"));
	facts.linger_forbidden = true;
	check(&facts, "linger", VERDICT_WARNING, "[tmux] linger = false",
	      "loginctl enable-linger deck");
	facts.kills_user_processes = ANSWER_UNKNOWN;
	facts.login_why = (char *)"logind is not running";
	check(&facts, "linger", VERDICT_UNKNOWN, "logind is not running", NULL);
	check(&facts, "KillUserProcesses", VERDICT_UNKNOWN, "logind is not running", NULL);
}

static void killing_user_processes_is_an_error_only_without_isolation(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	check(&facts, "KillUserProcesses", VERDICT_OK, "no", NULL);
	facts.kills_user_processes = ANSWER_YES;
	check(&facts, "KillUserProcesses", VERDICT_OK, "not those in scopes", NULL);
	facts.is_isolated = false;
	check(&facts, "KillUserProcesses", VERDICT_ERROR, "killed at your logout",
	      "KillUserProcesses=no");
}

static void the_login_is_told_from_other_places(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	check(&facts, "login", VERDICT_OK, "in session-4.scope", NULL);
	facts.cgroup = (char *)"/user.slice/user-4711.slice/user@4711.service/app.slice/x.service";
	check(&facts, "login", VERDICT_OK, "not in a login session", NULL);
	facts.cgroup = NULL;
	check(&facts, "login", VERDICT_UNKNOWN, "", NULL);
}

static void the_ssh_agent_link_is_judged_by_where_it_leads(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	check(&facts, "ssh agent", VERDICT_OK, "has no SSH agent", NULL);
	facts.agent_socket = (char *)"/tmp/a";
	check(&facts, "ssh agent", VERDICT_WARNING, "/tmp/a, where no SSH agent is running",
	      "unset");
	facts.agent_socket_alive = true;
	check(&facts, "ssh agent", VERDICT_OK, "next start", NULL);
	facts.link_target = (char *)"/tmp/b";
	facts.link_alive = true;
	check(&facts, "ssh agent", VERDICT_OK, "sessions reach /tmp/b", NULL);
	facts.link_alive = facts.agent_socket_alive = false;
	check(&facts, "ssh agent", VERDICT_WARNING, "/tmp/b, where none is running now", "ssh -A");
}

static void a_command_for_notifications_must_be_there(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	doctor_judge(&facts, &findings);
	assert_null(find(&findings, "notify"));
	facts.notify_program = (char *)"tell-me";
	check(&facts, "notify", VERDICT_WARNING, "program tell-me does not exist",
	      "/c/config.toml");
	facts.notify_installed = true;
	check(&facts, "notify", VERDICT_OK, "tell-me is called", NULL);
}

static void users_of_fish_learn_whether_it_completes(void **state UNUSED)
{
	struct doctor_facts facts = healthy();
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	doctor_judge(&facts, &findings);
	assert_null(find(&findings, "completion"));
	facts.fish_completes = ANSWER_NO;
	check(&facts, "completion", VERDICT_WARNING, "fish does not look where",
	      "agentdeck completion fish >~/.config/fish/completions/agentdeck.fish");
	facts.fish_completes = ANSWER_YES;
	check(&facts, "completion", VERDICT_OK, "fish finds", NULL);
}

static void every_verdict_has_its_word(void **state UNUSED)
{
	assert_string_equal(doctor_verdict_name(VERDICT_OK), "ok");
	assert_string_equal(doctor_verdict_name(VERDICT_WARNING), "warning");
	assert_string_equal(doctor_verdict_name(VERDICT_ERROR), "error");
	assert_string_equal(doctor_verdict_name(VERDICT_UNKNOWN), "unknown");
}

static void a_machine_without_a_supervisor_is_told_the_remedy(void **state)
{
	(void)state;
	struct doctor_facts facts = healthy();
	check(&facts, "supervisor", VERDICT_OK, "crash or reboot", NULL);
	facts.lingers = false;
	check(&facts, "supervisor", VERDICT_OK, "with your next login", NULL);
	/* Its user has started it: no user manager does that after a reboot. */
	facts.supervisor_choice = NULL;
	check(&facts, "supervisor", VERDICT_OK, "if something starts the supervisor again", NULL);
	facts.supervisor_choice = (char *)"installed";
	facts.manager_version = NULL;
	check(&facts, "supervisor", VERDICT_OK, "if something starts the supervisor again", NULL);
	facts = healthy();
	facts.supervisor_choice = NULL;
	facts.supervisor_runs = false;
	check(&facts, "supervisor", VERDICT_WARNING, "nothing restarts your sessions",
	      "supervise --install");
	/* A new user has nothing to do: the first session does it. */
	check(&facts, "supervisor", VERDICT_WARNING, "nothing restarts your sessions",
	      "start a session");
	facts.supervisor_choice = (char *)"tried";
	check(&facts, "supervisor", VERDICT_WARNING, "nothing restarts your sessions",
	      "supervise --install");
	facts.supervisor_choice = (char *)"declined";
	check(&facts, "supervisor", VERDICT_OK, "agentdeck recover", NULL);
	facts.supervisor_choice = NULL;
	facts.manager_version = NULL;
	check(&facts, "supervisor", VERDICT_OK, "agentdeck recover", NULL);
	facts.supervisor_choice = (char *)"installed";
	check(&facts, "supervisor", VERDICT_WARNING, "nothing restarts", "user manager");
}

static void engines_are_judged_where_they_are_used(void **state UNUSED)
{
	struct doctor_engine engines[] = {
		{ .name = (char *)"docker",
		  .version = (char *)"20.10.24",
		  .api_version = (char *)"1.41",
		  .is_rootless = true,
		  .counts_memory = true },
		{ .name = (char *)"podman", .problem = (char *)"no socket" },
	};
	struct doctor_facts facts = healthy();
	facts.engines = engines;
	facts.engine_count = 1;
	check(&facts, "containers", VERDICT_OK,
	      "docker 20.10.24 answers (API 1.41, rootless); for containers it lacks limits of "
	      "processes, limits of processors, a default image",
	      NULL);
	engines[0].problem = (char *)"permission denied";
	check(&facts, "containers", VERDICT_ERROR, "permission denied", "usermod -aG docker");
	facts.engines = engines + 1;
	check(&facts, "containers", VERDICT_ERROR, "podman cannot be used: no socket",
	      "podman.socket");
	engines[1].name = (char *)"unix:///x";
	check(&facts, "containers", VERDICT_ERROR, "unix:///x", "[container]");
}

/* The check's last finding. */
static void check_last(const struct doctor_facts *facts, enum doctor_verdict verdict,
		       const char *text, const char *remedy)
{
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	doctor_judge(facts, &findings);
	const struct doctor_finding *last = findings.items + findings.count - 1;
	assert_string_equal(last->check, "containers");
	assert_int_equal(last->verdict, verdict);
	assert_non_null(strstr(last->reason, text));
	assert_non_null(strstr(or_empty(last->remedy), remedy));
}

static void what_a_container_needs_is_judged(void **state UNUSED)
{
	struct doctor_engine engine = { .name = (char *)"docker" };
	struct doctor_facts facts = healthy();
	facts.engines = &engine;
	facts.engine_count = 1;
	facts.needs_image = true;
	check_last(&facts, VERDICT_WARNING, "docker has no default image",
		   "agentdeck image build-default --engine docker");
	engine.has_image = true;
	facts.limits_memory = true;
	check_last(&facts, VERDICT_WARNING, "cannot limit memory", "the kernel lacks");
	engine.is_rootless = true;
	check_last(&facts, VERDICT_WARNING, "cannot limit memory", "Delegate=memory");
	facts.limits_pids = true;
	check_last(&facts, VERDICT_WARNING, "cannot limit processes", "Delegate=pids");
	engine.counts_memory = engine.counts_pids = true;
	check_last(&facts, VERDICT_OK, "answers", "");
	facts.has_unusable_limit[LIMIT_MEMORY_HIGH] = true;
	check_last(&facts, VERDICT_OK, "answers", "");
	facts.uses_containers = true;
	check_last(&facts, VERDICT_WARNING, "memory_high of your configuration does nothing",
		   "--memory-max");
	facts.capsule_problem = (char *)"/x is not static";
	check_last(&facts, VERDICT_ERROR, "/x is not static", "make install");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_a_supervisor_is_told_the_remedy),
		cmocka_unit_test(a_healthy_machine_has_only_good_news),
		cmocka_unit_test(a_damaged_config_is_an_error_and_hides_only_what_depends_on_it),
		cmocka_unit_test(without_a_home_nothing_below_it_is_judged),
		cmocka_unit_test(a_profile_that_cannot_be_one_is_an_error),
		cmocka_unit_test(each_trouble_of_the_state_directory_has_its_remedy),
		cmocka_unit_test(a_full_file_system_is_an_error_and_a_nearly_full_one_a_warning),
		cmocka_unit_test(a_state_directory_in_memory_is_a_warning),
		cmocka_unit_test(a_runtime_directory_may_be_missing_but_not_foreign),
		cmocka_unit_test(damaged_and_unscoped_sessions_are_both_named),
		cmocka_unit_test(variables_that_sessions_lack_are_named),
		cmocka_unit_test(what_runs_elsewhere_is_named_with_the_way_to_go_on),
		cmocka_unit_test(a_machine_id_that_is_not_kept_is_a_warning),
		cmocka_unit_test(a_container_without_a_lasting_id_is_a_warning),
		cmocka_unit_test(missing_helpers_are_an_error),
		cmocka_unit_test(helpers_of_another_version_are_an_error),
		cmocka_unit_test(tmux_must_be_there_and_new_enough),
		cmocka_unit_test(no_agent_is_a_warning_and_an_unknown_default_an_error),
		cmocka_unit_test(a_hint_of_an_agent_s_entry_is_a_warning_with_its_remedy),
		cmocka_unit_test(the_guard_is_explained),
		cmocka_unit_test(without_a_manager_only_a_machine_with_systemd_gets_a_remedy),
		cmocka_unit_test(isolation_turned_off_names_the_line_to_take_out),
		cmocka_unit_test(a_host_of_an_engine_needs_nothing_of_logins),
		cmocka_unit_test(lingering_off_is_a_warning_with_the_command),
		cmocka_unit_test(killing_user_processes_is_an_error_only_without_isolation),
		cmocka_unit_test(the_login_is_told_from_other_places),
		cmocka_unit_test(the_ssh_agent_link_is_judged_by_where_it_leads),
		cmocka_unit_test(a_command_for_notifications_must_be_there),
		cmocka_unit_test(users_of_fish_learn_whether_it_completes),
		cmocka_unit_test(every_verdict_has_its_word),
		cmocka_unit_test(engines_are_judged_where_they_are_used),
		cmocka_unit_test(what_a_container_needs_is_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
