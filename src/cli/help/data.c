/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/help/help.h"

static struct json_object *json_of_option(const struct command_option *option)
{
	struct json_object *object = json_object_new_object();
	struct json_object *words = json_object_new_array();
	const char letter[] = { option->letter, '\0' };
	for (size_t i = 0; i < option->offer.count; i++)
		if (option->offer.words[i])
			json_object_array_add(words,
					      json_object_new_string(option->offer.words[i]));
	json_set_string(object, "name", option->name);
	json_set_string(object, "letter", option->letter ? letter : NULL);
	json_set_string(object, "argument", option->argument);
	json_set_string(object, "summary", option->help);
	json_set_string(object, "kind", command_kind_name(option->kind));
	json_set(object, "words", words);
	return object;
}

static void add_options(struct json_object *array, const struct command_option *options)
{
	for (; options && options->name; options++)
		if (!options->is_hidden)
			json_object_array_add(array, json_of_option(options));
}

static const char *form_of(const struct command *command)
{
	if (!(command->flags & HAS_JSON))
		return NULL;
	return command->flags & JSON_LINES ? "lines" : "value";
}

struct json_object *json_of_command(const struct command *command)
{
	struct json_object *object = json_object_new_object();
	struct json_object *options = json_object_new_array();
	const char *form;
	cleanup_strvec struct strvec forms = { 0 };
	for (size_t i = 0; (form = command_short_form(command, i)); i++)
		strvec_push(&forms, form);
	add_options(options, command->options);
	add_options(options, command_json_options(command));
	json_set_string(object, "name", command->name);
	json_set_string(object, "kind", command_kind_name(command->kind));
	json_set_strings(object, "short_forms", &forms);
	json_set_string(object, "arguments", command->arguments);
	json_set_string(object, "summary", command->summary);
	json_set_string(object, "json", form_of(command));
	json_set_bool(object, "takes_several", command->flags & TAKES_SEVERAL);
	json_set(object, "options", options);
	return object;
}
