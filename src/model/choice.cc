#include "model/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace kepler::model {
namespace {

/// Maximum number of models in a message, for sets with hundreds of models.
constexpr size_t kMaxNamed = 8;

std::unexpected<Error> Unfit(std::string reason) { return Fail(ErrorKind::kUnavailable, std::move(reason)); }

Result<size_t> FindComponent(const PowerModel& model, Component wanted) {
  const auto found = std::ranges::find(model.components, wanted, &ComponentModel::component);
  if (found == model.components.end())
    return Fail(ErrorKind::kNotFound, fmt::format("it does not have {}", Name(wanted)));
  return static_cast<size_t>(found - model.components.begin());
}

Status CheckFeatures(const PowerModel& model, const ComponentModel& component, const Situation& here) {
  std::vector<std::string_view> missing;
  for (size_t i = 0; i < model.features.size(); ++i)
    if (Counts(component.predictor, i) && !here.has(model.features[i])) missing.push_back(model.features[i]);
  if (missing.empty()) return {};
  return Unfit(
      fmt::format("it needs {}, which {} unknown here", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"));
}

double SimilarityTo(const std::optional<MachineSpec>& machine, const MachineSpec& here) {
  // If this machine's processor is unknown, it may be a different machine: the other attributes are often alike.
  return machine && !here.processor.empty() ? Similarity(here, *machine) : 0;
}

/// Returns how a machine is like this one; an error if it is another machine.
Result<Match> CheckMachine(const PowerModel& model, const MachineSpec& here) {
  const std::optional<MachineSpec>& machine = model.machine;
  if (!machine) return Unfit("it does not name its machine");
  if (here.processor.empty() && !(here.is_guest && !here.cpuid.vendor.empty()))
    return Unfit("the processor of this machine is unknown");
  if (!here.processor.empty() && Covers(here, *machine)) return Match::kSameMachine;
  if (here.is_guest) {
    KEPLER_CHECK_OK(CheckProcessor(here, *machine));
    return Match::kSameProcessor;
  }
  const double similarity = SimilarityTo(machine, here);
  if (similarity >= kMinSimilarity) return Match::kSimilar;
  if (model.per == Per::kCore && machine->processor == here.processor) return Match::kScalesPerCore;
  return Unfit(fmt::format("its machine ({}) is similar to this one ({}) by {:.0f} %, below {:.0f} %",
                           machine->processor.empty() ? "no processor given" : machine->processor, here.processor,
                           std::floor(similarity * 100), kMinSimilarity * 100));
}

Result<Choice> Judge(const KnownModel& known, Component wanted, const Situation& here) {
  const PowerModel& model = known.model;
  KEPLER_TRY(const size_t at, FindComponent(model, wanted));
  const ComponentModel& component = model.components[at];
  KEPLER_CHECK_OK(CheckFeatures(model, component, here));
  const auto match = CheckMachine(model, here.machine);
  if (!match && !known.chosen) return std::unexpected(match.error());
  return Choice{.component = at,
                .match = match.value_or(Match::kNamed),
                .similarity = SimilarityTo(model.machine, here.machine),
                .expected = match && *match == Match::kSameMachine ? component.accuracy : component.unseen};
}

/// Rank of a model; smaller is better. An error of 0 % means that no row reached one milliwatt, so no power was
/// metered. Models with equal ranks are the same model from the same source.
auto RankOf(const Choice& choice, const KnownModel& known, bool only_load) {
  const bool states = choice.expected && choice.expected->mape > 0 && std::isfinite(choice.expected->mape);
  const bool lacks_idle = !only_load && known.model.output == OutputType::kDynPower;
  return std::tuple(!known.chosen, lacks_idle, !states, states ? choice.expected->mape : 0,
                    states ? 0 : -choice.similarity, std::string_view(known.model.name), -int64_t{known.model.version},
                    std::string_view(known.source));
}

/// `kind`: kNotFound if no model has the component.
std::unexpected<Error> NoneFits(Component wanted, ErrorKind kind, std::vector<std::string> reasons) {
  if (reasons.empty()) return Fail(kind, "there are no models");
  std::ranges::sort(reasons);
  const size_t more = reasons.size() - std::min(reasons.size(), kMaxNamed);
  reasons.resize(reasons.size() - more);
  return Fail(kind, fmt::format("no model fits for {}: {}{}", Name(wanted), fmt::join(reasons, "; "),
                                more > 0 ? fmt::format("; and {} more", more) : ""));
}

}  // namespace

std::string_view Name(Match match) {
  constexpr std::string_view kNames[] = {"same_machine", "similar", "same_processor", "scales_per_core", "named"};
  return kNames[static_cast<size_t>(match)];
}

Result<Choice> ChooseModel(const ModelSet& models, Component wanted, const Situation& here) {
  std::optional<Choice> best;
  std::vector<std::string> reasons;
  ErrorKind kind = ErrorKind::kNotFound;
  for (size_t i = 0; i < models.size(); ++i) {
    const KnownModel& known = *models[i];
    const bool too_slow = i < here.too_slow.size() && here.too_slow[i];
    auto judged = too_slow ? Unfit("it takes too long to predict") : Judge(known, wanted, here);
    if (!judged) {
      if (judged.error().kind != ErrorKind::kNotFound) kind = judged.error().kind;
      reasons.push_back(fmt::format("{} ({}): {}", known.model.name, known.source, judged.error().message));
      continue;
    }
    judged->model = i;
    const auto rank = [&](const Choice& choice) { return RankOf(choice, *models[choice.model], here.only_load); };
    if (!best || rank(*judged) < rank(*best)) best = *judged;
  }
  if (!best) return NoneFits(wanted, kind, std::move(reasons));
  return *best;
}

}  // namespace kepler::model
