/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/options.h"

#include "base/macro.h"
#include "base/text.h"

#include <getopt.h>

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
	{ "worktree", optional_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

bool options_parse(int argc, char *argv[], struct options *ret, int *ret_exit_status)
{
	int option;
	const char **const texts[] = {
		['r'] = &ret->resume,
		['w'] = &ret->worktree,
		[OPTION_SESSION_ID] = &ret->session_id,
		[OPTION_SETTINGS] = &ret->settings,
		[OPTION_MODEL] = &ret->model,
		[OPTION_SYSTEM_PROMPT] = &ret->system_prompt,
	};
	bool *const flags[ARRAY_SIZE(texts)] = {
		['c'] = &ret->continue_latest,
		['p'] = &ret->print,
		[OPTION_FORK] = &ret->fork,
	};

	*ret = (struct options){ 0 };
	while ((option = getopt_long(argc, argv, "chpr:vw", long_options, NULL)) >= 0) {
		/* The option's value is optional, and may be the next word. */
		if (option == 'w' && !optarg && optind < argc && argv[optind][0] != '-')
			optarg = argv[optind++];
		if (texts[option] || flags[option]) {
			if (flags[option])
				*flags[option] = true;
			else
				*texts[option] = or_empty(optarg);
			continue;
		}
		if (option == 'h')
			fputs(demo_help, stdout);
		else if (option == 'v')
			puts("agentdeck-demo-agent " PACKAGE_VERSION);
		/* getopt_long() has printed the error. */
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
