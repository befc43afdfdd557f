/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/program.h"

#include "base/fsutil.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The kernel reads this much of a "#!" line (BINPRM_BUF_SIZE). */
enum { HEAD_SIZE = 256, LOADER_MAX = 256 };

#define BLANKS " \t"

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_path(const char *name, const char *path, const char *directory)
{
	if (strchr(name, '/')) {
		cleanup_free char *full = *name == '/' || !directory ? xstrdup(name)
								     : path_join(directory, name);
		return is_program(full) ? TAKE_PTR(full) : NULL;
	}
	if (!path)
		path = getenv("PATH");
	cleanup_free char *copy = xstrdup(is_empty(path) ? PROGRAM_DEFAULT_PATH : path);
	char *rest = copy;
	for (const char *folder; (folder = strsep(&rest, ":"));) {
		/* An empty or relative folder means the working directory, which a supervisor never
		 * wants. */
		cleanup_free char *full = *folder == '/' ? path_join(folder, name) : NULL;
		if (full && is_program(full))
			return TAKE_PTR(full);
	}
	return NULL;
}

bool program_is_installed(const char *name)
{
	cleanup_free char *path = program_path(name, NULL, NULL);
	return path;
}

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

struct head {
	char text[HEAD_SIZE + 1]; /* ended by a NUL */
	size_t length;
	char loader[LOADER_MAX + 1]; /* of an ELF file; "" */
	bool is_elf, is_of_this_class;
	uint16_t machine;
};

static void read_loader(int fd, struct head *head)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) part;
	memcpy(&header, head->text, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const uint64_t offset = header.e_phoff + (uint64_t)i * header.e_phentsize;
		if (pread(fd, &part, sizeof(part), (off_t)offset) != sizeof(part))
			return;
		if (part.p_type != PT_INTERP || part.p_filesz > LOADER_MAX)
			continue;
		if (pread(fd, head->loader, part.p_filesz, (off_t)part.p_offset) < 0)
			head->loader[0] = '\0';
		return;
	}
}

static bool read_head(const char *file, struct head *ret)
{
	struct head head = { 0 };
	const int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, head.text, HEAD_SIZE, 0);
	if (n < 0)
		return false;
	head.length = (size_t)n;
	head.is_elf = head.length >= sizeof(ElfW(Ehdr)) && memcmp(head.text, ELFMAG, SELFMAG) == 0;
	head.is_of_this_class = head.is_elf && head.text[EI_CLASS] == class;
	if (head.is_elf) /* its offset is the same in 32-bit and 64-bit files */
		memcpy(&head.machine, head.text + offsetof(ElfW(Ehdr), e_machine),
		       sizeof(head.machine));
	if (head.is_of_this_class)
		read_loader(fd, &head);
	*ret = head;
	return true;
}

/* The interpreter of a script, and its one argument, NULL for none.  Both are cut out of *head. */
static char *interpreter_of(struct head *head, char **ret_argument)
{
	*ret_argument = NULL;
	if (strncmp(head->text, "#!", 2) != 0)
		return NULL;
	char *line = head->text + 2;
	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, BLANKS);
	size_t length = strcspn(line, BLANKS);
	char *rest = line + length + strspn(line + length, BLANKS);
	if (*rest)
		*ret_argument = rest;
	line[length] = '\0';
	return *line ? line : NULL;
}

/* The program that env(1) looks for in PATH; NULL: the line has no env, or has options, variables
 * or quotes. */
static char *env_program(const char *interpreter, char *argument)
{
	if (!streq(path_basename(interpreter), "env") || !argument)
		return NULL;
	if (starts_with(argument, "-S"))
		argument += 2 + strspn(argument + 2, BLANKS);
	argument[strcspn(argument, BLANKS)] = '\0';
	return *argument && *argument != '-' && !strpbrk(argument, "=/'\"\\$") ? argument : NULL;
}

/* A file of that name, in PATH or at that path, which exists and cannot be executed. */
static char *find_unusable(const char *name, const char *path)
{
	cleanup_free char *copy = xstrdup(or_empty(path));
	char *rest = copy;
	if (strchr(name, '/'))
		return access(name, F_OK) == 0 ? xstrdup(name) : NULL;
	for (const char *folder; (folder = strsep(&rest, ":"));) {
		cleanup_free char *full = *folder == '/' ? path_join(folder, name) : NULL;
		struct stat st;
		if (full && lstat(full, &st) == 0 && !S_ISDIR(st.st_mode))
			return TAKE_PTR(full);
	}
	return NULL;
}

static int not_found(const char *name, const char *path, struct error *err)
{
	cleanup_free char *shown = visible(name);
	cleanup_free char *unusable = find_unusable(name, path);
	if (!unusable)
		return error_set(err, ERROR_UNAVAILABLE,
				 strchr(name, '/') ? "program '%s' does not exist: install it"
						   : "program '%s' not found in PATH: install it",
				 shown);
	cleanup_free char *shown_file = visible(unusable);
	if (access(unusable, F_OK) < 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s is a link to a file that is missing: install the "
				 "program again",
				 shown_file);
	return error_set(err, ERROR_UNAVAILABLE, "%s is not executable: chmod +x it", shown_file);
}

int program_find(const char *name, const char *path, const char *directory, struct error *err)
{
	cleanup_free char *file = program_path(name, path, directory);
	struct head head;
	char *argument;
	if (!file)
		return not_found(name, path, err);
	if (!read_head(file, &head))
		return 0;
	const char *interpreter = interpreter_of(&head, &argument);
	const char *wanted = interpreter ? env_program(interpreter, argument) : NULL;
	cleanup_free char *found = wanted ? program_path(wanted, path, NULL) : NULL;
	if (!wanted || found)
		return 0;
	cleanup_free char *shown = visible(wanted);
	cleanup_free char *shown_file = visible(file);
	return error_set(err, ERROR_UNAVAILABLE,
			 "program '%s' not found in PATH, but the script %s needs it: install it",
			 shown, shown_file);
}

/* What the file needs and the system does not have; NULL: nothing that we can see. */
static char *missing_need(const char *file)
{
	struct head head;
	char *argument;
	if (!read_head(file, &head))
		return NULL;
	const char *interpreter = interpreter_of(&head, &argument);
	const char *need = interpreter ? interpreter : head.loader;
	if (!*need || access(need, F_OK) == 0)
		return NULL;
	cleanup_free char *shown = visible(need);
	return interpreter
		       ? xasprintf(
				 "its interpreter %s is missing: install it, or correct the first line",
				 shown)
		       : xasprintf(
				 "its loader %s is missing: it was built for another distribution",
				 shown);
}

int program_check(const char *file, struct error *err)
{
	cleanup_free char *missing = missing_need(file);
	cleanup_free char *shown = visible(file);
	return missing ? error_set(err, ERROR_UNAVAILABLE, "%s cannot be executed: %s", shown,
				   missing)
		       : 0;
}

bool program_is_text(const char *file)
{
	struct head head;
	return read_head(file, &head) && head.length && !memchr(head.text, '\0', head.length);
}

char *program_loader(const char *file)
{
	struct head head;
	return read_head(file, &head) && *head.loader == '/' ? xstrdup(head.loader) : NULL;
}

static char *explain_format(const char *file)
{
	struct head head;
	if (!read_head(file, &head))
		return NULL;
	if (!head.length)
		return xstrdup("the file is empty: install it again");
	if (head.is_elf && OWN_MACHINE != EM_NONE && head.machine != OWN_MACHINE)
		return xasprintf(
			"it was built for another machine (ELF machine %u, this one is %u): install the one for "
			"this machine",
			(unsigned)head.machine, (unsigned)OWN_MACHINE);
	return xstrdup("it is neither a program for this machine nor a script that starts with #!");
}

char *program_explain(const char *file, int os_errno)
{
	cleanup_free char *why = NULL;
	switch (os_errno) {
	case ENOENT:
		why = missing_need(file);
		break;
	case ENOEXEC:
		why = explain_format(file);
		break;
	case EACCES:
		why = xstrdup(access(file, X_OK) < 0
				      ? "it is not executable: chmod +x it"
				      : "its interpreter is not executable, or its file system is "
					"mounted noexec");
		break;
	case ETXTBSY:
		why = xstrdup("it is open for writing: try again");
		break;
	case EAGAIN:
		why = xstrdup(
			"too many processes (see ulimit -u, and TasksMax of the unit): end some, "
			"then try again");
		break;
	default:
		why = xstrdup_or_null(error_remedy(os_errno));
	}
	return is_empty(why) ? xstrdup(strerror(os_errno))
			     : xasprintf("%s: %s", strerror(os_errno), why);
}
