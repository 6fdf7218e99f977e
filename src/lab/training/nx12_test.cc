// Trainers on real measurements (data/nx12.csv), in folds that do not put neighbouring rows on both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "lab/training/csv_table.h"
#include "lab/training/trainer.h"
#include "lab/training/validation.h"
#include "model/predictor.h"

namespace kepler::lab::training {
namespace {

using Names = std::vector<std::string_view>;

class Nx12 : public ::testing::Test {
 protected:
  static std::vector<double> Column(std::string_view name) {
    static const Table table = [] {
      std::ifstream file(KEPLER_DATA "/nx12.csv", std::ios::binary);
      auto read = Table::ReadCsv({std::istreambuf_iterator<char>(file), {}});
      EXPECT_TRUE(read) << read.error().message;
      return read.value_or(Table());
    }();
    return table.Numbers(table.Find(name).value().value()).value();
  }
  static Samples Load(std::string_view label, const Names& features) {
    Samples samples{.features = {.columns = features.size(), .values = {}}, .labels = Column(label), .groups = {}};
    samples.features.values.resize(samples.labels.size() * features.size());
    for (size_t j = 0; j < features.size(); ++j) {
      const auto column = Column(features[j]);
      for (size_t i = 0; i < column.size(); ++i) samples.features.values[i * features.size() + j] = column[i];
    }
    return samples;
  }
  /// Each row that is in a test fold predicted by a fit without that fold; over all of them together.
  static double MaeOf(std::string_view trainer, std::string_view label, const Names& features, std::string_view split) {
    const Samples all = Load(label, features);
    const auto folds = Column(split);
    std::vector<double> predicted;
    std::vector<double> measured;
    for (double fold = 0; fold < 5; ++fold) {
      std::vector<size_t> train;
      std::vector<size_t> test;
      for (size_t i = 0; i < folds.size(); ++i) (folds[i] == fold ? test : train).push_back(i);
      if (test.empty()) continue;
      const auto fit = FindTrainer(trainer)->fit(Subset(all, train), {});
      if (!fit) return -1;
      for (const size_t i : test) {
        predicted.push_back(model::Predict(*fit, all.features.row(i)));
        measured.push_back(all.labels[i]);
      }
    }
    return Judge(predicted, measured).mae_watts;
  }

  const Names counters_{"cache_miss", "cpu_cycles", "cpu_instructions"};
  const Names time_{"bpf_cpu_time_ms"};
  const Names both_{"bpf_cpu_time_ms", "cache_miss", "cpu_cycles", "cpu_instructions"};
  const Names counters_and_irqs_{"bpf_block_irq", "bpf_net_rx_irq", "bpf_net_tx_irq",
                                 "cache_miss",    "cpu_cycles",     "cpu_instructions"};
};

TEST_F(Nx12, AllRowsAreThere) { EXPECT_EQ(Column("package_power").size(), 2202U); }

// What scikit-learn's LinearRegression reaches, in watts.
TEST_F(Nx12, Linear_IsOrdinaryLeastSquares) {
  const struct {
    const char* label;
    const Names& features;
    double time70_30;
    double block5;
  } cases[] = {
      {"package_power", time_, 19.26721, 23.52595},  {"package_power", counters_, 8.14198, 10.14106},
      {"package_power", both_, 9.44394, 10.49760},   {"package_power", counters_and_irqs_, 8.25297, 10.18917},
      {"dram_power", time_, 8.02644, 7.94551},       {"dram_power", counters_, 4.75829, 3.88733},
      {"dram_power", both_, 4.86925, 4.02488},       {"dram_power", counters_and_irqs_, 4.73963, 3.87566},
      {"platform_power", time_, 30.23022, 33.59597}, {"platform_power", counters_, 13.47600, 15.85119},
      {"platform_power", both_, 14.83211, 16.22746}, {"platform_power", counters_and_irqs_, 13.83322, 16.13917},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(MaeOf("linear", c.label, c.features, "time70_30"), c.time70_30, 1e-4) << c.label << c.features.size();
    EXPECT_NEAR(MaeOf("linear", c.label, c.features, "block5"), c.block5, 1e-4) << c.label << c.features.size();
  }
}

// The same of the others, with the same parameters, as far as there is one answer.
TEST_F(Nx12, Others_AreAsNearAsElsewhere) {
  const struct {
    const char* trainer;
    double time70_30;
    double block5;
    double tolerance;
  } cases[] = {
      {"non-negative", 8.1420, 10.1187, 0.0005}, {"ridge", 8.1805, 10.0895, 0.0005}, {"sgd", 8.1680, 10.1109, 0.1},
      {"knn", 9.3519, 7.7446, 0.0005},           {"svr", 8.7986, 9.8266, 0.01},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(MaeOf(c.trainer, "package_power", counters_, "time70_30"), c.time70_30, c.tolerance) << c.trainer;
    EXPECT_NEAR(MaeOf(c.trainer, "package_power", counters_, "block5"), c.block5, c.tolerance) << c.trainer;
  }
}

// The same without limits and penalty reaches 8.99 and 8.35 on counters, 11.35 and 8.89 with CPU time.
TEST_F(Nx12, Polynomial_IsBetterForItsLimits) {
  EXPECT_LT(MaeOf("polynomial", "package_power", counters_, "time70_30"), 8.99);
  EXPECT_LT(MaeOf("polynomial", "package_power", counters_, "block5"), 8.35);
  EXPECT_LT(MaeOf("polynomial", "package_power", both_, "time70_30"), 11.35);
  EXPECT_LT(MaeOf("polynomial", "package_power", both_, "block5"), 8.89);
}

}  // namespace
}  // namespace kepler::lab::training
