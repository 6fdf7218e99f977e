#pragma once
// Reads YAML scalars as numbers and booleans in the same way as upstream's decoder (Go's yaml.v3), so that upstream's
// files work. Flags have a stricter syntax.
#include <string>

#include "base/result.h"
#include "settings/field.h"
#include "yaml/value.h"

namespace kepler::settings {

/// Text in the form that SetText accepts: decimal, true or false.
struct PlainScalar {
  std::string text;
  bool cut = false;  // the number had a fraction, but the key needs a whole number
};

/// Converts `scalar` for a value of the type of `field`. Numbers may be 1_000, 0x1F, 0o17, 0b101, 010 (octal), 1e3 or
/// 0.5; a fraction is cut off. Booleans of YAML 1.1 may be quoted. Other text is unchanged, and SetText rejects it. An
/// error only describes the mistake in the text.
[[nodiscard]] Result<PlainScalar> ReadScalar(const Field& field, const yaml::Value& scalar);

}  // namespace kepler::settings
