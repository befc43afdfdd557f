/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/limits.h"

#include <string.h>

enum {
	MOST_TASKS = 4 * 1024 * 1024, /* PID_MAX_LIMIT of 64-bit Linux */
	MOST_CPU_WEIGHT = 10 * 1000,  /* systemd.resource-control(5) */
};

static const struct kind {
	const char *name;
	size_t offset;
	int64_t greatest;
} kinds[LIMIT_COUNT] = {
	[LIMIT_MEMORY_HIGH] = { "memory_high", offsetof(struct limits, memory_high), 0 },
	[LIMIT_MEMORY_MAX] = { "memory_max", offsetof(struct limits, memory_max), 0 },
	[LIMIT_TASKS_MAX] = { "tasks_max", offsetof(struct limits, tasks_max), MOST_TASKS },
	[LIMIT_CPU_WEIGHT] = { "cpu_weight", offsetof(struct limits, cpu_weight), MOST_CPU_WEIGHT },
};

const char *limit_name(enum limit limit)
{
	return kinds[limit].name;
}

int64_t limit_greatest(enum limit limit)
{
	return kinds[limit].greatest;
}

int64_t *limit_of(struct limits *limits, enum limit limit)
{
	return (int64_t *)(void *)((char *)limits + kinds[limit].offset);
}

int64_t limit_value(const struct limits *limits, enum limit limit)
{
	return *(const int64_t *)(const void *)((const char *)limits + kinds[limit].offset);
}

/* Digits of a fraction that count; more would be parts of a byte. */
enum { FRACTION_DIGITS = 9 };

bool limit_parse_size(const char *text, int64_t *ret)
{
	static const char suffixes[] = "KMGT", digits[] = "0123456789";
	int64_t unit = 1, fraction = 0, scale = 1, whole;
	size_t length = strspn(text, digits);
	cleanup_free char *number = xstrndup(text, length);
	if (length == 0 || !parse_int64(number, 0, INT64_MAX, &whole))
		return false;
	const char *rest = text + length;
	bool has_fraction = *rest == '.';
	if (has_fraction) {
		size_t count = strspn(++rest, digits);
		if (count == 0)
			return false;
		for (size_t i = 0; i < count && i < FRACTION_DIGITS; i++, scale *= 10)
			fraction = fraction * 10 + (rest[i] - '0');
		rest += count;
	}
	if (*rest) {
		const char *suffix = strchr(suffixes, *rest);
		if (!suffix || rest[1])
			return false;
		unit = INT64_C(1) << (10 * (suffix - suffixes + 1));
	} else if (has_fraction) {
		return false;
	}
	/* No overflow: unit is at most 2^40, fraction less than 2^30. */
	int64_t part = (int64_t)((__int128)unit * fraction / scale);
	if (whole > (INT64_MAX - part) / unit)
		return false;
	*ret = whole * unit + part;
	return true;
}

int limit_parse(enum limit limit, const char *text, int64_t *ret, struct error *err)
{
	const struct kind *kind = kinds + limit;
	cleanup_free char *shown = visible(text);
	int64_t value;
	if (streq(text, "infinity")) {
		*ret = LIMIT_INFINITY;
		return 0;
	}
	if (kind->greatest) {
		if (!parse_int64(text, 0, kind->greatest, ret))
			return error_set(
				err, ERROR_USAGE,
				"invalid number '%s' for %s: use 1 to %lld, infinity, or 0 to "
				"unset it",
				shown, kind->name, (long long)kind->greatest);
		return 0;
	}
	if (!limit_parse_size(text, &value))
		return error_set(err, ERROR_USAGE,
				 "invalid size '%s' (examples: 512M, 4G, infinity; 0 unsets it)",
				 shown);
	if (value != 0 && value < LIMIT_LEAST_MEMORY)
		return error_set(
			err, ERROR_USAGE,
			"%s bytes are too little for any agent: use at least 16M, infinity, or 0 "
			"to unset it",
			shown);
	*ret = value;
	return 0;
}

char *limit_text(enum limit limit, int64_t value)
{
	static const char suffixes[] = "TGMK";
	if (value == LIMIT_INFINITY)
		return xstrdup("infinity");
	for (int i = 0; !kinds[limit].greatest && value && suffixes[i]; i++) {
		int64_t unit = INT64_C(1) << (10 * (4 - i));
		if (value >= unit && value % unit == 0)
			return xasprintf("%lld%c", (long long)(value / unit), suffixes[i]);
		/* Write halves and quarters as people do: 1.5G. */
		if (value >= unit && value % (unit / 4) == 0)
			return xasprintf("%lld.%s%c", (long long)(value / unit),
					 value % unit == unit / 2  ? "5"
					 : value % unit < unit / 2 ? "25"
								   : "75",
					 suffixes[i]);
	}
	return xasprintf("%lld", (long long)value);
}
