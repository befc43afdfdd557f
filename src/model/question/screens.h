/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The questions about a session's end, and about resuming one that ended.
 *
 *   A  unfinished work: seen?           question_of_work()
 *   B  how should this session end?     question_of_end()
 *   C  start new, or resume one?        question_of_launch(), question_add_session() for each
 *   D  its tree has changed: resume?    question_of_reuse()
 *
 * and about a conversation that another session or process has: question_of_conflict().
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/question/question.h"

/* The session that is asked about.  All borrowed; tree NULL: it has none to itself. */
struct question_subject {
	const char *title, *agent, *id;
	const char *kind, *tree; /* "worktree", and its path */
};

/* A, of a tree that is not safe.  CHOICE_CONTINUE. */
void question_of_work(struct question *question, const struct question_subject *subject,
		      const struct verdict *verdict);
/* Like question_of_work(), but when its user removes it.  It may run. */
void question_of_work_to_remove(struct question *question, const struct question_subject *subject,
				const struct verdict *verdict);
/* B.  CHOICE_RETURN, CHOICE_KEEP, CHOICE_CLEAN. */
void question_of_end(struct question *question, const struct question_subject *subject);
/* Like question_of_end(), but when its user removes it.  CHOICE_KEEP, CHOICE_CLEAN. */
void question_of_removal(struct question *question, const struct question_subject *subject);
/* C.  CHOICE_NEW; the sessions come after it. */
void question_of_launch(struct question *question, const char *directory, const char *agent);
/* D.  before, now: a line for each thing that is only in the tree.  CHOICE_KEEP (do not start it),
 * CHOICE_RETURN. */
void question_of_reuse(struct question *question, const struct question_subject *subject,
		       const char *before, const char *now);

enum question_place {
	IN_SESSION,    /* another session has the conversation open */
	IN_PICK,       /* likewise, because its user has picked it there */
	IN_DIRECTORY,  /* another session of the agent, which resumes the latest of the directory */
	IN_PROCESS,    /* a process that agentdeck did not start */
	IN_MACHINE,    /* likewise, on another machine: it is not known whether it lives */
	IN_BACKGROUND, /* a background process of the session's own agent */
};
/* The holder of the conversation, and what can be done about it.  All borrowed. */
struct question_holder {
	enum question_place place;
	const char *conversation;            /* its id; NULL: not known */
	const char *who;                     /* "web (demo), 0a1b2c3d", "process 4711" */
	const char *since, *command, *where; /* NULL: not known; where: the directory */
	const char *title;                   /* of the session that has it; NULL: it is in none */
	bool can_attach, can_fork, can_take;
};
/* Before a start.  CHOICE_KEEP (do not start it), and where they can be done CHOICE_ATTACH,
 * CHOICE_FORK, CHOICE_TAKE. */
void question_of_conflict(struct question *question, const struct question_subject *subject,
			  const struct question_holder *holder);

/* After a restart of the machine, or a kill.  Whom it is about comes behind (engine/roster/lost.h).
 * CHOICE_KEEP, CHOICE_CONTINUE: restart them. */
void question_of_recovery(struct question *question);
