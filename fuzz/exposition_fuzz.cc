// Pages of metrics: whatever the text, samples have the page's time and finite values.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/dataset/exposition.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace dataset = kepler::lab::dataset;
  const std::string_view page(reinterpret_cast<const char*>(data), size);
  const auto is_wanted = [](std::string_view metric) { return !metric.starts_with("x"); };
  dataset::Recording recording;
  if (const auto read = dataset::AddExposition(page, 1, is_wanted, recording); !read && read.error().message.empty())
    std::abort();
  static_cast<void>(dataset::FindSample(page, "a"));
  for (const auto& [metric, all] : recording.metrics)
    for (const dataset::Series& series : all)
      for (const dataset::Sample& sample : series.samples)
        if (sample.time != 1 || !std::isfinite(sample.value)) std::abort();
  return 0;
}
