/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#define INDEX "instances.json"
#define ONE   "aaaa0001"
#define TWO   "aaaa0002"

enum { MANY = 20, FEW = 16 };

static char *many_id(int i)
{
	return xasprintf("bbbb%04d", i);
}

/* The times of new files are too fresh to be trusted: make them old. */
static void age(const struct store *store, const char *base)
{
	const struct timespec times[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
	cleanup_free char *path = manifest_of(base);
	assert_int_equal(utimensat(store_profile_directory(store), path, times, 0), 0);
}

static void make_many(struct store *store, int count)
{
	for (int i = 0; i < count; i++) {
		cleanup_free char *id = many_id(i);
		cleanup_free char *title = xasprintf("title %d", i);
		make(store, id, title);
		age(store, id);
	}
}

static size_t listed(struct store *store)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(store_list(store, &rows, NULL), 0);
	return rows.count;
}

static void assert_titles(struct store *store, int count)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(store_list(store, &rows, NULL), 0);
	assert_int_equal(rows.count, count);
	for (int i = 0; i < count; i++) {
		cleanup_free char *id = many_id(i);
		cleanup_free char *title = xasprintf("title %d", i);
		assert_string_equal(row_of(&rows, id)->title, title);
		assert_null(row_of(&rows, id)->damage);
	}
}

/* Replace from, which must be there, by to in the index. */
static void tamper(const struct store *store, const char *from, const char *to)
{
	cleanup_free char *text = content(store, INDEX);
	char *at = strstr(text, from);
	if (!at)
		fail_msg("%s is not in the index", from);
	*at = '\0';
	cleanup_free char *changed = xasprintf("%s%s%s", text, to, at + strlen(from));
	put_content(store, INDEX, changed);
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct instance *full_instance(void)
{
	struct instance *instance = new_instance(ONE, "M\xc3\xbcller \"1\" \\ /");
	struct attempt attempt = { .rung = RUNG_CONTINUE };
	instance->group = xstrdup("work");
	instance->tags = xstrdup("api,x");
	instance->is_pinned = true;
	instance->archived_at = INT64_C(1776157684000000);
	instance->queue = xcalloc(2, sizeof(*instance->queue));
	instance->queue_count = 2;
	for (size_t i = 0; i < instance->queue_count; i++)
		instance->queue[i] = (struct queued){ .id = xasprintf("q%zu", i),
						      .text = xstrdup("a message") };
	instance->created_at = INT64_C(1776157681123000);
	instance->last_used_at = INT64_C(1776157682000000);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_RUNNING;
	instance->observed.reason = xstrdup("asked");
	instance->observed.held = xstrdup("too often");
	instance->observed.since = INT64_C(1776157683000000);
	instance->conversation.session_id = xstrdup("s-1");
	instance->conversation.config_home = xstrdup("/home/x/.claude");
	instance->run.socket = xstrdup("/run/x/tmux");
	instance->run.directory = xstrdup("/run/x");
	instance->run.unit = xstrdup("x.scope");
	instance->run.boot_id = xstrdup("boot");
	instance->run.pid_namespace = xstrdup("2:3");
	instance->run.server = (struct process_id){ .pid = 11, .start = 12 };
	instance->run.pane = (struct process_id){ .pid = 13, .start = 14 };
	run_add_attempt(&instance->run, &attempt);
	instance->workspace = workspace_new();
	instance->workspace->kind = WORKSPACE_CLONE;
	instance->workspace->source = xstrdup("/srv");
	instance->workspace->path = xstrdup("/srv/tree");
	instance->workspace->branch = xstrdup("work");
	instance->workspace->base = xstrdup("0123456789012345678901234567890123456789");
	return instance;
}

static void assert_full(const struct store_row *row)
{
	assert_string_equal(row->id, ONE);
	assert_string_equal(row->title, "M\xc3\xbcller \"1\" \\ /");
	assert_string_equal(row->group, "work");
	assert_string_equal(row->tags, "api,x");
	assert_true(row->is_pinned);
	assert_int_equal(row->queued, 2);
	/* It is to run. */
	assert_true(row->archived_at == 0);
	assert_string_equal(row->lookup_directory, "/srv");
	assert_string_equal(row->agent, "claude");
	assert_string_equal(row->backend, "host");
	assert_string_equal(row->session_id, "s-1");
	assert_string_equal(row->config_home, "/home/x/.claude");
	assert_string_equal(row->reason, "asked");
	assert_string_equal(row->run.socket, "/run/x/tmux");
	assert_string_equal(row->run.directory, "/run/x");
	assert_string_equal(row->run.unit, "x.scope");
	assert_string_equal(row->run.boot_id, "boot");
	assert_string_equal(row->run.pid_namespace, "2:3");
	assert_int_equal(row->state, STATE_RUNNING);
	assert_int_equal(row->desired, DESIRED_RUNNING);
	assert_int_equal(row->rung, RUNG_CONTINUE);
	assert_int_equal(row->run.server.pid, 11);
	assert_int_equal(row->run.server.start, 12);
	assert_int_equal(row->run.pane.pid, 13);
	assert_int_equal(row->run.pane.start, 14);
	assert_true(row->created_at == INT64_C(1776157681123000));
	assert_true(row->last_used_at == INT64_C(1776157682000000));
	assert_string_equal(row->held, "too often");
	assert_string_equal(row->workspace, "clone");
	assert_true(row->since == INT64_C(1776157683000000));
	assert_null(row->damage);
}

static void assert_full_row(struct store *store)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	struct store_row alone;
	assert_int_equal(store_list(store, &rows, NULL), 0);
	assert_full(row_of(&rows, ONE));
	assert_int_equal(store_load_row(store, ONE, &alone), 0);
	assert_full(&alone);
	store_row_free(&alone);
	assert_int_equal(store_load_row(store, "absent", &alone), STORE_ABSENT);
}

static void a_row_says_what_the_manifest_says_from_both_sources(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = full_instance();
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	age(fixture->store, ONE);
	assert_full_row(fixture->store);
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY + 1);
	assert_true(is_there(fixture->store, INDEX));
	assert_full_row(fixture->store);
}

static void what_is_absent_or_empty_is_null(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	const struct store_row *row = &rows.rows[0];
	assert_null(row->group);
	assert_null(row->session_id);
	assert_null(row->run.socket);
	assert_null(row->run.unit);
	assert_int_equal(row->run.server.pid, 0);
	assert_int_equal(row->rung, RUNG_NONE);
	assert_true(row->last_used_at == 0);
}

static void rows_come_in_the_order_of_creation(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	static const struct {
		const char *id;
		int64_t created_at;
	} made[] = { { "aaaa0003", 2000 },
		     { "aaaa0001", 3000 },
		     { "aaaa0004", 1000 },
		     { "aaaa0002", 2000 } };
	static const char *const order[] = { "aaaa0004", "aaaa0002", "aaaa0003", "aaaa0001" };
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		cleanup_instance struct instance *instance = new_instance(made[i].id, "x");
		instance->created_at = made[i].created_at;
		assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	}
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_string_equal(rows.rows[i].id, order[i]);
}

static void an_empty_profile_has_no_rows(void **state)
{
	const struct fixture *fixture = *state;
	assert_int_equal(listed(fixture->store), 0);
	assert_false(is_there(fixture->store, INDEX));
}

static void what_is_no_instance_is_not_listed(void **state)
{
	const struct fixture *fixture = *state;
	int directory = store_profile_directory(fixture->store);
	static const char *const names[] = { ".removed-" TWO, ".new-" TWO, TWO, "notes" };
	make(fixture->store, ONE, "one");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(mkdirat(directory, names[i], 0700), 0);
	put_content(fixture->store, ".removed-" TWO "/instance.json", "{}");
	put_content(fixture->store, "aaaa0003", "a file");
	assert_int_equal(listed(fixture->store), 1);
}

static void damage_is_listed_and_takes_nothing_else_down(void **state)
{
	const struct fixture *fixture = *state;
	struct instance *instance = NULL;
	make(fixture->store, ONE, "one");
	make(fixture->store, TWO, "two");
	put_content(fixture->store, TWO "/instance.json", "{");
	for (int set_aside = 0; set_aside < 2; set_aside++) {
		cleanup_store_rows struct store_rows rows = { 0 };
		cleanup_store_lock struct store_lock *lock = lock_of(fixture->store, TWO);
		assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
		assert_int_equal(rows.count, 2);
		assert_null(row_of(&rows, ONE)->damage);
		const struct store_row *row = row_of(&rows, TWO);
		assert_non_null(strstr(row->damage, "instance.json"));
		assert_string_equal(row->id, TWO);
		assert_string_equal(row->title, TWO);
		assert_null(row->lookup_directory);
		assert_int_equal(store_load_locked(lock, &instance, NULL), -1);
	}
}

static void a_newer_manifest_is_listed_as_such(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", "{\"format\":7}");
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_non_null(strstr(row_of(&rows, ONE)->damage, "newer agentdeck"));
}

static void assert_listed_without_index(struct store *store, const char *cwd)
{
	for (int i = 0; i < MANY; i++) {
		cleanup_free char *id = many_id(i);
		cleanup_instance struct instance *instance = new_instance(id, "x");
		replace_string(&instance->cwd, cwd);
		assert_int_equal(create_instance(store, instance, NULL), 0);
		age(store, id);
	}
	for (int i = 0; i < 2; i++) {
		cleanup_store_rows struct store_rows rows = { 0 };
		assert_int_equal(store_list(store, &rows, NULL), 0);
		assert_int_equal(rows.count, MANY);
		assert_string_equal(row_of(&rows, "bbbb0001")->lookup_directory, cwd);
	}
	/* They are no reason to write it again and again. */
	assert_false(is_there(store, INDEX));
}

static void a_text_with_a_tab_is_listed_without_the_index(void **state)
{
	const struct fixture *fixture = *state;
	assert_listed_without_index(fixture->store, "/srv/a\tb");
}

static void bytes_that_are_no_text_are_listed_without_the_index(void **state)
{
	const struct fixture *fixture = *state;
	assert_listed_without_index(fixture->store, "/srv/\xff\xfe");
}

/* --- the index -------------------------------------------------------------------------------- */

static void few_stale_rows_do_not_write_the_index(void **state)
{
	const struct fixture *fixture = *state;
	make_many(fixture->store, FEW);
	assert_int_equal(listed(fixture->store), FEW);
	assert_false(is_there(fixture->store, INDEX));
	make(fixture->store, ONE, "one");
	age(fixture->store, ONE);
	assert_int_equal(listed(fixture->store), FEW + 1);
	assert_true(is_there(fixture->store, INDEX));
}

static void a_true_row_is_taken_from_the_index(void **state)
{
	const struct fixture *fixture = *state;
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	tamper(fixture->store, "title 7", "from the index");
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(row_of(&rows, "bbbb0007")->title, "from the index");
}

static void a_stale_row_is_read_anew(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	rename_instance(fixture->store, "bbbb0007", "renamed");
	cleanup_free char *before = content(fixture->store, INDEX);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(row_of(&rows, "bbbb0007")->title, "renamed");
	cleanup_free char *after = content(fixture->store, INDEX);
	assert_string_equal(before, after);
}

static void a_manifest_that_is_damaged_later_is_not_hidden_by_its_row(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	put_content(fixture->store, "bbbb0007/instance.json", "{");
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, MANY);
	assert_non_null(row_of(&rows, "bbbb0007")->damage);
}

static void rows_of_what_is_gone_are_dropped(void **state)
{
	const struct fixture *fixture = *state;
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	assert_int_equal(store_remove(lock_of(fixture->store, "bbbb0019"), NULL), 0);
	assert_int_equal(listed(fixture->store), MANY - 1);
	cleanup_free char *shorter = content(fixture->store, INDEX);
	assert_null(strstr(shorter, "bbbb0019"));
	assert_int_equal(store_remove(lock_of(fixture->store, "bbbb0000"), NULL), 0);
	assert_int_equal(listed(fixture->store), MANY - 2);
	cleanup_free char *text = content(fixture->store, INDEX);
	assert_null(strstr(text, "bbbb0000"));
	assert_non_null(strstr(text, "bbbb0001"));
}

static void an_index_that_is_none_is_written_anew(void **state)
{
	const struct fixture *fixture = *state;
	static const char *const bad[] = {
		"",
		"garbage",
		"{",
		"[]",
		"{}",
		"{\"format\":1,\"rows\":{}}",
		"{\"format\":4,\"rows\":[\"bbbb0000\"]}",
	};
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	cleanup_free char *good = content(fixture->store, INDEX);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put_content(fixture->store, INDEX, bad[i]);
		assert_titles(fixture->store, MANY);
		cleanup_free char *after = content(fixture->store, INDEX);
		assert_string_equal(good, after);
	}
	assert_int_equal(unlinkat(store_profile_directory(fixture->store), INDEX, 0), 0);
	assert_titles(fixture->store, MANY);
	cleanup_free char *after = content(fixture->store, INDEX);
	assert_string_equal(good, after);
}

static void an_index_that_was_cut_anywhere_is_as_good_as_none(void **state)
{
	const struct fixture *fixture = *state;
	make_many(fixture->store, FEW + 1);
	assert_int_equal(listed(fixture->store), FEW + 1);
	cleanup_free char *good = content(fixture->store, INDEX);
	size_t length = strlen(good);
	for (size_t cut = 0; cut < length - 1; cut += 101) {
		cleanup_free char *part = xstrndup(good, cut);
		put_content(fixture->store, INDEX, part);
		assert_titles(fixture->store, FEW + 1);
	}
}

/* Escapes and bytes that we do not write. */
static void a_line_that_is_no_row_of_ours_is_read_anew(void **state)
{
	const struct fixture *fixture = *state;
	static const char *const forged[] = {
		"\\u0000", "\\u0041", "\\u00", "\\x", "\x01", "\xff", "\"", "\\",
	};
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	cleanup_free char *good = content(fixture->store, INDEX);
	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		put_content(fixture->store, INDEX, good);
		tamper(fixture->store, "title 7", forged[i]);
		assert_titles(fixture->store, MANY);
	}
}

static void control_characters_come_back_from_the_index(void **state)
{
	const struct fixture *fixture = *state;
	static const char odd[] = "\x01 \x1f \b\f\n\r \"\\/ \x7f";
	make_many(fixture->store, MANY);
	rename_instance(fixture->store, "bbbb0007", odd);
	age(fixture->store, "bbbb0007");
	assert_int_equal(listed(fixture->store), MANY);
	tamper(fixture->store, "title 8", "from the index");
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(row_of(&rows, "bbbb0008")->title, "from the index");
	/* A changed row shows that it was taken. */
	tamper(fixture->store, "\\u0001 ", "\\u0002 ");
	store_rows_free(&rows);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(*row_of(&rows, "bbbb0007")->title, 2);
	assert_string_equal(row_of(&rows, "bbbb0007")->title + 1, odd + 1);
}

static void rows_that_make_no_sense_are_read_anew(void **state)
{
	const struct fixture *fixture = *state;
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "forged\\t", "" },              /* a text too few */
		{ "forged\\t", "forged\\tx\\t" }, /* one too many */
		{ "\\tnone\\t", "\\tnone\\tx\\t" },
		{ "\"format\":15", "\"format\":8" },
		{ "\\tstopped\\tstopped", "\\tstopped\\tlost" },
		{ "\\tstopped\\tstopped", "\\tmelted\\tstopped" },
		{ "\\t1776157681000000", "\\t-1" },
		{ "\\t1776157681000000", "\\tsoon" },
		{ "\\tnone\\t", "\\tflying\\t" },
		{ "\\tnone\\t", "\\t\\t" },
		{ "\\t/srv\\t", "\\t\\t" },
		{ "bbbb0000\\tbbbb0000", "cccc0000\\tbbbb0000" }, /* out of order */
	};
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	tamper(fixture->store, "title 0", "forged");
	cleanup_free char *good = content(fixture->store, INDEX);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		put_content(fixture->store, INDEX, good);
		tamper(fixture->store, changes[i].from, changes[i].to);
		assert_titles(fixture->store, MANY);
	}
}

static void what_is_no_row_spoils_no_other(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make_many(fixture->store, MANY);
	assert_int_equal(listed(fixture->store), MANY);
	make(fixture->store, ONE, "before all others");
	tamper(fixture->store, "title 7", "from the index");
	tamper(fixture->store, "\"bbbb0000", "7,[],null,\"\",\"bbbb0000");
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, MANY + 1);
	assert_string_equal(row_of(&rows, "bbbb0007")->title, "from the index");
}

static void who_finds_the_profile_locked_leaves_the_index_alone(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store struct store *other = NULL;
	assert_int_equal(store_open(fixture->root, "default", &other, NULL), 0);
	make_many(fixture->store, MANY);
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	assert_int_equal(store_lock_profile(fixture->store, 0, &lock, NULL), 0);
	assert_titles(other, MANY);
	assert_false(is_there(fixture->store, INDEX));
	/* The holder of the lock may. */
	assert_titles(fixture->store, MANY);
	assert_true(is_there(fixture->store, INDEX));
}

static void manifests_that_are_too_fresh_are_not_trusted(void **state)
{
	const struct fixture *fixture = *state;
	int directory = store_profile_directory(fixture->store);
	const struct timespec now[2] = { { .tv_sec = clock_wall_us() / 1000000 + LONG_MS },
					 { .tv_sec = clock_wall_us() / 1000000 + LONG_MS } };
	make_many(fixture->store, MANY);
	for (int i = 0; i < MANY; i++) {
		cleanup_free char *id = many_id(i);
		cleanup_free char *path = manifest_of(id);
		assert_int_equal(utimensat(directory, path, now, 0), 0);
	}
	assert_titles(fixture->store, MANY);
	assert_false(is_there(fixture->store, INDEX));
}

/* --- resolving -------------------------------------------------------------------------------- */

static const char *resolved(const struct store_rows *rows, const char *target)
{
	const struct store_row *row = NULL;
	struct error err = { 0 };
	if (store_resolve(rows, target, &row, &err) != 0)
		fail_msg("%s", err.message);
	return row->id;
}

static void assert_unresolved(const struct store_rows *rows, const char *target,
			      enum error_code code, const char *part)
{
	cleanup_error struct error err = { 0 };
	const struct store_row *row = NULL;
	assert_int_equal(store_resolve(rows, target, &row, &err), -1);
	assert_null(row);
	assert_int_equal(err.code, code);
	if (!strstr(err.message, part))
		fail_msg("\"%s\" does not say \"%s\"", err.message, part);
}

static void make_at(struct store *store, const char *id, const char *title, const char *cwd)
{
	cleanup_instance struct instance *instance = new_instance(id, title);
	replace_string(&instance->cwd, cwd);
	assert_int_equal(create_instance(store, instance, NULL), 0);
}

static void copies_of_one_id_are_named_by_their_directories(void **state)
{
	const struct fixture *fixture = *state;
	static const char *const bases[] = { "copy1", "copy2" };
	cleanup_store_rows struct store_rows rows = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		cleanup_instance struct instance *instance = new_instance(ONE, "one");
		replace_string(&instance->base, bases[i]);
		assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	}
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_int_equal(rows.count, 2);
	assert_string_equal(resolved(&rows, "copy1"), "copy1");
	assert_string_equal(resolved(&rows, "copy2"), "copy2");
	assert_unresolved(&rows, ONE, ERROR_AMBIGUOUS, "one (copy1), one (copy2)");
	assert_unresolved(&rows, "one", ERROR_AMBIGUOUS, "one (copy1), one (copy2)");
	make(fixture->store, ONE, "two");
	store_rows_free(&rows);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(resolved(&rows, ONE), ONE);
}

static void a_target_is_title_then_id_then_prefix_then_directory(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_free char *real = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(fs_real_directory(fixture->root, &real, NULL), 0);
	cleanup_free char *link = path_join(real, "link");
	cleanup_free char *indirect = xasprintf("%s/default/..", fixture->root);
	assert_int_equal(symlink(real, link), 0);
	make_at(fixture->store, "abcd0001", "api", "/srv");
	make_at(fixture->store, "abce0002", "abcd0001", "/srv");
	make_at(fixture->store, "xyz00003", "web", real);
	make_at(fixture->store, "xyw00004", "xyz", "/srv");
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(resolved(&rows, "api"), "abcd0001");
	assert_string_equal(resolved(&rows, "abcd0001"), "abce0002");
	assert_string_equal(resolved(&rows, "abce0002"), "abce0002");
	assert_string_equal(resolved(&rows, "abce"), "abce0002");
	assert_string_equal(resolved(&rows, "xyz"), "xyw00004");
	assert_string_equal(resolved(&rows, "xyz0"), "xyz00003");
	assert_string_equal(resolved(&rows, fixture->root), "xyz00003");
	assert_string_equal(resolved(&rows, link), "xyz00003");
	assert_string_equal(resolved(&rows, indirect), "xyz00003");
	assert_unresolved(&rows, "abc", ERROR_AMBIGUOUS, "api (abcd0001), abcd0001 (abce0002)");
	assert_unresolved(&rows, "/srv", ERROR_AMBIGUOUS, "(xyw00004)");
	assert_unresolved(&rows, "ab", ERROR_NOT_FOUND, "did you mean 'abcd0001'?");
	assert_unresolved(&rows, "", ERROR_NOT_FOUND, "agentdeck list");
	assert_unresolved(&rows, "API", ERROR_NOT_FOUND, "\"API\"");
	assert_unresolved(&rows, "/", ERROR_NOT_FOUND, "\"/\"");
	assert_unresolved(&rows, "a\033[2J", ERROR_NOT_FOUND, "a\\033[2J");
}

static void a_damaged_instance_is_found_by_its_id(void **state)
{
	const struct fixture *fixture = *state;
	cleanup_store_rows struct store_rows rows = { 0 };
	make(fixture->store, ONE, "one");
	put_content(fixture->store, ONE "/instance.json", "{");
	store_rows_free(&rows);
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	assert_string_equal(resolved(&rows, ONE), ONE);
	assert_unresolved(&rows, "/", ERROR_NOT_FOUND, "agentdeck list");
	/* The title may be in a manifest that cannot be read, so no message says that it is
	 * gone. */
	assert_unresolved(&rows, "one", ERROR_NOT_FOUND,
			  "\"one\", but 1 cannot be read: see \"agentdeck list\"");
}

/* --- where runs live -------------------------------------------------------------------------- */

static struct instance *run_at(const char *id, const char *directory, const char *socket,
			       const char *unit)
{
	struct instance *instance = new_instance(id, id);
	instance->run.id = xstrdup("run");
	instance->run.directory = xstrdup_or_null(directory);
	instance->run.socket = xstrdup_or_null(socket);
	instance->run.unit = xstrdup_or_null(unit);
	return instance;
}

static void assert_place(struct store *store, const char *id, const char *directory,
			 const char *unit)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_instance struct instance *instance = NULL;
	cleanup_free char *socket = path_join(directory, "tmux.sock");
	assert_int_equal(store_load(store, id, &instance, NULL), 0);
	assert_string_equal(instance->run.directory, directory);
	assert_string_equal(instance->run.socket, socket);
	assert_string_equal(or_empty(instance->run.unit), unit);
	/* A row as well, with and without the index. */
	assert_int_equal(store_list(store, &rows, NULL), 0);
	const struct store_row *row = row_of(&rows, id);
	assert_string_equal(row->run.directory, directory);
	assert_string_equal(row->run.socket, socket);
	assert_string_equal(or_empty(row->run.unit), unit);
}

static void places_that_are_no_run_s_are_not_believed(void **state)
{
	struct fixture *fixture = *state;
	const struct {
		const char *directory, *socket, *unit, *expected, *expected_unit;
	} cases[] = {
		{ "/r/agentdeck/" ONE, "/r/agentdeck/" ONE "/tmux.sock",
		  "agentdeck-tmux-" ONE ".scope", "/r/agentdeck/" ONE,
		  "agentdeck-tmux-" ONE ".scope" },
		{ "/t/agentdeck-1/" ONE, "/t/agentdeck-1/" ONE "/tmux.sock", NULL,
		  "/t/agentdeck-1/" ONE, "" },
		{ "/home/x", "/home/x/tmux.sock", NULL, "/t/agentdeck-1/" ONE, "" },
		{ "/r/agentdeck/" ONE, "/tmp/tmux-1000/default", "user@1000.service",
		  "/r/agentdeck/" ONE, "agentdeck-tmux-" ONE ".scope" },
		{ "/r/agentdeck/" TWO, "/r/agentdeck/" TWO "/tmux.sock",
		  "agentdeck-tmux-" TWO ".scope", "/r/agentdeck/" ONE,
		  "agentdeck-tmux-" ONE ".scope" },
		/* A name like one of ours, but nothing of ours is there. */
		{ "/nowhere/agentdeck/" ONE, "/nowhere/agentdeck/" ONE "/tmux.sock", NULL,
		  "/t/agentdeck-1/" ONE, "" },
		{ NULL, NULL, "agentdeck-tmux-" ONE ".scope", "/r/agentdeck/" ONE,
		  "agentdeck-tmux-" ONE ".scope" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_instance struct instance *instance = run_at(ONE, cases[i].directory,
								    cases[i].socket, cases[i].unit);
		assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
		store_set_roots(fixture->store, "/r/agentdeck", "/t/agentdeck-1");
		assert_place(fixture->store, ONE, cases[i].expected, cases[i].expected_unit);
		cleanup_store_lock struct store_lock *lock = NULL;
		assert_int_equal(store_lock(fixture->store, ONE, 0, &lock, NULL), 0);
		assert_int_equal(store_remove(TAKE_PTR(lock), NULL), 0);
		store_set_roots(fixture->store, NULL, NULL);
	}
}

static void the_capsule_of_a_run_is_below_its_instance(void **state)
{
	struct fixture *fixture = *state;
	cleanup_instance struct instance *instance = run_at(ONE, "/r/agentdeck/" ONE,
							    "/r/agentdeck/" ONE "/tmux.sock", NULL);
	replace_string(&instance->run.capsule, "/home/x/.ssh");
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	store_set_roots(fixture->store, "/r/agentdeck", "/t/agentdeck-1");
	cleanup_instance struct instance *again = NULL;
	assert_int_equal(store_load(fixture->store, ONE, &again, NULL), 0);
	cleanup_free char *capsule = xasprintf("%s/default/" ONE "/capsule", fixture->root);
	assert_string_equal(again->run.capsule, capsule);
	assert_string_equal(again->run.directory, "/r/agentdeck/" ONE);
}

static void a_run_that_lives_elsewhere_stays_there(void **state)
{
	struct fixture *fixture = *state;
	cleanup_free char *above = path_join(fixture->root, "agentdeck-1"),
			  *directory = path_join(above, ONE);
	cleanup_free char *socket = path_join(directory, "tmux.sock"),
			  *token = path_join(directory, "token");
	cleanup_instance struct instance *instance = run_at(ONE, directory, socket, NULL);
	assert_true(mkdir(above, 0700) == 0 && mkdir(directory, 0700) == 0);
	int fd = open(token, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && close(fd) == 0);
	assert_int_equal(create_instance(fixture->store, instance, NULL), 0);
	store_set_roots(fixture->store, "/r/agentdeck", "/t/agentdeck-1");
	assert_place(fixture->store, ONE, directory, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_row_says_what_the_manifest_says_from_both_sources),
		STORE_TEST(what_is_absent_or_empty_is_null),
		STORE_TEST(rows_come_in_the_order_of_creation),
		STORE_TEST(an_empty_profile_has_no_rows),
		STORE_TEST(what_is_no_instance_is_not_listed),
		STORE_TEST(damage_is_listed_and_takes_nothing_else_down),
		STORE_TEST(a_newer_manifest_is_listed_as_such),
		STORE_TEST(a_text_with_a_tab_is_listed_without_the_index),
		STORE_TEST(bytes_that_are_no_text_are_listed_without_the_index),
		STORE_TEST(few_stale_rows_do_not_write_the_index),
		STORE_TEST(a_true_row_is_taken_from_the_index),
		STORE_TEST(a_stale_row_is_read_anew),
		STORE_TEST(a_manifest_that_is_damaged_later_is_not_hidden_by_its_row),
		STORE_TEST(rows_of_what_is_gone_are_dropped),
		STORE_TEST(an_index_that_is_none_is_written_anew),
		STORE_TEST(an_index_that_was_cut_anywhere_is_as_good_as_none),
		STORE_TEST(a_line_that_is_no_row_of_ours_is_read_anew),
		STORE_TEST(control_characters_come_back_from_the_index),
		STORE_TEST(rows_that_make_no_sense_are_read_anew),
		STORE_TEST(what_is_no_row_spoils_no_other),
		STORE_TEST(who_finds_the_profile_locked_leaves_the_index_alone),
		STORE_TEST(copies_of_one_id_are_named_by_their_directories),
		STORE_TEST(manifests_that_are_too_fresh_are_not_trusted),
		STORE_TEST(a_target_is_title_then_id_then_prefix_then_directory),
		STORE_TEST(a_damaged_instance_is_found_by_its_id),
		STORE_TEST(places_that_are_no_run_s_are_not_believed),
		STORE_TEST(the_capsule_of_a_run_is_below_its_instance),
		STORE_TEST(a_run_that_lives_elsewhere_stays_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
