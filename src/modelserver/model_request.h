#pragma once
// Requests of clients of the model server, as Kepler 0.7 and its Python estimator send them. The fields, their defaults
// and their normalisation are upstream's; wrong values are errors for the client. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/power_model.h"
#include "modelserver/archive_summary.h"

namespace kepler::modelserver {

inline constexpr size_t kMaxRequestBytes = size_t{64} << 10;

/// A limit of a stated number: value <= max, or >= max for "abs_max_corr".
struct Bound {
  std::string key;
  double limit = 0;
  bool operator==(const Bound&) const = default;
};

struct ModelRequest {
  std::vector<std::string> metrics;  // as the client spells them; not empty
  model::OutputType output = model::OutputType::kAbsPower;
  std::string source = "rapl-sysfs";
  std::optional<uint32_t> node_type;
  bool weight = false;  // weights as JSON, instead of an archive
  std::string trainer_name;
  std::string pipeline_name;
  std::vector<Bound> filter;
  std::optional<model::MachineSpec> machine;
  bool loose_node_type = true;  // another machine's model is better than none
  size_t unknown_fields = 0;    // ignored
};

/// Reads the body of POST /model. node_type 0 together with a machine_spec counts as not stated: agents of Kepler 0.7
/// always send 0. kMalformed with the field.
[[nodiscard]] Result<ModelRequest> ReadModelRequest(std::string_view body);

/// The query of GET /best-models.
struct BestModelsRequest {
  std::string source = "rapl-sysfs";
  std::optional<model::OutputType> output;
  std::string feature_group;  // empty: all
  std::optional<uint32_t> node_type;
  std::vector<Bound> filter;
  size_t unknown_fields = 0;
};

[[nodiscard]] Result<BestModelsRequest> ReadBestModelsRequest(std::string_view query);

/// "mae:10;mape:20" → bounds. kMalformed with the part.
[[nodiscard]] Result<std::vector<Bound>> ReadFilter(std::string_view text);
/// Returns true if every bound holds; a number that is not stated fails its bound.
[[nodiscard]] bool Passes(std::span<const Bound> filter, const Stated& stated);

/// The component whose error decides for an energy source: package of RAPL, else platform.
[[nodiscard]] model::Component MainComponent(std::string_view source);

}  // namespace kepler::modelserver
