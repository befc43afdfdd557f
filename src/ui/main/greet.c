/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/greet.h"

#include <unistd.h>

enum { TIMEOUT_MS = 30000 };

static void on_conversations(const struct child_result *result, const struct error *failure UNUSED,
			     void *context)
{
	struct errands *errands = context;
	welcome_set_conversations(&errands->ui->welcome,
				  result ? strbuf_text(&result->output) : NULL);
	*errands->is_changed = true;
}

static void on_sources(const struct child_result *result, const struct error *failure UNUSED,
		       void *context)
{
	struct errands *errands = context;
	welcome_set_sources(&errands->ui->welcome, result ? strbuf_text(&result->output) : NULL);
	*errands->is_changed = true;
}

static void ask(struct errands *errands, const char *const *words, runner_handler handler)
{
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push_array(&argv, words);
	const struct errand errand = { .words = &argv, .timeout_ms = TIMEOUT_MS };
	errand_start(errands, &errand, handler, errands);
}

void greet_settle(struct errands *errands)
{
	struct welcome *welcome = &errands->ui->welcome;
	if (!ui_is_empty(errands->ui)) {
		welcome->is_asked = false;
		welcome->making = 0;
		return;
	}
	if (welcome->is_asked)
		return;
	welcome->is_asked = true;
	cleanup_free char *here = getcwd(NULL, 0);
	cleanup_free char *shown = visible(or_empty(here));
	replace_string(&welcome->details[OFFER_NEW], shown);
	ask(errands, (const char *const[]){ "discover", "--json", "--number", "99", NULL },
	    on_conversations);
	ask(errands, (const char *const[]){ "import", "--json", NULL }, on_sources);
}
