#pragma once
// DeadlineReader: reads files that may keep whoever reads them waiting for ever, on a thread of its own.
//
// cmdline and environ of /proc are read through the memory of their process (access_remote_vm, mm/memory.c), under its
// mmap_lock; environ is opened under its exec_update_lock. A process can keep its own lock taken for as long as it
// likes, by a page of a FUSE mount that nobody serves, and the wait ends for nothing but a fatal signal. So a reader
// beyond its deadline is left behind with its file, and another thread goes on. An owner with an overdue read gets no
// further reads. While kMaxOverdue reads are overdue, no owner does. A file in the file systems of a container can
// block in the same way. Reads within the deadline are charged (read_budget.h). So a scan takes at most its budget and
// two deadlines. Not thread-safe.
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "workload/read_budget.h"

namespace kepler::workload {

/// Whether the bytes are the whole file or only its first part, where the last string may be cut.
enum class Extent : bool { kWhole, kPrefix };

/// The NUL-terminated strings of `bytes`, as views into it. The last one needs no NUL in a whole file and is dropped
/// if it has none in a prefix. Trailing empty ones are dropped: they are what a process that wrote its title over its
/// arguments leaves. Reuses `strings`.
void SplitStrings(std::string_view bytes, Extent extent, std::vector<std::string_view>& strings);

class DeadlineReader {
 public:
  static constexpr size_t kMaxOverdue = 8;
  struct Limits {
    std::chrono::milliseconds deadline{100};
    ReadBudget::Limits budget{};
  };

  /// Has its thread from the start, as far as there is one to be had: how many the agent has depends on no process.
  /// `clock`: of the pauses.
  DeadlineReader(const Clock& clock, const Limits& limits);
  /// Threads that are late are left behind (base/thread.h): they end when the kernel lets them go.
  ~DeadlineReader();
  DeadlineReader(const DeadlineReader&) = delete;
  DeadlineReader& operator=(const DeadlineReader&) = delete;

  void BeginScan();
  /// The first `max_bytes` of the file at most, valid until the next call. `payer`: see read_budget.h. Errors: as
  /// FailErrno; kTimeout where the deadline passed, or kMaxOverdue wait; kUnavailable where it is not read now. Both
  /// may be read later.
  [[nodiscard]] Result<std::string_view> Read(const std::string& path, const std::string& payer, size_t max_bytes);
  /// The same for the regular file `path` below the directory `root`, which may be another's (os::OpenFileBeneath).
  [[nodiscard]] Result<std::string_view> ReadBeneath(const std::string& root, const std::string& path,
                                                     const std::string& payer, size_t max_bytes);
  /// What the caller's thread spent on what it read for `payer`, as if reading had taken that longer.
  void Charge(const std::string& payer, Nanoseconds spent) { budget_.Charge(payer, spent, spent, clock_.Now()); }
  /// Read() as strings. Empty for a process without memory (kernel thread, zombie).
  [[nodiscard]] Result<std::span<const std::string_view>> ReadStrings(const std::string& path, const std::string& payer,
                                                                      size_t max_bytes);

 private:
  class Worker;
  struct File {
    std::string path;
    std::string beneath{};  // it; "": itself
    [[nodiscard]] std::string Shown() const { return beneath.empty() ? path : path + '/' + beneath; }
  };
  static Result<size_t> ReadUpTo(const File& file, std::vector<char>& bytes, size_t max_bytes);
  [[nodiscard]] Result<std::string_view> Read(const File& file, const std::string& payer, size_t max_bytes);
  [[nodiscard]] Status MayRead(const std::string& payer) const;
  [[nodiscard]] Status HaveWorker();

  const Clock& clock_;
  std::chrono::milliseconds deadline_;
  bool no_thread_ = false;  // to be had, in this scan
  ReadBudget budget_;
  struct Running {
    std::shared_ptr<Worker> worker;  // never null
    BlockingThread thread;
  };
  std::optional<Running> running_;
  std::vector<std::unique_ptr<Running>> late_;  // dismissed; never null
  std::vector<std::string_view> strings_;
};

}  // namespace kepler::workload
