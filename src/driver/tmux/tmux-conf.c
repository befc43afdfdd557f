/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The configuration file of our servers.
 */
#include "driver/tmux/tmux-internal.h"
#include "driver/tmux/tmux.h"
#include "model/session/look.h"

#include <ctype.h>

/* In tmux's configuration language a single-quoted string is literal; a quote inside is written
 * outside of it. */
static int add_quoted(struct strbuf *buf, const char *text, struct error *err)
{
	strbuf_adds(buf, "'");
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			return error_set(err, ERROR_CORRUPT,
					 "a tmux setting must not contain control characters");
		if (*text == '\'')
			strbuf_adds(buf, "'\"'\"'");
		else
			strbuf_add(buf, text, 1);
	}
	strbuf_adds(buf, "'");
	return 0;
}

static int add_setting(struct strbuf *buf, const char *before, const char *value, const char *after,
		       struct error *err)
{
	strbuf_adds(buf, before);
	if (add_quoted(buf, value, err) < 0)
		return -1;
	strbuf_adds(buf, after);
	return 0;
}

/* Columns that the title may have beside what is at the right, and the group. */
#define IS_NARROW       "#{e|<:#{client_width},100}"
#define IS_BELOW(width) "#{&&:#{client_width},#{e|<:#{client_width}," width "}}"
#define TITLE_WIDTH                                                                      \
	"#{?" IS_NARROW                                                                  \
	",#{?" IS_BELOW("40") ",6,#{?#{e|<:#{client_width},60},14,36}},"                 \
			      "#{?#{e|<:#{client_width},120},#{e|-:#{client_width},76}," \
			      "#{e|-:#{client_width},98}}}"
#define GROUP_TEXT "#{?#{e|<:#{client_width},120},,#{?" GROUP ",#{=/20/…;q/h:" GROUP "}  ,}}"
/* tmux cuts the beginning of the right part: how many wait is at its end on a small terminal. */
#define OTHERS_TEXT "#{?" IS_BELOW("60") ",#{s/ others*//:" OTHERS "},#{" OTHERS "}}"
#define LEAVE_TEXT  "#{?" IS_BELOW("50") ",,#{?client_prefix,prefix ,}#{q/h:" DETACH "}: leave}"
#define WAITS       "#{||:#{==:#{" ACTIVITY "},asks},#{==:#{" ACTIVITY "},waiting}}"
#define TITLE_TEXT  "#{" TITLE "}#{?" WAITS ", (#{" ACTIVITY "}),}"
/* A key, where there is room and where it is bound. */
#define HINT(key, before, behind) \
	"#{?#{&&:#{!=:" IS_NARROW ",1},#{" key "}}," before "#{q/h:" key "}" behind ",}"

#define WINDOW "#{?#{!=:#{session_windows},1},#I:#W#{?window_flags,#{window_flags}, },}"

/* A terminal whose keys do not count, and which may be too small for what the others show. */
#define ONLY_LOOKS                                                                    \
	"#{?client_readonly,read-only#{?#{||:#{e|<:#{client_width},#{window_width}}," \
	"#{e|<=:#{client_height},#{window_height}}}, part of "                        \
	"#{window_width}x#{window_height},}  ,}"

/* No agent draws on a terminal of a few cells, and tmux 3.3a was seen to crash.  So a client that
 * is smaller counts only with its keys.  tmux obeys "ignore-size" only beside other clients, so a
 * window that only such a client shows gets a size of its own.  SMALL names the client. */
#define SMALL     "@agentdeck_small"
#define IS_SMALL  "#{||:#{e|<:#{client_width},10},#{e|<:#{client_height},3}}"
#define KEEP_SIZE "if-shell -F '#{==:#{window_active_clients},1}' { resize-window -x 80 -y 24 }"
#define LOOK_AT_SIZE                                                                    \
	"if-shell -F '" IS_SMALL "' { set-option -gF " SMALL " '#{client_name}' ; "     \
	"refresh-client -f ignore-size ; " KEEP_SIZE " } "                              \
	"{ if-shell -F '#{" SMALL "}' { set-option -wu window-size } ; "                \
	"if-shell -F '#{==:#{" SMALL "},#{client_name}}' { set-option -gu " SMALL " ; " \
	"if-shell -F '#{!=:#{client_readonly},1}' { refresh-client -f !ignore-size } } }"
#define LOOK_AT_REST                                                                    \
	"if-shell -F '#{" SMALL "}' { if-shell -F '#{==:#{" SMALL "},#{hook_client}}' " \
	"{ set-option -gu " SMALL " ; set-option -wu window-size } { " KEEP_SIZE " } }"

/* Plain words (tmux-userconf.h).  The prefix pressed twice reaches the agent. */
static void add_choices(struct strbuf *buf, const struct tmux_choices *choices)
{
	const struct {
		const char *name, *value;
	} options[] = {
		{ "prefix", choices->prefix },
		{ "prefix2", choices->prefix2 },
		{ "mode-keys", choices->mode_keys },
		{ "status-keys", choices->status_keys },
	};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].value)
			strbuf_addf(buf, "set -g %s '%s'\n", options[i].name, options[i].value);
	if (choices->prefix && !streq(choices->prefix, "None"))
		strbuf_addf(buf, "bind-key '%s' send-prefix\n", choices->prefix);
}

/* The key in people's words: "Ctrl-Q" for "C-q". */
static char *key_for_people(const char *key)
{
	const char *last = key;
	struct strbuf text = { 0 };
	for (; last[0] && last[1] == '-' && last[2]; last += 2) {
		if (*last == 'C')
			strbuf_adds(&text, "Ctrl-");
		else if (*last == 'M')
			strbuf_adds(&text, "Alt-");
		else if (*last == 'S')
			strbuf_adds(&text, "Shift-");
		else
			break;
	}
	const char letter[] = { (char)toupper((unsigned char)*last), '\0' };
	strbuf_adds(&text, last != key && !last[1] ? letter : last);
	return strbuf_take(&text);
}

static int add_detach_key(struct strbuf *buf, const struct tmux_conf *conf, struct error *err)
{
	const struct tmux_choices *choices = &conf->choices;
	const char *prefix = choices->prefix ? choices->prefix : "C-b", *key = conf->detach_key;
	cleanup_free char *shown = key_for_people(key);
	if (!is_empty(key) && !streq(key, prefix) && !streq(key, or_empty(choices->prefix2)))
		return add_setting(buf, "bind-key -n ", key, " detach-client\n", err) < 0 ||
				       add_setting(buf, "set -g " DETACH " ", shown, "\n", err) < 0
			       ? -1
			       : 0;
	cleanup_free char *shown_prefix = key_for_people(prefix);
	cleanup_free char *keys = xasprintf("%s d", shown_prefix);
	return add_setting(buf, "set -g " DETACH " ", keys, "\n", err);
}

/* tmux opens no popup that is larger than its terminal. */
#define AT_MOST(columns, rows)                                        \
	"-w #{?#{e|<:#{client_width}," columns "},100%," columns "} " \
	"-h #{?#{e|<:#{client_height}," rows "},100%," rows "}"

/* "run-shell -C" fills the formats in, and reads the words of the switcher as tmux's configuration
 * language.  A client is detached when its popup is gone: tmux_send_away(). */
#define IN_POPUP(size, option)                                             \
	"run-shell -C 'display-popup -EE " size " #{" SWITCHER "} " option \
	" --client #{client_name} ; "                                      \
	"if-shell -F \"##{" LEAVING "#{client_pid}}\" "                    \
	"\"set-option -gu " LEAVING "#{client_pid} ; detach-client\"'"

static int add_switcher(struct strbuf *buf, const struct tmux_conf *conf, struct error *err)
{
	const struct {
		const char *prefixed, *key, *action;
	} bindings[] = {
		{ "s", conf->switch_key, " " IN_POPUP(AT_MOST("76", "20"), "") "\n" },
		{ "N", conf->next_key,
		  " if-shell -F '#{" OTHERS "}' { " IN_POPUP(
			  AT_MOST("60", "5"),
			  "--next") " } { display-message 'No other session waits for you.' }\n" },
	};
	cleanup_strbuf struct strbuf words = { 0 };
	if (!conf->switcher)
		return 0;
	/* A program whose path tmux cannot read: the keys are missing, and the session starts. */
	for (size_t i = 0; i < conf->switcher->count; i++)
		if (add_setting(&words, i ? " " : "", conf->switcher->items[i], "", NULL) < 0)
			return 0;
	const char *prefix = conf->choices.prefix ? conf->choices.prefix : "C-b";
	cleanup_free char *shown = key_for_people(prefix);
	cleanup_free char *list = xasprintf("%s s", shown), *next = xasprintf("%s N", shown);
	if (add_setting(buf, "set -g " SWITCHER " ", strbuf_text(&words), "\n", err) < 0 ||
	    add_setting(buf, "set -g " LIST_KEY " ", list, "\n", err) < 0 ||
	    add_setting(buf, "set -g " NEXT_KEY " ", next, "\n", err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
		strbuf_addf(buf, "bind-key %s%s", bindings[i].prefixed, bindings[i].action);
		if (!is_empty(bindings[i].key) &&
		    add_setting(buf, "bind-key -n ", bindings[i].key, bindings[i].action, err) < 0)
			return -1;
	}
	return 0;
}

/* Sign, title, group and state, as `list` and the deck have them.  In reverse, it suits every
 * background, and its colour says nothing. */
static void add_status_line(struct strbuf *buf)
{
	static const enum doing doings[] = { DOING_ASKS, DOING_WAITING, DOING_BUSY, DOING_RUNNING };
	strbuf_adds(buf, "set -g status-style 'fg=default,bg=default,reverse'\n"
			 "set -g status-left-length 200\n"
			 "set -g status-left '");
	for (size_t i = 0; i < ARRAY_SIZE(doings); i++) {
		if (doings[i] != DOING_RUNNING)
			strbuf_addf(buf, "#{?#{==:#{" ACTIVITY "},%s},", doing_name(doings[i]));
		strbuf_addf(buf, "#{?client_utf8,%s,%s}%s", doing_sign(doings[i], false),
			    doing_sign(doings[i], true), doings[i] != DOING_RUNNING ? "," : "}}}");
	}
	strbuf_addf(buf,
		    " #{=/" TITLE_WIDTH "/…;q/h:" TITLE "}  " GROUP_TEXT "#{?" ACTIVITY
		    ",#{" ACTIVITY "},%s}  '\nset -g status-right-length 120\n",
		    doing_name(DOING_RUNNING));
	strbuf_adds(buf, "set -g status-right '" ONLY_LOOKS "#{?" OTHERS
			 ",#[bold]" OTHERS_TEXT HINT(NEXT_KEY, ": ", "") "#[nobold]  ,}" HINT(
				 LIST_KEY, "list: ", "  ") LEAVE_TEXT "'\n");
}

int tmux_conf_text(const struct tmux_conf *conf, struct strbuf *ret, struct error *err)
{
	cleanup_strbuf struct strbuf buf = { 0 };

	/* Take nothing from clients that attach: the agent keeps the environment that it was
	 * started with, and SSH_AUTH_SOCK is a link of ours. */
	strbuf_adds(&buf, "set -g update-environment ''\n"
			  "set -g focus-events on\n"
			  "set -g escape-time 10\n"
			  "set -g extended-keys on\n"
			  "set -g allow-rename off\n"
			  "set -g automatic-rename off\n"
			  "set -g status-interval 0\n"
			  /* Keep "Pane is dead" (tmux 3.3) out of the agent's last words. */
			  "set -gwq remain-on-exit-format ''\n"
			  /* The window has the title's name for the user: a list is for several. */
			  "set -gw window-status-format '" WINDOW "'\n"
			  "set -gw window-status-current-format '" WINDOW "'\n"
			  /* Not expanded again: a title is no format. */
			  "set -g set-titles on\n"
			  "set -g set-titles-string '" TITLE_TEXT "'\n"
			  "set -g default-command ''\n");
	add_status_line(&buf);
	/* codex asks for keys in this form only; tmux before 3.5 has no other. */
	strbuf_adds(&buf, "set -gq extended-keys-format csi-u\n");
	/* "-q": tmux 3.2 has no such option, and passes everything on. */
	strbuf_addf(&buf, "set -gwq allow-passthrough %s\n", conf->passthrough ? "on" : "off");
	strbuf_addf(&buf, "set -g set-clipboard %s\n", conf->clipboard ? "on" : "external");
	strbuf_adds(&buf, "set-hook -g client-attached[71] \"" LOOK_AT_SIZE "\"\n"
			  "set-hook -g client-resized[71] \"" LOOK_AT_SIZE "\"\n"
			  "set-hook -g client-detached[71] \"" LOOK_AT_REST "\"\n");
	add_choices(&buf, &conf->choices);
	strbuf_addf(&buf, "set -g mouse %s\nset -g history-limit %ld\n", conf->mouse ? "on" : "off",
		    conf->history_limit);
	if (add_setting(&buf, "set -g default-terminal ", conf->default_terminal, "\n", err) < 0)
		return -1;
	if (add_detach_key(&buf, conf, err) < 0 || add_switcher(&buf, conf, err) < 0)
		return -1;
	if (conf->source_user_config)
		strbuf_adds(&buf, "source-file -q /etc/tmux.conf\nsource-file -q ~/.tmux.conf\n"
				  "source-file -q ~/.config/tmux/tmux.conf\n");
	if (conf->user_conf && add_setting(&buf, "source-file -q ", conf->user_conf, "\n", err) < 0)
		return -1;
	/* A session lasts as long as its agent, whatever its user wants of other servers. */
	strbuf_adds(&buf, "set -g exit-empty on\n"
			  "set -g exit-unattached off\n"
			  "set -g destroy-unattached off\n");
	strbuf_adds(ret, strbuf_text(&buf));
	return 0;
}
