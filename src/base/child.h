/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Running programs: the only caller of posix_spawn(3) and waitid(2).
 *
 * Sequence: child_start(), then child_finish() exactly once; or child_run(), which is both; or
 * child_foreground() for a program that takes over the terminal.
 *
 * A child gets an empty signal mask and default signal actions, whatever ours are; descriptors 0, 1
 * and 2 and no others; and an argv that no shell reads.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>

struct child_request {
	/* argv[0] without a slash is found as program_path() does. */
	const char *const *argv;
	char *const *environment; /* NULL: ours */
	/* Descriptor of the working directory; 0: ours (0 cannot be a directory here). */
	int directory;
	const char *input; /* what the child reads from descriptor 0; NULL: /dev/null */
	size_t input_length;
	/* An open descriptor that is the child's descriptors 0 and 1, so that we read no output; 0:
	 * none. */
	int socket;
	int source;       /* descriptor that becomes its descriptor 0; 0: none.  Borrowed */
	bool gate;        /* descriptor 0 is a pipe whose other end is child.gate */
	bool new_session; /* setsid(2): the terminal's signals do not reach it */
	/* The child gets SIGTERM when this process ends, also by SIGKILL.  The thread that starts
	 * it must not end before. */
	bool bound;
	/* The child's output goes to files in memory instead of pipes, so that it neither waits for
	 * us to read nor dies when we end.  For children with bounded output.  We read the files
	 * when it has ended: at most the last max_output bytes. */
	bool outlives_us;
	/* Descriptor of a file that gets all of its output; 0: none.  max_output is the most of its
	 * end that is read.  It gets a session to itself, and a timeout ends all of that. */
	int log;
	/* A connection to the process that is to start it instead of us (spawner.h); 0: none.  With
	 * success it becomes the child's. */
	int spawner;
	size_t max_output; /* 0: 1 MiB; more output is ERROR_CHILD */
	bool kill_at_max; /* more output kills the child at once; for a child that changes nothing */
};

struct child {
	const char *name; /* borrowed from argv[0], for messages */
	pid_t pid;
	int pidfd;
	int gate;           /* write end of a gated child's descriptor 0, else -1 */
	int output, errors; /* read ends, or files */
	int spawner;        /* tells how it ended, because it is no child of ours; 0: it is one */
	bool has_files;     /* output and errors are files */
	bool leads;         /* it is killed with its process group */
	bool kill_at_max;   /* of the request */
	int input;          /* write end while there is input left, else -1 */
	const char *input_next;
	size_t input_left, max_output;
	/* Set by the caller: another one with pipes, whose output is this one's input; or NULL.
	 * child_finish() of this one also reads the errors of that one: a full pipe would hold up
	 * both. */
	struct child *before;
	struct strbuf said; /* its errors that were read before its own child_finish() */
};

struct child_result {
	int exit_status;      /* 0..255, or 128 + signal number */
	struct strbuf output; /* what it wrote to descriptor 1 */
	struct strbuf errors; /* what it wrote to descriptor 2, at most 64 KiB of it */
};

/* CHILD_NOT_INSTALLED: there is no such program. */
enum { CHILD_NOT_INSTALLED = 1 };

int child_start(const struct child_request *request, struct child *ret, struct error *err);

/* Feed, read and wait until the child itself has ended (not until its pipes have: a daemon that it
 * leaves behind holds them) or deadline_ms of clock_ms() has passed; then it is killed and the
 * error is ERROR_TIMEOUT: *ret has only its errors.  Ends *child in every case.  *ret:
 * child_result_free(). */
int child_finish(struct child *child, int64_t deadline_ms, struct child_result *ret,
		 struct error *err);

/* List the children that this process had before it executed our program (execve(2)).  Those that
 * have ended are reaped.  *ret, the caller's array, has pid and pidfd of the others; call
 * child_abandon() when the pidfd is readable.  Call this before the first child_start(): later
 * children cannot be told apart. */
int child_inherit(struct child **ret, size_t *ret_count, struct error *err);

/* End it and ignore its output: kill, reap, close.  Fine after child_finish(). */
void child_abandon(struct child *child);

/* Reap and close a child that has ended (its pidfd is readable).  Returns its exit status, 0..255,
 * or 128 + signal number. */
int child_reap(struct child *child);

/* Start and finish within timeout_ms. */
int child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
	      struct error *err);

/* Run with our own descriptors 0, 1, 2 until it ends, however long.  watch (may be NULL):
 * on_readable is called whenever fd (-1: none) is readable in the meantime, until it returns
 * false.  may_go_on (NULL: none), of the first watch alone, is asked once, at deadline_ms of
 * clock_ms(): if it says no, the child is killed. */
struct child_watch {
	int fd;
	bool (*on_readable)(void *data);
	void *data;
	const struct child_watch *next; /* another one; NULL: none */
	int64_t deadline_ms;
	bool (*may_go_on)(void *data);
	const bool *ends; /* of the first watch: true after on_readable ends the child; or NULL */
};
int child_foreground(const char *const *argv, char *const *environment,
		     const struct child_watch *watch, int *ret_exit_status, struct error *err);
/* Like child_foreground(), with child_request.bound. */
int child_foreground_bound(const char *const *argv, const struct child_watch *watch,
			   int *ret_exit_status, struct error *err);

/* Start a program with these descriptors 0, 1 and 2, which the caller keeps.  Of the request argv,
 * environment, directory and new_session count.  child_reap_any() reaps it.  CHILD_NOT_INSTALLED as
 * above. */
int child_spawn(const struct child_request *request, const int stdio[3], pid_t *ret,
		struct error *err);
/* For the process that gets all orphans: reap one child that has ended.  False: none has, or the
 * next one is_kept for its own owner (NULL: none is). */
bool child_reap_any(bool (*is_kept)(pid_t pid), pid_t *ret, int *ret_status);

void child_result_free(struct child_result *result);
#define cleanup_child_result CLEANUP(child_result_free)

/* What a child that outlives us has said on standard error from this offset on.  It may still run. */
void child_read_errors(const struct child *child, off_t from, struct strbuf *ret);

/* First line of errors (or output when there is none), visible, of at most 500 bytes; "no message"
 * when the child said nothing.  The caller frees. */
char *child_last_words(const struct child_result *result) MUST_USE;
