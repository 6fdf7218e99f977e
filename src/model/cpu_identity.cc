#include "model/cpu_identity.h"

#include <charconv>

#include "base/parse.h"

namespace kepler::model {
namespace {

/// Decimal, or hexadecimal with 0x as Arm writes it.
uint32_t NumberOr0(std::string_view text) {
  if (!text.starts_with("0x")) return ParseNumber<uint32_t>(text).value_or(0);
  text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

Vendor VendorOf(std::string_view vendor_id) {
  if (vendor_id == "GenuineIntel") return Vendor::kIntel;
  if (vendor_id == "AuthenticAMD" || vendor_id == "HygonGenuine") return Vendor::kAmd;
  return Vendor::kUnknown;
}

constexpr uint32_t kImplementerArm = 0x41;

void Take(CpuIdentity& cpu, std::string_view key, std::string_view value) {
  if (key == "vendor_id")
    cpu.vendor = VendorOf(value);
  else if (key == "cpu family")
    cpu.family = NumberOr0(value);
  else if (key == "model")
    cpu.model = NumberOr0(value);
  else if (key == "stepping")
    cpu.stepping = NumberOr0(value);
  else if (key == "CPU implementer" && NumberOr0(value) == kImplementerArm)
    cpu.vendor = Vendor::kArm;
  else if (key == "CPU part")
    cpu.part = NumberOr0(value);
}

}  // namespace

CpuIdentity ParseCpuIdentity(std::string_view cpuinfo) {
  CpuIdentity cpu;
  bool begun = false;
  Splitter lines(cpuinfo, '\n');
  while (const auto line = lines.Next()) {
    const size_t colon = line->find(':');
    if (colon == std::string_view::npos) {
      if (begun) break;  // an empty line ends the first processor
      continue;
    }
    begun = true;
    Take(cpu, Trim(line->substr(0, colon)), Trim(line->substr(colon + 1)));
  }
  return cpu;
}

}  // namespace kepler::model
