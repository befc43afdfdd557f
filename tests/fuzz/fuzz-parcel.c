/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The description in the file of an export: what is refused leaves nothing behind, and what is
 * accepted reads as the same once it is written.
 */
#include "fuzz/fuzz.h"

#include "model/session/naming.h"
#include "model/session/parcel.h"

static void check_parcel(const struct parcel *parcel)
{
	HOLDS(naming_is_id(parcel->id) && naming_is_agent(parcel->agent));
	HOLDS(parcel->directory[0] == '/' && !strstr(parcel->directory, "/../"));
	HOLDS(!parcel->session_id || !parcel->number || !strchr(parcel->session_id, '/'));
	HOLDS(parcel->argv.count > 0 && parcel->number <= 1);
	HOLDS(!parcel->number || parcel->session_id ||
	      (parcel->place && !strchr(parcel->place, '/')));
	HOLDS(!parcel->place || (!strchr("/.", parcel->place[0]) && !strstr(parcel->place, "/.")));
	HOLDS(!parcel->began || parcel->began[0] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	for (size_t count = 0; count <= 1; count++) {
		cleanup_parcels struct parcels parcels = { 0 }, again = { 0 };
		struct error err = { 0 };
		if (parcels_parse(text, "input", count, &parcels, &err) < 0) {
			HOLDS(!parcels.items && !parcels.host && !parcels.config);
			fuzz_failed(&err);
			continue;
		}
		for (size_t i = 0; i < parcels.count; i++)
			check_parcel(&parcels.items[i]);
		cleanup_free char *once = parcels_text(&parcels);
		HOLDS(parcels_parse(once, "written", count, &again, &err) == 0);
		cleanup_free char *twice = parcels_text(&again);
		HOLDS(streq(once, twice));
	}
	return 0;
}
