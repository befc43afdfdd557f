/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/image.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/program.h"
#include "driver/engine/engine.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/resolve.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* What agents call beside a shell. */
#define PACKAGES "ca-certificates,curl,git,less,procps"
#define PACKAGES_OF_DOCKER \
	"ca-certificates,docker.io,iproute2,iptables,libcap2-bin,rootlesskit,slirp4netns,uidmap"

enum { MAKE_MS = 1800000, END_MS = 60000 };

/* mmdebstrap at work. */
struct maker {
	const struct image_order *order;
	struct child child;
	struct strbuf line; /* of its messages, as far as it has come */
	char *error;        /* the first one that says what is wrong; NULL: none */
	char *last;         /* NULL: none */
	char *complaint;    /* of a mirror, the first one; NULL: none */
	bool is_refused;    /* the line before was apt's "Err:", whose reason follows */
};

void image_made_clear(struct image_made *made)
{
	free(made->id);
	free(made->instead);
	*made = (struct image_made){ 0 };
}

static int find_program(struct error *err)
{
	if (program_is_installed(CONTAINER_IMAGE_PROGRAM))
		return 0;
	return error_set(
		err, ERROR_UNAVAILABLE,
		"cannot make an image: mmdebstrap is not installed. Install it (Debian, Ubuntu, "
		"Fedora: package mmdebstrap), or use an image that the engine has: --image IMAGE");
}

static int start_program(struct maker *maker, struct error *err)
{
	static const char *const options[] = {
		CONTAINER_IMAGE_PROGRAM,
		"--variant=minbase",
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-include=/usr/share/doc/*/copyright",
		"--format=tar",
		NULL,
	};
	const struct strvec *apt = maker->order->apt;
	cleanup_strvec struct strvec argv = { 0 };
	/* No program in it makes root of its user.  These two need a capability each, and as root
	 * they could not write the maps of another user's namespace. */
	static const char *const of_docker[] = {
		"--include=" PACKAGES_OF_DOCKER,
		"--customize-hook=chroot \"$1\" find / -xdev -type f -perm /6000 -exec chmod ug-s {} +",
		"--customize-hook=chroot \"$1\" setcap cap_setuid=ep /usr/bin/newuidmap",
		"--customize-hook=chroot \"$1\" setcap cap_setgid=ep /usr/bin/newgidmap",
		NULL,
	};
	strvec_push_array(&argv, options);
	if (maker->order->is_docker)
		strvec_push_array(&argv, of_docker);
	else
		strvec_push(&argv, "--include=" PACKAGES);
	for (size_t i = 0; apt && i < apt->count; i++)
		strvec_pushf(&argv, "--aptopt=%s", apt->items[i]);
	/* The tar file comes last, when everything is downloaded and unpacked. */
	strvec_push_array(&argv,
			  (const char *const[]){ "stable", "-", maker->order->mirror, NULL });
	struct child_request request = { .argv = (const char *const *)argv.items };
	int r = child_start(&request, &maker->child, err);
	return r == CHILD_NOT_INSTALLED ? find_program(err) : r;
}

static void tell(const struct maker *maker, const char *phase)
{
	if (maker->order->progress)
		maker->order->progress(phase, maker->order->data);
}

/* "I: extracting archives...": a phase.  "E: ...": what is wrong; the last one only says that
 * something is. */
static void take_line(struct maker *maker, char *line)
{
	size_t length = strlen(line);
	if (starts_with(line, "I: ") && ends_with(line, "...")) {
		line[length - strlen("...")] = '\0';
		tell(maker, line + strlen("I: "));
	} else if (starts_with(line, "E: ") && !maker->error) {
		maker->error = visible(line + strlen("E: "));
	}
	if (maker->is_refused && starts_with(line, "  ") && !maker->complaint)
		maker->complaint = visible(line + strspn(line, " "));
	maker->is_refused = starts_with(line, "Err:");
	if (*line) {
		free(maker->last);
		maker->last = visible(line);
	}
}

static void take_messages(struct maker *maker, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\n' && text[i] != '\r') {
			strbuf_add(&maker->line, text + i, 1);
			continue;
		}
		cleanup_free char *line = strbuf_take(&maker->line);
		take_line(maker, line);
	}
}

/* Wait for the first byte of the tar file, or the end, and pass on what it says until then.  After
 * that it says little, which the pipe holds. */
static int await_output(struct maker *maker, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + MAKE_MS;
	struct pollfd fds[] = { { .fd = maker->child.output, .events = POLLIN },
				{ .fd = maker->child.errors, .events = POLLIN } };
	char text[4096];
	while (!fds[0].revents) {
		int ready = poll(fds, ARRAY_SIZE(fds), clock_left_ms(deadline_ms));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return error_set(err, ERROR_TIMEOUT,
					 "mmdebstrap made no image within %d minutes: check the "
					 "network, or name a mirror that is near with --mirror URL",
					 MAKE_MS / 60000);
		ssize_t got = fds[1].revents ? read(fds[1].fd, text, sizeof(text)) : 0;
		if (got > 0)
			take_messages(maker, text, (size_t)got);
		else if (fds[1].revents)
			fds[1].fd = -1;
	}
	return 0;
}

/* Why it made none, if it did not. */
static int finish(struct maker *maker, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	int r = child_finish(&maker->child, clock_ms() + END_MS, &result, err);
	if (r < 0 || result.exit_status == 0)
		return r;
	take_messages(maker, strbuf_text(&result.errors), result.errors.length);
	take_messages(maker, "\n", 1);
	const char *words = maker->error ? maker->error : maker->last;
	const bool adds = words && maker->complaint && !strstr(words, maker->complaint);
	return error_set(
		err, ERROR_CHILD,
		"mmdebstrap made no image: %s%s%s%s. If a download failed, check the network, or "
		"name another mirror of Debian with --mirror URL",
		words ? words : "no message", adds ? " (the mirror: " : "",
		adds ? maker->complaint : "", adds ? ")" : "");
}

/* If mmdebstrap fails, its archive ends too soon, and the engine fails, too.  Then the first error
 * is the reason. */
static int judge(struct maker *maker, int imported, struct error *refusal, struct error *err)
{
	cleanup_error struct error why = { 0 };
	if (imported < 0 && refusal->code != ERROR_CHILD) {
		child_abandon(&maker->child);
		return error_move(err, refusal);
	}
	int r = finish(maker, &why);
	if (r < 0 && (imported == 0 || why.code == ERROR_CHILD))
		return error_move(err, &why);
	return imported < 0 ? error_move(err, refusal) : 0;
}

static const char *repository_of(const struct image_order *order)
{
	return order->is_docker ? NESTED_REPOSITORY : CONTAINER_DEFAULT_REPOSITORY;
}

/* Under another name until it is whole. */
static int import(struct engine *engine, struct maker *maker, char **ret_id, struct error *err)
{
	cleanup_free char *id = NULL;
	cleanup_error struct error why = { 0 };
	if (start_program(maker, err) < 0)
		return -1;
	if (await_output(maker, err) < 0) {
		child_abandon(&maker->child);
		return -1;
	}
	tell(maker, "giving it to the engine");
	int imported = engine_import(engine, maker->child.output, repository_of(maker->order),
				     "new", &id, &why);
	if (judge(maker, imported, &why, err) < 0)
		return -1;
	*ret_id = TAKE_PTR(id);
	return 0;
}

int image_build_default(const struct image_order *order, struct image_made *ret, struct error *err)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_engine struct engine *engine = NULL;
	cleanup_free char *id = NULL;
	struct maker maker = { .order = order };
	if (find_program(err) < 0 ||
	    engine_find(order->engine, order->configured, &address, err) < 0 ||
	    engine_open(&address, &engine, err) < 0)
		return -1;
	int r = import(engine, &maker, &id, err);
	strbuf_free(&maker.line);
	free(maker.error);
	free(maker.last);
	free(maker.complaint);
	if (r == 0)
		r = engine_tag(engine, id, repository_of(order), CONTAINER_DEFAULT_TAG, err);
	/* An image that is not whole goes with its only name. */
	cleanup_free char *unfinished = xasprintf("%s:new", repository_of(order));
	(void)engine_untag(engine, unfinished, NULL);
	if (r < 0)
		return -1;
	ret->id = TAKE_PTR(id);
	ret->engine = engine_kind_name(engine_kind_of(engine));
	ret->instead = TAKE_PTR(address.instead);
	return 0;
}
