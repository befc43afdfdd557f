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

static void add_work(struct question *question, const struct question_subject *subject,
		     const struct verdict *verdict)
{
	add_subject(question, subject);
	question_add_line(question, "This session has unfinished work:");
	question_add_losses(question, verdict);
	question_add_choice(question, CHOICE_CONTINUE, "Continue", "");
}

void question_of_work(struct question *question, const struct question_subject *subject,
		      const struct verdict *verdict)
{
	question_begin(question, "session ended",
		       "Review the above before you choose how to end the session.");
	add_work(question, subject, verdict);
}

void question_of_work_to_remove(struct question *question, const struct question_subject *subject,
				const struct verdict *verdict)
{
	question_begin(question, "remove", "Review the above before you remove the session.");
	add_work(question, subject, verdict);
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

static const char *line_of(enum question_place place)
{
	static const char *const lines[] = {
		[IN_SESSION] = "Its conversation is open in another session:",
		[IN_PICK] = "Its conversation is open in another session, whose user picked it:",
		[IN_DIRECTORY] = "Another session runs in its directory, and the agent resumes the "
				 "latest conversation there:",
		[IN_PROCESS] = "Its conversation is open in a process that agentdeck did not "
			       "start:",
		[IN_MACHINE] = "A process on another machine had its conversation, and may still "
			       "have it:",
		[IN_BACKGROUND] = "Its agent still has its conversation in the background:",
	};
	return lines[place];
}

static void add_holder(struct question *question, const struct question_holder *holder)
{
	question_add_line(question, "%s", line_of(holder->place));
	question_add_line(question, "%s", holder->who);
	if (holder->since)
		question_add_line(question, "since %s", holder->since);
	if (holder->command)
		question_add_line(question, "command %s", holder->command);
	if (holder->where)
		question_add_line(question, "directory %s", holder->where);
	if (holder->conversation)
		question_add_line(question, "conversation %s", holder->conversation);
	question_add_line(question, "%s", "");
	question_add_line(question, "Two agents on one conversation would split its history.");
	if (holder->place == IN_MACHINE)
		question_add_line(question, "When that process has ended, start the session with "
					    "--take-over.");
}

/* What becomes of the conversations.  The caller frees. */
static char *effect_of_take(const struct question_holder *holder)
{
	if (holder->place != IN_DIRECTORY)
		return xstrdup("the conversation continues here; a turn that it works on is lost");
	/* Nothing tells which of the directory's conversations belongs to which session. */
	return holder->conversation
		       ? xstrdup("each keeps its own conversation; a turn that it works on is "
				 "lost")
		       : xasprintf("it begins a new conversation, and so will %s when it is "
				   "started again; a turn that it works on is lost",
				   holder->title);
}

static void add_take(struct question *question, const struct question_subject *subject,
		     const struct question_holder *holder)
{
	cleanup_free char *effect = effect_of_take(holder);
	cleanup_free char *label = holder->title
					   ? xasprintf("Stop %s, and start %s", holder->title,
						       subject->title)
					   : xasprintf("End it, and start %s", subject->title);
	question_add_choice(question, CHOICE_TAKE, label, effect);
}

void question_of_conflict(struct question *question, const struct question_subject *subject,
			  const struct question_holder *holder)
{
	question_begin(question, "conversation in use", "How do you want to continue?");
	add_subject(question, subject);
	add_holder(question, holder);
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing is started");
	if (holder->can_attach) {
		cleanup_free char *label = xasprintf("Attach to %s", holder->title);
		question_add_choice(question, CHOICE_ATTACH, label, "work there");
	}
	if (holder->can_fork) {
		cleanup_free char *effect = xasprintf(
			"a new session%s%s begins with it, and %s stays as it is",
			subject->kind ? " with its own " : "", or_empty(subject->kind),
			subject->title);
		question_add_choice(question, CHOICE_FORK, "Copy the conversation", effect);
	}
	if (holder->can_take)
		add_take(question, subject, holder);
}

void question_of_recovery(struct question *question)
{
	question_begin(question, "recover", "Restart every session that should run and does not?");
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing changes");
	question_add_choice(question, CHOICE_CONTINUE, "Restart them",
			    "each resumes its conversation");
}
