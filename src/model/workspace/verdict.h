/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The answer to "may this tree be deleted, and if not, what would be lost?".  docs/workspaces.md
 * has the rules and the JSON.
 *
 * A verdict is safe until a finding says that something would be lost, or that something is not
 * known.  Both count the same: nothing is deleted on a guess.
 *
 * Names and details come from the tree.  They are kept in the form that visible() gives them, so a
 * terminal may show them.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

#include <stdint.h>

enum finding_kind {
	FINDING_UNKNOWN,  /* not known, so not safe; detail: why */
	FINDING_FILE,     /* name: "XY path" as git status shows it */
	FINDING_STATE,    /* a rebase, merge or the like is in progress; name: which */
	FINDING_STASH,    /* name: stash@{N}; detail: its message */
	FINDING_BRANCH,   /* name: the branch; detail: "3 commits not on origin/main" */
	FINDING_DETACHED, /* commits that only HEAD has */
	FINDING_REF,      /* a tag, a note or another name for what nothing else has */
	FINDING_REFLOG,   /* commits that only the log of a branch has: amended, reset, rebased */
	FINDING_CONTENT, /* files of Git LFS or git-annex; detail: what brings them to the source */
	/* From here on for information: nothing of this is lost, or it can be made again. */
	FINDING_IGNORED,    /* an ignored file or directory, deleted with the tree */
	FINDING_KEPT_STASH, /* made here, and kept by the source repository */
	FINDING_KEPT_LOG,   /* amended or rebased, and kept by the log of a branch that stays */
	FINDING_MERGED, /* a branch whose content is on the default branch, under other commits */
	FINDING_KIND_COUNT
};

struct finding {
	enum finding_kind kind;
	char *where; /* the submodule or nested repository, by its path in the tree; "": the tree */
	char *name;  /* never NULL */
	char *detail; /* never NULL */
};

enum {
	VERDICT_MOST = 50,       /* findings of one kind; the others are counted in `more` */
	VERDICT_TEXT_MOST = 600, /* bytes of a name or detail; longer ones end in "..." */
	VERDICT_JSON_MOST = 4 << 20,
};

/* How far the process that looked was locked up. */
struct confinement {
	bool landlock, seccomp;
};

/* Zero-initialised is safe and empty. */
struct verdict {
	struct finding *findings;
	size_t count;
	int64_t more[FINDING_KIND_COUNT]; /* how many findings were left out */
	struct confinement confinement;
};

bool verdict_is_safe(const struct verdict *verdict);
/* Is a finding of this kind among them? */
bool verdict_has(const struct verdict *verdict, enum finding_kind kind);
/* Whether a finding of this kind makes a tree unsafe. */
bool finding_is_loss(enum finding_kind kind);
/* "file"; static.  And back: FINDING_KIND_COUNT for no such word. */
const char *finding_kind_name(enum finding_kind kind);
enum finding_kind finding_kind_of_name(const char *name);

/* Texts may be any bytes, and NULL for "". */
void verdict_add(struct verdict *verdict, enum finding_kind kind, const char *where,
		 const char *name, const char *detail);
/* Like verdict_add() of FINDING_UNKNOWN. */
void verdict_unknown(struct verdict *verdict, const char *where, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* The caller puts it. */
struct json_object *verdict_to_json(const struct verdict *verdict) MUST_USE;
/* ERROR_CORRUPT: it is no verdict, or it contradicts itself.  *ret: verdict_free(). */
int verdict_parse(const char *text, size_t length, struct verdict *ret, struct error *err);

/* Lines for people, each ended by a newline: what would be lost, then what else there is.  "" if
 * there is nothing to say. */
void verdict_add_text(const struct verdict *verdict, struct strbuf *buf);
/* Only what would be lost. */
void verdict_add_losses(const struct verdict *verdict, struct strbuf *buf);
/* A digest of all that would be lost: it differs when the loss differs.  The caller frees. */
char *verdict_digest(const struct verdict *verdict) MUST_USE;
/* "3 files, 1 branch": what would be lost, counted.  "" for a safe one.  The caller frees. */
char *verdict_count_text(const struct verdict *verdict) MUST_USE;
/* "has work that exists nowhere else", or "may have work that exists nowhere else": nothing is
 * known but that it is unclear.  Of an unsafe one; static. */
const char *verdict_claim(const struct verdict *verdict);
/* All of it with a semicolon for each newline.  The caller frees. */
char *verdict_line(const struct verdict *verdict) MUST_USE;

void verdict_free(struct verdict *verdict);
#define cleanup_verdict CLEANUP(verdict_free)
