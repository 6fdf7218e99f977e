#pragma once
// A predictor as an object of a model file: {"formula": "linear", "bias": 10, "weights": [1, 2]}. The keys are the
// fields of model/predictor.h; trees are written by columns. Pure; internal to the room.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "model/predictor.h"

namespace kepler::model {

/// Checks the types; Check() checks sizes and indices. An unknown key is refused.
[[nodiscard]] Result<Predictor> ReadPredictor(const json::Cursor& object);

/// Writes numbers so that reading gives the same bits.
void WritePredictor(const Predictor& predictor, std::string& out);

/// Reads "[min, max]".
[[nodiscard]] Result<Range> ReadRange(const json::Cursor& pair);
void WriteRange(const Range& range, std::string& out);
/// Returns an empty list if the key is missing.
[[nodiscard]] Result<std::vector<Range>> ReadRanges(const json::Cursor& object, std::string_view key);
/// Writes `,"key":[[0,1],…]`; writes nothing if the list is empty.
void WriteRanges(std::string_view key, std::span<const Range> ranges, std::string& out);

}  // namespace kepler::model
