/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/options.h"

#include "base/macro.h"
#include "base/text.h"

#include <getopt.h>

static const char help[] =
	"Usage: agentdeck-demo-agent [OPTION]... [PROMPT]\n"
	"\n"
	"An agent for a terminal without intelligence or network: it repeats what you say and\n"
	"remembers it, so that you can see a conversation come back after a crash or a reboot.\n"
	"\n"
	"  -p, --print                     answer PROMPT (or standard input), and end\n"
	"  -c, --continue                  go on with this directory's latest conversation\n"
	"  -r, --resume UUID               go on with this conversation\n"
	"      --fork-session              with these two: under a new id, the old one stays\n"
	"      --session-id UUID           use this id for the new conversation\n"
	"      --settings FILE             JSON with hooks\n"
	"      --model NAME                shown and recorded\n"
	"      --append-system-prompt TEXT shown and recorded\n"
	"  -h, --help                      this text\n"
	"  -v, --version                   the version\n"
	"\n"
	"At the prompt: Enter sends, Ctrl-J breaks the line, Esc or Ctrl-C interrupts a reply,\n"
	"Ctrl-C clears the line (twice: ends), Ctrl-D ends; /help, /clear, /exit.\n"
	"\n"
	"Conversations are kept below $AGENTDECK_DEMO_CONFIG_DIR, else\n"
	"below ~/.local/share/agentdeck-demo-agent.\n"
	"\n"
	"For tests, in the environment:\n"
	"  AGENTDECK_DEMO_DELAY_MS=N        think so long about a reply (150)\n"
	"  AGENTDECK_DEMO_IDLE_MS=N         Notification hook after so long at the prompt (60000)\n"
	"  AGENTDECK_DEMO_START_DELAY_MS=N  start so slowly\n"
	"  AGENTDECK_DEMO_EXIT_AT_START=N   end at once with this exit status\n"
	"  AGENTDECK_DEMO_LATE_TURNS=N      write a conversation's first N turns down with the next\n"
	"                                   one, or at an orderly end\n"
	"  AGENTDECK_DEMO_NO_REPORT=1       run no hooks\n"
	"  AGENTDECK_DEMO_IGNORE_SIGNALS=1  ignore SIGHUP, SIGTERM and SIGINT\n"
	"  AGENTDECK_DEMO_LEAVE_CHILD=1     leave a process behind, in a session of its own, that\n"
	"                                   ignores the same signals (for ten minutes at most)\n"
	"  CLAUDE_CODE_CHILD_SESSION=1      write no transcript, unless\n"
	"                                   CLAUDE_CODE_FORCE_SESSION_PERSISTENCE=1\n";

enum { OPTION_SESSION_ID = 256, OPTION_FORK, OPTION_SETTINGS, OPTION_MODEL, OPTION_SYSTEM_PROMPT };

static const struct option long_options[] = {
	{ "append-system-prompt", required_argument, NULL, OPTION_SYSTEM_PROMPT },
	{ "continue", no_argument, NULL, 'c' },
	{ "fork-session", no_argument, NULL, OPTION_FORK },
	{ "help", no_argument, NULL, 'h' },
	{ "model", required_argument, NULL, OPTION_MODEL },
	{ "print", no_argument, NULL, 'p' },
	{ "resume", required_argument, NULL, 'r' },
	{ "session-id", required_argument, NULL, OPTION_SESSION_ID },
	{ "settings", required_argument, NULL, OPTION_SETTINGS },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* True when the option was one that only stores something. */
static bool store(int option, struct options *options)
{
	switch (option) {
	case 'c':
		options->continue_latest = true;
		return true;
	case 'p':
		options->print = true;
		return true;
	case 'r':
		options->resume = optarg;
		return true;
	case OPTION_SESSION_ID:
		options->session_id = optarg;
		return true;
	case OPTION_FORK:
		options->fork = true;
		return true;
	case OPTION_SETTINGS:
		options->settings = optarg;
		return true;
	case OPTION_MODEL:
		options->model = optarg;
		return true;
	case OPTION_SYSTEM_PROMPT:
		options->system_prompt = optarg;
		return true;
	default:
		return false;
	}
}

bool options_parse(int argc, char *argv[], struct options *ret, int *ret_exit_status)
{
	int option;

	*ret = (struct options){ 0 };
	while ((option = getopt_long(argc, argv, "chpr:v", long_options, NULL)) >= 0) {
		if (store(option, ret))
			continue;
		if (option == 'h')
			fputs(help, stdout);
		else if (option == 'v')
			puts("agentdeck-demo-agent " PACKAGE_VERSION);
		/* getopt_long has named the mistake. */
		*ret_exit_status = option == 'h' || option == 'v' ? 0 : 1;
		return false;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "Error: one prompt only: put its words in quotes.\n");
		*ret_exit_status = 1;
		return false;
	}
	ret->prompt = argv[optind];
	return true;
}

bool switch_is_on(const char *variable)
{
	const char *value = getenv(variable);
	return !is_empty(value) && !streq(value, "0");
}

int switch_number(const char *variable, int fallback)
{
	enum { DAY_MS = 24 * 3600 * 1000 };
	const char *value = getenv(variable);
	int64_t number;
	return value && parse_int64(value, 0, DAY_MS, &number) ? (int)number : fallback;
}
