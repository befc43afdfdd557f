/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list-paths.h"

#include <stdlib.h>
#include <string.h>

static int compare_with(const char *path, size_t length, const char *here)
{
	const int r = strncmp(path, here, length);
	return r ? r : here[length] ? -1 : 0;
}

/* The index of the path, or where it belongs. */
static size_t find(const struct strvec *paths, const char *path, size_t length, bool *ret_is_there)
{
	size_t first = 0, end = paths->count;
	*ret_is_there = false;
	while (first < end) {
		const size_t middle = first + (end - first) / 2;
		const int r = compare_with(path, length, paths->items[middle]);
		if (r == 0) {
			*ret_is_there = true;
			return middle;
		}
		if (r < 0)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

bool paths_have(const struct strvec *paths, const char *path, size_t length)
{
	bool is_there;
	(void)find(paths, path, length, &is_there);
	return is_there;
}

bool paths_have_next(const struct strvec *paths, const char *path, size_t length, size_t *next)
{
	bool is_there = false;
	const int r = *next < paths->count ? compare_with(path, length, paths->items[*next]) : -1;
	if (r == 0)
		is_there = true;
	else if (r > 0 || (*next && compare_with(path, length, paths->items[*next - 1]) <= 0))
		*next = find(paths, path, length, &is_there);
	*next += is_there;
	return is_there;
}

void paths_add(struct strvec *paths, const char *path)
{
	bool is_there;
	const size_t at = find(paths, path, strlen(path), &is_there);
	if (is_there)
		return;
	strvec_push(paths, path);
	char *last = paths->items[paths->count - 1];
	memmove(&paths->items[at + 1], &paths->items[at], (paths->count - 1 - at) * sizeof(char *));
	paths->items[at] = last;
}

static void take(struct strvec *paths, const char *path, size_t length)
{
	bool is_there;
	const size_t at = find(paths, path, length, &is_there);
	if (!is_there)
		return;
	free(paths->items[at]);
	/* With the NULL at the end. */
	memmove(&paths->items[at], &paths->items[at + 1], (paths->count - at) * sizeof(char *));
	paths->count--;
}

void paths_take(struct strvec *paths, const char *path)
{
	take(paths, path, strlen(path));
}

/* The length of the next group around, the outermost first; 0: there is none. */
static size_t next_around(const char *group, size_t length)
{
	const size_t start = length ? length + 1 : 0;
	return group[length] ? start + strcspn(group + start, "/") : 0;
}

void paths_take_around(struct strvec *paths, const char *group)
{
	for (size_t length = 0; (length = next_around(group, length));)
		take(paths, group, length);
}

void paths_add_around(const struct strvec *paths, const char *group, struct strvec *ret)
{
	for (size_t length = 0; (length = next_around(group, length));) {
		if (!paths_have(paths, group, length))
			continue;
		cleanup_free char *path = xstrndup(group, length);
		paths_add(ret, path);
	}
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

void paths_sort(struct strvec *paths)
{
	size_t kept = 0;
	if (paths->count > 1)
		qsort(paths->items, paths->count, sizeof(*paths->items), compare);
	for (size_t i = 0; i < paths->count; i++) {
		if (kept && streq(paths->items[kept - 1], paths->items[i]))
			free(paths->items[i]);
		else
			paths->items[kept++] = paths->items[i];
	}
	if (paths->count)
		paths->items[kept] = NULL;
	paths->count = kept;
}
