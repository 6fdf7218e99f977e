#pragma once
// Scalars of a YAML file as upstream's decoder (Go's yaml.v3) takes them for numbers and booleans, so that its files
// work here. Flags are written more strictly.
#include <string>

#include "base/result.h"
#include "settings/field.h"
#include "yaml/value.h"

namespace kepler::settings {

/// As SetText wants it: decimal, true or false.
struct PlainScalar {
  std::string text;
  bool cut = false;  // it had a fraction, and a whole number is due
};

/// `scalar` for a value of the type of `field`. Numbers may be 1_000, 0x1F, 0o17, 0b101, 010 (octal), 1e3 or, with the
/// fraction cut off, 0.5; the booleans of YAML 1.1 may be quoted. What is none of these stays as it is, for SetText to
/// refuse. An error only says what is wrong with the text.
[[nodiscard]] Result<PlainScalar> ReadScalar(const Field& field, const yaml::Value& scalar);

}  // namespace kepler::settings
