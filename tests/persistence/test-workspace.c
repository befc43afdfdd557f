/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session with a tree to itself comes back in it, with the work that only the tree has; and that
 * work is not deleted by accident.
 */
#include "persistence/deck.h"
#include "persistence/steps.h"

#include <string.h>

#define MARKER "this is the marker"

static const char *tree_of(const struct session *session)
{
	struct json_object *object = deck_ok(NULL, WORDS("session", "path", session->id, "--json"));
	const char *path = json_get_string(object, "path", NULL);
	ASSERT(path && strstr(path, "/trees/"), "session path: %s", json_print(object));
	return path;
}

static void begin(struct session *session, const char *how)
{
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir -p \"$1\" && cd \"$1\" && git init -q && echo one >file && "
			      "git add file && git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
	session_add(session, NULL, "deck", WORDS("--agent", "demo", how));
	session->directory = tree_of(session);
	session_start(session, NULL);
	session_say(session, MARKER);
	(void)session_look(session);
}

static void refuse_and_give_up(const struct session *session, const char *file)
{
	struct reply reply = deck_look(WORDS("remove", "--force", session->id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "?? new"), "remove: %d %s", reply.status,
	       reply.errors);
	reply = deck_look(WORDS("remove", "--force", "--discard", session->id));
	ASSERT(reply.status == 0, "remove --discard: %s", reply.errors);
	ASSERT(machine_exists(file), "remove alone deleted the tree");
	reply = deck_look(WORDS("prune", "--force"));
	ASSERT(reply.status == 0, "prune: %s", reply.errors);
	ASSERT(!machine_exists(file), "prune left the tree");
}

static void live(const char *how)
{
	struct session session;
	begin(&session, how);
	const char *id = session.session_id, *tree = tree_of(&session);
	const char *file = kept("%s/new", tree);
	machine_write(file, 0640, "work\n");
	machine_reboot();
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	ASSERT(streq(tree_of(&session), tree), "it has another tree");
	ASSERT(machine_exists(file), "the work in its tree is gone");
	refuse_and_give_up(&session, file);
}

TEST(WorktreeOfASessionOutlivesAReboot)
{
	live("--worktree");
}

TEST(CloneOfASessionOutlivesAReboot)
{
	live("--clone");
}
