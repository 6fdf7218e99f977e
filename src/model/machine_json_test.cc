#include "model/machine_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace kepler::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const MachineSpec kEpyc{"amd_epyc_7763", 128, 2, 503, 3500};

std::string WhyNoMachine(std::string_view text) {
  const auto read = ReadMachineJson(text);
  return read ? "read" : read.error().message;
}

TEST(MachineJson, OwnKeysAndThoseOfTheModelServer) {
  EXPECT_EQ(
      ReadMachineJson(R"({"processor":"amd_epyc_7763","cores":128,"chips":2,"memory_gib":503,"frequency_mhz":3500})"),
      kEpyc);
  EXPECT_EQ(ReadMachineJson(R"({"vendor":"supermicro","processor":"amd_epyc_7763","cores":128,"chips":2,
                                "memory":503,"frequency":3500,"threads_per_core":2})"),
            (MachineSpec{"amd_epyc_7763", 128, 2, 503, 3500, 2}));
  EXPECT_EQ(ReadMachineJson(R"({"attrs":{"processor":"amd_epyc_7763","cores":128,"chips":2,"memory":503,
                                "frequency":3500},"members":["m1","m2"]})"),
            kEpyc);
}

TEST(MachineJson, NameAsTheKernelHasIt_IsMadeNormal) {
  EXPECT_EQ(ReadMachineJson(R"({"processor":"Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz"})")->processor,
            "intel_xeon_e5_2686v4");
}

TEST(MachineJson, MissingOrNull_IsNotKnown) {
  EXPECT_EQ(ReadMachineJson("{}"), MachineSpec());
  EXPECT_EQ(ReadMachineJson(R"({"processor":null,"cores":4,"memory":null})"), (MachineSpec{.cores = 4}));
  EXPECT_EQ(WriteMachineJson({.cores = 4}), "{\"cores\":4}");
  EXPECT_EQ(WriteMachineJson({}), "{}");
}

TEST(MachineJson, WhatIsWrong_IsSaid) {
  EXPECT_THAT(WhyNoMachine(R"({"core":4})"), HasSubstr("unknown key \"core\"; did you mean cores?"));
  EXPECT_THAT(WhyNoMachine(R"({"cores":4,"cores":4})"), HasSubstr("\"cores\" appears twice"));
  EXPECT_THAT(WhyNoMachine(R"({"memory":4,"memory_gib":4})"), HasSubstr(R"(both "memory_gib" and "memory")"));
  EXPECT_THAT(WhyNoMachine(R"({"cores":-1})"), HasSubstr("cores: -1"));
  EXPECT_THAT(WhyNoMachine(R"({"cores":4.5})"), HasSubstr("cores: 4.5"));
  EXPECT_THAT(WhyNoMachine(R"({"cores":5000000000})"), HasSubstr("cores: "));
  EXPECT_THAT(WhyNoMachine(R"({"processor":7})"), HasSubstr("processor: "));
  EXPECT_THAT(WhyNoMachine(R"({"processor":")" + std::string(300, 'x') + "\"}"), HasSubstr("300 bytes"));
  EXPECT_THAT(WhyNoMachine(R"({"attrs":{"cores":"4"},"members":[]})"), HasSubstr("attrs.cores: "));
  EXPECT_THAT(WhyNoMachine(R"({"attrs":{},"cores":4})"), HasSubstr("unknown key \"cores\""));
  EXPECT_THAT(WhyNoMachine("[]"), ::testing::Not("read"));
}

TEST(MachinesJson, OneOrSeveralByName) {
  EXPECT_EQ(*ReadMachinesJson(WriteMachineJson(kEpyc)), (MachinesByName{{"", kEpyc}}));
  EXPECT_EQ(*ReadMachinesJson("{}"), (MachinesByName{{"", {}}}));
  EXPECT_EQ(*ReadMachinesJson(R"({"attrs":{"cores":4},"members":[]})"), (MachinesByName{{"", {.cores = 4}}}));
  EXPECT_EQ(*ReadMachinesJson(R"({"a":{"cores":4},"b":{"attrs":{"cores":8}}})"),
            (MachinesByName{{"a", {.cores = 4}}, {"b", {.cores = 8}}}));
}

TEST(MachinesJson, IdentityOfTheProcessor_IsNoMachine) {
  const MachineSpec machine{.cpuid = {.vendor = "v", .family = 6, .model = 1, .features = {}}};
  EXPECT_EQ(*ReadMachinesJson(WriteMachineJson(machine)), (MachinesByName{{"", machine}}));
}

TEST(MachinesJson, WhatIsWrong_IsSaid) {
  const auto why = [](std::string_view text) { return ReadMachinesJson(text).error().message; };
  EXPECT_THAT(why(R"({"a":{"core":4}})"), HasSubstr("a: unknown key \"core\"; did you mean cores?"));
  EXPECT_THAT(why(R"({"a":{"cores":4},"cores":4})"), HasSubstr("unknown key \"a\""));
  EXPECT_THAT(why(R"({"a":{"cores":4},"a":{"cores":4}})"), HasSubstr("\"a\" appears twice"));
  EXPECT_THAT(why(R"({"a":{"cores":4})"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(why("[]"), ::testing::Not(IsEmpty()));
}

TEST(MachineJson, TruncatedAnywhere_IsMalformed) {
  const std::string text = WriteMachineJson(kEpyc);
  for (size_t size = 0; size < text.size(); ++size) {
    const auto read = ReadMachineJson(std::string_view(text).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().kind, ErrorKind::kMalformed);
  }
}

RC_GTEST_PROP(MachineJson, AnyMachine_IsReadAsItWasWritten, ()) {
  const MachineSpec machine{
      NormalProcessorName(*rc::gen::container<std::string>(rc::gen::element('a', '\\', '"', '7', '_', '.'))),
      *rc::gen::arbitrary<uint32_t>(),
      *rc::gen::arbitrary<uint32_t>(),
      *rc::gen::arbitrary<uint32_t>(),
      *rc::gen::arbitrary<uint32_t>(),
      *rc::gen::arbitrary<uint32_t>()};
  RC_ASSERT(*ReadMachineJson(WriteMachineJson(machine)) == machine);
}

TEST(MachineJson, Identity_IsReadAsItWasWritten) {
  const MachineSpec guest{.cpuid = {"0x41", 8, 3340, {"asimddp", "sve"}}, .is_guest = true};
  EXPECT_EQ(WriteMachineJson(guest),
            R"({"cpuid":{"vendor":"0x41","family":8,"model":3340,"features":["asimddp","sve"]},"is_guest":true})");
  EXPECT_EQ(*ReadMachineJson(WriteMachineJson(guest)), guest);
  const MachineSpec plain{.cores = 4, .cpuid = {"AuthenticAMD", 0, 0, {}}};
  EXPECT_EQ(*ReadMachineJson(WriteMachineJson(plain)), plain);
  EXPECT_EQ(*ReadMachineJson(R"({"cores":4,"cpuid":null,"is_guest":false})"), (MachineSpec{.cores = 4}));
  EXPECT_EQ(ReadMachineJson(R"({"cpuid":{"vendor":"a","family":1,"model":2,"features":["b","a"]}})")->cpuid,
            (CpuId{"a", 1, 2, {"a", "b"}}));
}

TEST(MachineJson, Identity_WhatIsWrong_IsSaid) {
  EXPECT_THAT(WhyNoMachine(R"({"cpuid":7})"), HasSubstr("cpuid"));
  EXPECT_THAT(WhyNoMachine(R"({"cpuid":{}})"), HasSubstr("\"vendor\" is missing"));
  EXPECT_THAT(WhyNoMachine(R"({"cpuid":{"vendor":"","family":1,"model":2,"features":[]}})"),
              HasSubstr("the vendor is empty"));
  EXPECT_THAT(WhyNoMachine(R"({"cpuid":{"vendor":"a","family":1,"model":2,"features":[1]}})"), HasSubstr("features"));
  EXPECT_THAT(WhyNoMachine(R"({"cpuid":{"vendor":"a","familly":1}})"), HasSubstr("did you mean family?"));
  EXPECT_THAT(WhyNoMachine(R"({"is_guest":"yes"})"), HasSubstr("is_guest"));
}

TEST(NodeTypesJson, AreReadByNumber) {
  const auto types = ReadNodeTypesJson(R"({"10":{"attrs":{"processor":"b","cores":2,"chips":1,"memory":4,
      "frequency":1000},"members":[]},"2":{"attrs":{"processor":"a"},"members":["x","y"]}})");
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_THAT(*types, ElementsAre(NodeType{2, {.processor = "a"}, 2}, NodeType{10, {"b", 2, 1, 4, 1000}, 0}));
  EXPECT_THAT(*ReadNodeTypesJson("{}"), IsEmpty());
}

TEST(NodeTypesJson, WhatIsWrong_IsSaid) {
  const auto why = [](std::string_view text) { return ReadNodeTypesJson(text).error().message; };
  EXPECT_THAT(why(R"({"a":{"attrs":{}}})"), HasSubstr("\"a\" is not the number"));
  EXPECT_THAT(why(R"({"1":{"attrs":{}},"01":{"attrs":{}}})"), HasSubstr("the type 1 appears twice"));
  EXPECT_THAT(why(R"({"1":{"members":[]}})"), HasSubstr("attrs"));
  EXPECT_THAT(why(R"({"1":{"attrs":{},"members":4}})"), HasSubstr("members"));
  EXPECT_THAT(why(R"({"1":{"attrs":{},"member":[]}})"), HasSubstr("did you mean members?"));
  EXPECT_THAT(why(R"({"1":{)"), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace kepler::model
