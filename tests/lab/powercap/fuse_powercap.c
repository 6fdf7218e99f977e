// A powercap tree in user space, which shows programmed counters and has the faults that a driver cannot be asked for.
//   fuse_powercap CONTROL MOUNTPOINT      runs until the tree is unmounted
// CONTROL is a file with a line "ENTRY NAME RANGE_UJ ENERGY_UJ" for each zone, and optionally a line "FAULT" with one
// of:
//   eio  freeze SECONDS  gone
// It is read at each access, so a writer must replace it by rename(). Only energy_uj has faults, except with "gone":
// the entries are then away, as without the driver. Built with libfuse 3.
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMaxZones = 16, kText = 64 };
enum fault { kNone, kEio, kFreeze, kGone };

struct zone {
  char entry[kText], name[kText];
  unsigned long long range, energy;
};

struct tree {
  struct zone zones[kMaxZones];
  int count;
  enum fault fault;
  unsigned seconds;
};

static const char* control;
static const char* const kFiles[] = {"name", "max_energy_range_uj", "energy_uj"};

static struct tree Load(void) {
  struct tree tree = {.count = 0};
  FILE* file = fopen(control, "re");
  char line[512];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    struct zone* zone = &tree.zones[tree.count];
    if (strncmp(line, "eio", 3) == 0)
      tree.fault = kEio;
    else if (sscanf(line, "freeze %u", &tree.seconds) == 1)
      tree.fault = kFreeze;
    else if (strncmp(line, "gone", 4) == 0)
      tree.fault = kGone;
    else if (tree.count < kMaxZones &&
             sscanf(line, "%63s %63s %llu %llu", zone->entry, zone->name, &zone->range, &zone->energy) == 4)
      ++tree.count;
  }
  if (file != NULL) fclose(file);
  if (tree.fault == kGone) tree.count = 0;
  return tree;
}

// The zone of "/ENTRY" or "/ENTRY/FILE"; file: index in kFiles, -1 for the directory. Returns -1 if there is none.
static int Find(const struct tree* tree, const char* path, int* file) {
  for (int z = 0; z < tree->count; ++z) {
    const size_t length = strlen(tree->zones[z].entry);
    if (strncmp(path + 1, tree->zones[z].entry, length) != 0) continue;
    const char* rest = path + 1 + length;
    *file = -1;
    if (*rest == '\0') return z;
    for (int f = 0; *rest == '/' && f < 3; ++f) {
      *file = f;
      if (strcmp(rest + 1, kFiles[f]) == 0) return z;
    }
  }
  return -1;
}

static int GetAttr(const char* path, struct stat* out, struct fuse_file_info* info) {
  (void)info;
  const struct tree tree = Load();
  int file = -1;
  memset(out, 0, sizeof *out);
  const int is_found = strcmp(path, "/") == 0 || Find(&tree, path, &file) >= 0;
  if (!is_found) return -ENOENT;
  out->st_mode = file < 0 ? S_IFDIR | 0755 : S_IFREG | (file == 2 ? 0400 : 0444);
  out->st_nlink = file < 0 ? 2 : 1;
  out->st_size = file < 0 ? 0 : 4096;
  return 0;
}

static int ReadDir(const char* path, void* buffer, fuse_fill_dir_t add, off_t offset, struct fuse_file_info* info,
                   enum fuse_readdir_flags flags) {
  (void)offset, (void)info, (void)flags;
  const struct tree tree = Load();
  int file = -1;
  if (strcmp(path, "/") == 0)
    for (int z = 0; z < tree.count; ++z) add(buffer, tree.zones[z].entry, NULL, 0, 0);
  else if (Find(&tree, path, &file) >= 0)
    for (int f = 0; f < 3; ++f) add(buffer, kFiles[f], NULL, 0, 0);
  return 0;
}

static int Open(const char* path, struct fuse_file_info* info) {
  (void)path;
  info->direct_io = 1;  // no page cache, as in sysfs
  return 0;
}

static int Read(const char* path, char* out, size_t size, off_t offset, struct fuse_file_info* info) {
  (void)info;
  const struct tree tree = Load();
  int file = -1;
  const int z = Find(&tree, path, &file);
  if (z < 0 || file < 0) return -ENODEV;
  char text[kText + 2];
  if (file == 0) snprintf(text, sizeof text, "%s\n", tree.zones[z].name);
  if (file == 1) snprintf(text, sizeof text, "%llu\n", tree.zones[z].range);
  if (file == 2) {
    if (tree.fault == kEio) return -EIO;
    if (tree.fault == kFreeze) sleep(tree.seconds);
    snprintf(text, sizeof text, "%llu\n", tree.zones[z].energy);
  }
  const size_t length = strlen(text);
  if ((size_t)offset >= length) return 0;
  if (size > length - (size_t)offset) size = length - (size_t)offset;
  memcpy(out, text + offset, size);
  return (int)size;
}

int main(int argc, char** argv) {
  static const struct fuse_operations kOperations = {
      .getattr = GetAttr, .readdir = ReadDir, .open = Open, .read = Read};
  if (argc != 3) {
    fprintf(stderr, "use: fuse_powercap CONTROL MOUNTPOINT\n");
    return 2;
  }
  control = argv[1];
  char* arguments[] = {argv[0], "-f", "-o", "allow_other,attr_timeout=0,entry_timeout=0", argv[2], NULL};
  return fuse_main(5, arguments, &kOperations, NULL);
}
