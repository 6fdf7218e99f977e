#include "workload/resolver.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cgroup/owner_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"
#include "workload/patient_limits.h"
#include "workload/resolver_test_util.h"

namespace kepler::workload {
namespace {

using std::string_view_literals::operator""sv;

TEST_F(ResolverTest, OrdinaryProcess_ReadsNothing) {
  Hide(10);
  const auto owner = resolver_.Resolve(Process(10, "/usr/sbin/sshd"));
  EXPECT_EQ(owner.cgroup, cgroup::Owner{});
  EXPECT_EQ(owner.container_name, "");
  EXPECT_FALSE(owner.vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, WithoutMembership_NobodyOwns) {
  auto process = Process(10, "/usr/sbin/sshd");
  process.cgroup = nullptr;
  EXPECT_EQ(resolver_.Resolve(process).cgroup, cgroup::Owner{});
}

TEST_F(ResolverTest, Container_NamedByEnvironment) {
  Show(10, "PATH=/\0HOSTNAME=web\0"sv, "burn\0--name=cmd\0"sv);
  const auto owner = resolver_.Resolve(InContainer(10));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_EQ(owner.container_name, "web");
}

TEST_F(ResolverTest, EnvironmentWithoutName_NamedByArguments) {
  Show(10, "PATH=/\0"sv, "burn\0--name\0cmd\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "cmd");
}

TEST_F(ResolverTest, NameKnown_LaterProcessesAreNotRead) {
  Show(10, "HOSTNAME=web\0"sv, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  Hide(11);
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "web");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, NameUnknown_NextProcessIsAsked) {
  Show(10, "PATH=/\0"sv, "burn\0"sv);
  Show(11, "HOSTNAME=web\0"sv, "burn\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "web");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
}

TEST_F(ResolverTest, RuntimeBeforeExec_DoesNotLendItsCallersName) {
  Show(10, "HOSTNAME=host\0"sv, "runc\0init\0"sv);
  auto init = InContainer(10, "/memfd:runc_cloned:/proc/self/exe (deleted)");
  init.comm = "runc:[2:INIT]";
  EXPECT_EQ(resolver_.Resolve(init).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10, "/usr/bin/crun")).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10, "/bin/sh")).container_name, "host");
}

TEST_F(ResolverTest, ProcessGone_IsNormal) {
  const auto owner = resolver_.Resolve(InContainer(99));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_EQ(owner.container_name, "");
  EXPECT_FALSE(resolver_.Resolve(Process(99, "/usr/bin/qemu-system-x86_64")).vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, Unreadable_IsCountedAndHasNoName) {
  Hide(10);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.reads_failed(), 2U);
}

TEST_F(ResolverTest, EnvironmentUnreadable_ArgumentsStillName) {
  Hide(10);
  tree_.Remove("10/cmdline");
  tree_.Write("10/cmdline", "burn\0--name=web\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(ResolverTest, NameBeyondTheBound_IsNotSeen) {
  Show(10, "LONG=" + std::string(64 << 10, 'x') + '\0' + "HOSTNAME=web" + '\0', "burn\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, NameOfAnyBytes_PassesThroughBounded) {
  Show(10, "HOSTNAME=a\"\n\xff" + std::string(300, 'b') + '\0', "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "a\"\n\xff" + std::string(251, 'b'));
}

TEST_F(ResolverTest, IdChosenByPeople_IsTheName) {
  Hide(10);
  EXPECT_EQ(resolver_.Resolve(Process(10, "/sbin/init", "/lxc.payload.box/init.scope")).container_name, "box");
  EXPECT_EQ(
      resolver_.Resolve(Process(10, "/sbin/init", "/machine.slice/systemd-nspawn@lab.service/payload")).container_name,
      "lab");
  EXPECT_EQ(resolver_.Resolve(Process(10, "/usr/bin/make", "/user.slice/kepler-run-make-7")).container_name, "make-7");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, KernelThreadOfAContainer_IsNotRead) {
  Hide(10);
  auto process = InContainer(10, "");
  process.comm = "kvm";
  process.kernel_thread = true;
  const auto owner = resolver_.Resolve(process);
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_FALSE(owner.vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, ManyContainersComeAndGo_LivingOneKeepsItsName) {
  const std::string first = "/docker/" + std::string(64, '0');  // the smallest, and the oldest
  Show(10, "HOSTNAME=web\0"sv, "");
  Show(11, "HOSTNAME=other\0"sv, "");
  const auto living = Process(10, "/bin/sh", first);
  EXPECT_EQ(resolver_.Resolve(living).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(Process(11, "/bin/sh", first)).container_name, "web");
}

TEST_F(ResolverTest, OneOfItsCgroupsLives_NameStays) {
  const std::string box = "/docker/" + std::string(64, '0');
  Show(10, "PATH=/\0"sv, "");
  Show(11, "HOSTNAME=web\0"sv, "");
  Show(12, "HOSTNAME=other\0"sv, "");
  const auto living = Process(10, "/bin/sh", box + "/init.scope");
  EXPECT_EQ(resolver_.Resolve(living).container_name, "");
  EXPECT_EQ(resolver_.Resolve(Process(11, "/bin/sh", box + "/short.service")).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(Process(12, "/bin/sh", box + "/late.service")).container_name, "web");
}

TEST_F(ResolverTest, ContainerEnded_NameIsForgotten) {
  Show(10, "HOSTNAME=web\0"sv, "");
  Show(11, "HOSTNAME=other\0"sv, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "other");
}

/// Under a limit that a busy machine may miss, for a process that is not to be read; the others get theirs in time.
TEST_F(ResolverTest, ProcessThatKeepsItsReaderWaiting_CostsItsUnitItsNames) {
  Resolver resolver(tree_.root(), clock_, {.deadline = std::chrono::milliseconds(200), .budget = kPatient.budget});
  const std::string box = "/system.slice/docker-" + kId + ".scope";
  tree_.MakeDir("10");
  testing::MakeFifo(tree_.Path("10/environ"));
  Show(11, "HOSTNAME=inner\0"sv, "");
  Show(12, "HOSTNAME=other\0"sv, "");
  EXPECT_EQ(resolver.Resolve(Process(10, "/bin/sh", box)).late, Delayed::kTimedOut);
  EXPECT_EQ(resolver.reads_failed(), 1U);
  const auto inner = resolver.Resolve(Process(11, "/bin/sh", box + "/docker/" + std::string(64, 'b')));
  EXPECT_EQ(inner.late, Delayed::kPutOff) << "its container is a claim of the one around it";
  EXPECT_EQ(inner.container_name, "");
  const auto other = resolver.Resolve(Process(12, "/bin/sh", "/docker/" + std::string(64, 'c')));
  EXPECT_EQ(other.late, Delayed::kNo);
  EXPECT_EQ(other.container_name, "other");
  EXPECT_EQ(resolver.reads_failed(), 1U);
  testing::ReleaseFifo(tree_.Path("10/environ"));
}

TEST(Resolver, NoProcfs_IsCounted) {
  testing::FakeTree tree;
  const testing::FakeClock clock;
  Resolver resolver(tree.Path("absent"), clock, kPatient);
  cgroup::ProcessInfo process;
  process.cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", "/docker/" + kId}});
  EXPECT_EQ(resolver.Resolve(process).container_name, "");
  EXPECT_EQ(resolver.reads_failed(), 2U);
}

}  // namespace
}  // namespace kepler::workload
