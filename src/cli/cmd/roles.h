/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A role, as commands show it.
 */
#pragma once

#include "cli/cmd/containeropts.h"
#include "cli/core/command.h"

/* The session that gets the role. */
struct role_session {
	const char *directory, *group; /* group NULL: none */
};

/* Where the role of a name of [roles] is, or that of a path.  The caller frees. */
char *role_path(const struct app *app, const char *word) MUST_USE;

/* What asks, is refused or is left out, as "path:line: verdict: key: why". */
void role_judge(const struct role_source *source, struct strvec *ret);
/* Append what will run, with which rights, and what role_judge() says.  The lines are visible. */
void role_describe(const struct role_source *source, struct strvec *ret);
/* Append which image it was built to last, and from what. */
void role_describe_built(const struct app *app, const struct role_source *source,
			 struct strvec *ret);
/* Describe it for programs.  The caller puts it. */
struct json_object *json_of_role(const struct app *app, const struct role_source *source) MUST_USE;

/* Read the role of a new session in a container, with its digest: as the options say, else the
 * configuration.  ROLE_NOT_WISHED: it has none. */
enum { ROLE_NOT_WISHED = 1 };
int role_choose(const struct app *app, const struct container_options *options,
		const struct role_session *place, struct role_source *ret, struct error *err);
/* The options name none: say so, once, if the project has one. */
void role_hint(const struct app *app, const struct container_options *options,
	       const char *directory);

/* Does the user trust this role, as it is now?  If not, the user is asked at the terminal, and sees
 * what will run, with which rights, and what has changed.  ERROR_INVALID: the role is refused, or
 * is not trusted. */
int role_consent(struct app *app, const struct role_source *source, struct error *err);
