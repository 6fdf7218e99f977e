// What a process may write below directories: try_writes DIRECTORY...
// In each mount at or below each of them it makes a file and a directory, and opens what is there for writing; a cgroup
// that it can thaw, it thaws. Prints a line for each success (the first ones), and one for each mount.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kMaxFiles = 20000, kMaxShown = 20 };

static int tried, written, read_only, denied;
static int other_error;  // the last one that is neither

static void Count(int failed, const char* what, const char* path) {
  ++tried;
  if (!failed) {
    if (++written <= kMaxShown) printf("%s %s\n", what, path);
  } else if (errno == EROFS) {
    ++read_only;
  } else if (errno == EACCES || errno == EPERM) {
    ++denied;
  } else {
    other_error = errno;
  }
}

static void TryFile(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  Count(file < 0, "opened for writing:", path);
  if (file < 0) return;
  if (text) Count(write(file, text, strlen(text)) < 0, "written:", path);
  close(file);
}

static int Visit(const char* path, const struct stat* status, int type, struct FTW* at) {
  if (tried > kMaxFiles) return 1;
  if (type == FTW_D) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/kepler-try-writes", path);
    Count(mkdir(name, 0700), "made directory", name);
    rmdir(name);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    Count(file < 0, "made file", name);
    if (file >= 0) {
      close(file);
      unlink(name);
    }
  } else if (type == FTW_F && S_ISREG(status->st_mode) && (status->st_mode & 0222)) {
    const char* base = path + at->base;
    TryFile(path, strcmp(base, "cgroup.freeze") == 0 ? "0" : strcmp(base, "freezer.state") == 0 ? "THAWED" : NULL);
  }
  return 0;
}

static int IsBelow(const char* path, const char* above) {
  const size_t size = strlen(above);
  return strncmp(path, above, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

int main(int count, char** arguments) {
  char line[3 * PATH_MAX], path[PATH_MAX];
  int mounts = 0;
  FILE* const file = fopen("/proc/self/mountinfo", "r");
  if (!file) return perror("try_writes: /proc/self/mountinfo"), 2;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1) continue;
    int wanted = 0;
    for (int i = 1; i < count; ++i) wanted |= IsBelow(path, arguments[i]);
    if (!wanted) continue;
    tried = written = read_only = denied = other_error = 0;
    nftw(path, Visit, 16, FTW_PHYS | FTW_MOUNT);
    printf("%s: %d tried, %d written, %d read-only, %d denied%s%s\n", path, tried, written, read_only, denied,
           other_error ? ", " : "", other_error ? strerror(other_error) : "");
    ++mounts;
  }
  fclose(file);
  if (mounts == 0) return fputs("try_writes: no mount is there\n", stderr), 2;
  return 0;
}
