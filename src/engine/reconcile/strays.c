/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/reconcile/reconcile-internal.h"
#include "engine/reconcile/reconcile.h"

void strays_clear(struct strays *strays)
{
	for (size_t i = 0; i < strays->count; i++) {
		struct stray *stray = strays->items + i;
		free(stray->name);
		free(stray->session);
		free(stray->engine);
		free(stray->tls);
		free(stray->profile);
		free(stray->repository);
		free(stray->why);
		free(stray->remedy);
		free(stray->failure);
	}
	free(strays->items);
	*strays = (struct strays){ 0 };
}

size_t strays_count(const struct strays *strays, enum stray_action action)
{
	size_t count = 0;
	for (size_t i = 0; i < strays->count; i++)
		count += strays->items[i].action == action;
	return count;
}

struct stray *strays_add(struct strays *strays, const struct stray_facts *facts, const char *name)
{
	const struct stray_judgement judgement = reconcile_judge(facts);
	if (judgement.action == STRAY_FINE)
		return NULL;
	strays->items = xreallocarray(strays->items, strays->count + 1, sizeof(*strays->items));
	struct stray *stray = strays->items + strays->count++;
	*stray = (struct stray){
		.kind = facts->kind,
		.action = judgement.action,
		.name = xstrdup(name),
		.why = xstrdup(judgement.why),
	};
	return stray;
}
