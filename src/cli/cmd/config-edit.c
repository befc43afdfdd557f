/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/config-check.h"
#include "cli/show/ask.h"
#include "cli/show/editor.h"
#include "cli/show/output.h"

#include "base/fsutil.h"
#include "engine/deck/configfile.h"
#include "model/settings/values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAFT_NAME   ".agentdeck-edit-XXXXXX"
#define DRAFT_SUFFIX ".toml"

/* A copy beside the file, which the user edits. */
struct draft {
	struct strvec editor; /* its argv, with the draft's path at the end */
	char *path;
	struct strbuf before; /* what it began with */
	struct strbuf text;   /* what it is now */
};

static void draft_free(struct draft *draft)
{
	strvec_clear(&draft->editor);
	free(draft->path);
	strbuf_free(&draft->before);
	strbuf_free(&draft->text);
}
#define cleanup_draft CLEANUP(draft_free)

static int make_draft(const struct configfile *file, struct draft *draft, struct error *err)
{
	cleanup_close int directory = -1, fd = -1;
	if (editor_argv(&draft->editor, err) < 0 ||
	    configfile_open_directory(file, &directory, err) < 0)
		return -1;
	const size_t length = (size_t)(path_basename(file->real) - file->real);
	char *path = xasprintf("%.*s" DRAFT_NAME DRAFT_SUFFIX, (int)length, file->real);
	fd = mkostemps(path, (int)strlen(DRAFT_SUFFIX), O_CLOEXEC);
	if (fd < 0) {
		(void)error_set_file(err, errno, "make %s", path);
		free(path);
		return -1;
	}
	draft->path = path;
	strvec_push(&draft->editor, path);
	cleanup_free char *starter = file->exists ? NULL : settings_starter();
	strbuf_adds(&draft->before, starter ? starter : strbuf_text(&file->text));
	if (fs_write_all(fd, strbuf_text(&draft->before), draft->before.length, path, err) < 0) {
		(void)unlink(path);
		return -1;
	}
	return 0;
}

static bool is_changed(const struct draft *draft)
{
	return draft->text.length != draft->before.length ||
	       memcmp(strbuf_text(&draft->text), strbuf_text(&draft->before), draft->text.length) !=
		       0;
}

/* Nothing that the user typed is lost. */
static int end_badly(const struct draft *draft, enum error_code code, const char *why,
		     struct error *err)
{
	if (is_changed(draft))
		return error_set(err, code, "%s; config.toml is as before, and your text is in %s",
				 why, draft->path);
	(void)unlink(draft->path);
	return error_set(err, code, "%s; config.toml is as before", why);
}

static int run_editor(struct draft *draft, struct error *err)
{
	cleanup_error struct error local = { 0 };
	const int r = editor_run(&draft->editor, &local);
	strbuf_free(&draft->text);
	if (fs_read(AT_FDCWD, draft->path, DECK_CONFIG_MAX, &draft->text, NULL) != 0)
		return error_set(err, ERROR_SYSTEM,
				 "the editor '%s' left no file %s; config.toml is as before",
				 draft->editor.items[0], draft->path);
	return r < 0 ? end_badly(draft, local.code, local.message, err) : 0;
}

enum answer { ANSWER_EDIT, ANSWER_DROP, ANSWER_LEAVE };

static enum answer ask_what_next(void)
{
	for (;;) {
		cleanup_free char *answer = NULL;
		printf("e: edit again, d: drop your changes (e)\n");
		if (ask_line(&answer, NULL) != 0)
			return ANSWER_LEAVE;
		if (!*answer || streq(answer, "e"))
			return ANSWER_EDIT;
		if (streq(answer, "d"))
			return ANSWER_DROP;
	}
}

/* Until it is valid.  *ret_done: false when the user gave up, or has changed nothing. */
static int edit(const struct configfile *file, struct draft *draft, bool *ret_done,
		struct error *err)
{
	*ret_done = false;
	for (;;) {
		cleanup_strvec struct strvec mistakes = { 0 };
		if (run_editor(draft, err) < 0)
			return -1;
		if (!is_changed(draft)) {
			(void)unlink(draft->path);
			return 0;
		}
		settings_check(strbuf_text(&draft->text), draft->text.length, file->path,
			       &mistakes);
		config_check_keys(strbuf_text(&draft->text), draft->text.length, file->path,
				  &mistakes);
		*ret_done = mistakes.count == 0;
		if (*ret_done)
			return 0;
		for (size_t i = 0; i < mistakes.count; i++)
			complain("%s", mistakes.items[i]);
		const enum answer answer = ask_is_possible() ? ask_what_next() : ANSWER_LEAVE;
		if (answer == ANSWER_LEAVE)
			return end_badly(draft, ERROR_CORRUPT, "your text has a mistake", err);
		if (answer == ANSWER_DROP) {
			(void)unlink(draft->path);
			return 0;
		}
	}
}

/* An editor of the user's own choice may need no terminal. */
static int check_terminal(struct error *err)
{
	if (ask_is_possible() || !is_empty(getenv("VISUAL")) || !is_empty(getenv("EDITOR")))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "there is no terminal for an editor: use agentdeck config set KEY VALUE, "
			 "or set VISUAL or EDITOR");
}

static int cmd_config_edit(struct app *app, struct error *err)
{
	cleanup_configfile struct configfile file = { 0 };
	cleanup_draft struct draft draft = { 0 };
	bool is_done;
	if (check_terminal(err) < 0)
		return -1;
	if (configfile_read(&app->deck, &file, err) < 0 || make_draft(&file, &draft, err) < 0 ||
	    edit(&file, &draft, &is_done, err) < 0)
		return -1;
	if (is_done) {
		cleanup_error struct error local = { 0 };
		const int r = configfile_replace(&app->deck, &file, &draft.text, &local);
		if (r == CONFIGFILE_CHANGED)
			return end_badly(&draft, ERROR_BUSY,
					 "another program has changed config.toml meanwhile", err);
		/* The file's sync failed: the copy may be all that a power cut leaves. */
		if (r < 0 && configfile_has(&app->deck, &draft.text))
			return error_set(err, local.code, "%s; a copy of your text is in %s",
					 local.message, draft.path);
		if (r < 0)
			return end_badly(&draft, local.code, local.message, err);
		(void)unlink(draft.path);
	}
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set(object, "path", json_text(file.path));
	json_set_bool(object, "changed", is_done);
	return print_done(app, object,
			  is_done ? xasprintf("%s is changed", file.path)
				  : xstrdup("Nothing is changed"));
}

const struct command command_config_edit = {
	.name = "config edit",
	.kind = COMMAND_TERMINAL,
	.arguments = "",
	.summary = "edit config.toml, and check it before it is replaced",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_config_edit,
};
