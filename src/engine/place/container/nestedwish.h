/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a recipe says of a Docker inside (nested.h): whether its engine can have one, and the
 * variables by which programs inside find it.
 */
#pragma once

#include "driver/engine/engine.h"
#include "model/session/instance.h"

/* The image of the nested engine, where its socket is in there, and what says so to programs. */
#define NESTED_REPOSITORY "agentdeck/docker"
#define NESTED_IMAGE      NESTED_REPOSITORY ":latest"
#define NESTED_PLACE      "/agentdeck/docker"
#define NESTED_SOCKET     "docker.sock"
#define NESTED_HOST       "unix://" NESTED_PLACE "/" NESTED_SOCKET

/* DOCKER_ROOTLESS_TCP: where the files for TLS are in there, and its port on the loopback interface
 * of the session. */
#define NESTED_CERTIFICATES "/agentdeck/certificates"
#define NESTED_PORT         "2376"
#define NESTED_LOOPBACK     "127.0.0.1"

/* Can this engine have a Docker inside, and has it the image?  ERROR_UNAVAILABLE,
 * ERROR_NOT_FOUND. */
int nested_check(struct engine *engine, const struct engine_facts *facts, struct error *err);

/* The name of its container, which is a name of a host as well.  The caller frees. */
char *nested_host(const char *base) MUST_USE;

/* Add the variables of the recipe's Docker, but those that its user has set.  base: of the session
 * whose container it is. */
void nested_name(struct recipe *recipe, const char *base);
/* Take back what nested_name() has added. */
void nested_unname(struct recipe *recipe, const char *base);

/* Does this variable, "NAME=VALUE", say where a Docker is? */
bool nested_is_variable(const char *variable);
