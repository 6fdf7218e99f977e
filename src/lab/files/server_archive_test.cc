#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/files/model_archive.h"

namespace kepler::lab::files {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kMetadata[] =
    R"({"model_name":"XgboostFitTrainer_0","output_type":"DynPower","package_mae":3.5,"core_mape":-1,"mape":null,)"
    R"("machine_spec":{"processor":"amd","cores":8}})";
constexpr char kBooster[] =
    R"({"learner":{"objective":{"name":"reg:squarederror"},"learner_model_param":{"base_score":"1E1","num_feature":"1"},)"
    R"("gradient_booster":{"name":"gbtree","model":{"trees":[{"left_children":[1,-1,-1],"right_children":[2,-1,-1],)"
    R"("split_indices":[0,0,0],"split_conditions":[2,1,42],"default_left":[0,0,0]}]}}}})";

std::string List(std::string_view file, std::string_view steps) {
  return std::string(R"({"package":{"model_file":")") + std::string(file) +
         R"(","features":["bpf_cpu_time_us"],"fe_files":[)" + std::string(steps) + "]}}";
}

constexpr char kWeights[] =
    R"({"package":{"All_Weights":{"Bias_Weight":12,"Categorical_Variables":{},"Numerical_Variables":)"
    R"({"bpf_cpu_time_ms":{"scale":500,"weight":8}}}}})";
const std::string kScaler =
    "\x80\x04"
    "csklearn.preprocessing._data\nMaxAbsScaler\n)\x81}\x8c\x06scale_]K\xc8"
    "asb.";

std::vector<Member> Trees(std::string_view steps = "", std::string_view booster = kBooster) {
  return {{"metadata.json", kMetadata},
          {"XgboostFitTrainer_0.json", List("package.json", steps)},
          {"package.json", std::string(booster)}};
}

Error ServerComplaint(const std::vector<Member>& members) {
  const auto read = ReadServerArchive(members);
  return read ? Error{.kind = ErrorKind::kIo, .message = ""} : read.error();
}

TEST(ServerArchive, Trees_AreReadWithWhatTheMetadataSay) {
  const auto read = ReadServerArchive(Trees());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->model.name, "XgboostFitTrainer_0");
  EXPECT_EQ(read->model.output, model::OutputType::kDynPower);
  EXPECT_EQ(read->model.features, std::vector<std::string>{"bpf_cpu_time_ms"});
  EXPECT_EQ(read->model.machine->processor, "amd");
  EXPECT_EQ(read->stated, "package_mae 3.5");
  EXPECT_EQ(EstimateRow(read->model, std::vector<double>{1}, 1).watts[0], 11);
  EXPECT_EQ(EstimateRow(read->model, std::vector<double>{2}, 1).watts[0], 52);
}

TEST(ServerArchive, Scaler_IsReadFromItsPickle) {
  std::vector<Member> members = Trees(R"("scaler.pkl")");
  EXPECT_THAT(ServerComplaint(members).message, HasSubstr("member 'scaler.pkl': it is missing"));
  members.push_back({"scaler.pkl", kScaler});
  const auto read = ReadServerArchive(members);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(EstimateRow(read->model, std::vector<double>{399}, 1).watts[0], 11);
  EXPECT_EQ(EstimateRow(read->model, std::vector<double>{400}, 1).watts[0], 52);
  for (size_t size = 0; size < kScaler.size(); ++size) {
    members.back().bytes = kScaler.substr(0, size);
    EXPECT_THAT(ServerComplaint(members).message, HasSubstr("member 'scaler.pkl': ")) << size;
  }
}

TEST(ServerArchive, PickleThatIsAProgram_IsRefusedByTheNameOfItsFunction) {
  std::vector<Member> members = Trees(R"("scaler.pkl")");
  members.push_back({"scaler.pkl",
                     "\x80\x04"
                     "cposix\nsystem\n\x8c\x04true\x85R."});
  const Error refused = ServerComplaint(members);
  EXPECT_THAT(refused.message, HasSubstr("member 'scaler.pkl': byte 16: it refers to 'posix.system'"));
  EXPECT_EQ(refused.kind, ErrorKind::kUnavailable);
}

TEST(ServerArchive, Weights_AreUsedIfTheFormulaCannotBeRead) {
  std::vector<Member> members = Trees();
  members.push_back({"weight.json", kWeights});
  auto read = ReadServerArchive(members);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->weights_because, "");
  EXPECT_EQ(read->model.components[0].accuracy->mae_watts, 3.5);

  members[1].bytes = List("package.pkl", "");
  read = ReadServerArchive(members);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->weights_because, "member 'package.pkl': it is missing; the archive is incomplete");
  EXPECT_EQ(read->stated, "");
  EXPECT_FALSE(read->model.components[0].accuracy);
  EXPECT_EQ(EstimateRow(read->model, std::vector<double>{1000}, 1).watts[0], 12 + 8 * 2);
  members.back().bytes = "{}";
  EXPECT_THAT(ServerComplaint(members).message, HasSubstr("member 'weight.json': "));
}

TEST(ServerArchive, Weights_DoNotReplaceAFileThatIsRefused) {
  std::vector<Member> members = Trees();
  members.push_back({"weight.json", kWeights});
  members.push_back({"package.pkl", "\x80\x04]"});
  members[1].bytes = List("package.pkl", "");
  EXPECT_THAT(ServerComplaint(members).message,
              AllOf(HasSubstr("member 'package.pkl': byte 3: it is truncated"), HasSubstr("unpack weight.json")));
  members.back().bytes =
      "\x80\x04"
      "cposix\nsystem\n\x8c\x04true\x85R.";
  EXPECT_THAT(ServerComplaint(members).message, HasSubstr("it refers to 'posix.system'"));
}

TEST(ServerArchive, AnyFileMissingOrCut_IsRefusedByName) {
  const std::vector<Member> good = Trees();
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<Member> members = good;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(ServerComplaint(members).message, HasSubstr("member '" + good[i].name + "': "));
    for (size_t size = 0; size < good[i].bytes.size(); ++size) {
      members = good;
      members[i].bytes.resize(size);
      EXPECT_THAT(ServerComplaint(members).message, HasSubstr("member '" + good[i].name + "': ")) << size;
    }
  }
}

TEST(ServerArchive, FilesThatDisagree_AreRefused) {
  std::string named = kBooster;
  named.insert(named.find("\"objective\""), R"("feature_names":["cpu_cycles"],)");
  EXPECT_THAT(ServerComplaint(Trees("", named)).message, HasSubstr("feature 0 is cpu_cycles"));
  std::vector<Member> members = Trees();
  members[1].bytes = R"({"package":{"model_file":"package.json","features":["a","b"]}})";
  EXPECT_THAT(ServerComplaint(members).message, HasSubstr("it has 1 features, but 2 are listed"));
  members[1].bytes = R"({"cpu":{"model_file":"package.json","features":["a"]}})";
  EXPECT_THAT(ServerComplaint(members).message, HasSubstr("cpu: not a component of a node"));
}

}  // namespace
}  // namespace kepler::lab::files
