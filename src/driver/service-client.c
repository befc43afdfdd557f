/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/service-internal.h"

#include "base/clock.h"

#include <errno.h>
#include <time.h>

struct service_client {
	sd_bus *bus;
	char *owner;    /* the unique name of the supervisor that was there at the beginning */
	bool is_gone;
	service_each each; /* during service_client_read() */
	void *closure;
};

/* SERVICE_ABSENT. */
static int look_for_owner(sd_bus *bus, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *answer = NULL;
	int there;
	if (service_ask_bus(bus, "NameHasOwner", SERVICE_NAME, deadline_ms, &answer, err) < 0)
		return -1;
	int r = sd_bus_message_read(answer, "b", &there);
	if (r < 0)
		return bus_message_error(err, r);
	return there ? 0 : SERVICE_ABSENT;
}

/* A question about a supervisor that was there a moment ago. */
static int ask_about_owner(sd_bus *bus, const char *method, int64_t deadline_ms,
			   sd_bus_message **ret, struct error *err)
{
	struct error failure = { 0 };
	int r = service_ask_bus(bus, method, SERVICE_NAME, deadline_ms, ret, &failure);
	if (r == 0)
		return 0;
	if (failure.code == ERROR_UNAVAILABLE) {
		error_clear(&failure);
		return SERVICE_ABSENT;
	}
	if (err)
		*err = failure;
	else
		error_clear(&failure);
	return -1;
}

int service_owner(const char *user_runtime, pid_t *ret, struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *answer = NULL;
	int64_t deadline_ms = clock_ms() + SERVICE_OPEN_TIMEOUT_MS;
	uint32_t pid;

	int r = service_connect(user_runtime, deadline_ms, &bus, err);
	if (r == 0)
		r = look_for_owner(bus, deadline_ms, err);
	if (r == 0)
		r = ask_about_owner(bus, "GetConnectionUnixProcessID", deadline_ms, &answer, err);
	if (r != 0)
		return r;
	r = sd_bus_message_read(answer, "u", &pid);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = (pid_t)pid;
	return 0;
}

static int read_value(sd_bus_message *message, const char *key, struct service_session *session)
{
	const struct {
		const char *key, **value;
	} texts[] = {
		{ "profile", &session->profile },
		{ "title", &session->title },
		{ "group", &session->group },
		{ "agent", &session->agent },
		{ "path", &session->directory },
		{ "session_id", &session->session_id },
		{ "status", &session->status },
		{ "activity", &session->activity },
		{ "reason", &session->reason },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (streq(key, texts[i].key))
			return sd_bus_message_read(message, "v", "s", texts[i].value);
	if (streq(key, "desired")) {
		int desired;
		int r = sd_bus_message_read(message, "v", "b", &desired);
		session->desired = r > 0 && desired;
		return r;
	}
	bool since = streq(key, "since");
	if (!since && !streq(key, "activity_since"))
		return sd_bus_message_skip(message, "v");
	uint64_t us;
	int r = sd_bus_message_read(message, "v", "t", &us);
	if (r > 0)
		*(since ? &session->since_us : &session->activity_since_us) = (int64_t)us;
	return r;
}

static int read_session(sd_bus_message *message, struct service_session *session)
{
	int r = sd_bus_message_read(message, "s", &session->id);
	if (r > 0)
		r = sd_bus_message_enter_container(message, 'a', "{sv}");
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
		const char *key;
		r = sd_bus_message_read(message, "s", &key);
		if (r > 0)
			r = read_value(message, key, session);
		if (r >= 0)
			r = sd_bus_message_exit_container(message);
		if (r < 0)
			return r;
	}
	return r;
}

/* The match by name leaves it to the message bus who that is; a signal sent to us alone passes by it. */
static bool is_from_owner(const struct service_client *client, sd_bus_message *signal)
{
	return client->owner && client->each &&
	       streq(or_empty(sd_bus_message_get_sender(signal)), client->owner);
}

/* What cannot be read is left out, as what was never heard is. */
static int on_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct service_client *client = userdata;
	struct service_session session = { 0 };
	if (is_from_owner(client, signal) && read_session(signal, &session) >= 0)
		client->each(&session, client->closure);
	return 0;
}

static int on_removed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct service_client *client = userdata;
	struct service_session session = { .status = "removed" };
	if (is_from_owner(client, signal) && sd_bus_message_read(signal, "s", &session.id) > 0)
		client->each(&session, client->closure);
	return 0;
}

static int on_owner_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct service_client *client = userdata;
	const char *name, *old_owner, *new_owner;
	if (sd_bus_message_read(signal, "sss", &name, &old_owner, &new_owner) > 0 &&
	    streq(old_owner, or_empty(client->owner)))
		client->is_gone = true;
	return 0;
}

/* Nothing here waits: the question that comes after them is answered when they are in force. */
static int add_matches(struct service_client *client, struct error *err)
{
	int r = sd_bus_match_signal_async(client->bus, NULL, SERVICE_NAME, SERVICE_PATH, SERVICE_INTERFACE,
					  "InstanceChanged", on_changed, NULL, client);
	if (r >= 0)
		r = sd_bus_match_signal_async(client->bus, NULL, SERVICE_NAME, SERVICE_PATH,
					      SERVICE_INTERFACE, "InstanceRemoved", on_removed, NULL,
					      client);
	if (r >= 0)
		r = sd_bus_add_match_async(client->bus, NULL,
					   "type='signal',sender='" BUS_NAME "',"
					   "member='NameOwnerChanged',arg0='" SERVICE_NAME "'",
					   on_owner_changed, NULL, client);
	return r < 0 ? bus_message_error(err, r) : 0;
}

void service_client_close(struct service_client *client)
{
	if (!client)
		return;
	sd_bus_close_unref(client->bus);
	free(client->owner);
	free(client);
}

static void client_closep(struct service_client **client)
{
	service_client_close(*client);
}

/* 0: it supervises this directory. */
static int check_state(sd_bus *bus, const char *state, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_free char *shown = visible(state);
	const char *theirs;
	if (bus_new_call(bus, SERVICE_NAME, SERVICE_PATH, "org.freedesktop.DBus.Properties", "Get", &call,
			 err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "ss", SERVICE_INTERFACE, "StateDirectory");
	if (r < 0)
		return bus_message_error(err, r);
	/* One that has gone meanwhile, does not answer or is of an earlier version is none to follow. */
	if (bus_call(bus, call, deadline_ms, &answer, &refusal, NULL) != 0)
		return SERVICE_ABSENT;
	if (sd_bus_message_read(answer, "v", "s", &theirs) <= 0 || !streq(theirs, shown))
		return SERVICE_ABSENT;
	return 0;
}

int service_client_open(const char *user_runtime, const char *state, struct service_client **ret,
			struct error *err)
{
	CLEANUP(client_closep) struct service_client *client = xcalloc(1, sizeof(*client));
	cleanup_message sd_bus_message *answer = NULL;
	int64_t deadline_ms = clock_ms() + SERVICE_OPEN_TIMEOUT_MS;
	const char *owner;

	int r = service_connect(user_runtime, deadline_ms, &client->bus, err);
	if (r == 0)
		r = add_matches(client, err);
	if (r == 0)
		r = look_for_owner(client->bus, deadline_ms, err);
	if (r == 0)
		r = ask_about_owner(client->bus, "GetNameOwner", deadline_ms, &answer, err);
	if (r != 0)
		return r;
	r = sd_bus_message_read(answer, "s", &owner);
	if (r < 0)
		return bus_message_error(err, r);
	client->owner = xstrdup(owner);
	r = state ? check_state(client->bus, state, deadline_ms, err) : 0;
	if (r != 0)
		return r;
	*ret = TAKE_PTR(client);
	return 0;
}

int service_client_descriptor(const struct service_client *client)
{
	return sd_bus_get_fd(client->bus);
}

int64_t service_client_deadline(const struct service_client *client)
{
	uint64_t at_us;
	struct timespec now;
	if (sd_bus_get_timeout(client->bus, &at_us) < 0 || at_us == UINT64_MAX)
		return INT64_MAX;
	/* 0: there is something to read already.  sd-bus counts on CLOCK_MONOTONIC. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t left_us = (int64_t)at_us - ((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return clock_ms() + (left_us > 0 ? (left_us + 999) / 1000 : 0);
}

int service_client_read(struct service_client *client, service_each each, void *closure,
			struct error *err)
{
	int r;
	client->each = each;
	client->closure = closure;
	do
		r = sd_bus_process(client->bus, NULL);
	while (r > 0 && !client->is_gone);
	client->each = NULL;
	if (r == -ENOMEM)
		return error_set_errno(err, ENOMEM, "read from the user bus");
	return r < 0 || client->is_gone ? SERVICE_ABSENT : 0;
}
