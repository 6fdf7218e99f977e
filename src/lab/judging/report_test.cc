#include "lab/judging/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/judging/limits.h"

namespace kepler::lab::judging {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const Figures kPackage{
    .target = {"package_power", model::Component::kPackage},
    .trainer = "auto: linear",
    .errors = {{.rows = 4, .mae_watts = 1.5, .mape = 2.5, .r2 = 0.75}, 4},
    .of_mean = training::Errors{{.rows = 4, .mae_watts = 8, .mape = 9, .r2 = 0}, 4},
    .scores = {{.name = "linear", .mae_watts = 1.25, .weight = 1}, {.name = "knn", .mae_watts = {}, .weight = 0}},
    .searched = 12};
const Figures kDram{.target = {"dram_power", model::Component::kDram},
                    .trainer = "linear",
                    .errors = {{.rows = 4, .mae_watts = 0.5, .mape = 1, .r2 = 0.5}, 4}};

TEST(FiguresJson, OneComponent_HasItsFiguresAtTheTopToo) {
  EXPECT_EQ(
      FiguresJson(R"("rows":4,)", std::vector{kPackage}),
      R"({"rows":4,"n":4,"mae":1.5,"mape":2.5,"mape_rows":4,"r2":0.75,"components":{"package":{"target":"package_power",)"
      R"("trainer":"auto: linear","n":4,"mae":1.5,"mape":2.5,"mape_rows":4,"r2":0.75,)"
      R"("predicting_the_mean":{"n":4,"mae":8,"mape":9,"mape_rows":4,"r2":0},)"
      R"("searched":12,"candidates":[{"name":"linear","mae":1.25,"weight":1},{"name":"knn","mae":null,"weight":0}]}}})"
      "\n");
}

TEST(FiguresJson, SeveralComponents_HaveTheirsOnly) {
  const std::string json = FiguresJson("", std::vector{kPackage, kDram});
  EXPECT_THAT(json, StartsWith(R"({"components":{"package":{)"));
  EXPECT_THAT(json, HasSubstr(R"(,"dram":{"target":"dram_power","trainer":"linear","n":4,"mae":0.5,)"));
}

TEST(Mape, SaysOfHowManyRowsItIs_AndNothingOfNone) {
  Figures some = kPackage;
  some.errors.mape_rows = 3;
  EXPECT_THAT(FiguresTable(std::vector{some}), HasSubstr(" 2.50 (3 rows) "));
  Figures none = kPackage;
  none.errors.mape_rows = 0;
  EXPECT_THAT(FiguresTable(std::vector{none}), HasSubstr("     1.500        -   0.7500"));
  EXPECT_THAT(FiguresJson("", std::vector{none}), HasSubstr(R"("mae":1.5,"mape":null,"mape_rows":0,)"));
  EXPECT_THAT(FiguresTable(std::vector{kPackage}), HasSubstr("     1.500     2.50   0.7500"));
}

TEST(ModelCard, SaysWhatItIsAndWhatItIsNotFor) {
  const model::PowerModel model{.name = "node",
                                .output = model::OutputType::kAbsPower,
                                .features = {"cpu_cycles"},
                                .domain = {{.min = 1, .max = 5}},
                                .components = {},
                                .machine = model::MachineSpec{.cores = 4}};
  const std::string card = ModelCard({.version = "1.2",
                                      .data = "node.csv",
                                      .sha256 = "00ff",
                                      .rows = 4,
                                      .group = "machine",
                                      .choices = {.seed = 7},
                                      .set = {},
                                      .judged = "out of fold: 2 by column block",
                                      .model = model,
                                      .figures = std::vector{kPackage}});
  EXPECT_THAT(card, HasSubstr("# node\n"));
  EXPECT_THAT(card, HasSubstr("`node.csv`, 4 rows\n* SHA-256: `00ff`"));
  EXPECT_THAT(card, HasSubstr("* package: column `package_power`\n* machines: column `machine`\n* machine: "
                              "`{\"cores\":4}`\n* seed: 7\n\n"));
  EXPECT_THAT(card, HasSubstr("| cpu_cycles | 1 | 5 |\n"));
  EXPECT_THAT(card, HasSubstr("| package | auto: linear | 4 | 1.500 | 2.50 | 0.7500 | 8.000 |\n"));
  EXPECT_THAT(card, HasSubstr("Judged out of fold: 2 by column block."));
  EXPECT_THAT(card, HasSubstr("## Do not use it for\n"));
}

TEST(ModelCard, SaysWhatItIsOnEachMachine) {
  const std::vector<MachineErrors> machines = {{"a", {{{.rows = 2, .mae_watts = 1, .mape = 3, .r2 = 0}, 2}}},
                                               {"b|c", {{{.rows = 1, .mae_watts = 9, .mape = 20, .r2 = 0}, 1}}},
                                               {"d", {{{.rows = 1, .mae_watts = 2, .mape = 4, .r2 = 0}, 1}}}};
  model::PowerModel model{.name = "node", .features = {}, .domain = {}, .components = {}, .machine = {}};
  model.per = model::Per::kCore;
  const std::string card = ModelCard({.version = "1.2",
                                      .data = "node.csv",
                                      .sha256 = "00ff",
                                      .rows = 4,
                                      .group = "node",
                                      .choices = {},
                                      .set = {},
                                      .judged = "",
                                      .machines = machines,
                                      .model = model,
                                      .figures = std::vector{kPackage}});
  EXPECT_THAT(card, HasSubstr("It is a model of one logical CPU."));
  EXPECT_THAT(card, HasSubstr("| node | Component | Rows | MAE, W | MAPE, % |\n|---|---|---|---|---|\n"
                              "| a | package | 2 | 1.000 | 3.00 |\n| b\\|c | package | 1 | 9.000 | 20.00 |\n"));
  EXPECT_EQ(MachinesLine("node", machines),
            "MAPE by node: median 4.00 %, from 3.00 % (a) to 20.00 % (b|c); the card lists all 3\n");
  EXPECT_THAT(MachinesJson(machines),
              StartsWith(R"("machines":[{"name":"a","errors":[{"n":2,"mae":1,"mape":3,"mape_rows":2,"r2":0}]},)"));
  EXPECT_EQ(MachinesLine("", {}) + MachinesJson({}), "");
}

TEST(MachinesLine, LeavesOutMachinesWithoutAMape) {
  const MachineErrors idle{"idle", {{{.rows = 9, .mae_watts = 2, .mape = 0, .r2 = 0}, 0}}};
  const std::vector<MachineErrors> machines = {{"a", {{{.rows = 2, .mae_watts = 1, .mape = 10, .r2 = 0}, 2}}},
                                               idle,
                                               {"b", {{{.rows = 1, .mae_watts = 9, .mape = 20, .r2 = 0}, 1}}}};
  EXPECT_EQ(MachinesLine("node", machines),
            "MAPE by node: median 15.00 %, from 10.00 % (a) to 20.00 % (b); 1 without a MAPE; the card lists all 3\n");
  EXPECT_EQ(MachinesLine("node", {&idle, 1}), "");
}

TEST(ModelCard, SaysHowItWasSearchedFor) {
  const model::PowerModel model{.name = "node",
                                .output = model::OutputType::kAbsPower,
                                .features = {},
                                .domain = {},
                                .components = {},
                                .machine = {}};
  const Choices choices{.seed = 7, .search = 40, .budget = std::chrono::seconds(90), .good_enough_watts = 2.5};
  const std::string card = ModelCard({.version = "1.2",
                                      .data = "node.csv",
                                      .sha256 = "00ff",
                                      .rows = 4,
                                      .group = "",
                                      .choices = choices,
                                      .set = {},
                                      .judged = "",
                                      .model = model,
                                      .figures = std::vector{kPackage}});
  EXPECT_THAT(card, HasSubstr("* seed: 7\n* `--search`: 40\n* `--budget`: 1m30s\n* `--good-enough`: 2.5 W\n"
                              "* package: tried at random for the model of all rows: 12\n\n"));
  EXPECT_EQ(ChoicesJson(choices), R"("seed":7,"search":40,"budget":"1m30s","good_enough":2.5,)");
}

TEST(ModelCard, RenamedModel_IsCalledByItsNewNameFirst) {
  EXPECT_EQ(
      RenamedCard("# old\n\nA model.\n", "old", "n*w"),
      "# n\\*w\n\nImported by this name. Its original card, which follows, has the name old.\n\n# old\n\nA model.\n");
}

TEST(ModelCard, NamesStandForThemselves) {
  const model::PowerModel model{.name = "a|b <i> *x* _y_ cpu_z\nw",
                                .output = model::OutputType::kAbsPower,
                                .features = {"[f](g)"},
                                .domain = {{.min = 1, .max = 5}},
                                .components = {},
                                .machine = {}};
  const std::vector<std::string> set = {"k=`3`"};
  const std::string card = ModelCard({.version = "1.2",
                                      .data = "a`b.csv",
                                      .sha256 = "00ff",
                                      .rows = 4,
                                      .group = "",
                                      .choices = {},
                                      .set = set,
                                      .judged = "out of fold: 2 by column __b__",
                                      .model = model,
                                      .figures = std::vector{kPackage}});
  EXPECT_THAT(card, StartsWith(R"(# a\|b \<i\> \*x\* \_y\_ cpu_z\\)"));
  EXPECT_THAT(card, HasSubstr("`` a`b.csv ``, 4 rows"));
  EXPECT_THAT(card, HasSubstr("* `--set`: `` k=`3` ``\n"));
  EXPECT_THAT(card, HasSubstr("| \\[f\\](g) | 1 | 5 |"));
  EXPECT_THAT(card, HasSubstr("by column \\_\\_b\\_\\_."));
}

TEST(Limits, ExceededOnesAreNamed) {
  training::Errors errors;
  errors.mae_watts = 5;
  errors.mape = 12;
  errors.mape_rows = 10;
  EXPECT_TRUE(Exceeded({}, errors).empty());
  EXPECT_TRUE(Exceeded({.mae_watts = 5, .mape = 12}, errors).empty());
  EXPECT_THAT(Exceeded({.mae_watts = 4.5, .mape = 11}, errors),
              ::testing::ElementsAre("MAE is above 4.5 W", "MAPE is above 11 %"));
  errors.mape_rows = 0;
  EXPECT_TRUE(Exceeded({.mae_watts = 5}, errors).empty());
  EXPECT_THAT(Exceeded({.mape = 11}, errors), ::testing::ElementsAre(HasSubstr("no row has a MAPE")));
}

}  // namespace
}  // namespace kepler::lab::judging
