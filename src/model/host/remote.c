/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/host/remote.h"

#include "model/session/naming.h"

#include <string.h>

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+:,./_-"

void remote_free(struct remote *remote)
{
	free(remote->name);
	free(remote->ssh);
	free(remote->program);
	free(remote->machine_id);
}

bool remote_equal(const struct remote *a, const struct remote *b)
{
	if (!a || !b)
		return a == b;
	return streq(a->name, b->name) && streq(a->ssh, b->ssh) && streq(a->program, b->program) &&
	       a->timeout_s == b->timeout_s &&
	       streq(or_empty(a->machine_id), or_empty(b->machine_id));
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

bool remote_is_program(const char *text)
{
	const char *path = starts_with(text, "~/") ? text + 1 : text;
	return is_word(path) && *text != '-' && (*path == '/' || !strchr(path, '/'));
}

void remotes_add(struct remotes *remotes, const struct remote *remote)
{
	remotes->items = xreallocarray(remotes->items, remotes->count + 1, sizeof(*remotes->items));
	remotes->items[remotes->count++] = (struct remote){
		.name = xstrdup(remote->name),
		.ssh = xstrdup(remote->ssh ? remote->ssh : remote->name),
		.program = xstrdup(remote->program ? remote->program : REMOTE_PROGRAM),
		.timeout_s = remote->timeout_s ? remote->timeout_s : REMOTE_TIMEOUT_S,
		.machine_id = remote->machine_id ? xstrdup(remote->machine_id) : NULL,
	};
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
	/* These mean something within quotes: "'" everywhere, "\\" in fish, "!" in csh. */
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
