#include "model/file_name.h"

#include <gtest/gtest.h>

namespace kepler::model {
namespace {

TEST(NameOfFile, File_GoesByItself) {
  EXPECT_EQ(NameOfFile("/m/a.json"), "a");
  EXPECT_EQ(NameOfFile("/m/SGDRegressorTrainer_0.5.json"), "SGDRegressorTrainer_0.5");
  EXPECT_EQ(NameOfFile("/m/epyc-7.2"), "epyc-7.2");
  EXPECT_EQ(NameOfFile("/m/weight.json.json"), "weight.json");
  EXPECT_EQ(NameOfFile("/m/my-model.json"), "my-model");
  EXPECT_EQ(NameOfFile("/m/.json"), ".json");
}

TEST(NameOfFile, FilesThatAllAreCalledSo_GoByTheirDirectory) {
  for (const char* file : {"model.json", "weight.json"})
    for (const char* directory : {"epyc/", "/m/epyc/", "/m//epyc//", "./epyc/", "/m/other/../epyc/./"})
      EXPECT_EQ(NameOfFile(std::string(directory) + file), "epyc") << directory << file;
  EXPECT_EQ(NameOfFile("/m/epyc-7.2/model.json"), "epyc-7.2");
}

TEST(NameOfFile, WithoutADirectoryThatIsAName_TheyGoByThemselves) {
  for (const char* path : {"model.json", "/model.json", "./model.json", "../model.json", "a/../model.json"})
    EXPECT_EQ(NameOfFile(path), "model") << path;
  EXPECT_EQ(NameOfFile("./weight.json"), "weight");
}

TEST(NameOfFile, NothingThatIsNamed_HasNoName) {
  for (const char* path : {"", "/", "./..", "a/.."}) EXPECT_EQ(NameOfFile(path), "") << path;
}

}  // namespace
}  // namespace kepler::model
