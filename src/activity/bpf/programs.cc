#include "activity/bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <string_view>

#include <activity.skel.h>

#include "activity/bpf/libbpf_log.h"

namespace kepler::activity::bpf {

void FreeBpf::operator()(activity_programs* skeleton) const { activity_programs__destroy(skeleton); }
void FreeBpf::operator()(bpf_link* link) const { ::bpf_link__destroy(link); }
void FreeBpf::operator()(ring_buffer* ring) const { ::ring_buffer__free(ring); }

namespace {

/// Programs that may be left out. Without "tasks" and "on_task_freed" there is no accounting.
constexpr std::array<std::string_view, 8> kOptional = {"on_switch",   "on_fork",        "split_slice",
                                                       "executables", "on_cgroup_made", "on_cgroup_removed",
                                                       "on_exec",     "on_task_moved"};

bool Contains(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

/// More CPUs end more threads at once. The ring counts twice in the agent's resident memory, because user space maps it
/// twice.
uint32_t RingBytes() {
  constexpr uint64_t kPerProcessor = 128 << 10;
  const auto processors = static_cast<uint64_t>(std::max(::libbpf_num_possible_cpus(), 1));
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(std::bit_ceil(processors * kPerProcessor), KEPLER_MIN_RING_BYTES, KEPLER_MAX_RING_BYTES));
}

bool IsForCounters(std::string_view program) {
  return program == "on_switch" || program == "on_fork" || program == "split_slice";
}

/// Returns "load BPF programs: Operation not permitted", plus libbpf's message if that has more detail.
std::unexpected<Error> FailLoad(std::string_view what, int error, const LibbpfLog& log) {
  auto failed = FailErrno(what, "BPF programs", error);
  const std::string reason = log.Reason();
  const bool is_privilege = failed.error().kind == ErrorKind::kPermission;
  if (!is_privilege && !reason.empty()) failed.error().message += " (" + reason + ")";
  return failed;
}

Result<Skeleton> Open(const ProgramsOptions& options, const std::vector<std::string>& left_out, const LibbpfLog& log) {
  bpf_object_open_opts open = {};
  open.sz = sizeof(open);
  if (!options.btf_path.empty()) open.btf_custom_path = options.btf_path.c_str();
  Skeleton skeleton(activity_programs__open_opts(&open));
  if (!skeleton) return FailLoad("open BPF object", errno, log);
  skeleton->rodata->with_cpuacct = options.with_cpuacct;
  skeleton->rodata->with_uids = options.with_uids;
  const bool with_counters = options.counters != nullptr && std::ranges::none_of(left_out, IsForCounters);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj) {
    const std::string_view name = ::bpf_program__name(program);
    ::bpf_program__set_autoload(program, !Contains(left_out, name) && (with_counters || !IsForCounters(name)));
  }
  skeleton->rodata->with_counters = with_counters;
  skeleton->rodata->ring_bytes = RingBytes();
  ::bpf_map__set_max_entries(skeleton->maps.ring, RingBytes());
  // Task storage is a further kernel requirement (Linux 5.12).
  ::bpf_map__set_autocreate(skeleton->maps.task_counters, with_counters);
  for (bpf_map* map : {skeleton->maps.cycles, skeleton->maps.instructions, skeleton->maps.cache_misses})
    ::bpf_map__set_max_entries(map, with_counters ? static_cast<uint32_t>(::libbpf_num_possible_cpus()) : 1);
  return skeleton;
}

}  // namespace

Status Programs::LoadAll(const ProgramsOptions& options) {
  left_out_ = options.leave_out;
  for (;;) {
    const LibbpfLog log;
    KEPLER_TRY(skeleton_, Open(options, left_out_, log));
    const int error = activity_programs__load(skeleton_.get());
    if (error == 0) return {};
    std::string refused = log.Refused();
    // With counters every program needs more kernel features.
    const bool required = !Contains(kOptional, refused);
    if (required && options.counters != nullptr && !Contains(left_out_, "on_switch")) refused = "on_switch";
    if (!Contains(kOptional, refused) || Contains(left_out_, refused)) return FailLoad("load", -error, log);
    left_out_.push_back(refused);
  }
}

Status Programs::AttachAll() {
  bool made = false;
  bool removed = false;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton_->obj) {
    if (!::bpf_program__autoload(program)) continue;
    const LibbpfLog log;
    const std::string_view name = ::bpf_program__name(program);
    if (name == "split_slice") continue;  // runs only on request
    bpf_link* const link = ::bpf_program__attach(program);
    if (link == nullptr) {
      if (!Contains(kOptional, name)) return FailLoad(fmt::format("attach {}", name), errno, log);
      left_out_.emplace_back(name);
      continue;
    }
    links_.emplace_back(link);
    if (name == "tasks") tasks_ = link;
    if (name == "executables") executables_ = link;
    made |= name == "on_cgroup_made";
    removed |= name == "on_cgroup_removed";
  }
  reports_cgroups_ = made && removed;
  return {};
}

int Programs::Hand(void* context, void* data, size_t size) {
  const auto* const self = static_cast<const Programs*>(context);
  (*self->visit_)({static_cast<const std::byte*>(data), size});
  return 0;
}

Status Programs::OpenRing() {
  ring_.reset(::ring_buffer__new(::bpf_map__fd(skeleton_->maps.ring), Hand, this, nullptr));
  if (!ring_) return FailErrno("map", "BPF ring buffer");
  return {};
}

Status Programs::ConnectCounters(size_t cpu) {
  const std::array<bpf_map*, KEPLER_COUNTERS> maps = {skeleton_->maps.cycles, skeleton_->maps.instructions,
                                                      skeleton_->maps.cache_misses};
  for (size_t event = 0; event < maps.size(); ++event) {
    if (!counters_->fd(event, cpu).valid()) continue;
    const auto key = static_cast<uint32_t>(cpu);
    const int fd = counters_->fd(event, cpu).get();
    if (::bpf_map_update_elem(::bpf_map__fd(maps[event]), &key, &fd, BPF_ANY) != 0)
      return FailErrno("connect", "performance counter");
  }
  return {};
}

Result<std::unique_ptr<Programs>> Programs::Load(const ProgramsOptions& options) {
  std::unique_ptr<Programs> programs(new Programs);
  KEPLER_CHECK_OK(programs->LoadAll(options));
  if (programs->skeleton_->rodata->with_counters) {
    programs->counters_ = options.counters;
    for (size_t cpu = 0; cpu < options.counters->cpus(); ++cpu) KEPLER_CHECK_OK(programs->ConnectCounters(cpu));
  }
  KEPLER_CHECK_OK(programs->OpenRing());
  KEPLER_CHECK_OK(programs->AttachAll());
  if (options.counters != nullptr && std::ranges::any_of(programs->left_out_, IsForCounters)) {
    // If one program loads but cannot be attached, the others are useless on the path of every context switch.
    ProgramsOptions without = options;
    without.counters = nullptr;
    without.leave_out = programs->left_out_;
    programs.reset();
    return Load(without);
  }
  return programs;
}

Result<UniqueFd> Programs::OpenTasks() {
  UniqueFd fd(::bpf_iter_create(::bpf_link__fd(tasks_)));
  if (!fd.valid()) return FailErrno("open", "BPF iterator over tasks");
  return fd;
}

Result<UniqueFd> Programs::OpenExecutables(uint64_t since) {
  if (executables_ == nullptr) return Fail(ErrorKind::kUnavailable, "open BPF iterator over executables");
  std::atomic_ref(skeleton_->bss->executables_since).store(since, std::memory_order_relaxed);
  UniqueFd fd(::bpf_iter_create(::bpf_link__fd(executables_)));
  if (!fd.valid()) return FailErrno("open", "BPF iterator over executables");
  return fd;
}

bool Programs::counts_events() const {
  return skeleton_->rodata->with_counters && std::ranges::none_of(left_out_, IsForCounters);
}

void Programs::SetLastScan(uint64_t since_boot) {
  std::atomic_ref(skeleton_->bss->totals.last_scan).store(since_boot, std::memory_order_relaxed);
}

Status Programs::SplitSlices() {
  const int fd = ::bpf_program__fd(skeleton_->progs.split_slice);
  bpf_test_run_opts run = {};
  run.sz = sizeof(run);
  run.flags = BPF_F_TEST_RUN_ON_CPU;
  for (size_t cpu = 0; cpu < counters_->cpus(); ++cpu) {
    run.cpu = static_cast<uint32_t>(cpu);
    const int error = ::bpf_prog_test_run_opts(fd, &run);
    if (error == -ENXIO) continue;  // the CPU is offline
    if (error != 0) return FailErrno("run on every processor", "BPF program split_slice", -error);
    if (counters_->Reopen(cpu)) KEPLER_CHECK_OK(ConnectCounters(cpu));
  }
  return {};
}

kepler_totals Programs::Totals() const {
  // The kernel adds to the totals during the read. Each value is whole, and the next scan includes later additions.
  kepler_totals& from = skeleton_->bss->totals;
  const auto load = [](auto& figure) { return std::atomic_ref(figure).load(std::memory_order_relaxed); };
  kepler_totals totals = {};
  // The kernel writes soon_of after ended_soon. If soon_of is that of the latest pass, ended_soon is valid too.
  totals.soon_of = std::atomic_ref(from.soon_of).load(std::memory_order_acquire);
  totals.ended_soon = load(from.ended_soon);
  for (size_t kind = 0; kind < KEPLER_RECORD_KINDS; ++kind) {
    totals.records[kind] = load(from.records[kind]);
    totals.dropped[kind] = load(from.dropped[kind]);
  }
  totals.lost = load(from.lost);
  totals.switch_gaps = load(from.switch_gaps);
  return totals;
}

RunStats Programs::ReadRunStats() const {
  RunStats stats;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton_->obj) {
    const int fd = ::bpf_program__fd(program);
    bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    if (fd < 0 || ::bpf_obj_get_info_by_fd(fd, &info, &size) != 0) continue;
    stats.time += Nanoseconds(static_cast<int64_t>(info.run_time_ns));
    stats.runs += info.run_cnt;
    stats.missed += info.recursion_misses;
  }
  return stats;
}

int Programs::ring_fd() const { return ::ring_buffer__epoll_fd(ring_.get()); }

void Programs::Drain(const Visit& visit) {
  visit_ = &visit;
  ::ring_buffer__consume(ring_.get());
  visit_ = nullptr;
}

std::optional<kepler_dropped> Programs::TakeDropped() {
  kepler_dropped process = {};
  if (::bpf_map_lookup_and_delete_elem(::bpf_map__fd(skeleton_->maps.dropped), nullptr, &process) != 0)
    return std::nullopt;
  return process;
}

}  // namespace kepler::activity::bpf
