/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/doctor-report.h"

#include "base/fsutil.h"
#include "base/tomltext.h"
#include "base/version.h"
#include "cli/show/output.h"
#include "engine/roster/view.h"
#include "model/settings/values.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { OS_RELEASE_MAX = 64 << 10 };

/* The value of PRETTY_NAME, without its quotes; the caller frees. */
static char *system_name(void)
{
	static const char key[] = "PRETTY_NAME=";
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(AT_FDCWD, "/usr/lib/os-release", OS_RELEASE_MAX, &text, NULL) != 0)
		return xstrdup("unknown");
	const char *at = strstr(strbuf_text(&text), key);
	if (!at)
		return xstrdup("unknown");
	at += strlen(key);
	at += *at == '"';
	return xstrndup(at, strcspn(at, "\"\n"));
}

static void say_system(const struct doctor_facts *facts)
{
	cleanup_free char *name = system_name();
	struct utsname system;
	say("- agentdeck: %s", agentdeck_version);
	if (uname(&system) == 0)
		say("- system: %s, kernel %s, %s", name, system.release, system.machine);
	say("- tmux: %s", facts->tmux_version ? facts->tmux_version : "unknown");
	say("- systemd: %s", facts->manager_version ? facts->manager_version : "unknown");
	say("- terminal: TERM=%s, %s", or_empty(getenv("TERM")),
	    getenv("TMUX") ? "in tmux" : "not in tmux");
	for (size_t i = 0; i < facts->engine_count; i++)
		say("- %s: %s%s", facts->engines[i].name,
		    facts->engines[i].version ? facts->engines[i].version : "no answer",
		    facts->engines[i].is_rootless ? ", rootless" : "");
}

/* With "~" for the home directory; the caller frees. */
static char *without_home(const struct app *app, const char *text)
{
	const char *home = or_empty(app->deck.paths.home);
	cleanup_strbuf struct strbuf shown = { 0 };
	const size_t length = strlen(home);
	while (*text) {
		const bool is_home = length > 1 && starts_with(text, home);
		strbuf_add(&shown, is_home ? "~" : text, 1);
		text += is_home ? length : 1;
	}
	return xstrdup(strbuf_text(&shown));
}

/* The message of a mistake in config.toml quotes the wrong value. */
static bool may_quote_values(const char *check)
{
	return streq(check, "config") || streq(check, "notify");
}

static void say_findings(const struct app *app, const struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_finding *finding = &findings->items[i];
		cleanup_free char *reason = without_home(
			app, may_quote_values(finding->check) ? "" : finding->reason);
		say("- %s: %s%s%s", finding->check, doctor_verdict_name(finding->verdict),
		    *reason ? ": " : "", reason);
	}
}

static bool is_harmless(const struct toml_key *key)
{
	return key->type == TOML_BOOL || key->type == TOML_INT || key->type == TOML_WORD;
}

static void say_settings(const struct app *app)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_toml_document struct toml_document document = { 0 };
	deck_config_text(&app->deck, &text);
	if (toml_document_parse(strbuf_text(&text), text.length, DECK_CONFIG, &document, NULL) < 0)
		return;
	for (size_t i = 0; settings_key(i); i++) {
		const struct toml_key *key = settings_key(i);
		if (!toml_document_has(&document, key->path))
			continue;
		struct json_object *value = is_harmless(key)
						    ? settings_value(&app->deck.settings, key)
						    : NULL;
		cleanup_free char *shown = value ? toml_literal(value) : xstrdup("(set)");
		say("- %s = %s", key->path, shown);
		json_object_put(value);
	}
}

static void say_sessions(const struct app *app)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (!app->deck.store || store_list(app->deck.store, &rows, NULL) < 0) {
		say("- unknown");
		return;
	}
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		cleanup_view struct view view = view_of(row);
		say("- %s: %s, %s, %s%s%s", row->id, row->damage ? "damaged" : or_empty(row->agent),
		    view_status(&view), row->damage ? "" : or_empty(row->backend),
		    row->workspace ? ", " : "", or_empty(row->workspace));
	}
	if (!rows.count)
		say("- none");
}

void doctor_report(const struct app *app, const struct doctor_facts *facts,
		   const struct doctor_findings *findings)
{
	printf("What happened, and what did you expect?\n\n## Machine\n\n");
	say_system(facts);
	printf("\n## agentdeck doctor\n\n");
	say_findings(app, findings);
	printf("\n## config.toml\n\n");
	say_settings(app);
	printf("\n## Sessions\n\n");
	say_sessions(app);
}
