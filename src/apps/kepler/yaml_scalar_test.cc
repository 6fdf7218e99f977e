
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using DraftPtr = std::unique_ptr<ConfigDraft>;

DraftPtr LoadWhole(const std::string& text) { return ConfigDraft::Of("monitor:\n  maxTerminated: " + text + "\n"); }
DraftPtr LoadBool(const std::string& text) { return ConfigDraft::Of("kube:\n  enabled: " + text + "\n"); }

TEST(YamlScalar, WholeNumbers_InEverySpellingOfUpstream) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"+5", 5},
      {"-7", -7},
      {"1_000", 1000},
      {"0x1F", 31},
      {"0X1f", 31},
      {"-0x10", -16},
      {"0o17", 15},
      {"0b101", 5},
      {"010", 8},
      {"-010", -8},
      {"00", 0},
      {"0_10", 8},
      {"08", 8},
      {"5.0", 5},
      {"5.", 5},
      {"1e3", 1000},
      {"1_0.0e+1", 100},
      {"-2.0", -2},
      {"!!int 5", 5},
      {"9223372036854775807", std::numeric_limits<int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<int64_t>::min()},
      {"-9223372036854775808.0", std::numeric_limits<int64_t>::min()},
      {"9223372036854774784.0", 9223372036854774784},  // the real number before 2^63
  };
  for (const auto& [text, expected] : cases) {
    const DraftPtr draft = LoadWhole(text);
    EXPECT_THAT(draft->errors(), IsEmpty()) << text;
    EXPECT_THAT(draft->warnings(), IsEmpty()) << text;
    EXPECT_EQ(draft->config.max_terminated, expected) << text;
  }
}

TEST(YamlScalar, Fraction_IsCutOffWithAWarning) {
  for (const auto& [text, expected] : {std::pair{"0.5", 0}, {"-0.9", 0}, {"-1.5", -1}, {".5", 0}, {"25e-1", 2}}) {
    const DraftPtr draft = LoadWhole(text);
    EXPECT_THAT(draft->errors(), IsEmpty()) << text;
    EXPECT_EQ(draft->config.max_terminated, expected) << text;
    EXPECT_EQ(draft->warnings().size(), 1U) << text;
  }
  EXPECT_THAT(
      ConfigDraft::Of("monitor:\n  minTerminatedEnergyThreshold: 0.5\n")->warnings(),
      ElementsAre("k.yaml:2: monitor.minTerminatedEnergyThreshold: \"0.5\" is read as 0; write a whole number of "
                  "joules"));
}

TEST(YamlScalar, NoWholeNumbers_AreRefused) {
  for (const char* text : {"many", ".nan", ".inf", "-.inf", "nan", "inf", "0x", "0xG", "0b2", "1e", "--5", "+-5", "_5",
                           "1 000", "0x1p3", "5s", "1e99999", "."})
    EXPECT_THAT(LoadWhole(text)->errors(), ElementsAre(HasSubstr("is not a whole number"))) << text;
}

TEST(YamlScalar, TooLargeForTheKey_IsRefused) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "9223372036854775808.0",
                           "-9223372036854777856.0", "0xFFFFFFFFFFFFFFFF", "1e19", "-1e30"})
    EXPECT_THAT(LoadWhole(text)->errors(), ElementsAre(HasSubstr(std::string(text) + "\" does not fit in 64 bits")))
        << text;
}

TEST(YamlScalar, Numbers_InEverySpellingOfUpstream) {
  for (const auto& [text, expected] : {std::pair{"12.5", 12.5}, {"0x10", 16.0}, {"1_000.5", 1000.5}, {"010", 8.0}})
    EXPECT_EQ(ConfigDraft::Of(std::string("experimental: {gpu: {idlePower: ") + text + "}}\n")->config.gpu_idle_power,
              expected)
        << text;
}

TEST(YamlScalar, BooleansOfYaml11_WithQuotesAndWithout) {
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}) {
    EXPECT_TRUE(LoadBool(word)->config.kube_enabled) << word;
    EXPECT_TRUE(LoadBool(std::string("\"") + word + "\"")->config.kube_enabled) << word;
  }
  for (const char* word : {"n", "N", "no", "No", "NO", "off", "Off", "OFF"}) {
    const DraftPtr draft = ConfigDraft::Of(std::string("exporter: {prometheus: {enabled: '") + word + "'}}\n");
    EXPECT_THAT(draft->errors(), IsEmpty()) << word;
    EXPECT_FALSE(draft->config.prometheus_enabled) << word;
  }
}

TEST(YamlScalar, QuotedTextThatIsNoBoolean_IsRefused) {
  for (const char* word : {"'true'", "'false'", "'yEs'", "'1'", "''"})
    EXPECT_THAT(LoadBool(word)->errors(), ElementsAre("k.yaml:2: kube.enabled: must be a boolean, without quotes"))
        << word;
}

TEST(YamlScalar, ChipRules_TakeTheSameSpellings) {
  const DraftPtr draft = ConfigDraft::Of(
      "experimental: {hwmon: {chipRules: [{name: x, pairings: {0x1: 010}, skipVoltages: [2.0], useSameIndex: "
      "'on'}]}}\n");
  EXPECT_THAT(draft->errors(), IsEmpty());
  const energy::hwmon::ChipRule& rule = draft->config.hwmon.chip_rules.at(0);
  EXPECT_THAT(rule.pairings, ElementsAre(std::pair(1, 8)));
  EXPECT_THAT(rule.skip_voltages, ElementsAre(2));
  EXPECT_TRUE(rule.use_same_index);
}

}  // namespace
}  // namespace kepler::agent
