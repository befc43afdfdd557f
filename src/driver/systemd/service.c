/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/service.h"

#include "base/clock.h"
#include "base/version.h"
#include "driver/systemd/bus.h"
#include "driver/systemd/service-internal.h"
#include "model/session/state.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>

/* RequestName of the D-Bus specification. */
enum { NAME_DO_NOT_QUEUE = 4, NAME_IS_OURS = 1, NAME_EXISTS = 3 };

LIST_HEAD(call_list, service_call);

struct service {
	sd_bus *bus;
	struct bus_attachment *attachment;
	const struct service_operations *operations;
	void *context;
	struct call_list calls; /* without an answer yet */
};

struct service_call {
	LIST_ENTRY(service_call) link;
	struct service *service; /* NULL: it was closed, and the caller got an error */
	sd_bus_message *message;
	sd_bus_slot *question; /* asks who the caller is; NULL once we know */
	void (*perform)(struct service_call *call);
	enum service_verb verb;
};

static void call_free(struct service_call *call)
{
	if (call->service)
		LIST_REMOVE(call, link);
	sd.bus_slot_unref(call->question);
	sd.bus_message_unref(call->message);
	free(call);
}

/* If the caller or the bus has gone, the answer is dropped. */
static void refuse(struct service_call *call, const char *name, const char *message)
{
	/* sd-bus refuses a message with a text that is not UTF-8 (D-Bus specification,
	 * "Strings"). */
	cleanup_free char *text = is_utf8(message, strlen(message)) ? xstrdup(message)
								    : visible(message);
	if (call->service)
		(void)sd.bus_reply_method_errorf(call->message, name, "%s", text);
	call_free(call);
}

/* ---- a session as a{sv} ---------------------------------------------------------------------- */

static int append_text(sd_bus_message *message, const char *key, const char *value)
{
	if (!value)
		return 0;
	if (is_utf8(value, strlen(value)))
		return sd.bus_message_append(message, "{sv}", key, "s", value);
	cleanup_free char *text = visible(value);
	return sd.bus_message_append(message, "{sv}", key, "s", text);
}

static int append_time(sd_bus_message *message, const char *key, int64_t us)
{
	return us > 0 ? sd.bus_message_append(message, "{sv}", key, "t", (uint64_t)us) : 0;
}

static int append_session(sd_bus_message *message, const struct facts *session)
{
	/* A server that does not answer counts as running (docs/bus.md). */
	const bool runs = state_is_running(session->state) && !session->runs_on;
	const char *activity = session->activity ? session->activity
						 : instance_activity_name(ACTIVITY_UNKNOWN);
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "id", session->key.id },
		{ "profile", session->key.profile },
		{ "title", session->title },
		{ "group", session->group },
		{ "agent", session->agent },
		{ "path", session->directory },
		{ "session_id", session->session_id },
		{ "status", session->runs_on ? "unknown" : instance_state_name(session->state) },
		{ "activity", runs ? activity : NULL },
		{ "reason", facts_reason(session) },
	};
	int r = sd.bus_message_open_container(message, 'a', "{sv}");
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(texts); i++)
		r = append_text(message, texts[i].key, texts[i].value);
	if (r >= 0)
		r = sd.bus_message_append(message, "{sv}", "desired", "b",
					  (int)session->is_desired);
	if (r >= 0)
		r = append_time(message, "since", session->state_since_us);
	if (r >= 0)
		r = append_time(message, "activity_since", session->activity_since_us);
	return r < 0 ? r : sd.bus_message_close_container(message);
}

struct list {
	sd_bus_message *message;
	int r;
};

static void append_each(const struct facts *session, void *closure)
{
	struct list *list = closure;
	if (list->r >= 0)
		list->r = append_session(list->message, session);
}

/* ---- the methods ----------------------------------------------------------------------------- */

static void send_list(struct service_call *call, struct list *list)
{
	if (list->r >= 0)
		list->r = sd.bus_send(NULL, list->message, NULL);
	if (list->r < 0)
		refuse(call, SERVICE_FAILED, "the answer could not be put together");
	else
		call_free(call);
	sd.bus_message_unref(list->message);
}

static void perform_list(struct service_call *call)
{
	struct service *service = call->service;
	struct list list = { 0 };
	list.r = sd.bus_message_new_method_return(call->message, &list.message);
	if (list.r >= 0)
		list.r = sd.bus_message_open_container(list.message, 'a', "a{sv}");
	service->operations->list(append_each, &list, service->context);
	if (list.r >= 0)
		list.r = sd.bus_message_close_container(list.message);
	send_list(call, &list);
}

static void refuse_unknown(struct service_call *call, const char *target)
{
	cleanup_free char *name = visible(target);
	cleanup_free char *text = xasprintf(
		"no session, or more than one, has the id or title \"%s\"", name);
	refuse(call, SERVICE_NOT_FOUND, text);
}

/* sd-bus has checked the signature of the vtable. So this fails only without memory. */
static const char *read_target(struct service_call *call)
{
	const char *target;
	return sd.bus_message_read(call->message, "s", &target) < 0 ? "" : target;
}

static void perform_get(struct service_call *call)
{
	struct service *service = call->service;
	const char *target = read_target(call);
	struct list list = { 0 };
	list.r = sd.bus_message_new_method_return(call->message, &list.message);
	if (service->operations->get(target, append_each, &list, service->context)) {
		send_list(call, &list);
		return;
	}
	refuse_unknown(call, target);
	sd.bus_message_unref(list.message);
}

static void look_only(const struct facts *session UNUSED, void *closure UNUSED)
{
}

static void perform_act(struct service_call *call)
{
	struct service *service = call->service;
	const char *target = NULL;
	if (call->verb != SERVICE_RECOVER) {
		target = read_target(call);
		if (!service->operations->get(target, look_only, NULL, service->context)) {
			refuse_unknown(call, target);
			return;
		}
	}
	service->operations->act(call->verb, target, call, service->context);
}

/* ---- who calls ------------------------------------------------------------------------------- */

static int on_caller_known(sd_bus_message *answer, void *userdata, sd_bus_error *error UNUSED)
{
	struct service_call *call = userdata;
	uint32_t uid;

	call->question = sd.bus_slot_unref(call->question);
	if (sd.bus_message_is_method_error(answer, NULL) ||
	    sd.bus_message_read(answer, "u", &uid) < 0 || uid != geteuid())
		refuse(call, SD_BUS_ERROR_ACCESS_DENIED, "only the same user may call");
	else
		call->perform(call);
	return 1;
}

/* The message bus knows the effective user that made each connection, and never uses a unique name
 * again. sd_bus_query_sender_creds(3) asks the same, but blocks until the answer. */
static int begin(sd_bus_message *message, struct service *service,
		 void (*perform)(struct service_call *call), enum service_verb verb)
{
	const char *sender = sd.bus_message_get_sender(message);
	if (!sender)
		return -EACCES;
	struct service_call *call = xcalloc(1, sizeof(*call));
	*call = (struct service_call){ .service = service,
				       .message = sd.bus_message_ref(message),
				       .perform = perform,
				       .verb = verb };
	LIST_INSERT_HEAD(&service->calls, call, link);
	int r = sd.bus_call_method_async(service->bus, &call->question, BUS_NAME, BUS_PATH,
					 BUS_INTERFACE, "GetConnectionUnixUser", on_caller_known,
					 call, "s", sender);
	if (r < 0)
		call_free(call);
	return r < 0 ? r : 1;
}

static int on_list(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_list, 0);
}

static int on_get(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_get, 0);
}

static int on_start(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_act, SERVICE_START);
}

static int on_stop(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_act, SERVICE_STOP);
}

static int on_restart(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_act, SERVICE_RESTART);
}

static int on_recover(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	return begin(message, userdata, perform_act, SERVICE_RECOVER);
}

static int get_version(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
		       const char *property UNUSED, sd_bus_message *reply, void *userdata UNUSED,
		       sd_bus_error *error UNUSED)
{
	return sd.bus_message_append(reply, "s", agentdeck_version);
}

static int get_state(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
		     const char *property UNUSED, sd_bus_message *reply, void *userdata,
		     sd_bus_error *error UNUSED)
{
	const struct service *service = userdata;
	cleanup_free char *state = visible(or_empty(service->operations->state));
	return sd.bus_message_append(reply, "s", state);
}

/* Unprivileged: on_caller_known() is our check. sd-bus' own check lets root in, and blocks. */
#define METHOD(name, in, in_names, out, out_names, handler)                   \
	SD_BUS_METHOD_WITH_NAMES(name, in, in_names, out, out_names, handler, \
				 SD_BUS_VTABLE_UNPRIVILEGED)

/* docs/bus.md has the same as a table. tests/unit/test-service.c compares them. */
static sd_bus_vtable vtable[] = {
	/* SD_BUS_VTABLE_START(0), but for what refers to the library. */
	{ .type = _SD_BUS_VTABLE_START,
	  .x.start = { .element_size = sizeof(sd_bus_vtable),
		       .features = _SD_BUS_VTABLE_PARAM_NAMES } },
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("StateDirectory", "s", get_state, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	METHOD("List", "", , "aa{sv}", SD_BUS_PARAM(sessions), on_list),
	METHOD("Get", "s", SD_BUS_PARAM(session), "a{sv}", SD_BUS_PARAM(properties), on_get),
	METHOD("Start", "s", SD_BUS_PARAM(session), "s", SD_BUS_PARAM(outcome), on_start),
	METHOD("Stop", "s", SD_BUS_PARAM(session), "s", SD_BUS_PARAM(outcome), on_stop),
	METHOD("Restart", "s", SD_BUS_PARAM(session), "s", SD_BUS_PARAM(outcome), on_restart),
	METHOD("Recover", "", , "uu", SD_BUS_PARAM(revived) SD_BUS_PARAM(failed), on_recover),
	SD_BUS_SIGNAL_WITH_NAMES("InstanceChanged", "sa{sv}",
				 SD_BUS_PARAM(id) SD_BUS_PARAM(session), 0),
	SD_BUS_SIGNAL_WITH_NAMES("InstanceRemoved", "s", SD_BUS_PARAM(id), 0),
	SD_BUS_VTABLE_END,
};

/* ---- the contract ---------------------------------------------------------------------------- */

static int take_name(sd_bus *bus, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	uint32_t outcome;

	const struct bus_method request = { BUS_NAME, BUS_PATH, BUS_INTERFACE, "RequestName" };
	if (bus_new_call(bus, &request, &call, err, "su", SERVICE_NAME,
			 (uint32_t)NAME_DO_NOT_QUEUE) < 0)
		return -1;
	int r = bus_call(bus, call, deadline_ms, &answer, &refusal, err);
	if (r < 0)
		return error_prefix(err, "take the name " SERVICE_NAME);
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM,
				 "the user bus refuses the name " SERVICE_NAME ": %s",
				 bus_refusal_text(&refusal));
	r = sd.bus_message_read(answer, "u", &outcome);
	if (r < 0)
		return bus_message_error(err, r);
	if (outcome == NAME_EXISTS)
		return SERVICE_TAKEN;
	if (outcome != NAME_IS_OURS)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the user bus answers %u to a request for the name " SERVICE_NAME,
				 outcome);
	return 0;
}

int service_open(const char *user_runtime, struct loop *loop,
		 const struct service_operations *operations, void *context, struct service **ret,
		 struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	int64_t deadline_ms = clock_ms() + SERVICE_OPEN_TIMEOUT_MS;

	int r = service_connect(user_runtime, deadline_ms, &bus, err);
	if (r == 0)
		r = take_name(bus, deadline_ms, err);
	if (r != 0)
		return r;
	/* Only now: no call may reach operations before the caller has *ret. Calls that came
	 * earlier wait in the queue. */
	cleanup_service struct service *service = xcalloc(1, sizeof(*service));
	*service = (struct service){ .operations = operations,
				     .context = context,
				     .bus = TAKE_PTR(bus) };
	LIST_INIT(&service->calls);
	vtable[0].x.start.vtable_format_reference = sd.bus_object_vtable_format;
	r = sd.bus_add_object_vtable(service->bus, NULL, SERVICE_PATH, SERVICE_INTERFACE, vtable,
				     service);
	if (r < 0)
		return bus_message_error(err, r);
	if (bus_attach(service->bus, loop, &service->attachment, err) < 0)
		return -1;
	*ret = TAKE_PTR(service);
	return 0;
}

void service_close(struct service *service)
{
	if (!service)
		return;
	struct service_call *next;
	for (struct service_call *call = LIST_FIRST(&service->calls); call; call = next) {
		next = LIST_NEXT(call, link);
		(void)sd.bus_reply_method_errorf(
			call->message, SERVICE_FAILED,
			"the supervisor ends; what it was doing continues without it");
		if (call->question) {
			call_free(call);
			continue;
		}
		/* An operation has it, and will answer it. */
		LIST_REMOVE(call, link);
		call->service = NULL;
		call->message = sd.bus_message_unref(call->message);
	}
	/* No flush: it would wait for a bus that has stopped reading. */
	sd.bus_close_unref(service->bus);
	bus_detach(service->attachment);
	free(service);
}

void service_answer(struct service_call *call, const char *outcome)
{
	if (call->service)
		(void)sd.bus_reply_method_return(call->message, "s", outcome);
	call_free(call);
}

void service_answer_failure(struct service_call *call, const char *message)
{
	refuse(call, SERVICE_FAILED, message);
}

void service_answer_recovered(struct service_call *call, uint32_t revived, uint32_t failed)
{
	if (call->service)
		(void)sd.bus_reply_method_return(call->message, "uu", revived, failed);
	call_free(call);
}

bool service_is_lost(const struct service *service)
{
	return sd.bus_is_open(service->bus) <= 0;
}

void service_changed(struct service *service, const struct facts *session)
{
	cleanup_message sd_bus_message *signal = NULL;
	int r = sd.bus_message_new_signal(service->bus, &signal, SERVICE_PATH, SERVICE_INTERFACE,
					  "InstanceChanged");
	if (r >= 0)
		r = sd.bus_message_append(signal, "s", session->key.id);
	if (r >= 0)
		r = append_session(signal, session);
	if (r >= 0)
		(void)sd.bus_send(service->bus, signal, NULL);
}

void service_removed(struct service *service, const char *id)
{
	(void)sd.bus_emit_signal(service->bus, SERVICE_PATH, SERVICE_INTERFACE, "InstanceRemoved",
				 "s", id);
}
