#pragma once
// Scalars of a YAML file as upstream's decoder (Go's yaml.v3) takes them for numbers and booleans, so that its files
// work here. Flags are written more strictly.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/schema.h"
#include "yaml/value.h"

namespace kepler::config {

/// As SetText wants it: decimal, true or false.
struct PlainScalar {
  std::string text;
  bool cut = false;  // it had a fraction, and the key takes whole numbers
};

/// `scalar` for `key`. Numbers may be 1_000, 0x1F, 0o17, 0b101, 010 (octal), 1e3 or, with the fraction cut off, 0.5;
/// the booleans of YAML 1.1 may be quoted. What is none of these stays as it is, for SetText to refuse. An error only
/// says what is wrong with the text.
[[nodiscard]] Result<PlainScalar> ReadScalar(const Key& key, const yaml::Value& scalar);

/// The whole number that `text` spells, without loss.
[[nodiscard]] std::optional<int64_t> ParseYamlWhole(std::string_view text);

/// A boolean; quoted, only the words of YAML 1.1, in the three cases they have there.
[[nodiscard]] std::optional<bool> ParseYamlBool(const yaml::Value& scalar);

}  // namespace kepler::config
