/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands: each verb is one `const struct command` in its own file, listed in cli/cmd/commands.h.
 * The parser, --help, the manual pages and the shell completions all read these tables
 * (docs/adding-a-command.md).
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/run/limit.h"

#include <stddef.h>

/* The type of the variable that an option sets. */
enum option_type {
	OPTION_FLAG,    /* bool */
	OPTION_TEXT,    /* const char *, borrowed from the command line */
	OPTION_MESSAGE, /* the same, from app->messages: the word leaves the command line */
	OPTION_LIST,    /* struct strvec: the option may be given several times */
	OPTION_NUMBER,  /* int64_t from least to most */
	OPTION_CHOICE,  /* an enum, by its words */
	OPTION_LIMIT,   /* struct limit_change, of which it sets one limit */
};

/* What completion offers for a value or an operand. */
enum value_kind {
	VALUE_BY_ARGUMENT, /* what its placeholder says; nothing, if that is not known */
	VALUE_SESSION,
	VALUE_AGENT,
	VALUE_GROUP,
	VALUE_PROFILE,
	VALUE_DIRECTORY,
	VALUE_HOST,
	VALUE_ROLE,   /* a name of [roles], or a directory */
	VALUE_BRANCH, /* of the repository that the first operand is in, or else the caller */
	VALUE_FILE,
	VALUE_PROGRAM,
	VALUE_COMMAND,
	VALUE_KEY,            /* of config.toml */
	VALUE_KEY_TO_SET,     /* the same, without the tables and with their members */
	VALUE_REMOVED,        /* a session in the trash */
	VALUE_CONVERSATION,   /* an earlier one of the session that the first operand names */
	VALUE_AGENT_ARGUMENT, /* of the agent that a new session would get */
};

/* What completion offers for a value, an operand or a word of the agent's: values of a kind, and
 * these words. */
struct offer {
	enum value_kind kind;
	const char *const *words; /* borrowed; NULL is left out */
	size_t count;
	bool is_list;                /* several of the words, with commas between them */
	const char *lead;            /* what precedes the list in its word; NULL: nothing */
	const char *agent, *command; /* VALUE_AGENT_ARGUMENT: as --agent and -c say, or NULL */
	const struct offer *also;    /* these, too; or NULL */
};

/* What a command does at most, for callers that must know it before they run one. */
enum command_kind {
	COMMAND_SAME,     /* of an option: it changes nothing about that */
	COMMAND_READS,    /* changes nothing; it may write the log and what only saves time */
	COMMAND_CHANGES,  /* sessions, settings, files */
	COMMAND_FOLLOWS,  /* reads, and prints what is new until it is ended */
	COMMAND_TERMINAL, /* needs the terminal of its user */
	COMMAND_INTERNAL, /* called by agentdeck itself, not by people */
	COMMAND_KINDS
};
/* "reads", "changes", ...; NULL for COMMAND_SAME.  Static. */
const char *command_kind_name(enum command_kind kind);

struct command_option {
	char letter;      /* 'j', 0 for none */
	const char *name; /* "json" */
	/* "TITLE"; NULL: it takes none.  "[=FILE]": without one the text is "" */
	const char *argument;
	const char *help; /* one line, no full stop */

	enum option_type type;
	bool is_of_app; /* the variable is in struct app, else in the command's own options */
	size_t offset;  /* of the variable in its struct */
	int64_t least, most;
	const char *unit;   /* "a whole number of seconds"; NULL: "a number" */
	struct offer offer; /* a choice takes only its words: a word's index is the value */
	bool is_hidden;     /* help and completion do not show it */
	enum limit limit;
	enum command_kind kind; /* of the command with this option */
};

/* The end of a line in an option table: the variable that the option sets.  It is a member of the
 * file's `struct options`, or of struct app.  A member that does not exist, or has another type,
 * does not compile. */
#define TO_FLAG(member) .type = OPTION_FLAG, MEMBER(struct options, member, bool)
#define TO_TEXT(member) .type = OPTION_TEXT, MEMBER(struct options, member, const char *)
/* The program frees the struct strvec. */
#define TO_LIST(member)     .type = OPTION_LIST, MEMBER(struct options, member, struct strvec)
#define TO_MESSAGE(member)  .type = OPTION_MESSAGE, MEMBER(struct options, member, const char *)
#define TO_APP_FLAG(member) .type = OPTION_FLAG, OF_APP(member, bool)
#define TO_APP_TEXT(member) .type = OPTION_TEXT, OF_APP(member, const char *)
#define TO_APP_LIST(member) .type = OPTION_LIST, OF_APP(member, struct strvec)
#define TO_NUMBER(member, from, to)                           \
	.type = OPTION_NUMBER, .least = (from), .most = (to), \
	MEMBER(struct options, member, int64_t)
#define TO_SECONDS(member, from, to) \
	TO_NUMBER(member, from, to), .unit = "a whole number of seconds"
/* list: an array of words, by the values of the enum. */
#define TO_CHOICE(member, list) \
	.type = OPTION_CHOICE, OFFER(list), MEMBER(struct options, member, unsigned)
#define TO_LIMIT(member, which) \
	.type = OPTION_LIMIT, .limit = (which), MEMBER(struct options, member, struct limit_change)
/* A text for which completion offers these words; several of them, with commas between; these
 * values. */
#define TO_WORD(member, list)    TO_TEXT(member), OFFER(list)
#define TO_WORDS(member, list)   TO_WORD(member, list), .offer.is_list = true
#define TO_VALUE(member, values) TO_TEXT(member), .offer.kind = (values)

#define OFFER(list)            .offer.words = (list), .offer.count = ARRAY_SIZE(list)
#define OF_APP(member, c_type) .is_of_app = true, MEMBER(struct app, member, c_type)
/* NOLINTBEGIN(bugprone-macro-parentheses): a member and a type cannot have any */
#define MEMBER(in, member, c_type) \
	.offset = offsetof(in, member) + 0 * sizeof(_Generic(&((in *)0)->member, c_type * : 0))
/* NOLINTEND(bugprone-macro-parentheses) */

/* The file's `options` and `struct options`, in its struct command. */
#define OWN_OPTIONS .options = options, .options_size = sizeof(struct options)

/* For each command that takes several sessions (cli/cmd/several.h). */
#define OPTIONS_SEVERAL                                                                   \
	{ 0, "all", NULL, "every session of the profile", TO_APP_FLAG(every) },           \
		{ 'g', "group", "GROUP", "the sessions of this group and those below it", \
		  TO_APP_TEXT(group) },                                                   \
	{                                                                                 \
		'q', "quiet", NULL, "print only errors", TO_APP_FLAG(quiet)               \
	}

/* For each command that can ask every host (cli/main/fleet.h). */
#define OPTION_ALL_HOSTS                                                                    \
	{                                                                                   \
		'A', "all-hosts", NULL, "on this machine and on every host of config.toml", \
			TO_APP_FLAG(all_hosts)                                              \
	}

/* For each command that ends or starts what another machine may run. */
#define OPTION_TAKE_OVER                                                                      \
	{                                                                                     \
		0, "take-over", NULL, "also if another machine ran it and does not any more", \
			TO_APP_FLAG(takes_over)                                               \
	}

enum command_flags {
	NEEDS_DECK = 1 << 0,     /* paths, settings, log */
	NEEDS_STORE = 1 << 1,    /* and the profile's instances; implies NEEDS_DECK */
	NEEDS_SESSION = 1 << 8,  /* and app->session, undamaged; implies NEEDS_STORE */
	HAS_JSON = 1 << 2,       /* takes --json */
	HAS_REST = 1 << 3,       /* words after "--" are not for us */
	IS_STRICT = 1 << 5,      /* writes what config.toml says: refuses a broken one */
	HAS_MESSAGE = 1 << 6,    /* operands behind the required ones leave the command line */
	KEEPS_SIGNALS = 1 << 7,  /* the signals that the caller blocks stay blocked */
	MAKES_PROFILE = 1 << 9,  /* creates a session, and its profile with it */
	TAKES_SEVERAL = 1 << 12, /* has OPTIONS_SEVERAL, and is called again for each session */
	FINDS_PROGRAMS = 1 << 4, /* says which programs are installed */
	WRITES_A_FILE = 1 << 10, /* with - as its last operand it prints that, and only reads */
	JSON_LINES = 1 << 13,    /* with HAS_JSON: objects, each on a line; else one value */
	NAMES_HOSTS = 1 << 11,   /* HOST:SESSION is for itself: it asks that host */
	ASKS_A_HOST = 1 << 15,   /* runs here for the session of a host, which it asks itself */
	IS_OF_PROGRAM = 1 << 14, /* AGENTDECK_HOST does not send it to another machine */
};

struct app;

struct command {
	const char *name; /* "session start" */
	enum command_kind kind;
	const char *arguments; /* synopsis of the operands, which also says how many may be given */
	const char *summary;   /* one line: help, completion, manual */
	const struct command_option *options; /* up to an entry with name NULL; or NULL */
	size_t options_size;                  /* of the struct whose members the options set */
	const void *defaults; /* its values where no option says otherwise; NULL: all zero */
	unsigned flags;
	/* What completion offers behind the words of line, where the synopsis does not say it;
	 * NULL: it says all.  behind_dashes: for a word of the agent's, behind "--". */
	struct offer (*offer)(const struct app *line, bool behind_dashes);
	/* The command that runs where this one cannot; NULL: it can.  Or NULL. */
	const struct command *(*instead)(const struct app *app);
	/* Returns 0, or an error; a positive value is the exit status. */
	int (*run)(struct app *app, struct error *err);
};

/* One call of the program. */
struct app {
	struct deck deck;
	const char *const *words; /* of the command line, behind the program's name */
	/* What the command line says: parse_command_line(). */
	const struct command *command; /* NULL: none */
	const char *family;            /* without a command: the first word of several */
	enum command_kind kind;        /* of the command, with these options */
	void *options;                 /* the command's own struct, filled */
	const char *profile;           /* NULL: the default */
	const char *host;              /* NULL: not given */
	size_t command_at;             /* the index of its first word in words */
	bool json, takes_over, quiet, wants_help, wants_version;
	const char *once;     /* --once: engine/deck/once.h; NULL: not given */
	const char *seat;     /* --seat: engine/terminal/seat.h; NULL: not given */
	const char *size;     /* --size: of the terminal of its user, elsewhere; or NULL */
	const char *via;      /* --via: the name of this host for the user's agentdeck; or NULL */
	bool is_bare;         /* the line has no command */
	bool all_hosts;       /* -A */
	bool every;           /* --all */
	const char *group;    /* NULL: not given */
	struct strvec named;  /* the sessions of --session */
	const char *instance; /* TAKES_SEVERAL: the base of the only one, for a worker */
	struct strvec operands;
	struct strvec rest;     /* the words after "--" */
	struct strvec messages; /* what was taken out of the command line */

	struct store_rows rows;
	const struct store_row *session; /* NEEDS_SESSION: that of the first operand, in rows */

	/* What its user must agree to first, and the option that does; for the failure (--json) */
	char *question;
	const char *consent; /* static */

	bool color; /* standard output is a terminal and NO_COLOR is not set */
};

void app_free(struct app *app);
#define cleanup_app CLEANUP(app_free)

/* Every command, NULL at the end, in the order of the help (cli/cmd/commands.h). */
extern const struct command *const commands[];

/* The short form of a command at this index, from 0: a session command works without the word
 * "session", and some commands have the name of a Unix command, too.  NULL: it has no more. */
const char *command_short_form(const struct command *command, size_t index);

/* The name in the overview of the commands: without the word "session", where that works. */
const char *command_usual_name(const struct command *command);

/* Options without a command, up to an entry with name NULL. */
extern const struct command_option global_options[];
/* What HAS_JSON adds to a command's own; NULL without it. */
const struct command_option *command_json_options(const struct command *command);
/* What TAKES_SEVERAL adds: only agentdeck itself gives it. */
extern const struct command_option worker_options[];
/* What every command takes, before, between and after its words. */
extern const struct command_option common_options[];

/* Returns the command of this name or short form, also a hidden one; NULL if there is none. */
const struct command *command_named(const char *name);
/* Why there is no such command, with those that were probably meant.  family: the first of its two
 * words, which exists; NULL: word is the first one.  Returns -1. */
int command_refuse(const char *family, const char *word, struct error *err);

/* Is the command's name word and another one? */
bool command_is_in(const struct command *command, const char *word);
/* Is word the first of several commands' names ("session")? */
bool command_is_family(const char *word);

/* How many operands the command takes, by its synopsis. */
struct operand_range {
	unsigned least, most;
};
struct operand_range command_operands(const struct command *command);

/* store_resolve() among these rows of the deck's profile.  The error names another profile that has
 * a session of this title. */
int app_find(struct app *app, const struct store_rows *rows, const char *target,
	     const struct store_row **ret, struct error *err);
/* Find the instance that target names among all (store_list()).  rows is the caller's; *ret is
 * borrowed from it. */
int app_resolve(struct app *app, const char *target, struct store_rows *rows,
		const struct store_row **ret, struct error *err);
