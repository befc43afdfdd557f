/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/machine.h"

#include "base/fsutil.h"
#include "base/process.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <uuid/uuid.h>

enum { HOST_SIZE = 256, FILE_MAX = 256, RAW_LENGTH = 32 };

/* Never change it: another value makes every run another machine's. */
static const uuid_t application = { 0xa8, 0x41, 0x5e, 0x0b, 0x6c, 0x1d, 0x4e, 0x72,
				    0x9f, 0x30, 0x27, 0xd5, 0x84, 0xe9, 0x13, 0xc6 };

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

struct machine_stamp machine_stamp(void)
{
	return (struct machine_stamp){
		.boot_id = process_boot_id(),
		.id = is_empty(machine_id()) ? NULL : machine_id(),
		.host = machine_host(),
	};
}

enum machine_relation machine_relation(const char *boot_id, const char *written_machine_id)
{
	const char *now = machine_id();
	const bool same_boot = process_same_boot(boot_id);
	/* Containers of one kernel share its boot id and have a machine-id each. */
	if (!is_empty(written_machine_id) && !streq(written_machine_id, now) &&
	    (*now || !same_boot))
		return MACHINE_OTHER;
	return same_boot ? MACHINE_THIS_BOOT : MACHINE_EARLIER_BOOT;
}
