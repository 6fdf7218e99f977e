#pragma once
// Model files: JSON and nothing but data. No file can make the reader run code. All readers check sizes, indices and
// that every number is finite, and say with what key or position they disagree. Pure: bytes in, value out; the caller
// bounds the size of the file (kMaxModelBytes).
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "model/power_model.h"

namespace kepler::model {

inline constexpr size_t kMaxModelBytes = size_t{64} << 20;

/// This project's own: {"kepler_model": 1, ...}, everything that a PowerModel holds. What is read has passed Check();
/// another version, a key that is not known and one that stands twice are refused.
[[nodiscard]] Result<PowerModel> ReadModelJson(std::string_view text);
[[nodiscard]] Result<PowerModel> ReadModelJson(const json::Value& document);
/// Of a model that passes Check(). Reading gives an equal model, every number to the last bit.
[[nodiscard]] std::string WriteModelJson(const PowerModel& model);

}  // namespace kepler::model
