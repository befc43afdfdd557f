/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/proof.h"

#include "engine/deck/deck.h"
#include "model/session/naming.h"

#include <errno.h>
#include <string.h>

enum { ANCESTORS_MAX = 64 };

static bool is_in_group(const char *id, const char *group)
{
	cleanup_free char *own = naming_session_group(id, group);
	return own != NULL;
}

bool proof_is_in_scope(const char *id, pid_t pid)
{
	cleanup_free char *group = NULL;
	return process_cgroup(pid, &group, NULL) == 0 && is_in_group(id, group);
}

bool proof_is_below(pid_t pid, const struct process_id *tops, size_t count)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		for (size_t j = 0; j < count; j++)
			if (tops[j].pid == pid && process_alive(&tops[j]))
				return true;
		if (process_parent(pid, &pid, NULL) != 0)
			return false;
	}
	return false;
}

/* A lack of memory or descriptors says nothing about the process.  Anything else that fails proves
 * nothing for it. */
static bool is_want(const struct error *err)
{
	return err->os_errno == ENFILE || err->os_errno == EMFILE || err->os_errno == ENOMEM;
}

void proof_markers(const char *id, struct strvec *ret)
{
	strvec_pushf(ret, ENV_INSTANCE "=%s", id);
	strvec_pushf(ret, ENV_SHARED_INSTANCE "=%s", id);
}

static int is_marked(const char *id, pid_t pid, bool *ret, struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 }, markers = { 0 };
	int r = process_environment(pid, &environment, err);
	proof_markers(id, &markers);
	*ret = false;
	for (size_t i = 0; r == 0 && i < markers.count; i++)
		*ret |= strvec_contains(&environment, markers.items[i]);
	return r;
}

static enum proof look_at(const char *id, pid_t pid)
{
	cleanup_free char *group = NULL;
	cleanup_error struct error first = { 0 }, second = { 0 };
	bool marked;
	if (process_cgroup(pid, &group, &first) == 0 && is_in_group(id, group))
		return PROOF_OURS;
	if (is_marked(id, pid, &marked, &second) == 0 && marked)
		return PROOF_OURS;
	return is_want(&first) || is_want(&second) ? PROOF_UNKNOWN : PROOF_FOREIGN;
}

enum proof proof_of(const char *id, const struct process_id *process)
{
	pid_t parent;
	if (!process->pid || !process_alive(process))
		return PROOF_FOREIGN;
	const enum proof proof = look_at(id, process->pid);
	if (proof != PROOF_FOREIGN || process_parent(process->pid, &parent, NULL) != 0)
		return proof;
	return look_at(id, parent) == PROOF_OURS ? PROOF_OURS : PROOF_FOREIGN;
}

int proof_signal(const char *id, const struct process_id *process, int signal_number,
		 struct error *err)
{
	/* Looked at by its pid, and signalled with its start time: one that takes the pid in
	 * between is not it. */
	return proof_of(id, process) == PROOF_OURS ? process_signal(process, signal_number, err)
						   : PROCESS_GONE;
}
