#pragma once
// Requests of the estimator's clients (Kepler 0.7): rows of features, whose watts are asked for. One JSON object per
// connection, without a frame. Facts: estimate/estimator.py of the published model server, and
// pkg/model/estimator/sidecar of Kepler 0.7. Pure; any thread. Errors are for the client: kMalformed with the field.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/power_model.h"
#include "modelserver/model_request.h"

namespace kepler::modelserver::estimator {

/// Finds the end of a JSON object while its bytes arrive. The object itself is checked later.
class ObjectEnd {
 public:
  enum class Found : unsigned char { kMore, kEnd, kNoObject };
  /// `piece` follows the previous pieces. After kEnd or kNoObject, further pieces are ignored.
  [[nodiscard]] Found Read(std::string_view piece);
  /// Number of bytes up to the end of the object, or that were read so far.
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  Found found_ = Found::kMore;
  size_t bytes_ = 0;
  size_t depth_ = 0;
  bool in_text_ = false;
  bool is_escaped_ = false;
};

inline constexpr size_t kMaxRows = 16'384;

struct EstimateRequest {
  std::vector<std::string> features;  // canonical names: the columns, first `metrics`, then numeric `system_features`
  std::vector<std::vector<double>> rows;  // may be empty
  model::OutputType output = model::OutputType::kAbsPower;
  std::string source;        // after NormalSource()
  std::string trainer_name;  // "": any
  std::vector<Bound> filter;
};

/// Unknown keys are ignored. Features are rates per second, as the client's agent sends them.
[[nodiscard]] Result<EstimateRequest> ReadEstimateRequest(std::string_view text);

}  // namespace kepler::modelserver::estimator
