#include "model_store/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace kepler::model_store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDigits(64, 'a');

TEST(ParsePlace, FilesAndDirectories) {
  const auto place = ParsePlace("/models/LogisticRegressionTrainer_0.json");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->path, "/models/LogisticRegressionTrainer_0.json");
  EXPECT_EQ(place->shown, place->path);
  EXPECT_EQ(place->name, "LogisticRegressionTrainer_0");
  EXPECT_FALSE(place->url);
  EXPECT_EQ(ParsePlace("file:///models/a.json")->path, "/models/a.json");
  EXPECT_EQ(ParsePlace("/models/a#1.json")->path, "/models/a#1.json");
  EXPECT_EQ(ParsePlace("/models/a.json#sha256=" + std::string(64, 'A'))->sha256, kDigits);
  EXPECT_EQ(ParsePlace("/models/a.json#sha256=" + kDigits)->path, "/models/a.json");
}

TEST(PlaceOfServer, StatesTheMachineInItsQuery) {
  const ModelQuery query{.machine = {.processor = "amd_epyc_9654", .cores = 4},
                         .features = {"bpf_cpu_time_ms", "cpu_cycles"}};
  const auto place = PlaceOfServer("http://models:8100/", query);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->shown, "http://models:8100/best/model.json");
  EXPECT_EQ(place->url->target,
            "/best/model.json?machine=%7B%22processor%22%3A%22amd_epyc_9654%22%2C%22cores%22%3A4%7D"
            "&features=bpf_cpu_time_ms,cpu_cycles");
  EXPECT_FALSE(place->is_named);
  EXPECT_TRUE(ParsePlace("http://models:8100/a.json")->is_named);
  EXPECT_EQ(place->SignatureTarget().substr(0, 29), "/best/model.json.sig?machine=");
  EXPECT_EQ(place->OldTarget(), "/model");
  EXPECT_EQ(PlaceOfServer("http://models/v1", query)->OldTarget(), "/v1/model");
  EXPECT_FALSE(PlaceOfServer("models:8100", {}));
}

TEST(ParsePlace, Urls) {
  const auto place = ParsePlace("https://h:8443/v0.7/b.json?token=s3cret#sha256=" + kDigits);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->shown, "https://h:8443/v0.7/b.json");
  EXPECT_EQ(place->url->target, "/v0.7/b.json?token=s3cret");
  EXPECT_EQ(place->name, "b");
  EXPECT_EQ(place->sha256, kDigits);
  EXPECT_EQ(place->path, "");
}

TEST(ParsePlace, PowerAndChecksum_InAnyOrder) {
  using model::OutputType;
  EXPECT_EQ(ParsePlace("/a.json")->output, std::nullopt);
  EXPECT_EQ(ParsePlace("/a.json#power=AbsPower")->output, OutputType::kAbsPower);
  for (const std::string& options : {"power=DynComponentModelWeight&sha256=" + kDigits,
                                     "power=DynPower&sha256=" + kDigits, "sha256=" + kDigits + "&power=DynPower"}) {
    const auto place = ParsePlace("https://h/a.json#" + options);
    ASSERT_TRUE(place) << place.error().message;
    EXPECT_EQ(place->output, OutputType::kDynPower);
    EXPECT_EQ(place->sha256, kDigits);
    EXPECT_EQ(place->shown, "https://h:443/a.json");
  }
}

TEST(ParsePlace, WhatIsNone_IsRefusedWithoutRepeatingIt) {
  const std::vector<std::string> texts = {"",
                                          "s3://secret/a.json",
                                          "https://me:secret@h/a.json",
                                          "http://h/secret#other",
                                          "http://:80/secret",
                                          "file://secret/a.json",
                                          "secret\n",
                                          "secret/a.json",
                                          "./secret.json",
                                          "/a.json#sha256=secret",
                                          "/a.json#sha256",
                                          "/a.json#SHA256=" + kDigits,
                                          "/a.json#power",
                                          "/a.json#sha=secret",
                                          "/a.json#power=secret",
                                          "/a.json#power=DynPower&secret",
                                          "/a.json#power=DynPower&",
                                          "/a.json#power=DynPower&power=DynPower",
                                          "/a.json#sha256=" + kDigits + "&sha256=" + kDigits,
                                          "#sha256=" + kDigits,
                                          "/a#sha256=" + kDigits + "0"};
  for (const std::string& text : texts) {
    const auto place = ParsePlace(text);
    ASSERT_FALSE(place) << text;
    EXPECT_EQ(place.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(place.error().message, Not(HasSubstr("secret")));
  }
}

TEST(Key, IsThatOfThePlace_WithoutOptions) {
  const auto key = [](const std::string& text) { return ParsePlace(text)->Key(); };
  EXPECT_EQ(key("/models/"), key("file:///models#power=DynPower"));
  EXPECT_EQ(key("/models//b/../a.json"), key("/models/a.json"));
  EXPECT_EQ(key("/"), "/");
  EXPECT_EQ(key("https://h/a.json"), key("https://h:443/a.json#sha256=" + kDigits));
  EXPECT_NE(key("https://h/a.json"), key("https://h/a.json?b"));
  EXPECT_NE(key("https://h/a.json"), key("http://h/a.json"));
}

TEST(OutputOf, TheLastDirectoryThatSaysIt) {
  using model::OutputType;
  EXPECT_EQ(OutputOf("/db/rapl-sysfs/DynPower/BPFOnly/SGDRegressorTrainer_0.json"), OutputType::kDynPower);
  EXPECT_EQ(OutputOf("https://h/db/DynPower/x/AbsPower/a.json"), OutputType::kAbsPower);
  for (const char* path : {"", "/", "/db/a.json", "/db/DynPower", "/db/dynpower/a.json", "/db/DynPower2/a.json"})
    EXPECT_EQ(OutputOf(path), OutputType::kAbsPower) << path;
}

}  // namespace
}  // namespace kepler::model_store
