// Preloaded: reads and writes that do less than they were asked for, and are interrupted now and then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

static unsigned calls;

static int is_interrupted(void) {
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 7 == 0;
}

static size_t shortened(size_t count) { return count > 3 ? count / 3 : count; }

#define SHORT(name, result, parameters, arguments)                          \
  result name parameters {                                                  \
    static result(*next) parameters;                                        \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name);                   \
    if (is_interrupted()) {                                                 \
      errno = EINTR;                                                        \
      return -1;                                                            \
    }                                                                       \
    count = shortened(count);                                               \
    return next arguments;                                                  \
  }

SHORT(pread, ssize_t, (int descriptor, void *bytes, size_t count, off_t offset),
      (descriptor, bytes, count, offset))
SHORT(pwrite, ssize_t, (int descriptor, const void *bytes, size_t count, off_t offset),
      (descriptor, bytes, count, offset))
SHORT(pread64, ssize_t, (int descriptor, void *bytes, size_t count, off_t offset),
      (descriptor, bytes, count, offset))
SHORT(pwrite64, ssize_t, (int descriptor, const void *bytes, size_t count, off_t offset),
      (descriptor, bytes, count, offset))
