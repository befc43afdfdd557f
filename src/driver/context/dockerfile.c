/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/context/dockerfile.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char blank[] = " \t\r";

void dockerfile_bases_clear(struct dockerfile_bases *bases)
{
	strvec_clear(&bases->all);
	free(bases->frontend);
	free(bases->unknown);
	*bases = (struct dockerfile_bases){ 0 };
}

struct reader {
	const struct strvec *args; /* NAME=VALUE, in place of defaults; NULL: none */
	struct strvec variables;   /* NAME=VALUE of ARG before the first stage */
	struct strvec names;       /* of each stage, "" for none */
	struct strvec bases;       /* of each stage, "" for none */
	struct strvec sources;     /* of COPY --from and RUN --mount=from */
	struct strvec texts;       /* "<<EOF" as "=EOF", "<<-EOF" as "-EOF" */
	size_t ended;              /* so many of them have ended */
	char escape;               /* an instruction continues on the next line */
	struct dockerfile_bases *ret;
	/* For dockerfile_pin(); pins NULL: nothing is written. */
	const struct strvec *pins;
	const char *text;
	size_t begin, end; /* of the instruction in it */
	size_t written;    /* so much of it is in out */
	struct strbuf out;
};

static void reader_clear(struct reader *reader)
{
	strvec_clear(&reader->variables);
	strvec_clear(&reader->names);
	strvec_clear(&reader->bases);
	strvec_clear(&reader->sources);
	strvec_clear(&reader->texts);
}

static void add_base(struct reader *reader, const char *base)
{
	if (*base && !strvec_contains(&reader->ret->all, base))
		strvec_push(&reader->ret->all, base);
}

static void note_unknown(struct reader *reader, const char *word)
{
	if (!reader->ret->unknown)
		replace_string(&reader->ret->unknown, word);
}

/* ---- variables ------------------------------------------------------------------------------- */

/* The value of the last one.  NULL: there is none. */
static const char *value_of(const struct strvec *variables, const char *name, size_t length)
{
	for (size_t i = variables ? variables->count : 0; i-- > 0;)
		if (strncmp(variables->items[i], name, length) == 0 &&
		    variables->items[i][length] == '=')
			return variables->items[i] + length + 1;
	return NULL;
}

/* NAME[=VALUE]... */
static void read_arg(struct reader *reader, char *words)
{
	for (char *word; (word = strsep(&words, blank));) {
		const size_t name = strcspn(word, "=");
		const char *given = value_of(reader->args, word, name);
		const char *value = word[name] ? word + name + 1 : NULL;
		size_t length = value ? strlen(value) : 0;
		if (!given && length > 1 && strchr("\"'", *value) && value[length - 1] == *value) {
			value++;
			length -= 2;
		}
		if (given || value)
			strvec_pushf(&reader->variables, "%.*s=%.*s", (int)name, word,
				     (int)(given ? strlen(given) : length), given ? given : value);
	}
}

/* $NAME, ${NAME}, ${NAME:-WORD}, ${NAME-WORD}.  *at: behind the dollar.  False: it is another
 * form, or not known. */
static bool expand_one(const struct reader *reader, const char **at, struct strbuf *ret)
{
	const bool is_braced = **at == '{';
	const char *name = *at + is_braced;
	size_t length = 0;
	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	const char *value = value_of(&reader->variables, name, length), *rest = name + length;
	if (is_braced) {
		const size_t otherwise = strcspn(rest, "}");
		const bool is_replaced = *rest == ':' && value && !*value;
		rest += *rest == ':';
		if (*rest == '-' && (!value || is_replaced)) {
			strbuf_add(ret, rest + 1, strcspn(rest + 1, "}"));
			value = "";
		} else if (*rest != '-' && (otherwise || rest != name + length)) {
			return false;
		}
		rest += strcspn(rest, "}");
		if (*rest++ != '}')
			return false;
	}
	if (!value)
		return false;
	strbuf_adds(ret, value);
	*at = rest;
	return true;
}

/* The caller frees.  NULL: what it will be is not known. */
static char *expand(const struct reader *reader, const char *word)
{
	cleanup_strbuf struct strbuf text = { 0 };
	while (*word) {
		if (*word != '$')
			strbuf_add(&text, word++, 1);
		else if (word++, !expand_one(reader, &word, &text))
			return NULL;
	}
	return strpbrk(strbuf_text(&text), "$\"'\\`") ? NULL : strbuf_take(&text);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* The image behind a word after FROM, "" for none. */
static const char *base_of(const struct reader *reader, const char *word)
{
	for (size_t i = reader->names.count; i-- > 0;)
		if (*word && strcasecmp(reader->names.items[i], word) == 0)
			return reader->bases.items[i];
	return streq(word, "scratch") ? "" : word;
}

/* Write the instruction with another image, if there is one for it. */
static void pin(struct reader *reader, const char *options, const char *image, const char *name)
{
	const char *other = value_of(reader->pins, image, strlen(image));
	if (!other || base_of(reader, image) != image)
		return;
	strbuf_add(&reader->out, reader->text + reader->written, reader->begin - reader->written);
	strbuf_addf(&reader->out, "FROM %s%s%s%s", options, other, name ? " AS " : "",
		    or_empty(name));
	reader->written = reader->end;
}

/* [--OPTION=...] IMAGE [AS NAME] */
static void read_from(struct reader *reader, char *words)
{
	const char *image = NULL, *word, *name = NULL;
	cleanup_strbuf struct strbuf options = { 0 };
	while ((word = strsep(&words, blank))) {
		if (!image && starts_with(word, "--"))
			strbuf_addf(&options, "%s ", word);
		else if (!image && *word)
			image = word;
		else if (*word && strcasecmp(word, "as") != 0)
			name = word;
	}
	if (!image)
		return;
	cleanup_free char *expanded = expand(reader, image);
	if (expanded && reader->pins)
		pin(reader, strbuf_text(&options), expanded, name);
	if (!expanded)
		note_unknown(reader, image);
	cleanup_free char *base = xstrdup(expanded ? base_of(reader, expanded) : "");
	add_base(reader, base);
	strvec_push(&reader->names, or_empty(name));
	strvec_push(&reader->bases, base);
}

/* COPY --from=WHAT, RUN --mount=type=bind,from=WHAT,... */
static void read_sources(struct reader *reader, char *words)
{
	for (char *word; (word = strsep(&words, blank));) {
		if (*word && !starts_with(word, "--"))
			return;
		if (starts_with(word, "--from="))
			strvec_push(&reader->sources, word + strlen("--from="));
		if (!starts_with(word, "--mount="))
			continue;
		word += strlen("--mount=");
		for (char *part; (part = strsep(&word, ","));)
			if (strncasecmp(part, "from=", strlen("from=")) == 0)
				strvec_push(&reader->sources, part + strlen("from="));
	}
}

/* What is behind ONBUILD: a later stage runs that. */
static char *skip_onbuild(char *line)
{
	const size_t length = strlen("ONBUILD");
	while (strncasecmp(line, "ONBUILD", length) == 0 && line[length] &&
	       strchr(blank, line[length]))
		line += length + strspn(line + length, blank);
	return line;
}

static void read_instruction(struct reader *reader, char *line)
{
	char *words = line;
	const char *name = strsep(&words, blank);
	if (!words)
		return;
	if (strcasecmp(name, "FROM") == 0)
		read_from(reader, words);
	else if (strcasecmp(name, "ARG") == 0 && !reader->names.count)
		read_arg(reader, words);
	else if (strcasecmp(name, "COPY") == 0 || strcasecmp(name, "RUN") == 0 ||
		 strcasecmp(name, "ADD") == 0)
		read_sources(reader, words);
}

/* A stage by its name, also one that comes later, or by its number.  What is neither is an
 * image. */
static void settle_sources(struct reader *reader)
{
	for (size_t i = 0; i < reader->sources.count; i++) {
		const char *source = reader->sources.items[i];
		bool is_stage = source[strspn(source, "0123456789")] == '\0';
		for (size_t j = 0; j < reader->names.count; j++)
			is_stage |= strcasecmp(reader->names.items[j], source) == 0;
		if (is_stage || streq(source, "scratch"))
			continue;
		if (strpbrk(source, "$\"'\\`"))
			note_unknown(reader, source);
		else
			add_base(reader, source);
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* "# NAME=VALUE" and, of the frontend, "// NAME=VALUE", before all else.  False: it is none. */
static bool read_directive(struct reader *reader, const char *line)
{
	const char *name = line + (*line == '#' ? 1 : starts_with(line, "//") ? 2 : 0);
	if (name == line || starts_with(line, "#!"))
		return name != line;
	name += strspn(name, blank);
	const size_t length = strcspn(name, " \t\r=");
	const char *value = name + length + strspn(name + length, blank);
	if (*value++ != '=')
		return false;
	value += strspn(value, blank);
	if (length == strlen("escape") && strncasecmp(name, "escape", length) == 0)
		reader->escape = *value == '`' ? '`' : '\\';
	if (length != strlen("syntax") || strncasecmp(name, "syntax", length) != 0)
		return true;
	free(reader->ret->frontend);
	reader->ret->frontend = xstrndup(value, strcspn(value, blank));
	return true;
}

/* "<<EOF", "<<-EOF", "<<'EOF'".  Of what is another form it is not known where the text ends. */
static void read_here(struct reader *reader, const char *word)
{
	const bool has_tabs = word[2] == '-';
	const char *name = word + 2 + has_tabs;
	const bool is_quoted = *name == '"' || *name == '\'';
	const char quote = *name;
	name += is_quoted;
	const size_t length = strcspn(name, " \t\r\"'\\$");
	const char *end = name + length;
	const bool is_closed = !is_quoted || *end++ == quote;
	if (memchr(name, '<', length))
		return;
	if (!is_closed || !length || (*end && !strchr(blank, *end)))
		note_unknown(reader, word);
	else
		strvec_pushf(&reader->texts, "%s%.*s", has_tabs ? "-" : "=", (int)length, name);
}

/* Which texts begin in the next line: "<<EOF" begins a word of RUN, COPY or ADD. */
static void find_texts(struct reader *reader, const char *line)
{
	const size_t name = strcspn(line, blank);
	const bool may_have = (name == 3 && (strncasecmp(line, "RUN", name) == 0 ||
					     strncasecmp(line, "ADD", name) == 0)) ||
			      (name == 4 && strncasecmp(line, "COPY", name) == 0);
	char quote = 0;
	for (const char *at = line; may_have && *at; at++) {
		const bool begins = !quote && at > line && strchr(blank, at[-1]);
		if (*at == '\\' && at[1])
			at++;
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		else if (quote == *at)
			quote = 0;
		const char *word = begins ? at + strspn(at, "0123456789") : "";
		if (starts_with(word, "<<"))
			read_here(reader, word);
	}
}

/* Is the line in a text? */
static bool skip_text(struct reader *reader, const char *line)
{
	if (reader->ended == reader->texts.count)
		return false;
	const char *until = reader->texts.items[reader->ended];
	const char *text = line + (*until == '-' ? strspn(line, "\t") : 0);
	size_t length = strlen(text);
	while (length && text[length - 1] == '\r')
		length--;
	if (length == strlen(until + 1) && strncmp(text, until + 1, length) == 0)
		reader->ended++;
	return true;
}

/* Does the instruction continue in the next line?  Cuts the mark of that off. */
static bool cut_end(const struct reader *reader, char *line)
{
	size_t length = strlen(line);
	while (length && strchr(blank, line[length - 1]))
		length--;
	if (!length || line[length - 1] != reader->escape)
		return false;
	line[length - 1] = '\0';
	return true;
}

static void end_instruction(struct reader *reader, struct strbuf *whole)
{
	cleanup_free char *instruction = strbuf_take(whole);
	char *line = skip_onbuild(instruction);
	find_texts(reader, line);
	read_instruction(reader, line);
}

/* A comment may be between the lines of an instruction. */
static void read_lines(struct reader *reader, char *rest)
{
	cleanup_strbuf struct strbuf whole = { 0 };
	bool is_head = true;
	const char *const copy = rest, *const last = rest + strlen(rest);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!whole.length)
			reader->begin = (size_t)(line - copy);
		reader->end = (size_t)((rest ? rest - 1 : last) - copy);
		if (skip_text(reader, line))
			continue;
		char *text = line + strspn(line, blank);
		is_head = is_head && read_directive(reader, text);
		if (*text == '#' || !*text)
			continue;
		const bool goes_on = cut_end(reader, line);
		strbuf_adds(&whole, whole.length ? line : text);
		if (!goes_on)
			end_instruction(reader, &whole);
	}
	if (whole.length)
		end_instruction(reader, &whole);
}

char *dockerfile_pin(const char *text, const struct strvec *args, const struct strvec *pins)
{
	cleanup_free char *copy = xstrdup(text);
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	CLEANUP(reader_clear)
	struct reader reader = {
		.args = args, .escape = '\\', .ret = &bases, .pins = pins, .text = text
	};
	read_lines(&reader, copy);
	strbuf_adds(&reader.out, text + reader.written);
	return strbuf_take(&reader.out);
}

void dockerfile_read_bases(const char *text, const struct strvec *args,
			   struct dockerfile_bases *ret)
{
	cleanup_free char *copy = xstrdup(text);
	CLEANUP(reader_clear) struct reader reader = { .args = args, .escape = '\\', .ret = ret };
	*ret = (struct dockerfile_bases){ 0 };
	const char *frontend = value_of(args, "BUILDKIT_SYNTAX", strlen("BUILDKIT_SYNTAX"));
	read_lines(&reader, copy);
	settle_sources(&reader);
	if (frontend)
		replace_string(&ret->frontend, frontend);
}
