// CgroupAccounts on two trees made of files, with memberships that carry the kernel's cgroup ids.
#include "activity/cgroup_accounts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "cgroup/owner_test_util.h"
#include "testing/fake_tree.h"

namespace kepler::activity {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kBox = "/docker/" + std::string(64, 'a');

/// A container that only the unified tree names; in the cpuacct tree its processes are in the root.
class HybridAccounts : public ::testing::Test {
 protected:
  HybridAccounts() {
    Use(0ms);
    tree_.Write("v2/cgroup.controllers", "cpu\n");
    const cgroup::Trees trees{
        .cpuacct = cgroup::Tree{cgroup::Version::kCpuacct, tree_.Path("v1")},
        .unified = cgroup::Tree{cgroup::Version::kUnified, tree_.Path("v2")},
    };
    accounts_.emplace(trees, os::CgroupLines{}, 1, AccountRules{.paths_of_trees = true});
    box_ = MakeMember(InodeOfBox());
    accounts_->ReadUsages(BootTime(1s), status_);
    accounts_->Book(box_, 0ms);
    accounts_->Settle({&box_, 1}, sample_);
    sample_.residuals.clear();
  }

  /// In all, by what runs in the box.
  void Use(Nanoseconds time) {
    tree_.Write("v1/cpuacct.usage", fmt::format("{}\n", time.count()));
    tree_.Write("v2/cpu.stat", "usage_usec 0\n");
    for (const std::string& path : {std::string("/docker"), kBox}) {
      tree_.Write("v2" + path + "/cpu.stat", fmt::format("usage_usec {}\n", time.count() / 1000));
      tree_.Write("v2" + path + "/cgroup.events", "populated 1\n");
    }
  }
  ino_t InodeOfBox() {
    struct stat status = {};
    EXPECT_EQ(::stat(tree_.Path("v2" + kBox).c_str(), &status), 0);
    return status.st_ino;
  }
  static Booking MakeMember(uint64_t id) {
    return {
        .cgroups = cgroup::MembershipOf(os::CgroupLines{{.hierarchy = 2, .controllers = "cpuacct", .path = "/"},
                                                        {.hierarchy = 0, .controllers = "", .path = kBox, .id = id}}),
        .users = 1};
  }
  std::map<std::string, Nanoseconds> Residuals() {
    accounts_->Settle({&box_, 1}, sample_);
    std::map<std::string, Nanoseconds> by_path;
    for (const ResidualSample& residual : sample_.residuals) by_path[residual.cgroup->path] += residual.cpu;
    return by_path;
  }

  testing::FakeTree tree_;
  std::optional<CgroupAccounts> accounts_;
  Booking box_;
  status::ActivityStatus status_;
  ActivitySample sample_;
};

TEST_F(HybridAccounts, ProcessOfTheCarveOut_IsKnownToIt) {
  Use(30ms);
  accounts_->ReadUsages(BootTime(2s), status_);
  accounts_->Book(box_, 20ms);
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kBox, 10ms)));
}

/// A pod in a tree of v1, whose containers come and go.
class PodAccounts : public ::testing::Test {
 protected:
  static constexpr const char* kPod = "/kubepods/pod1b1d9e4e-0a3c-4f0e-9d3c-000000000001";

  PodAccounts() {
    Use(kPod, 0ms);
    Open();
    Read();
    EXPECT_THAT(Residuals(), IsEmpty());
  }

  void Open() {
    accounts_.emplace(
        cgroup::Trees{.cpuacct = cgroup::Tree{cgroup::Version::kCpuacct, tree_.Path("v1")}, .unified = std::nullopt},
        os::CgroupLines{}, 1, AccountRules{.paths_of_trees = true, .residual_is_known = false});
  }
  /// In all, within the pod.
  void Use(const std::string& path, Nanoseconds time) {
    for (const std::string& above : {std::string("/"), std::string("/kubepods/"), kPod + std::string("/"), path + "/"})
      tree_.Write("v1" + above + "cpuacct.usage", fmt::format("{}\n", time.count()));
  }
  void Read() { accounts_->ReadUsages(BootTime(++reads_ * 1s), status_); }
  Booking& Container(char id, uint64_t inode) {
    bookings_.push_back(
        {.cgroups = cgroup::MembershipOf(os::CgroupLines{{.hierarchy = 2,
                                                          .controllers = "cpuacct",
                                                          .path = fmt::format("{}/{}", kPod, std::string(64, id)),
                                                          .id = inode}}),
         .users = 1});
    return bookings_.back();
  }
  std::map<std::string, Nanoseconds> Residuals() {
    sample_.residuals.clear();
    accounts_->Settle(bookings_, sample_);
    std::map<std::string, Nanoseconds> by_path;
    for (const ResidualSample& residual : sample_.residuals) by_path[residual.cgroup->path] += residual.cpu;
    return by_path;
  }

  testing::FakeTree tree_;
  std::optional<CgroupAccounts> accounts_;
  std::vector<Booking> bookings_;
  status::ActivityStatus status_;
  ActivitySample sample_;
  int reads_ = 0;
};

TEST_F(PodAccounts, ContainerThatCameAndWentBetweenTwoLooks_IsNoResidualOfItsPod) {
  Use(kPod, 305ms);
  Read();
  accounts_->Book(Container('c', 4711), 305ms);
  EXPECT_THAT(Residuals(), IsEmpty());
  Read();
  EXPECT_THAT(Residuals(), IsEmpty());
  Use(kPod, 308ms);
  Read();
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kPod, 3ms))) << "what is missing later is given out";
}

TEST_F(PodAccounts, TwoOfOnePathThatCameAndWent_AreNoResidualOfTheirPod) {
  Use(kPod, 200ms);
  Read();
  accounts_->Book(Container('c', 4711), 100ms);
  accounts_->Book(Container('c', 4712), 100ms);
  EXPECT_THAT(Residuals(), IsEmpty());
  Read();
  EXPECT_THAT(Residuals(), IsEmpty());
}

TEST_F(PodAccounts, WhatIsMissingNextToSuchAContainer_IsGivenOutOnce) {
  Use(kPod, 315ms);
  Read();
  accounts_->Book(Container('c', 4711), 305ms);
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kPod, 10ms)));
  Read();
  EXPECT_THAT(Residuals(), IsEmpty());
}

TEST_F(PodAccounts, ContainerMadeAfterTheLook_HoldsBackForThatLong) {
  Use(kPod, 20ms);
  Read();
  const std::string path = fmt::format("{}/{}", kPod, std::string(64, 'c'));
  tree_.Write("v1" + path + "/cpuacct.usage", "5000000\n");
  struct stat status = {};
  ASSERT_EQ(::stat(tree_.Path("v1" + path).c_str(), &status), 0);
  accounts_->Book(Container('c', status.st_ino), 5ms);
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kPod, 15ms)));
  for (const char* above : {"/", "/kubepods/", kPod})
    tree_.Write(fmt::format("v1{}/cpuacct.usage", above), fmt::format("{}\n", Nanoseconds(25ms).count()));
  Read();
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kPod, 5ms)));
}

/// A container that uses CPU time while the agent reads a pod, then the pod's other containers, and then this one.
TEST_F(PodAccounts, TimeBetweenTheFirstReadings_IsNoResidualOfThePod) {
  constexpr int kContainers = 1000;
  const auto path_of = [](int i) { return fmt::format("{}/{:064}", kPod, i); };
  for (int i = 0; i < kContainers; ++i) tree_.Write(fmt::format("v1{}/cpuacct.usage", path_of(i)), "0\n");
  std::vector<UniqueFd> usages;  // the cgroups above first: they never have less than the container
  for (const std::string& path : {std::string(), std::string("/kubepods"), std::string(kPod), path_of(kContainers / 2)})
    usages.emplace_back(::open(tree_.Path("v1" + path + "/cpuacct.usage").c_str(), O_WRONLY | O_CLOEXEC));
  Open();
  std::atomic<int64_t> used{0};
  {
    const std::jthread busy([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const std::string text = fmt::format("{:019}\n", used += 1'000'000);
        for (const UniqueFd& usage : usages)
          EXPECT_EQ(::pwrite(usage.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        used.notify_one();
      }
    });
    used.wait(0);
    Read();
    for (const int64_t seen = used; used < seen + 2'000'000;) std::this_thread::yield();  // it goes on running
  }
  EXPECT_THAT(Residuals(), IsEmpty());
  Read();
  EXPECT_THAT(Residuals(), ElementsAre(Pair(path_of(kContainers / 2), ::testing::Gt(0ns))));
}

TEST_F(HybridAccounts, ProcessOfAnEarlierCgroupOfThatPath_IsKnownToTheMainTreeOnly) {
  Booking before = MakeMember(InodeOfBox() - 1);
  Use(30ms);
  accounts_->ReadUsages(BootTime(2s), status_);
  accounts_->Book(before, 20ms);
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kBox, 30ms)))
      << "those 20 ms were in the usage of another directory, and the root, which is in debt now, gives nothing out";
}

}  // namespace
}  // namespace kepler::activity
