#include "modelserver/model_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "modelserver/model_tree.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct ModelPagesTest : ::testing::Test {
  kepler::testing::FakeTree files;
  std::shared_ptr<const ModelIndex> index;
  ModelPagesTest() { testing::WriteStore(files); }
  std::string List() {
    index = ModelTree(files.root()).Scan().value();
    return WriteListPage(*index);
  }
};

TEST_F(ModelPagesTest, TheListIsByMachineGroupAndError) {
  files.Write(std::string(testing::kGroupDir) + "SVRRegressorTrainer_1.zip",
              testing::Archive({.name = "SVRRegressorTrainer_1", .mae = 70}));
  const std::string page = List();
  EXPECT_THAT(page, HasSubstr("5 models"));
  EXPECT_LT(page.find(">SGDRegressor<wbr>Trainer_<wbr>1<"), page.find(">SVRRegressor<wbr>Trainer_<wbr>1<"));
  EXPECT_LT(page.find(">epyc<"), page.find(">SGDRegressor<wbr>Trainer_<wbr>0<"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/models/epyc\">epyc</a>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"n\">70.00</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(ModelPagesTest, TheListStatesTheErrorsOfTheWorstComponent) {
  files.Write(std::string(testing::kGroupDir) + "SVRRegressorTrainer_1.zip",
              testing::Archive({.name = "SVRRegressorTrainer_1", .mae = 70, .mape = 3, .mape_of_component = 31}));
  EXPECT_THAT(List(), HasSubstr("<td class=\"n\">70.00</td><td class=\"n\">31.00</td>"));
}

TEST_F(ModelPagesTest, TheCardStatesErrorsAndFiles) {
  List();
  const StoredModel& own = *index->FindOwn("epyc");
  const std::string page = WriteCardPage(own);
  EXPECT_THAT(page, HasSubstr("<h1>epyc</h1>"));
  EXPECT_THAT(page, HasSubstr("amd_<wbr>epyc_<wbr>9654, 64 CPUs"));
  EXPECT_THAT(page, HasSubstr("<td class=\"n\">1.50</td><td class=\"n\">2.50</td>"));
  EXPECT_THAT(page, Not(HasSubstr("on other machines"))) << "no component states such an error";
  EXPECT_THAT(page,
              HasSubstr("<a href=\"/models/epyc/model.json.sig\">/<wbr>models/<wbr>epyc/<wbr>model.json.sig</a>"));
  EXPECT_THAT(page, HasSubstr(own.own->sha256));
}

TEST_F(ModelPagesTest, TheCardStatesErrorsOnOtherMachines) {
  std::string text = testing::OwnModel("judged", 1, "p");
  const std::string mark = "\"predictor\"";
  text.insert(text.find(mark), R"("unseen":{"rows":9,"mae_watts":3.25,"mape":7.5,"r2":0.5},)");
  files.Write("own/judged/model.json", text);
  List();
  const std::string page = WriteCardPage(*index->FindOwn("judged"));
  EXPECT_THAT(page, HasSubstr("<th class=\"n\">MAPE on other machines (%)</th>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"n\">2.50</td><td class=\"n\">3.25</td><td class=\"n\">7.50</td></tr>"));
}

TEST_F(ModelPagesTest, AnUnknownMapeIsNotZero) {
  std::string text = testing::OwnModel("judged", 1, "p");
  const std::string mape = R"("mape":2.5)";
  text.replace(text.find(mape), mape.size(), R"("mape":0)");
  files.Write("own/judged/model.json", text);
  EXPECT_THAT(List(), Not(HasSubstr(">0.00<")));
  EXPECT_THAT(WriteCardPage(*index->FindOwn("judged")), HasSubstr("<td class=\"n\">1.50</td><td class=\"n\">-</td>"));
}

TEST_F(ModelPagesTest, HostileTextsAreEscaped) {
  files.Write("own/hostile/model.json", testing::OwnModel("<script>alert(1)</script>", 1, "<img src=x>"));
  const std::string dir = "v0.7/<b>&'/rapl-sysfs/AbsPower/<i>/";
  files.Write(dir + "SGDRegressorTrainer_0.zip", testing::Archive({}));
  files.Write(dir + "SVRRegressorTrainer_0.zip", "PK <u>broken</u>");
  const std::string list = List();
  for (const char* text : {"<script", "<img", "<b>", "<i>", "<u>"}) EXPECT_THAT(list, Not(HasSubstr(text)));
  EXPECT_THAT(list, HasSubstr("Files that cannot be read"));
  const std::string card = WriteCardPage(*index->FindOwn("hostile"));
  EXPECT_THAT(card, Not(HasSubstr("<script")));
  EXPECT_THAT(card, HasSubstr("&lt;script&gt;"));
  const auto other = std::ranges::find(index->models, "<i>", &StoredModel::group);
  ASSERT_NE(other, index->models.end());
  EXPECT_EQ(CardPath(*other), "/models/v0.7/%3Cb%3E%26%27/rapl-sysfs/AbsPower/%3Ci%3E/SGDRegressorTrainer_0");
  EXPECT_THAT(WriteCardPage(*other), Not(HasSubstr("<i>")));
}

}  // namespace
}  // namespace kepler::modelserver
