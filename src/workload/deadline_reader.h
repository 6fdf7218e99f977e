#pragma once
// DeadlineReader: reads files that may keep whoever reads them waiting for ever, on a thread of its own.
//
// cmdline and environ of /proc are read through the memory of their process (access_remote_vm, mm/memory.c), under its
// mmap_lock; environ is opened under its exec_update_lock. A process can keep its own lock taken for as long as it
// likes, by a page of a FUSE mount that nobody serves, and the wait ends for nothing but a fatal signal. So a reader
// that is late is left behind with its file, and another thread goes on. What that costs others is bounded: of an owner
// that made a read late nothing is read while that one waits, and for a time that doubles with each; a look waits
// no longer than kMaxWait in all; and at most kMaxLate threads are left behind. Not thread-safe.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::workload {

class DeadlineReader {
 public:
  static constexpr size_t kMaxLate = 8;
  static constexpr std::chrono::milliseconds kDeadline{100};
  static constexpr std::chrono::milliseconds kMaxWait{200};  // of a look; what is prompt does not count
  static constexpr std::chrono::milliseconds kPrompt{10};
  static constexpr std::chrono::seconds kFirstPause{1}, kLongestPause{64};
  static constexpr size_t kMaxPaused = 1024;  // owners; beyond, all are forgotten

  /// Has its thread from the start, as far as there is one to be had: how many the agent has depends on no process.
  explicit DeadlineReader(std::chrono::milliseconds deadline = kDeadline);
  /// Those that are late end when the kernel lets them go.
  ~DeadlineReader();
  DeadlineReader(const DeadlineReader&) = delete;
  DeadlineReader& operator=(const DeadlineReader&) = delete;

  void BeginLook() { left_ = kMaxWait; }
  /// The first `most` bytes of the file at most, valid until the next call. `owner`: who would make it late, and pays
  /// for it. Errors: as FailErrno; kUnavailable where the deadline passed, or is not waited for: see above. It may work
  /// later.
  [[nodiscard]] Result<std::string_view> Read(const std::string& path, const std::string& owner, size_t most);

 private:
  using Time = std::chrono::steady_clock::time_point;
  class Worker;
  struct Pause {
    std::chrono::seconds length{0};
    Time end{};
  };
  [[nodiscard]] Status MayRead(const std::string& path, const std::string& owner, Time now);
  [[nodiscard]] Status HaveWorker();
  void PauseOwner(const std::string& owner, Time now);

  std::chrono::milliseconds deadline_;
  std::chrono::steady_clock::duration left_ = kMaxWait;  // of this look
  std::map<std::string, Pause> paused_;
  std::shared_ptr<Worker> worker_;             // null: none is running
  std::vector<std::shared_ptr<Worker>> late_;  // never null
};

}  // namespace kepler::workload
