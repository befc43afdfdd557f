/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "engine/conversation/report.h"

/* As report_take(), for the session of this base, without the news. */
static inline int report_text(struct deck *deck, const char *base, const struct sender *sender,
			      const char *text, size_t length, struct error *err)
{
	struct report_news news;
	return report_take(&(struct report_parcel){ deck, base, sender, text, length }, &news, err);
}
