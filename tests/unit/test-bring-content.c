/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a clone stores beside git's objects is copied: files that do not fit, that lie, and that a
 * kill cuts.
 */
#include "unit/bring-fixture.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "engine/workspace/bring-internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>

static void large_files_of_a_clone_come_along(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	char digest[SHA256_TEXT_SIZE];
	cleanup_free char *lies = xasprintf(
		"cd " TREE
		"/.git && d=%s && mkdir -p lfs/objects/00/00 lfs/objects/cc lfs/objects/evil/x "
		"lfs/objects/aa/bb/$d annex/objects/1/2/SHA256E-s5--$d.bin/SHA256E-s5--$d.bin && "
		"printf lie >lfs/objects/00/00/%064d && printf large >lfs/objects/evil/x/$d && "
		"ln -s / lfs/objects/cc/dd && ln -s /etc/passwd lfs/objects/00/00/%063d1",
		sha256_text("large", digest), 0, 0);
	cleanup_free char *truth = xasprintf(
		"cd " TREE
		"/.git && d=%s && a=$(echo $d | cut -c1-2) && b=$(echo $d | cut -c3-4) && "
		"mkdir -p lfs/objects/$a/$b && printf large >lfs/objects/$a/$b/$d && "
		"k=SHA256E-s5--$d.bin && rmdir annex/objects/1/2/$k/$k && "
		"cp lfs/objects/$a/$b/$d annex/objects/1/2/$k/$k && echo e >../e && cd .. && " DO
		" e",
		digest);
	cleanup_free char *look = xasprintf(
		"cd project/.git && test large = \"$(cat lfs/objects/*/*/%s)\" && "
		"test large = \"$(cat annex/objects/1/2/*/*)\" && "
		"test '2 1 0' = \"$(find lfs/objects/ -mindepth 1 -type d | wc -l) "
		"$(find lfs -type f | wc -l) $(find lfs -type l | wc -l)\"",
		digest);
	/* Of names and lies nothing is made. */
	do_sh(desk, lies);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, "cd project/.git && test ! -e lfs && test ! -e annex");
	do_sh(desk, truth);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, look);
}

/* What the file system of the copies says; f_frsize 0: the real one. */
static struct statvfs disk;
int __real_fstatvfs(int fd, struct statvfs *ret);
int __wrap_fstatvfs(int fd, struct statvfs *ret);
int __wrap_fstatvfs(int fd, struct statvfs *ret)
{
	if (!disk.f_frsize)
		return __real_fstatvfs(fd, ret);
	*ret = disk;
	return 0;
}

/* It costs an agent nothing to make one of any size. */
static void a_large_file_that_does_not_fit_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	cleanup_free char *name = xasprintf("%062d", 0);
	cleanup_free char *make = xasprintf("cd " TREE "/.git && mkdir -p lfs/objects/ab/cd && "
					    "truncate -s 8M lfs/objects/ab/cd/abcd%.60s",
					    name);
	do_sh(desk, make);
	disk = (struct statvfs){ .f_frsize = 4096, .f_blocks = 4096, .f_bavail = 2200 };
	assert_refused(desk, instance, &plain, ERROR_SYSTEM, "has 8 MB");
	do_sh(desk, "cd project && test ! -e b && test ! -e .git/lfs && "
		    "! git rev-parse -q --verify agentdeck/fix-it && rm -r ../" TREE "/.git/lfs");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	disk = (struct statvfs){ 0 };
}

/* A file of 8 MiB: 2048 blocks. */
static void a_large_file_is_refused_only_where_there_is_no_space(void **state)
{
	static const struct {
		fsblkcnt_t blocks, free;
		bool fits;
	} disks[] = {
		{ 4096, 2200, false },
		{ 4096, 2300, true },
		/* A twentieth of a large disk would be too much. */
		{ (fsblkcnt_t)1 << 29, (1 << 18) + 2000, false },
		{ (fsblkcnt_t)1 << 29, (1 << 18) + 2100, true },
		/* A file system that does not know. */
		{ 0, 0, true },
	};
	struct desk *desk = *state;
	cleanup_free char *from = xasprintf("%s/from", desk->root);
	cleanup_free char *to = xasprintf("%s/to", desk->root);
	do_sh(desk, "mkdir to && truncate -s 8M zeros && d=$(sha256sum <zeros | cut -c1-64) && "
		    "p=from/lfs/objects/$(echo $d | cut -c1-2)/$(echo $d | cut -c3-4) && "
		    "mkdir -p $p && mv zeros $p/$d");
	for (size_t i = 0; i < ARRAY_SIZE(disks); i++) {
		int64_t count = 0;
		disk = (struct statvfs){ .f_frsize = 4096,
					 .f_blocks = disks[i].blocks,
					 .f_bavail = disks[i].free };
		const int r = bring_copy_content(from, to, clock_ms() + 60000, &count, NULL);
		disk = (struct statvfs){ 0 };
		if (disks[i].fits != (r == 0) || count != disks[i].fits)
			fail_msg("disk %zu: %d, %d copied", i, r, (int)count);
		do_sh(desk, "rm -rf to/*");
	}
}

static void large_files_are_copied_until_a_deadline(void **state)
{
	struct desk *desk = *state;
	char digest[SHA256_TEXT_SIZE];
	int64_t count = 0;
	cleanup_error struct error err = { 0 };
	cleanup_free char *from = xasprintf("%s/from", desk->root);
	cleanup_free char *to = xasprintf("%s/to", desk->root);
	cleanup_free char *make = xasprintf(
		"d=%s && p=lfs/objects/$(echo $d | cut -c1-2)/$(echo $d | cut -c3-4) && "
		"mkdir -p from/$p to && printf large >from/$p/$d",
		sha256_text("large", digest));
	do_sh(desk, make);
	assert_int_equal(bring_copy_content(from, to, clock_ms(), &count, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	do_sh(desk, "test -z \"$(find to -type f)\"");
	assert_int_equal(bring_copy_content(from, to, clock_ms() + 60000, &count, NULL), 0);
	assert_int_equal(count, 1);
}

/* ---- kills ----------------------------------------------------------------------------------- */

enum { LARGE = (3 << 16) + 7, NEVER = -1 };
enum cut_name { CUT_NONE, CUT_BEFORE_NAME, CUT_AFTER_NAME };

/* Where a copy is killed, and whether the file system makes files without a name. */
static struct {
	int64_t bytes; /* after so many bytes of large files */
	enum cut_name name;
	bool has_names;
} cut = { .bytes = NEVER };

int __real_fs_write_all(int fd, const void *data, size_t length, const char *what,
			struct error *err);
int __wrap_fs_write_all(int fd, const void *data, size_t length, const char *what,
			struct error *err);
int __wrap_fs_write_all(int fd, const void *data, size_t length, const char *what,
			struct error *err)
{
	if (cut.bytes == NEVER || !streq(what, "a large file"))
		return __real_fs_write_all(fd, data, length, what, err);
	const size_t now = (int64_t)length < cut.bytes ? length : (size_t)cut.bytes;
	const int r = __real_fs_write_all(fd, data, now, what, err);
	cut.bytes -= (int64_t)now;
	if (!cut.bytes)
		(void)raise(SIGKILL);
	return r;
}

int __real_fs_open_new(int dirfd, const char *temporary, bool *ret_has_name);
int __wrap_fs_open_new(int dirfd, const char *temporary, bool *ret_has_name);
int __wrap_fs_open_new(int dirfd, const char *temporary, bool *ret_has_name)
{
	if (!cut.has_names)
		return __real_fs_open_new(dirfd, temporary, ret_has_name);
	*ret_has_name = true;
	return openat(dirfd, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int __real_fs_name_new(int dirfd, int fd, const char *temporary, const char *name);
int __wrap_fs_name_new(int dirfd, int fd, const char *temporary, const char *name);
int __wrap_fs_name_new(int dirfd, int fd, const char *temporary, const char *name)
{
	if (cut.name == CUT_BEFORE_NAME)
		(void)raise(SIGKILL);
	const int r = __real_fs_name_new(dirfd, fd, temporary, name);
	if (cut.name == CUT_AFTER_NAME)
		(void)raise(SIGKILL);
	return r;
}

/* A commit of the clone names a file of Git LFS, and git-annex has another one. */
static void put_large_files(struct desk *desk)
{
	cleanup_free char *script = xasprintf(
		"large() { seq 100000 | tail -c +$1 | head -c %d; }; cd " TREE " && "
		"d=$(large 1 | sha256sum | cut -c1-64) && "
		"p=.git/lfs/objects/$(echo $d | cut -c1-2)/$(echo $d | cut -c3-4) && mkdir -p $p && "
		"large 1 >$p/$d && k=SHA256E-s%d--$(large 2 | sha256sum | cut -c1-64).bin && "
		"mkdir -p .git/annex/objects/1/2/$k && large 2 >.git/annex/objects/1/2/$k/$k && "
		"printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%%s\\nsize %d\\n' "
		"$d >large.bin && " DO
		" large && find . -type f -exec sha256sum {} + >$OLDPWD/tree "
		"&& cd $OLDPWD && cp -a project before",
		LARGE, LARGE, LARGE);
	do_sh(desk, script);
}

/* Each file in the place of a large one is what its name says. */
#define ALL_ARE_WHOLE                                                                       \
	"find project/.git -type f -regex '.*/\\(lfs\\|annex\\)/.*' ! -name '.*' >stored; " \
	"while read -r f; do d=${f##*/} && d=${d##*--} && "                                 \
	"test ${d%%.*} = $(sha256sum <$f | cut -c1-64); done <stored; "                     \
	"(cd " TREE " && sha256sum --quiet -c ../../../../tree); "

static void assert_stores_that_lack(struct desk *desk, const struct instance *instance,
				    size_t expected)
{
	cleanup_verdict struct verdict verdict = { 0 };
	size_t count = 0;
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	for (size_t i = 0; i < verdict.count; i++)
		count += verdict.findings[i].kind == FINDING_CONTENT;
	assert_int_equal(count, expected);
}

static void look_at_cut(struct desk *desk, const struct instance *instance, int64_t bytes,
			enum cut_name name, size_t lack)
{
	cut.bytes = bytes;
	cut.name = name;
	assert_true(do_and_die(desk, instance, merge_it));
	cut.bytes = NEVER;
	cut.name = CUT_NONE;
	do_sh(desk, ALL_ARE_WHOLE "test ! -e project/b && git -C project fsck --strict 2>&1 && "
				  "! git -C project rev-parse -q --verify agentdeck/fix-it");
	assert_stores_that_lack(desk, instance, lack);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, ALL_ARE_WHOLE "test 2 = $(wc -l <stored) && test -e project/large.bin && "
				  "test -z \"$(find project -name '.agentdeck*')\"");
	assert_stores_that_lack(desk, instance, 0);
	do_sh(desk, "rm -rf project && cp -a before project");
}

static void a_kill_inside_of_a_large_file_leaves_no_part(void **state)
{
	static const struct {
		int64_t bytes;
		enum cut_name name;
		size_t lack; /* stores that are not complete then */
	} cuts[] = {
		{ 0, CUT_NONE, 2 },
		{ 1, CUT_NONE, 2 },
		{ 1 << 16, CUT_NONE, 2 },
		{ (1 << 16) + 1, CUT_NONE, 2 },
		{ LARGE - 1, CUT_NONE, 2 },
		{ LARGE, CUT_NONE, 2 },
		{ NEVER, CUT_BEFORE_NAME, 2 },
		{ NEVER, CUT_AFTER_NAME, 1 },
		/* in the second file */
		{ LARGE + 1, CUT_NONE, 1 },
		{ 2 * LARGE - 1, CUT_NONE, 1 },
		{ 2 * LARGE, CUT_NONE, 1 },
	};
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	put_large_files(desk);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cuts); i++) {
		const size_t which = i / 2;
		cut.has_names = i % 2;
		look_at_cut(desk, instance, cuts[which].bytes, cuts[which].name, cuts[which].lack);
	}
	cut.has_names = false;
}

/* Also a part that another program has left there. */
static void a_part_of_a_large_file_is_made_whole(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	put_large_files(desk);
	do_sh(desk, "cp -R " TREE "/.git/lfs " TREE "/.git/annex project/.git && "
		    "find project/.git/lfs project/.git/annex -type f -exec truncate -s 9 {} +");
	assert_stores_that_lack(desk, instance, 2);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, ALL_ARE_WHOLE "test 2 = $(wc -l <stored)");
	assert_stores_that_lack(desk, instance, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(large_files_of_a_clone_come_along),
		DESK_TEST(a_large_file_that_does_not_fit_is_refused),
		DESK_TEST(a_large_file_is_refused_only_where_there_is_no_space),
		DESK_TEST(large_files_are_copied_until_a_deadline),
		DESK_TEST(a_kill_inside_of_a_large_file_leaves_no_part),
		DESK_TEST(a_part_of_a_large_file_is_made_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
