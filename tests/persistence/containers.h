/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The container engines of the machine, and what their own command lines say and do there.
 *
 * Only the tests in the files test-container*.c may use them: the suite boots a machine with
 * engines when it runs one of those.
 */
#pragma once

#include "persistence/machine.h"

/* ENGINE_PODMAN is the user's own; its containers end with the user manager. */
enum engine { ENGINE_DOCKER, ENGINE_PODMAN, ENGINE_ROOT_PODMAN, ENGINE_COUNT };

/* The image of most tests: busybox and the demo agent. It has no bash, no tmux and no systemd. */
#define PLAIN_IMAGE "localhost/agentdeck-test-plain:latest"
/* The same with libraries: engine_prepare_libraries(). */
#define LIBRARIES_IMAGE(of) "localhost/agentdeck-test-libraries:" of
/* An image without a single file. */
#define EMPTY_IMAGE "localhost/agentdeck-test-empty:latest"

/* Call this first. The engine answers, and has the image. The test is skipped where the machine has
 * no engines. */
void engine_prepare(enum engine engine, const char *image);
/* The same for a LIBRARIES_IMAGE, which has the libraries of this program, and not the program. */
void engine_prepare_libraries(enum engine engine, const char *image, const char *program);
/* The same for the image of --docker rootless. */
void engine_prepare_nested(enum engine engine);
/* As Docker's API names it: "unix:///...". */
const char *engine_address(enum engine engine);

/* "docker WORDS..." or "podman --remote WORDS...", as the user. */
struct answer engine_try(enum engine engine, const char *const *words);
/* The same; anything but exit status 0 fails the test. Returns the output without its last
 * newline. */
const char *engine_say(enum engine engine, const char *const *words);

/* "running", "exited", "paused", "created"; NULL: there is no such container. */
const char *container_state(enum engine engine, const char *name);
/* A field of "inspect" by its template, "{{.Id}}". */
const char *container_field(enum engine engine, const char *name, const char *format);
/* The container's first process. */
struct process container_process(enum engine engine, const char *name);
/* How many there are with this label, in any state: "io.agentdeck.instance", or with "=value". */
unsigned container_count(enum engine engine, const char *label);
/* What the engine has of agentdeck's sessions: containers, networks and names of images. A line for
 * each. */
const char *engine_belongings(enum engine engine);

/* The engine's own process. After the first three it does not answer. */
void engine_stop(enum engine engine); /* in order, and it is not started by a connection */
void engine_kill(enum engine engine); /* SIGKILL; systemd starts it again, for Docker after 2 s */
void engine_hang(enum engine engine); /* SIGSTOP */
void engine_resume(enum engine engine);
void engine_start(enum engine engine);
bool engine_answers(enum engine engine);

/* Where this text is, of all places where others could read it: in what the engine tells of its
 * containers and images, in the arguments of all processes, in the environment of those
 * of this machine and of the first one of a container, in journals, in the state of agentdeck.  A
 * line for each. */
const char *disclosures(enum engine engine, const char *text);
/* Fail if there is one. */
void assert_not_disclosed(enum engine engine, const char *text);

/* At a test's end, before its sessions are removed: bring back the engines that it stopped. */
void engines_restore(void);
/* After that: remove all containers, and what else belongs to agentdeck. Returns NULL, or what did.
 */
const char *engines_end_test(void);
