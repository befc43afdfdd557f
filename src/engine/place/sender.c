/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/sender.h"

#include "base/fsutil.h"

#include <string.h>
#include <unistd.h>

static bool is_shell(const char *program)
{
	static const char *const names[] = { "sh",   "ash", "bash", "dash",
					     "fish", "ksh", "mksh", "zsh" };
	const char *name = path_basename(program);
	if (*name == '-')
		name++;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(name, names[i]))
			return true;
	return false;
}

/* sh -c COMMAND, bash -l -c COMMAND, zsh -lc COMMAND: the command, or NULL. */
static const char *shell_command(const struct strvec *argv)
{
	if (!argv->count || !is_shell(argv->items[0]))
		return NULL;
	for (size_t i = 1; i + 1 < argv->count && argv->items[i][0] == '-'; i++)
		if (argv->items[i][1] != '-' && strchr(argv->items[i], 'c'))
			return argv->items[i + 1];
	return NULL;
}

/* Does this process only run the hook's command?  A script that is an agent, or starts one, does
 * not. */
static int is_hook_shell(pid_t pid, bool *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int r = process_argv(pid, &argv, err);
	const char *command = r == 0 ? shell_command(&argv) : NULL;
	*ret = command && strstr(command, " hook");
	return r;
}

void sender_find(struct sender *sender)
{
	struct process_id all[SENDER_DEPTH];
	size_t count = process_ancestors(getpid(), all, SENDER_DEPTH), first = 0;
	for (bool is_passed = true; first < count && is_passed; first += is_passed)
		if (is_hook_shell(all[first].pid, &is_passed, NULL) != 0)
			return;
	sender->count = count - first;
	memcpy(sender->processes, all + first, sender->count * sizeof(*all));
}

enum sender_relation sender_relation(const struct sender *sender, const struct run *run)
{
	const struct process_id *reporter = &run->reporter;
	if (!sender->count)
		return SENDER_UNKNOWN;
	if (process_same(&sender->processes[0], &run->pane) ||
	    process_same(&sender->processes[0], reporter))
		return SENDER_AGENT;
	for (size_t i = 1; i < sender->count && reporter->pid; i++)
		if (process_same(&sender->processes[i], reporter))
			return SENDER_NESTED;
	return SENDER_UNKNOWN;
}
