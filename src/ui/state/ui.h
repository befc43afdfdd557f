/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the deck shows and what a key does to it, without a terminal: ui_key() changes the struct
 * and says what the program is to do.  ui/draw shows the struct.
 */
#pragma once

#include "model/keys/keymap.h"
#include "model/question/questions.h"
#include "ui/state/dialog.h"
#include "ui/state/form.h"
#include "ui/state/input.h"
#include "ui/state/list.h"
#include "ui/state/preview.h"
#include "ui/state/typing.h"
#include "ui/state/welcome.h"

enum ui_mode {
	MODE_LIST,
	MODE_SEARCH,  /* typing a search; the list follows */
	MODE_PICK,    /* the same, only to choose a session (ui_begin_pick()) */
	MODE_LINE,    /* typing a line for an action */
	MODE_LOOKING, /* an action waits for what agentdeck asks about its session */
	MODE_DIALOG,  /* an action waits for an answer */
	MODE_FORM,    /* filling in the form for a new session */
	MODE_AGENT,   /* what is typed is for the agent of a session */
	MODE_HELP,
};

/* A line that was typed and not done. */
struct draft {
	char *what, *text; /* what: ui_name_line() */
	unsigned ticket;   /* its command runs, and may still do it; 0: none does */
};

struct ui {
	char *profile;
	size_t profiles; /* that there are; 0: unknown */
	struct list *list;
	struct keymap keymap;
	enum ui_mode mode;
	struct input input;  /* of MODE_SEARCH and MODE_LINE */
	char *search;        /* what the list is filtered by; NULL: nothing */
	unsigned searches;   /* how often that has changed */
	enum action pending; /* of MODE_LINE, MODE_LOOKING and MODE_DIALOG */
	/* The ids of the sessions that the pending action is for.  An id outlives its session. */
	struct strvec targets;
	/* In a removal: the sessions that are agreed to, and their losses, as options of the
	 * command. */
	struct strvec agreed, given_up;
	bool is_for_group; /* the only target is the path of a group */
	char *question;    /* what MODE_LINE asks, and MODE_LOOKING says */
	/* Number of the last wish whose end is to be told.  The end of an earlier one is late: the
	 * user does something else by then. */
	unsigned ticket;
	bool is_waiting;      /* MODE_LINE waits for its command, and takes only its cancel key */
	struct questions ask; /* of MODE_DIALOG: what is asked after the dialog, and about what */
	struct dialog dialog;
	struct strvec picks; /* of a permission with choices: their keys, behind the first choice */
	bool lacks_lost;     /* the question of a recovery still lacks the names of the sessions */
	struct welcome welcome; /* what an empty list shows */
	struct form form; /* of MODE_FORM; what was typed stays until a session is made of it */
	char *message;    /* the last news, until the next key; NULL: none */
	bool is_bad;      /* the message is about a failure */
	char *stage;      /* of a command that runs, with its time; NULL: none */
	struct preview preview;
	enum preview_kind wanted; /* what the preview is where the terminal has room for it */
	bool has_room;
	struct typing typing;          /* of MODE_AGENT, and until all of it has arrived */
	enum preview_kind seen_before; /* the preview's, before MODE_AGENT */
	struct draft *drafts;
	size_t draft_count;
	bool has_removed; /* the last key has removed something: undo is its first key */
	char *removed_on; /* the host whose session was removed last; NULL: this machine */
	/* Sessions that one command starts or removes, until it has ended, and whether the rest is
	 * given up. */
	struct strvec many;
	enum action does; /* ACTION_START or ACTION_REMOVE */
	bool is_halted;
	unsigned many_ticket; /* of that command */
	char *command;        /* the line of the last command behind ":"; NULL: it is over */
	char *completing;     /* the line or branch whose candidates are asked for, or NULL */
	bool is_held;         /* a line that came by itself: its first Enter only says so */
	bool is_pasting;      /* what comes was not typed */
	size_t help_page, help_pages; /* of MODE_HELP, as they were drawn */
	char *help_find;              /* only what has this in it; NULL: all */
	bool is_finding;              /* and it is being typed */
	/* as it was drawn */
	size_t height;  /* of the list */
	bool has_usage; /* it has columns for what the sessions use */
	size_t list_row, list_width;
	size_t wheel_row, wheel_column; /* where the mouse was when the wheel turned */
};
struct ui *ui_new(const char *profile) MUST_USE;
void ui_free(struct ui *ui);
CLEANUP_OF(ui_freep, struct ui, ui_free);
#define cleanup_ui CLEANUP(ui_freep)

/* What the program is to do. */
enum wish_kind {
	WISH_NOTHING,
	WISH_QUIT,
	WISH_SUSPEND,
	WISH_REDRAW,
	WISH_PROFILE,  /* go to the next one */
	WISH_ATTACH,   /* words: behind "agentdeck attach" */
	WISH_TERMINAL, /* words: as of WISH_RUN, for a command that needs the terminal */
	WISH_COPY,     /* words: as of WISH_RUN; its output is for the clipboard */
	WISH_SWITCH,   /* words: the id of the session that the picker has chosen */
	WISH_ASK,      /* words: a command line as of WISH_RUN; its output is for ui_asked() */
	WISH_RUN,      /* words: the command line behind "agentdeck" */
	WISH_LINE,     /* the same, of a typed line; its end is for ui_line_ended() */
	WISH_FORM,     /* what there is to choose from, for ui_open_form() */
	WISH_FIND,     /* words: a directory; the names of those in it are for form_complete() */
	WISH_LAUNCH,   /* words, input: as of WISH_RUN; its end is for ui_launched() */
	WISH_SHOW,     /* words: as of WISH_TERMINAL; its user reads what it has printed */
	WISH_COMPLETE, /* words: as of WISH_RUN; its output is for ui_completed() */
	WISH_HALT,     /* end the command of ui->many */
	WISH_TYPE,     /* ui->typing has something to pass on, or is to be checked */
};
/* Zero-initialised is nothing; wish_clear() makes it so again. */
struct wish {
	enum wish_kind kind;
	struct strvec words;
	/* WISH_RUN, WISH_LINE: once for each of these, one after the other, as the word at this
	 * place; empty: once, and the words are all. */
	struct strvec each;
	size_t at;
	char *input;     /* WISH_RUN, WISH_LAUNCH: its standard input, NULL: empty */
	unsigned ticket; /* WISH_ASK, WISH_LINE: for ui_asked() and ui_line_ended(); 0: none */
};
void wish_clear(struct wish *wish);
#define cleanup_wish CLEANUP(wish_clear)

/* A terminal with so many columns has the preview beside the list. */
enum { UI_SIDE_BY_SIDE = 100 };

/* The list is complete: what does not fit is folded, and the cursor goes to the first session, for
 * which the keys are.  The preview is shown if the terminal has room for it. */
void ui_begin(struct ui *ui, size_t rows, size_t columns);
/* Before a frame: a terminal that has become too small for both shows the list, until the user asks
 * for the preview, and a larger one shows the preview again. */
void ui_fit(struct ui *ui, size_t rows, size_t columns);

/* What the next deck takes over: list_save(), "preview" and "session", the id under the cursor. */
void ui_save(struct ui *ui, struct json_object *ret);
/* Before ui_begin().  If no session needs the user, the cursor goes to the one that is kept. */
void ui_restore(struct ui *ui, const struct json_object *saved);

/* Ask whether what was lost is to be restarted.  The program names it (lacks_lost).  The question
 * hides the status line, so it repeats that text. */
void ui_offer_recovery(struct ui *ui);

/* Be a picker: what is typed is searched, Enter chooses, Esc leaves; nothing else can be done.  The
 * list is complete, and the cursor goes to the first session that waits. */
void ui_begin_pick(struct ui *ui);

/* *ret is the caller's, and is nothing before. */
void ui_key(struct ui *ui, key_code key, struct wish *ret);

/* Is only yes or no asked?  No key that repeats says yes: not that of the action. */
bool ui_asks_yes_or_no(const struct ui *ui);

/* Is there no session, so that the rows of the welcome are the list? */
bool ui_is_empty(const struct ui *ui);

/* A click on this place of the terminal: it selects a line of the list, and on the selected one it
 * is Enter.  *ret as of ui_key(). */
void ui_click(struct ui *ui, size_t row, size_t column, struct wish *ret);

/* Does the user still wait for the end of the wish with this ticket? */
bool ui_awaits(const struct ui *ui, unsigned ticket);
/* Give the output of the command of WISH_ASK; NULL: it failed, and the news says so if it is
 * awaited.  *ret as of ui_key(). */
void ui_asked(struct ui *ui, unsigned ticket, const char *text, struct wish *ret);

/* Show the form for a session in this directory.  Takes the supply. */
void ui_open_form(struct ui *ui, struct form_supply *supply, const char *directory);
/* The command of WISH_LINE has ended, and said this, a visible() line.  A line that was refused
 * stays open with what was typed. */
void ui_line_ended(struct ui *ui, unsigned ticket, const char *text, bool is_good);
/* The command of WISH_LAUNCH has ended, and said this, a visible() line. */
void ui_launched(struct ui *ui, const char *text, bool is_good);

/* WISH_COMPLETE: what the end of the line, or the branch in the form, can become, as `agentdeck help
 * --complete` prints it. */
void ui_completed(struct ui *ui, const char *text);
/* WISH_SHOW has ended.  A command line that failed is there again. */
void ui_shown(struct ui *ui, bool is_good);
/* Does the preview show changes, which Enter shows line by line? */
bool ui_has_diff(const struct ui *ui);
/* The session that the preview shows; NULL: none. */
struct item *ui_previewed(const struct ui *ui);
/* WISH_TYPE: all that was taken from ui->typing has arrived. */
void ui_typed(struct ui *ui);
/* The typed text could not be passed on; why is a visible() line.  The text becomes an unsent
 * message. */
void ui_type_failed(struct ui *ui, const char *why);
/* Before a frame: the session that the user types for may have ended. */
void ui_settle_typing(struct ui *ui);

/* How far the command for many is, "start: 3 of 12 sessions"; NULL: none runs.  The caller frees. */
char *ui_progress(const struct ui *ui) MUST_USE;

/* Show the news, a visible() line, until the next key.  A command that it advises becomes the key
 * that does the same. */
void ui_tell(struct ui *ui, const char *text, bool is_bad);
