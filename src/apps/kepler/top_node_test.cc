#include "apps/kepler/top_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/snapshot_builder.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UrlOfAgent, IsTheFirstAddressAsThisMachineReachesIt) {
  EXPECT_EQ(UrlOfAgent({":28282"}), "http://127.0.0.1:28282");
  EXPECT_EQ(UrlOfAgent({"0.0.0.0:1", "127.0.0.1:2"}), "http://127.0.0.1:1");
  EXPECT_EQ(UrlOfAgent({"[::]:1"}), "http://127.0.0.1:1");
  EXPECT_EQ(UrlOfAgent({"[::1]:1"}), "http://[::1]:1");
  EXPECT_EQ(UrlOfAgent({"node-1:9100"}), "http://node-1:9100");
}

snapshot::Snapshot Measured(std::string source, std::string_view activity) {
  snapshot::Snapshot snapshot = testing::EmptySnapshot({"package"});
  snapshot.zones[0].source = std::move(source);
  snapshot.activity.name = activity;
  return snapshot;
}

status::SourceStatus FailedRapl(ErrorKind kind, std::string why) {
  status::SourceStatus source;
  source.name = "rapl";
  source.problem = Error{kind, std::move(why)};
  return source;
}

TEST(LacksOf, NothingIfAllIsMeasured) {
  EXPECT_THAT(LacksOf(Measured("rapl", "bpf"), true, true), IsEmpty());
  EXPECT_THAT(LacksOf(Measured("rapl", "procfs"), false, false), IsEmpty()) << "the configuration wants /proc";
}

TEST(LacksOf, NamesARightThatIsMissing) {
  snapshot::Snapshot snapshot = Measured("model", "procfs");
  snapshot.sources.push_back(FailedRapl(ErrorKind::kPermission, "open energy_uj: no"));
  EXPECT_THAT(LacksOf(snapshot, true, false),
              ElementsAre("power is an estimate: this user may not read the energy meters; run as root",
                          "CPU time is from /proc, without short-lived processes: BPF needs root, or CAP_BPF and "
                          "CAP_PERFMON"));
  snapshot.sources[0].problem = Error{ErrorKind::kUnavailable, "powercap: open energy_uj: Permission denied; perf: x"};
  snapshot.zones.clear();
  EXPECT_THAT(LacksOf(snapshot, false, false), ElementsAre("this user may not read the energy meters; run as root"));
}

TEST(LacksOf, BlamesNoRightIfTheMachineHasNoMeter) {
  snapshot::Snapshot snapshot = Measured("model", "procfs");
  snapshot.sources.push_back(FailedRapl(ErrorKind::kNotFound, "no RAPL zones"));
  EXPECT_THAT(LacksOf(snapshot, true, true),
              ElementsAre("power is an estimate: no energy meter can be read",
                          "CPU time is from /proc, without short-lived processes: BPF is not available"));
}

}  // namespace
}  // namespace kepler::agent
