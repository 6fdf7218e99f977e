#include "model/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <climits>
#include <cmath>
#include <iterator>
#include <tuple>
#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::model {
namespace {

void EraseAll(std::string& text, std::string_view what) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) text.erase(at, what.size());
}

/// Erases the text from each `open` to the next `close`, or to the end.
void EraseBracketed(std::string& text, char open, char close) {
  for (size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const size_t end = text.find(close, at);
    text.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

size_t EndOfDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

/// Returns the end of a clock rate at `at`, "2.30GHz" or "900 MHz"; `at` if there is no clock rate.
size_t EndOfClock(std::string_view text, size_t at) {
  size_t end = EndOfDigits(text, at);
  if (end == at) return at;
  if (end < text.size() && text[end] == '.') end = EndOfDigits(text, end + 1);
  if (end < text.size() && text[end] == ' ') ++end;
  const auto unit = ToLowerAscii(text.substr(end, 3));
  return unit == "ghz" || unit == "mhz" ? end + 3 : at;
}

/// Returns the end of a text such as "12-Bit Multi-Core" at `at`; `at` if there is no such text.
size_t EndOfWidth(std::string_view text, size_t at) {
  constexpr std::string_view kWidth = "-Bit Multi-Core";
  const size_t end = EndOfDigits(text, at);
  return end > at && text.substr(end).starts_with(kWidth) ? end + kWidth.size() : at;
}

void EraseNumbersOfNoModel(std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::max(EndOfClock(text, at), EndOfWidth(text, at));
    if (end > at)
      text.erase(at, end - at);
    else
      at = std::max(EndOfDigits(text, at), at + 1);
  }
}

/// Returns 1 for equal texts; otherwise half of |common letters| ÷ |letters of both|.
double TextSimilarity(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (std::ranges::equal(a, b, {}, lower, lower)) return 1;
  const auto letters = [&](std::string_view text) {
    std::bitset<UCHAR_MAX + 1> set;
    for (const char c : text) set.set(static_cast<unsigned char>(lower(c)));
    return set;
  };
  const auto in_a = letters(a);
  const auto in_b = letters(b);
  return 0.5 * static_cast<double>((in_a & in_b).count()) / static_cast<double>((in_a | in_b).count());
}

/// At least one number must not be 0.
double NumberSimilarity(double a, double b) { return std::max(0.0, 1 - std::abs(a - b) / ((a + b) / 2)); }

constexpr double kProcessorWeight = 5;

bool IsKnown(const CpuId& id) { return !id.vendor.empty(); }

bool HasOtherId(const MachineSpec& a, const MachineSpec& b) {
  const auto numbers = [](const CpuId& id) { return std::tie(id.vendor, id.family, id.model); };
  return IsKnown(a.cpuid) && IsKnown(b.cpuid) && numbers(a.cpuid) != numbers(b.cpuid);
}

std::string Describe(const MachineSpec& machine) {
  std::string name = machine.processor.empty() ? "no name" : machine.processor;
  if (!IsKnown(machine.cpuid)) return name;
  return fmt::format("{}, {} family {} model {}", name, machine.cpuid.vendor, machine.cpuid.family,
                     machine.cpuid.model);
}

}  // namespace

std::string NormalProcessorName(std::string_view brand) {
  std::string text(brand);
  EraseBracketed(text, '(', ')');
  EraseBracketed(text, '[', ']');
  for (const std::string_view word : {"CPU", "Processor", "processor", "@", "\u00ae", ","}) EraseAll(text, word);
  EraseNumbersOfNoModel(text);
  std::string name;
  bool in_gap = false;
  for (const char c : ToLowerAscii(Trim(text))) {
    const bool gap = c == ' ' || c == '\t';
    if (!(gap && in_gap)) name += gap || c == '-' ? '_' : c;
    in_gap = gap;
  }
  for (size_t at = name.find("_v"); at != std::string::npos; at = name.find("_v", at)) name.erase(at, 1);
  return name;
}

MachineSpec SpecOf(const MachineInfo& info) {
  return {.processor = NormalProcessorName(info.processor),
          .cores = info.cpus,
          .chips = info.packages,
          .memory_gib = info.memory_gib,
          .frequency_mhz = info.max_mhz / 100 * 100 + (info.max_mhz % 100 >= 50 ? 100 : 0),
          .threads_per_core = info.threads_per_core,
          .cpuid = info.cpuid,
          .is_guest = info.is_guest};
}

bool IsAttribute(std::string_view feature) {
  return std::ranges::find(kNumberAttributes, feature, &NumberAttribute::name) != std::end(kNumberAttributes);
}

std::optional<double> AttributeOf(const MachineSpec& machine, std::string_view feature) {
  const auto* const number = std::ranges::find(kNumberAttributes, feature, &NumberAttribute::name);
  if (number == std::end(kNumberAttributes) || machine.*number->value == 0) return std::nullopt;
  return machine.*number->value;
}

double Similarity(const MachineSpec& wanted, const MachineSpec& other) {
  double sum = 0;
  double weights = 0;
  if (!wanted.processor.empty()) {
    sum += kProcessorWeight * TextSimilarity(wanted.processor, other.processor);
    weights += kProcessorWeight;
  }
  for (const NumberAttribute& number : kNumberAttributes) {
    if (wanted.*number.value == 0 || number.weight == 0) continue;
    sum += number.weight * NumberSimilarity(wanted.*number.value, other.*number.value);
    weights += number.weight;
  }
  return weights == 0 ? 1 : sum / weights;
}

bool Covers(const MachineSpec& wanted, const MachineSpec& other) {
  const bool processor = wanted.processor.empty() || wanted.processor == other.processor;
  return processor && !HasOtherId(wanted, other) &&
         std::ranges::all_of(kNumberAttributes, [&](const NumberAttribute& number) {
           return number.weight == 0 || wanted.*number.value == 0 || wanted.*number.value == other.*number.value;
         });
}

Status CheckProcessor(const MachineSpec& guest, const MachineSpec& other) {
  const bool by_id = IsKnown(guest.cpuid) && IsKnown(other.cpuid);
  const bool same = by_id ? !HasOtherId(guest, other) : !guest.processor.empty() && guest.processor == other.processor;
  if (!same)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("its processor ({}) is not the one of this guest ({})", Describe(other), Describe(guest)));
  std::vector<std::string_view> lacks;
  if (by_id && !other.cpuid.features.empty())
    std::ranges::set_difference(guest.cpuid.features, other.cpuid.features, std::back_inserter(lacks));
  if (lacks.empty()) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("its processor ({}) lacks {}, which this guest has", Describe(other),
                                                   fmt::join(lacks, ", ")));
}

}  // namespace kepler::model
