/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is said on a capsule's socket: frames, as bytes.  Shared by the capsule, the view and the
 * driver of the main program.  Pure: no input, no output.  docs/containers.md has the order of the
 * frames and what each side does when the other one dies.
 *
 * A frame is a header of FRAME_HEADER bytes and a payload: the payload's length (32 bits), the type
 * (8 bits), 24 bits of zero.  All numbers are little-endian.  A text is its length (32 bits) and
 * its bytes, without a NUL.  Each type has a greatest length; a longer frame is broken, and so is
 * one with bytes left over.
 *
 * The first frame of each side is HELLO.  The client says the highest version that it knows, the
 * capsule answers with the one that both use.  The header and HELLO never change.
 */
#pragma once

#include "base/text.h"

/* Version 2 has SECRETS, and version 3 has GUEST. */
enum { FRAME_VERSION = 3, FRAME_VERSION_SECRETS = 2, FRAME_VERSION_GUESTS = 3 };

enum frame_type {
	FRAME_HELLO = 1, /* both: version, token; the capsule's has no token */
	FRAME_STATUS,    /* client: asks.  capsule: the status of the agent */
	FRAME_START,     /* client: start an agent */
	FRAME_STARTED,   /* the agent's process itself, before it executes the agent */
	FRAME_VIEW,      /* client: show me the agent of this attempt */
	FRAME_REPLAY,    /* capsule: what the agent wrote before */
	FRAME_OUTPUT,    /* capsule: what it writes now */
	FRAME_INPUT,     /* client: what is typed to it */
	FRAME_RESIZE,    /* client: the window's new size */
	FRAME_EXIT,      /* capsule: the agent has ended, a status */
	FRAME_STOP,      /* client: end the agent, and then the capsule */
	FRAME_REPORT,    /* hook: a report was written.  capsule: the same, to its views */
	FRAME_HEARTBEAT, /* client: are you there?  capsule: the same number */
	FRAME_REFUSED,   /* capsule: why it does not do what the client asked for */
	FRAME_BYE,       /* both: I end this connection on purpose */
	FRAME_SECRETS,   /* client: what the agents of a run get in their environment */
	/* client: start a guest, the capsule of another session.  capsule: it lives; or, before
	 * BYE, the agent has ended and guests live */
	FRAME_GUEST,
	FRAME_TYPE_COUNT
};

enum {
	FRAME_HEADER = 8,
	FRAME_TOKEN_MAX = 128,
	FRAME_RUN_MAX = 39,
	FRAME_START_MAX = 4 << 20,  /* payload of START and SECRETS: argv and environment */
	FRAME_OUTPUT_MAX = 64 << 10 /* payload of REPLAY, OUTPUT, INPUT; the writer cuts */
};

struct frame {
	enum frame_type type;
	const unsigned char *payload; /* borrowed from the bytes */
	size_t length;
};

/* The next frame at data.  *ret_size: how many bytes of data it takes.  FRAME_PARTIAL: more bytes
 * are needed.  ERROR_CORRUPT: no frame of any version starts like this. */
enum { FRAME_PARTIAL = 1 };
int frame_next(const void *data, size_t length, struct frame *ret, size_t *ret_size,
	       struct error *err);

/* Which attempt of which run. */
struct frame_attempt {
	char run[FRAME_RUN_MAX + 1];
	uint32_t number;
};

struct frame_size {
	uint16_t columns, rows;
};

struct frame_hello {
	uint32_t version;
	char token[FRAME_TOKEN_MAX + 1];
};

enum frame_phase {
	FRAME_EMPTY,   /* no agent was started */
	FRAME_RUNNING, /* the agent runs */
	FRAME_ENDED,   /* it has ended */
};

struct frame_status {
	enum frame_phase phase;
	struct frame_attempt attempt; /* empty for FRAME_EMPTY */
	/* For FRAME_ENDED: the signal that ended it, or 0 and its exit status. */
	uint8_t code, signal;
	bool by_stop; /* it ended because the capsule was told to stop */
};

struct frame_start {
	struct frame_attempt attempt;
	struct strvec argv;
	/* NAME=VALUE, over the capsule's own.  NAME without a value: the one of SECRETS. */
	struct strvec environment;
	char *directory;
	struct frame_size size;
};
/* Wipes the environment. */
void frame_start_clear(struct frame_start *start);
#define cleanup_frame_start CLEANUP(frame_start_clear)

/* The starts of this run may name these variables.  A later SECRETS replaces them.  The capsule
 * forgets them when an agent has run for keep_ms. */
struct frame_secrets {
	char run[FRAME_RUN_MAX + 1];
	uint32_t keep_ms;
	struct strvec variables; /* NAME=VALUE */
};
/* Wipes the values. */
void frame_secrets_clear(struct frame_secrets *secrets);
#define cleanup_frame_secrets CLEANUP(frame_secrets_clear)

struct frame_guest {
	char *directory;   /* of its capsule, absolute */
	char *variable;    /* "NAME=VALUE" of its environment, which says whose it is */
	bool ends_with_it; /* no other session is to run here: the last guest ends the container */
};
void frame_guest_clear(struct frame_guest *guest);
#define cleanup_frame_guest CLEANUP(frame_guest_clear)

struct frame_view {
	struct frame_attempt attempt;
	struct frame_size size;
};

enum frame_refusal {
	FRAME_NOT_POSSIBLE = 1, /* another agent runs, or the capsule ends */
	FRAME_NOT_EXECUTED,     /* the agent's program could not be executed */
	FRAME_OTHER_ATTEMPT,    /* the attempt to view is not the last one */
	FRAME_NOT_UNDERSTOOD,   /* the client's mistake; the connection ends */
};

struct frame_refused {
	enum frame_refusal why;
	char *text;
};

/* Append one frame.  The caller keeps the limits of the texts (frame_next() of the other side
 * refuses what is longer). */
void frame_put(struct strbuf *out, enum frame_type type, const void *payload, size_t length);
/* REPLAY, OUTPUT, INPUT: as many frames as the bytes need. */
void frame_put_bytes(struct strbuf *out, enum frame_type type, const void *data, size_t length);
void frame_put_hello(struct strbuf *out, const struct frame_hello *hello);
void frame_put_start(struct strbuf *out, const struct frame_start *start);
void frame_put_secrets(struct strbuf *out, const struct frame_secrets *secrets);
void frame_put_guest(struct strbuf *out, const struct frame_guest *guest);
void frame_put_started(struct strbuf *out, const struct frame_attempt *attempt);
/* type: STATUS or EXIT.  A client that asks sends a STATUS without a payload: frame_put(). */
void frame_put_status(struct strbuf *out, enum frame_type type, const struct frame_status *status);
void frame_put_view(struct strbuf *out, const struct frame_view *view);
void frame_put_resize(struct strbuf *out, const struct frame_size *size);
void frame_put_number(struct strbuf *out, enum frame_type type, uint32_t number);
void frame_put_refused(struct strbuf *out, enum frame_refusal why, const char *text);

/* The contents of a frame of that type.  ERROR_CORRUPT: they are no such contents. */
int frame_get_hello(const struct frame *frame, struct frame_hello *ret, struct error *err);
/* *ret: frame_start_clear(). */
int frame_get_start(const struct frame *frame, struct frame_start *ret, struct error *err);
/* *ret: frame_secrets_clear(). */
int frame_get_secrets(const struct frame *frame, struct frame_secrets *ret, struct error *err);
/* *ret: frame_guest_clear(). */
int frame_get_guest(const struct frame *frame, struct frame_guest *ret, struct error *err);
int frame_get_status(const struct frame *frame, struct frame_status *ret, struct error *err);
int frame_get_view(const struct frame *frame, struct frame_view *ret, struct error *err);
int frame_get_resize(const struct frame *frame, struct frame_size *ret, struct error *err);
/* STOP: milliseconds of grace.  HEARTBEAT: any number. */
int frame_get_number(const struct frame *frame, uint32_t *ret, struct error *err);
/* ret->text is the caller's. */
int frame_get_refused(const struct frame *frame, struct frame_refused *ret, struct error *err);

static inline bool frame_same_attempt(const struct frame_attempt *a, const struct frame_attempt *b)
{
	return streq(a->run, b->run) && a->number == b->number;
}
