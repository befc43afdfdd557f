/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/staged.h"

#include "assess/proof.h"

#include <pthread.h>

static void read_index(const struct repository *repository, struct staged *ret)
{
	*ret = (struct staged){ .written = proof_index_time(repository) };
	if (git_repository_index(&ret->index, repository->git) < 0)
		ret->index = NULL;
	else
		ret->is_committed = proof_is_committed(repository, ret->index);
}

/* ---- the thread ---- */

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool is_there;
	const struct repository *asked; /* NULL: the result is there */
	struct staged result;
} reader = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *read_what_is_asked(void *data UNUSED)
{
	pthread_mutex_lock(&reader.mutex);
	reader.is_there = true;
	for (;;) {
		pthread_cond_signal(&reader.changed);
		while (!reader.asked)
			pthread_cond_wait(&reader.changed, &reader.mutex);
		read_index(reader.asked, &reader.result);
		reader.asked = NULL;
	}
	return NULL;
}

void staged_start(void)
{
	pthread_t thread;
	pthread_mutex_lock(&reader.mutex);
	/* The first system calls of a thread belong to the C library, and would be refused later. */
	if (pthread_create(&thread, NULL, read_what_is_asked, NULL) == 0)
		while (!reader.is_there)
			pthread_cond_wait(&reader.changed, &reader.mutex);
	pthread_mutex_unlock(&reader.mutex);
}

void staged_ask(const struct repository *repository)
{
	if (!reader.is_there)
		return;
	pthread_mutex_lock(&reader.mutex);
	reader.asked = repository;
	pthread_cond_signal(&reader.changed);
	pthread_mutex_unlock(&reader.mutex);
}

void staged_take(const struct repository *repository, struct staged *ret)
{
	struct staged staged = { 0 };
	if (reader.is_there) {
		pthread_mutex_lock(&reader.mutex);
		while (reader.asked)
			pthread_cond_wait(&reader.changed, &reader.mutex);
		staged = reader.result;
		pthread_mutex_unlock(&reader.mutex);
	}
	/* libgit2 keeps its reason for the thread that called it. */
	if (!staged.index)
		read_index(repository, &staged);
	*ret = staged;
}

void staged_free(struct staged *staged)
{
	git_index_free(staged->index);
}
