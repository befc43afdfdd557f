/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/doctor-fix.h"
#include "cli/cmd/doctor-report.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/doctor/doctor.h"

struct options {
	bool fix, force, dry_run, report;
};

static const struct command_option options[] = {
	{ 0, "fix", NULL, "compare sessions, disk and engines, and free what belongs to no session",
	  TO_FLAG(fix), .kind = COMMAND_CHANGES },
	{ 'f', "force", NULL, "with --fix: do not ask", TO_FLAG(force) },
	{ 'n', "dry-run", NULL, "with --fix: only show it", TO_FLAG(dry_run) },
	{ 0, "report", NULL, "print what a bug report needs, without secrets", TO_FLAG(report) },
	OPTION_ALL_HOSTS,
	{ 0 },
};

static void print_findings_json(const struct doctor_findings *findings)
{
	cleanup_json struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_finding *finding = &findings->items[i];
		struct json_object *object = json_object_new_object();
		json_set_string(object, "check", finding->check);
		json_set_string(object, "verdict", doctor_verdict_name(finding->verdict));
		json_set_string(object, "reason", finding->reason);
		json_set_string(object, "remedy", finding->remedy);
		json_object_array_add(array, object);
	}
	print_json(array);
}

static enum tone tone_of(enum doctor_verdict verdict)
{
	static const enum tone tones[] = {
		[VERDICT_OK] = TONE_BUSY,
		[VERDICT_WARNING] = TONE_WARNING,
		[VERDICT_ERROR] = TONE_ERROR,
		[VERDICT_UNKNOWN] = TONE_PLAIN,
	};
	return tones[verdict];
}

static void print_remedies(const struct doctor_findings *findings)
{
	bool is_first = true;
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_finding *finding = &findings->items[i];
		if (!finding->remedy)
			continue;
		if (is_first)
			printf("\nWhat to do:\n");
		say("  %s: %s", finding->check, finding->remedy);
		is_first = false;
	}
}

static void print_findings(const struct app *app, const struct doctor_findings *findings,
			   const char *conclusion)
{
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "CHECK", "VERDICT", "REASON", NULL });
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_finding *finding = &findings->items[i];
		table_add(table,
			  (const char *const[]){ finding->check,
						 doctor_verdict_name(finding->verdict),
						 finding->reason, NULL },
			  tone_of(finding->verdict));
	}
	table_print(table);
	print_remedies(findings);
	printf("\n%s\n", conclusion);
}

static int check(struct app *app)
{
	const struct options *given = app->options;
	cleanup_doctor_facts struct doctor_facts facts = { 0 };
	cleanup_doctor_findings struct doctor_findings findings = { 0 };
	doctor_gather(&app->deck, app->profile, &facts);
	doctor_judge(&facts, &findings);
	if (given->report)
		doctor_report(app, &facts, &findings);
	else if (app->json)
		print_findings_json(&findings);
	else
		print_findings(app, &findings, doctor_conclusion(&facts, &findings));
	return doctor_findings_have_error(&findings) && !given->report ? 1 : 0;
}

static int cmd_doctor(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	if (!given->fix && (given->force || given->dry_run))
		return error_set(err, ERROR_USAGE, "--force and --dry-run belong to --fix");
	if (given->report && (given->fix || app->json))
		return error_set(err, ERROR_USAGE,
				 "--report is a text by itself: omit --fix and --json");
	const enum doctor_consent consent = given->force     ? DOCTOR_AGREED
					    : given->dry_run ? DOCTOR_ONLY_SHOW
							     : DOCTOR_ASK;
	return given->fix ? doctor_fix(app, consent, err) : check(app);
}

const struct command command_doctor = {
	.name = "doctor",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "check whether sessions survive a logout on this machine",
	OWN_OPTIONS,
	.flags = FINDS_PROGRAMS | HAS_JSON,
	.run = cmd_doctor,
};
