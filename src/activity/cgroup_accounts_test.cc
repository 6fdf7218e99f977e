// CgroupAccounts on two trees made of files, with memberships that carry the kernel's cgroup ids.
#include "activity/cgroup_accounts.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "testing/fake_tree.h"

namespace kepler::activity {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
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
    return {.cgroups = std::make_shared<const cgroup::Membership>(
                os::CgroupLines{{.hierarchy = 2, .controllers = "cpuacct", .path = "/"},
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
  snapshot::ActivityStatus status_;
  ActivitySample sample_;
};

TEST_F(HybridAccounts, ProcessOfTheCarveOut_IsKnownToIt) {
  Use(30ms);
  accounts_->ReadUsages(BootTime(2s), status_);
  accounts_->Book(box_, 20ms);
  EXPECT_THAT(Residuals(), ElementsAre(Pair(kBox, 10ms)));
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
