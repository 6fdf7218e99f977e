#include "modelserver/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "model/choice.h"
#include "model/node_types.h"

namespace kepler::modelserver {
namespace {

using Candidates = std::vector<const StoredModel*>;

/// Returns the name under which clients get the model; empty if it cannot be sent in this form.
const std::string& ServedName(const StoredModel& model, bool weight) {
  return weight ? model.weights_name : model.archive_name;
}

const std::shared_ptr<const model::KnownModel>& Judged(const StoredModel& model, bool weight) {
  return weight ? model.judged_weights : model.judged_archive;
}

bool HasFeatures(const StoredModel& model, const ModelRequest& request) {
  return std::ranges::all_of(model.features, [&](const std::string& feature) {
    return std::ranges::find(request.metrics, feature) != request.metrics.end();
  });
}

/// Returns true if a client of Kepler 0.7 can use the model: it applies any curve to its first feature.
bool IsCurveForClient(const StoredModel& model, const ModelRequest& request) {
  const model::PowerModel& power = model.judged_weights->model;
  return std::ranges::all_of(power.components, [&](const model::ComponentModel& component) {
    const auto* const curve = std::get_if<model::Curve>(&component.predictor.formula);
    return curve == nullptr || power.features[curve->feature] == request.metrics.front();
  });
}

/// Returns an error with the step after which no candidate was left.
std::unexpected<Error> None(const ModelRequest& request, std::string_view reason) {
  return Fail(ErrorKind::kNotFound, fmt::format("cannot find model for source {} and output {}: {}", request.source,
                                                model::Name(request.output), reason));
}

class Narrowing {
 public:
  explicit Narrowing(const ModelRequest& request) : request_(request) {}

  template <class IsKept>
  void Keep(std::string_view reason, IsKept is_kept) {
    if (!reason_.empty()) return;
    std::erase_if(all_, [&](const StoredModel* model) { return !is_kept(*model); });
    if (all_.empty()) reason_ = reason;
  }

  Result<Candidates> Of(const ModelIndex& index, const SelectionRules& rules) {
    for (const StoredModel& model : index.models) all_.push_back(&model);
    const bool weight = request_.weight;
    Keep("the store has no such model",
         [&](const StoredModel& model) { return model.output == request_.output && Serves(model, request_.source); });
    if (index.FindPipeline(request_.pipeline_name) != nullptr)
      Keep("its pipeline has none", [&](const StoredModel& m) { return m.pipeline == request_.pipeline_name; });
    Keep(weight ? "no model can be given as weights" : "no model can be given as an archive; ask with \"weight\": true",
         [&](const StoredModel& model) { return !ServedName(model, weight).empty(); });
    Keep("every model needs a feature that is not in metrics",
         [&](const StoredModel& model) { return HasFeatures(model, request_); });
    Keep("no model is of this trainer",
         [&](const StoredModel& model) { return ServedName(model, weight).contains(request_.trainer_name); });
    Keep("the stated errors of all are above the limits of this server (--max-error), or missing",
         [&](const StoredModel& model) { return IsWithin(rules.limits, model); });
    Keep("no model passes the filter", [&](const StoredModel& m) { return Passes(request_.filter, m.stated); });
    if (weight && rules.policy == Policy::kHonest)
      Keep("the curves are of a feature that is not the first of metrics",
           [&](const StoredModel& model) { return IsCurveForClient(model, request_); });
    if (!reason_.empty()) return None(request_, reason_);
    return all_;
  }

 private:
  const ModelRequest& request_;
  Candidates all_;
  std::string reason_;
};

Candidates OfType(const Candidates& all, uint32_t type) {
  Candidates some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const StoredModel* model) { return model->type == type; });
  return some;
}

/// Keeps the models of the requested node type; all, if there is none and the client accepts models of other machines.
Result<Candidates> Typed(Candidates all, const ModelRequest& request) {
  if (!request.node_type) return all;
  Candidates some = OfType(all, *request.node_type);
  if (!some.empty()) return some;
  if (!request.loose_node_type) return None(request, fmt::format("no model is of node type {}", *request.node_type));
  return all;
}

// The policy `honest`.

/// `as`: the machine of every model, in place of its own.
model::ModelSet SetOf(const Candidates& all, bool weight, const std::optional<model::MachineSpec>& as) {
  model::ModelSet set;
  for (const StoredModel* const model : all) {
    if (!as) {
      set.push_back(Judged(*model, weight));
      continue;
    }
    auto known = std::make_shared<model::KnownModel>(*Judged(*model, weight));
    known->model.machine = as;
    set.push_back(std::move(known));
  }
  return set;
}

Result<Selected> Choose(const Candidates& all, const ModelRequest& request, const model::MachineSpec& machine,
                        const std::optional<model::MachineSpec>& as = std::nullopt) {
  const model::ModelSet set = SetOf(all, request.weight, as);
  model::Situation here{.machine = machine, .has = [](std::string_view) { return true; }};
  here.only_load = true;  // all candidates have the same output
  KEPLER_TRY(const model::Choice choice, model::ChooseModel(set, MainComponent(request.source), here));
  std::string reason(as ? "no model states its machine" : model::Name(choice.match));
  if (choice.expected && choice.expected->mape > 0)
    reason += fmt::format(", stated MAPE {:.4g} %", choice.expected->mape);
  return Selected{.model = all[choice.model], .reason = std::move(reason)};
}

uint64_t MembersOf(const ModelIndex& index, const StoredModel& model) {
  const Pipeline* const pipeline = index.FindPipeline(model.pipeline);
  if (pipeline == nullptr || !model.type) return 0;
  const auto found = std::ranges::find(pipeline->types, *model.type, &model::NodeType::number);
  return found == pipeline->types.end() ? 0 : found->members;
}

/// Returns the candidate with the most similar machine. Ties go to the type with the most measured machines.
const StoredModel* MostSimilar(const ModelIndex& index, const Candidates& all, const model::MachineSpec& wanted) {
  const StoredModel* best = nullptr;
  std::pair<double, uint64_t> best_rank;
  for (const StoredModel* const model : all) {
    if (!model->machine()) continue;
    const std::pair rank(model::Similarity(wanted, *model->machine()), MembersOf(index, *model));
    if (best == nullptr || rank > best_rank) std::tie(best, best_rank) = std::pair(model, rank);
  }
  return best;
}

Result<Selected> SelectLoosely(const ModelIndex& index, const Candidates& all, const ModelRequest& request) {
  const model::MachineSpec wanted = request.machine.value_or(model::MachineSpec{});
  const StoredModel* const nearest = MostSimilar(index, all, wanted);
  if (nearest == nullptr || nearest->machine()->processor.empty()) {
    const model::MachineSpec any{.processor = "any"};
    return Choose(all, request, any, any);
  }
  Candidates same;
  std::ranges::copy_if(all, std::back_inserter(same),
                       [&](const StoredModel* model) { return model->machine() == nearest->machine(); });
  KEPLER_TRY(Selected selected, Choose(same, request, *nearest->machine()));
  const std::string_view processor = nearest->machine()->processor;
  selected.reason = request.machine
                        ? fmt::format("most similar machine ({}, similarity {:.3g}), {}", processor,
                                      model::Similarity(wanted, *nearest->machine()), selected.reason)
                        : fmt::format("the request has no machine; taken: {}, {}", processor, selected.reason);
  return selected;
}

Result<Selected> SelectHonestly(const ModelIndex& index, const Candidates& all, const ModelRequest& request) {
  if (request.node_type && all.front()->type == request.node_type && all.front()->machine())
    return Choose(all, request, *all.front()->machine());
  auto exact = Choose(all, request, request.machine.value_or(model::MachineSpec{}));
  if (exact) return exact;
  if (!request.loose_node_type) return None(request, exact.error().message);
  auto loose = SelectLoosely(index, all, request);
  if (!loose) return None(request, loose.error().message);
  return loose;
}

// The policy `upstream`.

double ErrorOf(const StoredModel& model, const std::string& key) {
  const auto found = model.stated.find(key);
  return found == model.stated.end() ? std::numeric_limits<double>::infinity() : found->second;
}

/// The types of the candidates of one pipeline that fit the request's machine.
Candidates FittingType(const ModelIndex& index, const Candidates& all, const ModelRequest& request) {
  if (request.node_type || !request.machine) return all;
  Candidates fitting;
  for (const Pipeline& pipeline : index.pipelines) {
    const auto match = model::FindNodeType(pipeline.types, *request.machine);
    if (!match) continue;
    const model::NodeType& type = pipeline.types[match->type];
    if (!request.loose_node_type && !model::Covers(*request.machine, type.machine)) continue;
    for (const StoredModel* const model : all)
      if (model->pipeline == pipeline.name && model->type == type.number) fitting.push_back(model);
  }
  for (const StoredModel* const model : all)
    if (!model->type && model->machine() && model::Covers(*request.machine, *model->machine()))
      fitting.push_back(model);
  return fitting;
}

/// Upstream's fallback: models of the machine with most cores.
Candidates OfLargestMachine(const Candidates& all) {
  const auto cores = [](const StoredModel* model) { return model->machine() ? model->machine()->cores : 0; };
  uint32_t most = 0;
  for (const StoredModel* const model : all) most = std::max(most, cores(model));
  Candidates some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const StoredModel* model) { return cores(model) == most; });
  return some;
}

Result<Selected> SelectByError(const ModelIndex& index, const Candidates& all, const ModelRequest& request,
                               const std::string& error_key) {
  Candidates fitting = FittingType(index, all, request);
  if (fitting.empty() && !request.loose_node_type) return None(request, "no model is of this machine");
  const bool is_fallback = fitting.empty();
  if (is_fallback) fitting = OfLargestMachine(all);
  const auto best = std::ranges::min_element(
      fitting, {}, [&](const StoredModel* model) { return std::pair(ErrorOf(*model, error_key), model->id); });
  if (ErrorOf(**best, error_key) == std::numeric_limits<double>::infinity())
    return None(request, fmt::format("no model states {}", error_key));
  return Selected{.model = *best,
                  .reason = fmt::format("{} {:.4g}{}", error_key, ErrorOf(**best, error_key),
                                        is_fallback ? ", of the largest machine" : "")};
}

}  // namespace

bool Serves(const StoredModel& model, std::string_view source) {
  if (!model.source.empty()) return model.source == source;
  const auto& components = model.judged_archive->model.components;
  return std::ranges::find(components, MainComponent(source), &model::ComponentModel::component) != components.end();
}

bool IsWithin(std::span<const Bound> limits, const StoredModel& model) {
  const auto& components = (model.judged_archive ? model.judged_archive : model.judged_weights)->model.components;
  return std::ranges::all_of(limits, [&](const Bound& limit) {
    const auto component = model::ComponentOf(limit.key.substr(0, limit.key.find('_')));
    const bool is_missing =
        component && std::ranges::find(components, *component, &model::ComponentModel::component) == components.end();
    return is_missing || Passes({&limit, 1}, model.stated);
  });
}

Result<Selected> SelectModel(const ModelIndex& index, const ModelRequest& request, const SelectionRules& rules) {
  const bool is_honest = rules.policy == Policy::kHonest;
  KEPLER_TRY(Candidates all, Narrowing(request).Of(index, rules));
  KEPLER_TRY(all, Typed(std::move(all), request));
  return is_honest ? SelectHonestly(index, all, request) : SelectByError(index, all, request, rules.error_key);
}

Result<BestModels> FindBestModels(const ModelIndex& index, const BestModelsRequest& request,
                                  const SelectionRules& rules) {
  std::map<std::pair<std::string, std::string>, const StoredModel*> best;
  for (const StoredModel& model : index.models) {
    const bool is_wanted = Serves(model, request.source) && model.output == request.output.value_or(model.output) &&
                           (request.feature_group.empty() || model.group == request.feature_group) &&
                           (!request.node_type || model.type == request.node_type) &&
                           Passes(request.filter, model.stated) && model.stated.contains(rules.error_key) &&
                           IsWithin(rules.limits, model);
    if (!is_wanted) continue;
    const StoredModel*& known = best[{std::string(model::Name(model.output)), model.group}];
    if (known == nullptr || ErrorOf(model, rules.error_key) < ErrorOf(*known, rules.error_key)) known = &model;
  }
  if (best.empty())
    return Fail(ErrorKind::kNotFound,
                fmt::format("cannot find model for source {} and these parameters", request.source));
  BestModels names;
  for (const auto& [key, model] : best) names[key.first][key.second] = model->name;
  return names;
}

}  // namespace kepler::modelserver
