#include "modelserver/agent_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "modelserver/model_tree.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPairs = "machine=processor%3Damd_epyc_9654%2Ccores%3D64";

TEST(AgentQuery, ReadsMachinesInBothForms) {
  const auto pairs = ReadAgentQuery(std::string(kPairs) + "&features=bpf_cpu_time_us,cpu_cycles&output=DynPower&x=1");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(pairs->machine.processor, "amd_epyc_9654");
  EXPECT_EQ(pairs->machine.cores, 64U);
  EXPECT_THAT(pairs->features, ElementsAre("bpf_cpu_time_ms", "cpu_cycles"));
  EXPECT_EQ(pairs->output, model::OutputType::kDynPower);
  EXPECT_EQ(pairs->unknown_fields, 1U);
  const auto json = ReadAgentQuery("machine=%7B%22processor%22:%22p%22,%22is_guest%22:true%7D");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_TRUE(json->machine.is_guest);
}

TEST(AgentQuery, ErrorsNameTheParameter) {
  const auto why = [](std::string_view query) {
    const auto read = ReadAgentQuery(query);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_THAT(why(""), HasSubstr("machine"));
  EXPECT_THAT(why("machine=cores"), HasSubstr("machine"));
  EXPECT_THAT(why("machine=%7B%22cores%22:%22many%22%7D"), HasSubstr("machine"));
  EXPECT_THAT(why(std::string(kPairs) + "&output=Watts"), HasSubstr("output"));
  EXPECT_THAT(why(std::string(kPairs) + "&features=%zz"), HasSubstr("%"));
}

struct AgentSelectionTest : ::testing::Test {
  kepler::testing::FakeTree files;
  std::shared_ptr<const ModelIndex> index;

  AgentSelectionTest() { testing::WriteStore(files); }
  std::string NameFor(std::string_view query) {
    index = ModelTree(files.root()).Scan().value();
    const auto selected = SelectForAgent(*index, ReadAgentQuery(query).value());
    return selected ? selected->model->name : selected.error().message;
  }
};

TEST_F(AgentSelectionTest, TheModelOfTheMachineIsChosen) {
  EXPECT_EQ(NameFor(kPairs), "epyc");
  files.Write("own/trees/model.json", testing::OwnTrees("trees", "intel_xeon_gold_6338"));
  EXPECT_EQ(NameFor("machine=processor%3Dintel_xeon_gold_6338"), "trees");
}

TEST_F(AgentSelectionTest, AModelAboveTheLimitIsNotChosen) {
  EXPECT_EQ(NameFor(kPairs), "epyc");
  const auto choose = [&](std::string_view limits) {
    return SelectForAgent(*index, ReadAgentQuery(kPairs).value(), ReadFilter(limits).value());
  };
  EXPECT_TRUE(choose("package_mape:1000"));
  EXPECT_TRUE(choose("dram_mape:0")) << "it has no dram";
  const auto none = choose("package_mape:0.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message,
              ::testing::HasSubstr("above the limits of this server (--max-error), or missing: 1"));
}

TEST_F(AgentSelectionTest, AnotherMachineOrFeatureGetsAReason) {
  EXPECT_THAT(NameFor("machine=processor%3Darm_neoverse_n1%2Ccores%3D4"), HasSubstr("similar"));
  EXPECT_THAT(NameFor(std::string(kPairs) + "&features=cpu_cycles"), HasSubstr("bpf_cpu_time_ms"));
  EXPECT_THAT(NameFor(std::string(kPairs) + "&output=DynPower"), HasSubstr("no models"));
  files.Remove("own");  // archives are not for agents
  EXPECT_THAT(NameFor("machine=processor%3Dintel_xeon_e5_2686v4"), HasSubstr("no models"));
}

}  // namespace
}  // namespace kepler::modelserver
