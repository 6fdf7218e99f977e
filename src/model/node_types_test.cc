#include "model/node_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace kepler::model {
namespace {

/// Those of the models that were published for EC2; how many machines each was measured on is made up.
const std::vector<NodeType> kTypes = {
    {0, {"intel_xeon_platinum_8259cl", 96, 2, 377, 3500}, 3}, {1, {"intel_xeon_e5_2686v4", 72, 2, 503, 3000}, 1},
    {2, {"intel_xeon_platinum_8275cl", 96, 2, 188, 3900}, 1}, {3, {"intel_xeon_platinum_8259cl", 96, 2, 755, 3500}, 1},
    {4, {"intel_xeon_platinum_8252c", 48, 2, 188, 4500}, 1},  {5, {"intel_xeon_platinum_8488c", 96, 1, 377, 3800}, 1}};

TEST(FindNodeType, KnownCompletely_IsThatType) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    const auto found = FindNodeType(kTypes, kTypes[i].machine);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->type, i);
    EXPECT_EQ(found->similarity, 1);
    EXPECT_EQ(found->uncertainty, 0);
  }
}

TEST(FindNodeType, KnownInPart_IsTheOneMostHave) {
  const MachineSpec skylake{.processor = "intel_xeon_platinum_8259cl"};
  const auto found = FindNodeType(kTypes, skylake);
  ASSERT_TRUE(found);
  EXPECT_EQ(kTypes[found->type].number, 0u);
  EXPECT_DOUBLE_EQ(found->uncertainty, 0.25) << "3 of 4 machines with that processor";
  MachineSpec large = skylake;
  large.memory_gib = 755;
  EXPECT_EQ(FindNodeType(kTypes, large)->type, 3u);
  EXPECT_EQ(FindNodeType(kTypes, large)->uncertainty, 0);
}

TEST(FindNodeType, UnlikeAll_IsTheMostSimilar) {
  const auto found = FindNodeType(kTypes, {"intel_xeon_platinum_8375c", 128, 2, 503, 3500});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->type, 0u);
  EXPECT_NEAR(found->similarity, 0.568099, 1e-6);
  EXPECT_DOUBLE_EQ(found->uncertainty, 0.25) << "type 3 has two chips and 3500 MHz too";
}

TEST(FindNodeType, EquallySimilar_IsTheOneWithMoreMembers) {
  const std::vector<NodeType> types = {{0, {"abc", 4, 1, 8, 2000}, 1}, {1, {"abc", 4, 1, 8, 2000}, 2}};
  EXPECT_EQ(FindNodeType(types, {"abd", 4, 1, 8, 2000})->type, 1u);
}

TEST(FindNodeType, NoTypes) {
  const auto none = FindNodeType({}, kTypes[0].machine);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
}

RC_GTEST_PROP(FindNodeType, AnyMachine_FiguresBetweenNoneAndOne, ()) {
  const auto number = [] { return *rc::gen::inRange<uint32_t>(0, 3); };
  const auto machine = [&] {
    return MachineSpec{*rc::gen::element<std::string>("", "a", "b"), number(), number(), number(), number()};
  };
  std::vector<NodeType> types;
  for (uint32_t i = 0, count = *rc::gen::inRange<uint32_t>(1, 6); i < count; ++i)
    types.push_back({i, machine(), *rc::gen::inRange<uint64_t>(0, 4)});
  const MachineSpec wanted = machine();
  const auto found = FindNodeType(types, wanted);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->similarity >= 0 && found->similarity <= 1);
  RC_ASSERT(found->uncertainty >= 0 && found->uncertainty < 1);
  for (const NodeType& type : types) RC_ASSERT(Similarity(wanted, type.machine) <= found->similarity);
}

}  // namespace
}  // namespace kepler::model
