#include "recording/recording.h"

#include <algorithm>
#include <iterator>

namespace kepler::recording {
namespace {

void AppendSeries(std::vector<Series>& all, std::vector<Series> more) {
  std::map<Labels, size_t> places;
  for (size_t i = 0; i < all.size(); ++i) places.try_emplace(all[i].labels, i);
  for (Series& series : more) {
    const auto [place, is_new] = places.try_emplace(series.labels, all.size());
    if (is_new)
      all.push_back(std::move(series));
    else
      std::ranges::copy(series.samples, std::back_inserter(all[place->second].samples));
  }
}

}  // namespace

std::string_view LabelOf(const Labels& labels, std::string_view name) {
  const auto found = std::ranges::find(labels, name, &Labels::value_type::first);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

size_t CountSamples(const Recording& recording) {
  size_t samples = 0;
  for (const auto& [metric, all] : recording.metrics)
    for (const Series& series : all) samples += series.samples.size();
  return samples;
}

size_t CountSeries(const Recording& recording) {
  size_t count = 0;
  for (const auto& [metric, all] : recording.metrics) count += all.size();
  return count;
}

void Append(Recording& recording, Recording more) {
  recording.not_finite += more.not_finite;
  for (std::string& warning : more.warnings)
    if (recording.warnings.size() < kMaxWarnings &&
        std::ranges::find(recording.warnings, warning) == recording.warnings.end())
      recording.warnings.push_back(std::move(warning));
  for (auto& [metric, series] : more.metrics) AppendSeries(recording.metrics[metric], std::move(series));
}

}  // namespace kepler::recording
