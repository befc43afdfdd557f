/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of the place "container".  engine/place/place.h says what the functions of the table
 * promise, and docs/containers.md what is where.
 *
 *   look.c     does it live, and how did its agent end?
 *   mounts.c   is what is mounted what its user named?  (nesting.h: can an agent change that?)
 *   guest.c    a session in the container of another one (guest.h)
 *   files.c    the directories that a container has mounted, and the files in them
 *   mounting.c what the container has mounted (mounting.h)
 *   nested.c   Docker inside (nested.h)
 *   ladder.c   bring the container back: what model/plan/recreate.h plans
 *   network.c  what in an engine is ours, the network of its own
 *   reach.c    are the container's files, socket and processes those of this host?
 *   logins.c   the logins that it has (logins.h)
 *   build.c    the image of a Dockerfile (build.h)
 *   bases.c    what its build begins from (bases.h)
 *   pull.c     an image of a registry (pull.h)
 *   saying.c   what other programs say meanwhile (saying.h)
 *   begin.c    begin: the container, the agent in it, the window on it
 *   end.c      end the run; free what is kept for the next one
 *   events.c   the commands of a role, before the agent
 *   exec.c     a second command in the container
 *   address.c  where this host reaches its ports
 *   survey.c   what an engine has of this deck (survey.h)
 *
 * Of a container's run, run.server is the capsule and run.pane the agent, as this host sees them.
 * run.window is the tmux server, which is started and ended by the place "host".
 */
#pragma once

#include "driver/capsule/capsule.h"
#include "driver/engine/engine.h"
#include "engine/place/container/build.h"
#include "engine/place/place.h"

/* How long a capsule that lives may take to answer. */
enum { CAPSULE_ANSWER_MS = 2000 };

/* ---- look.c ---- */

/* Is it the capsule of this run?  CAPSULE_SILENT: the agent listens in its place.  CAPSULE_ABSENT:
 * the capsule of another session is in its room. */
int container_check_capsule(const struct place_run *run, const struct capsule *capsule);
/* Like capsule_connect(), but only to the capsule of this run. */
int container_connect(const struct place_run *run, struct capsule **ret, struct error *err);

struct observation container_observe(struct deck *deck, const struct instance *instance,
				     enum observe_depth depth);
bool container_lacks_window(const struct place_run *run);
const char *container_silence(const struct place_run *run);
bool container_is_empty(const struct place_run *run);
void container_nudge(const struct place_run *run);
int container_how_ended(const struct instance *instance, struct exit_record *ret,
			struct error *err);

/* ---- files.c ---- */

/* The directory that the capsule shares with this host: a guest's is its room.  The caller
 * frees. */
char *container_capsule_directory(const struct deck *deck,
				  const struct instance *instance) MUST_USE;
/* The directory of the owner for the capsule of a guest, which has this number, from 1.  The caller
 * frees. */
char *container_room(const struct deck *deck, const struct instance *owner, int room) MUST_USE;
/* The directory of its passwd and group, which the agent cannot write.  The caller frees. */
char *container_users(const struct deck *deck, const struct instance *instance) MUST_USE;
/* The directory of the socket of a Docker inside, and beside passwd the file with the users that it
 * can give to its containers.  The caller frees. */
char *container_nested_directory(const struct deck *deck, const struct instance *instance) MUST_USE;
#define NESTED_IDS "subids"
/* The directory of its files for TLS, which no agent can write.  The caller frees. */
char *container_certificates(const struct deck *deck, const struct instance *instance) MUST_USE;
/* The directory of the programs that are mounted at CAPSULE_PROGRAMS.  The caller frees. */
char *container_programs(const struct deck *deck) MUST_USE;
/* The host's program that the present attempt runs: its path in the directory that is mounted for
 * it.  NULL: the image has the program.  The caller frees. */
char *container_host_program(const struct instance *instance) MUST_USE;

/* Make the directories of the instance that its container has mounted.  ERROR_NOT_FOUND: its home
 * was there, and is gone. */
int container_make_directories(const struct deck *deck, const struct instance *instance,
			       struct error *err);
/* Write what the capsule and the container read: the run's token, passwd and group. */
int container_write_files(const struct deck *deck, const struct instance *instance,
			  struct error *err);

/* The agent's first settings and, by the recipe, its login.  A failure is a warning.  secrets: the
 * settings alone, once its secrets are known (struct agenthome); NULL: before that. */
void container_fill_home(struct deck *deck, const struct instance *instance,
			 const struct agent *agent, const struct strvec *secrets);

/* NAME=VALUE of the recipe's secrets, resolved now, appended to *ret.  The caller wipes it with
 * container_wipe().  ERROR_NOT_FOUND says which one has no value, and where it was looked for. */
int container_resolve_secrets(const struct recipe *recipe, struct strvec *ret, struct error *err);
void container_wipe(struct strvec *secrets);
/* Warn of files with secrets that other users can read. */
void container_warn_of_secrets(struct deck *deck, const struct recipe *recipe);

/* ---- mounts.c ---- */

/* The user's files that a container mounts. */
struct mounts {
	struct recipe_place *items; /* their texts are the recipe's */
	size_t count;
	char *link; /* the link that mounts_find_link() has found */
};
void mounts_clear(struct mounts *mounts);
#define cleanup_mounts CLEANUP(mounts_clear)
void mounts_gather(const struct recipe *recipe, struct mounts *ret);
/* Returns a place whose source leads through a link, and sets mounts->link; NULL: there is none.
 * No source did when it was noted, and the engine would follow the link. */
const struct recipe_place *mounts_find_link(struct mounts *mounts);
/* Compare the places in this capsule's container with the recipe.  Call this when the container
 * runs, and before an agent does: a link may have existed for a moment only, or another program
 * than agentdeck may have started the container.  ERROR_INVALID: they differ. */
int mounts_check_inside(const struct recipe *recipe, const struct process_id *capsule,
			struct error *err);

/* ---- ladder.c ---- */

/* A container as the ladder sees it. */
struct ladder {
	struct deck *deck;
	struct instance *instance;
	struct place_order order;     /* zero where nothing is begun */
	const struct instance *guest; /* for whom this is done; NULL: for the instance itself */
	struct engine *engine;        /* owned */
	struct container found;
	bool exists;
	char *image_id; /* of an image with the recipe's layers, where the recipe's id is unknown */
	struct build_facts build; /* gathered where the image is gone */
	struct mounts places;     /* with the facts */
};
void ladder_clear(struct ladder *ladder);
#define cleanup_ladder CLEANUP(ladder_clear)

/* Was no container made of it before? */
bool ladder_is_new(const struct instance *instance);
/* Speak to the engine of the recipe, and find the container. */
int ladder_open(struct ladder *ladder, struct error *err);
/* Does the found container bear this instance's labels? */
bool ladder_is_ours(const struct ladder *ladder);
/* Give the found container the limits of its recipe, in place; the caller saves the instance.
 * ERROR_UNAVAILABLE, ERROR_CHILD: the engine cannot do that. */
int ladder_limit(struct ladder *ladder, struct error *err);
/* Bring the container up.  Its id is saved before it is started. */
int ladder_climb(struct ladder *ladder, struct error *err);

/* ---- network.c ---- */

#define LABEL_INSTANCE "io.agentdeck.instance"
#define LABEL_HOME     "io.agentdeck.home"
#define LABEL_BASE     "io.agentdeck.base"
#define LABEL_RECIPE   "io.agentdeck.recipe"
/* The labels of everything that this deck has in an engine.  The caller puts them. */
struct json_object *ladder_deck_labels(const struct deck *deck) MUST_USE;
/* Those, and what the session and its recipe are.  The caller puts them. */
struct json_object *ladder_labels(const struct ladder *ladder) MUST_USE;

/* Has the container a network of its own, with a way out or without? */
bool ladder_has_network(const struct recipe *recipe);
/* The network that only this session has.  ENGINE_ABSENT.  ENGINE_TAKEN: a network of that name
 * is not ours.  *ret_id is the caller's. */
int ladder_find_network(const struct ladder *ladder, char **ret_id, struct error *err);
/* Make it, if there is none.  *ret is its id, the caller's. */
int ladder_make_network(const struct ladder *ladder, char **ret, struct error *err);

/* ---- reach.c ---- */

/* Before the container is started for the first time: does an engine that is reached over TCP have
 * the files of this host?  ERROR_UNAVAILABLE: no. */
int reach_check_files(struct ladder *ladder, const char *id, struct error *err);
/* An error of the engine about a directory that it lacks, and this host has, gets that reason. */
int reach_blame(const struct ladder *ladder, struct error *err, struct error *from);
/* Explain why a program could not begin.  The kernel says only that a program for another C
 * library than the image has does not exist.  The container runs. */
int reach_blame_loader(const struct instance *instance, struct error *err, struct error *from);
/* After its start: wait for its capsule.  ERROR_UNAVAILABLE says why it cannot be reached from
 * here, and then the container was stopped. */
int reach_await_capsule(struct ladder *ladder, int64_t deadline_ms, struct capsule **ret,
			struct error *err);

/* ---- process.c ---- */

/* What the capsule starts, and in which environment. */
struct container_process {
	const struct instance *instance;
	const char *run;
	unsigned attempt;
	const struct strvec *argv;
	bool is_users; /* as in struct place_command */
	struct termsize size;
	struct strvec environment; /* may have secrets, for an old capsule: container_wipe() */
};

/* The window and its pane have no secrets, so the capsule gets those of this run beforehand. */
int container_hand_secrets(struct deck *deck, const struct instance *instance, const char *run,
			   struct capsule *capsule, struct error *err);
/* Start it, and wipe its environment. */
int container_begin_process(struct container_process *process, struct capsule *capsule,
			    struct process_id *ret, struct error *err);
/* Run a command in a container that is up, with a run of its own. */
int container_run_in(struct capsule *capsule, struct deck *deck, struct instance *instance,
		     const struct place_command *command, struct child_result *ret,
		     struct error *err);

/* ---- begin.c ---- */

int container_prepare(struct deck *deck, struct instance *instance, const struct place_order *order,
		      struct error *err);
int container_run_command(struct deck *deck, struct instance *instance,
			  const struct place_command *command, struct child_result *ret,
			  struct error *err);
int container_launch(struct deck *deck, struct instance *instance, const struct place_order *order,
		     struct error *err);
int container_open_window(struct deck *deck, struct instance *instance,
			  const struct place_order *order, struct error *err);
int container_begin_attempt(struct deck *deck, struct store_lock *lock, struct instance *instance,
			    const struct agent *agent, struct error *err);
void container_pane_argv(const struct deck *deck, const struct instance *instance,
			 struct strvec *ret);

/* ---- events.c ---- */

/* Run those commands of the recipe that are due in this container, which is up; the caller holds
 * the instance's lock.  ERROR_CHILD: one of them failed, and its output is in a file. */
int events_run(struct deck *deck, struct instance *instance, const struct place_order *order,
	       struct capsule *capsule, struct error *err);

/* ---- exec.c ---- */

/* The engine's own program, with what makes it speak to the engine of the recipe.  purpose: "run a
 * command".  ERROR_UNAVAILABLE: it is not installed. */
int container_push_client(const struct recipe *recipe, const char *purpose, struct strvec *ret,
			  struct error *err);
int container_exec(const struct instance *instance, const struct strvec *command,
		   struct place_exec *ret, struct error *err);

/* ---- address.c ---- */

int container_address(const struct instance *instance, char **ret, struct error *err);
/* Remove the tickets of commands that were killed. */
void container_sweep_tickets(int capsule_directory);

/* ---- end.c ---- */

int container_end(struct deck *deck, const struct instance *instance, int grace_ms,
		  char **ret_words, struct error *err);
int container_end_unknown(struct deck *deck, const char *id, struct error *err);
int container_leave(const struct place_run *run, struct error *err);
int container_discard(struct deck *deck, struct instance *instance, enum place_discard how,
		      struct error *err);
int container_check_discard(struct deck *deck, struct instance *instance, struct error *err);
/* End the container; the window stays. */
int container_end_capsule(struct deck *deck, const struct instance *instance, int grace_ms,
			  struct error *err);
/* End the window and remove its files; the container keeps running. */
int container_end_window(struct deck *deck, const struct instance *instance, int grace_ms,
			 struct error *err);
