// What it costs to find out what a new process is.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "cgroup/owner.h"
#include "os/procfs.h"
#include "workload/hypervisor/kvm_descriptors.h"

namespace kepler::workload {
namespace {

constexpr std::string_view kPath =
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0.slice/"
    "cri-containerd-3f29c0de5a1b4e7d8c9f00112233445566778899aabbccddeeff001122334455.scope";

/// The v1 controllers of a hybrid machine, all with the same path.
std::string HybridCgroupFile() {
  std::string text;
  int hierarchy = 12;
  for (const char* controllers : {"rdma", "pids", "hugetlb", "net_cls,net_prio", "perf_event", "memory", "devices",
                                  "freezer", "blkio", "cpuset", "cpu,cpuacct", "name=systemd", ""}) {
    text.append(std::to_string(hierarchy--)).append(":").append(controllers).append(":").append(kPath).append("\n");
  }
  return text;
}

void OwnerOfOnePath(benchmark::State& state, std::string_view path) {
  for (auto _ : state) benchmark::DoNotOptimize(cgroup::OwnerOfPath(path));
}
BENCHMARK_CAPTURE(OwnerOfOnePath, pod, kPath);
BENCHMARK_CAPTURE(OwnerOfOnePath, service, "/system.slice/system-getty.slice/getty@tty1.service");

void ParseHybridCgroupFile(benchmark::State& state) {
  const std::string text = HybridCgroupFile();
  for (auto _ : state) benchmark::DoNotOptimize(os::ParseCgroupLines(text));
}
BENCHMARK(ParseHybridCgroupFile);

void OwnerOfHybridMembership(benchmark::State& state) {
  const auto membership = os::ParseCgroupLines(HybridCgroupFile());
  if (!membership) return state.SkipWithError(membership.error().message.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(cgroup::NamingLine(*membership));
}
BENCHMARK(OwnerOfHybridMembership);

/// A process with additional descriptors, none of them of a machine.
void LookForAMachine(benchmark::State& state) {
  std::vector<UniqueFd> opened;
  opened.reserve(static_cast<size_t>(state.range(0)));
  for (int64_t i = 0; i < state.range(0); ++i) opened.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const SystemClock clock;
  hypervisor::KvmDescriptors descriptors("/proc", clock);
  for (auto _ : state) {
    descriptors.BeginScan();  // reads /proc/misc again, which a scan does once
    benchmark::DoNotOptimize(descriptors.Look(::getpid()));
  }
}
BENCHMARK(LookForAMachine)->Arg(0)->Arg(16)->Arg(128)->Arg(1000);

}  // namespace
}  // namespace kepler::workload
