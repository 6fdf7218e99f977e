#pragma once
// The settings of kepler-model pipeline, as values.
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/train.h"
#include "lab/judging/limits.h"

namespace kepler::lab::tool {

struct Pipeline {
  Training of;  // of each model, with other features, trainer and output
  std::vector<std::string> target;
  std::vector<std::string> groups;
  std::vector<std::string> trainers = {"auto"};
  judging::Limits limits;
  bool json = false;
};

extern const settings::TableOf<Pipeline> kPipelineTable;

/// For --help.
extern const std::string_view kAboutPipeline;

/// What the flags say by themselves, before any file is read.
void CheckPipeline(settings::Draft& draft, const Pipeline& config);

}  // namespace kepler::lab::tool
