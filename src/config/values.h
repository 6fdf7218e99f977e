#pragma once
// Values of the table's types from text and back. Errors say what is wrong with the text; the caller says where.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/schema.h"

namespace kepler::config {

/// `key`'s value in `config` from one piece of text; lists have SetTexts.
[[nodiscard]] Status SetText(const Key& key, Config& config, std::string_view text);
/// Replaces the list or level set of `key`.
[[nodiscard]] Status SetTexts(const Key& key, Config& config, std::span<const std::string> texts);

/// `text` for a message: in quotes, and cut where it is long.
[[nodiscard]] std::string Quote(std::string_view text);

/// `"x" is not one of a, b, c; did you mean b`
[[nodiscard]] std::string NotOneOf(std::string_view text, std::span<const std::string_view> choices);

/// The value as YAML on one line, quoted where YAML would misread it. SetText(s) and the YAML loader give it back.
[[nodiscard]] std::string Show(const Key& key, const Config& config);
/// A text as a YAML scalar.
[[nodiscard]] std::string ShowText(std::string_view text);

}  // namespace kepler::config
