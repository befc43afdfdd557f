/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/fake-place.h"

#include "base/fsutil.h"
#include "base/program.h"

#include <sys/stat.h>

struct fake_place fake;

static int step(enum fake_step which, const char *name, struct error *err)
{
	strvec_push(&fake.steps, name);
	if (fake.hook)
		fake.hook(which, fake.context);
	return fake.fails == which ? error_set(err, ERROR_CHILD, "the fake fails") : 0;
}

static struct process_id self(void)
{
	struct process_id id = { 0 };
	assert_int_equal(process_identify(getpid(), &id, NULL), 0);
	return id;
}

/* The store takes no others for the instance's own. */
static void set_paths(struct run *run, const char *root, const char *id)
{
	run->directory = path_join(root, id);
	run->socket = path_join(run->directory, "tmux.sock");
	run->boot_id = xstrdup(process_boot_id());
	(void)mkdir(root, 0700);
	(void)mkdir(run->directory, 0700);
}

static enum presence fake_presence(const struct place_run *run)
{
	(void)run;
	return fake.presence;
}

static bool fake_agent_is_live(const struct place_run *run)
{
	(void)run;
	return fake.presence == PRESENCE_ALIVE;
}

static bool fake_is_empty(const struct place_run *run)
{
	(void)run;
	return fake.presence == PRESENCE_NONE;
}

static const char *fake_silence(const struct place_run *run)
{
	(void)run;
	return fake.presence == PRESENCE_UNKNOWN ? fake.why : NULL;
}

static struct place_watch fake_watch(const struct place_run *run)
{
	return (struct place_watch){ .server = run->server, .agent = run->pane };
}

static char *fake_control_group(const struct place_run *run)
{
	(void)run;
	return NULL;
}

static void fake_nudge(const struct place_run *run)
{
	(void)run;
	strvec_push(&fake.steps, "nudge");
}

static struct observation fake_observe(struct deck *deck, const struct instance *instance,
				       enum observe_depth depth)
{
	(void)deck;
	(void)depth;
	fake.looks++;
	if (!instance->run.socket)
		return (struct observation){ .why = "not started" };
	if (fake.presence != PRESENCE_ALIVE)
		return (struct observation){ .presence = fake.presence, .why = fake.why };
	struct observation seen = {
		.presence = PRESENCE_ALIVE,
		.server = self(),
		.lacks_window = fake.lacks_window,
	};
	if (!fake.lacks_agent)
		seen.pane = self();
	return seen;
}

static bool fake_lacks_window(const struct place_run *run)
{
	(void)run;
	return fake.lacks_window;
}

static int fake_check_path(const struct instance *instance, const char *path, struct error *err)
{
	if (fake.fails == FAKE_PATH)
		return error_set(err, ERROR_UNAVAILABLE, "the fake fails");
	return program_find(instance->argv.items[0], path, instance_lookup_directory(instance),
			    err);
}

static int fake_probe(struct deck *deck, const struct instance *instance, struct error *err)
{
	(void)deck;
	(void)instance;
	return step(FAKE_PROBE, "probe", err);
}

static int fake_prepare(struct deck *deck, struct instance *instance,
			const struct place_order *order, struct error *err)
{
	struct run *run = &instance->run;
	(void)order;
	if (step(FAKE_PREPARE, "prepare", err) < 0)
		return -1;
	set_paths(run, deck->paths.runtime, instance->id);
	return 0;
}

static int fake_launch(struct deck *deck, struct instance *instance,
		       const struct place_order *order, struct error *err)
{
	(void)deck;
	(void)order;
	if (step(FAKE_LAUNCH, "launch", err) < 0)
		return -1;
	instance->run.server = instance->run.pane = self();
	fake.presence = PRESENCE_ALIVE;
	if (fake.hook)
		fake.hook(FAKE_NONE, fake.context);
	return 0;
}

static int fake_open_window(struct deck *deck, struct instance *instance,
			    const struct place_order *order, struct error *err)
{
	(void)deck;
	(void)instance;
	(void)order;
	fake.lacks_window = false;
	return step(FAKE_WINDOW, "open-window", err);
}

static int fake_discard(struct deck *deck, struct instance *instance, enum place_discard how,
			struct error *err)
{
	(void)how;
	(void)deck;
	(void)instance;
	return step(FAKE_DISCARD, "discard", err);
}

static int fake_check_discard(struct deck *deck, struct instance *instance, struct error *err)
{
	(void)deck;
	(void)instance;
	return step(FAKE_CHECK_DISCARD, "check-discard", err);
}

static int fake_begin_attempt(struct deck *deck, struct store_lock *lock, struct instance *instance,
			      const struct agent *agent, struct error *err)
{
	(void)deck;
	(void)lock;
	(void)agent;
	instance->run.pane = self();
	return fake.begins ? step(FAKE_BEGIN, "begin", err) : 0;
}

static void fake_pane_argv(const struct deck *deck, const struct instance *instance,
			   struct strvec *ret)
{
	(void)deck;
	strvec_push_all(ret, &run_attempt(&instance->run)->argv);
}

static int fake_end(struct deck *deck, const struct instance *instance, int grace_ms,
		    char **ret_words, struct error *err)
{
	(void)deck;
	(void)instance;
	fake.grace_ms = grace_ms;
	if (step(FAKE_END, "end", err) < 0)
		return -1;
	if (ret_words)
		*ret_words = xstrdup_or_null(fake.words);
	fake.presence = PRESENCE_NONE;
	return 0;
}

static int fake_end_unknown(struct deck *deck, const char *id, struct error *err)
{
	(void)deck;
	replace_string(&fake.left, id);
	return step(FAKE_END, "end-unknown", err);
}

static int fake_survivors(struct deck *deck, const char *id, char **ret, struct error *err)
{
	(void)deck;
	(void)id;
	if (fake.fails == FAKE_SURVIVORS)
		return error_set(err, ERROR_CHILD, "the fake fails");
	*ret = xstrdup_or_null(fake.survivors);
	return 0;
}

static int fake_how_ended(const struct instance *instance, struct exit_record *ret,
			  struct error *err)
{
	(void)instance;
	if (step(FAKE_HOW_ENDED, "how-ended", err) < 0)
		return -1;
	if (fake.how)
		return fake.how;
	*ret = fake.exit;
	ret->present = true;
	ret->last_words = xstrdup_or_null(fake.exit.last_words);
	ret->oom_victim = xstrdup_or_null(fake.exit.oom_victim);
	return 0;
}

static void fake_end_daemons(struct deck *deck, const struct instance *instance,
			     const struct agent *agent)
{
	(void)deck;
	(void)instance;
	(void)agent;
	strvec_push(&fake.steps, "end-daemons");
}

static int fake_leave(const struct place_run *run, struct error *err)
{
	free(fake.left);
	fake.left = xasprintf("%s %s %s", run->id, run->run_id, run->socket);
	return step(FAKE_LEAVE, "leave", err);
}

static int fake_exec(const struct instance *instance, const struct strvec *command,
		     struct place_exec *ret, struct error *err)
{
	(void)instance;
	(void)err;
	strvec_push_all(&ret->argv, command);
	return 0;
}

static void fake_usage(const struct place_run *run, struct place_usage *ret)
{
	(void)run;
	*ret = (struct place_usage){ .at_ms = clock_ms() };
}

static int fake_set_limits(struct deck *deck, struct instance *instance,
			   const struct limits *limits, enum limit_effect *ret, struct error *err)
{
	(void)deck;
	(void)instance;
	(void)limits;
	(void)err;
	*ret = fake.limits;
	return 0;
}

static const struct place place_fake = {
	.name = "fake",
	.lost = "its tmux server was killed",
	.presence = fake_presence,
	.agent_is_live = fake_agent_is_live,
	.is_empty = fake_is_empty,
	.silence = fake_silence,
	.watch = fake_watch,
	.control_group = fake_control_group,
	.nudge = fake_nudge,
	.observe = fake_observe,
	.lacks_window = fake_lacks_window,
	.check_path = fake_check_path,
	.probe = fake_probe,
	.prepare = fake_prepare,
	.launch = fake_launch,
	.open_window = fake_open_window,
	.end = fake_end,
	.end_unknown = fake_end_unknown,
	.discard = fake_discard,
	.check_discard = fake_check_discard,
	.begin_attempt = fake_begin_attempt,
	.pane_argv = fake_pane_argv,
	.survivors = fake_survivors,
	.how_ended = fake_how_ended,
	.end_daemons = fake_end_daemons,
	.leave = fake_leave,
	.exec = fake_exec,
	.usage = fake_usage,
	.set_limits = fake_set_limits,
};

int fake_set_up(void **state)
{
	struct fake_desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-fake-XXXXXX");
	fake = (struct fake_place){ .why = "the fake says so" };
	place_add(&place_fake);
	if (!mkdtemp(desk->root))
		return -1;
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	unsetenv("CLAUDE_CONFIG_DIR");
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	*state = desk;
	return 0;
}

int fake_tear_down(void **state)
{
	struct fake_desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	place_add(NULL);
	strvec_clear(&fake.steps);
	free(TAKE_PTR(fake.left));
	free(desk->root);
	free(desk);
	return r;
}

struct instance *fake_instance(const struct fake_desk *desk)
{
	struct instance *instance = new_instance(FAKE_ID, "deck");
	replace_string(&instance->cwd, desk->root);
	replace_string(&instance->backend, "fake");
	instance->desired = DESIRED_STOPPED;
	instance->observed.state = STATE_STOPPED;
	instance->resume_policy = POLICY_DEFAULT;
	strvec_clear(&instance->argv);
	strvec_push(&instance->argv, "true");
	return instance;
}

static void add_attempt(struct instance *instance, enum rung rung)
{
	const struct attempt attempt = { .rung = rung, .reason = REASON_FRESH_SESSION };
	struct run *run = &instance->run;
	run_add_attempt(run, &attempt);
	strvec_push(&run->attempts[run->attempt_count - 1].argv, "true");
}

struct instance *fake_running(const struct fake_desk *desk)
{
	struct instance *instance = fake_instance(desk);
	struct run *run = &instance->run;
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_RUNNING;
	instance->observed.since = 1000;
	instance->last_used_at = 1000;
	replace_string(&instance->observed.boot_id, process_boot_id());
	run->id = xstrdup("run-1");
	set_paths(run, desk->deck.paths.runtime, FAKE_ID);
	run->server = run->pane = self();
	add_attempt(instance, RUNG_RESUME);
	add_attempt(instance, RUNG_FRESH);
	add_attempt(instance, RUNG_SHELL);
	run->attempt_since_boot_ms = clock_ms();
	fake.presence = PRESENCE_ALIVE;
	return instance;
}

void fake_put(const struct fake_desk *desk, const struct instance *instance)
{
	struct error err = { 0 };
	if (create_instance(desk->deck.store, instance, &err) != 0)
		fail_msg("create: %s", or_empty(err.message));
}

struct instance *fake_load(const struct fake_desk *desk)
{
	struct instance *instance = NULL;
	assert_int_equal(store_load(desk->deck.store, FAKE_ID, &instance, NULL), 0);
	return instance;
}

struct roster *fake_list(struct deck *deck)
{
	const struct roster_order order = { .profile = deck->profile, .asks = true };
	struct roster *roster = NULL;
	assert_int_equal(correct_list(deck, &order, &roster, NULL), 0);
	return roster;
}

void fake_assert_steps(const char *expected)
{
	cleanup_strbuf struct strbuf taken = { 0 };
	for (size_t i = 0; i < fake.steps.count; i++)
		strbuf_addf(&taken, "%s%s", i ? " " : "", fake.steps.items[i]);
	assert_string_equal(strbuf_text(&taken), expected);
}
