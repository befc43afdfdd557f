/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/agentfiles.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SUFFIX ".toml"

enum { AGENT_FILE_MAX = 1 << 20 };

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void agentfiles_list(const char *config, struct strvec *ret)
{
	cleanup_strvec struct strvec files = { 0 };
	cleanup_free char *directory = path_join(config, "agents");
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fs_list(fd, &files, NULL) < 0 || !files.count)
		return;
	qsort(files.items, files.count, sizeof(*files.items), compare);
	for (size_t i = 0; i < files.count; i++)
		if (ends_with(files.items[i], SUFFIX) && files.items[i][0] != '.')
			strvec_push_take(ret, path_join(directory, files.items[i]));
}

char *agentfiles_name(const char *path)
{
	const char *name = path_basename(path);
	size_t length = strlen(name);
	return xstrndup(name, ends_with(name, SUFFIX) ? length - strlen(SUFFIX) : length);
}

int agentfiles_apply(struct registry *registry, const char *path, struct strbuf *ret_text,
		     struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *name = agentfiles_name(path);
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (fs_check_author(fd, path, err) < 0 ||
	    fs_read_fd(fd, path, AGENT_FILE_MAX, &text, err) < 0)
		return -1;
	int r = registry_override(registry, name, strbuf_text(&text), text.length, path, err);
	if (ret_text) {
		strbuf_free(ret_text);
		*ret_text = text;
		text = (struct strbuf){ 0 };
	}
	return r;
}
