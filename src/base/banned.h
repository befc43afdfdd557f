/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Functions that do not compile here.  Included by config.h's prelude in every translation unit of
 * ours (AM_CPPFLAGS, -include), after the system's own headers have declared them.
 */
#pragma once

#ifndef __cplusplus
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BANNED(function) use_of_##function##_is_banned_see_base_banned_h

#undef strcpy
#define strcpy(a, b) BANNED(strcpy)
#undef strcat
#define strcat(a, b) BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) BANNED(strncat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef system
#define system(command) BANNED(system)
#undef popen
#define popen(command, mode) BANNED(popen)
#undef mktemp
#define mktemp(template) BANNED(mktemp)
#undef tmpnam
#define tmpnam(s) BANNED(tmpnam)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef asctime
#define asctime(t) BANNED(asctime)
#undef atoi
#define atoi(s) BANNED(atoi)
#undef sleep
#define sleep(s) BANNED(sleep)
#undef usleep
#define usleep(s) BANNED(usleep)
#endif
