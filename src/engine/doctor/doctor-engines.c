/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the doctor asks container engines.  Nothing is asked where there is none.
 */
#include "engine/doctor/doctor.h"

#include "base/fsutil.h"
#include "driver/engine/engine.h"
#include "engine/place/container/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

/* ---- which engines ----------------------------------------------------------------------------- */

static void add_name(struct strvec *names, const char *name)
{
	if (name && !strvec_contains(names, name))
		strvec_push(names, name);
}

static void take_defaults(const struct container_defaults *defaults, struct strvec *names,
			  struct doctor_facts *facts)
{
	add_name(names, defaults->engine);
	facts->uses_containers |= defaults->engine || defaults->image || defaults->enabled == ON;
	facts->limits_cpus |= defaults->cpus != NULL;
}

static void take_limits(const struct limits *limits, struct doctor_facts *facts)
{
	facts->limits_memory |= limits->memory_max > 0;
	facts->limits_pids |= limits->tasks_max > 0;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const int64_t value = limit_value(limits, limit);
		facts->has_unusable_limit[limit] |= container_limit_instead(limit) && value &&
						    value != LIMIT_INFINITY;
	}
}

static void take_settings(const struct settings *settings, struct strvec *names,
			  struct doctor_facts *facts)
{
	take_defaults(&settings->container, names, facts);
	take_limits(&settings->limits, facts);
	for (size_t i = 0; i < settings->group_count; i++) {
		take_defaults(&settings->groups[i].container, names, facts);
		take_limits(&settings->groups[i].limits, facts);
	}
}

/* By address: which engine is "docker" may have changed since. */
static void take_sessions(struct deck *deck, struct strvec *names, struct doctor_facts *facts)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (!deck->store || store_list(deck->store, &rows, NULL) < 0)
		return;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		const struct store_row *row = rows.rows + i;
		if (row->damage || !streq(row->backend, PLACE_CONTAINER))
			continue;
		facts->uses_containers = true;
		if (deck_load(deck, row->base, &instance, NULL) < 0)
			continue;
		const struct container_needs needs = container_needs(instance);
		add_name(names, needs.address.url);
		facts->limits_memory |= needs.memory;
		facts->limits_pids |= needs.pids;
		facts->limits_cpus |= needs.cpus;
	}
}

/* ---- one engine -------------------------------------------------------------------------------- */

static int ask(const char *name, const struct engine_address *address, struct doctor_engine *ret,
	       struct error *err)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_engine_image struct engine_image image = { 0 };
	struct engine_facts facts;
	if (engine_open(address, &engine, err) < 0 || engine_facts(engine, &facts, err) < 0)
		return -1;
	int r = engine_inspect_image(engine, CONTAINER_DEFAULT_IMAGE, &image, err);
	if (r < 0)
		return -1;
	*ret = (struct doctor_engine){
		.name = visible(name),
		.version = visible(or_empty(facts.version)),
		.api_version = visible(or_empty(facts.api_version)),
		.is_rootless = facts.is_rootless,
		.counts_memory = facts.counts_memory,
		.counts_pids = facts.counts_pids,
		.counts_cpus = facts.counts_cpus,
		.has_image = r == 0,
	};
	return 0;
}

static bool is_known(const struct strvec *urls, const char *url)
{
	return url && strvec_contains(urls, url);
}

/* is_needed: it is configured or has a session's container, so that its silence matters. */
static void look_at(const struct deck *deck, const char *name, bool is_needed, struct strvec *urls,
		    struct doctor_facts *facts)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_error struct error err = { 0 };
	struct doctor_engine engine = { 0 };
	int r = engine_find(name, deck->settings.container.engine, &address, &err);
	if (r == 0 && is_known(urls, address.url))
		return;
	if (r == 0) {
		strvec_push(urls, address.url);
		r = ask(name, &address, &engine, &err);
	}
	if (r < 0 && !is_needed)
		return;
	if (r < 0)
		engine = (struct doctor_engine){ .name = visible(name),
						 .problem = xstrdup(err.message) };
	facts->engines = reallocarray(facts->engines, facts->engine_count + 1, sizeof(engine));
	if (!facts->engines)
		abort();
	facts->engines[facts->engine_count++] = engine;
}

/* ---- the capsule ------------------------------------------------------------------------------- */

/* The capsule runs in images without any library, so it must need no loader. */
static char *examine_capsule(const char *path)
{
	ElfW(Ehdr) header;
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return xasprintf("%s: %s", path, strerror(errno));
	if (access(path, X_OK) < 0)
		return xasprintf("%s cannot be executed: %s", path, strerror(errno));
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return xasprintf("%s is not a program", path);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		ElfW(Phdr) part;
		const off_t at = (off_t)(header.e_phoff + (uint64_t)i * header.e_phentsize);
		if (pread(fd, &part, sizeof(part), at) != sizeof(part))
			return xasprintf("%s is damaged", path);
		if (part.p_type == PT_INTERP)
			return xasprintf("%s is not static: it cannot run in every image", path);
	}
	return NULL;
}

static void look_at_capsule(const struct deck *deck, struct doctor_facts *facts)
{
	cleanup_free char *path = xasprintf(
		"%.*sagentdeck-capsule", (int)(path_basename(deck->gate) - deck->gate), deck->gate);
	facts->capsule_problem = examine_capsule(path);
}

void doctor_look_at_containers(struct deck *deck, struct doctor_facts *facts)
{
	cleanup_strvec struct strvec names = { 0 }, urls = { 0 };
	take_settings(&deck->settings, &names, facts);
	take_sessions(deck, &names, facts);
	for (size_t i = 0; i < names.count; i++)
		look_at(deck, names.items[i], true, &urls, facts);
	look_at(deck, "docker", false, &urls, facts);
	look_at(deck, "podman", false, &urls, facts);
	facts->needs_image = facts->uses_containers && !deck->settings.container.image;
	if (facts->deck_is_open && facts->engine_count)
		look_at_capsule(deck, facts);
}
