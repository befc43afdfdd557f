/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/bus.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

char *bus_address_of_path(const char *path)
{
	struct strbuf address = { 0 };
	strbuf_adds(&address, "unix:path=");
	for (const char *c = path; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("-_/.\\*", *c))
			strbuf_add(&address, c, 1);
		else
			strbuf_addf(&address, "%%%02x", (unsigned char)*c);
	}
	return strbuf_take(&address);
}

static const char *peer_name(sd_bus *bus)
{
	const char *who;
	return sd.bus_get_description(bus, &who) < 0 ? "the peer" : who;
}

static int start(const char *address, bool direct, const char *who, sd_bus **ret)
{
	cleanup_bus sd_bus *bus = NULL;
	int r;

	if (address) {
		r = sd.bus_new(&bus);
		if (r >= 0)
			r = sd.bus_set_address(bus, address);
		if (r >= 0)
			r = sd.bus_set_bus_client(bus, !direct);
		if (r >= 0)
			r = sd.bus_set_description(bus, who);
		if (r >= 0)
			r = sd.bus_start(bus);
	} else {
		r = sd.bus_open_system_with_description(&bus, who);
	}
	if (r >= 0)
		*ret = TAKE_PTR(bus);
	return r;
}

int bus_connect(const char *address, bool direct, const char *who, int64_t deadline_ms,
		sd_bus **ret, struct error *err)
{
	if (systemd_load(err) < 0)
		return -1;
	for (;;) {
		int r = start(address, direct, who, ret);
		if (r >= 0)
			return 0;
		/* The listener's queue is full: many clients at once, or it is stopped. No event
		 * says when there is room: poll(2) does not wait for that. */
		if (r == -EAGAIN && clock_left_ms(deadline_ms) > 0) {
			clock_pause_until(clock_ms() + 5);
			continue;
		}
		if (r == -EAGAIN)
			return error_set(err, ERROR_TIMEOUT, "%s does not take connections", who);
		if (r == -ENOMEM)
			return error_set_errno(err, ENOMEM, "connect to %s", who);
		return error_set(err, ERROR_UNAVAILABLE, "%s: %s", address ? address : "system bus",
				 strerror(-r));
	}
}

int(bus_message_error)(struct error *err, int r)
{
	if (r == -EBADMSG || r == -ENXIO)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the answer over D-Bus is not what the interface promises");
	return error_set_errno(err, -r, "D-Bus message");
}

int bus_new_call(sd_bus *bus, const struct bus_method *method, sd_bus_message **ret,
		 struct error *err, const char *types, ...)
{
	cleanup_message sd_bus_message *call = NULL;
	va_list arguments;
	int r = sd.bus_message_new_method_call(bus, &call, method->name, method->path,
					       method->interface, method->method);
	if (r >= 0)
		r = sd.bus_message_set_auto_start(call, 0);
	va_start(arguments, types);
	if (r >= 0 && types)
		r = sd.bus_message_appendv(call, types, arguments);
	va_end(arguments);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = TAKE_PTR(call);
	return 0;
}

static int lost(sd_bus *bus, int r, struct error *err)
{
	if (r == -ENOMEM)
		return error_set_errno(err, ENOMEM, "talk to %s", peer_name(bus));
	return error_set(err, ERROR_UNAVAILABLE, "%s has closed the connection: %s", peer_name(bus),
			 strerror(-r));
}

int bus_wait(sd_bus *bus, const bool *done, int64_t deadline_ms, struct error *err)
{
	while (!*done) {
		int r = sd.bus_process(bus, NULL);
		if (r < 0)
			return lost(bus, r, err);
		if (*done)
			break;
		int left = clock_left_ms(deadline_ms);
		if (left == 0)
			return error_set(err, ERROR_TIMEOUT, "%s does not answer", peer_name(bus));
		if (r > 0)
			continue;
		r = sd.bus_wait(bus, (uint64_t)left * 1000);
		if (r < 0 && r != -EINTR)
			return lost(bus, r, err);
	}
	return 0;
}

struct answer {
	sd_bus_message *message;
	bool done;
};

static void answer_free(struct answer *answer)
{
	sd.bus_message_unref(answer->message);
}

static int take_answer(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	struct answer *answer = userdata;
	answer->message = sd.bus_message_ref(message);
	answer->done = true;
	return 1;
}

int bus_call(sd_bus *bus, sd_bus_message *call, int64_t deadline_ms, sd_bus_message **ret,
	     sd_bus_error *ret_refusal, struct error *err)
{
	CLEANUP(answer_free) struct answer answer = { 0 };
	cleanup_slot sd_bus_slot *slot = NULL;

	/* Without a limit of sd-bus: its default is 25 s, and our deadline may be later. */
	int r = sd.bus_call_async(bus, &slot, call, take_answer, &answer, UINT64_MAX);
	if (r < 0)
		return lost(bus, r, err);
	if (bus_wait(bus, &answer.done, deadline_ms, err) < 0)
		return -1;
	const sd_bus_error *refusal = sd.bus_message_get_error(answer.message);
	if (!refusal) {
		if (ret)
			*ret = TAKE_PTR(answer.message);
		return 0;
	}
	/* sd-bus, or a message bus, answers this for a peer that is gone. */
	if (sd.bus_error_has_name(refusal, SD_BUS_ERROR_NO_REPLY) ||
	    sd.bus_error_has_name(refusal, SD_BUS_ERROR_DISCONNECTED))
		return error_set(err, ERROR_UNAVAILABLE, "%s went away without an answer",
				 peer_name(bus));
	/* A message bus answers this when no process has the peer's name. */
	if (sd.bus_error_has_name(refusal, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd.bus_error_has_name(refusal, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return error_set(err, ERROR_UNAVAILABLE, "%s is not available: %s", peer_name(bus),
				 bus_refusal_text(refusal));
	/* The result is the error's number; after -ENOMEM nothing was copied. */
	(void)sd.bus_error_copy(ret_refusal, refusal);
	return BUS_REFUSED;
}

const char *bus_refusal_text(const sd_bus_error *refusal)
{
	if (!is_empty(refusal->message))
		return refusal->message;
	return refusal->name ? refusal->name : "refused without a reason";
}
