
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "apps/kepler/config_test_util.h"
#include "settings/print.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Schema, PathsAndFlags_AreUnique) {
  std::set<std::string_view> paths;
  std::set<std::string_view> flags;
  for (const settings::Key& key : kTable.keys) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    for (const std::string_view flag : {key.flag, key.details.alias}) {
      if (flag.empty()) continue;
      EXPECT_TRUE(flags.insert(flag).second) << flag;
    }
  }
}

TEST(Schema, KeysOfABlock_StandTogether) {
  std::set<std::string> left;
  std::string current;
  for (const settings::Key& key : kTable.keys) {
    const std::string block(key.path.substr(0, key.path.find('.')));
    if (block == current) continue;
    EXPECT_TRUE(left.insert(block).second) << block << " is opened twice";
    current = block;
  }
}

TEST(Schema, NoPath_IsAlsoABlock) {
  for (const settings::Key& key : kTable.keys)
    for (const settings::Key& other : kTable.keys)
      EXPECT_FALSE(other.path.starts_with(std::string(key.path) + ".")) << other.path;
}

TEST(Schema, EveryHelp_IsOneLineWithoutAFullStop) {
  for (const settings::Key& key : kTable.keys) {
    EXPECT_FALSE(key.help.empty()) << key.path;
    EXPECT_EQ(settings::Meaning(key).find('\n'), std::string_view::npos) << key.path;
    EXPECT_FALSE(settings::Meaning(key).ends_with('.')) << key.path;
  }
}

TEST(Schema, KeyWithoutEffect_SaysSo) {
  EXPECT_THAT(settings::Meaning(settings::KeyAt(kTable.keys, "debug.pprof.enabled")),
              HasSubstr("; not in this version: there is no Go"));
  EXPECT_THAT(settings::Meaning(settings::KeyAt(kTable.keys, "experimental.gpu.idlePower")),
              HasSubstr("; not in this version: "));
  EXPECT_EQ(settings::Meaning(settings::KeyAt(kTable.keys, "kube.nodeName")).find("not in this version"),
            std::string::npos);
}

struct Changer {
  void operator()(bool* value) const { *value = !*value; }
  void operator()(std::string* value) const { *value += "x"; }
  void operator()(Duration* value) const { *value += Duration(1); }
  void operator()(uint8_t* value) const { *value ^= 1; }
  void operator()(uint32_t* value) const { --*value; }
  void operator()(const settings::Several& several) const {
    several.add(several.values, [](const settings::Field&, const settings::Field&) { return true; });
  }
  void operator()(settings::Block) const { FAIL() << "stands in lists only"; }
  template <class Number>
  void operator()(Number* value) const {
    ++*value;
  }
};

TEST(Schema, ChangedValue_IsTheOneKeyThatIsNamed) {
  const auto changed_keys = [](const Config& config) {
    return settings::ChangedKeys(kTable.Of(Config{}), kTable.Of(config));
  };
  EXPECT_THAT(changed_keys(Config{}), IsEmpty());
  for (const settings::Key& key : kTable.keys) {
    Config changed;
    std::visit(Changer{}, key.place.of(&changed));
    EXPECT_THAT(changed_keys(changed), ElementsAre(key.path));
  }
}

TEST(Schema, EveryEnumerator_HasItsName) {
  const auto names = [](std::string_view path) { return settings::KeyAt(kTable.keys, path).details.choices; };
  static_assert(static_cast<int>(log::Level::kDebug) == 0 && static_cast<int>(log::Level::kError) == 3);
  EXPECT_THAT(names("log.level"), ElementsAre("debug", "info", "warn", "error"));
  static_assert(static_cast<int>(log::Format::kText) == 0);
  EXPECT_THAT(names("log.format"), ElementsAre("text", "json"));
  static_assert(static_cast<int>(Meter::kRapl) == 0 && static_cast<int>(Meter::kFake) == 2);
  EXPECT_THAT(names("cpu.preferredMeters"), ElementsAre("rapl", "hwmon", "fake"));
  static_assert(static_cast<int>(ActivityChoice::kAuto) == 0 && static_cast<int>(ActivityChoice::kProcfs) == 2);
  EXPECT_THAT(names("activity.source"), ElementsAre("auto", "bpf", "procfs"));
  static_assert(static_cast<int>(Counters::kOff) == 0);
  EXPECT_THAT(names("activity.counters"), ElementsAre("off", "hardware"));
  static_assert(static_cast<int>(pipeline::CpuWeights::kTime) == 0);
  EXPECT_THAT(names("attribution.weights"), ElementsAre("cpu-time", "counters", "model"));
  static_assert(static_cast<int>(snapshot::RatioMethod::kProcStat) == 0);
  EXPECT_THAT(names("attribution.ratio"), ElementsAre("proc-stat", "exact"));
  static_assert(static_cast<int>(pipeline::IdlePolicy::kRatio) == 0);
  EXPECT_THAT(names("attribution.split"), ElementsAre("ratio", "baseline"));
  static_assert(static_cast<int>(snapshot::IdlePayers::kNode) == 0);
  static_assert(static_cast<int>(snapshot::IdlePayers::kByRequest) == 2);
  EXPECT_THAT(names("attribution.idle"), ElementsAre("node", "by-use", "by-request"));
  static_assert(static_cast<int>(attribution::KernelThreads::kEach) == 0);
  static_assert(static_cast<int>(attribution::KernelThreads::kNone) == 2);
  EXPECT_THAT(names("exporter.prometheus.limits.kernelThreads"), ElementsAre("each", "one", "none"));
  static_assert(static_cast<int>(MetricsLevel::kNode) == 0 && static_cast<int>(MetricsLevel::kUser) == 7);
  EXPECT_THAT(names("exporter.prometheus.metricsLevel"),
              ElementsAre("node", "process", "container", "vm", "pod", "namespace", "owner", "user"));
  static_assert(static_cast<int>(DebugCollector::kGo) == 0);
  EXPECT_THAT(names("exporter.prometheus.debugCollectors"), ElementsAre("go", "process"));
  static_assert(static_cast<int>(InformerMode::kAuto) == 0);
  EXPECT_THAT(names("kube.podInformer.mode"), ElementsAre("auto", "kubelet", "apiserver"));
}

TEST(Schema, SwitchedOnButMissing_IsNamed) {
  const auto warnings = [](const Config& config) {
    ConfigDraft draft;
    draft.config = config;
    draft.CheckTable();
    EXPECT_THAT(draft.errors(), IsEmpty());
    return draft.warnings();
  };
  Config config;
  EXPECT_THAT(warnings(config), IsEmpty());
  config.node_name = "n1";
  config.stdout_enabled = true;
  EXPECT_THAT(warnings(config), IsEmpty());
  config.pprof_enabled = true;
  config.gpu_enabled = true;
  EXPECT_THAT(warnings(config), ElementsAre(StartsWith("not in this version: debug.pprof.enabled: "),
                                            StartsWith("not in this version: experimental.gpu.enabled: ")));
}

}  // namespace
}  // namespace kepler::agent
