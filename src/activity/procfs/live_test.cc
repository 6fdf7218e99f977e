// ProcfsSource on the kernel that runs the tests.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "activity/behaviour_suite.h"
#include "activity/procfs/procfs_source.h"

namespace kepler::activity {
namespace {

struct ProcfsFactory {
  static constexpr Guarantees kGuarantees = {.names_short_lived_processes = false,
                                             .reports_last_slice = false,
                                             .remembers_gone_cgroups = false,
                                             .max_relative_error = 0.05};
  static std::unique_ptr<ActivitySource> Make(const Clock& clock) {
    return std::make_unique<procfs::ProcfsSource>(
        procfs::ProcfsOptions{.procfs = "/proc", .sysfs = "/sys", .with_uids = true}, clock);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Procfs, ActivityBehaviour, ProcfsFactory);

long OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST(ProcfsLive, Scanning_KeepsOneDescriptorWhateverIsThere) {
  const SystemClock clock;
  const auto before = OpenDescriptors();
  const auto source = ProcfsFactory::Make(clock);
  ActivitySample sample;
  ASSERT_TRUE(source->Sample(sample));
  EXPECT_LE(OpenDescriptors(), before + 1);
  ASSERT_TRUE(source->Sample(sample));
  EXPECT_LE(OpenDescriptors(), before + 1);
}

TEST(ProcfsLive, FewDescriptorsAllowed_IsEnough) {
  const SystemClock clock;
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low = {.rlim_cur = static_cast<rlim_t>(OpenDescriptors() + 8), .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto source = ProcfsFactory::Make(clock);
  ActivitySample sample;
  const auto first = source->Sample(sample);
  const auto second = source->Sample(sample);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(first && second);
  EXPECT_GT(sample.processes.size(), 1U);
  EXPECT_EQ(source->status().failed_cgroup_reads, 0U);
}

TEST(ProcfsLive, SteadyState_TheSampleDoesNotGrow) {
  const SystemClock clock;
  const auto source = ProcfsFactory::Make(clock);
  ActivitySample sample;
  for (int scan = 0; scan < 3; ++scan) ASSERT_TRUE(source->Sample(sample));
  const auto* const rows = sample.processes.data();
  ASSERT_TRUE(source->Sample(sample));
  EXPECT_EQ(sample.processes.data(), rows);
}

/// Looks often enough to have read the labels of everyone more than once; whether a refusal was counted again.
bool CountsRefusalsAgain() {
  const SystemClock clock;
  const auto source = ProcfsFactory::Make(clock);
  ActivitySample sample;
  std::set<std::pair<int32_t, uint64_t>> seen;
  // Processes that begin meanwhile do not count: on a busy machine there are more at each scan.
  size_t at_first = 0;
  for (size_t scan = 0; scan < 20 || scan * 16 < 4 * at_first; ++scan) {
    if (!source->Sample(sample)) return true;
    for (const ProcessSample& process : sample.processes)
      seen.emplace(process.info->key.tgid, process.info->key.start_ticks);
    if (scan == 0) at_first = seen.size();
  }
  return source->status().failed_reads > seen.size();
}

TEST(ProcfsLive, ExeThatMayNotBeRead_IsCountedOncePerProcess) {
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        ::_exit(CountsRefusalsAgain() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kepler::activity
