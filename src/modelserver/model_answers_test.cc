#include "modelserver/model_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/document.h"
#include "model/weights_json.h"
#include "modelserver/model_list.h"
#include "modelserver/model_tree.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using http::server::Response;
using ::testing::HasSubstr;

std::string HeaderOf(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

std::string BodyOf(const Response& response) { return response.body == nullptr ? "" : *response.body; }

/// As the agent of Kepler 0.7 on a machine with this processor.
std::string AgentRequest(std::string_view processor, bool weight, std::string_view more = "") {
  return fmt::format(R"({{"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"output_type":"AbsPower",)"
                     R"("source":"intel_rapl","node_type":0,"weight":{},"trainer_name":"","filter":"",)"
                     R"("machine_spec":{{"vendor":"v","processor":"{}","cores":72,"chips":2,"memory":503,)"
                     R"("frequency":3000,"threads_per_core":2}}{}}})",
                     weight, processor, more);
}

struct ModelAnswersTest : ::testing::Test {
  kepler::testing::FakeTree files;
  ModelTree tree{files.root()};
  ModelAnswers answers{{}, 1 << 20};

  ModelAnswersTest() {
    testing::WriteStore(files);
    Rescan();
  }
  void Rescan() { answers.Use(tree.Scan().value()); }
};

TEST_F(ModelAnswersTest, AnArchiveComesByteForByte) {
  const Response response = answers.ToModelRequest(AgentRequest("intel_xeon_e5_2686v4", false));
  ASSERT_EQ(response.status, 200U) << BodyOf(response);
  EXPECT_EQ(response.content_type, "application/zip");
  EXPECT_EQ(HeaderOf(response, "Content-Disposition"), "attachment; filename=SGDRegressorTrainer_1.zip");
  EXPECT_THAT(HeaderOf(response, "X-Model-Choice"), HasSubstr("same_machine"));
  EXPECT_EQ(BodyOf(response), testing::Archive({.name = "SGDRegressorTrainer_1", .mae = 7}));
}

TEST_F(ModelAnswersTest, WeightsStateModelMachineAndError) {
  const Response response = answers.ToModelRequest(AgentRequest("intel_xeon_e5_2686v4", true));
  ASSERT_EQ(response.status, 200U) << BodyOf(response);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_THAT(BodyOf(response), HasSubstr(R"("model_name":"SGDRegressorTrainer_1")"));
  EXPECT_THAT(BodyOf(response), HasSubstr(R"("mae":7)"));
  const auto model = model::ReadWeightsJson(BodyOf(response), "");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->machine->cores, 72U);
  const double row[] = {4};
  EXPECT_DOUBLE_EQ(model::Predict(model->components[0].predictor, row), 50 + 3.5 * 4 / 2);
}

TEST_F(ModelAnswersTest, AnOwnModelIsServedAsWeightsOfTheSource) {
  const Response response = answers.ToModelRequest(AgentRequest("amd_epyc_9654", true));
  ASSERT_EQ(response.status, 200U) << BodyOf(response);
  EXPECT_EQ(HeaderOf(response, "X-Model"), "own/epyc");
  const auto model = model::ReadWeightsJson(BodyOf(response), "");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "SGDRegressorTrainer_0");  // a name that old clients read as linear
  EXPECT_EQ(model->machine->processor, "amd_epyc_9654");
  EXPECT_THAT(BodyOf(response), HasSubstr(R"("mae":1.5)"));
}

TEST_F(ModelAnswersTest, AnOwnModelOfTreesIsServedAsAnArchive) {
  files.Write("own/trees/model.json", testing::OwnTrees("trees", "amd_epyc_9654"));
  Rescan();
  const Response response = answers.ToModelRequest(AgentRequest("amd_epyc_9654", false));
  ASSERT_EQ(response.status, 200U) << BodyOf(response);
  EXPECT_EQ(HeaderOf(response, "X-Model"), "own/trees");
  EXPECT_EQ(HeaderOf(response, "Content-Disposition"), "attachment; filename=XgboostFitTrainer_0.zip");
  const auto summary = ReadArchiveSummary(BodyOf(response));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->model_class, "xgboost");
  EXPECT_EQ(HeaderOf(answers.ToModelRequest(AgentRequest("amd_epyc_9654", true)), "X-Model"), "own/epyc");
}

TEST_F(ModelAnswersTest, EqualRequestsShareOneAnswerUntilTheStoreChanges) {
  const std::string request = AgentRequest("intel_xeon_e5_2686v4", false, R"(,"new":1)");
  const auto first = answers.ToModelRequest(request).body;
  EXPECT_EQ(answers.ToModelRequest(request).body, first);
  EXPECT_EQ(answers.ToModelRequest(request + " ").body, first);
  EXPECT_EQ(answers.counts().cached, 1U);
  EXPECT_EQ(answers.counts().computed, 2U);
  EXPECT_EQ(answers.counts().unknown_fields, 3U);
  const std::string other = testing::Archive({.name = "SGDRegressorTrainer_1", .mae = 6});
  files.Write(std::string(testing::kGroupDir) + "SGDRegressorTrainer_1.zip", other);
  Rescan();
  EXPECT_EQ(BodyOf(answers.ToModelRequest(request)), other);
}

TEST_F(ModelAnswersTest, AFileThatSomebodyChangedIsNotServed) {
  files.Write(std::string(testing::kGroupDir) + "SGDRegressorTrainer_1.zip", "half");
  const std::string request = AgentRequest("intel_xeon_e5_2686v4", false);
  const Response response = answers.ToModelRequest(request);
  EXPECT_EQ(response.status, 503U);
  EXPECT_THAT(BodyOf(response), HasSubstr("has changed"));
  files.Write(std::string(testing::kGroupDir) + "SGDRegressorTrainer_1.zip",
              testing::Archive({.name = "SGDRegressorTrainer_1", .mae = 7}));
  EXPECT_EQ(answers.ToModelRequest(request).status, 200U);
}

TEST_F(ModelAnswersTest, ALargeBodyIsServedWithoutTheCache) {
  ModelAnswers small{{}, 100};
  small.Use(answers.index());
  const std::string request = AgentRequest("intel_xeon_e5_2686v4", false);
  EXPECT_EQ(small.ToModelRequest(request).status, 200U);
  EXPECT_EQ(small.ToModelRequest(request).status, 200U);
  EXPECT_EQ(small.counts().cached, 0U);
}

TEST_F(ModelAnswersTest, WrongRequestsGetAReason) {
  const auto refused = [&](std::string_view body) {
    const Response response = answers.ToModelRequest(body);
    EXPECT_EQ(response.status, 400U) << body;
    return BodyOf(response);
  };
  EXPECT_THAT(refused("{"), HasSubstr("byte"));
  EXPECT_THAT(refused(R"({"metrics":["a"],"output_type":"AbsWatts"})"), HasSubstr("output_type"));
  EXPECT_THAT(refused(R"({"metrics":["a"],"output_type":"AbsPower"})"), HasSubstr("cannot find model"));
  EXPECT_THAT(refused(R"({"metrics":["a"],"output_type":"AbsPower","source":"../../etc"})"), HasSubstr("source"));
}

TEST_F(ModelAnswersTest, AgentsOfOneMachineShareAnAnswer) {
  using Wanted = ModelAnswers::Wanted;
  const std::string query = "machine=processor%3Damd_epyc_9654%2Ccores%3D64";
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(BodyOf(answers.ToAgentQuery(query, Wanted::kModel)), testing::OwnModel("trained", 40, "amd_epyc_9654"));
    EXPECT_EQ(BodyOf(answers.ToAgentQuery(query, Wanted::kSignature)), "signature");
    EXPECT_EQ(answers.ToAgentQuery("machine=processor%3Dother", Wanted::kModel).status, 404U);
    EXPECT_EQ(answers.ToAgentQuery("machine", Wanted::kModel).status, 400U) << "errors are not kept";
  }
  EXPECT_EQ(answers.counts().cached, 3U);
  EXPECT_EQ(answers.counts().computed, 5U);
  files.Write("own/epyc/model.json", testing::OwnModel("newer", 41, "amd_epyc_9654"));
  files.Remove("own/epyc/model.json.sig");
  Rescan();
  EXPECT_EQ(BodyOf(answers.ToAgentQuery(query, Wanted::kModel)), testing::OwnModel("newer", 41, "amd_epyc_9654"));
  EXPECT_EQ(answers.ToAgentQuery(query, Wanted::kSignature).status, 404U);
}

TEST_F(ModelAnswersTest, AFileOfAnEarlierIndexDoesNotTakeThePlaceOfTheNewOne) {
  files.Write(".versions/v1/model.json", testing::OwnModel("old", 1, "p"));
  files.Write(".versions/v2/model.json", testing::OwnModel("new", 2, "p"));
  files.Symlink("models/linked", "../.versions/v1");
  Rescan();
  const auto earlier = answers.index();
  files.Symlink("models/linked", "../.versions/v2");
  Rescan();
  EXPECT_EQ(BodyOf(answers.ToFile(*earlier->FindOwn("linked")->own)), testing::OwnModel("old", 1, "p"));
  EXPECT_EQ(BodyOf(answers.ToFile(*answers.index()->FindOwn("linked")->own)), testing::OwnModel("new", 2, "p"));
}

TEST_F(ModelAnswersTest, BestModelsAreNamesByOutputAndGroup) {
  EXPECT_EQ(BodyOf(answers.ToBestModels("")), "{\"AbsPower\":{\"BPFOnly\":\"GradientBoostingRegressorTrainer_10\"}}\n");
  EXPECT_EQ(answers.ToBestModels("energy-source=acpi").status, 400U);
  EXPECT_EQ(answers.ToBestModels("output-type=Watts").status, 400U);
}

TEST_F(ModelAnswersTest, TheListStatesFilesAndChecksums) {
  files.Write("own/broken/model.json", "{}");
  Rescan();
  const std::string list = WriteModelList(*answers.index());
  const auto document = json::Parse(list);
  ASSERT_TRUE(document) << list;
  const json::Cursor root(*document);
  EXPECT_EQ(root.Elements("models")->size(), 4U);
  EXPECT_EQ(root.Elements("skipped")->size(), 1U);
  const StoredModel& own = *answers.index()->FindOwn("epyc");
  EXPECT_THAT(list, HasSubstr(R"("/models/epyc/model.json":")" + own.own->sha256));
  EXPECT_EQ(PathOf(own, *own.signature), "/models/epyc/model.json.sig");
}

}  // namespace
}  // namespace kepler::modelserver
