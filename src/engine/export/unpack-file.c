/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/unpack-file.h"

void unpack_close(struct unpack_file *file)
{
	archive_close(&file->archive);
	parcels_free(&file->parcels);
}

static int check_conversations(const struct unpack_file *file, struct error *err)
{
	const struct archive *archive = &file->archive;
	for (size_t i = 0; i < file->parcels.count; i++) {
		const struct parcel *parcel = &file->parcels.items[i];
		if (!parcel->number)
			continue;
		if (archive->members[parcel->number].size != parcel->size)
			return error_set(err, ERROR_CORRUPT,
					 "%s: a conversation in it has another size than it says",
					 archive->path);
		if (archive_copy(archive, parcel->number, parcel->digest, -1, err) < 0)
			return -1;
	}
	return 0;
}

int unpack_open(const char *path, struct unpack_file *ret, struct error *err)
{
	cleanup_unpack struct unpack_file file = UNPACK_NO_FILE;
	if (archive_open(path, &file.archive, err) < 0 ||
	    parcels_parse(file.archive.description, path, file.archive.count, &file.parcels, err) <
		    0 ||
	    check_conversations(&file, err) < 0)
		return -1;
	*ret = file;
	file = UNPACK_NO_FILE;
	return 0;
}
