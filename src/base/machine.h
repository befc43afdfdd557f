/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which machine this is, and whether a record on disk belongs to it.
 *
 * A home can be shared by several machines (NFS), and move from one to another.  A boot id alone
 * does not tell an earlier boot of this machine from another machine; machine-id(5) does.
 *
 * Containers of one kernel share its boot id, and often have no machine-id, or that of their image.
 * Their PID namespaces differ, and each hides its processes from the others.
 *
 * The main program of a Pod or a job gives its host an id that lasts (engine/deck/incarnation.h).
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>

enum { MACHINE_ID_SIZE = 37 };

/* The machine's id for agentdeck: a UUID derived from its machine-id, which itself must stay
 * private (machine-id(5)).  "" when the machine has none.  Static storage. */
const char *machine_id(void);

/* From now on this process is on the host of this id, in its present incarnation: a record of
 * another PID namespace or boot of that host is of an incarnation that has ended. */
void machine_adopt(const char *id);

/* The id that follows from this content of /etc/machine-id.  False: it is not a machine id ("",
 * "uninitialized"). */
bool machine_derive_id(const char *content, char ret[MACHINE_ID_SIZE]);

/* The host name, for people; it never decides anything.  "" when it cannot be read.  Static
 * storage. */
const char *machine_host(void);

/* The PID namespace of this process: its inode, and when its PID 1 started, in clock ticks since
 * boot, as "4026532178:57341".  The kernel reuses inodes at once, and a PID 1 starts once.  Without
 * the second number where /proc hides PID 1 (hidepid=, proc(5)); "" when there is no /proc.  Static
 * storage. */
const char *machine_pid_namespace(void);

/* Does the machine id mean this machine, also after its next boot?  Not in a container that is made
 * from an image: its next one may have the same id at the same time, on this or another machine. */
bool machine_is_lasting(void);

/* A file name: prefix, this machine's id, suffix.  Machines that share a directory, and containers
 * that are no machines, get different names.  The caller frees. */
char *machine_file(const char *prefix, const char *suffix) MUST_USE;

/* Where a record was written.  All borrowed; NULL: not recorded. */
struct machine_stamp {
	const char *boot_id;
	const char *id; /* NULL here: the machine has none */
	const char *pid_namespace;
	const char *host;
};

/* The stamp of this machine, boot and PID namespace.  Static storage. */
struct machine_stamp machine_stamp(void);

/* Here, in that boot: no PID namespace of another boot than this one is known.  boot_id is
 * borrowed. */
struct machine_stamp machine_stamp_of_boot(const char *boot_id);

/* What people call the other machine that wrote the record: its host name, and what tells it from
 * this one if it has the name of this one.  The caller frees. */
char *machine_name(const struct machine_stamp *written) MUST_USE;

enum machine_relation {
	MACHINE_THIS_BOOT,    /* pids and times since boot mean something */
	MACHINE_EARLIER_BOOT, /* of this machine: no process of it is left */
	MACHINE_OTHER,        /* or another PID namespace: we cannot know what is left of it */
};

/* To which machine and boot does the record belong?  Without a machine id and a PID namespace the
 * boot id alone decides, as in the versions that wrote none.  If this machine has no id, a record
 * with a machine id and another boot id is another machine's.  So is one of another PID namespace,
 * unless that can only be an earlier boot of this machine. */
enum machine_relation machine_relation(const struct machine_stamp *written);
