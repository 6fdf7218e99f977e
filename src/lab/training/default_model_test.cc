// What the shipped model (model/default_model.h) says of the parts of a server, against the server that it comes from.
#include "model/default_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include "lab/training/csv_table.h"
#include "lab/training/validation.h"

namespace kepler::lab::training {
namespace {

class SharesOfTheWall : public ::testing::Test {
 protected:
  static std::vector<double> Column(std::string_view name) {
    static const auto table = [] {
      std::ifstream file(KEPLER_DATA "/nx12.csv", std::ios::binary);
      return Table::ReadCsv({std::istreambuf_iterator<char>(file), {}});
    }();
    return table.value().Numbers(table.value().Find(name).value().value()).value();
  }
  /// The mean of a column over the rows whose wall power is within [from, to].
  [[nodiscard]] double Mean(const std::vector<double>& column, double from, double to) const {
    double sum = 0;
    double rows = 0;
    for (size_t i = 0; i < wall_.size(); ++i) {
      if (wall_[i] < from || wall_[i] > to) continue;
      sum += column[i];
      ++rows;
    }
    return sum / rows;
  }
  [[nodiscard]] double idle(const std::vector<double>& column) const { return Mean(column, 0, low_); }
  [[nodiscard]] double full(const std::vector<double>& column) const { return Mean(column, high_, 1e9); }
  /// What the rule says of a part, given the wall power that was measured, against what was measured of it.
  [[nodiscard]] model::Accuracy Judged(const std::vector<double>& column, model::WallShare share) const {
    const double least = share.idle * idle(wall_);
    const double most = share.full * full(wall_);
    std::vector<double> said;
    said.reserve(wall_.size());
    for (const double watts : wall_)
      said.push_back(least + (most - least) * (watts - idle(wall_)) / (full(wall_) - idle(wall_)));
    return Judge(said, column);
  }
  void SetUp() override {
    auto sorted = wall_;
    std::ranges::sort(sorted);
    low_ = sorted[sorted.size() / 10];
    high_ = sorted[sorted.size() - 1 - sorted.size() / 10];
  }

  const std::vector<double> wall_ = Column("platform_power");
  const std::vector<double> package_ = Column("package_power");
  const std::vector<double> dram_ = Column("dram_power");
  double low_ = 0;
  double high_ = 0;
};

TEST_F(SharesOfTheWall, Constants_AreWhatTheServerMeasured) {
  constexpr double kRounded = 0.0005;
  EXPECT_NEAR(model::kPackageOfWall.idle, idle(package_) / idle(wall_), kRounded);
  EXPECT_NEAR(model::kPackageOfWall.full, full(package_) / full(wall_), kRounded);
  EXPECT_NEAR(model::kDramOfWall.idle, idle(dram_) / idle(wall_), kRounded);
  EXPECT_NEAR(model::kDramOfWall.full, full(dram_) / full(wall_), kRounded);
}

/// The figures of docs/default-model.md.
TEST_F(SharesOfTheWall, Rule_IsOffByLittleOnThatServer) {
  EXPECT_NEAR(Judged(package_, model::kPackageOfWall).mae_watts, 6.4, 0.05);
  EXPECT_NEAR(Judged(package_, model::kPackageOfWall).mape, 7.3, 0.05);
  EXPECT_NEAR(Judged(dram_, model::kDramOfWall).mae_watts, 5.2, 0.05);
  EXPECT_NEAR(Judged(dram_, model::kDramOfWall).mape, 9.3, 0.1);
}

}  // namespace
}  // namespace kepler::lab::training
