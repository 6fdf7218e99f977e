// Pages of metrics: whatever the text, samples have the page's time and finite values.
#include <cmath>

#include "fuzz.h"
#include "lab/dataset/exposition.h"

void Fuzz(std::string_view page) {
  namespace dataset = kepler::lab::dataset;
  const auto is_wanted = [](std::string_view metric) { return !metric.starts_with("x"); };
  dataset::Recording recording;
  if (const auto read = dataset::AddExposition(page, 1, is_wanted, recording); !read && read.error().message.empty())
    std::abort();
  static_cast<void>(dataset::FindSample(page, "a"));
  for (const auto& [metric, all] : recording.metrics)
    for (const dataset::Series& series : all)
      for (const dataset::Sample& sample : series.samples)
        if (sample.time != 1 || !std::isfinite(sample.value)) std::abort();
}
