#pragma once
// RequestDirectory: a directory for queued requests. Only this user may write to the directory,
// and only one object at a time has it open (flock() of the file "lock"). Links are not followed. Blocks; one thread.
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::push {

class RequestDirectory {
 public:
  explicit RequestDirectory(std::string path);

  /// Creates the directory with mode 0700 (its parent must exist), and locks it. Errors: as FailErrno; kInvalid if
  /// others may write to the directory; kUnavailable if it is locked.
  [[nodiscard]] Status Open();
  [[nodiscard]] bool is_open() const { return directory_.valid(); }
  void Close();

 private:
  const std::string path_;
  UniqueFd directory_;
  UniqueFd lock_;
};

}  // namespace kepler::push
