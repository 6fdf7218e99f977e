// Archives of every trainer of Kepler's model server, and published ones, against what scikit-learn and XGBoost predict
// (testdata/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/parse.h"
#include "lab/files/archive.h"
#include "lab/files/files.h"
#include "lab/files/model_archive.h"

namespace kepler::lab::files {
namespace {

constexpr double kFloat = 2e-6;  // relative; the leaves of trees are added as floats

Result<ServerModel> ReadTestArchive(const std::string& name) {
  KEPLER_TRY(const std::string bytes, ReadBounded(KEPLER_TESTDATA "/" + name, kMaxArchiveBytes));
  KEPLER_TRY(const auto members, ReadArchive(bytes));
  return ReadServerArchive(members);
}

std::vector<std::string> CellsOf(std::string_view line) {
  std::vector<std::string> cells;
  Splitter splitter(line, ',');
  while (const auto cell = splitter.Next()) cells.emplace_back(*cell);
  return cells;
}

TEST(ServerArchiveKinds, EveryTrainer_PredictsAsInPython) {
  const auto text = ReadBounded(KEPLER_TESTDATA "/expected.csv", 1 << 20);
  ASSERT_TRUE(text) << text.error().message;
  std::map<std::string, ServerModel> models;
  std::set<std::string> trainers;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next()) {
    const auto cells = CellsOf(*line);
    if (cells.size() < 4) continue;
    if (!models.contains(cells[0])) {
      auto read = ReadTestArchive(cells[0]);
      ASSERT_TRUE(read) << cells[0] << ": " << read.error().message;
      EXPECT_EQ(read->weights_because, "") << cells[0];
      models.emplace(cells[0], *std::move(read));
    }
    const model::PowerModel& model = models[cells[0]].model;
    std::vector<double> row;
    for (size_t i = 2; i + 1 < cells.size(); ++i) row.push_back(ParseNumber<double>(cells[i]).value());
    const auto component = static_cast<size_t>(model::ComponentOf(cells[1]).value());
    const double expected = ParseNumber<double>(cells.back()).value();
    EXPECT_NEAR(EstimateRow(model, row, 1).watts[component], expected, kFloat * expected) << *line;
    trainers.insert(model.components[0].trainer);
  }
  EXPECT_EQ(models.size(), 14U);
  EXPECT_EQ(trainers.size(), 10U);
}

TEST(ServerArchiveKinds, PublishedArchive_HasItsErrorsAndNoComponentOfZero) {
  const auto cloud = ReadTestArchive("published-ec2-0.7.11_AbsPower_BPFOnly_PolynomialRegressionTrainer_0.zip");
  ASSERT_TRUE(cloud) << cloud.error().message;
  ASSERT_EQ(cloud->model.components.size(), 2U);  // core and uncore were not metered
  EXPECT_EQ(cloud->model.components[1].component, model::Component::kDram);
  EXPECT_EQ(cloud->model.components[1].accuracy->mae_watts, 2.79);
  EXPECT_EQ(cloud->model.components[1].accuracy->mape, 14.4);
  // Its weight.json has a bias of 551.7 W, and is of an earlier training.
  const auto node = ReadTestArchive("published-nx12-std_v0.6_acpi_AbsPower_BPFOnly_LinearRegressionTrainer_1.zip");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_NEAR(EstimateRow(node->model, std::vector<double>{100}, 1).watts[4], 195.258, 0.001);
}

}  // namespace
}  // namespace kepler::lab::files
