/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/registry-check.h"

#include "base/fsutil.h"

#include <regex.h>
#include <string.h>

#define SESSION_SLOT  "{session_id}"
#define SETTINGS_SLOT "{settings}"
#define HOOK_SLOT     "{hook}"
#define COMMAND_SLOT  "{hook_command}"
#define STATE_SLOT    "{state}"
#define HOME_SLOT     "{home}"

/* Rules for one string of an entry: NULL, or what is wrong with it. */

static bool is_word(const char *text)
{
	for (const char *s = text; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return *text != '\0';
}

#define VARIABLE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

static size_t variable_length(const char *text)
{
	return *text >= '0' && *text <= '9' ? 0 : strspn(text, VARIABLE);
}

static const char *broken_program(const char *text)
{
	return *text && !strchr(text, '/') ? NULL : "must be the name of a program, without a path";
}

static const char *broken_argument(const char *text)
{
	return *text ? NULL : "must not be empty";
}

static const char *broken_word(const char *text)
{
	return is_word(text) ? NULL : "must be one word of ASCII characters";
}

static const char *broken_flag(const char *text)
{
	bool is_flag = is_word(text) && text[0] == '-' && text[1] && !streq(text, "--") &&
		       !strchr(text, '=');
	return is_flag ? NULL : "must be a flag as in \"-r\" or \"--resume\"";
}

static const char *broken_variable(const char *text)
{
	size_t length = variable_length(text);
	return length && !text[length] ? NULL : "must be the name of an environment variable";
}

static const char *broken_scrub(const char *text)
{
	if (!text[strspn(text, "*")])
		return "would take away every environment variable";
	return text[strspn(text, VARIABLE "*")]
		       ? "must be the name of an environment variable, in which "
			 "\"*\" means any text"
		       : NULL;
}

static const char *broken_set(const char *text)
{
	size_t length = variable_length(text);
	return length && text[length] == '=' ? NULL : "must be NAME=VALUE";
}

static const char *broken_home(const char *text)
{
	return text[0] == '/' || streq(text, "~") || starts_with(text, "~/")
		       ? NULL
		       : "must be an absolute path, or start with \"~/\"";
}

static const char *broken_layout(const char *text)
{
	return streq(text, "projects") ? NULL : "is not a known layout (known: \"projects\")";
}

static const char *broken_files(const char *text)
{
	return agent_files_named(text) ? NULL
				       : "is not a known layout (known: " AGENT_FILES_LAYOUTS ")";
}

/* The layout of driver/transcript/holder.h. */
static const char *broken_processes(const char *text)
{
	return streq(text, "sessions") ? NULL : "is not a known layout (known: \"sessions\")";
}

/* A pattern of plain names in one directory. */
static const char *broken_pattern_of_names(const char *text)
{
	return *text && *text != '.' && !strchr(text, '/')
		       ? NULL
		       : "must be a pattern of names, without \"/\" and without \".\" at its start";
}

static const char *broken_package(const char *text)
{
	if (!is_word(text) || !text[1])
		return "must be the name of a package";
	return strchr(text + 1, '@') ? "must be the name of a package, without a version" : NULL;
}

static const char *broken_command(const char *text)
{
	return *text && *text != ' ' ? NULL : "must be a program's name and its arguments";
}

static const char *broken_file(const char *text)
{
	return text[0] == '/' || starts_with(text, "~/") || starts_with(text, "{home}/")
		       ? NULL
		       : "must be an absolute path, or start with \"~/\" or \"{home}/\"";
}

static const char *broken_place(const char *text)
{
	return text[0] == '/' || starts_with(text, "{directory}/") || starts_with(text, "{home}/")
		       ? NULL
		       : "must be an absolute path, or start with \"{directory}/\" or \"{home}/\"";
}

/* The file is looked for below two homes, so its path must not lead out of them. */
static const char *broken_home_file(const char *text)
{
	const char *rest = strchr(text, '/');
	if (!starts_with(text, "~/") && !starts_with(text, "{home}/"))
		return "must start with \"~/\" or \"{home}/\"";
	for (; rest; rest = strchr(rest + 1, '/')) {
		const size_t length = strcspn(rest + 1, "/");
		if (length == 0 ||
		    (rest[1] == '.' && (length == 1 || (length == 2 && rest[2] == '.'))))
			return "must be the path of a file, without \".\" and \"..\"";
	}
	return NULL;
}

static const char *broken_member(const char *text)
{
	const char *value = strchr(text, '=');
	return value && value > text && value[1] ? NULL : "must be MEMBER.MEMBER=VALUE";
}

static const struct rule {
	const char *path;
	const char *(*broken)(const char *text);
} rules[] = {
	{ "match", broken_program },
	{ "packages", broken_package },
	{ "version", broken_argument },
	{ "session.assign", broken_argument },
	{ "session.resume", broken_argument },
	{ "session.fork", broken_argument },
	{ "session.continue", broken_argument },
	{ "session.create", broken_argument },
	{ "session.transcript", broken_layout },
	{ "session.conversations", broken_files },
	{ "session.processes", broken_processes },
	{ "files.conversation", agent_files_broken_path },
	{ "files.directory_file", agent_files_broken_beside },
	{ "files.prompt", agent_files_broken_condition },
	{ "files.reply", agent_files_broken_condition },
	{ "files.skip", agent_files_broken_condition },
	{ "files.side", agent_files_broken_condition },
	{ "files.lock", agent_files_broken_lock },
	{ "isolation.arguments", broken_argument },
	{ "isolation.environment", broken_set },
	{ "isolation.conversation", broken_pattern_of_names },
	{ "report.arguments", broken_argument },
	{ "report.environment", broken_set },
	{ "report.events", broken_word },
	{ "report.event_key", broken_word },
	{ "report.id_key", broken_word },
	{ "report.transcript_key", broken_word },
	{ "report.cwd_key", broken_word },
	{ "report.source_key", broken_word },
	{ "report.kind_key", broken_word },
	{ "report.off", broken_member },
	{ "report.off_managed", broken_member },
	{ "report.off_files", broken_place },
	{ "report.start", broken_word },
	{ "report.prompt", broken_word },
	{ "report.busy", broken_word },
	{ "report.waiting", broken_word },
	{ "report.idle", broken_word },
	{ "report.failed", broken_word },
	{ "report.failure_key", broken_word },
	{ "report.failure_text_key", broken_word },
	{ "report.tasks_key", broken_word },
	{ "report.tasks", broken_word },
	{ "report.turn", broken_word },
	{ "report.end", broken_word },
	{ "arguments.strip", broken_flag },
	{ "arguments.strip_value", broken_flag },
	{ "arguments.strip_optional", broken_flag },
	{ "arguments.adopt", broken_flag },
	{ "arguments.latest", broken_flag },
	{ "arguments.one_shot", broken_word },
	{ "arguments.value", broken_flag },
	{ "arguments.variadic", broken_flag },
	{ "arguments.optional", broken_flag },
	{ "arguments.once", broken_flag },
	{ "home.variable", broken_variable },
	{ "home.default", broken_home },
	{ "home.login", broken_home_file },
	{ "home.seed", broken_home_file },
	{ "environment.scrub", broken_scrub },
	{ "environment.set", broken_set },
	{ "environment.login", broken_variable },
	{ "daemons.end", broken_command },
	{ "keys.quit", broken_word },
	{ "keys.banner", broken_word },
	{ "keys.clear", broken_word },
	{ "keys.submit", broken_word },
	{ "doctor.file", broken_file },
	{ "doctor.unless", broken_member },
};

static int check_rule(const struct toml_document *document, const struct agent *agent,
		      const struct rule *rule, struct error *err)
{
	bool is_vector;
	const void *field = agent_field(agent, rule->path, &is_vector);
	if (!is_vector) {
		const char *text = *(char *const *)field;
		const char *why = text ? rule->broken(text) : NULL;
		return why ? toml_error(document, rule->path, err, "%s: \"%s\" %s", rule->path,
					text, why)
			   : 0;
	}
	const struct strvec *vec = field;
	for (size_t i = 0; i < vec->count; i++) {
		const char *why = rule->broken(vec->items[i]);
		cleanup_free char *path = xasprintf("%s.%zu", rule->path, i);
		if (why)
			return toml_error(document, path, err, "%s: \"%s\" %s", rule->path,
					  vec->items[i], why);
	}
	return 0;
}

static bool has_slot(const struct strvec *words, const char *slot)
{
	for (size_t i = 0; i < words->count; i++)
		if (strstr(words->items[i], slot))
			return true;
	return false;
}

static int check_slot(const struct toml_document *document, const char *path,
		      const struct strvec *arguments, const char *slot, struct error *err)
{
	if (arguments->count == 0 || has_slot(arguments, slot))
		return 0;
	return toml_error(document, path, err, "%s: one of the words must contain %s", path, slot);
}

/* Returns path, or other if the file has only that one. */
static const char *place_of(const struct toml_document *document, const char *path,
			    const char *other)
{
	return !toml_document_has(document, path) && toml_document_has(document, other) ? other
											: path;
}

/* A word in arguments or environment must have the slot for our value. */
static int check_places(const struct toml_document *document, const struct agent *agent,
			struct error *err)
{
	const struct strvec *report[] = { &agent->report, &agent->report_environment };
	const struct strvec *isolation[] = { &agent->isolation_arguments,
					     &agent->isolation_environment };
	bool reports = report[0]->count || report[1]->count;
	bool isolates = isolation[0]->count || isolation[1]->count;
	for (size_t i = 0; i < 2; i++) {
		reports &= !has_slot(report[i], SETTINGS_SLOT) && !has_slot(report[i], HOOK_SLOT) &&
			   !has_slot(report[i], COMMAND_SLOT);
		isolates &= !has_slot(isolation[i], STATE_SLOT);
	}
	if (reports) {
		const char *path = place_of(document, "report.arguments", "report.environment");
		return toml_error(document, path, err,
				  "%s: one of the words must contain %s, %s or %s", path,
				  SETTINGS_SLOT, HOOK_SLOT, COMMAND_SLOT);
	}
	if (isolates) {
		const char *path = place_of(document, "isolation.arguments",
					    "isolation.environment");
		return toml_error(document, path, err, "%s: one of the words must contain %s", path,
				  STATE_SLOT);
	}
	return 0;
}

/* Limits for a pattern with its repetitions written out.  Beyond them regcomp(3) takes memory
 * without bound, and regexec(3) seconds for a line. */
enum { PATTERN_MAX = 1000, PATTERN_DEPTH = 32 };

/* Returns the end of the bracket expression whose "[" is at text; a first "]" is part of it. */
static const char *skip_brackets(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	for (text += *text == ']'; *text && *text != ']'; text++) {
		const char *end = NULL;
		if (*text == '[' && text[1] && strchr(":.=", text[1]))
			for (end = text + 2; *end && !(*end == text[1] && end[1] == ']'); end++)
				;
		if (end && *end)
			text = end + 1;
	}
	return *text ? text + 1 : text;
}

/* The highest number that "{m,n}" asks for. */
static size_t most_repeats(const char *text)
{
	size_t most = 1;
	for (text++; *text && *text != '}'; text++) {
		size_t number = 0;
		for (; *text >= '0' && *text <= '9'; text++)
			number = number > PATTERN_MAX ? number
						      : number * 10 + (size_t)(*text - '0');
		most = number > most ? number : most;
		if (*text != ',')
			break;
	}
	return most;
}

/* Why the pattern would cost too much; NULL if it does not. */
static const char *costly_pattern(const char *pattern)
{
	size_t sizes[PATTERN_DEPTH] = { 0 }, depth = 0, last = 0;
	for (const char *s = pattern; *s;) {
		const char c = *s;
		if (c == '\\' && s[1] >= '1' && s[1] <= '9')
			return "back references take too long to match";
		if (c == '(' && ++depth == PATTERN_DEPTH)
			return "its groups are nested too deep";
		if (c == '(')
			sizes[depth] = 0;
		last = c == '{'            ? last * most_repeats(s)
		       : c == ')' && depth ? sizes[depth--] + 1
					   : 1;
		sizes[depth] += last;
		if (sizes[depth] > PATTERN_MAX)
			return "it is too long, or it repeats too often";
		s = c == '[' ? skip_brackets(s) : s + (c == '\\' && s[1] ? 2 : 1);
	}
	return NULL;
}

/* key: its name in the entry; path: its place.  group: what its first group finds, or NULL. */
static int check_pattern(const struct toml_document *document, const char *path, const char *key,
			 const char *pattern, const char *group, struct error *err)
{
	regex_t regex;
	char why[200] = "it is empty and would match every line";
	const char *cost = costly_pattern(pattern);
	if (cost)
		return toml_error(document, path, err, "%s: the pattern \"%s\" cannot be used: %s",
				  key, pattern, cost);
	int status = regcomp(&regex, pattern, REG_EXTENDED);
	size_t groups = 0;
	if (status == 0) {
		groups = regex.re_nsub;
		regfree(&regex);
	} else {
		(void)regerror(status, &regex, why, sizeof(why));
	}
	if (status != 0 || !*pattern)
		return toml_error(document, path, err,
				  "%s: \"%s\" is not a valid extended regular expression: %s", key,
				  pattern, why);
	if (group && groups == 0)
		return toml_error(document, path, err,
				  "%s: \"%s\" has no group: put %s in parentheses", key, pattern,
				  group);
	return 0;
}

static int check_patterns(const struct toml_document *document, const char *path,
			  const struct strvec *patterns, const char *group, struct error *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		cleanup_free char *element = xasprintf("%s.%zu", path, i);
		if (check_pattern(document, element, path, patterns->items[i], group, err) < 0)
			return -1;
	}
	return 0;
}

static int check_all_patterns(const struct toml_document *document, const struct agent *agent,
			      struct error *err)
{
	const struct {
		const char *path, *pattern;
		const char *group;
	} single[] = {
		{ "session.unknown.pattern", agent->unknown_pattern, NULL },
		{ "session.create_pattern", agent->create_pattern, "the id" },
		{ "screen.exit_banner", agent->exit_banner, "the id" },
		{ "keys.guard_text", agent->guard_text, NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(single); i++)
		if (single[i].pattern && check_pattern(document, single[i].path, single[i].path,
						       single[i].pattern, single[i].group, err) < 0)
			return -1;
	const struct {
		const char *path;
		const struct strvec *patterns;
		const char *group;
	} lists[] = {
		{ "report.context_full", &agent->context_full, NULL },
		{ "screen.ready", &agent->ready, NULL },
		{ "screen.busy", &agent->busy, NULL },
		{ "screen.waiting", &agent->waiting, NULL },
		{ "screen.box_above", &agent->box_above, NULL },
		{ "screen.box_below", &agent->box_below, NULL },
		{ "screen.box_frame", &agent->box_frame, NULL },
		{ "screen.placeholder", &agent->placeholder, NULL },
		{ "screen.pasted", &agent->pasted, NULL },
		{ "screen.mode", &agent->mode, NULL },
		{ "screen.mode_text", &agent->mode_text, NULL },
		{ "screen.elsewhere", &agent->elsewhere, NULL },
		{ "screen.login", &agent->login, NULL },
		{ "screen.background", &agent->background, NULL },
		{ "screen.refused", &agent->refused, NULL },
		{ "screen.suspended", &agent->suspended, NULL },
		{ "screen.tasks", &agent->tasks_shown, NULL },
		{ "screen.limit", &agent->limit, "when it ends" },
		{ "screen.limit_menu", &agent->limit_menu, NULL },
		{ "screen.limit_resumes", &agent->limit_resumes, NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (check_patterns(document, lists[i].path, lists[i].patterns, lists[i].group,
				   err) < 0)
			return -1;
	return 0;
}

static int check_report_settings(const struct toml_document *document, const struct agent *agent,
				 struct error *err)
{
	static const char path[] = "report.settings";
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error why = { 0 };
	if (!agent->report_settings)
		return 0;
	if (json_parse(agent->report_settings, strlen(agent->report_settings), "JSON", &settings,
		       &why) < 0)
		return toml_error(document, path, err, "%s is not a JSON object: %s", path,
				  why.message);
	if (!json_object_is_type(settings, json_type_object))
		return toml_error(document, path, err, "%s must be a JSON object: {...}", path);
	return 0;
}

static int check_create(const struct toml_document *document, const struct agent *agent,
			struct error *err)
{
	const char *path = place_of(document, "session.create", "session.create_pattern");
	if (!agent->create.count && !agent->create_pattern)
		return 0;
	if (!agent->create.count)
		return toml_error(document, path, err,
				  "session.create is missing: name the command that prints the id");
	if (!agent->create_pattern)
		return toml_error(
			document, path, err,
			"session.create_pattern is missing: say where the id is in the output of "
			"session.create");
	if (!agent->resume.count)
		return toml_error(
			document, path, err,
			"session.resume is missing: say how the agent resumes a conversation by "
			"its id");
	return 0;
}

/* A question without all of these could be another one. */
static int check_question(const struct toml_document *document,
			  const struct agent_question *question, struct error *err)
{
	cleanup_free char *table = xasprintf("question.%s", question->name);
	for (size_t i = 0; i < agent_question_key_count; i++) {
		const struct agent_question_key *key = agent_question_keys + i;
		const char *text = agent_question_value(question, key);
		cleanup_free char *path = xasprintf("%s.%s", table, key->name);
		const bool is_needed = key->is_needed ||
				       (streq(key->name, "yes") && !question->pick) ||
				       (streq(key->name, "target") && question->change);
		if (!text && is_needed)
			return toml_error(document, table, err,
					  "%s is missing: say how the agent asks", path);
		if (text && key->is_pattern &&
		    check_pattern(document, path, path, text, key->group, err) < 0)
			return -1;
	}
	return 0;
}

static int check_questions(const struct toml_document *document, const struct agent *agent,
			   struct error *err)
{
	for (size_t i = 0; i < agent->questions.count; i++)
		if (check_question(document, agent->questions.items + i, err) < 0)
			return -1;
	return 0;
}

/* "{home}" is a place in a container only where the entry says where it is. */
static bool needs_home(const struct agent *agent)
{
	bool needs = agent->seed_file && starts_with(agent->seed_file, HOME_SLOT);
	for (size_t i = 0; i < agent->login_files.count; i++)
		needs |= starts_with(agent->login_files.items[i], HOME_SLOT);
	return needs;
}

static int check_home(const struct toml_document *document, const struct agent *agent,
		      struct error *err)
{
	if (!agent->seed_file != !agent->seed_text)
		return toml_error(document, place_of(document, "home.seed", "home.seed_text"), err,
				  "home.seed and home.seed_text must be given together: name a "
				  "file and what is in it");
	if (needs_home(agent) && !starts_with(or_empty(agent->config_home), "~/"))
		return toml_error(
			document, place_of(document, "home.login", "home.seed"), err,
			"home.default is missing: say which directory below \"~/\" " HOME_SLOT
			" is");
	return 0;
}

/* Without all of these, a conversation that is found cannot be resumed. */
static int check_files(const struct toml_document *document, const struct agent *agent,
		       struct error *err)
{
	const struct agent_files *files = &agent->files;
	const bool names_id = strchr(or_empty(files->conversation), '{') || files->id;
	const struct {
		const char *key;
		bool is_there;
	} needed[] = {
		{ "files.id", names_id },
		{ "files.directory", files->directory || files->directory_file },
		{ "files.prompt", files->prompt },
		{ "files.prompt_text", files->prompt_text },
		{ "files.reply", files->reply || !files->reply_text },
		{ "files.reply_text", files->reply_text || !files->reply },
	};
	for (size_t i = 0; files->conversation && i < ARRAY_SIZE(needed); i++)
		if (!needed[i].is_there)
			return toml_error(document, "files.conversation", err,
					  "%s is missing: files.conversation needs it",
					  needed[i].key);
	return 0;
}

/* Check what no single value shows. */
static int check_whole(const struct toml_document *document, const struct agent *agent,
		       struct error *err)
{
	if (agent->command.count && !*path_basename(agent->command.items[0]))
		return toml_error(document, "command.0", err,
				  "command: the program's name is empty");
	if (agent->id_kind == ID_NONE && !toml_document_has(document, "session.id") &&
	    (agent->assign.count || agent->resume.count))
		return toml_error(document,
				  agent->resume.count ? "session.resume" : "session.assign", err,
				  "session.id is missing: say \"uuid\", or \"any\" when the agent "
				  "takes other ids, too");
	if (agent->banner_keys.count && !agent->exit_banner)
		return toml_error(document, "keys.banner", err,
				  "screen.exit_banner is missing: say what the agent prints after "
				  "keys.banner");
	if (!agent->doctor_file != !agent->doctor_unless)
		return toml_error(
			document, place_of(document, "doctor.file", "doctor.unless"), err,
			"doctor.file and doctor.unless must be given together: name a file and a "
			"member of it");
	for (size_t i = 0; i < agent->latest.count; i++) {
		cleanup_free char *path = xasprintf("arguments.latest.%zu", i);
		const char *flag = agent->latest.items[i];
		if (!strvec_contains(&agent->strip, flag) &&
		    !strvec_contains(&agent->strip_optional, flag))
			return toml_error(document, path, err,
					  "arguments.latest: %s must also be in arguments.strip or "
					  "arguments.strip_optional",
					  flag);
	}
	for (size_t i = 0; i < agent->adopt.count; i++) {
		cleanup_free char *path = xasprintf("arguments.adopt.%zu", i);
		const char *flag = agent->adopt.items[i];
		if (!strvec_contains(&agent->strip_value, flag) &&
		    !strvec_contains(&agent->strip_optional, flag))
			return toml_error(document, path, err,
					  "arguments.adopt: %s must also be in "
					  "arguments.strip_value or arguments.strip_optional",
					  flag);
	}
	return 0;
}

int agent_check(const struct toml_document *document, const struct agent *agent, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (check_rule(document, agent, rules + i, err) < 0)
			return -1;
	if (check_slot(document, "session.assign", &agent->assign, SESSION_SLOT, err) < 0 ||
	    check_slot(document, "session.resume", &agent->resume, SESSION_SLOT, err) < 0 ||
	    check_slot(document, "session.fork", &agent->fork, SESSION_SLOT, err) < 0 ||
	    check_places(document, agent, err) < 0 ||
	    check_all_patterns(document, agent, err) < 0 ||
	    check_report_settings(document, agent, err) < 0 ||
	    check_files(document, agent, err) < 0 || check_home(document, agent, err) < 0 ||
	    check_create(document, agent, err) < 0 || check_questions(document, agent, err) < 0)
		return -1;
	return check_whole(document, agent, err);
}
