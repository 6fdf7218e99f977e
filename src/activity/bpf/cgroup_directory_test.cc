#include "activity/bpf/cgroup_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/fake_tree.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr auto kSecond = std::chrono::seconds(1);

/// A hybrid machine: the same paths in both trees.
class CgroupDirectoryTest : public ::testing::Test {
 protected:
  CgroupDirectoryTest() {
    for (const char* path : {"", "/a", "/a/b"}) Make(path);
    directory_.emplace(cgroup::Trees{.cpuacct = cgroup::Tree{cgroup::Version::kCpuacct, tree_.Path("v1")},
                                     .unified = cgroup::Tree{cgroup::Version::kUnified, tree_.Path("v2")}},
                       os::CgroupLines{{4, "cpu,cpuacct", "/"}, {0, "", "/"}});
    Begin();
    directory_->Walk();
  }
  void Make(const std::string& path) {
    tree_.MakeDir("v1" + path);
    tree_.MakeDir("v2" + path);
  }
  [[nodiscard]] uint64_t IdOf(const std::string& path) const {
    struct stat status = {};
    EXPECT_EQ(::stat(tree_.Path(path).c_str(), &status), 0) << path;
    return status.st_ino;
  }
  void Begin(Nanoseconds after = kSecond) {
    now_ += after;
    directory_->BeginScan(now_);
  }
  [[nodiscard]] static std::vector<std::string> PathsOf(const cgroup::MembershipPtr& membership) {
    std::vector<std::string> paths;
    for (const auto& line : membership->lines)
      paths.push_back(std::to_string(line.hierarchy) + ":" + line.controllers + ":" + line.path);
    return paths;
  }
  [[nodiscard]] std::vector<std::string> Living() {
    std::vector<std::string> paths;
    for (const auto& cgroup : directory_->living()) paths.emplace_back(cgroup->path);
    return paths;
  }

  testing::FakeTree tree_;
  std::optional<CgroupDirectory> directory_;
  BootTime now_{std::chrono::hours(1)};
};

TEST_F(CgroupDirectoryTest, IdsOfDirectories_AreTheirPaths) {
  const CgroupIds ids = {.unified = IdOf("v2/a"), .cpuacct = IdOf("v1/a/b")};
  const auto membership = directory_->Find(ids);
  EXPECT_THAT(PathsOf(membership), ElementsAre("4:cpu,cpuacct:/a/b", "0::/a"));
  EXPECT_EQ(directory_->Find(ids), membership) << "the same object";
  EXPECT_THAT(PathsOf(directory_->Find({.unified = IdOf("v2"), .cpuacct = IdOf("v1")})),
              ElementsAre("4:cpu,cpuacct:/", "0::/"));
}

TEST_F(CgroupDirectoryTest, NewCgroupNobodyReported_IsFoundByAWalk) {
  Make("/new");
  Begin();
  EXPECT_THAT(PathsOf(directory_->Find({.unified = IdOf("v2/new"), .cpuacct = IdOf("v1/new")})), SizeIs(2));
  EXPECT_THAT(Living(), Contains("/new"));
}

TEST_F(CgroupDirectoryTest, ReportedCgroup_IsKnownThoughItIsGone) {
  directory_->Made(0, 777, "/docker/brief");
  EXPECT_THAT(Living(), Contains("/docker/brief"));
  directory_->Removed(0, 777);
  EXPECT_THAT(Living(), Not(Contains("/docker/brief")));
  Begin();
  EXPECT_THAT(PathsOf(directory_->Find({.unified = 777, .cpuacct = 0})), ElementsAre("0::/docker/brief"));
}

TEST_F(CgroupDirectoryTest, RemovedLongAgo_IsForgottenOnceNobodyHoldsIt) {
  directory_->Made(0, 777, "/brief");
  auto membership = directory_->Find({.unified = 777, .cpuacct = 0});
  directory_->Removed(0, 777);
  Begin(CgroupDirectory::kKept);
  EXPECT_EQ(directory_->Find({.unified = 777, .cpuacct = 0}), membership) << "a process still is there";
  membership.reset();
  Begin(CgroupDirectory::kKept - kSecond);
  EXPECT_THAT(PathsOf(directory_->Find({.unified = 777, .cpuacct = 0})), SizeIs(1)) << "asked for a minute ago";
  Begin(CgroupDirectory::kKept);
  EXPECT_THAT(PathsOf(directory_->Find({.unified = 777, .cpuacct = 0})), IsEmpty());
}

TEST_F(CgroupDirectoryTest, DirectoryThatVanishedUnreported_IsRemovedByTheNextWalk) {
  tree_.Remove("v1/a/b");
  Begin();
  directory_->Walk();
  EXPECT_THAT(Living(), UnorderedElementsAre("/", "/a", "/", "/a", "/a/b"));
}

TEST_F(CgroupDirectoryTest, OtherHierarchies_AreNotOurs) {
  directory_->Made(9, 778, "/memory/only");
  directory_->Removed(9, 778);
  EXPECT_THAT(Living(), Not(Contains("/memory/only")));
  directory_->Removed(0, 999'999'999);
  directory_->Made(0, 779, "");  // its path was cut
  EXPECT_THAT(Living(), SizeIs(6));
}

TEST_F(CgroupDirectoryTest, UnknownId_IsWhatTheFileOfATaskSays) {
  const CgroupIds ids = {.unified = 888, .cpuacct = 0};
  const auto nothing = directory_->Find(ids);
  EXPECT_THAT(PathsOf(nothing), IsEmpty());
  const auto fallback = [] { return os::CgroupLines{{0, "", "/../kubepods/x"}}; };
  const auto reported = directory_->Find(ids, fallback);
  EXPECT_THAT(PathsOf(reported), ElementsAre("0::/../kubepods/x"));
  EXPECT_EQ(directory_->Find(ids), reported);
}

TEST_F(CgroupDirectoryTest, NoTree_IsNoError) {
  CgroupDirectory none({}, {});
  none.Walk();
  EXPECT_THAT(none.living(), IsEmpty());
  EXPECT_THAT(none.Find({.unified = 1, .cpuacct = 1})->lines, IsEmpty());
}

}  // namespace
}  // namespace kepler::activity::bpf
