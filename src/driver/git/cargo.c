/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/git/cargo.h"

#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WORK_MS = 60 * 60 * 1000,
	OUTPUT_MAX = 64 << 20,
	INDEX_MAX = 512 << 20,
	RULES_MAX = 1 << 20,
	TIPS = 256,
	STASHES = 64,
	OBJECT_NAME_MAX = 64,
};

void cargo_clear(struct cargo *cargo)
{
	free(cargo->files);
	free(cargo->head);
	free(cargo->staged);
	free(cargo->branch);
	free(cargo->base);
	strvec_clear(&cargo->stashes);
}

/* ---- git in the repository --------------------------------------------------------------------- */

/* What another host has sent is in there: git runs nothing for it, and fetches nothing. */
static void add_git(const char *source, const char *const *words, struct strvec *argv,
		    struct strvec *environment)
{
	strvec_push_array(argv, (const char *const[]){ "git", "-C", source, "-c",
						       "core.hooksPath=/dev/null", "-c",
						       "core.fsmonitor=false", "-c",
						       "log.showSignature=false", NULL });
	strvec_push_array(argv, words);
	gitcmd_environment(environment);
	strvec_push(environment, "GIT_NO_LAZY_FETCH=1");
}

/* Any exit status is fine here. */
static int run_source(const char *source, const char *const *words, struct child_result *ret,
		      struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	add_git(source, words, &argv, &environment);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .environment = strvec_argv(&environment),
					       .max_output = OUTPUT_MAX };
	const int r = child_run(&request, WORK_MS, ret, err);
	return r > 0 ? gitcmd_refuse_missing(err) : r;
}

static int ask_source(const char *source, const char *const *words, struct strbuf *ret,
		      struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (run_source(source, words, &result, err) < 0)
		return -1;
	if (result.exit_status != 0) {
		cleanup_free char *said = child_last_words(&result);
		return error_set(err, ERROR_CHILD, "git %s: %s", words[0], said);
	}
	*ret = result.output;
	result.output = (struct strbuf){ 0 };
	return 0;
}

/* ---- git with a directory of ours -------------------------------------------------------------- */

struct desk {
	const struct cargo_tree *tree;
	char *path, *objects;
};

static void desk_close(struct desk *desk)
{
	if (desk->path)
		(void)fs_remove_tree(desk->tree->desk, CARGO_DESK, NULL);
	free(desk->path);
	free(desk->objects);
}

/* What git is told, whatever the tree and the files of its user say. */
static const char *const settings[] = {
	"core.bare=false",           "core.hooksPath=/dev/null",
	"core.fsmonitor=false",      "core.autocrlf=false",
	"core.fileMode=true",        "core.symlinks=true",
	"core.ignoreCase=false",     "core.splitIndex=false",
	"core.untrackedCache=false", "index.sparse=false",
	"core.sparseCheckout=false", "commit.gpgSign=false",
	"submodule.recurse=false",   NULL,
};

/* Fixed, so that equal content gives an equal commit. */
static const char *const author[] = {
	"GIT_AUTHOR_NAME=agentdeck",
	"GIT_AUTHOR_EMAIL=agentdeck@localhost",
	"GIT_AUTHOR_DATE=1000000000 +0000",
	"GIT_COMMITTER_NAME=agentdeck",
	"GIT_COMMITTER_EMAIL=agentdeck@localhost",
	"GIT_COMMITTER_DATE=1000000000 +0000",
	"GIT_NO_LAZY_FETCH=1",
	NULL,
};

/* index: one in the desk.  ret: or NULL.  Any exit status but 0 is an error. */
static int desk_run(const struct desk *desk, const char *index, const char *const *words,
		    const struct strbuf *input, struct child_result *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "git", "-C", desk->tree->path, NULL });
	strvec_pushf(&argv, "--git-dir=%s", desk->path);
	strvec_pushf(&argv, "--work-tree=%s", desk->tree->path);
	for (size_t i = 0; settings[i]; i++)
		strvec_push_array(&argv, (const char *const[]){ "-c", settings[i], NULL });
	strvec_push_array(&argv, words);
	gitcmd_environment(&environment);
	strvec_push_array(&environment, author);
	strvec_pushf(&environment, "GIT_OBJECT_DIRECTORY=%s", desk->objects);
	strvec_pushf(&environment, "GIT_INDEX_FILE=%s/%s", desk->path, index);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.environment = strvec_argv(&environment),
		.input = input ? strbuf_text(input) : NULL,
		.input_length = input ? input->length : 0,
		.max_output = OUTPUT_MAX,
	};
	const int r = child_run(&request, WORK_MS, &result, err);
	if (r != 0)
		return r < 0 ? -1 : gitcmd_refuse_missing(err);
	if (result.exit_status != 0) {
		cleanup_free char *said = child_last_words(&result);
		return error_set(err, ERROR_CHILD, "git %s: %s", words[0], said);
	}
	if (ret) {
		*ret = result;
		result = (struct child_result){ 0 };
	}
	return 0;
}

/* The one line of the answer, without its end. */
static int desk_ask(const struct desk *desk, const char *index, const char *const *words,
		    const struct strbuf *input, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (desk_run(desk, index, words, input, &result, err) < 0)
		return -1;
	const char *text = strbuf_text(&result.output);
	*ret = xstrndup(text, strcspn(text, "\n"));
	return 0;
}

static int write_rules(int desk, const char *common, struct error *err)
{
	static const char attributes[] =
		"* -text !eol !crlf !ident !filter !working-tree-encoding\n";
	cleanup_free char *rules = path_join(common, "info/exclude");
	cleanup_strbuf struct strbuf ignored = { 0 };
	cleanup_close int info = -1;
	if (fs_open_private_directory_at(desk, "info", true, &info, err) < 0 ||
	    fs_read(AT_FDCWD, rules, RULES_MAX, &ignored, err) < 0)
		return -1;
	return fs_replace(info, "attributes", attributes, strlen(attributes), FS_VOLATILE, err) < 0
		       ? -1
		       : fs_replace(info, "exclude", strbuf_text(&ignored), ignored.length,
				    FS_VOLATILE, err);
}

static int desk_open(const struct cargo_tree *tree, struct desk *desk, struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_strbuf struct strbuf format = { 0 };
	cleanup_close int fd = -1;
	const int r = gitcmd_find(tree->source, &repository, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_NOT_FOUND, "%s is no repository any more",
					 tree->source);
	*desk = (struct desk){ tree, path_join(tree->place, CARGO_DESK),
			       path_join(repository.common, "objects") };
	if (fs_remove_tree(tree->desk, CARGO_DESK, err) < 0 ||
	    ask_source(tree->source,
		       (const char *const[]){ "rev-parse", "--show-object-format", NULL }, &format,
		       err) < 0)
		return -1;
	cleanup_free char *kind = xasprintf("--object-format=%.*s",
					    (int)strcspn(strbuf_text(&format), "\n"),
					    strbuf_text(&format));
	const char *const words[] = { "init", "--quiet", "--bare",   "--template=",
				      kind,   "--",      desk->path, NULL };
	if (gitcmd_must_run("/", words, GITCMD_ASK_MS, NULL, err) < 0 ||
	    fs_open_private_directory_at(tree->desk, CARGO_DESK, false, &fd, err) != 0)
		return -1;
	return write_rules(fd, repository.common, err);
}

/* ---- packing ----------------------------------------------------------------------------------- */

/* The index is written by the agent of the tree: it is copied, and git reads the copy. */
static int copy_index(const struct desk *desk, struct error *err)
{
	cleanup_free char *path = path_join(desk->tree->record, "index");
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int fd = -1;
	const int r = fs_read(AT_FDCWD, path, INDEX_MAX, &text, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "%s is not there", path);
	return fs_open_private_directory_at(desk->tree->desk, CARGO_DESK, false, &fd, err) < 0
		       ? -1
		       : fs_replace(fd, "staged", strbuf_text(&text), text.length, FS_VOLATILE,
				    err);
}

static int refuse(const char *path, const char *what, struct error *err)
{
	cleanup_free char *shown = visible(path);
	return error_set(err, ERROR_INVALID, "%s %s, which does not come along", shown, what);
}

/* Lines "T MODE OBJECT STAGE<tab>PATH". */
static int check_entries(const struct desk *desk, const char *index, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (desk_run(desk, index, (const char *const[]){ "ls-files", "-t", "--stage", NULL }, NULL,
		     &result, err) < 0)
		return -1;
	for (const char *line = strbuf_text(&result.output); *line;) {
		const size_t length = strcspn(line, "\n");
		const char *tab = memchr(line, '\t', length);
		cleanup_free char *path = tab ? xstrndup(tab + 1, length - (size_t)(tab + 1 - line))
					      : xstrdup("a file");
		if (*line == 'S')
			return refuse(path, "is left out of this sparse checkout", err);
		if (*line == 'M')
			return refuse(path, "is in the middle of a merge", err);
		if (starts_with(line + 2, "160000"))
			return refuse(path, "is a submodule, or another repository", err);
		line += length + (line[length] == '\n');
	}
	return 0;
}

/* The object of what is staged in an index. */
static int write_tree(const struct desk *desk, const char *index, char **ret, struct error *err)
{
	return check_entries(desk, index, err) < 0
		       ? -1
		       : desk_ask(desk, index, (const char *const[]){ "write-tree", NULL }, NULL,
				  ret, err);
}

/* Without a look at what git ignores: also files that are tracked although a rule ignores them. */
static int add_named(const struct desk *desk, const char *index, const struct strbuf *names,
		     struct error *err)
{
	const char *const words[] = { "update-index", "--add", "--remove", "-z", "--stdin", NULL };
	return desk_run(desk, index, words, names, NULL, err);
}

/* Take the names of one list out of another; both are as git sorts them, with a NUL behind each. */
static void leave_out(const struct strbuf *gone, struct strbuf *names)
{
	cleanup_strbuf struct strbuf left = { 0 };
	const char *out = strbuf_text(gone), *out_end = out + gone->length;
	const char *name = strbuf_text(names), *end = name + names->length;
	for (; name < end; name += strlen(name) + 1) {
		while (out < out_end && strcmp(out, name) < 0)
			out += strlen(out) + 1;
		if (out == out_end || !streq(out, name))
			strbuf_add(&left, name, strlen(name) + 1);
	}
	strbuf_free(names);
	*names = left;
	left = (struct strbuf){ 0 };
}

/* The link or file in the place of a directory of this path.  NULL: there is none.  The caller
 * frees. */
static char *in_place_of(int tree, const char *path)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;
	for (char *slash = part; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (fstatat(tree, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return NULL;
		if (S_ISLNK(st.st_mode) || S_ISREG(st.st_mode))
			return TAKE_PTR(part);
	}
	return NULL;
}

/* What replaces tracked files is tracked, too, whatever a rule ignores. */
static int add_in_place_of(const struct desk *desk, const struct strbuf *gone, struct error *err)
{
	cleanup_strbuf struct strbuf names = { 0 };
	cleanup_free char *last = NULL;
	cleanup_close int tree = fs_openat(AT_FDCWD, desk->tree->path,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (tree < 0)
		return error_set_file(err, errno, "open %s", desk->tree->path);
	const char *name = strbuf_text(gone), *end = name + gone->length;
	for (; name < end; name += strlen(name) + 1) {
		cleanup_free char *part = in_place_of(tree, name);
		if (!part || (last && streq(part, last)))
			continue;
		strbuf_add(&names, part, strlen(part) + 1);
		replace_string(&last, part);
	}
	return names.length ? add_named(desk, "index", &names, err) : 0;
}

/* What is gone, or is behind a link or a directory now, "add" has taken out; update-index would
 * refuse the latter. */
static int pack_files(const struct desk *desk, char **ret, struct error *err)
{
	cleanup_child_result struct child_result tracked = { 0 }, gone = { 0 };
	const char *const add[] = { "add", "--all", NULL }, *const list[] = { "ls-files", "-z",
									      NULL };
	const char *const deleted[] = { "diff-files", "-z", "--name-only", "--diff-filter=D",
					NULL };
	if (desk_run(desk, "index", add, NULL, NULL, err) < 0 ||
	    desk_run(desk, "staged", list, NULL, &tracked, err) < 0 ||
	    desk_run(desk, "staged", deleted, NULL, &gone, err) < 0)
		return -1;
	leave_out(&gone.output, &tracked.output);
	return add_named(desk, "index", &tracked.output, err) < 0 ||
			       add_in_place_of(desk, &gone.output, err) < 0
		       ? -1
		       : write_tree(desk, "index", ret, err);
}

/* The stashes of the tree's branch: all work trees of a repository share one list. */
static int list_stashes(const struct cargo_tree *tree, struct strvec *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *on = xasprintf(" On %s: ", tree->branch);
	cleanup_free char *wip = xasprintf(" WIP on %s: ", tree->branch);
	const char *const words[] = { "stash", "list", "--format=%H %gs", NULL };
	if (ask_source(tree->source, words, &text, err) < 0)
		return -1;
	for (const char *line = strbuf_text(&text); *line;) {
		const size_t length = strcspn(line, "\n"), name = strcspn(line, " \n");
		if (starts_with(line + name, on) || starts_with(line + name, wip))
			strvec_pushf(ret, "%.*s", (int)name, line);
		line += length + (line[length] == '\n');
	}
	return ret->count <= STASHES ? 0 : refuse(tree->path, "has more than 64 stashes", err);
}

int cargo_pack(const struct cargo_tree *tree, char **ret, struct error *err)
{
	CLEANUP(desk_close) struct desk desk = { 0 };
	cleanup_free char *files = NULL, *staged = NULL, *head = NULL, *index = NULL;
	cleanup_strvec struct strvec stashes = { 0 }, words = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (desk_open(tree, &desk, err) < 0 || copy_index(&desk, err) < 0 ||
	    write_tree(&desk, "staged", &staged, err) < 0 || pack_files(&desk, &files, err) < 0 ||
	    list_stashes(tree, &stashes, err) < 0)
		return -1;
	const int r = gitcmd_find_branch(tree->source, tree->branch, &head, err);
	if (r != 0)
		return r < 0 ? -1 : refuse(tree->branch, "has no commit", err);
	const char *const staging[] = { "commit-tree", staged, "-p", head, "-m", "staged", NULL };
	if (desk_ask(&desk, "index", staging, NULL, &index, err) < 0)
		return -1;
	strvec_push_array(&words, (const char *const[]){ "commit-tree", files, "-F", "-", "-p",
							 head, "-p", index, NULL });
	for (size_t i = stashes.count; i > 0; i--)
		strvec_push_array(&words,
				  (const char *const[]){ "-p", stashes.items[i - 1], NULL });
	strbuf_addf(&text, "%s\n\n%s\n", tree->branch, tree->base);
	return desk_ask(&desk, "index", (const char *const *)strvec_argv(&words), &text, ret, err);
}

/* ---- reading ----------------------------------------------------------------------------------- */

bool cargo_is_commit(const char *name)
{
	const size_t length = strspn(name, "0123456789abcdef");
	return !name[length] && (length == 40 || length == OBJECT_NAME_MAX);
}

/* Is all of it here, also what its commits need? */
static int check_whole(const char *source, const char *commit, struct error *err)
{
	cleanup_error struct error why = { 0 };
	cleanup_strbuf struct strbuf nothing = { 0 };
	const char *const words[] = { "rev-list", "--objects", "--quiet", commit,
				      "--not",    "--all",     "--",      NULL };
	if (ask_source(source, words, &nothing, &why) == 0)
		return 0;
	return error_set(err, ERROR_CORRUPT, "not all of %s is in %s: %s", commit, source,
			 why.message);
}

static void push_line(const char *line, void *context)
{
	strvec_push(context, line);
}

static bool take_parents(char *text, struct cargo *cargo)
{
	for (size_t i = 0; text; i++) {
		char *name = strsep(&text, " ");
		if (!cargo_is_commit(name))
			return false;
		if (i == 0)
			cargo->head = xstrdup(name);
		else if (i == 1)
			cargo->staged = xstrdup(name);
		else
			strvec_push(&cargo->stashes, name);
	}
	return cargo->staged && cargo->stashes.count <= STASHES;
}

int cargo_read(const char *source, const char *commit, struct cargo *ret, struct error *err)
{
	cleanup_cargo struct cargo cargo = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	const char *const words[] = { "log", "-1", "--format=%T%n%P%n%B", commit, "--", NULL };
	if (check_whole(source, commit, err) < 0 || ask_source(source, words, &text, err) < 0)
		return -1;
	gitcmd_each_line(&text, push_line, &lines);
	if (lines.count < 5 || !take_parents(lines.items[1], &cargo) ||
	    !cargo_is_commit(lines.items[4]) || gitcmd_check_branch(lines.items[2], NULL) < 0)
		return error_set(err, ERROR_CORRUPT, "%s is not the content of a tree", commit);
	cargo.files = xstrdup(lines.items[0]);
	cargo.branch = xstrdup(lines.items[2]);
	cargo.base = xstrdup(lines.items[4]);
	*ret = cargo;
	cargo = (struct cargo){ 0 };
	return 0;
}

/* ---- laying out -------------------------------------------------------------------------------- */

/* Read each file of it again. */
static int prove(const struct desk *desk, const struct cargo *cargo, struct error *err)
{
	cleanup_child_result struct child_result names = { 0 };
	cleanup_free char *found = NULL;
	const char *const list[] = { "ls-tree", "-r", "-z", "--name-only", cargo->files, NULL };
	if (desk_run(desk, "proof", list, NULL, &names, err) < 0 ||
	    add_named(desk, "proof", &names.output, err) < 0 ||
	    write_tree(desk, "proof", &found, err) < 0)
		return -1;
	return streq(found, cargo->files)
		       ? 0
		       : error_set(err, ERROR_SYSTEM,
				   "the files in %s are not those that were sent: something else "
				   "writes there",
				   desk->tree->path);
}

/* Is something there that git ignores?  What is deleted makes room. */
static bool is_in_the_way(int tree, const char *path, const struct strvec *deleted)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;
	for (char *slash = part; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (fstatat(tree, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno != ENOENT;
		if (!S_ISDIR(st.st_mode))
			return !strvec_contains(deleted, part);
	}
	return fstatat(tree, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Git itself would overwrite what it ignores. */
static int check_way(const struct desk *desk, const char *present, const struct cargo *cargo,
		     struct error *err)
{
	cleanup_child_result struct child_result changes = { 0 };
	cleanup_strvec struct strvec added = { 0 }, deleted = { 0 };
	const char *const words[] = { "diff-tree",     "-r",    "-z",         "--no-renames",
				      "--name-status", present, cargo->files, NULL };
	if (desk_run(desk, "index", words, NULL, &changes, err) < 0)
		return -1;
	const char *end = strbuf_text(&changes.output) + changes.output.length;
	for (const char *item = strbuf_text(&changes.output); item < end;) {
		const char *path = item + strlen(item) + 1;
		if (*item == 'A' || *item == 'D')
			strvec_push(*item == 'A' ? &added : &deleted, path);
		item = path + strlen(path) + 1;
	}
	cleanup_close int tree = fs_openat(AT_FDCWD, desk->tree->path,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (tree < 0)
		return error_set_file(err, errno, "open %s", desk->tree->path);
	for (size_t i = 0; i < added.count; i++) {
		cleanup_free char *shown = visible(added.items[i]);
		if (is_in_the_way(tree, added.items[i], &deleted))
			return error_set(err, ERROR_EXISTS,
					 "a file that git ignores is in the way of %s in %s: move "
					 "it away",
					 shown, desk->tree->path);
	}
	return 0;
}

static int lay_files(const struct desk *desk, const struct cargo *cargo, bool is_again,
		     struct error *err)
{
	cleanup_free char *present = NULL;
	if (copy_index(desk, err) < 0 || pack_files(desk, &present, err) < 0 ||
	    (!is_again && check_way(desk, present, cargo, err) < 0))
		return -1;
	const char *const words[] = { "read-tree", "-m", "-u", present, cargo->files, NULL };
	if (desk_run(desk, "index", words, NULL, NULL, err) < 0)
		return -1;
	return prove(desk, cargo, err);
}

/* A link in its place is replaced, not followed. */
static int lay_index(const struct desk *desk, const struct cargo *cargo, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(desk->path, "staged");
	cleanup_close int record = -1;
	const char *const words[] = { "read-tree", cargo->staged, NULL };
	if (desk_run(desk, "staged", words, NULL, NULL, err) < 0 ||
	    check_entries(desk, "staged", err) < 0 ||
	    fs_read(AT_FDCWD, path, INDEX_MAX, &text, err) != 0)
		return -1;
	record = fs_openat(AT_FDCWD, desk->tree->record,
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (record < 0)
		return error_set_file(err, errno, "open %s", desk->tree->record);
	return fs_replace(record, "index", strbuf_text(&text), text.length, FS_DURABLE, err);
}

static int lay_stashes(const struct cargo_tree *tree, const struct cargo *cargo, struct error *err)
{
	cleanup_strvec struct strvec known = { 0 };
	if (list_stashes(tree, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < cargo->stashes.count; i++) {
		const char *commit = cargo->stashes.items[i];
		cleanup_strbuf struct strbuf text = { 0 };
		const char *const ask[] = { "log", "-1", "--format=%s", commit, "--", NULL };
		if (strvec_contains(&known, commit))
			continue;
		if (ask_source(tree->source, ask, &text, err) < 0)
			return -1;
		cleanup_free char *subject = xstrndup(strbuf_text(&text),
						      strcspn(strbuf_text(&text), "\n"));
		const char *const store[] = { "stash", "store", "-m", subject, commit, NULL };
		if (gitcmd_must_run(tree->source, store, GITCMD_ASK_MS, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int sync_files(const char *path, struct error *err)
{
	cleanup_close int fd = fs_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return fd >= 0 && syncfs(fd) == 0 ? 0 : error_set_file(err, errno, "sync %s", path);
}

int cargo_check_out(const struct cargo_tree *tree, struct error *err)
{
	CLEANUP(desk_close) struct desk desk = { 0 };
	const char *const words[] = { "checkout-index", "--all", "--force", "--quiet", NULL };
	if (desk_open(tree, &desk, err) < 0 || copy_index(&desk, err) < 0)
		return -1;
	return desk_run(&desk, "staged", words, NULL, NULL, err);
}

int cargo_lay(const struct cargo_tree *tree, const struct cargo *cargo, bool is_again,
	      struct error *err)
{
	CLEANUP(desk_close) struct desk desk = { 0 };
	cleanup_free char *ref = xasprintf("refs/heads/%s", tree->branch);
	const char *const words[] = { "update-ref", "-m",        "agentdeck session move",
				      ref,          cargo->head, NULL };
	if (desk_open(tree, &desk, err) < 0 || lay_files(&desk, cargo, is_again, err) < 0 ||
	    gitcmd_must_run(tree->source, words, GITCMD_ASK_MS, NULL, err) < 0 ||
	    lay_index(&desk, cargo, err) < 0 || lay_stashes(tree, cargo, err) < 0)
		return -1;
	return sync_files(tree->path, err);
}

static int tree_of(const struct desk *desk, const char *commit, char **ret, struct error *err)
{
	cleanup_free char *name = xasprintf("%s^{tree}", commit);
	const char *const words[] = { "rev-parse", "--verify", name, NULL };
	return desk_ask(desk, "index", words, NULL, ret, err);
}

static int commit_on(const struct desk *desk, const char *parent, const char *files,
		     const char *message, char **ret, struct error *err)
{
	const char *const words[] = { "commit-tree", files, "-p", parent, "-m", message, NULL };
	return desk_ask(desk, "index", words, NULL, ret, err);
}

/* Equal content makes an equal commit.  What is staged has one of its own where neither the head
 * nor the files have it: it would be in no branch, and git would prune it. */
static int commit_files(const struct desk *desk, const struct cargo *cargo, char **ret,
			struct error *err)
{
	cleanup_free char *committed = NULL, *staged = NULL, *below = NULL;
	if (tree_of(desk, cargo->head, &committed, err) < 0 ||
	    tree_of(desk, cargo->staged, &staged, err) < 0)
		return -1;
	if (!streq(staged, committed) && !streq(staged, cargo->files)) {
		if (commit_on(desk, cargo->head, staged, "staged", &below, err) < 0)
			return -1;
	} else if (streq(committed, cargo->files)) {
		*ret = xstrdup(cargo->head);
		return 0;
	}
	return commit_on(desk, below ? below : cargo->head, cargo->files, "not committed", ret,
			 err);
}

int cargo_keep(const struct cargo_tree *tree, const struct cargo *cargo, const char *branch,
	       struct error *err)
{
	CLEANUP(desk_close) struct desk desk = { 0 };
	cleanup_free char *commit = NULL, *present = NULL;
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	if (desk_open(tree, &desk, err) < 0 || commit_files(&desk, cargo, &commit, err) < 0)
		return -1;
	const int r = gitcmd_find_branch(tree->source, branch, &present, err);
	if (r < 0)
		return -1;
	if (present && !streq(present, commit))
		return CARGO_TAKEN;
	/* Only if there is none by now. */
	const char *const words[] = { "update-ref", "-m", "agentdeck session move", ref, commit,
				      "",           NULL };
	if (!present && gitcmd_must_run(tree->source, words, GITCMD_ASK_MS, NULL, err) < 0)
		return -1;
	return lay_stashes(tree, cargo, err) < 0 ? -1 : sync_files(tree->source, err);
}

/* ---- between two repositories ------------------------------------------------------------------ */

int cargo_list(const char *source, struct strvec *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *count = xasprintf("--count=%d", TIPS);
	const char *const words[] = { "for-each-ref", count, "--sort=-committerdate",
				      "--format=%(objectname)", NULL };
	if (ask_source(source, words, &text, err) < 0)
		return -1;
	gitcmd_each_line(&text, push_line, ret);
	return 0;
}

static int is_yes(const char *source, const char *const *words, bool *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (run_source(source, words, &result, err) < 0)
		return -1;
	*ret = result.exit_status == 0;
	return 0;
}

static int is_here(const char *source, const char *commit, bool *ret, struct error *err)
{
	cleanup_free char *name = xasprintf("%s^{commit}", commit);
	return is_yes(source, (const char *const[]){ "cat-file", "-e", name, NULL }, ret, err);
}

int cargo_comes_from(const char *source, const struct cargo *cargo, bool *ret, struct error *err)
{
	const char *const words[] = { "merge-base", "--is-ancestor", cargo->base, cargo->head,
				      NULL };
	bool found = false;
	if (is_here(source, cargo->base, &found, err) < 0 ||
	    (found && is_yes(source, words, &found, err) < 0))
		return -1;
	*ret = found;
	return 0;
}

/* Which of the names are commits of this repository, too?  Adds a line "^NAME" for each. */
static int take_known(const char *source, const char *have, struct strbuf *ret, struct error *err)
{
	cleanup_free char *copy = xstrdup(have);
	char *rest = copy;
	for (const char *name; (name = strsep(&rest, ","));) {
		bool is_known = false;
		if (!cargo_is_commit(name))
			continue;
		if (is_here(source, name, &is_known, err) < 0)
			return -1;
		if (is_known)
			strbuf_addf(ret, "^%s\n", name);
	}
	return 0;
}

static int finish(struct child *child, const char *what, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (child_finish(child, INT64_MAX, &result, err) < 0)
		return -1;
	if (result.exit_status == 0)
		return 0;
	cleanup_free char *said = child_last_words(&result);
	/* The sender may be the reason, or the way from it. */
	const bool is_cut = strstr(strbuf_text(&result.errors), "early EOF");
	return error_set(err, is_cut ? ERROR_CORRUPT : ERROR_CHILD, "git %s: %s", what, said);
}

static int copy_out(int from, struct error *err)
{
	char piece[1 << 16];
	for (;;) {
		const ssize_t length = read(from, piece, sizeof(piece));
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return error_set_errno(err, errno, "read the pack");
		if (length == 0)
			return 0;
		if (fs_write_all(STDOUT_FILENO, piece, (size_t)length, "standard output", err) < 0)
			return -1;
	}
}

int cargo_send(const char *source, const char *commit, const char *have, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	cleanup_strbuf struct strbuf wanted = { 0 };
	cleanup_close int input = -1;
	struct child child;
	strbuf_addf(&wanted, "%s\n", commit);
	if (take_known(source, have, &wanted, err) < 0 ||
	    fs_open_scratch("/tmp", &input, err) < 0 ||
	    fs_write_all(input, strbuf_text(&wanted), wanted.length, "a list of commits", err) < 0)
		return -1;
	if (lseek(input, 0, SEEK_SET) < 0)
		return error_set_errno(err, errno, "read a list of commits");
	add_git(source,
		(const char *const[]){ "pack-objects", "--revs", "--thin", "--stdout", "-q",
				       "--delta-base-offset", NULL },
		&argv, &environment);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .environment = strvec_argv(&environment),
					       .source = input };
	const int r = child_start(&request, &child, err);
	if (r != 0)
		return r < 0 ? -1 : gitcmd_refuse_missing(err);
	if (copy_out(child.output, err) < 0) {
		child_abandon(&child);
		return -1;
	}
	return finish(&child, "pack-objects", err);
}

int cargo_receive(const char *source, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	/* Descriptor 0 means none in a request. */
	cleanup_close int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct child child;
	if (input < 0)
		return error_set_errno(err, errno, "read standard input");
	add_git(source, (const char *const[]){ "index-pack", "--stdin", "--fix-thin", NULL }, &argv,
		&environment);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .environment = strvec_argv(&environment),
					       .source = input };
	const int r = child_start(&request, &child, err);
	return r != 0 ? (r < 0 ? -1 : gitcmd_refuse_missing(err))
		      : finish(&child, "index-pack", err);
}
