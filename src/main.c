/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include <locale.h>

int main(int argc, char *argv[])
{
	/* Only how text is measured for tables: everything that is read or written by programs stays
	 * as in the C locale. */
	setlocale(LC_CTYPE, "");
	return command_main(argc, argv);
}
