/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/pack.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "driver/archive/archive.h"
#include "engine/conversation/location.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/run/operation.h"
#include "model/plan/resume.h"
#include "model/session/parcel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What goes into the file. */
struct load {
	struct parcels parcels;
	struct archive_source *sources; /* their descriptors are open */
	size_t count;
};

static void load_clear(struct load *load)
{
	for (size_t i = 0; i < load->count; i++)
		(void)close(load->sources[i].fd);
	free(load->sources);
	parcels_free(&load->parcels);
}
#define cleanup_load CLEANUP(load_clear)

/* No turn was ever reported, so there is nothing to lose. */
static bool is_unused(const struct instance *instance, const struct agent *agent)
{
	const struct conversation *conversation = &instance->conversation;
	return !conversation->session_id ||
	       (conversation->origin == ORIGIN_MINTED && !conversation->first_turn_seen &&
		(agent_reports(agent) || !instance->last_used_at));
}

static int check_known(const struct instance *instance, const struct agent *agent,
		       struct error *err)
{
	if (location_is_known(agent) && instance->conversation.config_home)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "agentdeck does not know where %s keeps its conversations, and cannot "
			 "export one",
			 agent->title);
}

/* PACK_NOTHING: it has no conversation yet. */
enum { PACK_NOTHING = 1 };
static int find(const struct instance *instance, const struct agent *agent, struct transcript *ret,
		struct error *err)
{
	const char *id = instance->conversation.session_id;
	if (!location_is_known(agent) && is_unused(instance, agent))
		return PACK_NOTHING;
	if (check_known(instance, agent, err) < 0)
		return -1;
	const int r = id ? location_find(instance, id, ret, err) : TRANSCRIPT_NONE;
	if (r != TRANSCRIPT_NONE)
		return r;
	if (is_unused(instance, agent))
		return PACK_NOTHING;
	return error_set(
		err, ERROR_NOT_FOUND,
		"%s has no conversation %s on this machine, so there is nothing to export: "
		"agentdeck session check says more",
		agent->title, id);
}

/* Open the conversation, if there is one, and describe the session with it. */
static int add(const struct instance *instance, const struct agent *agent, struct load *load,
	       struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	struct archive_source source = { .fd = -1 };
	cleanup_close int fd = -1;
	const char *within = instance->recipe ? instance->recipe->home : NULL;
	const int r = find(instance, agent, &found, err);
	if (r < 0 || (r == 0 && (transcript_open(within, found.path, &fd, err) < 0 ||
				 archive_measure(fd, found.path, &source, err) < 0)))
		return -1;
	resume_carried_argv(agent, &instance->argv, &argv);
	struct parcel *parcel = parcels_add(&load->parcels, instance, &argv);
	if (r == PACK_NOTHING)
		return 0;
	source.fd = TAKE_FD(fd);
	load->sources = xreallocarray(load->sources, load->count + 1, sizeof(*load->sources));
	load->sources[load->count++] = source;
	parcel->session_id = xstrdup(found.session_id);
	parcel->number = load->count;
	parcel->size = source.size;
	memcpy(parcel->digest, source.digest, sizeof(parcel->digest));
	return 0;
}

static int write_load(struct load *load, const char *file, struct error *err)
{
	load->parcels.host = xstrdup(machine_host());
	load->parcels.made_at = clock_wall_us();
	cleanup_free char *text = parcels_text(&load->parcels);
	return archive_write(file, text, load->sources, load->count, err);
}

/* *ret: whether it runs, or may run. */
static int check_run(struct operation *operation, bool may_run, bool *ret, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct place_run run = place_run_of(instance);
	cleanup_free char *title = visible(instance->title);
	if (operation_admit(operation, err) < 0)
		return -1;
	*ret = instance->run.id && place_presence(&run) != PRESENCE_NONE;
	if (!*ret || may_run)
		return 0;
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "session '%s' is running, so the file may miss its last turn: stop it "
			 "first with agentdeck session stop %s, or export it with --running",
			 title, hint);
}

int pack_session(struct deck *deck, const struct pack_order *order, struct pack_result *ret,
		 struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_load struct load load = { 0 };
	bool runs = false;
	if (operation_open_settled(deck, order->base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0 ||
	    check_run(&operation, order->may_run, &runs, err) < 0 ||
	    add(operation.instance, operation.agent, &load, err) < 0 ||
	    write_load(&load, order->file, err) < 0)
		return -1;
	log_info("exported: %s", load.count ? load.parcels.items[0].session_id : "none");
	*ret = (struct pack_result){ .runs = runs, .has_conversation = load.count > 0 };
	return 0;
}
