#include "config/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/parse.h"
#include "base/text.h"
#include "config/draft.h"
#include "config/load_yaml.h"
#include "config/schema.h"

namespace kepler::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Every value drawn at random, within its bounds.
struct RandomValue {
  const Key& key;

  static std::string Text() {
    // What a configuration can hold: valid UTF-8 without spaces at its ends.
    return std::string(Trim(SanitizeUtf8(*rc::gen::container<std::string>(rc::gen::inRange(-128, 128)), 100)));
  }
  static std::vector<int> Indexes() { return *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1025)); }

  void operator()(bool* value) const { *value = *rc::gen::arbitrary<bool>(); }
  void operator()(int64_t* value) const { *value = *rc::gen::arbitrary<int64_t>(); }
  void operator()(double* value) const { *value = *rc::gen::arbitrary<double>(); }
  void operator()(Duration* value) const { *value = Duration(*rc::gen::arbitrary<int64_t>()); }
  void operator()(std::string* value) const { *value = Text(); }
  void operator()(Strings* value) const {
    value->clear();
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) value->push_back(Text());
  }
  void operator()(uint32_t* value) const { *value = *rc::gen::inRange<uint32_t>(1, kLevelAll + 1); }
  void operator()(ChipRules* value) const {
    value->clear();
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
      ChipRule rule{.name = "n" + Text(),
                    .pairings = {},
                    .skip_voltages = Indexes(),
                    .skip_currents = Indexes(),
                    .use_same_index = *rc::gen::arbitrary<bool>()};
      for (const int index : Indexes()) rule.pairings[index] = index / 2;
      value->push_back(rule);
    }
  }
};

RC_GTEST_PROP(PrintConfig, AnyConfiguration_ReadsBackAsItself, ()) {
  Config config;
  for (const Key& key : Keys()) std::visit(RandomValue{key}, key.field(config));
  const std::string text = PrintConfig(config, false);
  Draft draft("k.yaml");
  LoadYaml(draft, text);
  RC_ASSERT(draft.errors() == std::vector<std::string>{});
  RC_ASSERT(draft.unknown() == std::vector<std::string>{});
  RC_ASSERT(draft.config == config);
}

TEST(PrintConfig, Defaults_AsNestedBlocksInTheOrderOfTheTable) {
  const std::string text = PrintConfig(Config{}, true);
  EXPECT_THAT(text, HasSubstr("log:\n  level: info\n  format: text\nhost:\n  sysfs: /sys\n  procfs: /proc\n"));
  EXPECT_THAT(text, HasSubstr("  terminatedRetention: 2m\n"));
  EXPECT_THAT(text, HasSubstr("    metricsLevel: [node, process, container, vm, pod]\n"));
  EXPECT_THAT(text, HasSubstr("  listenAddresses: [\":28282\"]\n"));
  EXPECT_THAT(text,
              HasSubstr("experimental:\n  platform:\n    redfish:\n      enabled: false\n      nodeName: \"\"\n"));
  EXPECT_THAT(text, HasSubstr("      httpTimeout: 5s\n  hwmon:\n    forceEnabled: false\n"));
}

TEST(PrintConfig, CredentialsInUrls_AreHiddenOnRequest) {
  Config config;
  config.experimental.gpu.dcgm_endpoint = "http://user:geheim@host:1/x";
  EXPECT_THAT(PrintConfig(config, true), HasSubstr("dcgmEndpoint: \"http://***@host:1/x\"\n"));
  EXPECT_THAT(PrintConfig(config, true), Not(HasSubstr("geheim")));
  EXPECT_THAT(PrintConfig(config, false), HasSubstr("geheim"));
}

TEST(PrintConfig, UrlsWithoutCredentials_StayAsTheyAre) {
  Config config;
  config.experimental.gpu.dcgm_endpoint = "http://host:1/a@b";
  EXPECT_THAT(PrintConfig(config, true), HasSubstr("\"http://host:1/a@b\""));
}

TEST(PrintConfig, WordsThatYamlReadsOtherwise_AreQuoted) {
  Config config;
  for (const char* word : {"yes", "null", "5", "", "a: b", "#x", "-", "a\"b\\c\n"}) {
    config.kube.node_name = word;
    EXPECT_THAT(PrintConfig(config, false), HasSubstr("nodeName: \"")) << word;
  }
}

TEST(PrintConfig, WhatATerminalObeys_IsEscapedAndReadsBack) {
  Draft draft("");
  draft.config.kube.node_name = "a\u202E\u202C\xC2\x9B\x1B";
  const std::string text = PrintConfig(draft.config, false);
  EXPECT_THAT(text, HasSubstr("nodeName: \"a\\u202e\\u202c\\u009b\\u001b\"\n"));
  Draft read("");
  LoadYaml(read, text);
  EXPECT_EQ(read.config.kube.node_name, draft.config.kube.node_name);
}

TEST(ConfigurationMarkdown, FileInDocs_IsUpToDate) {
  std::ifstream in(KEPLER_DOCS_DIR "/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, ConfigurationMarkdown()) << "run: kepler_config_docs > docs/configuration.md";
}

TEST(ConfigurationMarkdown, EveryKeyAndFlag_IsListed) {
  const std::string text = ConfigurationMarkdown();
  for (const Key& key : Keys()) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(key.path) + "` |"));
    if (key.flag.empty()) continue;
    EXPECT_THAT(text, HasSubstr(std::string(key.flag) + "`"));
  }
}

}  // namespace
}  // namespace kepler::config
