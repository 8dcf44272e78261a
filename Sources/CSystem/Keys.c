// Single keys from a terminal. What is changed of it is put back on every way out, so handlers of
// signals do that too: they call nothing but async-signal-safe functions.
#define _GNU_SOURCE
#include "CSystem.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static volatile sig_atomic_t is_changed;
static volatile sig_atomic_t was_stopped;
static int terminal = -1;

// Who is not in the foreground must not touch the terminal: the shell, or what it runs now, owns it.
static int is_foreground(void) { return tcgetpgrp(terminal) == getpgrp(); }

static int change(void) {
  if (is_changed) return 1;
  if (!is_foreground() || tcgetattr(terminal, &before) != 0) return 0;
  struct termios keys = before;
  keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  is_changed = 1;
  if (tcsetattr(terminal, TCSANOW, &keys) == 0) return 1;
  is_changed = 0;
  return 0;
}

static void put_back(void) {
  if (!is_changed) return;
  is_changed = 0;
  if (is_foreground()) tcsetattr(terminal, TCSANOW, &before);
}

static void end(int number) {
  put_back();
  signal(number, SIG_DFL);
  raise(number);
}

static void stop(int number) {
  put_back();
  struct sigaction own, standard = {.sa_handler = SIG_DFL};
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigaction(number, &standard, &own);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &set, &old);
  // Here the process stands still, until somebody lets it go on.
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  sigaction(number, &own, NULL);
  was_stopped = 1;
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  // What is ignored stays ignored.
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

bool fetchres_keys_begin(int fd) {
  if (!isatty(fd)) return false;
  if (terminal == -1) {
    terminal = fd;
    const int ends[] = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    for (size_t index = 0; index < sizeof ends / sizeof *ends; index++) handle(ends[index], end);
    handle(SIGTSTP, stop);
  }
  return change();
}

void fetchres_keys_end(void) {
  if (terminal != -1) put_back();
}

bool fetchres_keys_was_stopped(void) {
  if (!was_stopped) return false;
  was_stopped = 0;
  return true;
}
