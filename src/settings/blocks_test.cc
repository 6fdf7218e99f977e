// Lists and maps of blocks, in a file as BMCs have one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "settings/draft.h"
#include "settings/print.h"

namespace kepler::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Bmc {
  std::string endpoint;
  bool insecure = false;
  Duration timeout = std::chrono::seconds(5);
  std::vector<int64_t> sensors;
};
struct BmcFile {
  std::map<std::string, std::string> nodes;
  std::map<std::string, Bmc> bmcs;
  std::map<std::string, std::string> passwords;
};

constexpr Key kBmcKeys[] = {
    Key("endpoint", "", "URL", kAt<&Bmc::endpoint>, {.required = true}),
    Key("insecure", "", "Whether certificates are not verified", kAt<&Bmc::insecure>),
    Key("timeout", "", "Longest wait", kAt<&Bmc::timeout>, {.min = 0}),
    Key("sensors", "", "Which to read", kAt<&Bmc::sensors>, {.min = 1, .max = 8}),
};
constexpr TableOf<Bmc> kBmcs(kBmcKeys);
constexpr Key kKeys[] = {
    Key("nodes", "", "Name of a node: its BMC", kAt<&BmcFile::nodes>),
    Key("bmcs", "", "The BMCs by name", kAt<&BmcFile::bmcs>, {.items = &kBmcs}),
    Key("passwords", "", "Name of a BMC: its password", kAt<&BmcFile::passwords>, {.secret = true}),
};
constexpr TableOf<BmcFile> kTable(kKeys);

struct Loaded {
  BmcFile file;
  Strings errors;
  Strings unknown;
};

Loaded Load(const std::string& yaml) {
  Loaded loaded;
  Draft draft(kTable.Of(loaded.file), "bmc.yaml");
  draft.LoadYaml(yaml);
  draft.CheckTable();
  loaded.errors = draft.errors();
  loaded.unknown = draft.unknown();
  return loaded;
}

TEST(Blocks, MapOfBlocks_IsLoadedWhole) {
  const auto [file, errors, unknown] = Load(R"(
nodes: {node-1: bmc-1, 2: bmc-1}
bmcs:
  bmc-1:
    endpoint: https://10.0.0.1
    insecure: yes
    timeout: 1s
    sensors: [0x1, 2]
)");
  EXPECT_THAT(errors, IsEmpty());
  EXPECT_THAT(unknown, IsEmpty());
  EXPECT_THAT(file.nodes, ElementsAre(::testing::Pair("2", "bmc-1"), ::testing::Pair("node-1", "bmc-1")));
  ASSERT_EQ(file.bmcs.size(), 1U);
  const Bmc& bmc = file.bmcs.at("bmc-1");
  EXPECT_EQ(bmc.endpoint, "https://10.0.0.1");
  EXPECT_TRUE(bmc.insecure);
  EXPECT_EQ(bmc.timeout, std::chrono::seconds(1));
  EXPECT_THAT(bmc.sensors, ElementsAre(1, 2));
}

TEST(Blocks, Mistakes_AreNamedWithTheirPathAndLine) {
  const auto [file, errors, unknown] = Load(R"(nodes: {n: [x]}
bmcs:
  a: {insecure: 5}
  b: {endpoint: x, timeout: -1s, retry: 2,
      sensors: [9]}
  c: text
)");
  EXPECT_THAT(
      errors,
      ElementsAre("bmc.yaml:1: nodes: must be a text", "bmc.yaml:3: bmcs.a.insecure: \"5\" is neither true nor false",
                  "bmc.yaml:3: bmcs.a.endpoint: is required", "bmc.yaml:4: bmcs.b.timeout: -1s is less than 0s",
                  "bmc.yaml:5: bmcs.b.sensors: 9 is more than 8",
                  "bmc.yaml:6: bmcs.c: must be a mapping of keys to values"));
  EXPECT_THAT(unknown, ElementsAre("bmc.yaml:4: bmcs.b.retry: unknown key"));
}

TEST(Blocks, MistakenItemOfAMap_IsNamedWithItsOwnLine) {
  EXPECT_THAT(Load("nodes:\n  b: x\n  c: ''\n  a: y\n").errors, ElementsAre("bmc.yaml:3: nodes.c: is empty"));
  EXPECT_THAT(Load("nodes:\n  \" z\": x\n  a: ''\n").errors, ElementsAre("bmc.yaml:3: nodes.a: is empty"));
}

TEST(Blocks, SecretText_IsTakenAsItStandsAndNotPrinted) {
  const auto loaded = Load("passwords: {a: ' -----BEGIN x', b: $2y$10$}");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(loaded.file.passwords.at("a"), " -----BEGIN x");
  const std::string printed = Print(kTable.Of(loaded.file), true);
  EXPECT_EQ(printed.find("BEGIN"), std::string::npos);
  EXPECT_EQ(printed.find("$2y"), std::string::npos);
}

TEST(Blocks, ChangedItem_IsAChangeOfItsList) {
  BmcFile before;
  before.bmcs["a"].endpoint = "x";
  BmcFile after = before;
  EXPECT_THAT(ChangedKeys(kTable.Of(before), kTable.Of(after)), IsEmpty());
  after.bmcs["a"].timeout = Duration{1};
  EXPECT_THAT(ChangedKeys(kTable.Of(before), kTable.Of(after)), ElementsAre("bmcs"));
}

TEST(Blocks, CredentialsOfAnEndpoint_AreHidden) {
  BmcFile file;
  file.bmcs["a"].endpoint = "https://u:geheim@h";
  EXPECT_EQ(Print(kTable.Of(file), true).find("geheim"), std::string::npos);
}

}  // namespace
}  // namespace kepler::settings
