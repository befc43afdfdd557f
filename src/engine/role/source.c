/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/role/source.h"

#include "base/fsutil.h"
#include "driver/context/context.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define OF_ROLES ".devcontainer"

void role_source_clear(struct role_source *source)
{
	free(source->root);
	free(source->file);
	free(source->name);
	free(source->where);
	free(source->url);
	free(source->ref);
	free(source->commit);
	free(source->before);
	free(source->text);
	free(source->context);
	free(source->dockerfile);
	free(source->dockerfile_text);
	role_clear(&source->role);
	*source = (struct role_source){ 0 };
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool exists(const char *directory, const char *name)
{
	cleanup_free char *path = path_join(directory, name);
	return access(path, F_OK) == 0;
}

/* .devcontainer/NAME/devcontainer.json */
static void find_named(const char *directory, struct strvec *ret)
{
	cleanup_free char *roles = path_join(directory, OF_ROLES);
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = fs_openat(AT_FDCWD, roles, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *path = xasprintf(OF_ROLES "/%s/" ROLE_FILE, names.items[i]);
		if (exists(directory, path))
			strvec_push(ret, path);
	}
}

/* *ret, the caller's: its path below the directory. */
static int find_file(const char *directory, char **ret, struct error *err)
{
	static const char *const usual[] = { (OF_ROLES "/" ROLE_FILE), ("." ROLE_FILE), ROLE_FILE };
	cleanup_strvec struct strvec named = { 0 };
	cleanup_free char *shown = visible(directory);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (exists(directory, usual[i])) {
			*ret = xstrdup(usual[i]);
			return 0;
		}
	find_named(directory, &named);
	if (named.count > 1)
		return error_set(err, ERROR_USAGE,
				 "%s has several roles in " OF_ROLES ": name the directory of one "
				 "of them",
				 shown);
	if (!named.count)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s has no role: there is no " OF_ROLES "/" ROLE_FILE " in it",
				 shown);
	*ret = xstrdup(named.items[0]);
	return 0;
}

/* The directory of an absolute path.  The caller frees. */
static char *directory_of(const char *path)
{
	const size_t length = (size_t)(path_basename(path) - path);
	return xstrndup(path, length > 1 ? length - 1 : 1);
}

/* A role whose file is in PROJECT/.devcontainer or PROJECT/.devcontainer/NAME has the project's
 * files, too.  The caller frees. */
static char *root_of(const char *directory, const char *top)
{
	cleanup_free char *above = directory_of(directory);
	const char *roles = streq(path_basename(directory), OF_ROLES) ? directory
			    : streq(path_basename(above), OF_ROLES)   ? above
								      : NULL;
	cleanup_free char *project = roles ? directory_of(roles) : NULL;
	const bool is_inside = project && path_is_below(project, top ? top : "/") &&
			       !streq(project, "/");
	return is_inside ? TAKE_PTR(project) : xstrdup(directory);
}

/* The real path of what a role names; it does not lead out of the directory. */
static int settle_path(const char *from, const char *name, const char *inside, char **ret,
		       struct error *err)
{
	cleanup_free char *path = path_join(from, name), *shown = visible(path);
	cleanup_free char *real = realpath(path, NULL);
	if (!real)
		return errno == ENOENT || errno == ENOTDIR
			       ? error_set(err, ERROR_NOT_FOUND,
					   "the role names %s, which does "
					   "not exist",
					   shown)
			       : error_set_file(err, errno, "the role names %s", shown);
	if (!path_is_below(real, inside)) {
		cleanup_free char *outside = visible(inside);
		return error_set(err, ERROR_INVALID, "the role names %s, which is not in %s", shown,
				 outside);
	}
	*ret = TAKE_PTR(real);
	return 0;
}

static int read_text(const char *path, size_t most, char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const int r = fs_read(AT_FDCWD, path, most, &text, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "%s was removed just now: try again", path);
	if (r == 0)
		*ret = strbuf_take(&text);
	return r;
}

/* ---- the Dockerfile -------------------------------------------------------------------------- */

static int settle_build(struct role_source *source, struct error *err)
{
	const struct role *role = &source->role;
	cleanup_free char *here = directory_of(source->file);
	if (!role->dockerfile)
		return 0;
	if (settle_path(here, role->context ? role->context : ".", source->root, &source->context,
			err) < 0 ||
	    settle_path(here, role->dockerfile, source->context, &source->dockerfile, err) < 0)
		return -1;
	/* podman takes a list in JSON for the names of other files, and for URLs. */
	if (strpbrk(role_source_dockerfile(source), "[\"\\"))
		return error_set(
			err, ERROR_INVALID,
			"the role's Dockerfile has a path with [, \" or \\: give it another "
			"one");
	return read_text(source->dockerfile, CONTEXT_MAX_TEXT, &source->dockerfile_text, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* HOME and USER only say who the user is. */
static void gather_variables(const struct container_defaults *defaults, struct strvec *ret)
{
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "HOME", "USER", NULL });
	strvec_push_all(&names, &defaults->role_env);
	for (size_t i = 0; i < names.count; i++) {
		const char *value = getenv(names.items[i]);
		if (value)
			strvec_pushf(ret, "%s=%s", names.items[i], value);
	}
}

static int read_role(const struct deck *deck, const struct role_place *place,
		     struct role_source *source, struct error *err)
{
	const struct container_defaults defaults = settings_container(&deck->settings,
								      place->group);
	cleanup_strvec struct strvec variables = { 0 };
	cleanup_free char *shown = visible(source->name);
	struct role_order order = { .path = shown,
				    .workspace = place->workspace ? place->workspace : source->root,
				    .environment = &variables,
				    .rights = RIGHTS_STANDARD };
	gather_variables(&defaults, &variables);
	if (defaults.role_rights)
		(void)recipe_rights_parse(defaults.role_rights, &order.rights);
	return role_read(source->text, strlen(source->text), &order, &source->role, err);
}

static int refuse_directory(const char *directory, struct error *err)
{
	cleanup_free char *shown = visible(directory);
	return error_set(err, ERROR_NOT_FOUND, "%s is no directory", shown);
}

/* A link of a repository can lead to another part of it, and no further. */
static int check_top(const struct role_place *place, const char *real, struct error *err)
{
	cleanup_free char *shown = visible(place->directory);
	return !place->top || path_is_below(real, place->top)
		       ? 0
		       : error_set(err, ERROR_INVALID, "%s leads out of its repository", shown);
}

static int find_in(const struct role_place *place, struct role_source *source, struct error *err)
{
	cleanup_free char *real = NULL, *name = NULL;
	const int r = fs_real_directory(place->directory, &real, err);
	if (r != 0)
		return r < 0 ? -1 : refuse_directory(place->directory, err);
	if (check_top(place, real, err) < 0 || find_file(real, &name, err) < 0)
		return -1;
	cleanup_free char *path = path_join(real, name), *here = directory_of(path);
	source->root = root_of(here, place->top);
	source->where = TAKE_PTR(real);
	return settle_path(source->where, name, source->root, &source->file, err);
}

/* A path of this machine that is a file names the role itself. */
static int find(const struct role_place *place, struct role_source *source, struct error *err)
{
	struct stat st;
	const bool is_file = !place->top && stat(place->directory, &st) == 0 && S_ISREG(st.st_mode);
	cleanup_free char *real = is_file ? realpath(place->directory, NULL) : NULL;
	if (!real)
		return find_in(place, source, err);
	cleanup_free char *here = directory_of(real);
	source->root = root_of(here, NULL);
	source->where = xstrdup(real);
	source->file = TAKE_PTR(real);
	return 0;
}

int role_source_find(const char *directory, char **ret, struct error *err)
{
	const struct role_place place = { .directory = directory };
	cleanup_role_source struct role_source source = { 0 };
	if (find_in(&place, &source, err) < 0)
		return -1;
	*ret = TAKE_PTR(source.file);
	return 0;
}

int role_source_read_at(const struct deck *deck, const struct role_place *place,
			struct role_source *ret, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	if (find(place, &source, err) < 0)
		return -1;
	source.name = place->top ? xasprintf("%s%s", place->called,
					     source.file + strlen(place->top) + 1)
				 : xstrdup(source.file);
	if (read_text(source.file, ROLE_MAX_BYTES, &source.text, err) < 0 ||
	    read_role(deck, place, &source, err) < 0 || settle_build(&source, err) < 0)
		return -1;
	*ret = source;
	source = (struct role_source){ 0 };
	return 0;
}

int role_source_read(const struct deck *deck, const char *path, const char *workspace,
		     const char *group, struct role_source *ret, struct error *err)
{
	const struct role_place place = { .directory = path,
					  .workspace = workspace,
					  .group = group };
	return role_source_read_at(deck, &place, ret, err);
}

/* ---- its digest ------------------------------------------------------------------------------ */

const char *role_source_dockerfile(const struct role_source *source)
{
	const char *path = source->dockerfile;
	return path ? path + strlen(source->context) + strspn(path + strlen(source->context), "/")
		    : NULL;
}

/* NULL: the file is in no such directory.  The caller frees. */
static char *directory_of_roles(const struct role_source *source)
{
	cleanup_free char *roles = path_join(source->root, OF_ROLES);
	return path_is_below(source->file, roles) ? TAKE_PTR(roles) : NULL;
}

static int digest_directory(const struct context *context, char ret[static SHA256_TEXT_SIZE],
			    struct error *err)
{
	const int r = context_pack(context, -1, ret, err);
	return r > 0 ? error_set(err, ERROR_NOT_FOUND, "%s changed just now: try again",
				 context->directory)
		     : r;
}

/* Each with its length, so that no two roles are the same text. */
static void add_part(struct sha256 *hash, const char *name, const char *text)
{
	cleanup_free char *head = xasprintf("%s %zu\n", name, strlen(or_empty(text)));
	sha256_add(hash, head, strlen(head));
	sha256_add(hash, or_empty(text), strlen(or_empty(text)));
}

int role_source_digest(struct role_source *source, struct error *err)
{
	const struct role *role = &source->role;
	cleanup_free char *roles = directory_of_roles(source);
	cleanup_free char *mounts = strvec_join(&role->mounts, "\n");
	cleanup_free char *capabilities = strvec_join(&role->cap_add, "\n");
	const struct context whole = { .directory = roles, .is_whole = true };
	const struct context build = { .directory = source->context,
				       .dockerfile = role_source_dockerfile(source),
				       /* What its user is shown, whatever is there now. */
				       .text = source->dockerfile_text };
	char of_roles[SHA256_TEXT_SIZE] = "", of_build[SHA256_TEXT_SIZE] = "";
	struct sha256 hash;
	if ((roles && digest_directory(&whole, of_roles, err) < 0) ||
	    (source->context && digest_directory(&build, of_build, err) < 0))
		return -1;
	sha256_begin(&hash);
	add_part(&hash, "file", source->text);
	add_part(&hash, "roles", of_roles);
	add_part(&hash, "context", of_build);
	add_part(&hash, "dockerfile", role_source_dockerfile(source));
	add_part(&hash, "mounts", mounts);
	add_part(&hash, "capabilities", capabilities);
	add_part(&hash, "network", role->network);
	if (role->docker)
		add_part(&hash, "docker", role->docker);
	sha256_end(&hash, source->digest);
	memcpy(source->context_digest, of_build, sizeof(of_build));
	return 0;
}
