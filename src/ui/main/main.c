/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-ui [--profile PROFILE] [--program AGENTDECK] [--pick TERMINAL]
 * agentdeck-ui [--profile PROFILE] [--program AGENTDECK] --wall [--group GROUP] [ID...]
 *
 * `agentdeck ui` starts it, and says where agentdeck is.  `agentdeck switch` starts it with --pick.
 */
#include "ui/main/dashboard.h"
#include "ui/term/term.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

struct request {
	const char *profile; /* NULL: the default */
	struct dashboard_order order;
	struct wall_order wall; /* of the order, if it has one */
};

static int parse(int argc, char *argv[], struct request *ret, struct error *err)
{
	static const struct option options[] = {
		{ "profile", required_argument, NULL, 'p' },
		{ "program", required_argument, NULL, 'a' },
		{ "pick", required_argument, NULL, 'c' },
		{ "wall", no_argument, NULL, 'w' },
		{ "group", required_argument, NULL, 'r' },
		{ 0 },
	};
	ret->order.agentdeck = "agentdeck";
	for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (letter == 'p')
			ret->profile = optarg;
		else if (letter == 'a')
			ret->order.agentdeck = optarg;
		else if (letter == 'c')
			ret->order.client = optarg;
		else if (letter == 'w')
			ret->order.wall = &ret->wall;
		else if (letter == 'r')
			ret->wall.group = optarg;
		else
			return error_set(err, ERROR_USAGE, "run agentdeck ui instead");
	}
	if (optind < argc)
		ret->wall.ids = (const char *const *)&argv[optind];
	return 0;
}

static void unblock_signals(void)
{
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Another profile is another deck. */
static int go_on_in(const char *profile, const char *agentdeck, struct error *err)
{
	const char *const argv[] = { agentdeck, "--profile", profile, "ui", NULL };
	unblock_signals();
	(void)execvp(agentdeck, (char *const *)argv);
	return error_set_errno(err, errno, "execute %s", agentdeck);
}

static int run(int argc, char *argv[], struct error *err)
{
	struct request request = { 0 };
	cleanup_deck struct deck deck = { 0 };
	cleanup_free char *next = NULL;
	if (parse(argc, argv, &request, err) < 0)
		return -1;
	if (!term_is_possible())
		return error_set(err, ERROR_USAGE,
				 "the deck needs a terminal: agentdeck list works without one");
	if (deck_open_anyway(request.profile, "ui", &deck, err) < 0 ||
	    deck_check_profile(&deck, err) < 0 || deck_open_store(&deck, err) < 0)
		return -1;
	deck_refresh_ssh_agent(&deck);
	const int r = dashboard_run(&deck, &request.order, &next, err);
	return r == 0 && next ? go_on_in(next, request.order.agentdeck, err) : r;
}

int main(int argc, char *argv[])
{
	cleanup_error struct error err = { 0 };
	/* The width of characters.  All that programs read or write stays as in the C locale. */
	setlocale(LC_CTYPE, "");
	(void)signal(SIGXFSZ, SIG_IGN);
	const int r = run(argc, argv, &err);
	if (r < 0) {
		cleanup_free char *shown = visible(err.message);
		fprintf(stderr, "agentdeck: %s\n", shown);
		return error_exit_status(err.code);
	}
	if (r > 0) {
		/* The loop has blocked it. */
		(void)signal(r, SIG_DFL);
		unblock_signals();
		(void)raise(r);
	}
	return 0;
}
