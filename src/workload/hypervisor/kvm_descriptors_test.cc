#include "workload/hypervisor/kvm_descriptors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
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
    return descriptors_.Look(pid);
  }

  testing::FakeTree tree_;
  KvmDescriptors descriptors_{tree_.root()};
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

TEST_F(KvmDescriptorsTest, NotALink_HoldsNothing) {
  tree_.Write("10/fd/3", "anon_inode:kvm-vm");
  tree_.Write("11/fd", "anon_inode:kvm-vm");
  EXPECT_EQ(Look(10), Holds::kNo);
  EXPECT_EQ(Look(11), Holds::kNo);
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
  EXPECT_EQ(descriptors_.Look(10), Holds::kNo);
  EXPECT_EQ(Look(10), Holds::kYes);
}

TEST_F(KvmDescriptorsTest, NoProcfs_HoldsNothing) {
  KvmDescriptors nowhere(tree_.Path("absent"));
  EXPECT_EQ(nowhere.Look(10), Holds::kNo);
}

TEST_F(KvmDescriptorsTest, LooksOfAScanUsedUp_NextScanGoesOn) {
  tree_.MakeDir("10/fd");
  Descriptor(11, 3, "anon_inode:kvm-vm");
  descriptors_.BeginScan();
  for (size_t i = 0; i < KvmDescriptors::kMaxOfScan / KvmDescriptors::kLookCost; ++i)
    ASSERT_EQ(descriptors_.Look(10), Holds::kNo);
  EXPECT_EQ(descriptors_.Look(11), Holds::kNotNow);
  EXPECT_EQ(Look(11), Holds::kYes);
}

/// A process with more descriptors than are read costs no more than those, and so no other its look.
TEST_F(KvmDescriptorsTest, ManyDescriptors_OnlySomeAreRead) {
  for (int i = 0; i < 2000; ++i) Descriptor(10, i, "/dev/null");
  Descriptor(11, 3, "anon_inode:kvm-vm");
  descriptors_.BeginScan();
  const size_t looks = KvmDescriptors::kMaxOfScan / (KvmDescriptors::kMaxOfProcess + KvmDescriptors::kLookCost);
  for (size_t i = 0; i < looks; ++i) ASSERT_EQ(descriptors_.Look(10), Holds::kNo);
  EXPECT_EQ(descriptors_.Look(11), Holds::kYes);
}

TEST(KvmDescriptors, RealMachine_IsFoundWhileItIsHeld) {
  const UniqueFd kvm(::open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm.valid()) GTEST_SKIP() << "no /dev/kvm that may be used";
  KvmDescriptors descriptors("/proc");
  EXPECT_EQ(descriptors.Look(::getpid()), Holds::kNo) << "only /dev/kvm is open";
  {
    const UniqueFd machine(::ioctl(kvm.get(), KVM_CREATE_VM, 0));
    if (!machine.valid()) GTEST_SKIP() << "KVM makes no machine here";
    EXPECT_EQ(descriptors.Look(::getpid()), Holds::kYes);
  }
  EXPECT_EQ(descriptors.Look(::getpid()), Holds::kNo);
}

}  // namespace
}  // namespace kepler::workload::hypervisor
