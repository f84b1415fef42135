/* Stands before the system's calls (LD_PRELOAD): those on a file whose name ends in FAILING_FILE fail with
 * "Input/output error", once, when FAILING_CALL is "meta" (a write to LMDB's first two pages) or "sync" and
 * FAILING_AFTER of them went well. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long seen;

static int fails(int fd, const char *call) {
  const char *wanted = getenv("FAILING_CALL"), *name = getenv("FAILING_FILE");
  if (!wanted || !name || strcmp(wanted, call)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < (ssize_t)strlen(name)) return 0;
  path[length] = 0;
  if (strcmp(path + length - strlen(name), name)) return 0;
  if (atomic_fetch_add(&seen, 1) != atol(getenv("FAILING_AFTER"))) return 0;
  errno = EIO;
  return 1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  if (at < 8192 && fails(fd, "meta")) return -1;
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  return real(fd, bytes, length, at);
}

int fdatasync(int fd) {
  if (fails(fd, "sync")) return -1;
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  return real(fd);
}
