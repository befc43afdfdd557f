/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/preferences.h"

#include "base/fsutil.h"
#include "engine/deck/agentfiles.h"
#include "engine/deck/configfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define AGENTS "agents"

enum { FILE_MAX = 1 << 20 };

/* Coarse on purpose. */
static bool may_have_secrets(const char *text)
{
	return strstr(text, "environment") != NULL;
}

int preferences_pack(struct deck *deck, struct parcels *ret, struct strvec *ret_left,
		     struct error *err)
{
	cleanup_strbuf struct strbuf config = { 0 };
	cleanup_strvec struct strvec paths = { 0 };
	const int r = deck_read_config(deck, &config, err);
	if (r < 0)
		return -1;
	if (r == 0)
		ret->config = xstrdup(strbuf_text(&config));
	agentfiles_list(deck->paths.config, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		cleanup_strbuf struct strbuf text = { 0 };
		const int found = fs_read(AT_FDCWD, paths.items[i], FILE_MAX, &text, err);
		if (found < 0)
			return -1;
		if (found == 0 && may_have_secrets(strbuf_text(&text))) {
			strvec_push(ret_left, paths.items[i]);
		} else if (found == 0) {
			strvec_push_take(&ret->agents, agentfiles_name(paths.items[i]));
			strvec_push(&ret->agent_texts, strbuf_text(&text));
		}
	}
	return 0;
}

static char *agent_path(const struct deck *deck, const char *name)
{
	return xasprintf("%s/" AGENTS "/%s.toml", deck->paths.config, name);
}

/* Absent, the same, or another one. */
enum { AGENT_ABSENT = FS_ABSENT, AGENT_SAME, AGENT_DIFFERS };
static int look_at_agent(const char *path, const char *text, struct error *err)
{
	cleanup_strbuf struct strbuf here = { 0 };
	const int r = fs_read(AT_FDCWD, path, FILE_MAX, &here, err);
	if (r != 0)
		return r;
	return streq(strbuf_text(&here), text) ? AGENT_SAME : AGENT_DIFFERS;
}

int preferences_compare(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			struct error *err)
{
	cleanup_configfile struct configfile config = { 0 };
	if (parcels->config && configfile_read(deck, &config, err) < 0)
		return -1;
	if (config.exists && !streq(strbuf_text(&config.text), parcels->config))
		strvec_pushf(ret, "%s differs from the one in the file, and stays", config.path);
	for (size_t i = 0; i < parcels->agents.count; i++) {
		cleanup_free char *path = agent_path(deck, parcels->agents.items[i]);
		const int r = look_at_agent(path, parcels->agent_texts.items[i], err);
		if (r < 0)
			return -1;
		if (r == AGENT_DIFFERS)
			strvec_pushf(ret, "%s differs from the one in the file, and stays", path);
	}
	return 0;
}

static int restore_config(struct deck *deck, const char *text, struct strvec *ret,
			  struct error *err)
{
	cleanup_configfile struct configfile file = { 0 };
	cleanup_strbuf struct strbuf content = { 0 };
	if (configfile_read(deck, &file, err) < 0)
		return -1;
	if (file.exists)
		return 0;
	strbuf_adds(&content, text);
	const int r = configfile_replace(deck, &file, &content, err);
	if (r == 0)
		strvec_pushf(ret, "%s: restored", file.path);
	return r < 0 ? -1 : 0;
}

/* A new file, whole or not at all: somebody else's file of this name stays. */
static int write_agent(int directory, const char *name, const char *text, struct error *err)
{
	cleanup_free char *temporary = xasprintf(FS_TEMPORARY_PREFIX "%s", name);
	if (fs_replace(directory, temporary, text, strlen(text), FS_DURABLE, err) < 0)
		return -1;
	const int r = linkat(directory, temporary, directory, name, 0);
	const int why = errno;
	if (fs_remove(directory, temporary, err) < 0)
		return -1;
	return r < 0 ? error_set_errno(err, why, "write %s", name) : 0;
}

static int restore_agents(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			  struct error *err)
{
	cleanup_close int config = -1, directory = -1;
	if (!parcels->agents.count)
		return 0;
	if (fs_open_private_directory(deck->paths.config, &config, err) < 0 ||
	    fs_open_private_directory_at(config, AGENTS, true, &directory, err) < 0)
		return -1;
	for (size_t i = 0; i < parcels->agents.count; i++) {
		cleanup_free char *path = agent_path(deck, parcels->agents.items[i]);
		cleanup_free char *name = xasprintf("%s.toml", parcels->agents.items[i]);
		const int r = look_at_agent(path, parcels->agent_texts.items[i], err);
		if (r < 0)
			return -1;
		if (r != AGENT_ABSENT)
			continue;
		if (write_agent(directory, name, parcels->agent_texts.items[i], err) < 0)
			return -1;
		strvec_pushf(ret, "%s: restored", path);
	}
	return 0;
}

int preferences_restore(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			struct error *err)
{
	if (parcels->config && restore_config(deck, parcels->config, ret, err) < 0)
		return -1;
	return restore_agents(deck, parcels, ret, err);
}
