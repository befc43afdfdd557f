/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/registry.h"

#include "base/fsutil.h"

#include <regex.h>
#include <string.h>

enum { LAST_LINES = 10, REFUSAL_LINES = 4 };

/* The program that an argv runs. */
struct target {
	size_t word;         /* index of the word that names it; argv->count: none */
	bool is_package;     /* the word may be the name of a package, with a version */
	const char *package; /* the package that the program is in, or NULL; borrowed */
};

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (streq(word, *words))
			return true;
	return false;
}

/* Number of words that env(1) takes for this option; 0 when it does not run the words that
 * follow. */
static size_t env_option_words(const char *word)
{
	static const char *const with_value[] = { "-a",      "-C",      "-u", "--argv0",
						  "--chdir", "--unset", NULL };
	if (starts_with(word, "-S") || starts_with(word, "--split-string"))
		return 0;
	return is_one_of(word, with_value) ? 2 : 1;
}

static size_t skip_env(const struct strvec *argv, size_t i)
{
	while (i < argv->count && streq(path_basename(argv->items[i]), "env")) {
		for (i++; i < argv->count && argv->items[i][0] == '-';) {
			size_t words = env_option_words(argv->items[i]);
			if (words == 0)
				return argv->count;
			bool last = streq(argv->items[i], "--");
			i += words;
			if (last)
				break;
		}
		while (i < argv->count && strchr(argv->items[i], '='))
			i++;
	}
	return i < argv->count ? i : argv->count;
}

/* Programs that run a program out of a package.  Flags in none of the lists take no value. */
static const struct runner {
	const char *words[3];   /* name, and subcommands */
	const char *package[3]; /* flags whose value is the package that the program is in */
	const char *value[12];  /* other flags with a value */
	const char *other[3];   /* flags with which it runs something else */
} runners[] = {
#define NPM_PACKAGE               \
	{                         \
		"-p", "--package" \
	}
#define NPM_VALUE                                                                       \
	{                                                                               \
		"-w", "--workspace", "--registry", "--cache", "--prefix", "--loglevel", \
			"--userconfig"                                                  \
	}
#define NPM_OTHER              \
	{                      \
		"-c", "--call" \
	}
	{ { "npx" }, NPM_PACKAGE, NPM_VALUE, NPM_OTHER },
	{ { "npm", "exec" }, NPM_PACKAGE, NPM_VALUE, NPM_OTHER },
	{ { "npm", "x" }, NPM_PACKAGE, NPM_VALUE, NPM_OTHER },
	{ { "bunx" }, NPM_PACKAGE, { NULL }, { NULL } },
	{ { "bun", "x" }, NPM_PACKAGE, { NULL }, { NULL } },
	{ { "pnpx" }, { "--package" }, { "--allow-build", "-C", "--dir" }, NPM_OTHER },
	{ { "pnpm", "dlx" }, { "--package" }, { "--allow-build", "-C", "--dir" }, NPM_OTHER },
	{ { "yarn", "dlx" }, NPM_PACKAGE, { NULL }, { NULL } },
#define UV_VALUE                                                                                 \
	{                                                                                        \
		"--with", "--with-editable", "--with-requirements", "-p", "--python", "--index", \
			"--index-url", "--extra-index-url", "--env-file", "--refresh-package",   \
			"--directory"                                                            \
	}
	{ { "uvx" }, { "--from" }, UV_VALUE, { NULL } },
	{ { "uv", "tool", "run" }, { "--from" }, UV_VALUE, { NULL } },
	{ { "pipx", "run" },
	  { "--spec" },
	  { "--python", "--pip-args", "-i", "--index-url", "--with" },
	  { "--path" } },
};

static bool is_runner(const struct runner *runner, const struct strvec *argv, size_t i,
		      size_t *ret_behind)
{
	for (size_t j = 0; j < ARRAY_SIZE(runner->words) && runner->words[j]; j++, i++) {
		if (i >= argv->count)
			return false;
		const char *word = argv->items[i];
		if (!streq(j ? word : path_basename(word), runner->words[j]))
			return false;
	}
	*ret_behind = i;
	return true;
}

/* The value in "--flag=value" for one of these flags. */
static const char *joined_value(const char *word, const char *const *flags)
{
	const char *equals = strchr(word, '=');
	for (; equals && *flags; flags++)
		if (strlen(*flags) == (size_t)(equals - word) && starts_with(word, *flags))
			return equals + 1;
	return NULL;
}

/* After the runner's own words, from i, come its flags and the name of the program it runs. */
static bool run_by(const struct runner *runner, const struct strvec *argv, size_t i,
		   struct target *ret)
{
	const char *package = NULL;
	for (; i < argv->count && argv->items[i][0] == '-'; i++) {
		const char *word = argv->items[i];
		const char *value = joined_value(word, runner->package);
		if (is_one_of(word, runner->other) || joined_value(word, runner->other))
			return false;
		if (streq(word, "--")) {
			i++;
			break;
		}
		if (is_one_of(word, runner->package))
			value = ++i < argv->count ? argv->items[i] : NULL;
		else if (is_one_of(word, runner->value))
			i++;
		package = value && !package ? value : package;
	}
	if (i >= argv->count)
		return false;
	*ret = (struct target){ .word = i, .is_package = true, .package = package };
	return true;
}

static bool is_python(const char *name)
{
	return starts_with(name, "python") && !name[strspn(name, "python.0123456789")];
}

/* Interpreter flags whose next word is certainly not their value. */
static bool is_single_flag(const char *word)
{
	static const char *const names[] = { "-A", "--allow-all", "--bun", "-u", "-B", "-I", NULL };
	static const char *const prefixes[] = { "--no-", "--enable-", "--allow-", "--trace-" };
	if (word[0] != '-')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (starts_with(word, prefixes[i]))
			return true;
	return strchr(word, '=') || is_one_of(word, names);
}

/* An interpreter that runs a script under another name, as package managers' shims do. */
static bool interpreted(const struct strvec *argv, size_t i, struct target *ret)
{
	static const char *const with_script[] = { "bun", "node", "nodejs", NULL };
	const char *name = path_basename(argv->items[i++]);
	bool is_deno = streq(name, "deno"), takes_run = is_deno || streq(name, "bun");
	bool runs = i < argv->count && takes_run && streq(argv->items[i], "run");
	if (!is_python(name) && !is_one_of(name, with_script) && !(is_deno && runs))
		return false;
	i += runs;
	while (i < argv->count && is_single_flag(argv->items[i]))
		i++;
	if (is_python(name) && i + 1 < argv->count && streq(argv->items[i], "-m"))
		i++;
	/* We do not know which of the other flags take a value. */
	if (i >= argv->count || argv->items[i][0] == '-')
		return false;
	*ret = (struct target){ .word = i, .is_package = starts_with(argv->items[i], "npm:") };
	return true;
}

static struct target find_target(const struct strvec *argv)
{
	struct target target = { .word = skip_env(argv, 0) };
	size_t behind;
	if (target.word == argv->count)
		return target;
	for (size_t i = 0; i < ARRAY_SIZE(runners); i++) {
		if (!is_runner(runners + i, argv, target.word, &behind))
			continue;
		run_by(runners + i, argv, behind, &target);
		return target;
	}
	interpreted(argv, target.word, &target);
	return target;
}

size_t registry_program(const struct strvec *argv)
{
	return find_target(argv).word;
}

bool registry_is_own_command(const struct agent *agent, const struct strvec *argv)
{
	const size_t program = registry_program(argv);
	return program < argv->count &&
	       strvec_contains(&agent->match, path_basename(argv->items[program]));
}

/* "@scope/name" of "npm:@scope/name@1.2", "name" of "name[extra]==3".  The caller frees. */
static char *package_name(const char *text)
{
	if (starts_with(text, "npm:"))
		text += strlen("npm:");
	size_t scope = *text == '@';
	return xstrndup(text, scope + strcspn(text + scope, "@[=<>!~ "));
}

/* The package that contains a script, or NULL.  The caller frees. */
static char *package_of_script(const char *path)
{
	static const char directory[] = "node_modules/";
	const char *name = NULL;
	for (const char *s = path; (s = strstr(s, directory)); name = s)
		s += strlen(directory);
	if (!name || *name == '.')
		return NULL;
	size_t length = strcspn(name, "/");
	if (*name == '@' && name[length])
		length += 1 + strcspn(name + length + 1, "/");
	return xstrndup(name, length);
}

/* The user's own entries come before the built-in ones. */
static int rank(const struct agent *agent)
{
	return !agent->builtin ? 2 : agent->overridden ? 1 : 0;
}

static const struct agent *match_name(const struct registry *registry, const char *name,
				      bool is_package)
{
	const struct agent *best = NULL;
	for (size_t i = 0; name && i < registry->count; i++) {
		const struct agent *agent = registry->agents[i];
		if (strvec_contains(is_package ? &agent->packages : &agent->match, name) &&
		    (!best || rank(agent) > rank(best)))
			best = agent;
	}
	return best;
}

static const struct agent *match_target(const struct registry *registry, const char *word,
					const struct target *target)
{
	cleanup_free char *package = NULL;
	const struct agent *agent = NULL;
	if (!target->is_package) {
		package = package_of_script(word);
		agent = match_name(registry, path_basename(word), false);
		return agent ? agent : match_name(registry, package, true);
	}
	cleanup_free char *name = package_name(word);
	if (target->package) {
		package = package_name(target->package);
		agent = match_name(registry, package, true);
	} else {
		agent = match_name(registry, name, true);
	}
	/* A scoped package has an owner, whatever its name. */
	return agent || *name == '@' ? agent : match_name(registry, path_basename(name), false);
}

const struct agent *registry_match(const struct registry *registry, const struct strvec *argv)
{
	struct target target = find_target(argv);
	const struct agent *agent = NULL;
	if (target.word < argv->count)
		agent = match_target(registry, argv->items[target.word], &target);
	if (!agent && argv->count)
		agent = match_name(registry, path_basename(argv->items[0]), false);
	return agent;
}

static bool fits_any(const struct strvec *patterns, const char *line)
{
	bool found = false;
	for (size_t i = 0; i < patterns->count && !found; i++) {
		regex_t regex;
		if (regcomp(&regex, patterns->items[i], REG_EXTENDED | REG_NOSUB) != 0)
			continue;
		found = regexec(&regex, line, 0, NULL, 0) == 0;
		regfree(&regex);
	}
	return found;
}

static enum refusal refusal_of_line(const struct agent *agent, const char *line)
{
	if (fits_any(&agent->background, line))
		return REFUSAL_BACKGROUND;
	if (fits_any(&agent->refused, line))
		return REFUSAL_OTHER;
	return fits_any(&agent->login, line) ? REFUSAL_LOGIN : REFUSAL_NONE;
}

/* The lines from first on as one: a narrow terminal has broken a sentence into several. */
static char *join_lines(const struct strvec *lines, size_t first)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = first; i < lines->count && i - first < REFUSAL_LINES; i++)
		strbuf_addf(&text, "%s%s", i > first ? " " : "", lines->items[i]);
	return strbuf_take(&text);
}

static void split_lines(const char *words, struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(or_empty(words));
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line += strspn(line, " ");
		for (size_t length = strlen(line); length && line[length - 1] == ' ';)
			line[--length] = '\0';
		if (*line)
			strvec_push(ret, line);
	}
}

bool registry_is_unknown_id(const struct agent *agent, const char *words)
{
	cleanup_strvec struct strvec lines = { 0 }, pattern = { 0 };
	if (!agent->unknown_pattern)
		return false;
	strvec_push(&pattern, agent->unknown_pattern);
	split_lines(words, &lines);
	for (size_t i = lines.count; i > 0 && lines.count - i < LAST_LINES; i--)
		if (fits_any(&pattern, lines.items[i - 1]))
			return true;
	return false;
}

enum refusal registry_refusal(const struct agent *agent, const char *words, char **ret_words)
{
	cleanup_strvec struct strvec lines = { 0 };
	split_lines(words, &lines);
	for (size_t i = lines.count; i > 0 && lines.count - i < LAST_LINES; i--) {
		const enum refusal refusal = refusal_of_line(agent, lines.items[i - 1]);
		if (refusal == REFUSAL_NONE)
			continue;
		*ret_words = refusal == REFUSAL_LOGIN ? xstrdup(lines.items[i - 1])
						      : join_lines(&lines, i - 1);
		return refusal;
	}
	return REFUSAL_NONE;
}
