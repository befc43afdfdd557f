/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/users.h"

#include "base/fsutil.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/deck/deck.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void tree_user_clear(struct tree_user *user)
{
	free(user->text);
	*user = (struct tree_user){ 0 };
}

/* One that ends meanwhile, or that is hidden from us, is not there. */
static int is_in(pid_t pid, const char *tree, bool *ret, struct error *err)
{
	cleanup_free char *directory = NULL;
	cleanup_error struct error local = { 0 };
	const size_t length = strlen(tree);
	int r = process_directory(pid, &directory, &local);
	if (r < 0 && local.os_errno != EACCES && local.os_errno != EPERM)
		return error_move(err, &local);
	*ret = r == 0 && strncmp(directory, tree, length) == 0 &&
	       (!directory[length] || directory[length] == '/');
	return 0;
}

static bool is_of_run(pid_t pid, const char *id)
{
	cleanup_free char *entry = NULL;
	return process_variable(pid, ENV_INSTANCE, &entry, NULL) == 0 && entry && streq(entry, id);
}

static char *describe(pid_t pid)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free char *words = process_argv(pid, &argv, NULL) == 0 ? visible_argv(argv.items)
								       : xstrdup("unknown");
	return xasprintf("%d (%.60s)", (int)pid, words);
}

int tree_find_user(const char *path, const char *id, struct tree_user *ret, struct error *err)
{
	cleanup_tree_user struct tree_user user = { 0 };
	cleanup_free struct process_id *own = NULL;
	cleanup_free char *tree = NULL;
	size_t count = 0;
	int r = fs_real_directory(path, &tree, err);
	if (r < 0 || (r == 0 && process_list_own(&own, &count, err) < 0))
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool is_user = false;
		if (own[i].pid == getpid())
			continue;
		if (is_in(own[i].pid, tree, &is_user, err) < 0)
			return -1;
		const bool of_run = is_user && is_of_run(own[i].pid, id);
		if (!is_user || (user.text && of_run))
			continue;
		replace_string(&user.text, NULL);
		user.text = describe(own[i].pid);
		user.is_of_run = of_run;
		if (!of_run)
			break;
	}
	*ret = user;
	user = (struct tree_user){ 0 };
	return 0;
}
