#include "activity/procfs/procfs_source.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"

namespace kepler::activity::procfs {
namespace {

ProcessReader MakeReader(const ProcfsOptions& options) {
  const auto source = ProcessReader::SourceFor(options.procfs);
  if (source == ProcessReader::CpuSource::kStat) {
    log::Warn(
        "CPU clocks of processes are unavailable because host.procfs shows another pid namespace, using PID/stat in "
        "clock ticks; run in the host's pid namespace (hostPID)",
        {{"procfs", options.procfs}});
  }
  return ProcessReader(source, options.with_uids);
}

}  // namespace

ProcfsSource::ProcfsSource(ProcfsOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      accounts_(cgroup::FindTrees(options_.sysfs, options_.procfs), cgroup::ReadOwnLines(options_.procfs), ::getpid()),
      memberships_(accounts_.owners()),
      table_(MakeReader(options_), memberships_, status_),
      proc_stat_(options_.proc_stat ? options_.proc_stat
                                    : std::make_shared<os::ProcStatReader>(options_.procfs, clock)) {
  status_.name = "procfs";
  status_.time = options_.time;
  if (options_.before.scanned_at != BootTime{}) previous_ = options_.before.scanned_at;
}

Status ProcfsSource::List() {
  Status listing = ListOpened();
  // A later mount is another directory. The open directory would stay empty, or return an error, forever.
  if (!listing) lister_.reset();
  return listing;
}

Status ProcfsSource::ListOpened() {
  if (!lister_) {
    KEPLER_TRY(lister_, os::PidLister::Open(options_.procfs));
    table_.SetDirectory(lister_->dir_fd());
  }
  KEPLER_CHECK_OK(lister_->List(listed_));
  if (listed_.empty())
    return Fail(ErrorKind::kUnavailable,
                "list " + options_.procfs + ": no process in it; host.procfs must be a procfs");
  return {};
}

Nanoseconds ProcfsSource::Invisible(Nanoseconds seen) {
  if (table_.sees_kernel_threads()) {
    machine_.reset();
    invisible_.Reset();
    return Nanoseconds{0};
  }
  if (!std::exchange(reported_invisible_, true)) {
    log::Warn(
        "some processes are not visible (pid namespace, hidepid or ProtectProc), so their energy is unattributed; "
        "run in the host's pid namespace or with CAP_SYS_PTRACE",
        {{"procfs", options_.procfs}});
  }
  const auto& now = proc_stat_->Read();
  if (!now) {
    ++status_.failed_reads;
    return Nanoseconds{0};
  }
  const auto before = std::exchange(machine_, *now);
  if (!before) return Nanoseconds{0};
  Nanoseconds busy = os::ClockTick() * static_cast<int64_t>(os::BusyTicks(before->cpu, now->cpu));
  // If the kernel accounts interrupt time separately, that time does not belong to invisible tasks.
  if (options_.time.interrupts == KeptApart::kYes) busy -= os::InterruptTime(before->cpu, now->cpu);
  if (options_.time.steal == KeptApart::kYes) busy -= os::StolenTime(before->cpu, now->cpu);
  return invisible_.Update(busy, seen, now->at - before->at);
}

Status ProcfsSource::Sample(ActivitySample& out) {
  out.Clear();
  const BootTime begin = clock_.Now();
  const bool takes_over = previous_ && !booked_;
  // Read the usages before the clocks. The known time then covers at least the usage of the cgroup.
  if (!takes_over) accounts_.ReadUsages(begin, status_);
  const BootTime listing = clock_.Now();
  if (Status failed = List(); !failed) {
    status_.up = false;
    return failed;
  }
  table_.Scan(listed_,
              {.now = listing,
               .first = !previous_,
               .previous = previous_.value_or(listing),
               .cpuacct = accounts_.has_cpuacct(),
               .known = options_.before.processes},
              out);
  previous_ = listing;
  options_.before = {};
  Nanoseconds seen{0};
  table_.ForEachWhoRan(out, [&](MembershipId membership, Nanoseconds cpu) {
    // Time from before the first reading of the cgroup's usage is not in that usage.
    if (booked_) accounts_.Book(memberships_[membership], cpu);
    seen += cpu;
  });
  // The sample has all CPU time of the processes since the scan of the replaced source. Usage from before now must not
  // be given out again as a residual, so the accounts begin with it.
  if (takes_over) accounts_.ReadUsages(clock_.Now(), status_);
  // A failed scan may have read usages before. The time of their processes is not booked.
  seen += accounts_.Settle(memberships_.entries(), out, booked_ ? Residuals::kGiven : Residuals::kDropped);
  booked_ = true;
  status_.audit = accounts_.audit();
  out.invisible = Invisible(seen);
  const BootTime end = clock_.Now();
  out.taken_at = begin + (end - begin) / 2;
  status_.up = true;
  status_.last_success = clock_.Wall();
  return {};
}

}  // namespace kepler::activity::procfs
