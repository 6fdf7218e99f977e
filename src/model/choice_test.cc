#include "model/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kepler::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const MachineSpec kHere{"amd_epyc_7763", 128, 2, 503, 3500};
const MachineSpec kAlike{"amd_epyc_7763", 128, 2, 377, 3500};
const MachineSpec kOther{"intel_xeon_platinum_8488c", 96, 1, 377, 3800};

KnownModel Of(std::string name, std::optional<MachineSpec> machine) {
  KnownModel known{.model = {}, .source = "/models/" + name};
  known.model.name = std::move(name);
  known.model.features = {"cpu_cycles"};
  known.model.machine = std::move(machine);
  ComponentModel& component = known.model.components.emplace_back();
  component.predictor.formula = Linear{.bias = 10, .weights = {1}};
  return known;
}

KnownModel Stating(KnownModel known, std::optional<double> here, std::optional<double> elsewhere) {
  const auto error = [](std::optional<double> mape) -> std::optional<Accuracy> {
    if (!mape) return std::nullopt;
    return Accuracy{.rows = 10, .mae_watts = *mape, .mape = *mape, .r2 = 0.9};
  };
  known.model.components[0].accuracy = error(here);
  known.model.components[0].unseen = error(elsewhere);
  return known;
}

KnownModel Chosen(KnownModel known) {
  known.chosen = true;
  return known;
}

Situation Here(const MachineSpec& machine = kHere) {
  return {.machine = machine, .has = [](std::string_view feature) { return feature == "cpu_cycles"; }};
}

Result<Choice> Choose(const std::vector<KnownModel>& models, const Situation& here = Here()) {
  ModelSet set;
  for (const KnownModel& known : models) set.push_back(std::make_shared<const KnownModel>(known));
  return ChooseModel(set, Component::kPackage, here);
}

/// The name of the best, or why none is.
std::string Best(const std::vector<KnownModel>& models, const Situation& here = Here()) {
  const auto choice = Choose(models, here);
  return choice ? models[choice->model].model.name : choice.error().message;
}

TEST(ChooseModel, LowestErrorThatAppliesHere) {
  // What it states for its own machine says nothing of one that is only alike.
  const auto own = Stating(Of("own", kHere), 5, 1);
  const auto alike = Stating(Of("alike", kAlike), 1, 8);
  EXPECT_EQ(Best({alike, own}), "own");
  const auto chosen = Choose({alike, own});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->similarity, 1);
  EXPECT_EQ(chosen->expected->mape, 5);
  EXPECT_EQ(Best({Stating(Of("alike", kAlike), 20, 4), own}), "alike");
}

TEST(ChooseModel, StatedBeforeUnstated_ThenByLikeness_ThenByName) {
  EXPECT_EQ(Best({Of("same", kHere), Stating(Of("alike", kAlike), 1, 60)}), "alike");
  EXPECT_EQ(Best({Of("a", kAlike), Of("b", kHere)}), "b");
  EXPECT_EQ(Best({Of("b", kHere), Of("a", kHere)}), "a");
  EXPECT_EQ(Best({Stating(Of("b", kHere), 7, {}), Stating(Of("a", kHere), 7, {})}), "a");
  auto newer = Of("a", kHere);
  newer.model.version = 2;
  const std::vector both = {Of("a", kHere), newer};
  EXPECT_EQ(Choose(both)->model, 1u);
}

TEST(ChooseModel, ErrorOfNoRowsOrNoNumber_IsNone) {
  const auto untested = Stating(Of("untested", kHere), 0, {});  // nothing was metered
  EXPECT_EQ(Best({untested, Stating(Of("tested", kHere), 30, {})}), "tested");
  const auto none = Stating(Of("none", kHere), std::numeric_limits<double>::quiet_NaN(), {});
  EXPECT_EQ(Best({none, Stating(Of("tested", kHere), 30, {})}), "tested");
  EXPECT_EQ(Best({Stating(Of("tested", kHere), 30, {}), none}), "tested");
}

TEST(ChooseModel, UntestedOnThisMachine_TakesTheErrorOfOtherMachines) {
  const auto chosen = Choose({Stating(Of("untested", kHere), 0, 8)});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->expected->mape, 8);
}

TEST(ChooseModel, AllPowerBeforeThatOfLoad_UnlessThatIsWanted) {
  auto load = Stating(Of("load", kHere), 2, {});
  load.model.output = OutputType::kDynPower;
  const auto all = Stating(Of("all", kHere), 9, {});
  EXPECT_EQ(Best({load, all}), "all");
  EXPECT_EQ(Best({load}), "load");
  EXPECT_EQ(Best({Chosen(load), all}), "load") << "somebody named it";
  Situation guest = Here();
  guest.only_load = true;
  EXPECT_EQ(Best({all, load}, guest), "load");
}

TEST(ChooseModel, TooSlow_IsNotUsed) {
  Situation here = Here();
  here.too_slow = {true};
  EXPECT_EQ(Best({Of("a", kHere), Of("b", kHere)}, here), "b");
  EXPECT_THAT(Best({Of("a", kHere)}, here), HasSubstr("a (/models/a): it takes too long to predict"));
}

TEST(ChooseModel, OneThatWasNamed_IsUsedOnAnyMachine) {
  EXPECT_EQ(Best({Stating(Of("good", kHere), 1, {}), Chosen(Of("named", {}))}), "named");
  const std::vector named = {Chosen(Stating(Of("named", kOther), 2, 9))};
  const auto choice = Choose(named);
  ASSERT_TRUE(choice);
  EXPECT_LT(choice->similarity, kMinSimilarity);
  EXPECT_EQ(choice->expected->mape, 9) << "it is another machine";
}

const CpuId kMilan{"AuthenticAMD", 25, 1, {"avx", "avx2", "sha_ni"}};

/// A virtual machine on the processor of kHere.
MachineSpec Guest() {
  return {.processor = "amd_epyc_milan_processor",  // as QEMU names it
          .cores = 4,
          .chips = 1,
          .memory_gib = 15,
          .frequency_mhz = 2400,
          .cpuid = {"AuthenticAMD", 25, 1, {"avx", "avx2"}},
          .is_guest = true};
}

MachineSpec WithId(MachineSpec machine, CpuId cpuid) {
  machine.cpuid = std::move(cpuid);
  return machine;
}

TEST(ChooseModel, Guest_TakesTheModelOfItsProcessor) {
  const std::vector models = {Stating(Of("host", WithId(kHere, kMilan)), 1, 7)};
  const auto choice = Choose(models, Here(Guest()));
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->match, Match::kSameProcessor);
  EXPECT_EQ(choice->expected->mape, 7) << "the error on the whole host says nothing of a part";
  MachineSpec bare = Guest();
  bare.is_guest = false;
  EXPECT_THAT(Best(models, Here(bare)), HasSubstr("is similar to this one"));
}

TEST(ChooseModel, Guest_RefusesOtherProcessors) {
  const auto why = [](const CpuId& cpuid) { return Best({Of("m", WithId(kHere, cpuid))}, Here(Guest())); };
  EXPECT_THAT(why({"AuthenticAMD", 25, 17}), AllOf(HasSubstr("amd_epyc_7763, AuthenticAMD family 25 model 17"),
                                                   HasSubstr("is not the one of this guest")));
  EXPECT_THAT(why({"AuthenticAMD", 26, 1}),
              HasSubstr("is not the one of this guest (amd_epyc_milan_processor, AuthenticAMD family 25 model 1)"));
  EXPECT_THAT(why({"HygonGenuine", 25, 1}), HasSubstr("is not the one of this guest"));
  EXPECT_THAT(why({"AuthenticAMD", 25, 1, {"avx"}}), HasSubstr("lacks avx2, which this guest has"));
  EXPECT_EQ(why({"AuthenticAMD", 25, 1}), "m") << "its features are not known";
}

TEST(ChooseModel, Guest_GoesByTheName_IfTheModelHasNoCpuid) {
  EXPECT_THAT(Best({Of("m", kHere)}, Here(Guest())), HasSubstr("is not the one of this guest"));
  MachineSpec guest = Guest();
  guest.processor = kHere.processor;
  EXPECT_EQ(Best({Of("m", kHere)}, Here(guest)), "m");
  guest.processor.clear();  // hidden
  EXPECT_EQ(Best({Of("m", WithId(kHere, kMilan))}, Here(guest)), "m");
  guest.cpuid = {};
  EXPECT_THAT(Best({Of("m", WithId(kHere, kMilan))}, Here(guest)),
              HasSubstr("the processor of this machine is unknown"));
}

TEST(ChooseModel, Match_SaysWhyAModelIsUsed) {
  const auto match = [](const KnownModel& known, const MachineSpec& here = kHere) {
    return std::string(Name(Choose({known}, Here(here))->match));
  };
  EXPECT_EQ(match(Of("m", kHere)), "same_machine");
  EXPECT_EQ(match(Of("m", kAlike)), "similar");
  EXPECT_EQ(match(Of("m", WithId(kHere, kMilan)), Guest()), "same_processor");
  EXPECT_EQ(match(Of("m", Guest()), Guest()), "same_machine");
  EXPECT_EQ(match(Chosen(Of("m", kOther))), "named");
  const MachineSpec small{"amd_epyc_7763", 16, 1, 31, 3500};
  EXPECT_THAT(Best({Of("m", small)}), HasSubstr("is similar to this one"));
  KnownModel per_core = Of("m", small);
  per_core.model.per = Per::kCore;
  EXPECT_EQ(match(per_core), "scales_per_core");
  per_core.model.machine->processor = kOther.processor;
  EXPECT_THAT(Best({per_core}), HasSubstr("is similar to this one"));
  EXPECT_EQ(match(Chosen(Of("m", {}))), "named");
  EXPECT_EQ(match(Chosen(Of("m", kHere))), "same_machine") << "it would be used in a directory, too";
}

TEST(ChooseModel, EqualNamesOfOtherProcessors_AreNotTheSameMachine) {
  MachineSpec guest = Guest();
  guest.processor = "intel_xeon_processor";  // of several generations, if the hypervisor hides the model
  EXPECT_EQ(Best({Of("m", guest)}, Here(guest)), "m");
  EXPECT_THAT(Best({Of("m", WithId(guest, kMilan))}, Here(WithId(guest, {"GenuineIntel", 6, 143}))),
              HasSubstr("is not the one of this guest"));
}

TEST(ChooseModel, NoneFits_SaysOfEachWhy) {
  auto dram = Of("dram", kHere);
  dram.model.components[0].component = Component::kDram;
  auto counters = Chosen(Of("counters", kHere));
  counters.model.features = {"cpu_cycles", "cache_miss", "cpu_instructions"};
  counters.model.components[0].predictor.formula = Linear{.bias = 0, .weights = {1, 1, 1}};
  const auto none = Choose({dram, counters, Of("far", kOther), Of("unsaid", {})});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Choose({dram}).error().kind, ErrorKind::kNotFound) << "nobody expects a package of it";
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("dram (/models/dram): it does not have package"),
                    HasSubstr("counters (/models/counters): it needs cache_miss, cpu_instructions, which are unknown"),
                    HasSubstr("far (/models/far): its machine (intel_xeon_platinum_8488c)"),
                    HasSubstr("unsaid (/models/unsaid): it does not name its machine")));
}

TEST(ChooseModel, NoModels) { EXPECT_EQ(Best({}), "there are no models"); }

TEST(ChooseModel, HundredsOfThem_AreNotAllNamed) {
  std::vector<KnownModel> many;
  for (int i = 0; i < 200; ++i) many.push_back(Of("m" + std::to_string(i), {}));
  EXPECT_THAT(Best(many), AllOf(HasSubstr("; and 192 more"), ::testing::SizeIs(::testing::Lt(1000))));
}

TEST(ChooseModel, WhereTheProcessorIsNotKnown_OnlyOneThatWasNamed) {
  MachineSpec unknown = kHere;
  unknown.processor.clear();
  const Situation here = Here(unknown);
  EXPECT_THAT(Best({Of("m", kHere)}, here), HasSubstr("the processor of this machine is unknown"));
  const std::vector named = {Chosen(Stating(Of("m", kHere), 2, {}))};
  EXPECT_EQ(Choose(named, here)->expected, std::nullopt);
}

// The weight files of Kepler 0.7 name bpf_page_cache_hit and give it the weight 0.
TEST(ChooseModel, FeaturesWithoutWeightAreNotMissed) {
  auto linear = Of("linear", kHere);
  linear.model.features = {"bpf_page_cache_hit", "cpu_cycles"};
  linear.model.components[0].predictor.formula = Linear{.bias = 1, .weights = {0, 1}};
  auto curve = linear;
  curve.model.components[0].predictor.formula = Curve{.feature = 1};
  auto scaled = linear;
  scaled.model.components[0].predictor.formula = Linear{.bias = 1, .weights = {1, 1}};
  scaled.model.components[0].predictor.scale = {0, 1};
  const double row[] = {std::numeric_limits<double>::quiet_NaN(), 3};
  for (const auto& known : {linear, curve, scaled}) {
    EXPECT_EQ(Best({known}), "linear");
    EXPECT_FALSE(std::isnan(Predict(known.model.components[0].predictor, row)));
  }
}

RC_GTEST_PROP(ChooseModel, AnySet_TheOrderDoesNotMatter, ()) {
  const auto error = [] { return *rc::gen::element<std::optional<double>>(std::nullopt, 0.0, 1.0, 2.0); };
  std::vector<KnownModel> models;
  for (int i = 0, count = *rc::gen::inRange(1, 8); i < count; ++i) {
    auto known = Of(*rc::gen::element<std::string>("a", "b"),
                    *rc::gen::element<std::optional<MachineSpec>>(std::nullopt, kHere, kAlike, kOther));
    known = Stating(std::move(known), error(), error());
    known.chosen = *rc::gen::arbitrary<bool>();
    known.model.output = *rc::gen::element(OutputType::kAbsPower, OutputType::kDynPower);
    known.model.version = *rc::gen::inRange<uint32_t>(1, 3);
    known.source = std::to_string(i);  // no two come from one place
    models.push_back(std::move(known));
  }
  const auto first = Choose(models);
  auto turned = models;
  std::ranges::rotate(turned, turned.begin() + *rc::gen::inRange<ptrdiff_t>(0, std::ssize(turned)));
  if (*rc::gen::arbitrary<bool>()) std::ranges::reverse(turned);
  const auto second = Choose(turned);
  RC_ASSERT(first.has_value() == second.has_value());
  if (first)
    RC_ASSERT(models[first->model].source == turned[second->model].source);
  else
    RC_ASSERT(first.error().message == second.error().message);
}

}  // namespace
}  // namespace kepler::model
