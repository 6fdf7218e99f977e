#include "model/machine_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::model {
namespace {

constexpr double kMaxNumber = 1e6;

std::unexpected<Error> Twice(std::string_view key) {
  return Fail(ErrorKind::kMalformed, fmt::format("the key {} appears twice", key));
}

std::string PairKeys() {
  std::string keys = "processor";
  for (const NumberAttribute& number : kNumberAttributes)
    keys += fmt::format(", {}", number.old_name.empty() ? number.name : number.old_name);
  return keys;
}

Status SetPair(std::string_view key, std::string_view value, MachineSpec& machine) {
  if (key == "processor") {
    if (!machine.processor.empty()) return Twice(key);
    machine.processor = NormalProcessorName(value.substr(0, kMaxLabelBytes));
    if (machine.processor.empty() || value.size() > kMaxLabelBytes)
      return Fail(ErrorKind::kMalformed, fmt::format("processor: \"{}\" is not a name of 1 to {} bytes",
                                                     EscapeControls(value.substr(0, 40)), kMaxLabelBytes));
    return {};
  }
  const auto* const number = std::ranges::find_if(kNumberAttributes, [&](const NumberAttribute& of) {
    return key == of.name || (!key.empty() && key == of.old_name);
  });
  if (number == std::end(kNumberAttributes))
    return Fail(ErrorKind::kMalformed,
                fmt::format("unknown key \"{}\"; the keys are {}", EscapeControls(key.substr(0, 40)), PairKeys()));
  if (machine.*number->value != 0) return Twice(key);
  const bool is_count = number->value != &MachineSpec::memory_gib && number->value != &MachineSpec::frequency_mhz;
  const auto count = ParseNumber<double>(value);
  if (!count || !(*count >= 1 && *count <= kMaxNumber) || (is_count && *count != std::floor(*count)))
    return Fail(ErrorKind::kMalformed,
                fmt::format("{}: \"{}\" is not a {}number from 1 to {:.0f}; leave out what is unknown", key,
                            EscapeControls(value.substr(0, 40)), is_count ? "whole " : "", kMaxNumber));
  machine.*number->value = static_cast<uint32_t>(std::lround(*count));
  return {};
}

}  // namespace

Result<MachineSpec> ReadMachinePairs(std::string_view text) {
  MachineSpec machine;
  Splitter pairs(text, ',');
  while (const auto pair = pairs.Next()) {
    const size_t end = pair->find('=');
    const std::string_view key = Trim(pair->substr(0, end));
    if (end == std::string_view::npos || end + 1 == pair->size())
      return Fail(ErrorKind::kMalformed, fmt::format("\"{}\" is not KEY=VALUE; the keys are {}",
                                                     EscapeControls(pair->substr(0, 40)), PairKeys()));
    KEPLER_CHECK_OK(SetPair(key, Trim(pair->substr(end + 1)), machine));
  }
  KEPLER_CHECK_OK(CheckCores(machine));
  // A file may have such numbers, because a container can see the threads of a core, but one of its CPUs.
  if (machine.cores > 0 && machine.threads_per_core > machine.cores)
    return Fail(ErrorKind::kMalformed,
                fmt::format("threads_per_core: {} is more than the {} cores; cores are logical CPUs",
                            machine.threads_per_core, machine.cores));
  return machine;
}

Status CheckCores(const MachineSpec& machine) {
  if (machine.cores == 0 || machine.chips <= machine.cores) return {};
  return Fail(ErrorKind::kMalformed, fmt::format("chips: {} is more than the {} cores; cores are those of all chips",
                                                 machine.chips, machine.cores));
}

}  // namespace kepler::model
