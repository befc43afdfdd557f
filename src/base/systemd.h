/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libsystemd, loaded when it is first needed: it and the six libraries that it loads take half of
 * the time in which a program with them starts.
 */
#pragma once

#include "base/error.h"

#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

#define SYSTEMD_FUNCTIONS(X)                \
	X(bus_add_match_async)              \
	X(bus_add_object_vtable)            \
	X(bus_call_async)                   \
	X(bus_call_method_async)            \
	X(bus_close)                        \
	X(bus_close_unref)                  \
	X(bus_emit_signal)                  \
	X(bus_error_copy)                   \
	X(bus_error_free)                   \
	X(bus_error_has_name)               \
	X(bus_get_description)              \
	X(bus_get_events)                   \
	X(bus_get_fd)                       \
	X(bus_get_timeout)                  \
	X(bus_is_open)                      \
	X(bus_match_signal_async)           \
	X(bus_message_append)               \
	X(bus_message_appendv)              \
	X(bus_message_close_container)      \
	X(bus_message_enter_container)      \
	X(bus_message_exit_container)       \
	X(bus_message_get_error)            \
	X(bus_message_get_sender)           \
	X(bus_message_is_method_error)      \
	X(bus_message_new_method_call)      \
	X(bus_message_new_method_return)    \
	X(bus_message_new_signal)           \
	X(bus_message_open_container)       \
	X(bus_message_read)                 \
	X(bus_message_read_array)           \
	X(bus_message_ref)                  \
	X(bus_message_set_auto_start)       \
	X(bus_message_skip)                 \
	X(bus_message_unref)                \
	X(bus_new)                          \
	X(bus_object_vtable_format)         \
	X(bus_open_system_with_description) \
	X(bus_path_encode)                  \
	X(bus_process)                      \
	X(bus_ref)                          \
	X(bus_reply_method_errorf)          \
	X(bus_reply_method_return)          \
	X(bus_send)                         \
	X(bus_set_address)                  \
	X(bus_set_bus_client)               \
	X(bus_set_description)              \
	X(bus_slot_unref)                   \
	X(bus_start)                        \
	X(bus_unref)                        \
	X(bus_wait)                         \
	X(journal_sendv)

/* sd.bus_new() is sd_bus_new(3).  Call none before systemd_load() has succeeded. */
struct systemd {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot have any */
#define SYSTEMD_MEMBER(name) __typeof__(sd_##name) *name;
	SYSTEMD_FUNCTIONS(SYSTEMD_MEMBER)
#undef SYSTEMD_MEMBER
};
extern struct systemd sd;

/* ERROR_SYSTEM: it is missing.  That is not ERROR_UNAVAILABLE: without it nothing is known of the
 * managers that run here. */
int systemd_load(struct error *err);
