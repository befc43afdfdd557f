/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/agenthome.h"

#include "base/fsutil.h"
#include "base/jsonio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME_SLOT      "{home}/"
#define DIRECTORY_SLOT "{directory}"
#define KEYS_SLOT      "{key_ends}"

/* The names of files that a crash leaves in the agent's home. */
#define TEMPORARY_PREFIX ".agentdeck-home-"

enum { SEED_MAX = 16 << 20 };

/* ---- paths ----------------------------------------------------------------------------------- */

/* The directory that a file's path leads to, opened part by part.  path is below dirfd. */
struct spot {
	int directory;
	const char *name; /* in it; borrowed from the path */
};
#define NO_SPOT ((struct spot){ .directory = -1 })
static void spot_close(struct spot *spot)
{
	if (spot->directory >= 0)
		close(spot->directory);
}
#define cleanup_spot CLEANUP(spot_close)

enum owner { OWNER_USER, OWNER_AGENT };

/* A directory of the agent's must be private, and is made.  A home of the user's may be a link. */
static int enter(int dirfd, const char *name, enum owner owner, int *ret, struct error *err)
{
	const int follow = dirfd == AT_FDCWD ? 0 : O_NOFOLLOW;
	if (owner == OWNER_AGENT)
		return fs_open_private_directory_at(dirfd, name, true, ret, err);
	int fd = fs_openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow, 0);
	if (fd < 0)
		return errno == ENOENT ? FS_ABSENT : error_set_file(err, errno, "open %s", name);
	*ret = fd;
	return 0;
}

/* FS_ABSENT: a directory of the user's is missing. */
static int find_spot(const char *base, const char *path, enum owner owner, struct spot *ret,
		     struct error *err)
{
	cleanup_spot struct spot spot = NO_SPOT;
	const char *rest = path;
	int r = enter(AT_FDCWD, base, owner, &spot.directory, err);
	if (r != 0)
		return r;
	for (const char *slash; (slash = strchr(rest, '/')); rest = slash + 1) {
		cleanup_free char *name = xstrndup(rest, (size_t)(slash - rest));
		int next = -1;
		r = enter(spot.directory, name, owner, &next, err);
		if (r != 0)
			return r;
		close(spot.directory);
		spot.directory = next;
	}
	*ret = (struct spot){ .directory = TAKE_FD(spot.directory), .name = rest };
	return 0;
}

/* "~/x" and "{home}/x" below the home in the container.  The caller frees. */
static char *path_inside(const struct agenthome *home, const char *file)
{
	const char *config = or_empty(home->agent->config_home);
	if (starts_with(file, HOME_SLOT) && starts_with(config, "~/"))
		return xasprintf("%s/%s", config + 2, file + strlen(HOME_SLOT));
	return xstrdup(starts_with(file, "~/") ? file + 2 : file);
}

static int replace(const struct spot *spot, const void *data, size_t length, struct error *err)
{
	const struct fs_content content = {
		.data = data, .length = length, .sync = FS_DURABLE, .prefix = TEMPORARY_PREFIX
	};
	fs_sweep_prefix(spot->directory, TEMPORARY_PREFIX);
	return fs_replace_from(spot->directory, spot->directory, spot->name, &content, err);
}

/* ---- the seed -------------------------------------------------------------------------------- */

/* The text with the value in each place of the slot.  The caller frees. */
static char *put_slot(const char *text, const char *slot, const char *value)
{
	cleanup_strbuf struct strbuf filled = { 0 };
	for (const char *at; (at = strstr(text, slot)); text = at + strlen(slot))
		strbuf_addf(&filled, "%.*s%s", (int)(at - text), text, value);
	strbuf_adds(&filled, text);
	return xstrdup(strbuf_text(&filled));
}

/* An agent that asks before it uses a key notes the end of one that its user has agreed to.  A
 * short key would be there as a whole. */
static struct json_object *key_ends(const struct agenthome *home)
{
	enum { LEAST = 40, END = 20 };
	struct json_object *ends = json_object_new_array();
	for (size_t i = 0; home->secrets && i < home->secrets->count; i++) {
		const char *secret = home->secrets->items[i], *equals = strchr(secret, '=');
		cleanup_free char *name = xstrndup(secret, (size_t)(equals - secret));
		const size_t length = strlen(equals + 1);
		if (length >= LEAST && strvec_contains(&home->agent->login_variables, name))
			json_object_array_add(ends, json_text(equals + 1 + length - END));
	}
	return ends;
}

static char *seed_of(const struct agenthome *home)
{
	cleanup_json struct json_object *directory = json_text(home->directory),
					*ends = key_ends(home);
	/* TOML does not know "\/". */
	const int how = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	cleanup_free char *text = put_slot(home->agent->seed_text, KEYS_SLOT,
					   json_object_to_json_string_ext(ends, how));
	return put_slot(text, DIRECTORY_SLOT, json_object_to_json_string_ext(directory, how));
}

static bool has_element(struct json_object *array, struct json_object *wanted)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		if (json_object_equal(json_object_array_get_idx(array, i), wanted))
			return true;
	return false;
}

static bool add_elements(struct json_object *to, struct json_object *from)
{
	bool changed = false;
	for (size_t i = 0; i < json_object_array_length(from); i++) {
		struct json_object *element = json_object_array_get_idx(from, i);
		if (has_element(to, element))
			continue;
		json_object_array_add(to, json_object_get(element));
		changed = true;
	}
	return changed;
}

/* Returns whether something was added. */
static bool add_missing(struct json_object *to, struct json_object *from)
{
	bool changed = false;
	json_object_object_foreach(from, name, value) {
		struct json_object *present = NULL;
		if (!json_object_object_get_ex(to, name, &present)) {
			json_set(to, name, json_object_get(value));
			changed = true;
		} else if (json_object_is_type(present, json_type_object) &&
			   json_object_is_type(value, json_type_object)) {
			changed |= add_missing(present, value);
		} else if (json_object_is_type(present, json_type_array) &&
			   json_object_is_type(value, json_type_array)) {
			changed |= add_elements(present, value);
		}
	}
	return changed;
}

/* A file that cannot be read as an object stays as it is: it is the agent's. */
static int complete(const struct spot *spot, const char *now, const char *seed, struct error *err)
{
	cleanup_json struct json_object *object = NULL, *wanted = NULL;
	if (json_parse(now, strlen(now), spot->name, &object, NULL) < 0 ||
	    json_parse(seed, strlen(seed), "seed", &wanted, NULL) < 0 ||
	    !json_object_is_type(object, json_type_object) ||
	    !json_object_is_type(wanted, json_type_object) || !add_missing(object, wanted))
		return 0;
	const char *text = json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	return replace(spot, text, strlen(text), err);
}

int agenthome_seed(const struct agenthome *home, struct error *err)
{
	cleanup_spot struct spot spot = NO_SPOT;
	cleanup_strbuf struct strbuf now = { 0 };
	if (!home->agent->seed_file)
		return 0;
	cleanup_free char *path = path_inside(home, home->agent->seed_file);
	cleanup_free char *seed = seed_of(home);
	if (find_spot(home->path, path, OWNER_AGENT, &spot, err) < 0)
		return -1;
	int r = fs_read(spot.directory, spot.name, SEED_MAX, &now, err);
	if (r < 0)
		return -1;
	return r == FS_ABSENT ? replace(&spot, seed, strlen(seed), err)
			      : complete(&spot, strbuf_text(&now), seed, err);
}

/* ---- the login ------------------------------------------------------------------------------- */

/* The file, opened, for which fstat(2) said this.  FS_ABSENT. */
static int open_login(const struct spot *spot, int *ret, struct stat *ret_st, struct error *err)
{
	cleanup_close int fd = fs_openat(spot->directory, spot->name,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return errno == ENOENT  ? FS_ABSENT
		       : errno == ELOOP ? error_set(err, ERROR_INVALID,
						    "it is a link, which is not followed")
					: error_set_file(err, errno, "open");
	if (fstat(fd, ret_st) < 0)
		return error_set_file(err, errno, "stat");
	if (!S_ISREG(ret_st->st_mode))
		return error_set(err, ERROR_INVALID, "it is not a regular file");
	if (ret_st->st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "it belongs to user %u, not to you",
				 (unsigned)ret_st->st_uid);
	*ret = TAKE_FD(fd);
	return 0;
}

static bool is_newer(const struct stat *left, const struct stat *right)
{
	return left->st_mtim.tv_sec != right->st_mtim.tv_sec
		       ? left->st_mtim.tv_sec > right->st_mtim.tv_sec
		       : left->st_mtim.tv_nsec > right->st_mtim.tv_nsec;
}

static int write_login(const struct spot *spot, int source, const struct stat *st,
		       struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	int r = fs_read_fd(source, "the login", AGENTHOME_LOGIN_MAX, &text, err);
	if (r == 0)
		r = replace(spot, strbuf_text(&text), text.length, err);
	if (r == 0)
		(void)utimensat(spot->directory, spot->name, times, AT_SYMLINK_NOFOLLOW);
	if (text.data)
		explicit_bzero(text.data, text.length);
	return r;
}

/* The file is in this home: 0.  FS_ABSENT: neither there nor in the user's. */
static int copy_file(const struct agenthome *home, const char *base, const char *path,
		     const char *inside, struct error *err)
{
	cleanup_spot struct spot from = NO_SPOT, to = NO_SPOT;
	cleanup_close int source = -1;
	struct stat st = { 0 }, present = { 0 };
	int r = find_spot(home->path, inside, OWNER_AGENT, &to, err);
	if (r != 0)
		return r;
	const bool is_there = fstatat(to.directory, to.name, &present, AT_SYMLINK_NOFOLLOW) == 0;
	r = find_spot(base, path, OWNER_USER, &from, err);
	if (r == 0)
		r = open_login(&from, &source, &st, err);
	if (r < 0)
		return -1;
	/* What the agent has made of it, such as a link, is the agent's. */
	if (is_there && (r == FS_ABSENT || !S_ISREG(present.st_mode) || !is_newer(&st, &present)))
		return 0;
	return r == FS_ABSENT ? FS_ABSENT : write_login(&to, source, &st, err);
}

int agenthome_copy_login(const struct agenthome *home, const struct agenthome_user *user,
			 char **ret_reason, struct error *err)
{
	cleanup_strbuf struct strbuf missing = { 0 };
	bool has_one = false;
	const struct strvec *files = &home->agent->login_files;
	for (size_t i = 0; i < files->count; i++) {
		const bool is_slot = starts_with(files->items[i], HOME_SLOT);
		const char *base = is_slot ? user->config : user->home;
		const char *path = files->items[i] + strlen(is_slot ? HOME_SLOT : "~/");
		cleanup_free char *inside = path_inside(home, files->items[i]);
		int r = base ? copy_file(home, base, path, inside, err) : FS_ABSENT;
		if (r < 0)
			return error_prefix(err, "%s/%s", base, path);
		has_one |= r == 0;
		if (r == FS_ABSENT)
			strbuf_addf(&missing, "%s%s/%s", missing.length ? ", " : "", or_empty(base),
				    path);
	}
	*ret_reason = has_one ? NULL
			      : xasprintf("%s %s missing", strbuf_text(&missing),
					  files->count > 1 ? "are" : "is");
	return 0;
}
