// BpfSource on the kernel that runs the tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "activity/behaviour_suite.h"
#include "activity/bpf/bpf_options_test_util.h"
#include "activity/bpf/bpf_source.h"

namespace kepler::activity {
namespace {

struct BpfFactory {
  static constexpr Guarantees kGuarantees = {.names_short_lived_processes = true,
                                             .reports_last_slice = true,
                                             .remembers_gone_cgroups = true,
                                             .max_relative_error = 0.002};
  static std::unique_ptr<ActivitySource> Make(const Clock& clock) {
    auto source = bpf::BpfSource::Create(bpf::kHere, clock);
    if (source) return *std::move(source);
    ADD_FAILURE() << source.error().message;
    return nullptr;
  }
};

TEST(BpfSourceLive, WithoutUsers_UsersAreUnknown) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const SystemClock clock;
  const auto source = bpf::BpfSource::Create({.procfs = "/proc", .sysfs = "/sys"}, clock);
  ASSERT_TRUE(source) << source.error().message;
  ActivitySample sample;
  ASSERT_TRUE((*source)->Sample(sample));
  bool found_kernel_thread = false;
  for (const ProcessSample& process : sample.processes) {
    EXPECT_EQ(process.info->uid, kUnknownUid) << process.info->comm;
    found_kernel_thread |= process.info->kernel_thread;
  }
  EXPECT_TRUE(found_kernel_thread);
}

using BpfBehaviour = ActivityBehaviour<BpfFactory>;

/// The record comes after a grace period of RCU; the process has left the list of tasks before.
TEST_F(BpfBehaviour, BusyProcessThatEndsRightBeforeAScan_IsInThatScan) {
  Scan();
  RepeatWhereUnreported([&]() -> Miss {
    Worker worker([] { BurnCpu(std::chrono::milliseconds(40)); });
    const pid_t pid = worker.pid();
    Forget();
    worker.Step();
    Scan();
    const auto* child = Find(pid);
    EXPECT_NE(child, nullptr);
    if (child == nullptr) return {};
    const Slot slot = child->slot;
    worker.Step();
    const Nanoseconds whole = worker.End();
    Scan();
    const Nanoseconds missing = whole - given_to_slot_[slot];
    if (missing < std::chrono::milliseconds(1)) return {};
    return {1, std::to_string(missing.count()) + " of " + std::to_string(whole.count()) + " ns are missing"};
  });
}

/// A kernel may not report some ends: most of five must be there.
TEST_F(BpfBehaviour, ProcessesThatEndRightBeforeAHandover_AreInIt) {
  constexpr int kWorkers = 5;
  std::array<std::optional<Worker>, kWorkers> workers;
  for (auto& worker : workers) worker.emplace([] { BurnCpu(std::chrono::milliseconds(20)); });
  Scan();
  for (auto& worker : workers) worker->Step();
  for (auto& worker : workers) worker.reset();
  ActivitySample last;
  static_cast<void>(source_->HandOver(last));
  EXPECT_GE(std::ranges::count_if(
                last.exited, [](const ExitedSample& exited) { return exited.cpu > std::chrono::milliseconds(19); }),
            3);
}

INSTANTIATE_TYPED_TEST_SUITE_P(Bpf, ActivityBehaviour, BpfFactory);

}  // namespace
}  // namespace kepler::activity
