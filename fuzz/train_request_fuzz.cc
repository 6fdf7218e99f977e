// Bodies of POST /train: any bytes give a request whose recording lies in the body, or a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "modelserver/jobs/train_request.h"

using namespace kepler::modelserver::jobs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto request = ReadTrainRequest(text);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    return 0;
  }
  if (request->name.empty() || request->name.contains('/') || request->recording.empty()) std::abort();
  if (request->recording.data() < text.data() || request->recording.size() > size) std::abort();
  for (const auto& step : TrainSteps(*request))
    for (size_t i = 1; i < step.size(); ++i)
      if (!step[i].starts_with("--")) std::abort();
  return 0;
}
