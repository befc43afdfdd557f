/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/oom.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/cgroup/cgroup.h"
#include "engine/place/runfiles.h"
#include "model/session/naming.h"

#include <signal.h>
#include <string.h>

#define NOTE "oom"
/* From the kill to the question of the pane: tmux, and a start of agentdeck, on a machine that is
 * short of memory. */
enum { RECENT_MS = 10000, MAX_NOTE = 64 };

struct note {
	int64_t kills, since_ms; /* of clock_ms() */
};

static struct note read_note(int directory)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct note note = { 0 }, found;
	if (fs_read(directory, NOTE, MAX_NOTE, &text, NULL) != 0 || !text.length)
		return note;
	char *second = strchr(text.data, ' ');
	if (!second)
		return note;
	*second++ = '\0';
	second[strcspn(second, "\n")] = '\0';
	if (parse_int64(text.data, 0, INT64_MAX, &found.kills) &&
	    parse_int64(second, 0, INT64_MAX, &found.since_ms))
		note = found;
	return note;
}

static void write_note(int directory, int64_t kills)
{
	cleanup_free char *text = xasprintf("%lld %lld\n", (long long)kills, (long long)clock_ms());
	(void)fs_replace(directory, NOTE, text, strlen(text), FS_VOLATILE, NULL);
}

static char *last_victim(const char *control_group)
{
	char *victim = cgroup_oom_victim(control_group);
	return victim ? victim : xstrdup("a process");
}

int64_t oom_look(const char *directory, const char *control_group)
{
	int64_t kills = cgroup_oom_kills(control_group);
	cleanup_close int fd = -1;
	if (kills <= 0 || !directory)
		return kills;
	fd = runfiles_open(directory);
	if (fd < 0 || read_note(fd).kills >= kills)
		return kills;
	write_note(fd, kills);
	cleanup_free char *victim = last_victim(control_group);
	log_warning("oom: the kernel has killed %s for lack of memory (%lld so far in this run)",
		    victim, (long long)kills);
	return kills;
}

char *oom_victim(const char *directory, const char *control_group)
{
	(void)oom_look(directory, control_group);
	return last_victim(control_group);
}

/* By the kernel's log.  OOM_UNKNOWN: it cannot be read, or says nothing of this scope. */
enum { OOM_NO, OOM_YES, OOM_UNKNOWN };
static int ask_log(const char *control_group, pid_t agent, char **ret_name)
{
	cleanup_free char *other = NULL;
	pid_t pid;
	if (cgroup_oom_last(control_group, agent, ret_name, &pid) == 0)
		return OOM_YES;
	return cgroup_oom_last(control_group, 0, &other, &pid) == 0 ? OOM_NO : OOM_UNKNOWN;
}

bool oom_is_new(int64_t kills, int64_t known, int64_t known_ms, int64_t now_ms)
{
	return kills > known || (kills > 0 && now_ms - known_ms < RECENT_MS);
}

static bool is_recent(const char *directory, int64_t kills)
{
	cleanup_close int fd = runfiles_open(directory);
	struct note note = { 0 };
	if (fd >= 0)
		note = read_note(fd);
	return oom_is_new(kills, note.kills, note.since_ms, clock_ms());
}

bool oom_ended_agent(const struct instance *instance, int code, int signal_number,
		     char **ret_victim)
{
	const struct run *run = &instance->run;
	cleanup_free char *own = NULL, *group = NULL, *name = NULL;
	/* A wrapper says so of the agent that it has waited for. */
	bool by_wrapper = signal_number == 0 && code == 128 + SIGKILL;
	*ret_victim = NULL;
	if ((signal_number != SIGKILL && !by_wrapper) || !run->unit || !run->directory ||
	    process_cgroup(getpid(), &own, NULL) != 0)
		return false;
	group = naming_session_group(instance->id, own);
	if (!group)
		return false;
	int64_t kills = cgroup_oom_kills(group);
	if (kills <= 0)
		return false;
	int answer = by_wrapper ? OOM_UNKNOWN : ask_log(group, run->pane.pid, &name);
	bool ended = answer == OOM_UNKNOWN ? is_recent(run->directory, kills) : answer == OOM_YES;
	(void)oom_look(run->directory, group);
	if (!ended)
		return false;
	if (name) {
		cleanup_free char *shown = visible(name);
		*ret_victim = xasprintf("%s (pid %d)", shown, (int)run->pane.pid);
	} else {
		*ret_victim = by_wrapper ? cgroup_oom_victim(group) : NULL;
		if (!*ret_victim)
			*ret_victim = xstrdup(by_wrapper ? "a process of it" : "the agent");
	}
	return true;
}

char *oom_text(int64_t kills)
{
	if (kills <= 0)
		return NULL;
	return xasprintf("%lld process%s killed for lack of memory", (long long)kills,
			 kills == 1 ? "" : "es");
}
