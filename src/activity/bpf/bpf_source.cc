#include "activity/bpf/bpf_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <thread>
#include <utility>
#include <variant>

#include "activity/bpf/facts.h"
#include "activity/bpf/records.h"
#include "activity/bpf/task_labels.h"
#include "cgroup/tree.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {
namespace {

constexpr uint64_t kUnifiedRoot = 1;  // kernfs id of the top of every hierarchy; the top of v2 has no usage of its own

}  // namespace

BpfSource::BpfSource(const BpfOptions& options, const Clock& clock, const cgroup::Trees& trees)
    : clock_(clock),
      proc_stat_(options.proc_stat ? options.proc_stat : std::make_shared<os::ProcStatReader>(options.procfs, clock)),
      cgroups_(trees, cgroup::ReadOwnLines(options.procfs)),
      files_(options.procfs),
      table_(cgroups_, files_),
      hidden_(options.procfs, trees, options.with_uids),
      audit_(trees, cgroup::ReadOwnLines(options.procfs)) {
  status_.name = "bpf";
  status_.time = options.time;
}

void BpfSource::Take(std::span<const std::byte> bytes) {
  const auto parsed = ParseRecord(bytes);
  if (!parsed) {
    ++malformed_;
    return limiter_.Say(log::Level::kError, "record", clock_.Now(), "ignored a malformed record of a BPF program",
                        {{"err", parsed.error().message}});
  }
  std::visit([this](const auto* record) { TakeIn(*record); }, *parsed);
}

void BpfSource::TakeIn(const kepler_task_freed& record) { table_.AddFreed(record.task); }

void BpfSource::TakeIn(const kepler_exec& record) { table_.AddExec(record.tgid, record.start, TextOf(record.path)); }

void BpfSource::TakeIn(const kepler_moved& record) {
  if (record.hierarchy == cgroups_.accounted_hierarchy())
    table_.AddMove(record.tgid, record.start, {record.ran, record.from});
}

void BpfSource::TakeIn(const kepler_cgroup& record) {
  if (record.record.kind == KEPLER_CGROUP_MADE)
    cgroups_.Made(record.hierarchy, record.id, PathOf(record));
  else
    cgroups_.Removed(record.hierarchy, record.id);
}

void BpfSource::Drain() {
  programs_->Drain(take_);
  while (const auto dropped = programs_->TakeDropped()) {
    const Nanoseconds lost = table_.AddDropped(*dropped);
    if (cgroups_.accounted_hierarchy() == 0 && dropped->cgroup_v2 == kUnifiedRoot) lost_in_root_ += lost;
  }
}

/// True at the first scan, and whenever a cgroup event was not reported.
bool BpfSource::MustWalk() {
  const kepler_totals totals = programs_->Totals();
  const uint64_t dropped = totals.dropped[KEPLER_CGROUP_MADE] + totals.dropped[KEPLER_CGROUP_REMOVED];
  const bool reported_all = walked_ && programs_->reports_cgroups() && dropped == cgroups_dropped_;
  cgroups_dropped_ = dropped;
  walked_ = true;
  return !reported_all;
}

/// Used where the exe of other users' processes is unreadable. The kernel reports executables of processes started
/// since the previous scan, which began at `executables_since_`.
void BpfSource::ReportExecutables(BootTime begin) {
  if (!files_.exe_refused() || !programs_->reports_executables()) return;
  const auto fd = programs_->OpenExecutables(std::exchange(executables_since_, SinceBoot(begin)));
  if (!fd) return;
  // A failed read costs only a label, which is requested again when the label changes.
  static_cast<void>(rows_.Read<kepler_executable>(fd->get(), [this](const kepler_executable& row) {
    table_.AddExecutable(row.tgid, row.start, os::StripDeleted(TextOf(row.path)));
  }));
}

void BpfSource::SplitSlices() {
  const auto split = programs_->SplitSlices();
  if (split) return;
  limiter_.Say(log::Level::kWarn, "slices", clock_.Now(),
               "failed to read performance counters of running tasks; they are counted at the next task switch",
               {{"err", split.error().message}});
}

Status BpfSource::Pass(ActivitySample& out) {
  const auto& stat = proc_stat_->Read();
  made_ = stat ? stat->tasks_made : std::nullopt;
  living_ = 0;
  hidden_.BeforePass(clock_.Now());
  const BootTime begin = clock_.Now();
  programs_->SetLastScan(SinceBoot(begin));
  pass_begin_ = begin;
  table_.BeginPass(begin);
  if (programs_->counts_events()) SplitSlices();
  KEPLER_TRY(const UniqueFd fd, programs_->OpenTasks());
  KEPLER_CHECK_OK(rows_.Read<kepler_task>(fd.get(), [this](const kepler_task& row) {
    ++living_;
    table_.AddRow(row);
  }));
  if (living_ == 0)
    return Fail(ErrorKind::kUnavailable, "read BPF iterator over tasks: it shows no task, not even this process");
  const BootTime end = clock_.Now();
  out.taken_at = begin + (end - begin) / 2;
  status_.iterator_time += end - begin;
  hidden_.AfterPass(table_);
  ReportExecutables(begin);
  return {};
}

Nanoseconds BpfSource::Lost(const kepler_totals& totals) const {
  return table_.lost() + Nanoseconds(static_cast<int64_t>(totals.lost));
}

/// Counts every event that makes the records incomplete.
uint64_t BpfSource::Losses() {
  const kepler_totals totals = programs_->Totals();
  const uint64_t dropped = totals.dropped[KEPLER_TASK_FREED];
  const uint64_t ends = totals.records[KEPLER_TASK_FREED] + dropped;
  const bool is_of_latest = totals.soon_of == SinceBoot(pass_begin_);
  return unreported_ends_.Update(ends) + unreported_ends_.Suspect(is_of_latest ? totals.ended_soon : ends) + dropped +
         table_.unheld() + skipped_ + malformed_ + hidden_.found();
}

void BpfSource::Account(ActivitySample& out) {
  const kepler_totals totals = programs_->Totals();
  // Lost time that the usages of the cgroups show belongs to those cgroups.
  const Nanoseconds lost = Lost(totals);
  out.lost = audit_.possible() ? lost_in_root_ : lost - lost_seen_;
  lost_in_root_ = Nanoseconds{0};
  lost_seen_ = lost;
  const auto more = [&](size_t kind) { return totals.dropped[kind] > before_.dropped[kind]; };
  if (more(KEPLER_EXEC)) {
    table_.DoubtExes();
    executables_since_ = 0;
  }
  if (more(KEPLER_TASK_FREED) || more(KEPLER_EXEC)) {
    limiter_.Say(log::Level::kWarn, "dropped", clock_.Now(),
                 "the ring buffer was full and records of ended processes were dropped; their CPU time is charged to "
                 "their cgroups or lost",
                 {{"dropped", std::to_string(totals.dropped[KEPLER_TASK_FREED])},
                  {"lost_seconds", fmt::format("{:.3f}", std::chrono::duration<double>(lost_seen_).count())}});
  }
  status_.lost += out.lost;
  UpdateStatus(totals);
  before_ = totals;
}

void BpfSource::UpdateStatus(const kepler_totals& totals) {
  const uint64_t ended = totals.records[KEPLER_TASK_FREED] + totals.dropped[KEPLER_TASK_FREED];
  const uint64_t unreported = made_ ? unreported_ends_.Update(*made_, living_, ended) : 0;
  const RunStats stats = programs_->ReadRunStats();
  status_.records = {
      {"task", totals.records[KEPLER_TASK_FREED], totals.dropped[KEPLER_TASK_FREED] + table_.unheld()},
      {"exec", totals.records[KEPLER_EXEC], totals.dropped[KEPLER_EXEC]},
      {"cgroup", totals.records[KEPLER_CGROUP_MADE] + totals.records[KEPLER_CGROUP_REMOVED],
       totals.dropped[KEPLER_CGROUP_MADE] + totals.dropped[KEPLER_CGROUP_REMOVED]},
      {"moved", totals.records[KEPLER_TASK_MOVED], totals.dropped[KEPLER_TASK_MOVED]},
      {"unreported", 0, unreported, true},
      {"slice", 0, totals.switch_gaps, true},
      {"skipped", 0, stats.missed, true},
  };
  skipped_ = stats.missed;
  status_.audit = audit_.status();
  status_.program_time = stats.time;
  status_.program_runs = stats.runs;
  status_.vanished = files_.vanished();
  status_.failed_reads = files_.failed() + hidden_.failed() + malformed_;
}

Result<std::unique_ptr<BpfSource>> BpfSource::Create(const BpfOptions& options, const Clock& clock) {
  const Facts facts = ReadFacts(options.procfs);
  KEPLER_CHECK_OK(MayTry(facts));
  const cgroup::Trees trees = cgroup::FindTrees(options.sysfs, options.procfs);
  std::unique_ptr<BpfSource> source(new BpfSource(options, clock, trees));
  if (options.counters != CounterKind::kOff) {
    if (auto counters = PerfCounters::Open(options.counters))
      source->counters_ = *std::move(counters);
    else
      log::Warn("performance counters are unavailable, using CPU time as weight", {{"err", counters.error().message}});
  }
  auto programs = Programs::Load({.with_cpuacct = trees.cpuacct.has_value(),
                                  .with_uids = options.with_uids,
                                  .counters = source->counters_ ? &*source->counters_ : nullptr});
  if (!programs) {
    const std::string missing = Missing(facts);
    return Fail(programs.error().kind,
                programs.error().message + (missing.empty() ? std::string() : "; missing here: " + missing));
  }
  source->programs_ = *std::move(programs);
  const bool counts = source->programs_->counts_events();
  source->status_.counts_events = counts;
  if (!counts) source->counters_.reset();
  const auto& left_out = source->programs_->left_out();
  const std::string with_counters = counts ? "yes" : "no";
  if (left_out.empty())
    log::Info("reading CPU time by BPF", {{"counters", with_counters}});
  else
    log::Info("reading CPU time by BPF",
              {{"left_out", fmt::format("{}", fmt::join(left_out, " "))}, {"counters", with_counters}});
  return source;
}

Status BpfSource::Sample(ActivitySample& out) {
  out.Clear();
  const BootTime begin = clock_.Now();
  cgroups_.BeginScan(begin);
  Drain();
  awaited_.Await(table_, files_, clock_, [this] {
    std::this_thread::sleep_for(AwaitedEnds::kPause);
    Drain();
  });
  if (MustWalk()) cgroups_.Walk();
  audit_.BeforePass(table_, clock_, Losses(), status_);
  if (Status failed = Pass(out); !failed) {
    audit_.Abandon();
    status_.up = false;
    return failed;
  }
  table_.EndPass(out);
  awaited_.Note(out);
  audit_.Book(out, cgroups_, table_);
  Account(out);
  scanned_at_ = begin;
  status_.up = true;
  status_.last_success = clock_.Wall();
  return {};
}

Handover BpfSource::HandOver(ActivitySample& last) {
  last.Clear();
  // Records of the latest ends are on their way, and nobody reads them afterwards.
  std::this_thread::sleep_for(Nanoseconds(KEPLER_SOON_NS));
  Drain();
  Handover handover{scanned_at_, table_.HandOver(last)};
  audit_.Charge(last);
  last.lost = Lost(programs_->Totals()) - lost_seen_;
  status_.lost += last.lost;
  return handover;
}

}  // namespace kepler::activity::bpf
