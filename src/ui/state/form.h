/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The form for a new session: its fields, what they offer, and the command line that they make.
 *
 * Pure: the caller passes the choices (ui/main/supply.h).
 */
#pragma once

#include "ui/state/input.h"

enum form_field {
	FIELD_DIRECTORY,
	FIELD_AGENT,
	FIELD_COMMAND, /* another command line; only then is it there */
	FIELD_TITLE,
	FIELD_MESSAGE,
	FIELD_WORKSPACE,
	FIELD_BRANCH, /* of a worktree or clone only */
	FIELD_PLACE,
	FIELD_IMAGE, /* in a container only */
	FIELD_ROLE,  /* in a container of a role only */
	FIELD_GROUP,
	FIELD_COUNT
};

/* What there is to choose from. */
struct form_supply {
	char *home;            /* for "~/"; NULL: not known */
	struct strvec agents;  /* names, the installed ones first */
	size_t installed;      /* how many of them are */
	size_t usual;          /* the one that is chosen at first */
	struct strvec recents; /* directories of sessions, the last used first */
	struct strvec groups;  /* sorted */
	struct strvec boxed;   /* those, and "" for none, whose new sessions live in a container */
};
void form_supply_free(struct form_supply *supply);

/* Zero-initialised is a form that was never opened. */
struct form {
	struct form_supply supply;
	struct input texts[FIELD_COUNT];
	size_t chosen[FIELD_COUNT]; /* of the fields that are no text */
	enum form_field at;
	char lead[16];       /* what was typed to choose by, in a field that is no text */
	bool is_begun;       /* it has what its user has typed */
	bool is_running;     /* the command has been started, and has not ended */
	char *instead;       /* the id of the session to resume; NULL: make a new one */
	char *problem;       /* why the last one failed; NULL: nothing did */
	struct strvec found; /* what the typed directory, branch or group can become */
	size_t recent;       /* the one to offer next */
};
void form_free(struct form *form);

/* Takes the supply, which is empty afterwards.  A form that was begun stays as it was. */
void form_open(struct form *form, struct form_supply *supply, const char *directory,
	       const char *group);
/* Forget what was typed. */
void form_empty(struct form *form);

enum form_result {
	FORM_STAYS,
	FORM_DONE,     /* form_ask_words(), and then form_words() */
	FORM_LEFT,     /* what was typed stays for the next time */
	FORM_COMPLETE, /* look for directories or branches, for form_complete() */
};
enum form_result form_key(struct form *form, const struct keymap *keymap, key_code key);
/* A key of what was pasted: text only. */
void form_paste(struct form *form, key_code key);

/* The directory in which the typed one is to be completed, with a slash at its end where it has
 * one; the caller's. */
char *form_directory(const struct form *form) MUST_USE;
/* Append the line whose last word, a branch, is to be completed, behind "agentdeck". */
void form_branch_words(const struct form *form, struct strvec *ret);
bool form_completes(enum form_field field);
/* The names of the directories in form_directory(), of branches or of groups: complete the field as
 * far as they agree. */
void form_complete(struct form *form, const struct strvec *names);

/* The fields that are there now.  Returns how many. */
size_t form_fields(const struct form *form, enum form_field ret[FIELD_COUNT]);
/* "Directory"; static. */
const char *form_label(enum form_field field);
/* What there is to say about the field: what can be typed, or what counts if nothing is.  The
 * caller frees. */
char *form_note(const struct form *form, enum form_field field) MUST_USE;
bool form_is_text(enum form_field field);
/* For a field that is no text: how many choices there are, and what each is called; borrowed. */
size_t form_choices(const struct form *form, enum form_field field);
const char *form_choice(const struct form *form, enum form_field field, size_t index);
/* Is that an agent that this machine lacks? */
bool form_lacks(const struct form *form, enum form_field field, size_t index);
/* The directory that is typed, without a slash at its end; the caller's. */
char *form_path(const struct form *form) MUST_USE;

/* Append the words behind "agentdeck".  The first message comes by standard input: it is
 * input_text() of its field, if there is one. */
void form_words(const struct form *form, struct strvec *ret);
/* Append the words behind "agentdeck" that ask whether another session is to be resumed instead. */
void form_ask_words(const struct form *form, struct strvec *ret);
/* form_words() as one line for a shell, to read; the caller's. */
char *form_line(const struct form *form, const char *profile) MUST_USE;
