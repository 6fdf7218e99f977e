#pragma once
// What a client asks of a model server: the best model for its machine and features. `kepler-model serve` answers a GET
// with a model. The model server of Kepler 0.7 answers POST /model with weights. Facts: its server/model_server.py.
// Pure.
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/model_set.h"

namespace kepler::model_store {

struct ModelQuery {
  model::MachineSpec machine;
  std::vector<std::string> features;  // canonical names of the features that are available here
};

/// Path of the GET.
inline constexpr char kBestPath[] = "/best/model.json";
/// Path of the POST.
inline constexpr char kOldPath[] = "/model";

/// Returns "machine=…&features=a,b", the query of the GET.
[[nodiscard]] std::string BestQuery(const ModelQuery& query);

/// Returns the bodies of the POST, in the order in which they are sent until an answer can be used: for the energy
/// source rapl-sysfs, and for acpi. Each lists bpf_page_cache_hit, although nothing measures it here: without it no
/// model of the groups BPFOnly and Basic is a candidate, and in most of them it has no weight. For models in which it
/// has a weight, the second body does not list it, if there are other features than those of BPF.
[[nodiscard]] std::vector<std::string> OldBodies(const ModelQuery& query);

/// Returns an error with the reason if ChooseModel() would use no component of the model here. `known` is not null.
[[nodiscard]] Status CheckUsable(const std::shared_ptr<const model::KnownModel>& known, const ModelQuery& query);

}  // namespace kepler::model_store
