// Bodies of POST /train: any bytes give a request whose recording lies in the body, or a reason.
#include "fuzz.h"
#include "modelserver/jobs/train_request.h"

using namespace kepler::modelserver::jobs;

void Fuzz(std::string_view text) {
  const auto request = ReadTrainRequest(text);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    return;
  }
  if (request->name.empty() || request->name.contains('/') || request->recording.empty()) std::abort();
  if (request->recording.data() < text.data() || request->recording.size() > text.size()) std::abort();
  for (const auto& step : TrainSteps(*request))
    for (size_t i = 1; i < step.size(); ++i)
      if (!step[i].starts_with("--")) std::abort();
}
