/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * devcontainer.json: what is refused names its place, and leaves the result alone.  Whatever is
 * accepted says clean text, and gets nothing that a finding does not ask for.
 */
#include "fuzz/fuzz.h"

#include "model/role/role.h"

static bool asks_for(const struct role *role, const char *text)
{
	for (size_t i = 0; i < role->count; i++)
		if (role->findings[i].verdict >= ROLE_ASKS && strstr(role->findings[i].text, text))
			return true;
	return role->count == ROLE_MAX_FINDINGS;
}

static void check_findings(const struct role *role)
{
	enum role_verdict worst = ROLE_RUNS;
	HOLDS(role->count <= ROLE_MAX_FINDINGS);
	for (size_t i = 0; i < role->count; i++) {
		const struct role_finding *finding = &role->findings[i];
		HOLDS(!is_empty(finding->text));
		HOLDS(fuzz_is_clean(finding->text, false) && fuzz_is_clean(finding->key, false));
		if (finding->verdict != ROLE_NOTE && finding->verdict > worst)
			worst = finding->verdict;
	}
	HOLDS(role->verdict == worst);
}

static void check_grants(const struct role *role)
{
	for (size_t i = 0; i < role->cap_add.count; i++)
		HOLDS(asks_for(role, role->cap_add.items[i]));
	for (size_t i = 0; i < role->mounts.count; i++) {
		cleanup_free char *source = xstrdup(role->mounts.items[i]);
		source[strcspn(source, ":")] = '\0';
		cleanup_free char *shown = visible(source);
		HOLDS(*source == '/' && !role_is_forbidden(source) && asks_for(role, shown));
	}
	for (size_t i = 0; i < role->environment.count; i++)
		HOLDS(strchr(role->environment.items[i], '=') &&
		      !starts_with(role->environment.items[i], "HOME="));
	HOLDS(!role->network || !streq(role->network, "host"));
	HOLDS(!role->docker || (streq(role->docker, "rootless") && asks_for(role, "Docker")));
	HOLDS(role->verdict == ROLE_REFUSED || !role->image != !role->dockerfile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_strvec struct strvec variables = { 0 };
	strvec_push(&variables, "HOME=/home/u");
	for (unsigned rights = RIGHTS_LOCKED; rights <= RIGHTS_OPEN; rights++) {
		const struct role_order order = { .path = "input",
						  .workspace = "/src/api",
						  .environment = &variables,
						  .rights = (enum recipe_rights)rights };
		struct role role = { .memory = 5 };
		struct error err = { 0 };
		if (role_read((const char *)data, size, &order, &role, &err) < 0) {
			HOLDS(role.memory == 5 && starts_with(err.message, "input:"));
			fuzz_failed(&err);
			continue;
		}
		check_findings(&role);
		check_grants(&role);
		role_clear(&role);
	}
	return 0;
}
