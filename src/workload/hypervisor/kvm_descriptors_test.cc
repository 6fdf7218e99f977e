#include "workload/hypervisor/kvm_descriptors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::workload::hypervisor {
namespace {

class KvmDescriptorsTest : public ::testing::Test {
 protected:
  KvmDescriptorsTest() { tree_.Write("misc", "259 cpu_dma_latency\n232 kvm\n183 hw_random\n"); }
  void Descriptor(int pid, int number, const std::string& target) {
    tree_.Symlink(fmt::format("{}/fd/{}", pid, number), target);
  }
  Holds Look(int pid) {
    descriptors_.BeginScan();
    return LookOn(pid);
  }

  /// In the same scan. Errors are none that these tests expect.
  Holds LookOn(int pid) {
    const auto holds = descriptors_.Look(pid);
    EXPECT_TRUE(holds) << holds.error().message;
    return holds.value_or(Holds::kNotNow);
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  KvmDescriptors descriptors_{tree_.root(), clock_};
};

TEST_F(KvmDescriptorsTest, DescriptorOfAMachine_IsFound) {
  Descriptor(10, 0, "/dev/null");
  Descriptor(10, 9, "/dev/kvm");
  Descriptor(10, 10, "anon_inode:kvm-vm");
  Descriptor(10, 11, "anon_inode:kvm-vcpu:0");
  EXPECT_EQ(Look(10), Holds::kYes);
}

TEST_F(KvmDescriptorsTest, DevKvmAlone_IsOneWhoAsksWhatItCanDo) {
  Descriptor(10, 3, "/dev/kvm");
  Descriptor(10, 4, "anon_inode:[eventpoll]");
  Descriptor(10, 5, "/tmp/anon_inode:kvm-vm");
  EXPECT_EQ(Look(10), Holds::kNo);
}

TEST_F(KvmDescriptorsTest, NoDescriptorsOrNoProcess_HoldsNothing) {
  tree_.MakeDir("10/fd");
  EXPECT_EQ(Look(10), Holds::kNo);
  EXPECT_EQ(Look(11), Holds::kNo);
}

/// As of a file so deep that the kernel cannot say its path (ENAMETOOLONG): it hides no machine behind it.
TEST_F(KvmDescriptorsTest, NotALink_IsPassedOver) {
  tree_.Write("10/fd/3", "anon_inode:kvm-vm");
  tree_.Write("11/fd", "anon_inode:kvm-vm");
  EXPECT_EQ(Look(10), Holds::kNo);
  EXPECT_EQ(Look(11), Holds::kNo);
  Descriptor(10, 4, "anon_inode:kvm-vm");
  EXPECT_EQ(Look(10), Holds::kYes);
}

TEST_F(KvmDescriptorsTest, NoDescriptorToBeHad_IsAnErrorAndWorksLater) {
  Descriptor(10, 3, "anon_inode:kvm-vm");
  // UBSan opens a pipe to look at the first object of a kind, and there will be none: what errors are made of is now.
  static_cast<void>(FailErrno("open", "nothing", EMFILE));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const bool after_the_first : {false, true}) {
    if (after_the_first) {
      ASSERT_EQ(Look(10), Holds::kYes);
    }
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    descriptors_.BeginScan();
    const auto holds = descriptors_.Look(10);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(holds);
    EXPECT_EQ(holds.error().kind, ErrorKind::kIo) << holds.error().message;
  }
  EXPECT_EQ(LookOn(10), Holds::kYes);
}

/// As nobody, while it lasts, where the tests run as root: who sees all.
class WithoutRights {
 public:
  WithoutRights() {
    if (root_ && ::seteuid(65534) != 0) ADD_FAILURE() << "seteuid";
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;
  ~WithoutRights() {
    if (root_ && ::seteuid(0) != 0) ADD_FAILURE() << "seteuid";
  }

 private:
  bool root_ = ::geteuid() == 0;
};

TEST_F(KvmDescriptorsTest, NotForUsToSee_HoldsNothing) {
  Descriptor(10, 3, "anon_inode:kvm-vm");
  Descriptor(11, 3, "anon_inode:kvm-vm");
  tree_.Chmod("", 0755);
  tree_.Chmod("10/fd", 0);
  {
    const WithoutRights nobody;
    EXPECT_EQ(Look(10), Holds::kNo);
    EXPECT_EQ(LookOn(11), Holds::kYes);
  }
  tree_.Chmod("10/fd", 0700);
}

TEST_F(KvmDescriptorsTest, KernelWithoutKvm_NobodyIsLookedAt) {
  Descriptor(10, 3, "anon_inode:kvm-vm");
  for (const char* misc : {"", "232 kvm_other\n233 notkvm\n", "232 kvm-x"}) {
    tree_.Write("misc", misc);
    EXPECT_EQ(Look(10), Holds::kNo) << misc;
  }
  tree_.Remove("misc");
  EXPECT_EQ(Look(10), Holds::kNo);
}

TEST_F(KvmDescriptorsTest, KvmLoadedLater_IsNoticedAtTheNextScan) {
  Descriptor(10, 3, "anon_inode:kvm-vm");
  tree_.Write("misc", "");
  EXPECT_EQ(Look(10), Holds::kNo);
  tree_.Write("misc", "232 kvm");
  EXPECT_EQ(LookOn(10), Holds::kNo);
  EXPECT_EQ(Look(10), Holds::kYes);
}

TEST_F(KvmDescriptorsTest, NoProcfs_HoldsNothing) {
  KvmDescriptors nowhere(tree_.Path("absent"), clock_);
  EXPECT_EQ(nowhere.Look(10).value_or(Holds::kNotNow), Holds::kNo);
}

TEST_F(KvmDescriptorsTest, LooksOfAScanUsedUp_NextScanGoesOn) {
  tree_.MakeDir("10/fd");
  Descriptor(11, 3, "anon_inode:kvm-vm");
  descriptors_.BeginScan();
  for (size_t i = 0; i < KvmDescriptors::kMaxOfScan / KvmDescriptors::kLookCost; ++i) ASSERT_EQ(LookOn(10), Holds::kNo);
  EXPECT_EQ(LookOn(11), Holds::kNotNow);
  EXPECT_EQ(Look(11), Holds::kYes);
}

/// A process with more descriptors than are read costs no more than those, and so no other its look.
TEST_F(KvmDescriptorsTest, ManyDescriptors_OnlySomeAreRead) {
  for (int i = 0; i < 2000; ++i) Descriptor(10, i, "/dev/null");
  Descriptor(11, 3, "anon_inode:kvm-vm");
  descriptors_.BeginScan();
  const size_t looks = KvmDescriptors::kMaxOfScan / (KvmDescriptors::kMaxOfProcess + KvmDescriptors::kLookCost);
  for (size_t i = 0; i < looks; ++i) ASSERT_EQ(LookOn(10), Holds::kNo);
  EXPECT_EQ(LookOn(11), Holds::kYes);
}

/// Each reading of the clock advances it by 4 ms.
class SlowClock final : public Clock {
 public:
  [[nodiscard]] BootTime Now() const override { return now_ += std::chrono::milliseconds(4); }
  [[nodiscard]] WallTime Wall() const override { return {}; }

 private:
  mutable BootTime now_{};
};

TEST_F(KvmDescriptorsTest, LooksThatTakeLong_OnlyAsManyAsThereIsTimeFor) {
  Descriptor(10, 3, "/dev/null");
  const SlowClock slow;
  KvmDescriptors descriptors(tree_.root(), slow);
  for (int scan = 0; scan < 2; ++scan) {
    descriptors.BeginScan();
    for (int i = 0; i < 7; ++i) ASSERT_EQ(*descriptors.Look(10), Holds::kNo) << i;
    EXPECT_EQ(*descriptors.Look(10), Holds::kNotNow);
  }
}

TEST(KvmDescriptors, RealMachine_IsFoundWhileItIsOpen) {
  const UniqueFd kvm(::open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm.valid()) GTEST_SKIP() << "no /dev/kvm that may be used";
  const testing::FakeClock clock;
  KvmDescriptors descriptors("/proc", clock);
  EXPECT_EQ(*descriptors.Look(::getpid()), Holds::kNo) << "only /dev/kvm is open";
  {
    const UniqueFd machine(::ioctl(kvm.get(), KVM_CREATE_VM, 0));
    if (!machine.valid()) GTEST_SKIP() << "KVM makes no machine here";
    EXPECT_EQ(*descriptors.Look(::getpid()), Holds::kYes);
  }
  EXPECT_EQ(*descriptors.Look(::getpid()), Holds::kNo);
}

}  // namespace
}  // namespace kepler::workload::hypervisor
