/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cgroup v2: Documentation/admin-guide/cgroup-v2.rst and accounting/psi.rst of the kernel.
 */
#include "driver/unit-cgroup.h"

#include "base/fsutil.h"

#include <string.h>

/* A file that holds one number, or "max". */
static int64_t read_number(int group, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t value = -1;
	if (fs_read(group, name, UNIT_MAX_FILE, &text, NULL) != 0 || !text.length)
		return -1;
	text.data[strcspn(text.data, "\n")] = '\0';
	if (streq(text.data, "max"))
		return LIMIT_INFINITY;
	(void)parse_int64(text.data, 0, INT64_MAX, &value);
	return value;
}

/* What follows key on its line in a file of lines "key value". */
static int64_t read_keyed(int group, const char *name, const char *key)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t value = -1;
	if (fs_read(group, name, UNIT_MAX_FILE, &text, NULL) != 0)
		return -1;
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, key) && line[strlen(key)] == ' ')
			(void)parse_int64(line + strlen(key) + 1, 0, INT64_MAX, &value);
	return value;
}

/* "some avg10=1.23 avg60=...": 123.  Without PSI the file is missing, or cannot be read. */
static int64_t read_pressure(int group, const char *name)
{
	static const char start[] = "some avg10=";
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t whole, part;
	if (fs_read(group, name, UNIT_MAX_FILE, &text, NULL) != 0 ||
	    !starts_with(strbuf_text(&text), start))
		return -1;
	char *number = text.data + strlen(start);
	number[strcspn(number, " \n")] = '\0';
	char *fraction = strchr(number, '.');
	if (!fraction || strlen(fraction) != strlen(".00"))
		return -1;
	*fraction++ = '\0';
	if (!parse_int64(number, 0, 100, &whole) || !parse_int64(fraction, 0, 99, &part))
		return -1;
	return whole * 100 + part;
}

void unit_usage_at(int group, struct unit_usage *ret)
{
	*ret = (struct unit_usage){
		.memory = read_number(group, "memory.current"),
		.memory_peak = read_number(group, "memory.peak"),
		.swap = read_number(group, "memory.swap.current"),
		.memory_high = read_number(group, "memory.high"),
		.memory_max = read_number(group, "memory.max"),
		.cpu_us = read_keyed(group, "cpu.stat", "usage_usec"),
		.tasks = read_number(group, "pids.current"),
		.tasks_max = read_number(group, "pids.max"),
		.oom_kills = read_keyed(group, "memory.events", "oom_kill"),
		.cpu_pressure = read_pressure(group, "cpu.pressure"),
		.memory_pressure = read_pressure(group, "memory.pressure"),
		.io_pressure = read_pressure(group, "io.pressure"),
	};
}

int unit_usage(const char *control_group, struct unit_usage *ret)
{
	cleanup_close int group = unit_open_group(control_group);
	if (group < 0)
		return UNIT_ABSENT;
	unit_usage_at(group, ret);
	return 0;
}

int64_t unit_oom_kills(const char *control_group)
{
	cleanup_close int group = unit_open_group(control_group);
	return group < 0 ? -1 : read_keyed(group, "memory.events", "oom_kill");
}
