/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/host/remote.h"

#include "model/session/naming.h"

#include <stddef.h>
#include <string.h>

enum { LABEL_MAX = 63 };

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+:,./_-"

const char *const remote_kind_words[REMOTE_KINDS] = { "ssh", "kubernetes" };

const struct remote_text remote_texts[] = {
	{ "ssh", offsetof(struct remote, ssh), remote_is_destination,
	  "write what follows \"ssh\" on a command line: a host, USER@HOST or "
	  "ssh://USER@HOST:PORT" },
	{ "kubernetes", offsetof(struct remote, kubernetes), remote_is_workload,
	  "write the name of a StatefulSet, or \"pod/\" and the name of a Pod" },
	{ "context", offsetof(struct remote, kube_context), remote_is_context,
	  "write a name that kubectl config get-contexts lists" },
	{ "namespace", offsetof(struct remote, kube_namespace), remote_is_label,
	  "write the name of a namespace of Kubernetes" },
	{ "uid", offsetof(struct remote, kube_uid), naming_is_uuid,
	  "it is what agentdeck host add has written" },
	{ "program", offsetof(struct remote, program), remote_is_program,
	  "write a name, or a path that starts with \"/\" or \"~/\", without blanks" },
	{ "machine_id", offsetof(struct remote, machine_id), naming_is_uuid,
	  "it is what agentdeck host add has written" },
	{ 0 },
};

char **remote_text(struct remote *remote, const struct remote_text *text)
{
	void *at = (char *)remote + text->at;
	return at;
}

const char *remote_value(const struct remote *remote, const struct remote_text *text)
{
	const void *at = (const char *)remote + text->at;
	return *(char *const *)at;
}

enum remote_kind remote_kind(const struct remote *remote)
{
	return remote->kubernetes ? REMOTE_KUBERNETES : REMOTE_SSH;
}

const char *remote_conflict(const struct remote *remote)
{
	if (remote->ssh && remote->kubernetes)
		return "a host has ssh or kubernetes, not both";
	if (remote->kubernetes && remote->forward_agent)
		return "forward_agent needs ssh";
	if (remote->kubernetes && starts_with(or_empty(remote->program), "~/"))
		return "no shell expands the \"~/\" of program in a Pod";
	return NULL;
}

char *remote_place(const struct remote *remote)
{
	const char *context = remote->kube_context, *space = remote->kube_namespace;
	return remote->kubernetes
		       ? xasprintf("kubernetes %s%s%s%s%s", or_empty(context), context ? "/" : "",
				   or_empty(space), space ? "/" : "", remote->kubernetes)
		       : xasprintf("ssh %s", remote->ssh);
}

void remote_free(struct remote *remote)
{
	free(remote->name);
	for (const struct remote_text *text = remote_texts; text->key; text++)
		free(*remote_text(remote, text));
}

bool remote_equal(const struct remote *a, const struct remote *b)
{
	if (!a || !b)
		return a == b;
	for (const struct remote_text *text = remote_texts; text->key; text++)
		if (!streq(or_empty(remote_value(a, text)), or_empty(remote_value(b, text))))
			return false;
	return streq(a->name, b->name) && a->timeout_s == b->timeout_s &&
	       a->forward_agent == b->forward_agent;
}

void remotes_free(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->count; i++)
		remote_free(&remotes->items[i]);
	free(remotes->items);
	*remotes = (struct remotes){ 0 };
}

bool remote_is_name(const char *text)
{
	return naming_is_agent(text) && !streq(text, REMOTE_HERE);
}

static bool is_word(const char *text)
{
	return *text && !text[strspn(text, WORD_CHARACTERS)];
}

bool remote_is_destination(const char *text)
{
	/* An address of IPv6 has brackets in a URL. */
	return *text && *text != '-' && !text[strspn(text, WORD_CHARACTERS "[]")];
}

bool remote_is_context(const char *text)
{
	cleanup_free char *shown = visible(text);
	return *text && streq(shown, text);
}

bool remote_is_program(const char *text)
{
	const char *path = starts_with(text, "~/") ? text + 1 : text;
	return is_word(path) && *text != '-' && (*path == '/' || !strchr(path, '/'));
}

bool remote_is_label(const char *text)
{
	const size_t length = strlen(text);
	return length && length <= LABEL_MAX && *text != '-' && text[length - 1] != '-' &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

bool remote_is_workload(const char *text)
{
	text += starts_with(text, REMOTE_POD) ? strlen(REMOTE_POD) : 0;
	for (size_t length; (length = strcspn(text, ".")); text += length + 1) {
		cleanup_free char *label = xstrndup(text, length);
		if (!remote_is_label(label))
			return false;
		if (!text[length])
			return true;
	}
	return false;
}

void remotes_add(struct remotes *remotes, const struct remote *remote)
{
	struct remote copy = { .name = xstrdup(remote->name),
			       .forward_agent = remote->forward_agent,
			       .timeout_s = remote->timeout_s ? remote->timeout_s
							      : REMOTE_TIMEOUT_S };
	for (const struct remote_text *text = remote_texts; text->key; text++)
		*remote_text(&copy, text) = xstrdup_or_null(remote_value(remote, text));
	if (!copy.program)
		copy.program = xstrdup(REMOTE_PROGRAM);
	if (!copy.ssh && remote_kind(&copy) == REMOTE_SSH)
		copy.ssh = xstrdup(remote->name);
	remotes->items = xreallocarray(remotes->items, remotes->count + 1, sizeof(*remotes->items));
	remotes->items[remotes->count++] = copy;
}

const struct remote *remotes_find(const struct remotes *remotes, const char *name)
{
	for (size_t i = 0; i < remotes->count; i++)
		if (streq(remotes->items[i].name, name))
			return &remotes->items[i];
	return NULL;
}

bool remotes_split(const struct remotes *remotes, const char *text, const struct remote **ret,
		   const char **ret_session)
{
	const char *colon = strchr(text, ':');
	cleanup_free char *name = xstrndup(text, colon ? (size_t)(colon - text) : 0);
	const struct remote *remote = remotes_find(remotes, name);
	if (!remote && !streq(name, REMOTE_HERE))
		return false;
	*ret = remote;
	*ret_session = colon + 1;
	return true;
}

void remote_quote(struct strbuf *ret, const char *word)
{
	/* Special even within quotes: "'" everywhere, "\\" in fish, "!" in csh. */
	static const char special[] = "'\\!";
	const bool is_plain = is_word(word);
	if (is_plain || !*word)
		strbuf_adds(ret, is_plain ? word : "''");
	for (size_t n; !is_plain && *word; word += n) {
		n = strcspn(word, special);
		if (n)
			strbuf_addf(ret, "'%.*s'", (int)n, word);
		else
			strbuf_addf(ret, "\\%c", word[n++]);
	}
	strbuf_adds(ret, " ");
}
