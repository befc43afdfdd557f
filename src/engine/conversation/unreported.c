/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/unreported.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"

#include <fcntl.h>
#include <string.h>

enum { SETTINGS_MAX = 1 << 20 };

/* "{home}/x" and "{directory}/x", or an absolute path.  NULL: the instance has no such directory. */
static char *resolve(const char *file, const struct instance *instance)
{
	static const char home[] = "{home}/", directory[] = "{directory}/";
	const char *own = instance->conversation.config_home;
	if (starts_with(file, home))
		return own ? path_join(own, file + strlen(home)) : NULL;
	if (starts_with(file, directory))
		return path_join(instance_launch_directory(instance), file + strlen(directory));
	return xstrdup(file);
}

/* The files, in the order of their precedence; those of the machine's administrator also apart. */
static void list_files(const struct instance *instance, const struct agent *agent,
		       struct strvec *ret, struct strvec *ret_managed)
{
	/* What the user gave on the command line is in our file. */
	cleanup_free char *given = instance->run.directory ? runfiles_settings(instance) : NULL;
	if (given)
		strvec_push(ret, given);
	for (size_t i = 0; i < agent->report_off_files.count; i++) {
		const char *file = agent->report_off_files.items[i];
		cleanup_free char *path = resolve(file, instance);
		if (path)
			strvec_push(ret, path);
		if (*file == '/')
			strvec_push(ret_managed, file);
	}
}

/* The first of these files that has the member, if it meets the condition there.  Borrowed. */
static const char *find_in(const struct strvec *paths, const char *condition)
{
	cleanup_free char *member = xstrndup(condition, strcspn(condition, "="));
	for (size_t i = 0; i < paths->count; i++) {
		cleanup_strbuf struct strbuf text = { 0 };
		cleanup_json struct json_object *root = NULL;
		const char *path = paths->items[i];
		if (fs_read(AT_FDCWD, path, SETTINGS_MAX, &text, NULL) == 0 &&
		    json_parse(strbuf_text(&text), text.length, path, &root, NULL) == 0 &&
		    json_at(root, member))
			return json_matches(root, condition) ? path : NULL;
	}
	return NULL;
}

static char *find_one(const struct strvec *paths, const struct strvec *conditions)
{
	for (size_t i = 0; i < conditions->count; i++) {
		const char *condition = conditions->items[i];
		const char *path = find_in(paths, condition);
		if (path)
			return xasprintf("%s in %s", condition, path);
	}
	return NULL;
}

char *unreported_setting(const struct instance *instance, const struct agent *agent)
{
	cleanup_strvec struct strvec paths = { 0 }, managed = { 0 };
	if (place_home(instance))
		return NULL;
	list_files(instance, agent, &paths, &managed);
	char *found = find_one(&paths, &agent->report_off);
	return found ? found : find_one(&managed, &agent->report_off_managed);
}

char *unreported_why(const struct deck *deck, const struct instance *instance,
		     const struct agent *agent)
{
	const struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	const struct place_run live = place_run_of(instance);
	if (!attempt || attempt->rung == RUNG_SHELL || run->reported || run->offer ||
	    !agent_reports(agent) || agent->report_binds != BINDS_START || !place_is_live(&live))
		return NULL;
	cleanup_free char *setting = unreported_setting(instance, agent);
	if (setting)
		return xasprintf("its hooks are off: %s", setting);
	if (clock_ms() - run->attempt_since_boot_ms < deck->settings.probation_s * 1000)
		return NULL;
	return xstrdup("it asks something first, or its hooks are off");
}
