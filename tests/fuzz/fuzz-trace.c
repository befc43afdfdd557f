/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What BuildKit says while it builds, as an engine passes it on.
 */
#include "driver/engine/trace.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *base64 = xstrndup(size ? (const char *)data : "", size);
	cleanup_free char *text = trace_text(base64);
	/* A marked step is longer than its name, and three bytes are four characters. */
	HOLDS(strlen(text) <= 4 * size);
	return 0;
}
