#include "settings/table.h"

#include <fmt/format.h>

#include <cstdlib>

namespace kepler::settings {
namespace {

struct Namer {
  std::string operator()(bool*) const { return "boolean"; }
  std::string operator()(int*) const { return "whole number"; }
  std::string operator()(int64_t*) const { return "whole number"; }
  std::string operator()(double*) const { return "number"; }
  std::string operator()(Duration*) const { return "duration"; }
  std::string operator()(std::string*) const { return "text"; }
  std::string operator()(uint8_t*) const { return "text"; }
  std::string operator()(uint32_t*) const { return "text or list"; }
  std::string operator()(Block) const { return "mapping"; }
  std::string operator()(const Several& several) const {
    return fmt::format("{} {}s", several.keyed ? "mapping of keys to" : "list of", TypeName(several.Sample()));
  }
};

}  // namespace

Field Several::Sample() const {
  Field sample;
  add(values, [&](const Field&, const Field& item) {
    sample = item;
    return false;
  });
  return sample;
}

const Key& KeyAt(std::span<const Key> keys, std::string_view path) {
  const auto key = std::ranges::find(keys, path, &Key::path);
  if (key == keys.end()) std::abort();
  return *key;
}

std::string Meaning(const Key& key) {
  const std::string_view missing = key.details.missing;
  if (missing.empty()) return std::string(key.help);
  return fmt::format("{}; not in this version: {}", key.help, missing);
}

std::string TypeName(const Field& field) { return std::visit(Namer{}, field); }

bool IsList(const Key& key) {
  const Field field = Default(key);
  return std::holds_alternative<Several>(field) || std::holds_alternative<uint32_t*>(field);
}

}  // namespace kepler::settings
