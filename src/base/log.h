/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The log file: one structured line for every decision.
 *
 *   2026-04-14T09:08:01.000Z info start pid=4711 instance=0123abcd resume: id=... reason=...
 *
 * Only the engine and the commands log; base, model and driver return errors instead.  Text from
 * outside is made visible, so that a log line cannot play with the terminal that shows it.
 *
 * The journal can get the same lines.  A line that is lost, in either place, is not an error.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* Where lines go from here on: the file agentdeck.log below directory (a descriptor, duplicated).
 * Over 4 MiB it is moved to agentdeck.log.1; one such file is kept.  Before the call,
 * and when the file cannot be written, lines are dropped: a full disk must not stop a session.
 * component is the first word of each line ("start", "hook", "pane"); borrowed, and must stay
 * valid. */
void log_open(int directory, const char *component);

/* From the environment variable AGENTDECK_LOG: "debug", "info" (default), "warning", "error". */
void log_set_level(enum log_level level);

/* Every line from here on carries instance=<id>; NULL: none.  Copied. */
void log_set_instance(const char *id);

/* The run that the lines are about, for the journal; NULL: none.  Copied. */
void log_set_run(const char *run_id);

/* Every line from here on goes to systemd's journal too: MESSAGE, PRIORITY,
 * SYSLOG_IDENTIFIER=agentdeck, AGENTDECK_COMPONENT, and AGENTDECK_INSTANCE and AGENTDECK_RUN where
 * they are known.  A journal that is missing or blocked is not waited for.  False: built
 * without systemd; nothing was changed. */
bool log_use_journal(void);

void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
