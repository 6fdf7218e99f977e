#include "modelserver/jobs/train_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::modelserver::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::string_view kBody =
    R"({"name": "std_v0.7", "energy_source": "rapl-sysfs", "trainer": {"abs_trainers": ["SGDRegressorTrainer"],)"
    R"( "dyn_trainers": ["XgboostFitTrainer", "SGDRegressorTrainer"], "idle_prom_response": {"a": [{"}": "\"]"}]},)"
    R"( "isolator": "MinIdleIsolator", "isolator_args": {}}, "prom_response": {"kepler_node": [{"metric": {}}]}})";

std::string With(std::string_view from, std::string_view to) {
  std::string body(kBody);
  return body.replace(body.find(from), from.size(), to);
}

std::string MessageOf(std::string_view body) {
  const auto read = ReadTrainRequest(body);
  return read ? "" : read.error().message;
}

TEST(TrainRequest, IsReadAsOldClientsWriteIt) {
  const auto request = ReadTrainRequest(kBody);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->name, "std_v0.7");
  EXPECT_EQ(request->energy_source, "rapl-sysfs");
  EXPECT_THAT(request->abs_trainers, ElementsAre("SGDRegressorTrainer"));
  EXPECT_THAT(request->dyn_trainers, ElementsAre("XgboostFitTrainer", "SGDRegressorTrainer"));
  EXPECT_TRUE(request->isolates);
  EXPECT_EQ(request->recording, R"({"kepler_node": [{"metric": {}}]})");
  const auto steps = TrainSteps(*request);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_THAT(steps[0], ElementsAre("extract", "--input=recording.json", "--output=table.csv", "--source=rapl-sysfs"));
  EXPECT_THAT(steps[1], ElementsAre("pipeline", "--data=table.csv", "--output=abs", "--trainers=SGDRegressorTrainer"));
  EXPECT_THAT(steps[2], ElementsAre("isolate", "--input=table.csv", "--output=dynamic.csv", "--method=min-idle"));
  EXPECT_THAT(steps[3], ElementsAre("pipeline", "--data=dynamic.csv", "--output=dyn",
                                    "--trainers=XgboostFitTrainer,SGDRegressorTrainer"));
}

TEST(TrainRequest, WithoutIsolatorNothingIsSubtracted) {
  const auto request = ReadTrainRequest(With("MinIdleIsolator", "NoneIsolator"));
  ASSERT_TRUE(request) << request.error().message;
  const auto steps = TrainSteps(*request);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[2].back(), "--power=DynPower");
}

TEST(TrainRequest, NamesWhatIsWrong) {
  EXPECT_THAT(MessageOf(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(MessageOf(With("\"name\"", "\"other\"")), HasSubstr("name: it is missing"));
  EXPECT_THAT(MessageOf(With("std_v0.7", "../../etc")), HasSubstr("\"../../etc\" is not a model name"));
  EXPECT_THAT(MessageOf(With("\"std_v0.7\"", "5")), HasSubstr("name: it is not a text"));
  EXPECT_THAT(MessageOf(With("\"rapl-sysfs\"", "\"--output=/etc\"")), HasSubstr("energy_source"));
  EXPECT_THAT(MessageOf(With("\"trainer\"", "\"trainers\"")), HasSubstr("trainer: it is missing"));
  EXPECT_THAT(MessageOf(With("[\"SGDRegressorTrainer\"]", "[1]")),
              HasSubstr("abs_trainers: it is not a list of texts"));
  EXPECT_THAT(MessageOf(With("[\"SGDRegressorTrainer\"]", "[\"os.system('a')\"]")),
              HasSubstr("abs_trainers: a name has"));
  EXPECT_THAT(MessageOf(With("MinIdleIsolator", "ProfileBackgroundIsolator")), HasSubstr("isolator: use"));
  EXPECT_THAT(MessageOf(With("\"prom_response\"", "\"response\"")), HasSubstr("prom_response: it is missing"));
  EXPECT_THAT(MessageOf(With("{\"kepler_node\": [{\"metric\": {}}]}", "7")), HasSubstr("prom_response"));
  EXPECT_THAT(MessageOf(With("{\"name\"", "{\"use_vm_metrics\": true, \"name\"")), HasSubstr("use_vm_metrics"));
  EXPECT_EQ(MessageOf(With("{\"name\"", "{\"use_vm_metrics\": false, \"name\"")), "");
  const std::string none = R"({"name":"a","energy_source":"acpi","trainer":{},"prom_response":{}})";
  EXPECT_THAT(MessageOf(none), HasSubstr("abs_trainers and dyn_trainers are empty"));
}

TEST(TrainRequest, TruncatedOnesAreRefused) {
  for (size_t bytes = 0; bytes < kBody.size(); ++bytes) EXPECT_NE(MessageOf(kBody.substr(0, bytes)), "") << bytes;
}

TEST(SplitMembers, FindsTheBytesOfEachValue) {
  const auto members = SplitMembers("{ \"a\" : [1, {\"b\":\"]}\"}] , \"c\":\"x\\\"y\",\"d\":-1.5 }\n");
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_THAT(*members, ElementsAre(Pair("a", "[1, {\"b\":\"]}\"}]"), Pair("c", "\"x\\\"y\""), Pair("d", "-1.5")));
  EXPECT_THAT(SplitMembers("{}").value(), IsEmpty());
}

TEST(SplitMembers, RefusesOtherTexts) {
  for (const char* const text : {"", "[]", "{", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}}", "{\"a\":1} x",
                                 "{\"a\":1,\"a\":2}", "{\"a\":\"", "{\"a\":[1}", "{a:1}", "{\"a\"1:2}", "{\"\\"})
    EXPECT_FALSE(SplitMembers(text)) << text;
}

}  // namespace
}  // namespace kepler::modelserver::jobs
