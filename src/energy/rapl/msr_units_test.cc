#include "energy/rapl/msr_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/counter_delta.h"

namespace kepler::energy::rapl {
namespace {

constexpr X86Model kSkylakeX = {0, 6, 0x55};
constexpr X86Model kSapphireRapids = {0, 6, 0x8F};
constexpr X86Model kClient = {0, 6, 0x9E};
constexpr X86Model kSilvermont = {0, 6, 0x37};
constexpr X86Model kMilan = {2, 0x19, 1};
constexpr uint64_t kExponent14 = 0xA0E03;
constexpr uint64_t kExponent16 = 0xA1003;

TEST(MsrUnitsTest, MsrLayoutOf_Processors_IntelAmdAndNone) {
  EXPECT_EQ(MsrLayoutOf(kSkylakeX)->unit_address, 0x606u);
  EXPECT_EQ(MsrLayoutOf(kSkylakeX)->counters.size(), 5u);
  EXPECT_EQ(MsrLayoutOf(kMilan)->unit_address, 0xC0010299u);
  EXPECT_EQ(MsrLayoutOf({9, 0x18, 1})->counters[0].address, 0xC001029Bu) << "Hygon";
  EXPECT_FALSE(MsrLayoutOf({2, 0x15, 2})) << "before Zen";
  EXPECT_FALSE(MsrLayoutOf({0, 0xF, 6})) << "Pentium 4";
  EXPECT_FALSE(MsrLayoutOf({5, 6, 0xF})) << "Centaur";
}

TEST(MsrUnitsTest, EnergyUnitOf_ModelsAndCounters_AsTheKernelsPmu) {
  const auto shift = [](const X86Model& model, CounterKind kind, uint64_t value) {
    return EnergyUnitOf(model, kind, value)->shift;
  };
  EXPECT_EQ(shift(kSkylakeX, CounterKind::kPackage, kExponent14), 14u);
  EXPECT_EQ(shift(kSkylakeX, CounterKind::kDram, kExponent14), 16u) << "15.3 uJ";
  EXPECT_EQ(shift(kClient, CounterKind::kDram, kExponent14), 14u);
  EXPECT_EQ(shift(kSapphireRapids, CounterKind::kDram, kExponent14), 14u);
  EXPECT_EQ(shift(kSapphireRapids, CounterKind::kPsys, kExponent14), 0u) << "joules";
  EXPECT_EQ(shift(kSkylakeX, CounterKind::kPsys, kExponent14), 14u);
  EXPECT_EQ(shift(kMilan, CounterKind::kPackage, kExponent16), 16u);
  EXPECT_EQ(EnergyUnitOf(kSilvermont, CounterKind::kPackage, 0x505), (EnergyUnit{.factor = 32, .shift = 0}));
  for (const uint64_t empty : {uint64_t{0}, uint64_t{0xA0003}})
    EXPECT_FALSE(EnergyUnitOf(kSkylakeX, CounterKind::kDram, empty)) << empty;
}

TEST(MsrUnitsTest, EnergyUnit_KnownCounts_AreMicrojoules) {
  const EnergyUnit unit{.shift = 14};
  EXPECT_EQ(unit.ToMicrojoules(16'384), 1'000'000u);
  EXPECT_EQ(unit.ToMicrojoules(1), 61u);
  EXPECT_EQ(unit.Range() + 1, 262'144'000'000u);
  EXPECT_EQ((EnergyUnit{.shift = 16}).Range() + 1, 65'536'000'000u);
  EXPECT_EQ((EnergyUnit{.shift = 0}).ToMicrojoules(0xFFFFFFFF), 4'294'967'295'000'000u);
}

RC_GTEST_PROP(MsrUnitsTest, Range_WrapOfAnyUnit_LosesNoMicrojoule, ()) {
  const EnergyUnit unit{.shift = *rc::gen::inRange<uint32_t>(1, 32)};
  const auto before = *rc::gen::inRange<uint32_t>(1'000, 0xFFFFFFFF);
  const auto after = *rc::gen::inRange<uint32_t>(0, before / 1'000);
  const uint32_t used = after - before;
  const auto delta = DeltaBetween(RawCounter{unit.ToMicrojoules(before)}, {unit.ToMicrojoules(after)},
                                  {unit.Range(), Energy::Joules(4'000'000'000)});
  RC_ASSERT(delta.kind == DeltaKind::kWrapped);
  const uint64_t exact = used * unit.factor >> unit.shift;
  const auto counted = static_cast<uint64_t>(delta.energy.microjoules());
  RC_ASSERT(counted == exact || counted == exact + 1);  // the difference of two values that are rounded down
}

}  // namespace
}  // namespace kepler::energy::rapl
