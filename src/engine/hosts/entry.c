/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/entry.h"

#include "base/tomledit.h"
#include "base/tomltext.h"
#include "engine/deck/configfile.h"

#include <stddef.h>

/* A change of config.toml, in steps that are written together. */
struct entry {
	struct configfile file;
	struct strvec parts; /* hosts, NAME */
	struct toml_change change;
};

static void entry_free(struct entry *entry)
{
	configfile_free(&entry->file);
	strvec_clear(&entry->parts);
}
#define cleanup_entry CLEANUP(entry_free)

static int begin(struct deck *deck, const char *name, struct entry *entry, struct error *err)
{
	cleanup_settings struct settings settings = { 0 };
	if (configfile_read(deck, &entry->file, err) < 0)
		return -1;
	/* The meaning of a change in a broken file is not known. */
	if (settings_parse(strbuf_text(&entry->file.text), entry->file.text.length,
			   entry->file.path, &settings, err) < 0)
		return error_prefix(err, "nothing was changed; correct config.toml first, with "
					 "agentdeck config edit");
	/* A command that waited for its host can be late. */
	if (!remote_equal(remotes_find(&settings.hosts, name),
			  remotes_find(&deck->settings.hosts, name)))
		return error_set(err, ERROR_BUSY,
				 "another program has just changed the host %s in %s: try again",
				 name, entry->file.path);
	strvec_push_array(&entry->parts, (const char *const[]){ "hosts", name, NULL });
	return 0;
}

/* The text that the next step changes. */
static const struct toml_change *change_of(struct entry *entry, const struct strbuf *text)
{
	entry->change = (struct toml_change){ strbuf_text(text), text->length, entry->file.path,
					      &entry->parts, "with agentdeck config edit" };
	return &entry->change;
}

/* value NULL: the key becomes a comment; the document has it. */
static int set(struct entry *entry, const char *key, struct json_object *value, struct strbuf *text,
	       struct error *err)
{
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_free char *literal = toml_literal(value);
	strvec_push(&entry->parts, key);
	const struct toml_change *change = change_of(entry, text);
	const int r = value ? toml_set(change, literal, &result, err)
			    : toml_unset(change, &result, err);
	replace_string(&entry->parts.items[--entry->parts.count], NULL);
	if (r < 0)
		return -1;
	strbuf_free(text);
	*text = result;
	result = (struct strbuf){ 0 };
	return 0;
}

static int end(struct deck *deck, const struct entry *entry, const struct strbuf *text,
	       struct error *err)
{
	const int r = configfile_replace(deck, &entry->file, text, err);
	return r == CONFIGFILE_CHANGED ? error_set(err, ERROR_BUSY,
						   "another program has just changed %s: try again",
						   entry->file.path)
				       : r;
}

/* A table of its own: what is set below [hosts] could get no second key. */
static int add_header(const struct entry *entry, const char *name, struct strbuf *text,
		      struct error *err)
{
	cleanup_settings struct settings settings = { 0 };
	cleanup_free char *header = toml_join_key(&entry->parts, 0);
	const bool is_open = text->length && text->data[text->length - 1] != '\n';
	strbuf_addf(text, "%s%s[%s]\n", is_open ? "\n" : "", text->length ? "\n" : "", header);
	if (settings_parse(text->data, text->length, entry->file.path, &settings, NULL) == 0)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "%s: its hosts are on one line: add %s with agentdeck config edit",
			 entry->file.path, name);
}

int hosts_entry_save(struct deck *deck, const struct remote *remote, struct error *err)
{
	const struct remote *old = remotes_find(&deck->settings.hosts, remote->name);
	const int64_t timeout_s = old ? old->timeout_s : REMOTE_TIMEOUT_S;
	cleanup_entry struct entry entry = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (begin(deck, remote->name, &entry, err) < 0)
		return -1;
	strbuf_add(&text, strbuf_text(&entry.file.text), entry.file.text.length);
	if (!old && add_header(&entry, remote->name, &text, err) < 0)
		return -1;
	int r = 0;
	for (const struct remote_text *key = remote_texts; key->key && r == 0; key++) {
		const char *value = remote_value(remote, key);
		const char *before = old ? remote_value(old, key) : NULL;
		/* Only the program has a default that is not the name. */
		const bool is_usual = value && streq(value, before ? before : REMOTE_PROGRAM) &&
				      key->at == offsetof(struct remote, program);
		cleanup_json struct json_object *text_value = value ? json_text(value) : NULL;
		if (!is_usual && (value || before))
			r = set(&entry, key->key, text_value, &text, err);
	}
	cleanup_json struct json_object *timeout = json_object_new_int64(remote->timeout_s);
	if (r == 0 && timeout_s != remote->timeout_s)
		r = set(&entry, "timeout", timeout, &text, err);
	return r < 0 ? -1 : end(deck, &entry, &text, err);
}

int hosts_entry_remove(struct deck *deck, const struct remote *remote, struct error *err)
{
	cleanup_entry struct entry entry = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (begin(deck, remote->name, &entry, err) < 0)
		return -1;
	/* TOML_KEY_ABSENT is not possible: begin() has seen it. */
	return toml_remove_table(change_of(&entry, &entry.file.text), &text, err) < 0
		       ? -1
		       : end(deck, &entry, &text, err);
}

int hosts_entry_rename(struct deck *deck, const struct remote *remote, const char *name,
		       struct error *err)
{
	cleanup_entry struct entry entry = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (begin(deck, remote->name, &entry, err) < 0)
		return -1;
	if (toml_rename_table(change_of(&entry, &entry.file.text), name, &text, err) < 0)
		return -1;
	replace_string(&entry.parts.items[1], name);
	/* Without the key it was the name. */
	cleanup_json struct json_object *ssh = remote->ssh ? json_text(remote->ssh) : NULL;
	if (ssh && streq(remote->ssh, remote->name) && set(&entry, "ssh", ssh, &text, err) < 0)
		return -1;
	return end(deck, &entry, &text, err);
}
