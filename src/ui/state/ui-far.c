/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

#include <string.h>

/* What the deck itself does not do on another host, and the command for it. */
static const struct {
	const char *what, *command;
} refusals[ACTION_COUNT] = {
	[ACTION_TYPE] = { "Typing without attaching", "attach" },
	[ACTION_NEW] = { "The form for a session", "launch" },
	[ACTION_WALL] = { "The wall", "wall" },
	[ACTION_RECOVER] = { "Starting what was lost", "recover" },
	[ACTION_PRUNE] = { "Deleting what was removed", "prune" },
};

/* The host of the sessions that are chosen, or of the line under the cursor.  *ret_others: do some
 * belong to another one? */
static size_t host_of_targets(struct ui *ui, bool *ret_others)
{
	size_t count;
	cleanup_free struct item **targets = list_targets(ui->list, &count);
	size_t host = count ? targets[0]->host : list_selected_host(ui->list);
	*ret_others = false;
	for (size_t i = 1; i < count; i++) {
		*ret_others |= targets[i]->host != host;
		host = targets[i]->host > host ? targets[i]->host : host;
	}
	return host;
}

static void refuse(struct ui *ui, size_t host, const char *what, const char *command)
{
	cleanup_free char *text = xasprintf("%s is not possible on another host yet: use agentdeck "
					    "-H %s %s.",
					    what, list_host(ui->list, host)->name, command);
	ui_tell(ui, text, true);
}

bool ui_is_refused(struct ui *ui, enum action action)
{
	bool has_others = false;
	if (!list_hosts(ui->list))
		return false;
	const bool is_for_line = ui_is_for_one(action) || action == ACTION_NEW;
	const size_t host = is_for_line ? list_selected_host(ui->list)
					: host_of_targets(ui, &has_others);
	const bool is_group = (is_for_line || !list_chosen(ui->list)) && !list_selected(ui->list);
	const bool names_group = action == ACTION_RENAME || action == ACTION_MOVE;
	if (host && refusals[action].what)
		refuse(ui, host, refusals[action].what, refusals[action].command);
	else if (host && is_group && names_group)
		refuse(ui, host, "Changing a group", "group rename");
	else if (has_others && action_info(action)->needs_session)
		ui_tell(ui, "One command works on one host: choose the sessions of one.", true);
	else
		return false;
	return true;
}

const char *ui_own_id(const char *id)
{
	const char *colon = strchr(id, ':');
	return colon ? colon + 1 : id;
}

void ui_note_removal(struct ui *ui, const struct strvec *ids)
{
	const char *id = ids->items[0], *own = ui_own_id(id);
	cleanup_free char *host = own == id ? NULL : xstrndup(id, (size_t)(own - id) - 1);
	replace_string(&ui->removed_on, host);
	ui->has_removed = true;
}

void ui_undo(const struct ui *ui, struct wish *ret)
{
	ret->kind = WISH_RUN;
	if (ui->removed_on)
		strvec_push_array(&ret->words, (const char *const[]){ "-H", ui->removed_on, NULL });
	strvec_push(&ret->words, "undo");
}
