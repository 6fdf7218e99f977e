#include "apps/kepler-model/retrain_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "apps/kepler-model/commands.h"
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
  steps = RetrainSteps(config);
  EXPECT_EQ(steps[0].back(), "--node=worker");
  EXPECT_EQ(steps[2].back(), "--machine=/machine.json");
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
  /// The decision, or the exit code.
  [[nodiscard]] std::string Run(const std::vector<std::string>& flags) {
    std::vector<std::string> all = {"kepler-model", "retrain", "--store=" + tree_.Path("store"), "--name=mine"};
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
  [[nodiscard]] std::string Train(const std::string& table) {
    return Run({table, "--output=" + tree_.Path("new"), "--features=bpf_cpu_time_ms", "--trainer=linear"});
  }

  kepler::testing::FakeTree tree_;
};

TEST_F(Retrain, PublishesWhatIsBetterOnNewRows) {
  EXPECT_THAT(Train(Table(1000, 20)), HasSubstr(R"("old_version":0,"new_version":1,"old_mae":null)"));
  EXPECT_THAT(Train(Table(1000, 90)), HasSubstr(R"("published":true)")) << "rows after those that trained version 1";
  EXPECT_THAT(Train(Table(900, 20)), HasSubstr("only 0 rows are new to both models"));
  EXPECT_THAT(Train(Table(2000, 90)), HasSubstr(R"("published":false,"reason":"MAE)"));
  EXPECT_THAT(Run({"--roll-back"}), HasSubstr(R"("old_version":2,"new_version":3)"));
}

TEST_F(Retrain, RefusesWhatItCannotUse) {
  EXPECT_THAT(Run({"--roll-back"}), HasSubstr("there is no such model"));
  EXPECT_THAT(Run({}), HasSubstr("2"));
  tree_.Write("table.csv", "timestamp,bpf_cpu_time_ms,package_power\n2,1,1\n1,1,1\n");
  EXPECT_THAT(Train("--data=" + tree_.Path("table.csv")), HasSubstr("not in the order of time"));
  tree_.Write("store/models/mine/model.json", "{");
  EXPECT_THAT(Train(Table(1, 20)), HasSubstr("model.json"));
}

}  // namespace
}  // namespace kepler::lab::tool
