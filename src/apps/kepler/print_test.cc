
#include "settings/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "apps/kepler/config_test_util.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using settings::Field;
using settings::Several;

std::string PrintConfig(const Config& config, bool hide_secrets) {
  return settings::Print(kTable.Of(config), hide_secrets);
}

/// Every value drawn at random, within its bounds.
struct RandomValue {
  const settings::Key& key;

  static std::string Text() {
    // What a configuration can hold: valid UTF-8 without spaces at its ends.
    return std::string(Trim(SanitizeUtf8(*rc::gen::container<std::string>(rc::gen::inRange(-128, 128)), 100)));
  }
  [[nodiscard]] int Choices() const { return static_cast<int>(key.details.choices.size()); }

  void operator()(bool* value) const { *value = *rc::gen::arbitrary<bool>(); }
  void operator()(int* value) const { *value = *rc::gen::inRange(0, 1025); }
  void operator()(int64_t* value) const { *value = *rc::gen::arbitrary<int64_t>(); }
  void operator()(double* value) const { *value = *rc::gen::arbitrary<double>(); }
  void operator()(Duration* value) const { *value = Duration(*rc::gen::arbitrary<int64_t>()); }
  void operator()(std::string* value) const { *value = (key.details.required ? "n" : "") + Text(); }
  void operator()(uint8_t* value) const { *value = static_cast<uint8_t>(*rc::gen::inRange(0, Choices())); }
  void operator()(uint32_t* value) const { *value = *rc::gen::inRange(1u, 1u << Choices()); }
  void operator()(const Several& several) const {
    several.clear(several.values);
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
      several.add(several.values, [&](const Field& name, const Field& item) {
        if (several.keyed) std::visit(*this, name);
        std::visit(*this, item);
        return true;
      });
  }
  void operator()(const settings::Block& block) const {
    for (const settings::Key& own : key.details.items->keys) std::visit(RandomValue{own}, own.place.of(block.values));
  }
};

bool Same(const settings::Key& key, const Field& a, const Field& b) {
  const auto* several = std::get_if<Several>(&a);
  const auto* block = std::get_if<settings::Block>(&a);
  if (block != nullptr)
    return std::ranges::all_of(key.details.items->keys, [&](const settings::Key& own) {
      return Same(own, own.place.of(block->values), own.place.of(std::get<settings::Block>(b).values));
    });
  if (several == nullptr)
    return std::visit(
        [&]<class Value>(const Value& value) {
          if constexpr (std::is_pointer_v<Value>) return *value == *std::get<Value>(b);
          return false;
        },
        a);
  const auto fields = [](const Several& of) {
    std::vector<std::pair<Field, Field>> all;
    of.each(of.values, [&](const Field& name, const Field& item) { all.emplace_back(name, item); });
    return all;
  };
  const auto left = fields(*several), right = fields(std::get<Several>(b));
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (several->keyed && !Same(key, left[i].first, right[i].first)) return false;
    if (!Same(key, left[i].second, right[i].second)) return false;
  }
  return true;
}

RC_GTEST_PROP(PrintConfig, AnyConfiguration_ReadsBackAsItself, ()) {
  Config config;
  for (const settings::Key& key : kTable.keys) std::visit(RandomValue{key}, key.place.of(&config));
  const auto draft = ConfigDraft::Of(PrintConfig(config, false));
  RC_ASSERT(draft->errors() == Strings{});
  RC_ASSERT(draft->unknown() == Strings{});
  for (const settings::Key& key : kTable.keys) RC_ASSERT(Same(key, key.place.of(&config), draft->field(key)));
}

TEST(PrintConfig, Defaults_AsNestedBlocksInTheOrderOfTheTable) {
  const std::string text = PrintConfig(Config{}, true);
  EXPECT_THAT(text, HasSubstr("log:\n  level: info\n  format: text\nhost:\n  sysfs: /sys\n  procfs: /proc\n"));
  EXPECT_THAT(text, HasSubstr("  terminatedRetention: 2m\n"));
  EXPECT_THAT(text, HasSubstr("    metricsLevel: [node, process, container, vm, pod]\n"));
  EXPECT_THAT(text, HasSubstr("  listenAddresses: [\":28282\"]\n"));
  EXPECT_THAT(text,
              HasSubstr("experimental:\n  platform:\n    redfish:\n      enabled: false\n      nodeName: \"\"\n"));
  EXPECT_THAT(text, HasSubstr("      httpTimeout: 5s\n      interval: 15s\n  hwmon:\n    forceEnabled: false\n"));
}

TEST(PrintConfig, CredentialsInUrls_AreHiddenOnRequest) {
  Config config;
  config.gpu_dcgm_endpoint = "http://user:geheim@host:1/x";
  EXPECT_THAT(PrintConfig(config, true), HasSubstr("dcgmEndpoint: \"http://***@host:1/x\"\n"));
  EXPECT_THAT(PrintConfig(config, true), Not(HasSubstr("geheim")));
  EXPECT_THAT(PrintConfig(config, false), HasSubstr("geheim"));
}

TEST(PrintConfig, UrlsWithoutCredentials_StayAsTheyAre) {
  Config config;
  config.gpu_dcgm_endpoint = "http://host:1/a@b";
  EXPECT_THAT(PrintConfig(config, true), HasSubstr("\"http://host:1/a@b\""));
}

TEST(PrintConfig, QueriesOfUrls_AreHiddenOnRequest) {
  Config config;
  config.model_sources = {"https://host/a.json?token=geheim#power=AbsPower", "http://user@host?mail=a@geheim", "/a?b"};
  const std::string shown = PrintConfig(config, true);
  EXPECT_THAT(shown, HasSubstr(R"(sources: ["https://host/a.json?***", "http://***@host?***", "/a?b"])"));
  EXPECT_THAT(shown, Not(HasSubstr("geheim")));
  EXPECT_THAT(PrintConfig(config, false), HasSubstr("token=geheim#power=AbsPower"));
}

TEST(PrintConfig, WordsThatYamlReadsOtherwise_AreQuoted) {
  Config config;
  for (const char* word : {"yes", "null", "5", "", "a: b", "#x", "-", "a\"b\\c\n"}) {
    config.node_name = word;
    EXPECT_THAT(PrintConfig(config, false), HasSubstr("nodeName: \"")) << word;
  }
}

TEST(PrintConfig, WhatATerminalObeys_IsEscapedAndReadsBack) {
  Config config;
  config.node_name = "a\u202E\u202C\xC2\x9B\x1B";
  const std::string text = PrintConfig(config, false);
  EXPECT_THAT(text, HasSubstr("nodeName: \"a\\u202e\\u202c\\u009b\\u001b\"\n"));
  EXPECT_EQ(ConfigDraft::Of(text)->config.node_name, config.node_name);
}

}  // namespace
}  // namespace kepler::agent
