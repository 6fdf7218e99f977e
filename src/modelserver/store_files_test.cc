#include "modelserver/store_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "testing/fake_tree.h"

namespace kepler::modelserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct StoreFiles : ::testing::Test {
  kepler::testing::FakeTree files;

  std::vector<std::string> List() {
    const auto stamps = ListStore(files.root());
    if (!stamps) return {stamps.error().message};
    std::vector<std::string> names;
    for (const auto& [name, stamp] : *stamps) {
      EXPECT_EQ(stamp, StampOf(files.Path(name))) << name;
      names.push_back(name);
    }
    return names;
  }
};

TEST_F(StoreFiles, OnlyFilesOfModelsAreListed) {
  files.Write("own/a/model.json", "{}");
  files.Write("own/a/model.json.sig", "s");
  files.Write("own/a/card.md", "#");
  files.Write("own/model.json.d/x", "");
  files.Write("v0.7/ec2/node_type_index.json", "{}");
  files.Write("v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGD_0.json", "{}");
  files.Write("v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGD_0.zip", "PK");
  files.Write("v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGD_0.pkl", "");
  files.Write("v0.7/ec2/rapl-sysfs/Watts/BPFOnly/SGD_0.json", "{}");
  files.Write(".versions/a/model.json", "{}");
  EXPECT_THAT(List(), ElementsAre("own/a/model.json", "own/a/model.json.sig", "v0.7/ec2/node_type_index.json",
                                  "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGD_0.json",
                                  "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGD_0.zip"));
}

TEST_F(StoreFiles, LinksAreFollowed) {
  files.Write(".versions/a/model.json", "{}");
  files.Symlink("models/a", "../.versions/a");
  files.Symlink("models/gone", "../.versions/gone");
  files.Symlink("models/itself", "itself");
  files.Symlink("b/model.json", "../.versions/a/model.json");
  EXPECT_THAT(List(), ElementsAre("b/model.json", "models/a/model.json"));
}

TEST_F(StoreFiles, ALinkBackIsNotFollowed) {
  files.Write("own/a/model.json", "{}");
  files.Symlink("back", ".");
  files.Symlink("own/a/back", "../..");
  files.Symlink("twin", "own");
  EXPECT_THAT(List(), ElementsAre("own/a/model.json", "twin/a/model.json"));
}

TEST_F(StoreFiles, ListsPipesButNoDirectoriesWithTheNameOfAModel) {
  files.Write("a/model.json/x", "");
  files.Write("b/x", "");
  ASSERT_EQ(mkfifo(files.Path("b/model.json").c_str(), 0600), 0);
  EXPECT_THAT(List(), ElementsAre("b/model.json"));
}

TEST_F(StoreFiles, AMissingRootIsAnErrorThatNamesIt) {
  const auto missing = ListStore(files.Path("nowhere"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("nowhere"));
}

TEST_F(StoreFiles, AnUpstreamPathIsReadFromItsEnd) {
  const auto parsed = ParseUpstream("v0.7/ec2/intel_rapl/DynPower/Full/trainer_1.zip");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pipeline_dir, "v0.7/ec2");
  EXPECT_EQ(parsed->source, "rapl-sysfs");
  EXPECT_EQ(parsed->output, model::OutputType::kDynPower);
  EXPECT_EQ(parsed->group, "Full");
  EXPECT_EQ(parsed->name, "trainer_1");
  EXPECT_EQ(ParseUpstream("acpi/AbsPower/Full/t_1.json")->pipeline_dir, "");
  for (const char* path : {"", "/", "AbsPower/Full/t_1.json", "acpi/Full/t_1.json", "acpi/AbsPower/t_1.json"})
    EXPECT_FALSE(ParseUpstream(path)) << path;
}

}  // namespace
}  // namespace kepler::modelserver
