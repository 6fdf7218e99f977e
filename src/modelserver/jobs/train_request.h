#pragma once
// POST /train of the published model server (0.7): recorded metrics, and what to train on them. The recording may be
// large. It is not parsed here, but handed to the child process that trains, which has limits. Facts:
// train/offline_trainer.py. Pure; any thread. Errors are for the client: kMalformed with the field.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::modelserver::jobs {

/// The members of a JSON object, as bytes of `text`, by key as it is written. kMalformed if it is no object or if a key
/// occurs twice. The values are only as valid as brackets and quotes show.
using JsonMembers = std::map<std::string_view, std::string_view>;
[[nodiscard]] Result<JsonMembers> SplitMembers(std::string_view text);

struct TrainRequest {
  std::string name;  // letters, digits, ".", "_", "-"
  std::string energy_source;
  std::vector<std::string> abs_trainers;
  std::vector<std::string> dyn_trainers;
  bool isolates = true;        // idle power is subtracted before models of dynamic power are trained
  std::string_view recording;  // in the body
};

[[nodiscard]] Result<TrainRequest> ReadTrainRequest(std::string_view body);

/// Command lines of kepler-model, without its name, for the recording in recording.json. They work in the directory of
/// the job, and leave models in abs/ and dyn/.
[[nodiscard]] std::vector<std::vector<std::string>> TrainSteps(const TrainRequest& request);

}  // namespace kepler::modelserver::jobs
