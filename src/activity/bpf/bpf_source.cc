#include "activity/bpf/bpf_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/facts.h"
#include "activity/bpf/hidden_processes.h"
#include "activity/bpf/process_files.h"
#include "activity/bpf/programs.h"
#include "activity/bpf/records.h"
#include "activity/bpf/row_reader.h"
#include "activity/bpf/task_labels.h"
#include "activity/bpf/task_table.h"
#include "activity/bpf/unreported_ends.h"
#include "activity/bpf/usage_audit.h"
#include "base/log.h"
#include "cgroup/tree.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {
namespace {

constexpr uint64_t kUnifiedRoot = 1;  // kernfs id of the top of every hierarchy; that of v2 has no usage of its own

std::string_view PathOf(const kepler_executable& row) { return {row.path, ::strnlen(row.path, sizeof(row.path))}; }

}  // namespace

struct BpfSource::Impl {
  Impl(const BpfOptions& given, const Clock& the_clock, const cgroup::Trees& trees)
      : clock(the_clock),
        proc_stat(given.proc_stat ? given.proc_stat : std::make_shared<os::ProcStatReader>(given.procfs, clock)),
        cgroups(trees, cgroup::ReadOwnLines(given.procfs)),
        files(given.procfs),
        table(cgroups, files),
        hidden(given.procfs, trees),
        audit(trees, cgroup::ReadOwnLines(given.procfs)) {
    status.name = "bpf";
    status.time = given.time;
  }

  void Take(std::span<const std::byte> bytes);
  void DrainRing();
  [[nodiscard]] bool MustWalk();
  void SplitSlices();
  Status Pass(ActivitySample& out);
  void ReportExecutables(BootTime begin);
  [[nodiscard]] uint64_t Losses();
  /// Time whose owner was in a dropped record: total.
  [[nodiscard]] Nanoseconds Lost(const kepler_totals& totals) const {
    return table.lost() + Nanoseconds(static_cast<int64_t>(totals.lost));
  }
  void Account(ActivitySample& out);
  void UpdateStatus(const kepler_totals& totals);

  const Clock& clock;
  std::shared_ptr<os::ProcStatReader> proc_stat;
  std::optional<PerfCounters> counters;
  std::unique_ptr<Programs> programs;
  snapshot::ActivityStatus status;
  CgroupDirectory cgroups;
  ProcessFiles files;
  TaskTable table;
  HiddenProcesses hidden;
  UsageAudit audit;
  RowReader rows;
  UnreportedEnds unreported_ends;
  std::optional<uint64_t> made;  // tasks since boot, as of the begin of the latest pass
  uint64_t living = 0;           // rows of the latest pass
  BootTime scanned_at{};         // when the latest good scan began
  BootTime pass_begin{};         // of the latest one
  Programs::Visit take = [this](std::span<const std::byte> bytes) { Take(bytes); };
  kepler_totals before{};        // at the previous scan
  uint64_t cgroups_dropped = 0;  // at the latest walk
  bool walked = false;
  uint64_t executables_since = 0;
  uint64_t malformed = 0;
  Nanoseconds lost_seen{0};     // at the previous scan
  Nanoseconds lost_in_root{0};  // since then, where no usage shows it
  uint64_t skipped = 0;         // runs of programs that the kernel left out
  log::LogLimiter limiter;
};

void BpfSource::Impl::Take(std::span<const std::byte> bytes) {
  const auto record = ParseRecord(bytes);
  if (!record) {
    ++malformed;
    if (const auto verdict = limiter.Ask("record", clock.Now()); verdict.pass)
      log::Error("a record of our own BPF programs makes no sense, it is left out",
                 {{"err", record.error().message}, {"suppressed", std::to_string(verdict.suppressed)}});
    return;
  }
  if (const auto* const freed = std::get_if<FreedRecord>(&*record)) {
    table.AddFreed(freed->task);
  } else if (const auto* const exec = std::get_if<ExecRecord>(&*record)) {
    table.AddExec(exec->tgid, exec->start, exec->path);
  } else if (const auto* const moved = std::get_if<MovedRecord>(&*record)) {
    if (moved->hierarchy == cgroups.accounted_hierarchy())
      table.AddMove(moved->tgid, moved->start, {moved->ran, moved->from});
  } else if (const auto* const cgroup = std::get_if<CgroupRecord>(&*record)) {
    if (cgroup->made)
      cgroups.Made(cgroup->hierarchy, cgroup->id, cgroup->path);
    else
      cgroups.Removed(cgroup->hierarchy, cgroup->id);
  }
}

void BpfSource::Impl::DrainRing() {
  programs->Drain(take);
  while (const auto dropped = programs->TakeDropped()) {
    const Nanoseconds lost = table.AddDropped(*dropped);
    if (cgroups.accounted_hierarchy() == 0 && dropped->cgroup_v2 == kUnifiedRoot) lost_in_root += lost;
  }
}

/// At first, and whenever something about cgroups was not reported.
bool BpfSource::Impl::MustWalk() {
  const kepler_totals totals = programs->Totals();
  const uint64_t dropped = totals.dropped[KEPLER_CGROUP_MADE] + totals.dropped[KEPLER_CGROUP_REMOVED];
  const bool reported_all = walked && programs->reports_cgroups() && dropped == cgroups_dropped;
  cgroups_dropped = dropped;
  walked = true;
  return !reported_all;
}

/// Where exe of others may not be read: the kernel reports it of those that are new since the previous scan, which
/// began at `executables_since`.
void BpfSource::Impl::ReportExecutables(BootTime begin) {
  if (!files.exe_refused() || !programs->reports_executables()) return;
  const auto fd = programs->OpenExecutables(std::exchange(executables_since, SinceBoot(begin)));
  if (!fd) return;
  // What cannot be read now is a label, and is asked for again when it changes.
  static_cast<void>(rows.Read<kepler_executable>(fd->get(), [this](const kepler_executable& row) {
    table.AddExecutable(row.tgid, row.start, os::StripDeleted(PathOf(row)));
  }));
}

void BpfSource::Impl::SplitSlices() {
  const auto split = programs->SplitSlices();
  if (split) return;
  if (const auto verdict = limiter.Ask("slices", clock.Now()); verdict.pass)
    log::Warn("performance events of running tasks are counted when they leave their processor only",
              {{"err", split.error().message}, {"suppressed", std::to_string(verdict.suppressed)}});
}

Status BpfSource::Impl::Pass(ActivitySample& out) {
  const auto& stat = proc_stat->Read();
  made = stat ? stat->tasks_made : std::nullopt;
  living = 0;
  hidden.BeforePass(clock.Now());
  const BootTime begin = clock.Now();
  programs->SetLastScan(SinceBoot(begin));
  pass_begin = begin;
  table.BeginPass(begin);
  if (programs->counts_events()) SplitSlices();
  KEPLER_TRY(const UniqueFd fd, programs->OpenTasks());
  KEPLER_CHECK_OK(rows.Read<kepler_task>(fd.get(), [this](const kepler_task& row) {
    ++living;
    table.AddRow(row);
  }));
  if (living == 0) return Fail(ErrorKind::kUnavailable, "read BPF iterator over tasks: it shows none, not even this");
  const BootTime end = clock.Now();
  out.taken_at = begin + (end - begin) / 2;
  status.iterator_time += end - begin;
  hidden.AfterPass(table);
  ReportExecutables(begin);
  return {};
}

/// Everything by which the records may be incomplete.
uint64_t BpfSource::Impl::Losses() {
  const kepler_totals totals = programs->Totals();
  const uint64_t dropped = totals.dropped[KEPLER_TASK_FREED];
  const uint64_t ends = totals.records[KEPLER_TASK_FREED] + dropped;
  const bool is_of_latest = totals.soon_of == SinceBoot(pass_begin);
  return unreported_ends.Update(ends) + unreported_ends.Suspect(is_of_latest ? totals.ended_soon : ends) + dropped +
         table.unheld() + skipped + malformed + hidden.found();
}

void BpfSource::Impl::Account(ActivitySample& out) {
  const kepler_totals totals = programs->Totals();
  // What the usages of the cgroups show is theirs.
  const Nanoseconds lost = Lost(totals);
  out.lost = audit.possible() ? lost_in_root : lost - lost_seen;
  lost_in_root = Nanoseconds{0};
  lost_seen = lost;
  const auto more = [&](size_t kind) { return totals.dropped[kind] > before.dropped[kind]; };
  if (more(KEPLER_EXEC)) {
    table.DoubtExes();
    executables_since = 0;
  }
  if (more(KEPLER_TASK_FREED) || more(KEPLER_EXEC)) {
    const auto verdict = limiter.Ask("dropped", clock.Now());
    if (verdict.pass)
      log::Warn(
          "records of ended processes were dropped, the ring buffer was full: their time is known by their cgroups "
          "only, or lost",
          {{"dropped", std::to_string(totals.dropped[KEPLER_TASK_FREED])},
           {"lost_seconds", fmt::format("{:.3f}", std::chrono::duration<double>(lost_seen).count())},
           {"suppressed", std::to_string(verdict.suppressed)}});
  }
  status.lost += out.lost;
  UpdateStatus(totals);
  before = totals;
}

void BpfSource::Impl::UpdateStatus(const kepler_totals& totals) {
  const uint64_t ended = totals.records[KEPLER_TASK_FREED] + totals.dropped[KEPLER_TASK_FREED];
  const uint64_t unreported = made ? unreported_ends.Update(*made, living, ended) : 0;
  const RunStats stats = programs->ReadRunStats();
  status.records = {
      {"task", totals.records[KEPLER_TASK_FREED], totals.dropped[KEPLER_TASK_FREED] + table.unheld()},
      {"exec", totals.records[KEPLER_EXEC], totals.dropped[KEPLER_EXEC]},
      {"cgroup", totals.records[KEPLER_CGROUP_MADE] + totals.records[KEPLER_CGROUP_REMOVED],
       totals.dropped[KEPLER_CGROUP_MADE] + totals.dropped[KEPLER_CGROUP_REMOVED]},
      {"moved", totals.records[KEPLER_TASK_MOVED], totals.dropped[KEPLER_TASK_MOVED]},
      {"unreported", 0, unreported, true},
      {"slice", 0, totals.switch_gaps, true},
      {"skipped", 0, stats.missed, true},
  };
  skipped = stats.missed;
  status.audit = audit.status();
  status.program_time = stats.time;
  status.program_runs = stats.runs;
  status.vanished = files.vanished();
  status.failed_reads = files.failed() + hidden.failed() + malformed;
}

Result<std::unique_ptr<BpfSource>> BpfSource::Create(const BpfOptions& options, const Clock& clock) {
  const Facts facts = ReadFacts(options.procfs);
  KEPLER_CHECK_OK(MayTry(facts));
  const cgroup::Trees trees = cgroup::FindTrees(options.sysfs, options.procfs);
  auto impl = std::make_unique<Impl>(options, clock, trees);
  impl->counters = OpenCounters(options.counters);
  auto programs = Programs::Load({.with_cpuacct = trees.cpuacct.has_value(),
                                  .counters = impl->counters ? &*impl->counters : nullptr,
                                  .btf_path = options.btf_path});
  if (!programs) {
    const std::string missing = Missing(facts);
    return Fail(programs.error().kind,
                programs.error().message + (missing.empty() ? std::string() : "; missing here: " + missing));
  }
  impl->programs = *std::move(programs);
  if (!impl->programs->counts_events()) impl->counters.reset();
  const auto& left_out = impl->programs->left_out();
  log::Info("CPU time comes from BPF",
            {{"left_out", left_out.empty() ? "nothing" : fmt::format("{}", fmt::join(left_out, " "))},
             {"counters", impl->programs->counts_events() ? "yes" : "no"}});
  return std::unique_ptr<BpfSource>(new BpfSource(std::move(impl)));
}

BpfSource::BpfSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BpfSource::~BpfSource() = default;

Status BpfSource::Sample(ActivitySample& out) {
  Impl& my = *impl_;
  out.Clear();
  const BootTime begin = my.clock.Now();
  my.cgroups.BeginScan(begin);
  my.DrainRing();
  if (my.MustWalk()) my.cgroups.Walk();
  my.audit.BeforePass(my.table, my.clock, my.Losses(), my.status);
  if (Status failed = my.Pass(out); !failed) {
    my.audit.Abandon();
    my.status.up = false;
    return failed;
  }
  my.table.EndPass(out);
  my.audit.Book(out, my.cgroups, my.table);
  my.Account(out);
  my.scanned_at = begin;
  my.status.up = true;
  my.status.last_success = my.clock.Wall();
  return {};
}

Handover BpfSource::HandOver(ActivitySample& last) {
  Impl& my = *impl_;
  last.Clear();
  my.DrainRing();
  Handover handover{my.scanned_at, my.table.HandOver(last)};
  my.audit.HandOver(last);
  last.lost = my.Lost(my.programs->Totals()) - my.lost_seen;
  my.status.lost += last.lost;
  return handover;
}

int BpfSource::WakeFd() const { return impl_->programs->ring_fd(); }
void BpfSource::Drain() { impl_->DrainRing(); }
std::span<const cgroup::CgroupPtr> BpfSource::LivingCgroups() const { return impl_->cgroups.living(); }
const snapshot::ActivityStatus& BpfSource::status() const { return impl_->status; }

}  // namespace kepler::activity::bpf
