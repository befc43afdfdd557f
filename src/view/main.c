/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-view DIRECTORY RUN ATTEMPT [-- COLLECT...]
 *
 * What view/view.h says.
 */
#include "view/view.h"

int main(int argc, char *argv[])
{
	return view_main(argc - 1, argv + 1);
}
