#pragma once
// ProcessTable: the living processes with stable slots. One scan merges two ascending pid lists. A scan does no
// hashing, and allocates nothing per process once the table has its size.
#include <cstdint>
#include <span>
#include <vector>

#include "activity/activity_source.h"
#include "activity/process_reader.h"
#include "activity/procfs/membership_table.h"
#include "base/log.h"
#include "os/dirents.h"

namespace kepler::activity::procfs {

struct ScanFacts {
  BootTime now{};
  bool first = false;    // CPU time of all processes so far is unattributed
  BootTime previous{};   // time of the previous list; a process that started earlier and was not seen counts 0
  bool cpuacct = false;  // v1 lines name the cgroups: lines of a dying process are wrong
  std::span<const Handover::Process> known = {};  // processes known to another source, as of `previous`; ascending key
};

class ProcessTable {
 public:
  /// Maximum number of label refreshes per scan, in rotation within each set. The sets are: processes that used CPU,
  /// idle processes seen for the second time, all processes. A refresh reads three files and costs as much as 30 CPU
  /// clocks.
  static constexpr size_t kMaxBusyRefreshes = 256;
  static constexpr size_t kMaxSecondLooks = 32;
  static constexpr size_t kMaxIdleRefreshes = 16;

  ProcessTable(ProcessReader reader, MembershipTable& memberships, status::ActivityStatus& status);

  void SetDirectory(int procfs_fd) { reader_.SetDirectory(procfs_fd); }

  /// Reads the CPU time of every listed process and refreshes labels. Fills processes and exited of `out`.
  void Scan(std::span<const os::ListedPid> listed, const ScanFacts& facts, ActivitySample& out);

  /// Calls `book(MembershipId, Nanoseconds)` for every process that used CPU time.
  template <class Book>
  void ForEachWhoRan(const ActivitySample& sample, Book&& book) const {
    for (const ProcessSample& process : sample.processes)
      if (process.cpu.count() > 0) book(records_[process.slot].membership, process.cpu);
  }

  /// Kernel threads are in the first pid namespace and belong to root. A reader that sees one sees every process.
  [[nodiscard]] bool sees_kernel_threads() const { return kernel_threads_ > 0; }

 private:
  /// Fields that every scan reads.
  struct Live {
    int32_t pid = 0;
    Slot slot = 0;
    uint64_t inode = 0;  // 0: the identity must be checked at the next scan
    Nanoseconds cpu{0};  // largest value read
    bool second_scan = false;
  };
  struct Record {
    cgroup::ProcessInfo info;
    MembershipId membership = MembershipTable::kUnreadable;
    uint32_t version = 0;
    bool exe_refused = false;
  };
  enum class Fate : uint8_t { kSame, kGone, kReplaced };
  /// Indices of live_ for processes with labels to refresh.
  struct Due {
    std::vector<uint32_t> indices;
    int32_t after = 0;  // pid after which the next limited round begins
  };

  Fate Continue(Live& live, const os::ListedPid& listed, Nanoseconds& delta);
  Fate ContinueByStat(Live& live, const os::ListedPid& listed, Nanoseconds& now);
  void Keep(const Live& live, Nanoseconds delta, ActivitySample& out);
  void Arrive(const os::ListedPid& listed, const ScanFacts& facts, ActivitySample& out);
  void Leave(const Live& live, ActivitySample& out);
  void RefreshDue(Due& due, size_t max);
  void RefreshInRotation();
  void Refresh(Live& live, bool with_uid);
  Result<uint32_t> UidNow(const Live& live, const Record& record);
  bool RefreshCgroup(Record& record, const Result<std::string_view>& text);
  void CountExe(Record& record, const Error& error);
  void CountUnknown(const os::ListedPid& listed, const Error& error);
  void Count(const Error& error);

  ProcessReader reader_;
  MembershipTable& memberships_;
  status::ActivityStatus& status_;
  std::vector<Record> records_;
  std::vector<Slot> free_;
  std::vector<Slot> leaving_;  // slots reported as exited in the latest sample, which become free at the next scan
  std::vector<Live> live_;     // ascending pid, parallel to the latest sample's processes
  std::vector<Live> previous_;
  std::vector<os::ListedPid> refused_;  // at this scan, ascending pid: each unreadable process is counted once
  std::vector<os::ListedPid> refused_before_;
  Due busy_;
  Due second_looks_;
  int32_t idle_after_ = 0;
  size_t kernel_threads_ = 0;
  BootTime now_{};
  log::LogLimiter limiter_{std::chrono::hours(24)};
};

}  // namespace kepler::activity::procfs
