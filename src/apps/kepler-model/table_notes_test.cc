// Tables and machines that give models without use: kepler-model notes them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "testing/fake_tree.h"

namespace kepler::lab::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Notes : public ::testing::Test {
 protected:
  /// 40 rows of 10 W and 1 W for each 1,000 ms.
  void Write(std::string_view column = "package_power", int step = 1, double idle = 10) {
    std::string csv = fmt::format("timestamp,bpf_cpu_time_ms,{}\n", column);
    for (int i = 0; i < 40; ++i) {
      const int place = i * step % 40;
      csv += fmt::format("{},{},{}\n", 1'700'000'000 + place, 1000 * (place % 7), idle + (idle > 0 ? place % 7 : 0));
    }
    tree_.Write("data.csv", csv);
  }
  std::string Run(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"kepler-model"};
    for (std::string& argument : arguments) {
      if (const size_t at = argument.find('@'); at != std::string::npos) argument.replace(at, 1, tree_.Path("") + "/");
      argv.push_back(argument.c_str());
    }
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    code_ = RunProgram(argv);
    std::fflush(stdout);
    out_ = ::testing::internal::GetCapturedStdout();
    return ::testing::internal::GetCapturedStderr();
  }

  kepler::testing::FakeTree tree_;
  int code_ = 0;
  std::string out_;
};

TEST_F(Notes, ShuffledTimes_MakeErrorsTooSmall) {
  const std::vector<std::string> train = {"train", "--data=@data.csv", "--features=BPFOnly", "--trainer=linear",
                                          "--output=@model"};
  Write();
  EXPECT_THAT(Run(train), Not(HasSubstr("order of time")));
  EXPECT_EQ(code_, 0);
  Write("package_power", 7);
  EXPECT_THAT(Run(train), HasSubstr("data.csv: rows are not in order of time"));
  EXPECT_EQ(code_, 0);
}

TEST_F(Notes, NegativeCpuTime_HasItsLine) {
  const std::vector<std::string> train = {"train", "--data=@data.csv", "--features=bpf_cpu_time_ms,temperature",
                                          "--trainer=linear", "--output=@model"};
  std::string csv = "bpf_cpu_time_ms,temperature,package_power\n";
  for (int i = 0; i < 40; ++i) csv += fmt::format("{},{},{}\n", i % 20 == 7 ? -5 : 100 * i, 3 - i, 10 + i);
  tree_.Write("data.csv", csv);
  EXPECT_THAT(Run(train),
              AllOf(HasSubstr("data.csv: column 'bpf_cpu_time_ms' is below 0 in 2 of 40 rows (the first: line 9)"),
                    Not(HasSubstr("'temperature' is below"))));
  EXPECT_EQ(code_, 0);
  Write();
  EXPECT_THAT(Run({"train", "--data=@data.csv", "--features=bpf_cpu_time_ms", "--trainer=linear", "--output=@model"}),
              Not(HasSubstr("below 0")));
}

TEST_F(Notes, FoldsOfSeveralMachines_NameTheColumnToGroupBy) {
  const std::vector<std::string> train = {"train",        "--data=@data.csv", "--features=BPFOnly", "--trainer=linear",
                                          "--folds=fold", "--output=@model"};
  const auto write = [this](int machines) {
    std::string csv = "bpf_cpu_time_ms,fold,node,package_power\n";
    for (int i = 0; i < 40; ++i) csv += fmt::format("{},{},n{},{}\n", 100 * i, i % 5, i % machines, 10 + i);
    tree_.Write("data.csv", csv);
  };
  write(1);
  EXPECT_THAT(Run(train), Not(HasSubstr("--group")));
  write(4);
  EXPECT_THAT(Run(train), HasSubstr("data.csv: rows of one machine may train and test the same model"));
  const std::string notes = Run({"pipeline", "@data.csv", "--folds=fold", "--trainers=linear,sgd", "--output=@out"});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(notes, HasSubstr("add --group=node"));
  EXPECT_EQ(notes.find("--group"), notes.rfind("--group")) << "a note per model: " << notes;
  EXPECT_THAT(Run({train[0], train[1], train[2], train[3], train[4], "--group=node", train[5]}),
              Not(HasSubstr("add --group")));
}

TEST_F(Notes, Isolate_SaysThatNoPowerIsLeft) {
  const std::vector<std::string> isolate = {"isolate", "--input=@data.csv", "--output=@isolated.csv",
                                            "--method=min-idle"};
  Write();
  EXPECT_THAT(Run(isolate), Not(HasSubstr("no power is left")));
  tree_.Write("data.csv", "bpf_cpu_time_ms,package_power\n1000,50\n2000,50\n3000,50\n");
  EXPECT_THAT(Run(isolate), HasSubstr("package_power: no power is left, so no model can be trained on it"));
  EXPECT_EQ(code_, 0);
}

TEST_F(Notes, Pipeline_TakesTheComponentOfAColumn) {
  Write("meter");
  EXPECT_THAT(Run({"pipeline", "@data.csv", "--target=meter", "--trainers=linear", "--output=@out"}),
              HasSubstr("set --component"));
  Run({"pipeline", "@data.csv", "--target=meter", "--component=platform", "--trainers=linear", "--output=@out"});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(out_, HasSubstr("platform"));
}

TEST_F(Notes, ModelInTheAgent_IsJudgedByEachCommand) {
  Write();
  const std::string machine = "--machine=processor=amd_epyc_7763,cores=8";
  Run({"evaluate", "--model=default", "--data=@data.csv", machine});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(out_, HasSubstr("package"));
  Run({"validate", "default", "@data.csv", "--max-mape=1000", "--tolerance=0", machine});
  EXPECT_EQ(code_, 0);
  Run({"plot", "--model=default", "--data=@data.csv", "--output=@plot.svg", machine});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(Run({"evaluate", "--model=default", "--data=@data.csv"}), HasSubstr("default needs --machine"));
  EXPECT_EQ(code_, 1);
}

TEST_F(Notes, ModelInTheAgent_CpuTimeThatNoMachineHas) {
  Write();
  EXPECT_THAT(Run({"predict", "--model=default", "--data=@data.csv", "--machine=cores=6"}), Not(HasSubstr("40 rows")));
  EXPECT_THAT(Run({"predict", "--model=default", "--data=@data.csv", "--machine=cores=5"}),
              HasSubstr("in 5 of 40 rows, bpf_cpu_time_ms is below 0 or above the 5000 ms of all CPUs"));
  EXPECT_EQ(code_, 0);
}

TEST_F(Notes, ModelInTheAgent_NameOfManyGenerationsIsNotTheOldest) {
  Write();
  const auto predict = [this](std::string_view processor) {
    return Run(
        {"predict", "--model=default", "--data=@data.csv", fmt::format("--machine=cores=48,processor={}", processor)});
  };
  EXPECT_THAT(predict("intel_xeon"), HasSubstr("processor 'intel_xeon' states no listed generation, so it counts as "
                                               "other Intel processor; state the model number"));
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(predict("intel_xeon_gold_6338"), Not(HasSubstr("generation")));
}

}  // namespace
}  // namespace kepler::lab::tool
