/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/way.h"

#include "base/child.h"
#include "base/clock.h"
#include "driver/link/ssh.h"
#include "model/session/naming.h"

#include <string.h>

enum { LOOK_SHARE = 3 /* of the timeout */ };

/* The container of the Pod (docs/clusters.md). */
#define CONTAINER "main"

/* ---- kubectl ---------------------------------------------------------------------------------- */

static void begin_argv(const struct remote *remote, struct strvec *ret)
{
	strvec_push(ret, "kubectl");
	if (remote->kube_context)
		strvec_pushf(ret, "--context=%s", remote->kube_context);
	if (remote->kube_namespace)
		strvec_pushf(ret, "--namespace=%s", remote->kube_namespace);
}

static bool is_pod(const struct remote *remote)
{
	return starts_with(remote->kubernetes, REMOTE_POD);
}

static char *pod_of(const struct remote *remote)
{
	return is_pod(remote) ? xstrdup(remote->kubernetes + strlen(REMOTE_POD))
			      : xasprintf("%s-0", remote->kubernetes);
}

static void exec_argv(const struct remote *remote, const char *how, struct strvec *ret)
{
	cleanup_free char *pod = pod_of(remote);
	begin_argv(remote, ret);
	strvec_push_array(ret,
			  (const char *const[]){ "exec", how, pod, "-c", CONTAINER, "--", NULL });
}

/* ERROR_CHILD: it failed, with its own words. */
static int run_kubectl(const struct strvec *argv, int64_t timeout_ms, struct child_result *result,
		       struct error *err)
{
	const struct child_request request = { .argv = (const char *const *)strvec_argv(argv),
					       .new_session = true,
					       .bound = true };
	const int r = child_run(&request, (int)timeout_ms, result, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "kubectl is not installed here");
	if (r < 0 || result->exit_status == 0)
		return r;
	cleanup_free char *words = ssh_words(strbuf_text(&result->errors));
	return error_set(err, ERROR_CHILD, "kubectl: %s", words);
}

/* ---- what Kubernetes says --------------------------------------------------------------------- */

/* The StatefulSet and its Pod, as far as they exist. */
static int get(const struct remote *remote, struct json_object **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free char *pod = pod_of(remote);
	begin_argv(remote, &argv);
	strvec_push_array(&argv,
			  (const char *const[]){ "get", "--ignore-not-found", "-o", "json", NULL });
	if (!is_pod(remote))
		strvec_pushf(&argv, "statefulset/%s", remote->kubernetes);
	strvec_pushf(&argv, REMOTE_POD "%s", pod);
	if (run_kubectl(&argv, remote->timeout_s * 1000 / LOOK_SHARE, &result, err) < 0)
		return -1;
	/* kubectl prints nothing where there is no such object. */
	const char *text = result.output.length ? result.output.data : "{}";
	return json_parse(text, strlen(text), "kubectl", ret, err);
}

/* The one of this kind, from a list of several or as the only one.  Borrowed; NULL: none. */
static struct json_object *find(struct json_object *found, const char *kind)
{
	struct json_object *items = json_get_array(found, "items");
	for (size_t i = 0; items && i < json_object_array_length(items); i++) {
		struct json_object *item = json_object_array_get_idx(items, i);
		if (streq(json_get_string(item, "kind", ""), kind))
			return item;
	}
	return streq(json_get_string(found, "kind", ""), kind) ? found : NULL;
}

/* The member of the list that is called so.  Borrowed. */
static struct json_object *named(struct json_object *status, const char *list, const char *key,
				 const char *name)
{
	struct json_object *items = json_get_array(status, list);
	for (size_t i = 0; items && i < json_object_array_length(items); i++) {
		struct json_object *item = json_object_array_get_idx(items, i);
		if (streq(json_get_string(item, key, ""), name))
			return item;
	}
	return NULL;
}

/* Why the Pod does not run, in the words of Kubernetes; "": it does not say.  The caller frees. */
static char *reason_of(struct json_object *status)
{
	struct json_object *container = named(status, "containerStatuses", "name", CONTAINER);
	struct json_object *waiting = json_at(container, "state.waiting");
	struct json_object *scheduled = named(status, "conditions", "type", "PodScheduled");
	const char *message = json_get_string(scheduled, "message", "");
	if (waiting) {
		const char *more = json_get_string(waiting, "message", "");
		return xasprintf("%s%s%s", json_get_string(waiting, "reason", ""),
				 *more ? ": " : "", more);
	}
	if (streq(json_get_string(scheduled, "status", ""), "False") && *message) {
		/* What follows is about other Pods, which could be ended for this one. */
		const char *end = strstr(message, ". ");
		return xstrndup(message, end ? (size_t)(end - message) : strlen(message));
	}
	return xstrdup(json_get_string(status, "reason", ""));
}

static char *lacks_workload(const struct remote *remote)
{
	return xasprintf("Kubernetes has no %s%s", is_pod(remote) ? "" : "StatefulSet ",
			 remote->kubernetes);
}

static char *describe(const struct remote *remote, struct json_object *found)
{
	struct json_object *set = find(found, "StatefulSet"), *pod = find(found, "Pod");
	struct json_object *status = json_get_object(pod, "status");
	const int64_t replicas = json_get_int(json_get_object(set, "spec"), "replicas", 1);
	const bool ends = json_at(pod, "metadata.deletionTimestamp");
	const char *phase = ends ? "Terminating" : json_get_string(status, "phase", "Unknown");
	if (!pod && set)
		return xstrdup(replicas ? "there is no Pod yet" : "scaled to 0");
	if (!pod)
		return lacks_workload(remote);
	cleanup_free char *reason = reason_of(status);
	if (streq(phase, "Running"))
		return *reason ? TAKE_PTR(reason) : NULL;
	return xasprintf("%s%s%s", phase, *reason ? ": " : "", reason);
}

/* Why it does not answer, visible, on one line; NULL: Kubernetes knows no reason.  The caller
 * frees. */
static char *look(const struct remote *remote)
{
	cleanup_json struct json_object *found = NULL;
	cleanup_error struct error why = { 0 };
	if (get(remote, &found, &why) < 0)
		return xstrdup(why.message);
	cleanup_free char *said = describe(remote, found);
	return said ? ssh_words(said) : NULL;
}

/* ---- the way ---------------------------------------------------------------------------------- */

static int kubernetes_open(struct deck *deck UNUSED, const struct remote *remote,
			   const struct way_files *files UNUSED, struct link **ret,
			   struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_error struct error why = { 0 };
	exec_argv(remote, "-i", &argv);
	strvec_push_array(&argv,
			  (const char *const[]){ remote->program, "serve", "--stdio", NULL });
	if (link_open(&argv, clock_ms() + remote->timeout_s * 1000, ret, &why) == 0)
		return 0;
	const bool is_host = why.code == ERROR_CORRUPT || why.code == ERROR_CHILD ||
			     why.code == ERROR_TIMEOUT;
	cleanup_free char *words = is_host ? look(remote) : NULL;
	return words ? error_set(err, ERROR_CHILD, "%s", words) : error_move(err, &why);
}

/* kubectl takes no variable along. */
static void push_variable(struct strvec *argv, const char *name)
{
	const char *value = getenv(name);
	if (!is_empty(value))
		strvec_pushf(argv, "%s=%s", name, value);
}

static void kubernetes_argv(const struct way_order *order, struct strvec *ret)
{
	exec_argv(order->remote, order->is_terminal ? "-it" : "-i", ret);
	if (order->is_terminal) {
		strvec_push(ret, "env");
		push_variable(ret, "TERM");
		push_variable(ret, "COLORTERM");
	}
	strvec_push(ret, order->remote->program);
	if (order->once)
		strvec_push_array(ret, (const char *const[]){ "--once", order->once, NULL });
	strvec_push_all(ret, order->words);
}

/* The uid of the StatefulSet.  Borrowed; NULL: there is none. */
static const char *uid_of(struct json_object *found)
{
	struct json_object *set = find(found, "StatefulSet");
	return json_get_string(json_get_object(set, "metadata"), "uid", NULL);
}

/* Is it the StatefulSet that host add has seen?  A name can be used again.  *ret is its version,
 * the caller's; NULL: config.toml does not say which one it is. */
static int check_workload(const struct remote *remote, char **ret, struct error *err)
{
	cleanup_json struct json_object *found = NULL;
	cleanup_error struct error why = { 0 };
	if (!remote->kube_uid)
		return 0;
	if (get(remote, &found, &why) < 0)
		return error_set(err, why.code == ERROR_TIMEOUT ? ERROR_UNREACHABLE : why.code,
				 "%s: nothing was changed: %s", remote->name, why.message);
	const char *uid = uid_of(found);
	cleanup_free char *shown = visible(or_empty(uid));
	cleanup_free char *none = lacks_workload(remote);
	if (!uid)
		return error_set(err, ERROR_INVALID, "%s: %s", remote->name, none);
	if (!streq(uid, remote->kube_uid))
		return error_set(err, ERROR_INVALID,
				 "%s is another StatefulSet than before: its uid is %s, and "
				 "config.toml has %s, so that it is not scaled; if that is right: "
				 "agentdeck host add %s --again",
				 remote->name, shown, remote->kube_uid, remote->name);
	*ret = xstrdup(json_get_string(json_get_object(find(found, "StatefulSet"), "metadata"),
				       "resourceVersion", ""));
	return 0;
}

/* Does the StatefulSet already have that many? */
static bool has_replicas(const struct remote *remote, int64_t replicas)
{
	cleanup_json struct json_object *found = NULL;
	if (get(remote, &found, NULL) < 0)
		return false;
	struct json_object *set = find(found, "StatefulSet");
	return set && json_get_int(json_get_object(set, "spec"), "replicas", 1) == replicas;
}

/* Only if it is as it was looked at.  What another one has made of it meanwhile is not undone. */
static int scale_version(const struct remote *remote, int64_t replicas, const char *version,
			 struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	begin_argv(remote, &argv);
	strvec_push(&argv, "scale");
	strvec_pushf(&argv, "statefulset/%s", remote->kubernetes);
	strvec_pushf(&argv, "--current-replicas=%d", replicas ? 0 : 1);
	if (!is_empty(version))
		strvec_pushf(&argv, "--resource-version=%s", version);
	strvec_pushf(&argv, "--replicas=%lld", (long long)replicas);
	return run_kubectl(&argv, remote->timeout_s * 1000, &result, err);
}

/* SCALE_AGAIN: it has another version by now, such as after a change of its status. */
enum { SCALE_AGAIN = 2, SCALE_TRIES = 5 };
static int try_to_scale(const struct remote *remote, int64_t replicas, char **version,
			struct error *err)
{
	cleanup_error struct error why = { 0 };
	cleanup_free char *before = TAKE_PTR(*version);
	if (scale_version(remote, replicas, before, &why) == 0)
		return 0;
	if (why.code == ERROR_TIMEOUT)
		return error_set(err, ERROR_UNKNOWN,
				 "%s: whether it was scaled is unknown: agentdeck host check %s",
				 remote->name, remote->name);
	if (why.code == ERROR_CHILD && before && check_workload(remote, version, err) < 0)
		return -1;
	if (why.code == ERROR_CHILD && has_replicas(remote, replicas))
		return WAY_AS_WANTED;
	if (*version && !streq(*version, before))
		return SCALE_AGAIN;
	return error_set(err, why.code, "%s: %s", remote->name, why.message);
}

static int kubernetes_scale(const struct remote *remote, int64_t replicas, struct error *err)
{
	cleanup_free char *version = NULL;
	if (is_pod(remote))
		return error_set(err, ERROR_INVALID,
				 "%s: config.toml names its Pod: only a StatefulSet is scaled",
				 remote->name);
	if (!remote->kube_context)
		return error_set(err, ERROR_INVALID,
				 "%s has no context in config.toml, so that it may be in another "
				 "cluster today: agentdeck host add %s --again --context CONTEXT",
				 remote->name, remote->name);
	int r = check_workload(remote, &version, err) < 0 ? -1 : SCALE_AGAIN;
	for (int tries = SCALE_TRIES; r == SCALE_AGAIN && tries > 0; tries--)
		r = try_to_scale(remote, replicas, &version, err);
	return r == SCALE_AGAIN ? error_set(err, ERROR_BUSY,
					    "%s: the StatefulSet changes all the time: nothing was "
					    "changed",
					    remote->name)
				: r;
}

/* The context that kubectl uses by itself is another one tomorrow. */
static int settle_context(struct remote *remote, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push_array(&argv,
			  (const char *const[]){ "kubectl", "config", "current-context", NULL });
	if (run_kubectl(&argv, remote->timeout_s * 1000, &result, err) < 0)
		return error_prefix(err, "its context is not known: add --context");
	const char *text = strbuf_text(&result.output);
	cleanup_free char *name = xstrndup(text, strcspn(text, "\n"));
	if (!remote_is_context(name))
		return error_set(err, ERROR_INVALID,
				 "kubectl has no usable name of its context: add --context");
	remote->kube_context = TAKE_PTR(name);
	return 0;
}

static int settle_namespace(struct remote *remote, struct json_object *found, struct error *err)
{
	const char *space = json_get_string(json_get_object(find(found, "Pod"), "metadata"),
					    "namespace", "");
	if (!remote_is_label(space))
		return error_set(err, ERROR_INVALID, "its namespace is not known: add --namespace");
	remote->kube_namespace = xstrdup(space);
	return 0;
}

static int settle_uid(struct remote *remote, struct json_object *found, struct error *err)
{
	const char *uid = uid_of(found);
	cleanup_free char *none = lacks_workload(remote), *pod = pod_of(remote);
	if (!uid)
		return error_set(err, ERROR_INVALID, "%s: name its Pod: " REMOTE_POD "%s", none,
				 pod);
	if (!naming_is_uuid(uid))
		return error_set(err, ERROR_CORRUPT, "the uid of its StatefulSet is no UUID");
	remote->kube_uid = xstrdup(uid);
	return 0;
}

static int kubernetes_settle(struct remote *remote, struct error *err)
{
	cleanup_json struct json_object *found = NULL;
	if (!remote->kube_context && settle_context(remote, err) < 0)
		return -1;
	if (is_pod(remote) && remote->kube_namespace)
		return 0;
	if (get(remote, &found, err) < 0)
		return error_prefix(err, remote->kube_namespace
						 ? "its uid is not known"
						 : "its namespace is not known: add --namespace");
	if (!remote->kube_namespace && settle_namespace(remote, found, err) < 0)
		return -1;
	return is_pod(remote) ? 0 : settle_uid(remote, found, err);
}

const struct way way_kubernetes = {
	.lacks = { [WAY_LOGIN] = "there is no connection to log in to: kubectl makes one for each "
				 "command, with its own credentials",
		   [WAY_FORWARD] = "its ports are led here by kubectl port-forward" },
	.open = kubernetes_open,
	.argv = kubernetes_argv,
	.scale = kubernetes_scale,
	.settle = kubernetes_settle,
};
