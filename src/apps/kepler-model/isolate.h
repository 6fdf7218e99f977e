#pragma once
// The settings of kepler-model isolate, as values.
#include <cstdint>
#include <string>
#include <string_view>

#include "settings/draft.h"
#include "settings/table.h"

namespace kepler::lab::tool {

/// What is taken off the watts.
enum class Method : uint8_t { kNone, kMinIdle, kProfile, kBackground };

struct Isolating {
  std::string input;
  std::string output;
  Method method = Method::kMinIdle;
  std::string load;
  double share = 10;
  double percentile = 10;
  std::string profile;
  std::string idle;
  std::string model;
  std::string background;
  bool json = false;
};

/// By their numbers.
inline constexpr std::string_view kMethods[] = {"none", "min-idle", "profile", "background"};

extern const settings::TableOf<Isolating> kIsolateTable;

/// For --help.
extern const std::string_view kAboutIsolate;

/// What the flags say by themselves, before any file is read.
void CheckIsolating(settings::Draft& draft, const Isolating& config);

}  // namespace kepler::lab::tool
