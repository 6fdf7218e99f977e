#pragma once
// The settings of kepler-model train, as values.
#include <cstdint>
#include <string>
#include <vector>

#include "base/duration.h"
#include "model/power_model.h"
#include "settings/draft.h"
#include "settings/table.h"

namespace kepler::lab::tool {

struct Training {
  std::string data;
  std::vector<std::string> target = {"package_power"};
  std::vector<std::string> component;
  std::vector<std::string> features;
  std::string trainer = "auto";
  std::vector<std::string> set;
  int64_t seed = 0;
  int64_t search = 0;
  Duration budget;
  double good_enough = 0;
  std::string folds;
  std::string group;
  std::string machine;
  model::OutputType power = model::OutputType::kAbsPower;
  std::string name;
  int64_t model_version = 1;
  std::string output;
  std::string predictions;
  bool json = false;
};

extern const settings::TableOf<Training> kTrainTable;

/// For --help: with the trainers that there are.
[[nodiscard]] std::string AboutTraining();

/// What the flags say by themselves, before any file is read.
void CheckTraining(settings::Draft& draft, const Training& config);

}  // namespace kepler::lab::tool
