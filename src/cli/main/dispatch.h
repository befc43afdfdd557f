/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Run the command that the command line names.  Returns the exit status of the program. */
int dispatch(int argc, char *argv[]);
