#pragma once
// Values of the table's types from text and back. Errors say what is wrong with the text; the caller says where.
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

/// An error of who wrote the settings.
[[nodiscard]] inline std::unexpected<Error> Bad(std::string reason) {
  return Fail(ErrorKind::kInvalid, std::move(reason));
}

/// What is wrong with a value, or with one item of a list.
struct Mistake {
  std::string reason;
  std::optional<size_t> item = {};
};
using Mistakes = std::vector<Mistake>;

/// One value from one piece of text, without the spaces around it unless it is secret. `key` says what it may be.
[[nodiscard]] Status SetText(const Key& key, const Field& field, std::string_view text);
/// Replaces a list of texts or a set; items that are mistaken are left out.
[[nodiscard]] Mistakes SetTexts(const Key& key, const Field& field, std::span<const std::string> texts);
/// The rules of `key` that a value of the right type may break: bounds, names of files, empty items. What cannot be the
/// name of a file becomes the default, so that nothing else shows it.
[[nodiscard]] Mistakes Check(const Key& key, const Field& field);
/// `number` as a value of `key`, which has its own unit.
[[nodiscard]] std::string ShowNumber(const Key& key, int64_t number);

/// `text` for a message: in quotes, and cut where it is long.
[[nodiscard]] std::string Quote(std::string_view text);

}  // namespace kepler::settings
