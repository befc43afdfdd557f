/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/removal.h"

#include "engine/deck/hint.h"

#include <unistd.h>

static void add_conversation(const struct store_row *row, struct strbuf *text)
{
	/* In a container its agent's home is the session's. */
	if (row->session_id && streq(row->backend, PLACE_DEFAULT))
		strbuf_addf(text, "Its conversation %s stays with %s. ", row->session_id,
			    row->agent);
	else if (row->session_id)
		strbuf_addf(text,
			    "Its conversation %s is kept until agentdeck prune; files that were "
			    "written in its container outside of its home, work directory and "
			    "mounts are not. ",
			    row->session_id);
}

char *removal_text(const struct deck *deck, const struct store_row *row,
		   const struct instance *instance, bool is_last)
{
	struct strbuf text = { 0 };
	const struct workspace *workspace = instance ? instance->workspace : NULL;
	cleanup_free char *undo = hint_undo(deck, row->title, row->id, is_last);
	strbuf_addf(&text, "Removed %s (%s). ", row->title, row->id);
	add_conversation(row, &text);
	if (row->queued)
		strbuf_addf(&text, "Its queue of %lld message%s goes with it. ",
			    (long long)row->queued, row->queued == 1 ? "" : "s");
	if (workspace && access(workspace->path, F_OK) == 0)
		strbuf_addf(&text, "Its %s is kept until agentdeck prune. ",
			    workspace_kind_name(workspace->kind));
	strbuf_addf(&text, "To restore the session: %s", undo);
	return strbuf_take(&text);
}
