#include "model/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <expected>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "model/zone_status.h"

namespace kepler::model {
namespace {

/// Maximum number of models in a message, for sets with hundreds of models.
constexpr size_t kMaxNamed = 8;

/// Why a model cannot be used here. A set may have thousands of models, so Explain() makes the text for a few.
enum class Unfit : uint8_t {
  kNoComponent,
  kTooSlow,
  kMissingFeatures,
  kNoMachine,
  kUnknownHere,
  kOtherProcessor,
  kOtherMachine,
};
template <class T>
using Judged = std::expected<T, Unfit>;

bool IsMissing(const PowerModel& model, const ComponentModel& component, size_t feature, const Situation& here) {
  return Counts(component.predictor, feature) && !here.has(model.features[feature]);
}

bool HasFeatures(const PowerModel& model, const ComponentModel& component, const Situation& here) {
  for (size_t i = 0; i < model.features.size(); ++i)
    if (IsMissing(model, component, i, here)) return false;
  return true;
}

double SimilarityTo(const std::optional<MachineSpec>& machine, const MachineSpec& here) {
  // If this machine's processor is unknown, it may be a different machine: the other attributes are often alike.
  return machine && !here.processor.empty() ? Similarity(here, *machine) : 0;
}

/// Returns how a machine is like this one; an error if it is another machine.
Judged<Match> CheckMachine(const PowerModel& model, double similarity, const MachineSpec& here) {
  const std::optional<MachineSpec>& machine = model.machine;
  if (!machine) return std::unexpected(Unfit::kNoMachine);
  if (here.processor.empty() && !(here.is_guest && !here.cpuid.vendor.empty()))
    return std::unexpected(Unfit::kUnknownHere);
  if (!here.processor.empty() && Covers(here, *machine)) return Match::kSameMachine;
  if (here.is_guest) {
    if (!CheckProcessor(here, *machine)) return std::unexpected(Unfit::kOtherProcessor);
    return Match::kSameProcessor;
  }
  if (similarity >= kMinSimilarity) return Match::kSimilar;
  if (model.per == Per::kCore && machine->processor == here.processor) return Match::kScalesPerCore;
  return std::unexpected(Unfit::kOtherMachine);
}

Judged<Choice> Judge(const KnownModel& known, Component wanted, const Situation& here) {
  const PowerModel& model = known.model;
  const auto component = std::ranges::find(model.components, wanted, &ComponentModel::component);
  if (component == model.components.end()) return std::unexpected(Unfit::kNoComponent);
  if (!HasFeatures(model, *component, here)) return std::unexpected(Unfit::kMissingFeatures);
  const double similarity = SimilarityTo(model.machine, here.machine);
  const auto match = CheckMachine(model, similarity, here.machine);
  if (!match && !known.chosen) return std::unexpected(match.error());
  const StatedError stated = ErrorOf(*component, Name(match.value_or(Match::kNamed)));
  return Choice{.component = static_cast<size_t>(component - model.components.begin()),
                .match = match.value_or(Match::kNamed),
                .similarity = similarity,
                .expected = stated.basis == kTrainingMachine ? std::nullopt : stated.accuracy};
}

std::string ExplainFeatures(const PowerModel& model, Component wanted, const Situation& here) {
  const auto component = std::ranges::find(model.components, wanted, &ComponentModel::component);
  std::vector<std::string_view> missing;
  for (size_t i = 0; i < model.features.size(); ++i)
    if (IsMissing(model, *component, i, here)) missing.push_back(model.features[i]);
  return fmt::format("it needs {}, which {} unknown here", fmt::join(missing, ", "),
                     missing.size() == 1 ? "is" : "are");
}

std::string Explain(const PowerModel& model, Unfit reason, Component wanted, const Situation& here) {
  switch (reason) {
    case Unfit::kNoComponent:
      return fmt::format("it does not have {}", Name(wanted));
    case Unfit::kTooSlow:
      return "it takes too long to predict";
    case Unfit::kMissingFeatures:
      return ExplainFeatures(model, wanted, here);
    case Unfit::kNoMachine:
      return "it does not name its machine";
    case Unfit::kUnknownHere:
      return "the processor of this machine is unknown";
    case Unfit::kOtherProcessor:
      return CheckProcessor(here.machine, *model.machine).error().message;
    case Unfit::kOtherMachine:
      break;
  }
  const std::string& processor = model.machine->processor;
  return fmt::format("its machine ({}) is similar to this one ({}) by {:.0f} %, below {:.0f} %",
                     processor.empty() ? "no processor given" : processor, here.machine.processor,
                     std::floor(SimilarityTo(model.machine, here.machine) * 100), kMinSimilarity * 100);
}

/// Rank of a model; smaller is better. A MAPE of 0 is unknown. Models with equal ranks are the same model from the same
/// source.
auto RankOf(const Choice& choice, const KnownModel& known, bool only_load) {
  const bool states = choice.expected && choice.expected->mape > 0 && std::isfinite(choice.expected->mape);
  const bool lacks_idle = !only_load && known.model.output == OutputType::kDynPower;
  return std::tuple(!known.chosen, lacks_idle, !states, states ? choice.expected->mape : 0,
                    states ? 0 : -choice.similarity, std::string_view(known.model.name), -int64_t{known.model.version},
                    std::string_view(known.source));
}

/// `reasons`: of each model.
std::unexpected<Error> NoneFits(const ModelSet& models, const std::vector<Unfit>& reasons, Component wanted,
                                const Situation& here) {
  if (models.empty()) return Fail(ErrorKind::kNotFound, "there are no models");
  std::vector<size_t> named(models.size());
  std::iota(named.begin(), named.end(), size_t{0});
  const size_t count = std::min(named.size(), kMaxNamed);
  const auto by_name = [&](size_t i) { return std::tie(models[i]->model.name, models[i]->source); };
  std::ranges::partial_sort(named, named.begin() + static_cast<std::ptrdiff_t>(count), {}, by_name);
  const size_t more = named.size() - count;
  named.resize(count);
  std::vector<std::string> texts;
  texts.reserve(named.size());
  for (const size_t i : named)
    texts.push_back(fmt::format("{} ({}): {}", models[i]->model.name, models[i]->source,
                                Explain(models[i]->model, reasons[i], wanted, here)));
  const bool none_has = std::ranges::all_of(reasons, [](Unfit reason) { return reason == Unfit::kNoComponent; });
  return Fail(none_has ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
              fmt::format("no model fits for {}: {}{}", Name(wanted), fmt::join(texts, "; "),
                          more > 0 ? fmt::format("; and {} more", more) : ""));
}

}  // namespace

std::string_view Name(Match match) {
  constexpr std::string_view kNames[] = {"same_machine", "similar", "same_processor", "scales_per_core", "named"};
  return kNames[static_cast<size_t>(match)];
}

Result<Choice> ChooseModel(const ModelSet& models, Component wanted, const Situation& here) {
  std::optional<Choice> best;
  std::vector<Unfit> reasons;  // of each model, while none fits
  for (size_t i = 0; i < models.size(); ++i) {
    const bool too_slow = i < here.too_slow.size() && here.too_slow[i];
    auto judged = too_slow ? std::unexpected(Unfit::kTooSlow) : Judge(*models[i], wanted, here);
    if (!judged) {
      if (!best) reasons.push_back(judged.error());
      continue;
    }
    judged->model = i;
    const auto rank = [&](const Choice& choice) { return RankOf(choice, *models[choice.model], here.only_load); };
    if (!best || rank(*judged) < rank(*best)) best = *judged;
  }
  if (!best) return NoneFits(models, reasons, wanted, here);
  return *best;
}

}  // namespace kepler::model
