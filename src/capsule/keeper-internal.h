/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the keeper share.  Each calls only those below it.
 *
 *   keeper.c         the loop
 *   keeper-client.c  the clients, and what their frames ask for
 *   keeper-agent.c   the agent and its terminal
 *   keeper-stop.c    the end
 *   keeper-guest.c   the capsules of other sessions in this container
 *   keeper-send.c    what is sent to clients
 */
#pragma once

#include "base/loop.h"
#include "capsule/channel.h"
#include "capsule/history.h"
#include "capsule/pty-internal.h"

#include <sys/queue.h>

enum {
	KEEPER_CLIENTS_MAX = 256,
	/* A window that has this much to read lets the agent wait, as a slow terminal does... */
	KEEPER_UNSENT_MAX = 1 << 20,
	/* ...but if it reads nothing at all for this long, its connection ends. */
	KEEPER_STALL_MS = 2000,
	KEEPER_TYPED_MAX = 64 << 10, /* input that the agent has not read */
	KEEPER_NUDGE_MS = 50,        /* between the two sizes, so that a program sees both */
	KEEPER_GRACE_MS = 5000,      /* for SIGTERM; `docker stop` gives 10 s */
	KEEPER_REST_MS = 1000,       /* for what the agent left behind, after each signal */
	KEEPER_GUESTS_MAX = 8,
};

struct keeper;

struct client {
	LIST_ENTRY(client) link;
	struct keeper *keeper;
	struct channel channel;
	struct loop_source *source;
	uint32_t events;  /* that the source waits for */
	bool is_greeted;  /* it has said HELLO */
	bool is_view;     /* it gets the output */
	bool is_leaving;  /* it ends when all is sent */
	bool is_gone;     /* it has ended; freed before the next wait */
	bool wants_end;   /* it has said STOP */
	uint32_t version; /* that both use */
	int64_t sent_ms;  /* when it last took bytes, or had all */
};
LIST_HEAD(client_list, client);

enum keeper_stage {
	KEEPER_SERVING,
	KEEPER_ASKING_AGENT, /* SIGHUP and SIGTERM were sent to the agent */
	KEEPER_KILLING_AGENT,
	KEEPER_ASKING_REST, /* SIGTERM was sent to all others */
	KEEPER_KILLING_REST,
	KEEPER_DONE,
};

/* The capsule of another session in this container: a child. */
struct guest {
	pid_t pid;
	int fd;          /* a pidfd for clients, or -1 */
	char *directory; /* its capsule's, which is its name */
};

struct keeper {
	const char *path; /* of the capsule's directory */
	struct loop *loop;
	int directory; /* the capsule's */
	int listener;
	struct loop_source *listener_source, *master_source;
	uint32_t listener_events, master_events;
	struct pty pty;
	struct strbuf typed; /* input that the agent's terminal has not taken */
	struct history history;
	struct frame_status status;
	pid_t agent;    /* 0: none runs */
	int agent_fd;   /* a pidfd for clients, or -1 */
	bool was_shown; /* a window has seen this attempt */
	struct frame_secrets secrets;
	struct client_list clients;
	size_t client_count;
	struct loop_source *nudge, *stall, *stop,
		*forget;    /* timers; INT64_MAX while nothing is due */
	bool watches_stall; /* the timer for it is set */
	enum keeper_stage stage;
	int64_t rest_ms; /* of the stop: KEEPER_REST_MS, or less */
	struct guest guests[KEEPER_GUESTS_MAX];
	size_t guest_count;
	bool spares_guests; /* this stop ends the agent and what it left, and no guest */
	bool is_left;       /* the session of this capsule has no run: the last guest ends it */
};

/* --- keeper-agent.c --- */

/* Watch the agent and its terminal. */
int keeper_watch(struct keeper *keeper, struct error *err);
/* Start the agent that START asks for; the client gets the answer. */
void keeper_start(struct keeper *keeper, struct client *client, const struct frame *frame);
/* Keep the secrets that the starts of a run may name. */
void keeper_keep_secrets(struct keeper *keeper, struct client *client, const struct frame *frame);
/* Type to the agent. */
void keeper_type(struct keeper *keeper, const void *data, size_t length);
/* Show what there is to a new window, then nudge the agent if it drew for an earlier one. */
void keeper_show(struct keeper *keeper, struct client *client, const struct frame_view *view);

/* --- keeper-client.c --- */

int clients_listen(struct keeper *keeper, struct error *err);
void clients_free(struct keeper *keeper);
/* Before each wait: free the clients that are gone, continue what had to wait, and choose the
 * events to wait for. */
void clients_refresh(struct keeper *keeper);

/* --- keeper-stop.c --- */

/* End the agent.  Then, without guests, all others and the capsule. */
void stop_agent(struct keeper *keeper, int64_t grace_ms);
/* End all of it, guests as well. */
void stop_begin(struct keeper *keeper, int64_t grace_ms);
/* A child has ended, or a deadline has come. */
void stop_continue(struct keeper *keeper);
void stop_late(void *keeper);

/* --- keeper-guest.c --- */

/* Start the guest that the frame names, unless it lives; the client gets the answer. */
void keeper_add_guest(struct keeper *keeper, struct client *client, const struct frame *frame);
/* A child was reaped.  A guest's: what it left behind ends. */
void guests_reap(struct keeper *keeper, pid_t pid);
void guests_signal(const struct keeper *keeper, int signal_number);
/* Is this process a guest, or below one? */
bool guests_have(const struct keeper *keeper, pid_t pid);
/* May the container end now, since nothing is left in it that is to run? */
bool guests_have_gone(const struct keeper *keeper);

/* --- keeper-send.c --- */

void client_refuse(struct client *client, enum frame_refusal why, const char *text);
void client_send_status(struct client *client);
/* Send what is in the channel's buffer, and with it a copy of this descriptor (-1: none). */
void client_flush_with(struct client *client, int descriptor);
/* Send what is in the channel's buffer to as many as take it. */
void client_flush(struct client *client);
/* To all windows. */
void clients_show(struct keeper *keeper, enum frame_type type, const void *data, size_t length);
void clients_show_exit(struct keeper *keeper);
/* Do the windows read so slowly that the agent must wait? */
bool clients_are_clogged(const struct keeper *keeper);
/* End the connections that have read nothing for too long. */
void clients_drop_stalled(struct keeper *keeper);
