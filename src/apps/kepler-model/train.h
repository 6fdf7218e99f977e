#pragma once
// The settings of kepler-model train, as values, and its steps, which pipeline takes for each of its models.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"
#include "base/result.h"
#include "lab/files/files.h"
#include "lab/judging/data.h"
#include "lab/judging/fitting.h"
#include "lab/judging/inputs.h"
#include "lab/training/trainer.h"
#include "model/power_model.h"
#include "settings/draft.h"
#include "settings/table.h"

namespace kepler::lab::tool {

/// Kind of power of a model; kAuto: DynPower for columns that isolate wrote, else AbsPower.
enum class KindOfPower : uint8_t { kAuto, kAbsPower, kDynPower };
inline constexpr std::string_view kKindsOfPower[] = {"auto", "AbsPower", "DynPower"};

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
  KindOfPower power = KindOfPower::kAuto;
  model::Per per = model::Per::kMachine;
  std::string name;
  int64_t model_version = 1;
  std::string output;
  std::string predictions;
  bool json = false;
};

extern const settings::TableOf<Training> kTrainTable;

/// For --help: with the trainers that there are.
[[nodiscard]] std::string AboutTraining();

/// The mistake in the name of a trainer, or nothing.
[[nodiscard]] std::string WhyNoTrainer(std::string_view given);

/// The hyper-parameters of --set=NAME=NUMBER,... kInvalid with the item that has another form.
[[nodiscard]] Result<training::TrainerOptions> ReadSet(std::span<const std::string> set);

/// What the flags say by themselves, before any file is read.
void CheckTraining(settings::Draft& draft, const Training& config);

/// A judged model and the measurements that it was trained on.
struct Trained {
  judging::Measurements all;
  std::vector<size_t> rows;                      // that trained it
  std::string judged_by;                         // "out of fold: ..."
  std::string group;                             // column of machines that were left out in turn; may be empty
  std::vector<judging::MachineErrors> machines;  // of each of these machines
  judging::OutOfFold judged;
  judging::Fit fit;  // with the errors of `judged`, and with what the machines have in common
};

/// Judges a model out of fold and fits it to all rows. `name` begins each line of progress.
[[nodiscard]] Result<Trained> TrainOn(const Training& config, const judging::DataFile& data,
                                      const judging::Machines& machines, std::string_view name);
/// model.json and card.md in config.output.
[[nodiscard]] Result<std::vector<files::OutputFile>> ModelFiles(const Training& config, const judging::DataFile& data,
                                                                const Trained& trained);

}  // namespace kepler::lab::tool
