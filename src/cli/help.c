/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

static void print_option(FILE *out, const struct command_option *option)
{
	cleanup_free char *name = xasprintf("--%s%s%s", option->name, option->argument ? " " : "",
					    option->argument ? option->argument : "");
	if (option->letter)
		fprintf(out, "  -%c, %-24s %s\n", option->letter, name, option->help);
	else
		fprintf(out, "      %-24s %s\n", name, option->help);
}

static void print_command(FILE *out, const struct command *command)
{
	static const struct command_option common[] = {
		{ 0, "json", NULL, "print JSON" },
		{ 'h', "help", NULL, "print this help" },
	};
	fprintf(out, "Usage: agentdeck %s%s%s%s\n\n%s\n", command->name,
		command->options || command->flags & HAS_JSON ? " [OPTION...]" : "",
		*command->arguments ? " " : "", command->arguments, command->summary);
	if (*command->description)
		fprintf(out, "\n%s\n", command->description);
	fprintf(out, "\nOptions:\n");
	for (size_t i = 0; command->options && command->options[i].name; i++)
		print_option(out, &command->options[i]);
	if (command->flags & HAS_JSON)
		print_option(out, &common[0]);
	print_option(out, &common[1]);
}

void print_help(FILE *out, const struct command *command)
{
	if (command) {
		print_command(out, command);
		return;
	}
	fputs("Usage: agentdeck [-p PROFILE] COMMAND [ARGUMENT...]\n\n"
	      "Keeps AI coding agents alive: each runs in a tmux server of its own, out of reach of your\n"
	      "login, and comes back with its conversation after a logout, a kill or a reboot.\n\n"
	      "Commands:\n", out);
	for (size_t i = 0; commands[i]; i++)
		if (!(commands[i]->flags & IS_HIDDEN))
			fprintf(out, "  %-17s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nThe session commands also work without the word: agentdeck start api.\n"
	      "A SESSION is a title, an id, the first characters of an id (3 or more), or a directory.\n\n"
	      "First steps:\n"
	      "  agentdeck launch ~/src/api -t api     make a session for this directory and start it\n"
	      "  agentdeck attach api                  work in it; Ctrl-Q leaves it running\n"
	      "  agentdeck start api                   bring it back, with its conversation\n\n"
	      "agentdeck COMMAND --help tells more about a command, man agentdeck about all of it.\n"
	      "agentdeck doctor says whether sessions survive a logout on this machine.\n", out);
}
