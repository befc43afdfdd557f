/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>

int main(int argc, char *argv[])
{
	/* Only how text is measured for tables: everything that is read or written by programs stays
	 * as in the C locale. */
	setlocale(LC_CTYPE, "");
	/* A file that may grow no more (RLIMIT_FSIZE) is an error like a full disk, of which its user is told. */
	(void)signal(SIGXFSZ, SIG_IGN);
	/* A file of ours that got the number of a closed standard descriptor would be printed into. */
	for (int fd = open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0 && fd <= STDERR_FILENO;)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return command_main(argc, argv);
}
