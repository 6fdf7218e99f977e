// What it costs to train power models, and how near they come: every trainer × group of features × component on one
// table, over the folds of one of its columns. For each of them a line, with tabs between group, component, trainer,
// CPU seconds of all fits and predictions, mean absolute error in watts, and the columns that were learnt from.
//   model_training DATA.csv FOLD_COLUMN TRAINER,... GROUP,...     (the trainer "auto" among them)
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/training/auto.h"
#include "lab/training/csv_table.h"
#include "lab/training/trainer.h"
#include "lab/training/validation.h"
#include "model/features.h"
#include "model/predictor.h"

namespace kepler::lab::training {
namespace {

constexpr model::Component kMetered[] = {model::Component::kPackage, model::Component::kDram,
                                         model::Component::kPlatform};

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    items.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Result<std::vector<double>> Column(const Table& table, std::string_view name) {
  KEPLER_TRY(const auto column, table.Find(name));
  if (!column) return Fail(ErrorKind::kNotFound, fmt::format("no column '{}'", name));
  return table.Numbers(*column);
}

/// A group of features, and the columns of the table that hold them.
struct Group {
  std::string name;
  std::vector<std::string> features;
  std::vector<std::string> columns;
  Matrix rows;
};

Result<Group> ReadGroup(const Table& table, std::string name) {
  KEPLER_TRY(const auto features, model::ResolveGroup(name, [&](std::string_view feature) {
               const auto found = table.Find(feature);
               return found && *found;
             }));
  Group group{.name = std::move(name), .features = {features.begin(), features.end()}, .columns = {}, .rows = {}};
  group.rows = {.columns = features.size(), .values = std::vector<double>(table.rows() * features.size())};
  for (size_t j = 0; j < features.size(); ++j) {
    KEPLER_TRY(const auto values, Column(table, features[j]));
    for (size_t i = 0; i < values.size(); ++i) group.rows.values[i * features.size() + j] = values[i];
    group.columns.push_back(table.names()[table.Find(features[j]).value().value()]);
  }
  return group;
}

Result<std::vector<Fold>> ReadFolds(const Table& table, std::string_view column) {
  KEPLER_TRY(const auto numbers, Column(table, column));
  return FoldsByLabel(std::vector<int64_t>(numbers.begin(), numbers.end()));
}

Result<model::Predictor> FitOne(const std::string& trainer, const Group& group, model::Component component,
                                const Samples& samples) {
  if (trainer == "auto") {
    auto fit = FitAuto(samples, {.features = group.features, .component = component});
    if (!fit) return std::unexpected(fit.error());
    return std::move(fit->predictor);
  }
  const Trainer* found = FindTrainer(trainer);
  if (found == nullptr) return Fail(ErrorKind::kNotFound, fmt::format("no trainer '{}'", trainer));
  return found->fit(samples, {});
}

/// One line.
Status Measure(const std::string& trainer, const Group& group, model::Component component, const Samples& all,
               std::span<const Fold> folds) {
  std::vector<double> predicted;
  std::vector<double> measured;
  const double begin = CpuSeconds();
  for (const Fold& fold : folds) {
    KEPLER_TRY(const auto predictor, FitOne(trainer, group, component, Subset(all, fold.train)));
    for (const size_t row : fold.test) {
      predicted.push_back(model::Predict(predictor, all.features.row(row)));
      measured.push_back(all.labels[row]);
    }
  }
  const double seconds = CpuSeconds() - begin;
  fmt::print("{}\t{}\t{}\t{:.6f}\t{:.6f}\t{}\n", group.name, model::Name(component), trainer, seconds,
             Judge(predicted, measured).mae_watts, fmt::join(group.columns, ","));
  return {};
}

Status Run(std::span<char*> arguments) {
  if (arguments.size() != 5)
    return Fail(ErrorKind::kInvalid, "usage: model_training DATA.csv FOLD_COLUMN TRAINER,... GROUP,...");
  std::ifstream file(arguments[1], std::ios::binary);
  if (!file) return Fail(ErrorKind::kNotFound, fmt::format("cannot read {}", arguments[1]));
  KEPLER_TRY(const Table table, Table::ReadCsv({std::istreambuf_iterator<char>(file), {}}));
  KEPLER_TRY(const auto folds, ReadFolds(table, arguments[2]));
  for (const std::string& name : Split(arguments[4])) {
    KEPLER_TRY(const Group group, ReadGroup(table, name));
    for (const model::Component component : kMetered) {
      KEPLER_TRY(auto labels, Column(table, fmt::format("{}_power", model::Name(component))));
      const Samples all{.features = group.rows, .labels = std::move(labels), .groups = {}};
      for (const std::string& trainer : Split(arguments[3]))
        KEPLER_CHECK_OK(Measure(trainer, group, component, all, folds));
    }
  }
  return {};
}

}  // namespace
}  // namespace kepler::lab::training

int main(int argc, char** argv) {
  kepler::lab::training::KeepMemoryForFits();  // as kepler-model train
  const auto status = kepler::lab::training::Run({argv, static_cast<size_t>(argc)});
  if (status) return 0;
  fmt::print(stderr, "model_training: {}\n", status.error().message);
  return 1;
}
