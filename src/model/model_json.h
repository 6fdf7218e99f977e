#pragma once
// Reads and writes model files as JSON that contains only data. No file can make the reader run code. All readers check
// sizes, indices and that every number is finite. Errors contain the key or the position. Pure: bytes in, value out;
// the caller limits the size of the file (kMaxModelBytes).
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "model/power_model.h"

namespace kepler::model {

inline constexpr size_t kMaxModelBytes = size_t{64} << 20;

/// Reads this project's format: {"kepler_model": 1, ...}, with every field of a PowerModel. The returned model has
/// passed Check(). Another version, an unknown key and a repeated key are refused.
[[nodiscard]] Result<PowerModel> ReadModelJson(std::string_view text);
[[nodiscard]] Result<PowerModel> ReadModelJson(const json::Value& document);
/// `model` must pass Check(). Reading gives an equal model, with every number equal to the last bit.
[[nodiscard]] std::string WriteModelJson(const PowerModel& model);

}  // namespace kepler::model
