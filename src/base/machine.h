/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which machine this is, and whether a record on disk belongs to it.
 *
 * A home can be shared by several machines (NFS), and move from one to another.  A boot id alone
 * does not tell an earlier boot of this machine from another machine; machine-id(5) does.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>

enum { MACHINE_ID_SIZE = 37 };

/* The machine's id for agentdeck: a UUID derived from its machine-id, which itself must stay
 * private (machine-id(5)).  "" when the machine has none.  Static storage. */
const char *machine_id(void);

/* The id that follows from this content of /etc/machine-id.  False: it is not a machine id ("",
 * "uninitialized"). */
bool machine_derive_id(const char *content, char ret[MACHINE_ID_SIZE]);

/* The host name, for people; it never decides anything.  "" when it cannot be read.  Static
 * storage. */
const char *machine_host(void);

/* What a record says of where it was written.  Static storage. */
struct machine_stamp {
	const char *boot_id, *id, *host; /* id NULL: the machine has none */
};
struct machine_stamp machine_stamp(void);

/* What we call a machine whose name was not recorded. */
#define MACHINE_UNNAMED "another machine"

enum machine_relation {
	MACHINE_THIS_BOOT,    /* pids and times since boot mean something */
	MACHINE_EARLIER_BOOT, /* of this machine: no process of it is left */
	MACHINE_OTHER,        /* this machine cannot know what is left of it */
};

/* To which machine and boot does a record with these ids belong?  Either may be NULL when the record
 * lacks it.  Without a machine id the boot id alone decides, as in the versions that wrote none. If
 * this machine has no id, a record with a machine id and another boot id is another machine's. */
enum machine_relation machine_relation(const char *boot_id, const char *written_machine_id);
