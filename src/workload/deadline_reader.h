#pragma once
// DeadlineReader: reads files that may keep whoever reads them waiting for ever, on a thread of its own.
//
// cmdline and environ of /proc are read through the memory of their process (access_remote_vm, mm/memory.c), under its
// mmap_lock; environ is opened under its exec_update_lock. A process can keep its own lock taken for as long as it
// likes, by a page of a FUSE mount that nobody serves, and the wait ends for nothing but a fatal signal. So a reader
// that is late is left behind with its file, and another thread goes on; when kMaxLate of them wait, nothing is read
// until one comes back. Not thread-safe.
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::workload {

class DeadlineReader {
 public:
  static constexpr size_t kMaxLate = 4;
  static constexpr std::chrono::milliseconds kDeadline{100};

  explicit DeadlineReader(std::chrono::milliseconds deadline = kDeadline) : deadline_(deadline) {}
  /// Those that are late end when the kernel lets them go.
  ~DeadlineReader();
  DeadlineReader(const DeadlineReader&) = delete;
  DeadlineReader& operator=(const DeadlineReader&) = delete;

  /// The first `most` bytes of the file at most, valid until the next call. Errors: as FailErrno; kUnavailable where
  /// the deadline passed, or would: the file is being waited for already, or no thread is to be had. It may work later.
  [[nodiscard]] Result<std::string_view> Read(const std::string& path, size_t most);

 private:
  class Worker;
  std::chrono::milliseconds deadline_;
  std::shared_ptr<Worker> worker_;             // null: none is running
  std::vector<std::shared_ptr<Worker>> late_;  // never null
};

}  // namespace kepler::workload
