/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/preferences.h"

#include "base/fsutil.h"
#include "engine/deck/agentfiles.h"
#include "engine/deck/configfile.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENTS "agents"

enum { FILE_MAX = 1 << 20 };

/* Coarse on purpose. */
static bool may_have_secrets(const char *text)
{
	return strstr(text, "environment") != NULL;
}

void preferences_left_clear(struct preferences_left *left)
{
	strvec_clear(&left->paths);
	strvec_clear(&left->reasons);
}

static void leave(struct preferences_left *left, const char *path, const char *why)
{
	strvec_push(&left->paths, path);
	strvec_push(&left->reasons, why);
}

/* Like agentfiles_apply() does: it may be a link of the user's.  FS_ABSENT: there is none. */
static int read_agent(const char *path, struct strbuf *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && lstat(path, &st) < 0
			       ? FS_ABSENT
			       : error_set_errno(err, errno, "open %s", path);
	if (fs_check_author(fd, path, err) < 0 || fs_read_fd(fd, path, FILE_MAX, ret, err) < 0)
		return -1;
	return is_utf8(strbuf_text(ret), ret->length)
		       ? 0
		       : error_set(err, ERROR_CORRUPT, "%s is not UTF-8", path);
}

static void pack_agent(const char *path, struct parcels *ret, struct preferences_left *ret_left)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error why = { 0 };
	cleanup_free char *name = agentfiles_name(path);
	/* agentdeck ignores a file of such a name. */
	const int r = naming_is_agent(name) ? read_agent(path, &text, &why) : FS_ABSENT;
	if (r < 0) {
		leave(ret_left, path, why.message);
	} else if (r == 0 && may_have_secrets(strbuf_text(&text))) {
		leave(ret_left, path, "it sets variables, which may be secrets");
	} else if (r == 0) {
		strvec_push(&ret->agents, name);
		strvec_push(&ret->agent_texts, strbuf_text(&text));
	}
}

void preferences_pack(struct deck *deck, struct parcels *ret, struct preferences_left *ret_left)
{
	cleanup_strbuf struct strbuf config = { 0 };
	cleanup_strvec struct strvec paths = { 0 };
	cleanup_error struct error why = { 0 };
	cleanup_free char *path = path_join(deck->paths.config, DECK_CONFIG);
	const int r = deck_read_config(deck, &config, &why);
	if (r < 0)
		leave(ret_left, path, why.message);
	else if (r == 0)
		ret->config = xstrdup(strbuf_text(&config));
	agentfiles_list(deck->paths.config, &paths);
	for (size_t i = 0; i < paths.count; i++)
		pack_agent(paths.items[i], ret, ret_left);
}

static char *agent_path(const struct deck *deck, const char *name)
{
	return xasprintf("%s/" AGENTS "/%s.toml", deck->paths.config, name);
}

/* What becomes of a file. */
enum fate {
	FATE_NEW,  /* it does not exist here */
	FATE_SAME, /* as in the file */
	FATE_STAYS /* it differs, or cannot be used: *ret_why */
};

static enum fate fate_of_agent(const char *path, const char *text, struct error *ret_why)
{
	cleanup_strbuf struct strbuf here = { 0 };
	const int r = read_agent(path, &here, ret_why);
	if (r == FS_ABSENT)
		return FATE_NEW;
	if (r == 0 && streq(strbuf_text(&here), text))
		return FATE_SAME;
	if (r == 0)
		error_set(ret_why, ERROR_EXISTS, "%s differs from the one in the file, and stays",
			  path);
	return FATE_STAYS;
}

static enum fate fate_of_config(const struct deck *deck, const char *text,
				struct configfile *ret_here, struct error *ret_why)
{
	cleanup_settings struct settings settings = { 0 };
	if (configfile_read(deck, ret_here, ret_why) < 0)
		return FATE_STAYS;
	if (ret_here->exists && streq(strbuf_text(&ret_here->text), text))
		return FATE_SAME;
	if (ret_here->exists) {
		error_set(ret_why, ERROR_EXISTS, "%s differs from the one in the file, and stays",
			  ret_here->path);
		return FATE_STAYS;
	}
	if (settings_parse(text, strlen(text), DECK_CONFIG, &settings, ret_why) == 0)
		return FATE_NEW;
	error_prefix(ret_why, "the " DECK_CONFIG " in the file is left out");
	return FATE_STAYS;
}

static void tell(enum fate fate, const char *path, const struct error *why, struct strvec *ret_new,
		 struct strvec *ret)
{
	if (fate == FATE_NEW)
		strvec_pushf(ret_new, "%s: will be restored", path);
	else if (fate == FATE_STAYS)
		strvec_push(ret, why->message);
}

void preferences_compare(struct deck *deck, const struct parcels *parcels, struct strvec *ret_new,
			 struct strvec *ret)
{
	cleanup_configfile struct configfile config = { 0 };
	if (parcels->config) {
		cleanup_error struct error why = { 0 };
		const enum fate fate = fate_of_config(deck, parcels->config, &config, &why);
		tell(fate, config.path, &why, ret_new, ret);
	}
	for (size_t i = 0; i < parcels->agents.count; i++) {
		cleanup_error struct error why = { 0 };
		cleanup_free char *path = agent_path(deck, parcels->agents.items[i]);
		tell(fate_of_agent(path, parcels->agent_texts.items[i], &why), path, &why, ret_new,
		     ret);
	}
}

static int restore_config(struct deck *deck, const char *text, struct strvec *ret,
			  struct error *err)
{
	cleanup_configfile struct configfile file = { 0 };
	cleanup_strbuf struct strbuf content = { 0 };
	cleanup_error struct error why = { 0 };
	if (fate_of_config(deck, text, &file, &why) != FATE_NEW)
		return 0;
	strbuf_adds(&content, text);
	const int r = configfile_replace(deck, &file, &content, err);
	if (r == 0)
		strvec_pushf(ret, "%s: restored", file.path);
	return r < 0 ? -1 : 0;
}

static int write_temporary(int directory, const char *temporary, const char *text,
			   struct error *err)
{
	cleanup_close int fd = fs_openat(
		directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_file(err, errno, "make %s", temporary);
	if (fs_write_all(fd, text, strlen(text), temporary, err) < 0)
		return -1;
	return fs_flush(fd) < 0 ? error_set_file(err, errno, "sync %s", temporary) : 0;
}

/* A new file, whole or not at all: an existing file of this name stays. */
static int write_agent(int directory, const char *name, const char *text, struct error *err)
{
	cleanup_free char *id = naming_new_uuid();
	cleanup_free char *temporary = xasprintf(".%s.tmp", id);
	int r = write_temporary(directory, temporary, text, err);
	if (r == 0 && fs_rename_new(directory, temporary, name) < 0)
		r = error_set_file(err, errno, "write %s", name);
	if (r < 0)
		(void)unlinkat(directory, temporary, 0);
	else if (fs_flush(directory) < 0)
		r = error_set_file(err, errno, "sync the directory of %s", name);
	return r;
}

/* Like configfile_open_directory() does: what exists is the user's, and may be a link. */
static int open_directory(const struct deck *deck, int *ret, struct error *err)
{
	const char *path = deck->paths.config;
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	cleanup_close int config = open(path, flags);
	if (config < 0 && errno == ENOENT && fs_open_private_directory(path, &config, err) < 0)
		return -1;
	if (config < 0)
		return error_set_file(err, errno, "open %s", path);
	if (mkdirat(config, AGENTS, 0700) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "make %s/" AGENTS, path);
	if (fs_flush(config) < 0)
		return error_set_file(err, errno, "sync %s", path);
	const int fd = openat(config, AGENTS, flags);
	if (fd < 0)
		return error_set_file(err, errno, "open %s/" AGENTS, path);
	*ret = fd;
	return 0;
}

static int restore_agents(struct deck *deck, const struct parcels *parcels, struct strvec *ret,
			  struct error *err)
{
	cleanup_close int directory = -1;
	for (size_t i = 0; i < parcels->agents.count; i++) {
		cleanup_error struct error why = { 0 };
		cleanup_free char *path = agent_path(deck, parcels->agents.items[i]);
		cleanup_free char *name = xasprintf("%s.toml", parcels->agents.items[i]);
		if (fate_of_agent(path, parcels->agent_texts.items[i], &why) != FATE_NEW)
			continue;
		if (directory < 0 && open_directory(deck, &directory, err) < 0)
			return -1;
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
