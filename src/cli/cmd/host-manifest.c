/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "model/host/remote.h"

#include <string.h>

/* The controller adds a dot and ten characters to the name in a label of 63. */
enum { NAME_MOST = 52, VALUE_MOST = 255 };

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct options {
	const char *image, *disk, *cpus, *memory, *space;
	bool kubernetes, dockerfile;
};

static const struct command_option options[] = {
	{ 0, "kubernetes", NULL, "a StatefulSet of one Pod", TO_FLAG(kubernetes) },
	{ 0, "image", "IMAGE",
	  "with agentdeck and your agents; of --dockerfile, what it begins with", TO_TEXT(image) },
	{ 0, "disk", "SIZE", "of the volume, as in 20Gi", TO_TEXT(disk) },
	{ 0, "cpus", "N", "CPUs that it asks for, as in 4 or 500m; without it, none",
	  TO_TEXT(cpus) },
	{ 0, "memory", "SIZE", "memory that it asks for and may use; without it, any",
	  TO_TEXT(memory) },
	{ 0, "namespace", "NAMESPACE", "of Kubernetes; without it, that of kubectl",
	  TO_TEXT(space) },
	{ 0, "dockerfile", NULL, "print the Dockerfile of the image instead", TO_FLAG(dockerfile) },
	{ 0 },
};

static const struct options defaults = { .disk = "20Gi" };

/* None of these has what YAML or a Dockerfile reads as more than a word. */
static bool is_name(const char *text)
{
	return remote_is_label(text) && strlen(text) <= NAME_MOST && !strchr(DIGITS, *text);
}

static bool is_image(const char *text)
{
	return strchr(LETTERS DIGITS, *text) && *text && strlen(text) <= VALUE_MOST &&
	       !text[strspn(text, LETTERS DIGITS "._/:@-")];
}

/* "e3", "E-6" */
static bool is_exponent(const char *text)
{
	if (*text != 'e' && *text != 'E')
		return false;
	text += text[1] == '+' || text[1] == '-' ? 2 : 1;
	return *text && !text[strspn(text, DIGITS)];
}

/* A quantity of Kubernetes, without a sign. */
static bool is_quantity(const char *text)
{
	static const char *const units[] = { "",  "n", "u",  "m",  "k",  "M",  "G",  "T",
					     "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	const size_t whole = strspn(text, DIGITS);
	const char *unit = text + whole;
	if (*unit == '.')
		unit += 1 + strspn(unit + 1, DIGITS);
	if (!whole || unit[-1] == '.' || strlen(text) > VALUE_MOST ||
	    (size_t)(unit - text) == strspn(text, "0."))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(unit, units[i]))
			return true;
	return is_exponent(unit);
}

static int check(const char *name, const struct options *given, struct error *err)
{
	const struct {
		const char *what, *value;
		bool (*is_valid)(const char *text);
		const char *must;
	} values[] = {
		{ "NAME", name, is_name,
		  "use at most 52 lower-case letters, digits and \"-\", a letter first" },
		{ "--image", given->image, is_image, "write one as in registry.example/agents:1" },
		{ "--disk", given->disk, is_quantity, "write a size as in 20Gi" },
		{ "--cpus", given->cpus, is_quantity, "write a number as in 4 or 500m" },
		{ "--memory", given->memory, is_quantity, "write a size as in 8Gi" },
		{ "--namespace", given->space, remote_is_label,
		  "use lower-case letters, digits and \"-\"" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		cleanup_free char *shown = visible(or_empty(values[i].value));
		if (values[i].value && !values[i].is_valid(values[i].value))
			return error_set(err, ERROR_USAGE, "%s is '%s': %s", values[i].what, shown,
					 values[i].must);
	}
	if (!given->kubernetes)
		return error_set(err, ERROR_USAGE, "for which engine? Add --kubernetes");
	return given->image || given->dockerfile
		       ? 0
		       : error_set(err, ERROR_USAGE,
				   "--image names the image of the Pod; --dockerfile prints how to "
				   "build it");
}

static void say_resources(const struct options *given)
{
	if (!given->cpus && !given->memory)
		return;
	say("          resources:");
	say("            requests:");
	if (given->cpus)
		say("              cpu: \"%s\"", given->cpus);
	if (!given->memory)
		return;
	say("              memory: \"%s\"", given->memory);
	say("            limits:");
	say("              memory: \"%s\"", given->memory);
}

static void say_lines(const char *const *lines)
{
	for (; *lines; lines++)
		say("%s", *lines);
}

static void say_set(const char *name, const struct options *given)
{
	static const char *const rights[] = { "      automountServiceAccountToken: false",
					      "      enableServiceLinks: false",
					      "      terminationGracePeriodSeconds: 40",
					      "      securityContext:",
					      "        runAsNonRoot: true",
					      "        runAsUser: 1000",
					      "        runAsGroup: 1000",
					      "        fsGroup: 1000",
					      "        fsGroupChangePolicy: OnRootMismatch",
					      "        seccompProfile: {type: RuntimeDefault}",
					      "      containers:",
					      "        - name: main",
					      NULL };
	static const char *const container[] = {
		"          command: [agentdeck, supervise, --main, --fenced, --grace, \"30\", "
		"--incarnation, $(POD_UID)]",
		"          env:",
		"            - {name: HOME, value: /home/agent}",
		"            - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}",
		"          securityContext:",
		"            allowPrivilegeEscalation: false",
		"            readOnlyRootFilesystem: true",
		"            capabilities: {drop: [ALL]}",
		"          volumeMounts:",
		"            - {name: home, mountPath: /home/agent}",
		"            - {name: tmp, mountPath: /tmp}",
		NULL
	};
	say("apiVersion: apps/v1");
	say("kind: StatefulSet");
	say("metadata:");
	say("  name: \"%s\"", name);
	if (given->space)
		say("  namespace: \"%s\"", given->space);
	say("spec:");
	say("  serviceName: \"%s\"", name);
	say("  selector: {matchLabels: {app: \"%s\"}}", name);
	say("  template:");
	say("    metadata: {labels: {app: \"%s\"}}", name);
	say("    spec:");
	say_lines(rights);
	say("          image: \"%s\"", given->image);
	say_lines(container);
	say_resources(given);
	say("      volumes:");
	say("        - {name: tmp, emptyDir: {}}");
	say("  volumeClaimTemplates:");
	say("    - metadata: {name: home}");
	say("      spec:");
	say("        accessModes: [ReadWriteOnce]");
	say("        resources: {requests: {storage: \"%s\"}}", given->disk);
}

static void say_dockerfile(const struct options *given)
{
	static const char *const lines[] = {
		"USER root",
		"# The package is what scripts/build-deb makes on a system like this one.",
		"COPY agentdeck_*.deb /tmp/",
		"RUN apt-get update && \\",
		"    apt-get install -y ca-certificates git tmux /tmp/agentdeck_*.deb && \\",
		"    rm -rf /var/lib/apt/lists/* /tmp/agentdeck_*.deb && \\",
		"    { getent passwd 1000 >/dev/null || \\",
		"      useradd --uid 1000 --create-home --shell /bin/bash agent; }",
		"# Install your agents here, outside of /home/agent: the volume hides what is there.",
		"USER 1000:1000",
		NULL
	};
	say("FROM %s", given->image ? given->image : "debian:12-slim");
	say_lines(lines);
}

static int cmd_host_manifest(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *name = app->operands.items[0];
	if (check(name, given, err) < 0)
		return -1;
	if (given->dockerfile)
		say_dockerfile(given);
	else
		say_set(name, given);
	return 0;
}

const struct command command_host_manifest = {
	.name = "host manifest",
	.kind = COMMAND_READS,
	.arguments = "NAME",
	.summary = "print what makes a host on Kubernetes, for kubectl apply",
	OWN_OPTIONS,
	.defaults = &defaults,
	.flags = IS_OF_PROGRAM,
	.run = cmd_host_manifest,
};
