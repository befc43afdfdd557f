/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/made.h"

#include "cli/show/output.h"

static size_t count_in(const struct strvec *profiles, const char *profile)
{
	size_t count = 0;
	for (size_t i = 0; i < profiles->count; i++)
		count += streq(profiles->items[i], profile);
	return count;
}

static void say_profile(const struct app *app, const char *verb, const char *profile, size_t count)
{
	const bool is_ours = streq(profile, app->deck.profile);
	cleanup_free char *place = is_ours ? xstrdup("") : xasprintf(" into profile %s", profile);
	cleanup_free char *option = is_ours ? xstrdup("") : xasprintf(" -p %s", profile);
	if (count == 1)
		say("%s 1 session%s. It is stopped: agentdeck%s start TITLE starts it.", verb,
		    place, option);
	else
		say("%s %zu sessions%s. They are stopped: agentdeck%s start --all, or one by one.",
		    verb, count, place, option);
}

void say_made(const struct app *app, const char *verb, const struct strvec *profiles)
{
	cleanup_strvec struct strvec done = { 0 };
	for (size_t i = 0; i < profiles->count; i++) {
		const char *profile = profiles->items[i];
		if (strvec_contains(&done, profile))
			continue;
		strvec_push(&done, profile);
		say_profile(app, verb, profile, count_in(profiles, profile));
	}
}
