#pragma once
// Converts values of the table's types from text and back. Errors describe the mistake in the text; the caller adds the
// place.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "settings/table.h"

namespace kepler::settings {

using Strings = std::vector<std::string>;

/// An error in the user's settings.
[[nodiscard]] inline std::unexpected<Error> Bad(std::string reason) {
  return Fail(ErrorKind::kInvalid, std::move(reason));
}

/// A mistake in a value, or in one item of a list.
struct Mistake {
  std::string reason;
  std::optional<size_t> item = {};
};
using Mistakes = std::vector<Mistake>;

/// Sets one value from one text. Surrounding spaces are removed unless the value is secret. `key` gives the allowed
/// values.
[[nodiscard]] Status SetText(const Key& key, const Field& field, std::string_view text);
/// Replaces a list of texts or a set. Invalid items are left out.
[[nodiscard]] Mistakes SetTexts(const Key& key, const Field& field, std::span<const std::string> texts);
/// Checks the rules of `key` for a value of the right type: bounds, file names, empty items. An invalid file name is
/// replaced by the default, so that no other message contains the invalid name.
[[nodiscard]] Mistakes Check(const Key& key, const Field& field);
/// Formats `number` in the unit of `key`.
[[nodiscard]] std::string ShowNumber(const Key& key, int64_t number);

/// Returns `text` for a message: in quotes, and shortened if it is long.
[[nodiscard]] std::string Quote(std::string_view text);

}  // namespace kepler::settings
