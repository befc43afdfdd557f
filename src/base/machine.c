/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/machine.h"

#include "base/fsutil.h"
#include "base/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid/uuid.h>

enum { HOST_SIZE = 256, FILE_MAX = 256, RAW_LENGTH = 32, NAMESPACE_SIZE = 48 };

/* The inode of the kernel's first PID namespace: PROC_PID_INIT_INO, never reused. */
#define FIRST_NAMESPACE 0xEFFFFFFCULL

/* Never change it: another value makes every run another machine's. */
static const uuid_t application = { 0xa8, 0x41, 0x5e, 0x0b, 0x6c, 0x1d, 0x4e, 0x72,
				    0x9f, 0x30, 0x27, 0xd5, 0x84, 0xe9, 0x13, 0xc6 };

/* The id of a host that a main program holds; "" without one. */
static char adopted[MACHINE_ID_SIZE];

void machine_adopt(const char *id)
{
	(void)snprintf(adopted, sizeof(adopted), "%s", id);
}

bool machine_derive_id(const char *content, char ret[MACHINE_ID_SIZE])
{
	uuid_t id;
	const size_t length = strspn(content, "0123456789abcdef");
	if (length != RAW_LENGTH || (content[length] && content[length] != '\n') ||
	    strspn(content, "0") == length)
		return false;
	uuid_generate_sha1(id, application, content, length);
	uuid_unparse_lower(id, ret);
	return true;
}

const char *machine_id(void)
{
	static char id[MACHINE_ID_SIZE];
	static bool is_read;
	if (*adopted)
		return adopted;
	cleanup_strbuf struct strbuf text = { 0 };
	if (!is_read && fs_read(AT_FDCWD, "/etc/machine-id", FILE_MAX, &text, NULL) == 0)
		(void)machine_derive_id(strbuf_text(&text), id);
	is_read = true;
	return id;
}

const char *machine_host(void)
{
	static char host[HOST_SIZE];
	if (!*host && gethostname(host, sizeof(host) - 1) < 0)
		*host = '\0';
	return host;
}

const char *machine_pid_namespace(void)
{
	static char text[NAMESPACE_SIZE];
	struct process_id first;
	struct stat st;
	if (*text || stat("/proc/self/ns/pid", &st) < 0)
		return text;
	const bool is_seen = process_identify(1, &first, NULL) == 0;
	(void)snprintf(text, sizeof(text), is_seen ? "%ju:%ju" : "%ju", (uintmax_t)st.st_ino,
		       is_seen ? (uintmax_t)first.start : 0);
	return text;
}

char *machine_file(const char *prefix, const char *suffix)
{
	const char *container = machine_is_lasting() ? "" : machine_pid_namespace();
	return xasprintf("%s%s%s%s%s%s", prefix, *machine_id() ? "-" : "", machine_id(),
			 *container ? "-" : "", container, suffix);
}

struct machine_stamp machine_stamp(void)
{
	return (struct machine_stamp){
		.boot_id = process_boot_id(),
		.id = is_empty(machine_id()) ? NULL : machine_id(),
		.pid_namespace = is_empty(machine_pid_namespace()) ? NULL : machine_pid_namespace(),
		.host = machine_host(),
	};
}

struct machine_stamp machine_stamp_of_boot(const char *boot_id)
{
	struct machine_stamp stamp = machine_stamp();
	stamp.boot_id = boot_id;
	if (!process_same_boot(boot_id))
		stamp.pid_namespace = NULL;
	return stamp;
}

struct namespace
{
	unsigned long long inode, start; /* start 0: not known */
};

/* Returns inode 0, which no namespace has, if the text is invalid. */
static struct namespace namespace_read(const char *text)
{
	struct namespace read = { 0 };
	int length = -1;
	if (sscanf(text, "%llu%n:%llu%n", &read.inode, &length, &read.start, &length) < 1 ||
	    text[length])
		return (struct namespace){ 0 };
	return read;
}

static bool namespace_same(const struct namespace *a, const struct namespace *b)
{
	return a->inode == b->inode && (a->start == b->start || !a->start || !b->start);
}

static bool file_says(const char *path, const char *const *words, size_t count)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(AT_FDCWD, path, FILE_MAX, &text, NULL) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		const size_t length = strlen(words[i]);
		if (starts_with(strbuf_text(&text), words[i]) &&
		    (text.length == length || text.data[length] == '\n'))
			return true;
	}
	return false;
}

/* Container managers that give each container its own id. systemd(1) writes the file, and keeps the
 * id.  A namespace inside such a container also sees the file, but has another PID 1. */
static bool keeps_its_id(void)
{
	static const char *const managers[] = { "lxc", "lxc-libvirt", "systemd-nspawn", "wsl" };
	static const char *const init[] = { "systemd" };
	return namespace_read(machine_pid_namespace()).inode == FIRST_NAMESPACE ||
	       (file_says("/run/systemd/container", managers, ARRAY_SIZE(managers)) &&
		file_says("/proc/1/comm", init, ARRAY_SIZE(init)));
}

bool machine_is_lasting(void)
{
	static enum { UNKNOWN, YES, NO } known;
	if (*adopted)
		return true;
	if (known == UNKNOWN)
		known = keeps_its_id() ? YES : NO;
	return known == YES;
}

/* Call this only if both the record and this process have a PID namespace. */
static enum machine_relation relation_of_namespaces(const struct machine_stamp *written)
{
	const struct namespace then = namespace_read(written->pid_namespace);
	const struct namespace now = namespace_read(machine_pid_namespace());
	const bool same_boot = process_same_boot(written->boot_id);
	/* A container without a machine id can have been on any machine. */
	const bool is_of_machine = same_boot ? written->id != NULL
					     : written->id || then.inode == FIRST_NAMESPACE;
	if (same_boot && namespace_same(&then, &now))
		return MACHINE_THIS_BOOT;
	/* A container that boots again keeps the kernel's boot id.  A namespace inside it is
	 * younger than its PID 1. */
	const bool is_over = !same_boot || *adopted ||
			     (now.inode != FIRST_NAMESPACE && then.start && then.start < now.start);
	return is_over && is_of_machine && machine_is_lasting() ? MACHINE_EARLIER_BOOT
								: MACHINE_OTHER;
}

/* Containers of one kernel share its boot id, and may have a machine-id each. */
static bool has_other_id(const struct machine_stamp *written)
{
	/* What ran here without the main program is not of its host. */
	if (*adopted)
		return written->boot_id && !streq(or_empty(written->id), adopted);
	return !is_empty(written->id) && !streq(written->id, machine_id()) &&
	       (*machine_id() || !process_same_boot(written->boot_id));
}

enum machine_relation machine_relation(const struct machine_stamp *written)
{
	if (has_other_id(written))
		return MACHINE_OTHER;
	if (written->boot_id && !is_empty(written->pid_namespace) && *machine_pid_namespace())
		return relation_of_namespaces(written);
	return process_same_boot(written->boot_id) ? MACHINE_THIS_BOOT : MACHINE_EARLIER_BOOT;
}

char *machine_name(const struct machine_stamp *written)
{
	if (is_empty(written->host))
		return xstrdup("another machine");
	if (!streq(written->host, machine_host()))
		return xstrdup(written->host);
	return xasprintf("%s (another %s)", written->host,
			 has_other_id(written) ? "machine id" : "PID namespace");
}
