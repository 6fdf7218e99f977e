// What goes wrong on real kernels: no privilege, less BTF, a namespace of one's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "activity/bpf/bpf_options_test_util.h"
#include "activity/bpf/bpf_source.h"
#include "activity/bpf/programs.h"
#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::HasSubstr;

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

std::string Scan(const BpfOptions& options = kHere) {
  const SystemClock clock;
  auto source = BpfSource::Create(options, clock);
  if (!source) return source.error().message;
  ActivitySample sample;
  const auto scanned = (*source)->Sample(sample);
  return scanned ? "ok" : scanned.error().message;
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
              return Scan();
            }),
            "ok");
}

TEST_F(BpfFaults, NobodyWithLess_GetsTheNamesOfMissingCapabilities) {
  EXPECT_THAT(InChild([] {
                BecomeNobodyWith({});
                return Scan();
              }),
              HasSubstr("missing here: CAP_BPF, CAP_PERFMON"));
  EXPECT_THAT(InChild([] {
                BecomeNobodyWith({CAP_BPF});
                return Scan();
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
    const auto scanned = (*source)->Sample(sample);
    if (!scanned) return "refused: " + scanned.error().message + ((*source)->status().up ? " up" : "");
    return std::string(sample.processes.empty() ? "empty" : "ok");
  });
  // Up to Linux 5.16 every bpf(2) needs the capability where unprivileged_bpf_disabled is set.
  EXPECT_TRUE(said == "ok" || said == "refused: open BPF iterator over tasks: Operation not permitted") << said;
}

TEST_F(BpfFaults, OwnPidNamespace_IsNotTried) {
  EXPECT_THAT(InChild([] {
                if (::unshare(CLONE_NEWPID) != 0) return std::string("unshare");
                return InChild([] { return Scan(); });
              }),
              HasSubstr("host's pid namespace"));
}

Result<std::unique_ptr<Programs>> LoadWithout(const std::string& field, const testing::FakeTree& tree) {
  return Programs::Load({.btf_path = BtfWithout(field, tree)});
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

}  // namespace
}  // namespace kepler::activity::bpf
