/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/sender.h"

#include "driver/capsule/capsule.h"

#include <stdlib.h>

void sender_find(struct sender *sender)
{
	sender->count = hookfile_senders(sender->processes, SENDER_DEPTH);
}

/* The process of the tree with this pid in its container; -1: it has ended. */
static pid_t find_outside(const struct process_id *tree, size_t count,
			  const struct process_id *inside)
{
	pid_t pid;
	for (size_t i = 0; i < count; i++)
		if (tree[i].start == inside->start &&
		    process_inner_pid(tree[i].pid, &pid, NULL) == 0 && pid == inside->pid)
			return tree[i].pid;
	return -1;
}

void sender_find_outside(struct sender *sender, const struct run *run)
{
	cleanup_free struct process_id *tree = NULL;
	size_t count = 0;
	if (process_tree(&run->server, &tree, &count, NULL) < 0)
		count = 0;
	for (size_t i = 0; i < sender->count; i++)
		sender->processes[i].pid = find_outside(tree, count, &sender->processes[i]);
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
