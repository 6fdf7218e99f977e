#pragma once
// The processes that <procfs> shows now.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "os/dirents.h"

namespace kepler::os {

struct ListedPid {
  int32_t pid = 0;
  uint64_t inode = 0;  // of the /proc entry: another process under this pid has another one (the reverse is not true)
};

class PidLister {
 public:
  /// Keeps one descriptor of `procfs` open.
  static Result<PidLister> Open(const std::string& procfs);
  /// Replaces `out` by every numeric entry, ascending. No allocation once `out` has its size.
  Status List(std::vector<ListedPid>& out);
  /// For reading PID/… relative to it.
  [[nodiscard]] int dir_fd() const { return dir_.get(); }

 private:
  PidLister(UniqueFd dir, std::string path) : dir_(std::move(dir)), path_(std::move(path)) {}

  UniqueFd dir_;
  std::string path_;
  DirReader reader_;
};

}  // namespace kepler::os
