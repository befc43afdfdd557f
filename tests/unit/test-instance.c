/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/session/fields.h"
#include "model/session/instance.h"
#include "model/session/tags.h"

#include <string.h>

#define CREATED "\"created_at\":\"2026-04-14T09:08:01.000Z\""
#define REQUIRED                                                                           \
	"\"id\":\"0123abcd\",\"title\":\"api\",\"cwd\":\"/srv/api\",\"agent\":\"claude\"," \
	"\"argv\":[\"claude\"],\"backend\":\"host\",\"desired\":\"stopped\","              \
	"\"observed\":{\"state\":\"stopped\"}"
#define MINIMAL "{\"format\":1," CREATED "," REQUIRED "}"

enum { CREATED_SECONDS = 1776157681 };

static struct json_object *parse(const char *text)
{
	struct json_object *object = NULL;
	assert_int_equal(json_parse(text, strlen(text), "test", &object, NULL), 0);
	return object;
}

static struct instance *read_text(const char *text)
{
	struct error err = { 0 };
	struct instance *instance = NULL;
	cleanup_json struct json_object *object = parse(text);
	if (instance_from_json(object, "test", &instance, &err) < 0)
		fail_msg("%s", err.message);
	return instance;
}

/* The text that the instance is written as. */
static char *written(const struct instance *instance)
{
	cleanup_json struct json_object *object = instance_to_json(instance);
	int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	return xstrdup(json_object_to_json_string_ext(object, flags));
}

static void assert_written(const struct instance *instance, const char *part)
{
	cleanup_free char *text = written(instance);
	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static void assert_not_written(const struct instance *instance, const char *part)
{
	cleanup_free char *text = written(instance);
	if (strstr(text, part))
		fail_msg("%s is in %s", part, text);
}

static void assert_refused(const char *text, enum error_code code, const char *part)
{
	cleanup_error struct error err = { 0 };
	struct instance *instance = NULL;
	cleanup_json struct json_object *object = parse(text);
	if (instance_from_json(object, "the-file", &instance, &err) != -1)
		fail_msg("accepted: %s", text);
	assert_null(instance);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, "the-file"));
	if (!strstr(err.message, part))
		fail_msg("\"%s\" does not say \"%s\"", err.message, part);
}

static const char full[] =
	"{\"format\":1,\"id\":\"0123abcd\",\"profile\":\"default\",\"title\":\"api\","
	"\"group\":\"work/api\",\"tags\":[\"api\",\"x-1\"],\"is_pinned\":true,"
	"\"archived_at\":\"2026-04-14T09:08:06.789Z\",\"cwd\":\"/srv/api\"," CREATED ","
	"\"last_used_at\":\"2026-04-14T09:08:02.345Z\",\"agent\":\"claude\","
	"\"argv\":[\"claude\",\"--model\",\"x y\"],\"env\":{\"kept\":[\"PATH=/bin\"],\"names\":[\"HTTPS_PROXY\"]},"
	"\"backend\":\"host\",\"base\":\"0123abcd\","
	"\"policy\":{\"resume\":\"confirm\",\"restart\":\"on-failure\"},\"desired\":\"running\","
	"\"observed\":{\"state\":\"error\",\"since\":\"2026-04-14T09:08:03.000Z\","
	"\"reason\":\"oom\",\"exit\":{\"signal\":9,\"oom\":true,\"oom_victim\":\"node (pid 4711)\",\"last_words\":\"Killed\"},"
	"\"boot_id\":\"b-1\",\"pid_namespace\":\"4:5\"},"
	"\"conversation\":{\"session_id\":\"s-2\",\"origin\":\"reported\",\"previous\":[\"s-1\"],"
	"\"transcript_path\":\"/h/s-2.jsonl\",\"first_turn_seen\":true,"
	"\"captured_at\":\"2026-04-14T09:08:04.000Z\",\"config_home\":\"/h\","
	"\"config_home_is_default\":true,\"set_aside\":\"s-0\"},"
	"\"resume_argv\":[\"claude\",\"--resume\",\"s-2\"],"
	"\"terminal\":{\"columns\":87,\"rows\":31},"
	"\"run\":{\"id\":\"r-1\",\"socket\":\"/r/tmux\",\"directory\":\"/r\",\"unit\":\"u.scope\","
	"\"invocation_id\":\"i-1\",\"boot_id\":\"b-1\",\"pid_namespace\":\"2:3\","
	"\"server_pid\":11,\"server_start\":12,"
	"\"pane_pid\":13,\"pane_start\":14,\"attempts\":[{\"rung\":\"resume\","
	"\"reason\":\"conversation_data_present\",\"session_id\":\"s-2\",\"argv\":[\"claude\"]},"
	"{\"rung\":\"shell\",\"reason\":\"last\",\"argv\":[\"sh\"]}],\"attempt\":1,"
	"\"attempt_since\":\"2026-04-14T09:08:05.678Z\",\"attempt_since_boot_ms\":99,"
	"\"reported\":true,\"reporter_pid\":15,\"reporter_start\":16,\"history_note\":\"history not restored: x\"},"
	"\"queue\":[{\"id\":\"0123abcf\",\"text\":\"x\",\"at\":\"2026-04-14T09:08:07.000Z\",\"state\":\"unknown\","
	"\"why\":\"y\",\"is_raw\":true}],\"queue_said_at\":\"2026-04-14T09:08:08.000Z\","
	"\"limits\":{\"memory_high\":1,\"memory_max\":2,\"tasks_max\":3,\"cpu_weight\":4}}";

/* Also those of another version, behind one that has left the queue. */
static void queued_messages_keep_what_they_have(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(
		"{\"format\":1," CREATED "," REQUIRED
		",\"queue\":[{\"id\":\"a\",\"text\":\"1\",\"state\":\"queued\",\"new\":1},"
		"{\"id\":\"b\",\"text\":\"2\",\"state\":\"flying\",\"new\":2}]}");
	assert_int_equal(instance->queue_count, 2);
	assert_int_equal(instance->queue[1].state, QUEUED_OTHER);
	assert_null(instance_find_queued(instance, "c"));
	assert_ptr_equal(instance_find_queued(instance, "b"), &instance->queue[1]);
	instance_drop_queued(instance, 0);
	assert_written(instance, "\"queue\":[{\"id\":\"b\",\"text\":\"2\",\"state\":\"flying\","
				 "\"new\":2}]");
	instance_drop_queued(instance, 0);
	assert_not_written(instance, "\"queue\"");
	assert_refused("{\"format\":1," CREATED "," REQUIRED ",\"queue\":[{\"id\":\"a\"}]}",
		       ERROR_CORRUPT, "text");
}

static void every_member_is_read_and_written_as_it_was(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(full);
	assert_string_equal(instance->group, "work/api");
	assert_true(instance->created_at == CREATED_SECONDS * INT64_C(1000000));
	assert_true(instance->last_used_at == CREATED_SECONDS * INT64_C(1000000) + 1345000);
	assert_string_equal(instance->tags, "api,x-1");
	assert_true(instance->is_pinned);
	assert_true(instance->archived_at % 1000000 == 789000);
	/* It is to run. */
	assert_int_equal(instance_archived_at(instance), 0);
	assert_int_equal(instance->terminal.columns, 87);
	assert_int_equal(instance->terminal.rows, 31);
	assert_int_equal(instance->argv.count, 3);
	assert_string_equal(instance->argv.items[2], "x y");
	assert_string_equal(instance->env_kept.items[0], "PATH=/bin");
	assert_string_equal(instance->env_names.items[0], "HTTPS_PROXY");
	assert_int_equal(instance->resume_policy, POLICY_CONFIRM);
	assert_int_equal(instance->restart_policy, RESTART_ON_FAILURE);
	assert_int_equal(instance->desired, DESIRED_RUNNING);
	assert_int_equal(instance->observed.state, STATE_ERROR);
	assert_true(instance->observed.exit.present);
	assert_true(instance->observed.exit.oom);
	assert_string_equal(instance->observed.exit.oom_victim, "node (pid 4711)");
	assert_int_equal(instance->observed.exit.signal, 9);
	assert_int_equal(instance->conversation.origin, ORIGIN_REPORTED);
	assert_true(instance->conversation.first_turn_seen);
	assert_string_equal(instance->conversation.previous.items[0], "s-1");
	assert_int_equal(instance->run.server.pid, 11);
	assert_int_equal(instance->run.pane.start, 14);
	assert_int_equal(instance->run.reporter.pid, 15);
	assert_int_equal(instance->run.reporter.start, 16);
	assert_int_equal(instance->run.attempt_count, 2);
	assert_int_equal(instance->run.attempts[1].rung, RUNG_SHELL);
	assert_int_equal(run_attempt(&instance->run)->rung, RUNG_SHELL);
	assert_true(instance->run.attempt_since % 1000000 == 678000);
	assert_int_equal(instance->limits.cpu_weight, 4);

	/* Without the source object, so that each member comes from the struct. */
	cleanup_json struct json_object *before = parse(full);
	json_object_put(instance->unknown);
	instance->unknown = NULL;
	cleanup_json struct json_object *after = instance_to_json(instance);
	assert_true(json_object_equal(before, after));
}

#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* Another program, or another version, has written them. */
static void what_is_no_tag_is_left_out(void **state UNUSED)
{
	static const struct {
		const char *text, *tags;
	} cases[] = {
		{ "[]", NULL },
		{ "\"a\"", NULL },
		{ "[\"b\",7,\"a\",\"b\",null,[\"c\"]]", "a,b" },
		{ "[\"\",\"A\",\"a b\",\"a,b\",\"-a\",\"+a\",\"_a\",\"a\\u001b\",\"\\u00e4\"]",
		  NULL },
		{ "[\"" X32 "\",\"" X32 "x\"]", X32 },
		{ "[\"p\",\"o\",\"n\",\"m\",\"l\",\"k\",\"j\",\"i\",\"h\",\"g\",\"f\",\"e\",\"d\",\"c\",\"b\","
		  "\"a\",\"q\"]",
		  "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = xasprintf("{\"format\":1,\"future\":{\"x\":1}," CREATED
						    "," REQUIRED ",\"tags\":%s}",
						    cases[i].text);
		cleanup_instance struct instance *instance = read_text(text);
		assert_string_equal(or_empty(instance->tags), or_empty(cases[i].tags));
		assert_written(instance, "\"future\":{\"x\":1}");
		if (!cases[i].tags)
			assert_not_written(instance, "\"tags\"");
	}
	assert_refused("{\"format\":1," CREATED "," REQUIRED ",\"is_pinned\":7}", ERROR_CORRUPT,
		       "is_pinned");
	assert_refused("{\"format\":1," CREATED "," REQUIRED ",\"archived_at\":\"soon\"}",
		       ERROR_CORRUPT, "archived_at");
}

static void tags_are_replaced_or_changed(void **state UNUSED)
{
	static const struct {
		const char *before, *change, *after; /* "!": refused */
	} cases[] = {
		{ NULL, "b,a,b", "a,b" }, { "a,b", "", NULL },       { "a,b", "c", "c" },
		{ "a,b", "+c", "a,b,c" }, { "a,b", "-b,+c", "a,c" }, { "a", "-a", NULL },
		{ "a", "-b", "a" },       { "a", "+a", "a" },        { NULL, "+b,-b", NULL },
		{ "a", "b,+c", "!" },     { "a", "+b,c", "!" },      { "a", "+", "!" },
		{ "a", "+b,", "!" },      { "a", ",", "!" },         { "a", "B", "!" },
		{ "a", "+-b", "!" },      { "a", "+" X32 "x", "!" }, { "a", ".b", "!" },
		{ "a", "b c", "!" },      { "a", "\xc3\xa4", "!" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_free char *after = NULL;
		if (tags_change(cases[i].before, cases[i].change, &after, &err) < 0)
			after = xstrdup("!");
		assert_string_equal(or_empty(after), or_empty(cases[i].after));
	}
	assert_true(tags_have("a,b,c", "c,a"));
	assert_true(tags_have(NULL, NULL));
	assert_false(tags_have("ab", "a"));
	assert_false(tags_have(NULL, "a"));
}

#define RECIPE                                                                               \
	"{\"engine\":\"docker\",\"address\":\"unix:///s\",\"image_id\":\"sha256:1\","        \
	"\"user\":\"1:1\",\"home\":\"/h\",\"directory\":\"/srv/api\",\"program\":\"image\"," \
	"\"login\":\"sync\"%s}"
#define CONTAINER                                                                               \
	"{\"format\":1," CREATED ",\"id\":\"0123abcd\",\"title\":\"api\",\"cwd\":\"/srv/api\"," \
	"\"agent\":\"claude\",\"argv\":[\"claude\"],\"backend\":\"container\","                 \
	"\"base\":\"ad-0123abcd-api-claude\",\"desired\":\"running\","                          \
	"\"observed\":{\"state\":\"running\"},\"run\":{\"id\":\"r-1\",\"socket\":\"/r/tmux\","  \
	"\"server_pid\":11,\"server_start\":12,\"window_pid\":17,\"window_start\":18,"          \
	"\"capsule\":\"/state/capsule\"},\"recipe\":" RECIPE ",\"container_id\":\"c0ffee\","    \
	"\"container_memory\":7,\"container_pids\":8,"                                          \
	"\"came_back\":{\"at\":\"2026-11-23T00:00:00.000Z\",\"tier\":2,\"rung\":\"resume\","    \
	"\"lost\":\"files\"}}"

static void a_container_is_read_and_written_as_it_was(void **state UNUSED)
{
	cleanup_free char *text = xasprintf(CONTAINER, "");
	cleanup_instance struct instance *instance = read_text(text);
	assert_string_equal(instance->base, "ad-0123abcd-api-claude");
	assert_null(instance->copy_of);
	assert_string_equal(instance->recipe->image_id, "sha256:1");
	assert_string_equal(instance->container_id, "c0ffee");
	assert_int_equal(instance->came_back.tier, 2);
	assert_int_equal(instance->came_back.rung, RUNG_RESUME);
	assert_string_equal(instance->came_back.lost, "files");
	assert_int_equal(instance->run.server.pid, 11);
	assert_int_equal(instance->run.window.pid, 17);
	assert_int_equal(instance->run.window.start, 18);
	assert_string_equal(instance->run.capsule, "/state/capsule");
	assert_int_equal(run_tmux_server(&instance->run)->pid, 17);

	json_object_put(instance->unknown);
	instance->unknown = NULL;
	cleanup_free char *first = written(instance);
	cleanup_instance struct instance *again = read_text(first);
	cleanup_free char *second = written(again);
	assert_string_equal(first, second);
	static const char *const parts[] = { "\"window_pid\":17",
					     "\"window_start\":18",
					     "\"capsule\":\"/state/capsule\"",
					     "\"recipe\":{\"engine\":\"docker\"",
					     "\"container_id\":\"c0ffee\"",
					     "\"container_memory\":7",
					     "\"container_pids\":8",
					     "\"tier\":2",
					     "\"lost\":\"files\"" };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_written(instance, parts[i]);

	recipe_free(instance->recipe);
	instance->recipe = NULL;
	replace_string(&instance->container_id, NULL);
	instance->container_memory = instance->container_pids = 0;
	run_clear(&instance->run);
	instance->came_back.at = 0;
	assert_not_written(instance, "came_back");
	assert_not_written(instance, "recipe");
	assert_not_written(instance, "container_");
	assert_not_written(instance, "window");
	assert_not_written(instance, "/state/capsule");
}

static void a_host_s_manifest_has_nothing_of_a_container(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(full);
	assert_null(instance->recipe);
	assert_null(instance->container_id);
	assert_null(instance->run.capsule);
	assert_int_equal(instance->run.window.pid, 0);
	assert_int_equal(run_tmux_server(&instance->run)->pid, 11);
	assert_not_written(instance, "recipe");
	assert_not_written(instance, "container_id");
	assert_not_written(instance, "window");
	assert_not_written(instance, "capsule");
}

/* Both become parts of a path, also where the place is another one. */
static void only_a_guest_lives_within_another_session(void **state UNUSED)
{
	static const char *const within[] = { ",\"within\":\"../../../x\",\"room\":1",
					      ",\"within\":\"0aaaaaaa\",\"room\":1" };
	for (size_t i = 0; i < ARRAY_SIZE(within); i++) {
		cleanup_free char *text = xasprintf(CONTAINER, within[i]);
		assert_refused(text, ERROR_CORRUPT, "recipe.within");
	}
}

static void unknown_keys_of_a_recipe_survive(void **state UNUSED)
{
	cleanup_free char *text = xasprintf(CONTAINER, ",\"x-recipe\":[1]");
	cleanup_instance struct instance *instance = read_text(text);
	replace_string(&instance->recipe->image_id, "sha256:2");
	assert_written(instance, "\"x-recipe\":[1]");
	assert_written(instance, "sha256:2");
	assert_not_written(instance, "sha256:1");
}

#define TAKEN(more) "{\"format\":1," CREATED "," REQUIRED ",\"taken_from\":{" more "}}"

static void a_process_that_was_taken_is_read_and_written_as_it_was(void **state UNUSED)
{
	static const char *const parts[] = { "\"pid\":7",
					     "\"start\":8",
					     "\"boot_id\":\"b\"",
					     "\"machine_id\":\"m\"",
					     "\"pid_namespace\":\"2:3\"",
					     "\"session_id\":\"s-1\"",
					     "\"x\":[1]" };
	cleanup_instance struct instance *instance = read_text(
		TAKEN("\"pid\":7,\"start\":8,\"boot_id\":\"b\",\"machine_id\":\"m\","
		      "\"pid_namespace\":\"2:3\",\"session_id\":\"s-1\",\"x\":[1]"));
	assert_string_equal(instance->taken.machine_id, "m");
	assert_string_equal(instance->taken.session_id, "s-1");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_written(instance, parts[i]);
	taken_clear(&instance->taken);
	assert_not_written(instance, "taken_from");
}

/* A script, and the agent that it launched. */
static void a_launched_process_is_read_and_written_and_outlives_its_script(void **state UNUSED)
{
	struct process_id pair[2], found = { 0 };
	cleanup_instance struct instance *instance = read_text(
		TAKEN("\"pid\":7,\"start\":8,\"launched\":[{\"pid\":9,\"start\":10}]"));
	struct taken *taken = &instance->taken;
	assert_int_equal(taken->count, 2);
	assert_int_equal(taken->processes[1].pid, 9);
	assert_true(taken_has(taken, &(struct process_id){ .pid = 9, .start = 10 }));
	assert_false(taken_has(taken, &(struct process_id){ .pid = 9, .start = 11 }));
	assert_written(instance, "\"pid\":7");
	assert_written(instance, "\"launched\":[{\"pid\":9,\"start\":10}]");
	assert_int_equal(process_identify(getpid(), &pair[1], NULL), 0);
	pair[0] = pair[1];
	pair[0].start++;
	taken_set(taken, pair, 2, "s-1");
	assert_int_equal(taken_look(taken, &found), TAKEN_LIVES);
	assert_true(process_same(&found, &pair[1]));
	taken_set(taken, pair, 1, "s-1");
	assert_not_written(instance, "launched");
}

static void a_process_that_was_taken_counts_where_it_may_live(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(MINIMAL);
	struct taken *taken = &instance->taken;
	struct process_id self;
	assert_int_equal(taken_look(taken, NULL), TAKEN_ENDED);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	taken_set(taken, &self, 1, "s-1");
	assert_int_equal(taken_look(taken, NULL), TAKEN_LIVES);
	assert_string_equal(or_empty(taken->machine_id), machine_id());
	assert_string_equal(or_empty(taken->pid_namespace), machine_pid_namespace());
	assert_true(taken_may_have(taken, "s-1"));
	assert_true(taken_may_have(taken, NULL));
	assert_false(taken_may_have(taken, "s-2"));
	taken->processes[0].start++;
	assert_int_equal(taken_look(taken, NULL), TAKEN_ENDED);

	/* A container: its processes are hidden from us. */
	replace_string(&taken->pid_namespace, "1:1");
	assert_int_equal(taken_look(taken, NULL), TAKEN_ELSEWHERE);
	replace_string(&taken->pid_namespace, NULL);

	/* The home is shared: nobody here can know. */
	replace_string(&taken->boot_id, "11111111-2222-4333-8444-555555555555");
	assert_int_equal(taken_look(taken, NULL), TAKEN_ENDED);
	replace_string(&taken->machine_id, "11111111-0000-4000-8000-000000000000");
	assert_int_equal(taken_look(taken, NULL), TAKEN_ELSEWHERE);

	/* Of a version that wrote neither. */
	taken_set(taken, &self, 1, NULL);
	replace_string(&taken->machine_id, NULL);
	assert_int_equal(taken_look(taken, NULL), TAKEN_LIVES);
	assert_true(taken_may_have(taken, "s-2"));
}

static void absent_members_mean_none(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(MINIMAL);
	assert_string_equal(instance->base, "0123abcd");
	assert_null(instance->group);
	assert_null(instance->conversation.session_id);
	assert_null(instance->run.socket);
	assert_null(run_attempt(&instance->run));
	assert_false(instance->observed.exit.present);
	assert_int_equal(instance->resume_policy, POLICY_AUTO);
	assert_int_equal(instance->restart_policy, RESTART_DEFAULT);
	assert_int_equal(instance->observed.restart_count, 0);
	assert_true(instance->last_used_at == 0);
	assert_not_written(instance, "\"run\"");
	assert_not_written(instance, "\"exit\"");
	assert_not_written(instance, "\"limits\"");
	assert_not_written(instance, "null");
}

static void what_is_written_can_be_read_whatever_is_empty(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	instance->id = xstrdup("0123abcd");
	instance->base = xstrdup("0123abcd");
	instance->title = xstrdup("api");
	instance->cwd = xstrdup("/");
	instance->agent = xstrdup("claude");
	instance->backend = xstrdup("host");
	strvec_push(&instance->argv, "claude");
	cleanup_free char *text = written(instance);
	cleanup_instance struct instance *again = read_text(text);
	assert_true(again->created_at == 0);
}

static void each_question_for_a_directory_has_its_answer(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	instance_set_directory(instance, "/srv/api");
	assert_string_equal(instance_launch_directory(instance), "/srv/api");
	assert_string_equal(instance_transcript_directory(instance), "/srv/api");
	assert_string_equal(instance_owner_directory(instance), "/srv/api");
	assert_string_equal(instance_lookup_directory(instance), "/srv/api");

	instance_set_launch_directory(instance, "/srv/api/tree");
	assert_string_equal(instance_launch_directory(instance), "/srv/api/tree");
	assert_string_equal(instance_transcript_directory(instance), "/srv/api");
	assert_string_equal(instance_owner_directory(instance), "/srv/api");
	assert_string_equal(instance_lookup_directory(instance), "/srv/api");

	/* The conversation is back where it began, and then its user moves the directory. */
	instance_set_launch_directory(instance, "/srv/api");
	assert_null(instance->conversation.directory);
	instance_set_launch_directory(instance, "/srv/new");
	instance_set_directory(instance, "/srv/new");
	assert_null(instance->conversation.directory);
	assert_string_equal(instance_launch_directory(instance), "/srv/new");
	assert_string_equal(instance_lookup_directory(instance), "/srv/new");
}

static void unknown_keys_survive_at_every_level(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(
		"{\"format\":1,\"x-top\":[1,{\"deep\":1.50}]," CREATED ",\"id\":\"0123abcd\","
		"\"title\":\"api\",\"cwd\":\"/srv\",\"agent\":\"a\",\"argv\":[\"a\"],"
		"\"backend\":\"host\",\"desired\":\"running\",\"env\":{\"x-env\":1},"
		"\"policy\":{\"cleanup\":\"later\"},"
		"\"observed\":{\"state\":\"running\",\"x-observed\":1,"
		"\"exit\":{\"code\":3,\"x-exit\":1}},\"conversation\":{\"x-conversation\":1},"
		"\"limits\":{\"x-limits\":1},\"run\":{\"id\":\"r\",\"socket\":\"/s\",\"x-run\":1,"
		"\"attempts\":[{\"rung\":\"resume\",\"argv\":[],\"x-attempt\":1}]}}");
	replace_string(&instance->title, "renamed");
	instance->observed.state = STATE_STOPPING;
	conversation_set_id(&instance->conversation, "s-9", ORIGIN_REPORTED, 1000);
	static const char *const keys[] = { "x-top",      "x-env",  "cleanup",
					    "x-observed", "x-exit", "x-conversation",
					    "x-limits",   "x-run",  "x-attempt",
					    "1.50" };
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_written(instance, keys[i]);
	assert_written(instance, "\"title\":\"renamed\"");
	assert_not_written(instance, "\"api\"");
}

#define WITH_RUN                                                                              \
	"{\"format\":1," CREATED "," REQUIRED ",\"run\":{\"id\":\"r-1\",\"socket\":\"/s\","   \
	"\"unit\":\"u\",\"x-run\":1,\"attempts\":[{\"rung\":\"resume\",\"session_id\":\"s\"," \
	"\"x-attempt\":1}]}}"

static void unknown_keys_of_a_run_go_with_it(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(WITH_RUN);
	replace_string(&instance->run.id, "r-2");
	assert_not_written(instance, "x-run");
	assert_not_written(instance, "x-attempt");
	assert_written(instance, "\"id\":\"r-2\"");
	run_clear(&instance->run);
	assert_not_written(instance, "\"run\"");
}

static void unknown_keys_of_an_attempt_go_with_it(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(WITH_RUN);
	assert_written(instance, "x-attempt");
	replace_string(&instance->run.attempts[0].session_id, "other");
	assert_written(instance, "x-run");
	assert_not_written(instance, "x-attempt");
}

static void unknown_keys_of_an_exit_go_with_it(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(
		"{\"format\":1," CREATED ",\"id\":\"0123abcd\",\"title\":\"api\",\"cwd\":\"/srv\","
		"\"agent\":\"a\",\"argv\":[\"a\"],\"backend\":\"host\",\"desired\":\"running\","
		"\"observed\":{\"state\":\"error\",\"exit\":{\"code\":3,\"x-exit\":1}}}");
	assert_written(instance, "x-exit");
	instance->observed.exit.code = 4;
	assert_not_written(instance, "x-exit");
	instance->observed.exit.signal = 15;
	assert_not_written(instance, "\"code\"");
	assert_written(instance, "\"exit\":{\"signal\":15}");
}

static void members_that_are_gone_are_removed(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(full);
	run_clear(&instance->run);
	instance->observed.exit.present = false;
	instance->limits = (struct limits){ 0 };
	instance->last_used_at = 0;
	replace_string(&instance->observed.reason, NULL);
	replace_string(&instance->conversation.session_id, NULL);
	replace_string(&instance->group, NULL);
	static const char *const keys[] = { "\"run\"",      "\"exit\"",        "\"limits\"",
					    "\"reason\"",   "\"session_id\"",  "\"group\"",
					    "\"attempts\"", "\"last_used_at\"" };
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_not_written(instance, keys[i]);
}

static void writing_does_not_change_the_source(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(full);
	cleanup_json struct json_object *before = parse(full);
	run_clear(&instance->run);
	replace_string(&instance->title, "renamed");
	json_object_put(instance_to_json(instance));
	assert_true(json_object_equal(instance->unknown, before));
}

static void paths_and_arguments_may_be_any_bytes(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(MINIMAL);
	replace_string(&instance->cwd, "/srv/\xff\x01x");
	strvec_push(&instance->argv, "--name=\xc3");
	strvec_push(&instance->argv, "M\xc3\xbcller \"1\"\n\t\x7f");
	assert_written(instance, "\"cwd\":{\"bytes\":\"2f7372762fff0178\"}");
	cleanup_free char *text = written(instance);
	cleanup_instance struct instance *again = read_text(text);
	assert_string_equal(again->cwd, instance->cwd);
	assert_true(strvec_equal(&again->argv, &instance->argv));
}

static void bytes_that_are_none_are_refused(void **state UNUSED)
{
	static const char *const bad[] = { "{\"bytes\":\"2\"}",    "{\"bytes\":\"zz\"}",
					   "{\"bytes\":\"2f00\"}", "{\"bytes\":\"2F\"}",
					   "{\"bytes\":7}",        "{\"byte\":\"2f\"}",
					   "\"a\\u0000b\"",        "7" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_free char *text = xasprintf(
			"{\"format\":1," CREATED "," REQUIRED ",\"group\":%s}", bad[i]);
		assert_refused(text, ERROR_CORRUPT, "group is not a string");
	}
}

static void newer_formats_are_refused_before_anything_else(void **state UNUSED)
{
	assert_refused("{\"format\":3,\"id\":7,\"observed\":{\"state\":\"frozen\"}}", ERROR_NEWER,
		       "newer agentdeck");
}

static void formats_that_are_none_are_refused(void **state UNUSED)
{
	assert_refused("{" CREATED "," REQUIRED "}", ERROR_CORRUPT, "format");
	assert_refused("{\"format\":0," CREATED "," REQUIRED "}", ERROR_CORRUPT, "format");
	assert_refused("{\"format\":\"1\"," CREATED "," REQUIRED "}", ERROR_CORRUPT, "format");
	assert_refused("[]", ERROR_CORRUPT, "is not a JSON object");
}

static void each_required_member_is_required(void **state UNUSED)
{
	static const char *const keys[] = { "id",      "title",   "cwd",      "agent",     "argv",
					    "backend", "desired", "observed", "created_at" };
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_json struct json_object *object = parse(MINIMAL);
		json_object_object_del(object, keys[i]);
		assert_refused(json_object_to_json_string(object), ERROR_CORRUPT, keys[i]);
		json_object_object_add(object, keys[i], NULL);
		assert_refused(json_object_to_json_string(object), ERROR_CORRUPT, keys[i]);
		json_object_object_add(object, keys[i], json_object_new_double(1.5));
		assert_refused(json_object_to_json_string(object), ERROR_CORRUPT, keys[i]);
	}
	assert_refused("{\"format\":1," CREATED ",\"id\":\"0123abcd\",\"title\":\"a\","
		       "\"cwd\":\"/\",\"agent\":\"a\",\"argv\":[\"a\"],\"backend\":\"host\","
		       "\"desired\":\"stopped\",\"observed\":{}}",
		       ERROR_CORRUPT, "observed.state is missing");
}

static void a_container_needs_its_recipe_and_what_finds_its_run(void **state UNUSED)
{
	static const struct {
		const char *in, *key, *says;
	} needed[] = {
		{ NULL, "recipe", "recipe of its container is missing" },
		{ "run", "id", "run.id is missing" },
		{ "run", "capsule", "run.capsule is missing" },
		{ "recipe", "program_directory", "recipe.program_directory is missing" },
	};
	cleanup_free char *text = xasprintf(CONTAINER,
					    ",\"program\":\"host\",\"program_directory\":\"/opt\"");
	instance_free(read_text(text));
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		cleanup_json struct json_object *object = parse(text);
		json_object_object_del(needed[i].in ? json_get_object(object, needed[i].in)
						    : object,
				       needed[i].key);
		assert_refused(json_object_to_json_string(object), ERROR_CORRUPT, needed[i].says);
	}
}

static void members_of_the_wrong_kind_are_refused_by_name(void **state UNUSED)
{
	static const struct {
		const char *member, *says;
	} bad[] = {
		{ "\"id\":\"../../etc\"", "id is not an instance id" },
		{ "\"title\":\"\"", "title is empty" },
		{ "\"cwd\":\"relative\"", "cwd is not an absolute path" },
		{ "\"argv\":[]", "argv is empty" },
		{ "\"argv\":[\"a\",null]", "argv holds something that is not a string" },
		{ "\"desired\":\"maybe\"", "desired has an unknown value" },
		{ "\"created_at\":\"yesterday\"", "created_at is not a time" },
		{ "\"created_at\":12", "created_at is not a string" },
		{ "\"policy\":[]", "policy is not an object" },
		{ "\"policy\":{\"resume\":\"always\"}", "policy.resume has an unknown value" },
		{ "\"policy\":{\"restart\":true}", "policy.restart is not a string" },
		{ "\"observed\":{\"state\":\"lost\"}", "observed.state has an unknown value" },
		{ "\"observed\":{\"state\":\"error\",\"exit\":{\"code\":\"7x\"}}",
		  "observed.exit.code is not an integer" },
		{ "\"conversation\":{\"origin\":\"stolen\"}",
		  "conversation.origin has an unknown value" },
		{ "\"conversation\":{\"first_turn_seen\":1}", "seen is not true or false" },
		{ "\"run\":{\"server_pid\":4294967296}", "run.server_pid is out of range" },
		{ "\"run\":{\"pane_start\":-1}", "run.pane_start is out of range" },
		{ "\"run\":{\"attempts\":[{\"rung\":\"fly\"}]}",
		  "run.attempts[].rung has an unknown value" },
		{ "\"run\":{\"attempts\":[7]}", "run.attempts holds something" },
		{ "\"run\":{\"attempts\":[],\"attempt\":1}", "run.attempt is out of range" },
		{ "\"limits\":{\"memory_max\":-5}", "limits.memory_max is out of range" },
		{ "\"run\":{\"window_pid\":-1}", "run.window_pid is out of range" },
		{ "\"run\":{\"capsule\":7}", "run.capsule is not a string" },
		{ "\"container_id\":[]", "container_id is not a string" },
		{ "\"taken_from\":{\"launched\":[7]}", "taken_from.launched holds something" },
		{ "\"taken_from\":{\"launched\":[{\"pid\":-1}]}",
		  "taken_from.launched[].pid is out of range" },
		{ "\"recipe\":[]", "recipe is not an object" },
		{ "\"recipe\":{\"engine\":\"docker\"}", "recipe.address is missing" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		/* Of two equal keys the last one counts. */
		cleanup_free char *text = xasprintf("{\"format\":1," CREATED "," REQUIRED ",%s}",
						    bad[i].member);
		assert_refused(text, ERROR_CORRUPT, bad[i].says);
	}
}

#define CHECK_NAMES(type, count, name, words)                                   \
	for (int value_ = 0; value_ < (count); value_++)                        \
		assert_int_equal(word_find(words, name((type)value_)), value_); \
	assert_null((words)[count]);

#define CHECK_WORDS(type, count, name, parse)                   \
	for (int value_ = 0; value_ < (count); value_++) {      \
		type read_ = (type)((value_ + 1) % (count));    \
		assert_true(parse(name((type)value_), &read_)); \
		assert_int_equal(read_, value_);                \
		assert_false(parse("no-such-word", &read_));    \
		assert_int_equal(read_, value_);                \
	}

static void an_answered_offer_is_gone_from_the_manifest(void **state UNUSED)
{
	cleanup_instance struct instance *instance = read_text(full);
	instance->run.offer = true;
	cleanup_json struct json_object *asked = instance_to_json(instance);
	assert_true(json_get_bool(json_get_object(asked, "run"), "offer", false));
	cleanup_instance struct instance *again = NULL;
	assert_int_equal(instance_from_json(asked, "m", &again, NULL), 0);
	assert_true(again->run.offer);
	again->run.offer = false;
	cleanup_json struct json_object *answered = instance_to_json(again);
	assert_false(json_get_bool(json_get_object(answered, "run"), "offer", false));
}

static void each_word_means_its_value_and_no_other(void **state UNUSED)
{
	CHECK_NAMES(enum instance_state, STATE_COUNT, instance_state_name, instance_state_words)
	CHECK_NAMES(enum instance_desired, 3, instance_desired_name, instance_desired_words)
	CHECK_WORDS(enum instance_activity, 4, instance_activity_name, instance_activity_parse)
	CHECK_NAMES(enum session_origin, 5, session_origin_name, session_origin_words)
	CHECK_NAMES(enum rung, RUNG_COUNT, rung_name, rung_words)
	CHECK_WORDS(enum resume_policy, 4, resume_policy_name, resume_policy_parse)
	CHECK_WORDS(enum restart_policy, 4, restart_policy_name, restart_policy_parse)
	CHECK_WORDS(enum end_policy, END_COUNT, end_policy_name, end_policy_parse)
	CHECK_NAMES(enum ending_stage, ENDING_COUNT, ending_stage_name, ending_stage_words)
}

static void another_id_starts_a_conversation_anew(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct conversation *conversation = &instance->conversation;
	conversation_set_id(conversation, "s-1", ORIGIN_MINTED, 1);
	assert_int_equal(conversation->previous.count, 0);
	conversation->first_turn_seen = true;
	replace_string(&conversation->transcript_path, "/s-1.jsonl");
	replace_string(&conversation->config_home, "/home");
	conversation_set_id(conversation, "s-2", ORIGIN_REPORTED, 2);
	assert_string_equal(conversation->session_id, "s-2");
	assert_int_equal(conversation->origin, ORIGIN_REPORTED);
	assert_true(conversation->captured_at == 2);
	assert_false(conversation->first_turn_seen);
	assert_null(conversation->transcript_path);
	assert_string_equal(conversation->config_home, "/home");
	assert_int_equal(conversation->previous.count, 1);
	assert_string_equal(conversation->previous.items[0], "s-1");
}

static void the_same_id_changes_neither_origin_nor_history(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct conversation *conversation = &instance->conversation;
	conversation_set_id(conversation, "s-1", ORIGIN_MINTED, 1);
	conversation->first_turn_seen = true;
	replace_string(&conversation->transcript_path, "/s-1.jsonl");
	conversation_set_id(conversation, "s-1", ORIGIN_REPORTED, 2);
	assert_int_equal(conversation->origin, ORIGIN_MINTED);
	assert_true(conversation->first_turn_seen);
	assert_string_equal(conversation->transcript_path, "/s-1.jsonl");
	assert_int_equal(conversation->previous.count, 0);
	assert_true(conversation->captured_at == 2);
}

static void another_spelling_of_a_uuid_is_the_same_id(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct conversation *conversation = &instance->conversation;
	conversation_set_id(conversation, "550e8400-e29b-41d4-a716-44665544abcd", ORIGIN_MINTED, 1);
	conversation->first_turn_seen = true;
	conversation_set_id(conversation, "550E8400-E29B-41D4-A716-44665544ABCD", ORIGIN_REPORTED,
			    2);
	assert_string_equal(conversation->session_id, "550E8400-E29B-41D4-A716-44665544ABCD");
	assert_true(conversation->first_turn_seen);
	assert_int_equal(conversation->previous.count, 0);
}

static void previous_ids_stand_once_and_the_latest_last(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct conversation *conversation = &instance->conversation;
	conversation_set_id(conversation, "s-1", ORIGIN_MINTED, 1);
	conversation_set_id(conversation, "s-2", ORIGIN_REPORTED, 2);
	conversation_set_id(conversation, "s-3", ORIGIN_REPORTED, 3);
	/* Return to an earlier id, with a text that the vector itself owns. */
	conversation_set_id(conversation, conversation->previous.items[0], ORIGIN_REPORTED, 4);
	assert_string_equal(conversation->session_id, "s-1");
	assert_int_equal(conversation->previous.count, 2);
	assert_string_equal(conversation->previous.items[0], "s-2");
	assert_string_equal(conversation->previous.items[1], "s-3");
	conversation_set_id(conversation, NULL, ORIGIN_NONE, 5);
	assert_null(conversation->session_id);
	assert_int_equal(conversation->origin, ORIGIN_NONE);
	assert_string_equal(conversation->previous.items[2], "s-1");
}

static void an_attempt_is_added_as_a_copy(void **state UNUSED)
{
	struct run run = { 0 };
	struct attempt attempt = { .rung = RUNG_FRESH,
				   .reason = REASON_OTHER,
				   .other_reason = xstrdup("of_another_version") };
	strvec_push(&attempt.argv, "claude");
	run_add_attempt(&run, &attempt);
	attempt_clear(&attempt);
	assert_null(attempt.argv.items);
	assert_int_equal(run.attempt_count, 1);
	assert_string_equal(attempt_reason(run_attempt(&run)), "of_another_version");
	assert_string_equal(run_attempt(&run)->argv.items[0], "claude");
	run.attempt = 1;
	assert_null(run_attempt(&run));
	run_clear(&run);
	assert_null(run_attempt(&run));
	assert_null(run.attempts);
}

static void nothing_can_be_freed(void **state UNUSED)
{
	instance_free(NULL);
	instance_free(instance_new());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_read_and_written_as_it_was),
		cmocka_unit_test(queued_messages_keep_what_they_have),
		cmocka_unit_test(what_is_no_tag_is_left_out),
		cmocka_unit_test(tags_are_replaced_or_changed),
		cmocka_unit_test(a_container_is_read_and_written_as_it_was),
		cmocka_unit_test(a_host_s_manifest_has_nothing_of_a_container),
		cmocka_unit_test(only_a_guest_lives_within_another_session),
		cmocka_unit_test(unknown_keys_of_a_recipe_survive),
		cmocka_unit_test(a_process_that_was_taken_is_read_and_written_as_it_was),
		cmocka_unit_test(a_launched_process_is_read_and_written_and_outlives_its_script),
		cmocka_unit_test(a_process_that_was_taken_counts_where_it_may_live),
		cmocka_unit_test(absent_members_mean_none),
		cmocka_unit_test(what_is_written_can_be_read_whatever_is_empty),
		cmocka_unit_test(each_question_for_a_directory_has_its_answer),
		cmocka_unit_test(unknown_keys_survive_at_every_level),
		cmocka_unit_test(unknown_keys_of_a_run_go_with_it),
		cmocka_unit_test(unknown_keys_of_an_attempt_go_with_it),
		cmocka_unit_test(unknown_keys_of_an_exit_go_with_it),
		cmocka_unit_test(members_that_are_gone_are_removed),
		cmocka_unit_test(writing_does_not_change_the_source),
		cmocka_unit_test(paths_and_arguments_may_be_any_bytes),
		cmocka_unit_test(bytes_that_are_none_are_refused),
		cmocka_unit_test(newer_formats_are_refused_before_anything_else),
		cmocka_unit_test(formats_that_are_none_are_refused),
		cmocka_unit_test(each_required_member_is_required),
		cmocka_unit_test(a_container_needs_its_recipe_and_what_finds_its_run),
		cmocka_unit_test(members_of_the_wrong_kind_are_refused_by_name),
		cmocka_unit_test(an_answered_offer_is_gone_from_the_manifest),
		cmocka_unit_test(each_word_means_its_value_and_no_other),
		cmocka_unit_test(another_id_starts_a_conversation_anew),
		cmocka_unit_test(the_same_id_changes_neither_origin_nor_history),
		cmocka_unit_test(another_spelling_of_a_uuid_is_the_same_id),
		cmocka_unit_test(previous_ids_stand_once_and_the_latest_last),
		cmocka_unit_test(an_attempt_is_added_as_a_copy),
		cmocka_unit_test(nothing_can_be_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
