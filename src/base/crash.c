/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/crash.h"

#include "base/macro.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 256, STACK_SIZE = 65536 };

static struct {
	volatile sig_atomic_t is_ours; /* the terminal has our settings */
	struct termios settings;
	char text[TEXT_SIZE];
	size_t length;
} terminal;

/* Another program may have it meanwhile.  The kernel stops one in the background that sets it. */
static bool is_in_foreground(void)
{
	const pid_t group = tcgetpgrp(STDIN_FILENO);
	return group < 0 || group == getpgrp();
}

/* Uses only calls that signal-safety(7) allows. */
static void on_crash(int number)
{
	if (terminal.is_ours && is_in_foreground()) {
		const ssize_t written = write(STDOUT_FILENO, terminal.text, terminal.length);
		(void)written;
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.settings);
	}
	/* The signal is delivered when this handler returns, and has its default action again. */
	(void)raise(number);
}

static void install(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				       SIGABRT, SIGTRAP, SIGSYS, SIGXCPU };
	/* The usual stack may have overflowed. */
	static char memory[STACK_SIZE];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };
	if (sigaltstack(&stack, NULL) == 0)
		action.sa_flags |= SA_ONSTACK;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaction(numbers[i], &action, NULL);
}

void crash_set_terminal(const struct termios *settings, const char *text)
{
	static bool is_installed;
	terminal.is_ours = false;
	terminal.settings = *settings;
	terminal.length = strnlen(text, TEXT_SIZE - 1);
	memcpy(terminal.text, text, terminal.length);
	terminal.is_ours = true;
	if (!is_installed)
		install();
	is_installed = true;
}

void crash_clear_terminal(void)
{
	terminal.is_ours = false;
}
