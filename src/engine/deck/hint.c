/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/hint.h"

#include "base/argsplit.h"

#include <stdlib.h>
#include <string.h>

static const char *reader_host;

void hint_set_host(const char *host)
{
	reader_host = host;
}

/* Whether the title finds this session, and a terminal shows it as it is. */
static bool is_sure(const struct store_rows *rows, const char *title, const char *id)
{
	const struct store_row *found;
	cleanup_free char *shown = visible(title);
	return *title != '-' && streq(shown, title) &&
	       store_resolve(rows, title, &found, NULL) == 0 && streq(found->id, id);
}

char *hint_named(const char *profile, const char *name)
{
	const char *usual = deck_env_profile();
	cleanup_free char *full = reader_host ? xasprintf("%s:%s", reader_host, name)
					      : xstrdup(name);
	char *argv[] = { (char[]){ "-p" }, (char *)profile, full, NULL };
	const bool is_usual = !profile || (streq(profile, DEFAULT_PROFILE) &&
					   (is_empty(usual) || streq(usual, DEFAULT_PROFILE)));
	return argjoin(is_usual ? argv + 2 : argv);
}

char *hint_row(const struct deck *deck, const struct store_rows *rows, const struct store_row *row)
{
	return hint_named(deck->profile, is_sure(rows, row->title, row->id) ? row->title : row->id);
}

char *hint_session(const struct deck *deck, const char *title, const char *id)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const bool listed = deck->store && store_list(deck->store, &rows, NULL) == 0;
	return hint_named(deck->profile, listed && is_sure(&rows, title, id) ? title : id);
}

char *hint_undo(const struct deck *deck, const char *title, const char *id, bool is_last)
{
	cleanup_free char *words = hint_session(deck, title, id);
	return is_last && streq(words, id) ? xstrdup("agentdeck undo")
					   : xasprintf("agentdeck undo %s", words);
}
