/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/version.h"

/*
 * The program links version-data.c, which the build makes and which names the commit, in place of
 * this. A test takes this one, so that a commit does not link all tests again.
 */
const char agentdeck_version[] = PACKAGE_VERSION;
