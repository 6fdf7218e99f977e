#pragma once
// Lists a directory with few system calls: getdents64 into one large buffer that is reused.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::os {

struct DirEntry {
  std::string_view name;  // valid inside the callback; a NUL byte follows it
  uint64_t inode = 0;
  bool is_dir = false;  // also false if the file system does not report the type
};

class DirReader {
 public:
  /// A caller that stops early should use a small buffer: the kernel generates as many entries as fit at once.
  explicit DirReader(size_t buffer_bytes = size_t{64} << 10);
  /// Calls `visit(const DirEntry&)` for every entry except "." and "..". Starts at the beginning of the directory,
  /// regardless of earlier reads of `fd`. `path` is only for the error message.
  template <class Visitor>
  Status ForEach(int fd, std::string_view path, Visitor&& visit) {
    return ForEachWhile(fd, path, [&](const DirEntry& entry) {
      visit(entry);
      return true;
    });
  }
  /// Same as above, but stops when `visit` returns false.
  template <class Visitor>
  Status ForEachWhile(int fd, std::string_view path, Visitor&& visit) {
    KEPLER_CHECK_OK(Rewind(fd, path));
    for (;;) {
      KEPLER_TRY(const size_t filled, Fill(fd, path));
      if (filled == 0) return {};
      for (size_t at = 0; at < filled;) {
        const DirEntry entry = Entry(at);
        if (entry.name != "." && entry.name != ".." && !visit(entry)) return {};
      }
    }
  }

 private:
  static Status Rewind(int fd, std::string_view path);
  Result<size_t> Fill(int fd, std::string_view path);
  /// Returns the entry at `at`, and moves `at` to the next entry.
  DirEntry Entry(size_t& at) const;

  size_t buffer_bytes_;
  std::unique_ptr<char[]> buffer_;
};

/// Returns the names in a directory, sorted by bytes, without "." and "..". Errors: as FailErrno.
[[nodiscard]] Result<std::vector<std::string>> ListDir(const std::string& path);

struct ListedPid {
  int32_t pid = 0;
  // inode of the /proc entry: a different process under this pid has a different inode (the reverse is not true)
  uint64_t inode = 0;
};

class PidLister {
 public:
  /// Opens `procfs` and keeps one descriptor open.
  static Result<PidLister> Open(const std::string& procfs);
  /// Replaces the content of `out` by all numeric entries, ascending. Allocates nothing once `out` has its size.
  Status List(std::vector<ListedPid>& out);
  /// Descriptor for reading PID/… relative to it.
  [[nodiscard]] int dir_fd() const { return dir_.get(); }

 private:
  PidLister(UniqueFd dir, std::string path) : dir_(std::move(dir)), path_(std::move(path)) {}

  UniqueFd dir_;
  std::string path_;
  DirReader reader_;
};

}  // namespace kepler::os
