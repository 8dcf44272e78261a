#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

int fetchres_openat(int directory, const char *name, int flags, unsigned mode) {
  return openat(directory, name, flags | O_CLOEXEC, mode);
}

int fetchres_open(const char *path, int flags, unsigned mode) {
  return open(path, flags | O_CLOEXEC, mode);
}

int fetchres_allocate(int fd, int64_t offset, int64_t length) {
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, length);
}

int fetchres_punch_hole(int fd, int64_t offset, int64_t length) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int fetchres_clone_file(int destination, int source) { return ioctl(destination, FICLONE, source); }

int64_t fetchres_seek_data(int fd, int64_t offset) { return lseek(fd, offset, SEEK_DATA); }

int64_t fetchres_seek_hole(int fd, int64_t offset) { return lseek(fd, offset, SEEK_HOLE); }

int64_t fetchres_copy_range(int source, int64_t source_offset, int destination,
                            int64_t destination_offset, int64_t length) {
  return copy_file_range(source, &source_offset, destination, &destination_offset, (size_t)length,
                         0);
}

int64_t fetchres_send_file(int socket, int file, int64_t *offset, int64_t length) {
  return sendfile(socket, file, offset, (size_t)length);
}

int fetchres_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

int fetchres_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int fetchres_wait_for_hangup(int socket, int milliseconds) {
  struct pollfd one = {.fd = socket, .events = POLLRDHUP};
  return poll(&one, 1, milliseconds);
}

int fetchres_spawn_in(posix_spawn_file_actions_t *actions, const char *directory) {
  return posix_spawn_file_actions_addchdir_np(actions, directory);
}

int fetchres_terminal_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int fetchres_terminal_rows(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

int64_t fetchres_free_bytes(int fd) {
  struct statvfs status;
  if (fstatvfs(fd, &status) != 0) return -1;
  return (int64_t)status.f_bavail * (int64_t)status.f_frsize;
}

int fetchres_set_file_times(int fd, int64_t seconds) {
  struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
  return futimens(fd, times);
}

int fetchres_random(void *bytes, size_t count) {
  unsigned char *next = bytes;
  while (count > 0) {
    ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    next += got;
    count -= (size_t)got;
  }
  return 0;
}

int64_t fetchres_peak_memory(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

int fetchres_processor_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void fetchres_name_thread(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }

bool fetchres_wait_exited(int status) { return WIFEXITED(status); }

int fetchres_wait_exit_code(int status) { return WEXITSTATUS(status); }

int fetchres_wait_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

int fetchres_forbid_core_dumps(void) {
  struct rlimit none = {0, 0};
  // The limit alone is not heeded where dumps go to a program; the flag is, everywhere.
  int flag = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return setrlimit(RLIMIT_CORE, &none) == 0 ? flag : -1;
}
