#include "os/cpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseCpuList, ListsOfTheKernel_AreTakenApart) {
  EXPECT_THAT(*ParseCpuList("0-3,8\n"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(*ParseCpuList("0"), ElementsAre(0));
  EXPECT_THAT(*ParseCpuList("65535"), ElementsAre(65'535));
  EXPECT_THAT(*ParseCpuList("\n"), IsEmpty()) << "cpu/offline of most machines";
}

TEST(ParseCpuList, AnythingElse_IsMalformed) {
  for (const char* text :
       {"0-", "-3", "3-1", "0,,2", "0-3,", "a", "1 2", "0x1", "0-4294967295", "65536", "2,1", "1,1"}) {
    const auto cpus = ParseCpuList(text);
    ASSERT_FALSE(cpus) << text;
    EXPECT_EQ(cpus.error().kind, ErrorKind::kMalformed);
  }
}

class CpuTopologyTest : public ::testing::Test {
 protected:
  void Cpu(int cpu, int package, int die = -1) {
    const std::string topology = Directory(cpu) + "topology/";
    tree_.Write(topology + "physical_package_id", std::to_string(package) + "\n");
    if (die >= 0) tree_.Write(topology + "die_id", std::to_string(die) + "\n");
  }
  /// As the kernel takes a processor offline: with its directory `topology`.
  void Offline(int cpu, const std::string& online) {
    tree_.Remove(Directory(cpu) + "topology");
    Online(online);
  }
  void Online(const std::string& list) { tree_.Write("devices/system/cpu/online", list + "\n"); }

  testing::FakeTree tree_;
  CpuTopology topology_{tree_.root()};

 private:
  static std::string Directory(int cpu) { return "devices/system/cpu/cpu" + std::to_string(cpu) + "/"; }
};

TEST_F(CpuTopologyTest, Package_IsOfflineWhenItsLastProcessorIs) {
  for (int cpu = 0; cpu < 4; ++cpu) Cpu(cpu, cpu / 2);
  Online("0-3");
  topology_.Learn();
  EXPECT_FALSE(topology_.IsOffline({1, {}}));
  Offline(3, "0-2");
  EXPECT_FALSE(topology_.IsOffline({1, {}}));
  Offline(2, "0-1");
  topology_.Learn();
  EXPECT_TRUE(topology_.IsOffline({1, {}})) << "remembered from when they were online";
  EXPECT_FALSE(topology_.IsOffline({0, {}}));
  Online("0-2");
  EXPECT_FALSE(topology_.IsOffline({1, {}}));
}

TEST_F(CpuTopologyTest, Die_IsDistinguishedFromTheOthersOfItsPackage) {
  Cpu(0, 0, 0);
  Cpu(1, 0, 1);
  Online("0-1");
  topology_.Learn();
  Offline(1, "0");
  EXPECT_TRUE(topology_.IsOffline({0, 1}));
  EXPECT_FALSE(topology_.IsOffline({0, 0}));
  EXPECT_FALSE(topology_.IsOffline({0, {}}));
}

TEST_F(CpuTopologyTest, NothingKnown_NothingIsOffline) {
  EXPECT_FALSE(topology_.IsOffline({0, {}})) << "no such directory";
  Online("garbage");
  topology_.Learn();
  EXPECT_FALSE(topology_.IsOffline({0, {}}));
  Online("0-1");
  Cpu(0, 0);
  tree_.Write("devices/system/cpu/cpu1/topology/physical_package_id", "-1\n");
  topology_.Learn();
  EXPECT_FALSE(topology_.IsOffline({1, {}})) << "a socket that was never seen";
  Online("");
  EXPECT_TRUE(topology_.IsOffline({0, {}}));
  Online("1-");
  EXPECT_FALSE(topology_.IsOffline({0, {}})) << "what cannot be read proves nothing";
}

TEST_F(CpuTopologyTest, PlacesOf_KnownCpus_AreThoseAskedForInOrder) {
  Cpu(0, 0, 0);
  Cpu(1, 0, 1);
  Cpu(2, 1, 0);
  Online("0-3");
  topology_.Learn();
  const auto places = topology_.PlacesOf({2, 3, 0});
  ASSERT_EQ(places.size(), 2u) << "the place of 3 is unknown";
  EXPECT_EQ(places[0].cpu, 2u);
  EXPECT_EQ(places[0].part, (CpuPart{1, 0}));
  EXPECT_EQ(places[1].cpu, 0u);
}

TEST_F(CpuTopologyTest, HasDies_OnlyIfAPackageHasSeveral) {
  EXPECT_FALSE(topology_.HasDies());
  Cpu(0, 0, 0);
  Cpu(1, 1, 1);
  Online("0-1");
  topology_.Learn();
  EXPECT_FALSE(topology_.HasDies());
  Cpu(2, 1, 0);
  Online("0-2");
  topology_.Learn();
  EXPECT_TRUE(topology_.HasDies());
  Offline(2, "0-1");
  EXPECT_TRUE(topology_.HasDies()) << "remembered";
}

}  // namespace
}  // namespace kepler::os
