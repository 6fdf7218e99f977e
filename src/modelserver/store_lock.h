#pragma once
// A lock of one model of a store, so that the server, `retrain` and `rollback` do not publish at the same time: flock()
// on .locks/NAME, in which the holder states who it is. The kernel releases the lock when the holder ends, even after
// SIGKILL. Blocks; any thread.
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::modelserver {

class StoreLock {
 public:
  /// `name` passes IsModelName(). `holder` is for the message to another writer: "kepler-model retrain". kTimeout, with
  /// the holder's text and process id, if another writer has the lock for longer than `patience`; else as FailErrno.
  [[nodiscard]] static Result<StoreLock> Take(const std::string& root, std::string_view name, std::string_view holder,
                                              std::chrono::milliseconds patience);

 private:
  explicit StoreLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;  // closing it releases the lock
};

}  // namespace kepler::modelserver
