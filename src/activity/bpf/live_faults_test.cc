// What goes wrong on real kernels: no privilege, less BTF, a full ring, a namespace of one's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "activity/bpf/bpf_source.h"
#include "activity/bpf/facts.h"
#include "activity/bpf/programs.h"
#include "activity/live_test_util.h"
#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::HasSubstr;

const BpfOptions kHere = {.procfs = "/proc", .sysfs = "/sys"};

/// What `work` says, run in a child process that may throw its privileges away.
std::string InChild(const std::function<std::string()>& work) {
  int answer[2] = {-1, -1};
  if (::pipe2(answer, O_CLOEXEC) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string said = work();
    [[maybe_unused]] const ssize_t ignored = ::write(answer[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(answer[1]);
  std::string said;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(answer[0], buffer, sizeof(buffer))) > 0;)
    said.append(buffer, static_cast<size_t>(got));
  ::close(answer[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

/// The nobody of uid 65534, with these capabilities and no other.
void BecomeNobodyWith(std::initializer_list<int> capabilities) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[2] = {};
  for (const int capability : capabilities) {
    const uint32_t bit = uint32_t{1} << (capability % 32);
    data[capability / 32].permitted |= bit;
    data[capability / 32].effective |= bit;
  }
  if (::prctl(PR_SET_KEEPCAPS, 1) != 0 || ::setresgid(65534, 65534, 65534) != 0 ||
      ::setresuid(65534, 65534, 65534) != 0 || ::syscall(SYS_capset, &header, data) != 0)
    std::abort();
}

std::string Look(const BpfOptions& options = kHere) {
  const SystemClock clock;
  auto source = BpfSource::Create(options, clock);
  if (!source) return source.error().message;
  ActivitySample sample;
  const auto looked = (*source)->Sample(sample);
  return looked ? "ok" : looked.error().message;
}

/// The running kernel's BTF in which the member `name` has another name.
std::string BtfWithout(std::string_view name, const testing::FakeTree& tree) {
  std::string btf = os::ReadWholeFile("/sys/kernel/btf/vmlinux").value_or("");
  const std::string text = std::string("\0", 1) + std::string(name) + std::string("\0", 1);
  const auto at = btf.find(text);
  EXPECT_NE(at, std::string::npos) << name;
  btf.replace(at + 1, 1, "_");
  std::ofstream(tree.Path("btf"), std::ios::binary) << btf;
  return tree.Path("btf");
}

class BpfFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give up its privileges";
  }
};

TEST_F(BpfFaults, NobodyWithTwoCapabilities_IsEnough) {
  EXPECT_EQ(InChild([] {
              BecomeNobodyWith({CAP_BPF, CAP_PERFMON});
              return Look();
            }),
            "ok");
}

TEST_F(BpfFaults, NobodyWithLess_IsToldWhatIsMissing) {
  EXPECT_THAT(InChild([] {
                BecomeNobodyWith({});
                return Look();
              }),
              HasSubstr("missing here: CAP_BPF, CAP_PERFMON"));
  EXPECT_THAT(InChild([] {
                BecomeNobodyWith({CAP_BPF});
                return Look();
              }),
              HasSubstr("missing here: CAP_PERFMON"));
}

TEST_F(BpfFaults, CapabilitiesDroppedWhileItRuns_ItGoesOnOrSaysWhy) {
  const std::string said = InChild([] {
    const SystemClock clock;
    auto source = BpfSource::Create(kHere, clock);
    if (!source) return source.error().message;
    BecomeNobodyWith({});
    ActivitySample sample;
    const auto looked = (*source)->Sample(sample);
    if (!looked) return "refused: " + looked.error().message + ((*source)->Health().up ? " up" : "");
    return std::string(sample.processes.empty() ? "empty" : "ok");
  });
  // Up to Linux 5.16 every bpf(2) needs the capability where unprivileged_bpf_disabled is set.
  EXPECT_TRUE(said == "ok" || said == "refused: open BPF iterator over tasks: Operation not permitted") << said;
}

TEST_F(BpfFaults, OwnPidNamespace_IsNotTried) {
  EXPECT_THAT(InChild([] {
                if (::unshare(CLONE_NEWPID) != 0) return std::string("unshare");
                return InChild([] { return Look(); });
              }),
              HasSubstr("pid namespace of its own"));
}

/// A kernel may have no readable configuration: guests of the kernel matrix have none.
Result<std::unique_ptr<Programs>> LoadWithout(const std::string& field, const testing::FakeTree& tree) {
  return Programs::Load({.kernel_config = ReadFacts("/proc").kernel_config, .btf_path = BtfWithout(field, tree)});
}

TEST_F(BpfFaults, BtfWithoutAFieldOfOneProgram_CostsThatProgramOnly) {
  const testing::FakeTree tree;
  const auto programs = LoadWithout("interp", tree);
  ASSERT_TRUE(programs) << programs.error().message;
  EXPECT_THAT((*programs)->left_out(), ::testing::ElementsAre("on_exec"));
  EXPECT_TRUE((*programs)->OpenTasks());
}

TEST_F(BpfFaults, BtfWithoutAFieldThatAllNeed_IsAnErrorThatSaysWhy) {
  const testing::FakeTree tree;
  const auto programs = LoadWithout("sum_exec_runtime", tree);
  ASSERT_FALSE(programs);
  EXPECT_THAT(programs.error().message, HasSubstr("load"));
}

TEST_F(BpfFaults, BtfThatIsNone_IsAnError) {
  testing::FakeTree tree;
  EXPECT_FALSE(Programs::Load({.btf_path = tree.Path("absent")}));
  tree.Write("garbage", "no BTF at all");
  EXPECT_FALSE(Programs::Load({.btf_path = tree.Path("garbage")}));
}

TEST_F(BpfFaults, UnreadableKernelConfig_LoadsAndTellsNothing) {
  const auto programs = Programs::Load({.kernel_config = false, .btf_path = ""});
  ASSERT_TRUE(programs) << programs.error().message;
  EXPECT_EQ((*programs)->Totals().irq_apart, 0U);
}

TEST_F(BpfFaults, CountersThatTheKernelDoesNotTake_CostNothingElse) {
  const auto counters = PerfCounters::Open(CounterKind::kSoftware);
  ASSERT_TRUE(counters) << counters.error().message;
  for (const char* refused : {"on_switch", "on_fork", "split_slice"}) {
    const auto programs = Programs::Load(
        {.counters = &*counters, .kernel_config = ReadFacts("/proc").kernel_config, .leave_out = {refused}});
    ASSERT_TRUE(programs) << refused << ": " << programs.error().message;
    EXPECT_FALSE((*programs)->counts_events()) << refused;
    EXPECT_TRUE((*programs)->OpenTasks());
  }
}

/// Software events of one process beside its CPU time; cpu-clock stands in the place of cycles: nanoseconds.
class SoftwareCounters : public BpfFaults {
 protected:
  void SetUp() override {
    BpfFaults::SetUp();
    if (IsSkipped()) return;
    auto source = BpfSource::Create(
        {.procfs = "/proc", .sysfs = "/sys", .counters = CounterKind::kSoftware, .btf_path = ""}, clock_);
    ASSERT_TRUE(source) << source.error().message;
    source_ = *std::move(source);
    ASSERT_TRUE(source_->Sample(sample_));
  }
  /// The best of a few: a slice whose begin or end is kept from the program (see ShortLivedChildren) is not counted,
  /// that is chance.
  template <class Work>
  HardwareEvents Measure(pid_t pid, Work work) {
    double error = 0;
    HardwareEvents events;
    for (int attempt = 0; attempt < 5; ++attempt) {
      work();
      EXPECT_TRUE(source_->Sample(sample_));
      const auto found =
          std::ranges::find_if(sample_.processes, [&](const auto& process) { return process.info->key.tgid == pid; });
      if (found == sample_.processes.end()) continue;
      events = found->events;
      error = std::abs(static_cast<double>(events.cycles) - static_cast<double>(found->cpu.count()));
      if (error < kTolerance) return events;
    }
    ADD_FAILURE() << "off by " << error << " ns";
    return events;
  }
  static constexpr double kTolerance = 1e7;

 private:
  const SystemClock clock_;
  std::unique_ptr<BpfSource> source_;
  ActivitySample sample_;
};

TEST_F(SoftwareCounters, CountForTheProcessThatRan) {
  Worker worker([] { BurnCpu(std::chrono::milliseconds(100)); });
  const HardwareEvents events = Measure(worker.pid(), [&] { worker.Step(); });
  EXPECT_GE(events.instructions, 1U) << "a context switch";
}

TEST_F(SoftwareCounters, CountUpToTheLookForATaskThatKeepsItsProcessor) {
  const HardwareEvents events = Measure(::getpid(), [] { BurnCpu(std::chrono::milliseconds(300)); });
  EXPECT_GE(static_cast<double>(events.cycles), 3e8 - kTolerance);
}

TEST_F(BpfFaults, FullRing_LostTimeIsCountedToTheProcess) {
  const auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs a writable cgroup tree with CPU time";
  const size_t ends = std::clamp<size_t>(size_t{std::thread::hardware_concurrency()} * 2'500, 10'000, 45'000);
  const SystemClock clock;
  auto source = BpfSource::Create(kHere, clock);
  ASSERT_TRUE(source) << source.error().message;
  Worker parent([&] {
    cgroup->Enter();
    for (size_t i = 0; i < ends; ++i) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      ::waitpid(child, nullptr, 0);
    }
  });
  ActivitySample sample;
  ASSERT_TRUE((*source)->Sample(sample));
  const Nanoseconds before = cgroup->Usage();
  parent.Step();
  const Nanoseconds truth = cgroup->Usage() - before;
  Nanoseconds given{0};
  Nanoseconds lost{0};
  size_t briefs = 0;
  const auto is_ours = [&](const os::CgroupMembership& membership) {
    return std::ranges::any_of(membership.lines, [&](const auto& line) { return line.path == cgroup->name(); });
  };
  const auto all_told = [&] {
    const auto& records = (*source)->Health().records;
    return !records.empty() && briefs + records[0].dropped + records[3].dropped >= ends;
  };
  for (int look = 0; look < 250 && !(given + lost >= truth && all_told()); ++look) {
    ::usleep(20'000);
    ASSERT_TRUE((*source)->Sample(sample));
    lost += sample.lost;
    for (const auto& process : sample.processes)
      if (is_ours(*process.info->cgroup)) given += process.cpu;
    for (const auto& brief : sample.briefs) {
      if (!is_ours(*brief.cgroups)) continue;
      given += brief.cpu;
      ++briefs;
    }
  }
  const auto& health = (*source)->Health();
  EXPECT_GT(health.records[0].dropped, 0U);
  EXPECT_GT(lost, Nanoseconds(0));
  EXPECT_EQ(health.lost, lost);
  EXPECT_GE(briefs + health.records[0].dropped + health.records[3].dropped, ends);
  // Whose record was dropped cannot be told: others of this machine may be among the lost.
  const auto ratio = [&](Nanoseconds time) {
    return static_cast<double>(time.count()) / static_cast<double>(truth.count());
  };
  EXPECT_LE(ratio(given), 1.001);
  EXPECT_GE(ratio(given + lost), 0.99);
}

TEST_F(BpfFaults, HalfFullRing_WakesTheCollector) {
  const SystemClock clock;
  auto source = BpfSource::Create(kHere, clock);
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_GE((*source)->WakeFd(), 0);
  Worker parent([] {
    for (int i = 0; i < 6'000; ++i) std::thread([] {}).join();
  });
  ActivitySample sample;
  ASSERT_TRUE((*source)->Sample(sample));
  std::jthread stepping([&] { parent.Step(); });
  pollfd ring = {.fd = (*source)->WakeFd(), .events = POLLIN, .revents = 0};
  // The first wake-up comes at half full; drained then, the ring hardly ever fills.
  ASSERT_EQ(::poll(&ring, 1, 10'000), 1);
  while (::poll(&ring, 1, 200) == 1) (*source)->Drain();
  stepping.join();
  ASSERT_TRUE((*source)->Sample(sample));
  EXPECT_LE((*source)->Health().records[0].dropped, 600U) << "a tenth, of a program that a sanitizer slows down";
  EXPECT_GE((*source)->Health().records[0].taken, 5'000U);
}

}  // namespace
}  // namespace kepler::activity::bpf
