// Preloaded: a file system that knows little, as shares, images and those that run as programs are. Files
// belong to somebody else there, and a directory cannot be synced.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int refuse(int code) {
  errno = code;
  return -1;
}

int futimens(int descriptor, const struct timespec times[2]) {
  (void)descriptor, (void)times;
  return refuse(EPERM);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  (void)descriptor, (void)mode, (void)offset, (void)length;
  return refuse(ENOSYS);
}

int symlinkat(const char *target, int directory, const char *name) {
  (void)target, (void)directory, (void)name;
  return refuse(ENOSYS);
}

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
  (void)from_directory, (void)from, (void)to_directory, (void)to, (void)flags;
  return refuse(EPERM);
}

ssize_t copy_file_range(int source, off_t *source_offset, int destination,
                        off_t *destination_offset, size_t length, unsigned flags) {
  (void)source, (void)source_offset, (void)destination, (void)destination_offset;
  (void)length, (void)flags;
  return refuse(ENOSYS);
}

off_t lseek(int descriptor, off_t offset, int whence) {
  static off_t (*real)(int, off_t, int);
  if (real == 0) real = (off_t(*)(int, off_t, int))(intptr_t)dlsym(RTLD_NEXT, "lseek");
  if (whence == SEEK_DATA || whence == SEEK_HOLE) return refuse(EINVAL);
  return real(descriptor, offset, whence);
}

int fsync(int descriptor) {
  static int (*real)(int);
  struct stat status;
  if (real == 0) real = (int (*)(int))(intptr_t)dlsym(RTLD_NEXT, "fsync");
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) return refuse(EINVAL);
  return real(descriptor);
}
