/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include <fcntl.h>
#include <locale.h>

int main(int argc, char *argv[])
{
	/* Only how text is measured for tables: everything that is read or written by programs stays
	 * as in the C locale. */
	setlocale(LC_CTYPE, "");
	/* A file of ours that got the number of a closed standard descriptor would be printed into. */
	for (int fd = open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0 && fd <= STDERR_FILENO;)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return command_main(argc, argv);
}
