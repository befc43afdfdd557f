/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/neworder.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "base/nearest.h"
#include "cli/cmd/roles.h"
#include "cli/show/output.h"
#include "driver/git/git.h"
#include "engine/deck/stages.h"
#include "engine/place/alive.h"
#include "model/session/tags.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const new_resume_words[3] = { "auto", "confirm", "never" };
const char *const new_restart_words[3] = { "no", "on-failure", "always" };

struct offer new_offer(const struct new_options *options)
{
	return (struct offer){ .kind = VALUE_AGENT_ARGUMENT,
			       .agent = options->agent,
			       .command = options->command };
}

static int read_end(const struct new_options *options, enum end_policy *ret, struct error *err)
{
	if (options->keep && options->clean)
		return error_set(err, ERROR_USAGE,
				 "--keep and --clean exclude each other: choose one");
	*ret = options->keep ? END_KEEP : options->clean ? END_CLEAN : END_DEFAULT;
	return 0;
}

/* "launch --worktree fix-login": a word that is no directory names the branch and the session. */
static bool is_name(const struct app *app, const struct new_options *options)
{
	const char *word = app->operands.count ? app->operands.items[0] : "";
	return (options->tree.worktree || options->tree.clone) && !options->tree.branch && *word &&
	       !strchr(word, '/') && access(word, F_OK) != 0 && errno == ENOENT;
}

/* The word may be a directory's name with a typing error, and nothing is made on a guess. */
static int take_name(const struct app *app, const char *word, struct error *err)
{
	cleanup_close int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	cleanup_nearest struct nearest nearest = nearest_begin(word);
	if (here >= 0)
		(void)fs_list(here, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		struct stat status;
		const char *name = names.items[i];
		if (!starts_with(name, word) && fstatat(here, name, &status, 0) == 0 &&
		    S_ISDIR(status.st_mode))
			nearest_consider(&nearest, name, name);
	}
	cleanup_free char *meant = nearest_text(&nearest, 2);
	cleanup_free char *shown = visible(word);
	if (meant)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not an existing directory: did you mean %s? To name the "
				 "branch so: --branch %s",
				 shown, meant, shown);
	if (!app->json && !app->quiet)
		complain("%s is no directory here: it names the branch", shown);
	return 0;
}

/* What the command line and the configuration do not say, the role says. */
static int read_role(struct app *app, const struct new_options *options, struct new_order *ret,
		     struct error *err)
{
	const struct role_session place = { ret->session.directory, options->group };
	stages_enter(&app->deck, STAGE_ROLE);
	const int r = role_choose(app, &options->container, &place, &ret->role, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	ret->container.role = &ret->role;
	if (!options->agent && !options->command)
		ret->session.agent = ret->role.role.agent;
	return 0;
}

/* --in: the session whose container and directory it gets. */
static int read_owner(struct app *app, const struct new_options *options, struct new_order *ret,
		      struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app->operands.count || ret->session.tree || options->session_id)
		return error_set(err, ERROR_USAGE,
				 "--in takes the directory of that session as it is: omit %s",
				 app->operands.count ? "the path"
				 : ret->session.tree ? "--worktree and --clone"
						     : "--session-id");
	if (memcmp(&options->limits.limits, &(struct limits){ 0 }, sizeof(struct limits)) != 0)
		return error_set(err, ERROR_USAGE,
				 "limits are of the container, which is that of another session: "
				 "set them there with agentdeck session limit");
	if (app_resolve(app, options->container.within, &rows, &row, err) < 0 ||
	    deck_load(&app->deck, row->base, &ret->within, err) < 0)
		return -1;
	ret->session.within = ret->within;
	ret->session.directory = instance_lookup_directory(ret->within);
	return 0;
}

int new_read(struct app *app, const struct new_options *options, struct new_order *ret,
	     struct error *err)
{
	const bool is_default = settings_container(&app->deck.settings, options->group).enabled ==
				ON;
	int r = container_read_options(&options->container, is_default, &ret->container, err);
	if (r < 0)
		return -1;
	enum end_policy end_policy;
	const int tree = tree_read_options(&options->tree, &ret->tree, err);
	if (tree < 0 || read_end(options, &end_policy, err) < 0)
		return -1;
	if (tags_join(&options->tags, &ret->tags, err) < 0)
		return -1;
	if (options->command && argsplit(options->command, &ret->command, err) < 0)
		return error_prefix(err, "-c");
	if (options->command && ret->command.count == 0)
		return error_set(err, ERROR_USAGE, "-c is empty: name a program");
	ret->asks_nothing = options->quick;
	const char *word = app->operands.count ? app->operands.items[0] : ".";
	const bool has_name = is_name(app, options);
	if (has_name && take_name(app, word, err) < 0)
		return -1;
	if (has_name)
		ret->tree.branch = word;
	ret->session = (struct lifecycle_new){
		.title = has_name && !options->title ? word : options->title,
		.once = app->once,
		.group = options->group,
		.tags = ret->tags,
		.directory = has_name ? "." : word,
		.agent = options->agent,
		.argv = &ret->command,
		.arguments = &app->rest,
		.session_id = options->session_id,
		.resume = options->resume,
		.restart = options->restart,
		.end_policy = end_policy,
		.limits = options->limits.limits,
		.container = r == 0 ? &ret->container : NULL,
		.tree = tree == 0 ? &ret->tree : NULL,
	};
	if (r != 0)
		return 0;
	if (options->container.within)
		return read_owner(app, options, ret, err);
	(void)stages_begin(&app->deck);
	return read_role(app, options, ret, err);
}

void new_note_neighbour(struct app *app, const struct instance *added)
{
	const char *directory = instance_lookup_directory(added);
	cleanup_store_rows struct store_rows rows = { 0 };
	if (app->json || app->quiet || added->workspace ||
	    store_list(app->deck.store, &rows, NULL) < 0)
		return;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (row->damage || streq(row->base, added->base) ||
		    !streq(row->lookup_directory, directory) || !place_is_live(&row->run))
			continue;
		cleanup_free char *title = visible(row->title);
		cleanup_free char *command = argjoin(
			(char *const[]){ (char *)(uintptr_t)directory, NULL });
		cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
		cleanup_free char *advice =
			gitcmd_find(directory, &repository, NULL) != 0
				? NULL
				: xasprintf(". To give a session a tree to itself: agentdeck "
					    "launch --worktree %s",
					    command);
		complain("%s works in %s, too, and both can change the same files%s", title,
			 command, or_empty(advice));
		return;
	}
}

void new_say_tree(const struct app *app, const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	if (workspace && !app->json && !app->quiet)
		say("Its %s is %s, on branch %s.", workspace_kind_name(workspace->kind),
		    workspace->path, workspace->branch);
}

void new_free(struct new_order *order)
{
	strvec_clear(&order->command);
	free(order->tags);
	role_source_clear(&order->role);
	instance_free(order->within);
}
