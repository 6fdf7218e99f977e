#include "activity/procfs/procfs_source.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "activity/cgroup_accounts.h"
#include "activity/procfs/invisible_time.h"
#include "activity/procfs/membership_table.h"
#include "activity/procfs/process_table.h"
#include "base/log.h"
#include "os/dirents.h"

namespace kepler::activity::procfs {
namespace {

ProcessReader MakeReader(const std::string& procfs) {
  const auto source = ProcessReader::SourceFor(procfs);
  if (source == ProcessReader::CpuSource::kStat) {
    log::Warn(
        "the CPU clocks of the processes cannot be used: host.procfs shows another pid namespace; CPU time comes from "
        "PID/stat in steps of a clock tick; run in the host's pid namespace (hostPID)",
        {{"procfs", procfs}});
  }
  return ProcessReader(source);
}

}  // namespace

struct ProcfsSource::Impl {
  Impl(ProcfsOptions given, const Clock& the_clock)
      : options(std::move(given)),
        clock(the_clock),
        accounts(cgroup::FindTrees(options.sysfs, options.procfs), cgroup::ReadOwnLines(options.procfs), ::getpid()),
        table(MakeReader(options.procfs), memberships, status),
        proc_stat(options.proc_stat ? options.proc_stat : std::make_shared<os::ProcStatReader>(options.procfs, clock)) {
    status.name = "procfs";
    status.time = options.time;
    if (options.before.scanned_at != BootTime{}) previous = options.before.scanned_at;
  }

  Status List();
  Status ListOpened();
  Nanoseconds Invisible(Nanoseconds seen);

  ProcfsOptions options;
  const Clock& clock;
  snapshot::ActivityStatus status;
  MembershipTable memberships;
  CgroupAccounts accounts;
  ProcessTable table;
  std::optional<os::PidLister> lister;
  std::vector<os::ListedPid> listed;
  std::optional<BootTime> previous;  // when the previous list was made, by the source before this one too
  bool booked = false;               // whether usages of cgroups have a beginning
  std::shared_ptr<os::ProcStatReader> proc_stat;
  std::optional<os::ProcStat> machine;  // as of the latest scan
  InvisibleTime invisible;
  bool reported_invisible = false;
};

Status ProcfsSource::Impl::List() {
  Status listing = ListOpened();
  // What is mounted there later is another directory: the open one would stay empty, or an error, for ever.
  if (!listing) lister.reset();
  return listing;
}

Status ProcfsSource::Impl::ListOpened() {
  if (!lister) {
    KEPLER_TRY(lister, os::PidLister::Open(options.procfs));
    table.SetDirectory(lister->dir_fd());
  }
  KEPLER_CHECK_OK(lister->List(listed));
  if (listed.empty())
    return Fail(ErrorKind::kUnavailable, "list " + options.procfs + ": no process in it; host.procfs must be a procfs");
  return {};
}

Nanoseconds ProcfsSource::Impl::Invisible(Nanoseconds seen) {
  if (table.sees_kernel_threads()) {
    machine.reset();
    invisible.Reset();
    return Nanoseconds{0};
  }
  if (!std::exchange(reported_invisible, true)) {
    log::Warn(
        "not every process is visible (own pid namespace, hidepid or ProtectProc): what the others use is "
        "unattributed; "
        "run in the host's pid namespace or with CAP_SYS_PTRACE",
        {{"procfs", options.procfs}});
  }
  const auto& now = proc_stat->Read();
  if (!now) {
    ++status.failed_reads;
    return Nanoseconds{0};
  }
  const auto before = std::exchange(machine, *now);
  if (!before) return Nanoseconds{0};
  Nanoseconds busy = os::ClockTick() * static_cast<int64_t>(os::BusyTicks(before->cpu, now->cpu));
  // What the kernel keeps apart from the time of tasks is none of the tasks that are not visible.
  if (options.time.interrupts == KeptApart::kYes) busy -= os::InterruptTime(before->cpu, now->cpu);
  if (options.time.steal == KeptApart::kYes) busy -= os::StolenTime(before->cpu, now->cpu);
  return invisible.Update(busy, seen, now->at - before->at);
}

ProcfsSource::ProcfsSource(ProcfsOptions options, const Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}

ProcfsSource::~ProcfsSource() = default;

Status ProcfsSource::Sample(ActivitySample& out) {
  Impl& my = *impl_;
  out.Clear();
  const BootTime begin = my.clock.Now();
  // Usages before clocks: what is known then covers at least what the cgroup had used.
  my.accounts.ReadUsages(begin, my.status);
  const BootTime listing = my.clock.Now();
  if (Status failed = my.List(); !failed) {
    my.status.up = false;
    return failed;
  }
  my.table.Scan(my.listed,
                {.now = listing,
                 .first = !my.previous,
                 .previous = my.previous.value_or(listing),
                 .cpuacct = my.accounts.has_cpuacct(),
                 .known = my.options.before.processes},
                out);
  my.previous = listing;
  my.options.before = {};
  Nanoseconds seen{0};
  my.table.ForEachWhoRan(out, [&](MembershipId membership, Nanoseconds cpu) {
    // What was used before its cgroup was first read is not in the usage that begins there.
    if (my.booked) my.accounts.Book(my.memberships[membership], cpu);
    seen += cpu;
  });
  my.booked = true;
  seen += my.accounts.Settle(my.memberships.entries(), out);
  my.status.audit = my.accounts.audit();
  out.invisible = my.Invisible(seen);
  const BootTime end = my.clock.Now();
  out.taken_at = begin + (end - begin) / 2;
  my.status.up = true;
  my.status.last_success = my.clock.Wall();
  return {};
}

std::span<const cgroup::CgroupPtr> ProcfsSource::LivingCgroups() const { return impl_->accounts.living(); }

const snapshot::ActivityStatus& ProcfsSource::status() const { return impl_->status; }

}  // namespace kepler::activity::procfs
