/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The way to a host: what differs between the kinds of hosts.  hosts.h does what they share.
 */
#pragma once

#include "base/sha256.h"
#include "driver/link/link.h"
#include "engine/deck/deck.h"

/* How a message begins if ssh has printed something, such as an address to visit, and not ended. */
#define WAY_WAITS "ssh still waits for an answer"

/* The files of a host in our runtime directory. */
struct way_files {
	int directory;
	char name[SHA256_TEXT_SIZE]; /* a digest: a host's name may be too long for a socket */
	/* Like that, for what is known of the host, whatever ssh's configuration says. */
	char lasting[SHA256_TEXT_SIZE];
	char *control; /* path of the socket; NULL: ssh could not use it */
	char *since;   /* name of the file that was made when the host became unreachable */
	char *lock;    /* name of the file of the one that connects */
};

/* Is there a socket, and so perhaps a connection? */
bool way_has_socket(const struct way_files *files);

enum way_ability {
	WAY_LOGIN,   /* a connection that lasts, which its user can make and end */
	WAY_FORWARD, /* ports */
	WAY_SCALE,   /* stop and start the host itself */
	WAY_ABILITIES
};

/* A command line for our own descriptors. */
struct way_order {
	const struct remote *remote;
	const char *control; /* the socket of a connection that answers; NULL: there is none */
	const char *once;    /* the id of the command; NULL: it has none */
	const struct strvec *words; /* behind "agentdeck" */
	bool is_terminal;           /* else they are pipes */
};

/* Functions are NULL where there is nothing to do. */
struct way {
	/* Why it does not work there, and what does; NULL: it works. */
	const char *lacks[WAY_ABILITIES];
	bool asks_user; /* argv() may make a connection of its own, and ask for a password */
	/* What argv() runs ends with the status of the command, or with WAY_LOST.  If not, only
	 * the host knows how the command ended. */
	bool is_sure;

	/* Open a link, within the remote's timeout. */
	int (*open)(struct deck *deck, const struct remote *remote, const struct way_files *files,
		    struct link **ret, struct error *err);
	/* Only over a connection that is there, within a second. */
	int (*open_at_once)(const struct remote *remote, const struct way_files *files,
			    struct link **ret);
	void (*argv)(const struct way_order *order, struct strvec *ret);
	/* False: the connection is replaced, because it does not answer. */
	bool (*check)(const struct remote *remote, const struct way_files *files);
	/* Returns whether there was a connection. */
	bool (*end)(const struct remote *remote, const struct way_files *files);
	/* See hosts_login() and hosts_ask_system(). */
	int (*login)(struct deck *deck, const struct remote *remote, const struct way_files *files,
		     struct error *err);
	int (*ask_system)(const struct remote *remote, const struct way_files *files, char **ret,
			  struct error *err);
	/* See hosts_scale(). */
	int (*scale)(const struct remote *remote, int64_t replicas, struct error *err);
	/* Fill in what the user has left out, and what may mean another host tomorrow. */
	int (*settle)(struct remote *remote, struct error *err);
};

enum {
	WAY_LOST = 255,      /* ssh(1) */
	WAY_SIGNALLED = 128, /* and the number of the signal */
	WAY_AS_WANTED = 1,   /* it has that many replicas already */
	WAY_SILENT = 1,      /* there is no connection */
	WAY_CONNECTED = 1    /* there is one already */
};

extern const struct way way_ssh, way_kubernetes;
const struct way *way_of(const struct remote *remote);

/* ERROR_INVALID: that does not work with a host of its kind. */
int way_check(const struct remote *remote, enum way_ability ability, struct error *err);
