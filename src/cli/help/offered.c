/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/offered.h"

#include "base/argsplit.h"
#include "base/tomltext.h"
#include "driver/git/git.h"
#include "driver/store/trash.h"
#include "engine/hosts/hosts.h"
#include "engine/run/add.h"
#include "model/settings/values.h"

#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 22 };

void candidates_put(const struct candidates *to, const char *word, const char *text)
{
	cleanup_free char *shown = text ? visible(text) : NULL;
	fprintf(to->out, "%s%s%s%s\n", to->prefix, word, shown ? "\t" : "", or_empty(shown));
}

/* ---- words --------------------------------------------------------------------------------------
 */

/* The candidates that the list does not have yet, each behind what is typed of it. */
static void put_list(const struct candidates *to, const struct offer *offer)
{
	const char *lead = or_empty(offer->lead);
	const char *list = starts_with(to->typed, lead) ? to->typed + strlen(lead) : "";
	const char *comma = strrchr(list, ',');
	cleanup_free char *done = xstrndup(list, comma ? (size_t)(comma + 1 - list) : 0);
	cleanup_free char *copy = xstrdup(done);
	cleanup_strvec struct strvec chosen = { 0 };
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, ","));)
		strvec_push(&chosen, word);
	for (size_t i = 0; i < offer->count; i++) {
		cleanup_free char *word = xasprintf("%s%s%s", lead, done, offer->words[i]);
		if (!strvec_contains(&chosen, offer->words[i]))
			candidates_put(to, word, NULL);
	}
}

static void put_words(const struct candidates *to, const struct offer *offer)
{
	if (offer->is_list) {
		put_list(to, offer);
		return;
	}
	for (size_t i = 0; i < offer->count; i++)
		if (offer->words[i])
			candidates_put(to, offer->words[i], NULL);
}

static void put_strings(const struct candidates *to, const struct strvec *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		candidates_put(to, strings->items[i], NULL);
}

/* family NULL: the first words of all commands, and their short forms. */
static void put_commands(const struct candidates *to, const char *family)
{
	cleanup_strvec struct strvec seen = { 0 };
	size_t skip = family ? strlen(family) + 1 : 0;
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		if (commands[i]->kind == COMMAND_INTERNAL ||
		    (family && !command_is_in(commands[i], family)))
			continue;
		cleanup_free char *word = xstrndup(name + skip, strcspn(name + skip, " "));
		bool several = !family && strchr(name, ' ');
		if (strvec_contains(&seen, word))
			continue;
		strvec_push(&seen, word);
		candidates_put(to, word, several ? "several commands" : commands[i]->summary);
	}
	for (size_t i = 0; !family && commands[i]; i++) {
		const char *form;
		for (size_t j = 0; (form = command_short_form(commands[i], j)); j++)
			candidates_put(to, form, commands[i]->summary);
	}
}

/* ---- sessions -----------------------------------------------------------------------------------
 */

static int list_rows(struct app *app, struct store_rows *ret, struct error *err)
{
	cleanup_free char *directory = path_join(app->deck.paths.state, app->deck.profile);
	/* Opening it would make the profile of a name that is only half typed. */
	if (access(directory, F_OK) < 0)
		return 0;
	return deck_open_store(&app->deck, err) < 0 || store_list(app->deck.store, ret, err) < 0
		       ? -1
		       : 0;
}

/* Only unarchive and show get the archived sessions; unarchive gets no others. */
static int put_sessions(const struct candidates *to, struct app *app, const struct command *command,
			struct error *err)
{
	const bool brings_back = command && streq(command->name, "session unarchive");
	const bool shows = command && streq(command->name, "session show");
	cleanup_store_rows struct store_rows rows = { 0 };
	if (list_rows(app, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		if (shows || (rows.rows[i].archived_at != 0) == brings_back)
			candidates_put(to, rows.rows[i].title, rows.rows[i].lookup_directory);
	return 0;
}

/* The groups of the sessions and of config.toml. */
static int list_groups(struct app *app, struct strvec *ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (list_rows(app, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		if (!is_empty(rows.rows[i].group) && !strvec_contains(ret, rows.rows[i].group))
			strvec_push(ret, rows.rows[i].group);
	for (size_t i = 0; i < app->deck.settings.group_count; i++)
		if (!strvec_contains(ret, app->deck.settings.groups[i].group))
			strvec_push(ret, app->deck.settings.groups[i].group);
	return 0;
}

static int put_groups(const struct candidates *to, struct app *app, struct error *err)
{
	cleanup_strvec struct strvec groups = { 0 };
	if (list_groups(app, &groups, err) < 0)
		return -1;
	put_strings(to, &groups);
	return 0;
}

static int put_removed(const struct candidates *to, struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_trash struct trash trash = { 0 };
	if (list_rows(app, &rows, err) < 0 ||
	    (app->deck.store && trash_list(app->deck.store, &trash, err) < 0))
		return -1;
	for (size_t i = 0; i < trash.count; i++)
		if (trash.items[i].instance)
			candidates_put(to, trash.items[i].instance->title,
				       instance_lookup_directory(trash.items[i].instance));
	return 0;
}

static int put_conversations(const struct candidates *to, struct app *app, const char *session,
			     struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_instance struct instance *instance = NULL;
	const struct store_row *row;
	if (list_rows(app, &rows, err) < 0 || store_resolve(&rows, session, &row, err) < 0 ||
	    deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	put_strings(to, &instance->conversation.previous);
	return 0;
}

/* ---- agents -------------------------------------------------------------------------------------
 */

static int put_agents(const struct candidates *to, struct app *app, struct error *err)
{
	const struct registry *registry;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++)
		candidates_put(to, registry->agents[i]->name, registry->agents[i]->title);
	return 0;
}

/* The flags of the agent that a new session would get.  Those that choose a conversation are left
 * out, since agentdeck does that. */
static int put_agent_arguments(const struct candidates *to, struct app *app,
			       const struct offer *offer, struct error *err)
{
	cleanup_strvec struct strvec command = { 0 };
	const struct agent *agent;
	if (to->typed[0] != '-')
		return 0;
	if (offer->command && argsplit(offer->command, &command, err) < 0)
		return -1;
	const struct lifecycle_new wish = { .agent = offer->agent, .argv = &command };
	if (lifecycle_choose_agent(&app->deck, &wish, &agent, err) < 0)
		return -1;
	put_strings(to, &agent->value_flags);
	put_strings(to, &agent->variadic_flags);
	put_strings(to, &agent->optional_flags);
	put_strings(to, &agent->once);
	return 0;
}

/* ---- the configuration --------------------------------------------------------------------------
 */

static void put_keys(const struct candidates *to, bool tables)
{
	const struct toml_key *key;
	for (size_t i = 0; (key = settings_key(i)); i++)
		if (tables || key->type != TOML_TABLE)
			candidates_put(to, key->path, key->about);
}

/* name, source, name, source */
static void put_roles(const struct candidates *to, const struct strvec *roles)
{
	for (size_t i = 0; i + 1 < roles->count; i += 2)
		candidates_put(to, roles->items[i], roles->items[i + 1]);
}

/* The keys below a table, whose names are the user's: only once the table is typed, since they are
 * many. */
static int put_members(const struct candidates *to, struct app *app, struct error *err)
{
	cleanup_strvec struct strvec groups = { 0 };
	const struct registry *registry;
	if (starts_with(to->typed, "groups") && list_groups(app, &groups, err) < 0)
		return -1;
	for (size_t i = 0; i < groups.count; i++) {
		for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
			cleanup_strvec struct strvec parts = { 0 };
			strvec_push(&parts, "groups");
			strvec_push(&parts, groups.items[i]);
			strvec_push(&parts, "limits");
			strvec_push(&parts, limit_name(limit));
			cleanup_free char *path = toml_join_key(&parts, 0);
			candidates_put(to, path, NULL);
		}
	}
	if (!starts_with(to->typed, "resume.agents"))
		return 0;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++) {
		cleanup_free char *path = xasprintf("resume.agents.%s", registry->agents[i]->name);
		candidates_put(to, path, registry->agents[i]->title);
	}
	return 0;
}

/* ---- offers -------------------------------------------------------------------------------------
 */

static int put_profiles(const struct candidates *to, struct app *app, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (deck_profiles(&app->deck, &names, err) < 0)
		return -1;
	put_strings(to, &names);
	return 0;
}

/* A directory outside of any repository has none. */
static void put_branches(const struct candidates *to, const char *directory)
{
	cleanup_strvec struct strvec names = { 0 };
	if (gitcmd_list_branches(directory ? directory : ".", "", &names, NULL) == 0)
		put_strings(to, &names);
}

static int put_kind(const struct candidates *to, struct app *app, const struct app *line,
		    const struct offer *offer, struct error *err)
{
	const char *first = line->operands.count ? line->operands.items[0] : NULL;
	switch (offer->kind) {
	case VALUE_SESSION:
		return put_sessions(to, app, line->command, err);
	case VALUE_GROUP:
		return put_groups(to, app, err);
	case VALUE_AGENT:
		return put_agents(to, app, err);
	case VALUE_REMOVED:
		return put_removed(to, app, err);
	case VALUE_CONVERSATION:
		return first ? put_conversations(to, app, first, err) : 0;
	case VALUE_AGENT_ARGUMENT:
		return put_agent_arguments(to, app, offer, err);
	case VALUE_KEY:
		put_keys(to, true);
		return 0;
	case VALUE_KEY_TO_SET:
		put_keys(to, false);
		return put_members(to, app, err);
	case VALUE_ROLE:
		put_roles(to, &app->deck.settings.roles);
		return 0;
	case VALUE_BRANCH:
		put_branches(to, first);
		return 0;
	case VALUE_HOST:
		for (size_t i = 0; i < app->deck.settings.hosts.count; i++) {
			const struct remote *remote = &app->deck.settings.hosts.items[i];
			cleanup_free char *place = remote_place(remote);
			candidates_put(to, remote->name, place);
		}
		return 0;
	case VALUE_PROFILE:
		return put_profiles(to, app, err);
	case VALUE_COMMAND:
		if (!line->command)
			put_commands(to, line->family);
		else if (!first || (line->operands.count == 1 && command_is_family(first)))
			put_commands(to, first);
		return 0;
	default:
		return 0;
	}
}

int candidates_offer(const struct candidates *to, struct app *app, const struct app *line,
		     const struct offer *offer, struct error *err)
{
	for (; offer; offer = offer->also) {
		put_words(to, offer);
		if (put_kind(to, app, line, offer, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- sessions of other hosts --------------------------------------------------------------------
 */

static int keep_answer(enum link_stream stream, const char *bytes, size_t length, void *context)
{
	struct strbuf *answer = context;
	if (stream == LINK_OUTPUT && answer->length + length <= ANSWER_MAX)
		strbuf_add(answer, bytes, length);
	return 0;
}

/* A title of another host is a word here, and nothing more. */
static void put_titles(const struct candidates *to, struct json_object *list, const char *lead)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *session = json_object_array_get_idx(list, i);
		const char *title = json_get_string(session, "title", "");
		cleanup_free char *shown = visible(title);
		cleanup_free char *word = xasprintf("%s%s", lead, title);
		if (*title && streq(title, shown))
			candidates_put(to, word, json_get_string(session, "path", NULL));
	}
}

static void put_there(const struct candidates *to, struct app *app, const struct remote *remote,
		      const char *lead)
{
	cleanup_link struct link *link = NULL;
	cleanup_strbuf struct strbuf answer = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	cleanup_json struct json_object *list = NULL;
	int status;
	strvec_push_array(&words,
			  (const char *const[]){ "-H", REMOTE_HERE, "list", "--json", NULL });
	const struct link_request request = {
		.words = &words, .input = -1, .on_bytes = keep_answer, .context = &answer
	};
	if (hosts_open_at_once(&app->deck, remote, &link) == 0 &&
	    link_run(link, &request, &status, NULL) == 0 &&
	    json_parse(strbuf_text(&answer), answer.length, "list", &list, NULL) == 0 &&
	    json_object_is_type(list, json_type_array))
		put_titles(to, list, lead);
}

int candidates_offer_sessions(const struct candidates *to, struct app *app, const struct app *line,
			      const struct offer *offer, struct error *err)
{
	const struct remotes *hosts = &app->deck.settings.hosts;
	const struct remote *remote = line->host ? remotes_find(hosts, line->host) : NULL;
	const char *session;
	if (remote) {
		put_there(to, app, remote, "");
		return 0;
	}
	if (!line->host && remotes_split(hosts, to->typed, &remote, &session) && remote) {
		cleanup_free char *lead = xasprintf("%s:", remote->name);
		put_there(to, app, remote, lead);
	}
	for (size_t i = 0; !line->host && i < hosts->count; i++) {
		cleanup_free char *word = xasprintf("%s:", hosts->items[i].name);
		cleanup_free char *place = remote_place(&hosts->items[i]);
		candidates_put(to, word, place);
	}
	return candidates_offer(to, app, line, offer, err);
}
