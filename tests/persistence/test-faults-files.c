/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Full disks, and state files that are damaged.
 */
#include "persistence/faults.h"

#include <signal.h>
#include <string.h>

#define NO_SPACE  "No space left on device"
#define READ_ONLY "Read-only file system"
#define TOO_LARGE "File too large"
#define DENIED    "Permission denied"

/* ---- the disk ---------------------------------------------------------------------------- */

enum { PAGE = 4096 };

static void unmount_state(void)
{
	(void)machine_root(WORDS("sh", "-c", "mount -o remount,rw \"$1\"; rm -f \"$1/filler\"",
				 "sh", state_path("")));
	deck_clear();
	(void)machine_root(WORDS("umount", "-l", state_path("")));
}

/* Mount a small file system of its own as the state directory. */
static void mount_state(void)
{
	machine_make_directory(at_home(".local/state/agentdeck"));
	at_end(unmount_state);
	machine_root_ok(WORDS("mount", "-t", "tmpfs", "-o",
			      kept("size=4m,mode=700,uid=%u,gid=%u", machine_uid(), machine_uid()),
			      "tmpfs", state_path("")));
}

/* Leave so many pages free. */
static void fill(size_t pages)
{
	machine_root_ok(WORDS("sh", "-c",
			      "dd if=/dev/zero of=\"$1/filler\" bs=4096 2>/dev/null; "
			      "truncate -s -$2 \"$1/filler\"",
			      "sh", state_path(""), kept("%zu", pages * PAGE)));
}

static void fill_disk(const struct fault *fault)
{
	fill(fault->number);
}

static void fill_disk_of_stopped(const struct fault *fault)
{
	tell_deck("stop");
	fill_disk(fault);
}

static void fill_disk_of_dead(const struct fault *fault)
{
	session_kill_server(&world.deck);
	fill_disk(fault);
}

static void fill_disk_without_reserve(const struct fault *fault)
{
	machine_root_ok(WORDS("rm", state_path("disk.reserve")));
	fill_disk(fault);
}

/* Another session fills the disk, and is to go. */
static void remove_from_full_disk(const struct fault *fault)
{
	struct session third;
	session_add(&third, NULL, "third", NULL);
	session_start(&third, NULL);
	const struct process agent = session_agent(&third);
	fill_disk(fault);
	struct answer answer = machine_user(DECK("remove", "--force", third.id));
	ASSERT(answer.status == 0 && *answer.errors == '\0', "%s: status %d: %s", fault->name,
	       answer.status, answer.errors);
	ASSERT(!machine_alive(&agent), "%s: it still runs", fault->name);
}

static void empty_disk(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("rm", state_path("filler")));
}

static void remount(const struct fault *fault)
{
	machine_root_ok(WORDS("mount", "-o", kept("remount,%s", fault->argument), state_path("")));
}

/* Use up all inodes. */
static void take_inodes(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("sh", "-c",
			      "path=$1; set -- $(stat -f -c '%c %d' \"$path\"); "
			      "mount -o remount,nr_inodes=$(($1 - $2)) \"$path\"",
			      "sh", state_path("")));
}

static void remount_usual(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("mount", "-o", "remount,rw,nr_inodes=1000", state_path("")));
}

static void take_write_bits(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("sh", "-c", "find \"$1\" -type d -exec chmod 0500 {} +", "sh",
			      state_path("")));
}

static void give_write_bits(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("sh", "-c", "find \"$1\" -type d -exec chmod 0700 {} +", "sh",
			      state_path("")));
}

static const char *runtime(void)
{
	return kept("/run/user/%u/agentdeck", machine_uid());
}

static void unmount_all(void)
{
	(void)machine_root(WORDS("umount", "-l", runtime()));
	unmount_state();
}

static void fill_runtime(const struct fault *fault UNUSED)
{
	tell_deck("stop");
	at_end(unmount_all);
	machine_root_ok(WORDS("mount", "-t", "tmpfs", "-o",
			      kept("size=4k,mode=700,uid=%u,gid=%u", machine_uid(), machine_uid()),
			      "tmpfs", runtime()));
	machine_root_ok(WORDS("sh", "-c", "echo full >\"$1/filler\"", "sh", runtime()));
}

static void empty_runtime(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("umount", runtime()));
	at_end(unmount_state);
}

/* A command either does its work or says why not, with wanted in its one message. */
static bool does_or_says(const char *const *argv, const char *wanted, const char *where)
{
	struct answer answer = machine_user(argv);
	ASSERT((answer.status == 0 && *answer.errors == '\0') ||
		       (answer.status == 1 && is_one_message(answer.errors) &&
			strstr(answer.errors, wanted)),
	       "%s: status %d: %s", where, answer.status, answer.errors);
	return answer.status == 0;
}

/* Verbs that write, each alternately a success and a failure as space grows. */
static const char *const verbs[] = { "stop", "start", "restart" };

/* With 0, 1, 2, ... pages left, the disk is full at one write after the other. */
static void fill_step_by_step(const struct fault *fault)
{
	size_t done = 0, tries = 0;
	for (size_t pages = 0; pages < fault->number; pages++)
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
			const char *where = kept("%s: %zu pages, %s", fault->name, pages, verbs[i]);
			tell_deck(i == 1 ? "stop" : "start");
			fill(pages);
			done += does_or_says(DECK("session", verbs[i], world.deck.id), NO_SPACE,
					     where);
			tries++;
			empty_disk(fault);
		}
	ASSERT(done > 0 && done < tries, "%s: %zu of %zu were done: this proves little",
	       fault->name, done, tries);
	tell_deck("stop");
}

/* agentdeck ignores SIGXFSZ; its children do not. */
static void assert_usual_signals(const struct fault *fault)
{
	const char *path = kept("/proc/%d/status", (int)session_agent(&world.deck).pid);
	const char *ignored = strstr(or_empty(machine_read(path)), "\nSigIgn:\t");
	ASSERT(ignored, "%s: no signals in %s", fault->name, path);
	ASSERT(!(strtoull(ignored + strlen("\nSigIgn:\t"), NULL, 16) & 1ULL << (SIGXFSZ - 1)),
	       "%s: the agent ignores SIGXFSZ", fault->name);
}

/* No file may be larger than so many bytes: a part of a larger write succeeds, and then no more.
 * Children would inherit the limit, so only commands that start none are used. */
static void limit_files(const struct fault *fault)
{
	size_t done = 0, tries = 0;
	for (size_t bytes = 0; bytes <= fault->number; bytes += 250) {
		const char *where = kept("%s: %zu bytes", fault->name, bytes);
		const char *limit = kept("--fsize=%zu", bytes);
		done += does_or_says(WORDS("prlimit", limit, "agentdeck", "rename", world.deck.id,
					   "deck"),
				     TOO_LARGE, where);
		tries++;
		(void)does_or_says(WORDS("prlimit", limit, "agentdeck", "session", "stop",
					 world.deck.id),
				   TOO_LARGE, where);
		tell_deck("start");
	}
	ASSERT(done > 0 && done < tries, "%s: %zu of %zu were done: this proves little",
	       fault->name, done, tries);
	assert_usual_signals(fault);
	tell_deck("stop");
}

#define ADD    DECK("add", "~/deck", "-t", "new", "--agent", "demo")
#define RENAME DECK("rename", "@deck", "renamed")
#define REMOVE DECK("remove", "--force", "@deck")

static const struct fault of_the_disk[] = {
	{ .name = "disk-full",
	  .strike = fill_disk,
	  .steps = { FAILS(ADD, 1, NO_SPACE), FAILS(RENAME, 1, NO_SPACE),
		     FAILS(RESTART, 1, NO_SPACE), SHOWS(START, "already running"),
		     SHOWS(LIST_JSON, RUNNING), DONE(STOP), SHOWS(LIST, "stopped") },
	  .mend = empty_disk,
	  .run = NEW_RUN },
	{ .name = "disk-full-and-no-reserve",
	  .strike = fill_disk_without_reserve,
	  .steps = { FAILS(STOP, 1, "deck was stopped, but that could not be saved"),
		     FAILS(STOP, 1, NO_SPACE), SHOWS(LIST, "error: its tmux server was killed") },
	  .mend = empty_disk,
	  .run = NEW_RUN },
	{ .name = "disk-full-and-removed",
	  .strike = remove_from_full_disk,
	  .steps = { SHOWS(LIST_JSON, RUNNING) },
	  .mend = empty_disk },
	{ .name = "disk-full-while-stopped",
	  .strike = fill_disk_of_stopped,
	  .steps = { FAILS(START, 1, NO_SPACE), SHOWS(LIST, "stopped") },
	  .mend = empty_disk,
	  .run = NEW_RUN },
	{ .name = "disk-full-and-server-killed",
	  .strike = fill_disk_of_dead,
	  .steps = { SHOWS(LIST, "error: its tmux server was killed"), FAILS(START, 1, NO_SPACE),
		     SHOWS_FAILURE(DECK("recover", "--json"), 1, NO_SPACE) },
	  .mend = empty_disk,
	  .run = NEW_RUN },
	{ .name = "disk-full-at-one-write-after-the-other",
	  .strike = fill_step_by_step,
	  .number = 4,
	  .run = NEW_RUN },
	{ .name = "file-size-limit", .strike = limit_files, .number = 4000, .run = NEW_RUN },
	{ .name = "no-inodes-left",
	  .strike = take_inodes,
	  .steps = { FAILS(ADD, 1, NO_SPACE), SHOWS(LIST_JSON, RUNNING), DONE(STOP) },
	  .mend = remount_usual,
	  .run = NEW_RUN },
	{ .name = "read-only",
	  .strike = remount,
	  .argument = "ro",
	  .steps = { FAILS(ADD, 1, READ_ONLY), FAILS(RENAME, 1, READ_ONLY),
		     FAILS(STOP, 1, READ_ONLY), FAILS(RESTART, 1, READ_ONLY),
		     FAILS(REMOVE, 1, READ_ONLY), FAILS(START, 1, READ_ONLY),
		     SHOWS(LIST_JSON, RUNNING) },
	  .mend = remount_usual },
	{ .name = "mode-0500",
	  .strike = take_write_bits,
	  .steps = { FAILS(ADD, 1, DENIED), FAILS(RENAME, 1, DENIED), FAILS(RESTART, 1, DENIED),
		     SHOWS(START, "already running"), SHOWS(LIST_JSON, RUNNING),
		     FAILS(STOP, 1, "deck was stopped, but that could not be saved"),
		     FAILS(REMOVE, 1, DENIED) },
	  .mend = give_write_bits,
	  .run = NEW_RUN },
	{ .name = "runtime-directory-full",
	  .strike = fill_runtime,
	  .steps = { FAILS(START, 1, NO_SPACE), SHOWS(LIST, "stopped") },
	  .mend = empty_runtime,
	  .run = NEW_RUN },
};

TEST(FaultsOfTheDisk)
{
	mount_state();
	run_faults(of_the_disk, ARRAY_SIZE(of_the_disk));
}

/* ---- manifests and the index ------------------------------------------------------------- */

static const char *saved(void)
{
	return at_home("saved");
}

/* The argument is a shell command that spoils the file "$1"; "$2" is a file that does not
 * matter. */
static void spoil(const struct fault *fault, const char *path)
{
	machine_root_ok(WORDS("cp", "-p", path, saved()));
	machine_root_ok(WORDS("sh", "-c", fault->argument, "sh", path, at_home("elsewhere"),
			      manifest_path(&world.other)));
	machine_root_ok(WORDS("cp", "-dpR", path, at_home("spoilt")));
}

static void put_back(const char *path)
{
	machine_root_ok(WORDS("rm", "-rf", path, at_home("spoilt"), at_home("elsewhere")));
	machine_root_ok(WORDS("mv", saved(), path));
}

static void spoil_manifest(const struct fault *fault)
{
	spoil(fault, manifest_path(&world.deck));
}

/* It was set aside unchanged, and the user repairs it. */
static void repair_manifest(const struct fault *fault UNUSED)
{
	const char *path = manifest_path(&world.deck);
	machine_root_ok(WORDS("sh", "-c",
			      "[ ! -e \"$1\" ] && [ $(ls -d \"$1\".damaged-* | wc -l) = 1 ] && "
			      "{ [ ! -f \"$2\" ] || cmp \"$1\".damaged-* \"$2\"; } && "
			      "rm -r \"$1\".damaged-*",
			      "sh", path, at_home("spoilt")));
	put_back(path);
}

/* It was left in place. */
static void replace_manifest(const struct fault *fault UNUSED)
{
	const char *path = manifest_path(&world.deck);
	machine_root_ok(WORDS("sh", "-c",
			      "[ -z \"$(ls \"$1\".damaged-* 2>&-)\" ] && cmp \"$1\" \"$2\"", "sh",
			      path, at_home("spoilt")));
	put_back(path);
}

#define BY_TITLE     DECK("session", "start", "deck")
#define NOT_BY_TITLE "\"deck\", but 1 cannot be read"
#define SHOW         DECK("session", "show", "@deck")
#define SHOW_OTHER   DECK("session", "show", "@other")
#define SET_ASIDE    "is damaged and was set aside as"

/* A damaged file is first only reported, then set aside by the first command that would change
 * it. */
#define DAMAGED                                                                       \
	.strike = spoil_manifest, .mend = repair_manifest,                            \
	.steps = { SHOWS(LIST, "error: "),          FAILS(BY_TITLE, 2, NOT_BY_TITLE), \
		   FAILS(SHOW, 1, "instance.json"), FAILS(START, 1, SET_ASIDE),       \
		   FAILS(STOP, 1, SET_ASIDE),       FAILS(RENAME, 1, SET_ASIDE),      \
		   SHOWS(LIST, SET_ASIDE),          DONE(SHOW_OTHER) }
/* A file that may be good, but not for us. */
#define LEFT_ALONE(why)                                                                     \
	.strike = spoil_manifest, .mend = replace_manifest,                                 \
	.steps = { SHOWS(LIST, why),      FAILS(BY_TITLE, 2, NOT_BY_TITLE),                 \
		   FAILS(START, 1, why),  FAILS(STOP, 1, why),                              \
		   FAILS(REMOVE, 1, why), SHOWS_FAILURE(DECK("recover", "--json"), 1, why), \
		   DONE(SHOW_OTHER) }

static const struct fault of_manifests[] = {
	{ .name = "manifest-garbage", .argument = "echo garbage >\"$1\"", DAMAGED },
	{ .name = "manifest-empty", .argument = ": >\"$1\"", DAMAGED },
	{ .name = "manifest-truncated", .argument = "truncate -s 1000 \"$1\"", DAMAGED },
	{ .name = "manifest-zeros", .argument = "head -c 2000 /dev/zero >\"$1\"", DAMAGED },
	{ .name = "manifest-too-large", .argument = "truncate -s 8M \"$1\"", DAMAGED },
	{ .name = "manifest-of-another-session", .argument = "cp \"$3\" \"$1\"", DAMAGED },
	{ .name = "manifest-is-a-directory", .argument = "rm \"$1\"; mkdir \"$1\"", DAMAGED },
	{ .name = "manifest-is-a-pipe", .argument = "rm \"$1\"; mkfifo \"$1\"", DAMAGED },
	{ .name = "manifest-newer",
	  .argument = "sed -i 's/\"format\": *1,/\"format\": 99,/' \"$1\"; chmod 644 \"$1\"",
	  LEFT_ALONE("was written by a newer agentdeck") },
	{ .name = "manifest-foreign", .argument = "chown root \"$1\"", LEFT_ALONE(DENIED) },
	{ .name = "manifest-is-a-link",
	  .argument = "mv \"$1\" \"$2\"; ln -s \"$2\" \"$1\"",
	  LEFT_ALONE("is a symbolic link, which is not followed") },
	{ .name = "manifest-foreign-but-readable",
	  .strike = spoil_manifest,
	  .argument = "chown other \"$1\"; chmod 644 \"$1\"",
	  .steps = { SHOWS(LIST_JSON, RUNNING), DONE(SHOW), SHOWS(START, "already running") } },
};

TEST(FaultsOfManifests)
{
	run_faults(of_manifests, ARRAY_SIZE(of_manifests));
}

static const char *index_path(void)
{
	return state_path("default/instances.json");
}

static void spoil_index(const struct fault *fault)
{
	(void)deck_look(WORDS("list"));
	spoil(fault, index_path());
}

/* A listing has rewritten it where it could; it may be deleted at any time. */
static void delete_index(const struct fault *fault)
{
	const char *elsewhere = at_home("elsewhere");
	ASSERT(!machine_exists(elsewhere) ||
		       streq(or_empty(machine_read(elsewhere)), or_empty(machine_read(saved()))),
	       "%s: it was written through the link", fault->name);
	machine_root_ok(WORDS("rm", "-rf", index_path(), saved(), elsewhere, at_home("spoilt")));
	WAIT_FOR(deck_look(WORDS("list")).status == 0 && machine_exists(index_path()),
		 "%s: no new index", fault->name);
}

/* An older version of the index. */
static void spoil_index_by_time(const struct fault *fault)
{
	spoil_index(fault);
	machine_user_ok(DECK("rename", world.deck.id, "renamed"));
	machine_user_ok(DECK("rename", world.other.id, "deck"));
	machine_root_ok(WORDS("cp", "-p", saved(), index_path()));
}

static void rename_back(const struct fault *fault)
{
	machine_user_ok(DECK("rename", world.other.id, "other"));
	machine_user_ok(DECK("rename", world.deck.id, "deck"));
	delete_index(fault);
}

#define UNHARMED                                                             \
	.strike = spoil_index, .mend = delete_index,                         \
	.steps = { SHOWS(LIST, "deck "), SHOWS(BY_TITLE, "already running"), \
		   SHOWS(DECK("session", "show", "row-20"), "stopped"), SHOWS(LIST, "row-20") }

static const struct fault of_the_index[] = {
	{ .name = "index-garbage", .argument = "echo garbage >\"$1\"", UNHARMED },
	{ .name = "index-empty", .argument = ": >\"$1\"", UNHARMED },
	{ .name = "index-truncated", .argument = "truncate -s 1000 \"$1\"", UNHARMED },
	{ .name = "index-newer",
	  .argument = "sed -i 's/\"format\":[0-9]*,/\"format\":99,/' \"$1\"",
	  UNHARMED },
	{ .name = "index-foreign", .argument = "chown root \"$1\"; chmod 600 \"$1\"", UNHARMED },
	{ .name = "index-is-a-link", .argument = "mv \"$1\" \"$2\"; ln -s \"$2\" \"$1\"", UNHARMED },
	{ .name = "index-is-a-directory", .argument = "rm \"$1\"; mkdir \"$1\"", UNHARMED },
	{ .name = "index-is-a-pipe", .argument = "rm \"$1\"; mkfifo \"$1\"", UNHARMED },
	{ .name = "index-out-of-date",
	  .strike = spoil_index_by_time,
	  .argument = ":",
	  .steps = { SHOWS(DECK("session", "show", "renamed", "--json"), RUNNING),
		     SHOWS(BY_TITLE, "resumed"), DONE(DECK("session", "stop", "deck")) },
	  .mend = rename_back },
};

/* So many sessions that there is an index. */
TEST(FaultsOfTheIndex)
{
	machine_user_ok(
		WORDS("sh", "-c",
		      "i=0; while [ $((i += 1)) -le 20 ]; do "
		      "agentdeck add \"$HOME\" -t row-$i --agent demo >/dev/null || exit; done"));
	WAIT_FOR(deck_look(WORDS("list")).status == 0 && machine_exists(index_path()),
		 "there is no index");
	run_faults(of_the_index, ARRAY_SIZE(of_the_index));
}
