#include "apps/kepler-model/retrain_schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "base/small_file.h"
#include "model/model_json.h"
#include "model_store/signing_test_util.h"
#include "modelserver/publisher.h"
#include "testing/fake_tree.h"

namespace kepler::lab::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RetrainSchedule, StepsHaveTheSettings) {
  Serving config;
  config.store = "/store";
  config.retrain = "mine";
  config.retrain_server = "http://prometheus:9090";
  config.retrain_features = {"bpf_cpu_time_ms", "cpu_cycles"};
  config.retrain_last = std::chrono::hours(1);
  auto steps = RetrainSteps(config);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_THAT(steps[0], ElementsAre("query", "--server=http://prometheus:9090", "--last=3600s", "--output=raw.json"));
  EXPECT_THAT(steps[1], ElementsAre("extract", "--input=raw.json", "--output=table.csv"));
  EXPECT_THAT(steps[2], ElementsAre("retrain", "--store=/store", "--name=mine", "--data=table.csv", "--output=abs",
                                    "--features=bpf_cpu_time_ms,cpu_cycles", "--trainer=auto"));
  config.retrain_node = "worker";
  config.retrain_machine = "/machine.json";
  config.retrain_sign_key = "/key.pem";
  steps = RetrainSteps(config);
  EXPECT_EQ(steps[0].back(), "--node=worker");
  EXPECT_THAT(steps[2], ::testing::IsSupersetOf({"--machine=/machine.json", "--sign-key=/key.pem"}));
}

/// kepler-model retrain over a store of one model.
class Retrain : public ::testing::Test {
 protected:
  /// 100 rows of `idle` watts and 50 mW per ms.
  [[nodiscard]] std::string Table(double begin, double idle) {
    std::string text = "timestamp,bpf_cpu_time_ms,package_power\n";
    for (int row = 0; row < 100; ++row) {
      const double load = (row * 37) % 101;
      text +=
          std::to_string(begin + row) + "," + std::to_string(load) + "," + std::to_string(idle + load * 0.05) + "\n";
    }
    tree_.Write("table.csv", text);
    return "--data=" + tree_.Path("table.csv");
  }
  /// The decision, or the exit code and the errors.
  [[nodiscard]] std::string Run(const std::vector<std::string>& flags, const std::string& command = "retrain") {
    std::vector<std::string> all = {"kepler-model", command, "--store=" + tree_.Path("store"), "--name=mine"};
    all.insert(all.end(), flags.begin(), flags.end());
    std::vector<const char*> argv;
    for (const std::string& text : all) argv.push_back(text.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = RunProgram(argv);
    const std::string errors = ::testing::internal::GetCapturedStderr();
    const std::string decision = ::testing::internal::GetCapturedStdout();
    return code == 0 ? decision : std::to_string(code) + errors;
  }
  [[nodiscard]] std::string Train(const std::string& table, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(),
                 {table, "--output=" + tree_.Path("new"), "--features=bpf_cpu_time_ms", "--trainer=linear"});
    return Run(flags);
  }
  [[nodiscard]] std::string Published(std::string_view file) const {
    return ReadSmallFile(tree_.Path("store/models/mine/") + std::string(file)).value_or("");
  }
  [[nodiscard]] uint32_t Version() const { return model::ReadModelJson(Published("model.json"))->version; }
  [[nodiscard]] bool IsSignedBy(const model_store::Signer& signer) const {
    return signer.Key().Verify(Published("model.json"), Published("model.json.sig")).has_value();
  }

  kepler::testing::FakeTree tree_;
};

TEST_F(Retrain, PublishesWhatIsBetterOnNewRows) {
  EXPECT_THAT(Train(Table(1000, 20)), HasSubstr(R"("old_version":0,"new_version":1,"old_mae":null)"));
  EXPECT_THAT(Train(Table(1000, 90)), HasSubstr(R"("published":true)")) << "rows after those that trained version 1";
  EXPECT_THAT(Train(Table(900, 20)), HasSubstr("only 0 rows are new to both models"));
  EXPECT_THAT(Train(Table(2000, 90)), HasSubstr(R"("published":false,"reason":"MAE)"));
}

TEST_F(Retrain, ASignedModelStaysSigned) {
  const model_store::Signer signer;
  tree_.Write("key.pem", signer.PrivatePem());
  const std::string key = "--sign-key=" + tree_.Path("key.pem");
  EXPECT_THAT(Train(Table(1000, 20), {key}), HasSubstr(R"("new_version":1)"));
  EXPECT_TRUE(IsSignedBy(signer));
  EXPECT_THAT(Train(Table(2000, 90)), HasSubstr("name the key with --sign-key"));
  EXPECT_THAT(Train(Table(2000, 90), {"--sign-key=" + tree_.Path("table.csv")}), HasSubstr("not a private key"));
  EXPECT_EQ(Version(), 1U);
  EXPECT_THAT(Train(Table(2000, 90), {key}), HasSubstr(R"("old_version":1,"new_version":2)"));
  EXPECT_TRUE(IsSignedBy(signer));
  EXPECT_THAT(Run({key}, "rollback"), HasSubstr(R"("old_version":2,"new_version":3)"));
  EXPECT_TRUE(IsSignedBy(signer));
  EXPECT_THAT(Run({"--to=2"}, "rollback"), HasSubstr("with its number and signature"));
  EXPECT_EQ(Version(), 2U);
  EXPECT_TRUE(IsSignedBy(signer));
  EXPECT_THAT(Train(Table(3000, 20), {key}), HasSubstr(R"("old_version":2,"new_version":4)"));
}

TEST_F(Retrain, AnUploadIsRolledBackUnderANewNumber) {
  for (const char* const version : {"1", "2"}) {
    const auto text =
        fmt::format(R"({{"kepler_model":1,"name":"m","version":{0},"output":"AbsPower","features":["bpf_cpu_time_ms"],)"
                    R"("domain":[[0,9]],"components":[{{"component":"package","trainer":"linear","label":[0,9],)"
                    R"("predictor":{{"formula":"linear","bias":{0},"weights":[0]}}}}]}})",
                    version);
    const auto published = modelserver::Publish(tree_.Path("store"), {.name = "mine", .json = text, .signature = {}});
    ASSERT_TRUE(published) << published.error().message;
  }
  EXPECT_THAT(Run({"--to=7"}, "rollback"), HasSubstr("no version 7; it has versions 1, 2"));
  EXPECT_THAT(Run({}, "rollback"), HasSubstr(R"("old_version":2,"new_version":3)"));
  EXPECT_EQ(Version(), 3U);
  EXPECT_THAT(Published("model.json"), HasSubstr(R"("bias":1)"));
  tree_.Write("store/models/mine/model.json", "{");
  EXPECT_THAT(Run({"--to=2"}, "rollback"), HasSubstr(R"("new_version":4)")) << "a broken text is replaced";
  EXPECT_THAT(Published("model.json"), HasSubstr(R"("bias":2)"));
}

TEST_F(Retrain, RefusesWhatItCannotUse) {
  EXPECT_THAT(Run({}, "rollback"), HasSubstr("no model of this name was uploaded or retrained in "));
  EXPECT_THAT(Run({}), HasSubstr("2"));
  tree_.Write("table.csv", "timestamp,bpf_cpu_time_ms,package_power\n2,1,1\n1,1,1\n");
  EXPECT_THAT(Train("--data=" + tree_.Path("table.csv")), HasSubstr("not in the order of time"));
  tree_.Write("store/models/mine/model.json", "{");
  EXPECT_THAT(Train(Table(1, 20)), HasSubstr("model.json"));
}

}  // namespace
}  // namespace kepler::lab::tool
