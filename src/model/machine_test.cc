#include "model/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace kepler::model {
namespace {

TEST(NormalProcessorName, AsTheModelServer) {
  EXPECT_EQ(NormalProcessorName("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz"), "intel_xeon_e5_2686v4");
  EXPECT_EQ(NormalProcessorName("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz"), "intel_xeon_platinum_8259cl");
  EXPECT_EQ(NormalProcessorName("Intel(R) Xeon(R) Platinum 8488C"), "intel_xeon_platinum_8488c");
  EXPECT_EQ(NormalProcessorName("AMD EPYC 7763 64-Core Processor"), "amd_epyc_7763_64_core");
  EXPECT_EQ(NormalProcessorName("Intel Xeon E5-2660 v3 (2.60 GHz, 10 core)"), "intel_xeon_e5_2660v3");
  EXPECT_EQ(NormalProcessorName("AMD EPYC 9654 [Genoa], 2.4 GHz"), "amd_epyc_9654");
  EXPECT_EQ(NormalProcessorName("Genuine 64-Bit Multi-Core 900 MHz Thing"), "genuine_thing");
}

TEST(NormalProcessorName, BracketsDoNotCutTheModelOff) {
  EXPECT_EQ(NormalProcessorName("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz"), "intel_core_i7_8700");
}

TEST(NormalProcessorName, Nothing) {
  EXPECT_EQ(NormalProcessorName(""), "");
  EXPECT_EQ(NormalProcessorName(" CPU @ 3.00GHz "), "");
  EXPECT_EQ(NormalProcessorName("(never closed"), "");
}

RC_GTEST_PROP(NormalProcessorName, AnyName_NoBracketsNoSpace, ()) {
  const auto brand =
      *rc::gen::container<std::string>(rc::gen::element('A', 'v', '_', '-', ' ', '(', ')', '1', 'G', 'M'));
  RC_ASSERT(NormalProcessorName(brand).find_first_of(" (") == std::string::npos);
}

TEST(SpecOf, NamesAndRoundsAsModelsDo) {
  EXPECT_EQ(SpecOf({.processor = "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz",
                    .cpus = 72,
                    .packages = 2,
                    .memory_gib = 503,
                    .max_mhz = 2950}),
            (MachineSpec{"intel_xeon_e5_2686v4", 72, 2, 503, 3000}));
  EXPECT_EQ(SpecOf({.processor = "arm 0x41 0xd0c", .max_mhz = 2449}).processor, "arm_0x41_0xd0c");
  EXPECT_EQ(SpecOf({}), MachineSpec());
}

MachineSpec Named(std::string processor) {
  MachineSpec spec;
  spec.processor = std::move(processor);
  return spec;
}

TEST(Similarity, HalfTheSharedLetters) {
  EXPECT_DOUBLE_EQ(Similarity(Named("abcd"), Named("abcdefgh")), 0.25);
  EXPECT_DOUBLE_EQ(Similarity(Named("ABC"), Named("abc")), 1);
  EXPECT_DOUBLE_EQ(Similarity(Named("abc"), Named("")), 0);
}

TEST(Similarity, OnlyWhatIsWantedCounts) {
  const MachineSpec other{"x", 96, 2, 377, 3500};
  EXPECT_DOUBLE_EQ(Similarity({}, other), 1);
  EXPECT_DOUBLE_EQ(Similarity({.processor = {}, .cores = 96, .chips = 0, .memory_gib = 0, .frequency_mhz = 0}, other),
                   1);
  EXPECT_DOUBLE_EQ(Similarity({.processor = {}, .cores = 32, .chips = 0, .memory_gib = 0, .frequency_mhz = 0}, other),
                   0);
  EXPECT_DOUBLE_EQ(Similarity({.processor = {}, .cores = 64, .chips = 2, .memory_gib = 0, .frequency_mhz = 0}, other),
                   (0.6 + 1) / 2);
  EXPECT_DOUBLE_EQ(Similarity({.processor = {}, .cores = 4, .chips = 0, .memory_gib = 0, .frequency_mhz = 0}, {}), 0);
}

// What the model server computes for a machine that is none of the six types of its models for EC2.
TEST(Similarity, OfAnIceLakeToThePublishedTypes) {
  const MachineSpec wanted{"intel_xeon_platinum_8375c", 128, 2, 503, 3500};
  const std::pair<MachineSpec, double> types[] = {{{"intel_xeon_platinum_8259cl", 96, 2, 377, 3500}, 0.568099},
                                                  {{"intel_xeon_e5_2686v4", 72, 2, 503, 3000}, 0.444194},
                                                  {{"intel_xeon_platinum_8275cl", 96, 2, 188, 3900}, 0.553324},
                                                  {{"intel_xeon_platinum_8259cl", 96, 2, 755, 3500}, 0.560956},
                                                  {{"intel_xeon_platinum_8252c", 48, 2, 188, 4500}, 0.449173},
                                                  {{"intel_xeon_platinum_8488c", 96, 1, 377, 3800}, 0.475973}};
  for (const auto& [type, similarity] : types) {
    EXPECT_NEAR(Similarity(wanted, type), similarity, 1e-6) << type.processor;
    EXPECT_FALSE(Covers(wanted, type));
    EXPECT_DOUBLE_EQ(Similarity(type, type), 1);
  }
}

RC_GTEST_PROP(Similarity, AnyMachines_BetweenNoneAndOne, ()) {
  const auto any = [] {
    const auto number = [] { return *rc::gen::inRange<uint32_t>(0, 5); };
    return MachineSpec{*rc::gen::container<std::string>(rc::gen::inRange('a', 'e')), number(), number(), number(),
                       number()};
  };
  const MachineSpec a = any();
  const MachineSpec b = any();
  const double similarity = Similarity(a, b);
  RC_ASSERT(similarity >= 0 && similarity <= 1);
  RC_ASSERT(!Covers(a, b) || similarity == 1);
}

TEST(Covers, WhatIsWantedMustBeEqual) {
  const MachineSpec known{"amd_epyc_7763", 128, 2, 503, 3500};
  EXPECT_TRUE(Covers({}, known));
  EXPECT_TRUE(Covers(Named("amd_epyc_7763"), known));
  EXPECT_FALSE(Covers(Named("amd_epyc"), known));
  EXPECT_FALSE(Covers({.processor = {}, .cores = 64, .chips = 0, .memory_gib = 0, .frequency_mhz = 0}, known));
  EXPECT_FALSE(Covers(known, {}));
}

TEST(Attributes, AreFeaturesByName) {
  const MachineSpec machine{"x", 128, 2, 503, 3500, 2};
  EXPECT_EQ(AttributeOf(machine, "cores"), 128);
  EXPECT_EQ(AttributeOf(machine, "memory_gib"), 503);
  EXPECT_EQ(AttributeOf(machine, "threads_per_core"), 2);
  EXPECT_EQ(AttributeOf(machine, "memory"), std::nullopt);  // a name of files only
  EXPECT_EQ(AttributeOf(machine, "cpu_cycles"), std::nullopt);
  EXPECT_EQ(AttributeOf({.processor = "x", .cores = 4}, "chips"), std::nullopt);
  EXPECT_TRUE(IsAttribute("frequency_mhz"));
  EXPECT_FALSE(IsAttribute("processor"));
}

TEST(Attributes, ThreadsPerCore_AreNotCompared) {
  const MachineSpec known{"x", 128, 2, 503, 3500, 2};
  const MachineSpec old{"x", 128, 2, 503, 3500, 0};
  EXPECT_DOUBLE_EQ(Similarity(known, old), 1);
  EXPECT_TRUE(Covers(known, old));
}

}  // namespace
}  // namespace kepler::model
