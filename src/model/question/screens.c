/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/question/screens.h"

#include <string.h>

static void add_subject(struct question *question, const struct question_subject *subject)
{
	question_add_line(question, "%s (%s), %s", subject->title, subject->agent, subject->id);
	if (subject->tree)
		question_add_line(question, "%s %s", subject->kind, subject->tree);
	question_add_line(question, "%s", "");
}

void question_of_work(struct question *question, const struct question_subject *subject,
		      const struct verdict *verdict)
{
	question_begin(question, "session ended",
		       "Review the above before you choose how to end the session.");
	add_subject(question, subject);
	question_add_line(question, "This session has unfinished work:");
	question_add_losses(question, verdict);
	question_add_choice(question, CHOICE_CONTINUE, "Continue", "");
}

void question_of_end(struct question *question, const struct question_subject *subject)
{
	question_begin(question, "session ended", "How should this session end?");
	add_subject(question, subject);
	question_add_line(question, "It has unfinished work.");
	question_add_choice(question, CHOICE_RETURN, "Return to agent",
			    "keep working in this session now");
	question_add_choice(question, CHOICE_KEEP, "Exit and keep",
			    "keep everything, resume later to finish the work");
	question_add_choice(question, CHOICE_CLEAN, "Exit and clean up",
			    "discard its tree, and delete everything of the session");
}

void question_of_removal(struct question *question, const struct question_subject *subject)
{
	question_begin(question, "remove", "Remove this session?");
	add_subject(question, subject);
	question_add_line(question, "It has unfinished work.");
	question_add_choice(question, CHOICE_KEEP, "Keep it", "nothing is removed");
	question_add_choice(question, CHOICE_CLEAN, "Remove it",
			    "agentdeck prune deletes the work with it; until then, undo");
}

void question_of_launch(struct question *question, const char *directory, const char *agent)
{
	question_begin(question, "resume or start new", "Start a new session, or resume one?");
	question_add_line(question, "%s has sessions of %s that ended:", directory, agent);
	question_add_choice(question, CHOICE_NEW, "Start new session", "");
}

/* The lines of `all` that `other` does not have. */
static void add_difference(struct question *question, const char *heading, const char *all,
			   const char *other)
{
	bool is_begun = false;
	cleanup_free char *lines = xstrdup(all);
	cleanup_free char *others = xasprintf("\n%s", other);
	char *rest = lines;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		cleanup_free char *whole = xasprintf("\n%s\n", line);
		if (!*line || strstr(others, whole))
			continue;
		if (!is_begun)
			question_add_evidence(question, heading);
		is_begun = true;
		question_add_item(question, "%s", line);
	}
}

void question_of_reuse(struct question *question, const struct question_subject *subject,
		       const char *before, const char *now)
{
	question_begin(question, "resume", "Resume in the tree as it is now?");
	add_subject(question, subject);
	question_add_line(question, "Its tree has changed since it was kept:");
	add_difference(question, "new", now, before);
	add_difference(question, "gone", before, now);
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing is started");
	question_add_choice(question, CHOICE_RETURN, "Resume", "use the tree as it is");
}

void question_of_recovery(struct question *question)
{
	question_begin(question, "recover", "Restart every session that should run and does not?");
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing changes");
	question_add_choice(question, CHOICE_CONTINUE, "Restart them",
			    "each resumes its conversation");
}
