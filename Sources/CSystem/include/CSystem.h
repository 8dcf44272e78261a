// Calls and constants that `import Glibc` does not show: GNU extensions, function-like macros and
// variadic functions, each behind a plain typed function.
#ifndef FETCHRES_CSYSTEM_H
#define FETCHRES_CSYSTEM_H

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Every function returns -1 and sets errno on failure, unless it says otherwise.

int fetchres_openat(int directory, const char *name, int flags, unsigned mode);
int fetchres_open(const char *path, int flags, unsigned mode);
int fetchres_allocate(int fd, int64_t offset, int64_t length);  // keeps the size
int fetchres_punch_hole(int fd, int64_t offset, int64_t length);
int fetchres_clone_file(int destination, int source);
int64_t fetchres_seek_data(int fd, int64_t offset);
int64_t fetchres_seek_hole(int fd, int64_t offset);
int64_t fetchres_copy_range(int source, int64_t source_offset, int destination,
                            int64_t destination_offset, int64_t length);
int64_t fetchres_send_file(int socket, int file, int64_t *offset, int64_t length);
int fetchres_pipe(int ends[2]);
int fetchres_accept(int listener);  // close-on-exec
int fetchres_wait_for_hangup(int socket, int milliseconds);  // 1 hung up, 0 time over
int fetchres_spawn_in(posix_spawn_file_actions_t *actions, const char *directory);  // an error number
int fetchres_terminal_columns(int fd);  // 0 where unknown
int fetchres_terminal_rows(int fd);     // 0 where unknown
bool fetchres_keys_begin(int fd);       // again in the foreground; false if it is not possible now
void fetchres_keys_end(void);
bool fetchres_keys_was_stopped(void);   // since it was asked last
int64_t fetchres_free_bytes(int fd);    // what an unprivileged user may still write
int fetchres_set_file_times(int fd, int64_t seconds);
int fetchres_random(void *bytes, size_t count);
int64_t fetchres_peak_memory(void);  // bytes
int fetchres_processor_count(void);  // 0 where unknown
void fetchres_name_thread(pthread_t thread, const char *name);
bool fetchres_wait_exited(int status);
int fetchres_wait_exit_code(int status);
int fetchres_wait_signal(int status);
int fetchres_forbid_core_dumps(void);

#endif
