#include "energy/rapl/x86_model.h"

#include "base/parse.h"

namespace kepler::energy::rapl {
namespace {

/// Cuts `name` and the four hexadecimal digits behind it off `rest`.
std::optional<uint32_t> Cut(std::string_view name, std::string_view& rest) {
  constexpr size_t kDigits = 4;  // "%04X"
  if (!rest.starts_with(name)) return std::nullopt;
  rest.remove_prefix(name.size());
  const std::string_view digits = rest.substr(0, kDigits);
  if (digits.size() < kDigits) return std::nullopt;
  rest.remove_prefix(kDigits);
  return ParseNumber<uint32_t>(digits, 16);
}

}  // namespace

std::optional<X86Model> ParseModalias(std::string_view text) {
  constexpr std::string_view kStart = "cpu:type:x86,";
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  const auto vendor = Cut("ven", text);
  const auto family = Cut("fam", text);
  const auto model = Cut("mod", text);
  if (!vendor || !family || !model) return std::nullopt;
  return X86Model{*vendor, *family, *model};
}

Result<X86Model> ReadX86Model(const std::string& sysfs, os::ReadBuffer& buffer) {
  const std::string path = sysfs + "/devices/system/cpu/modalias";
  KEPLER_TRY(const std::string_view text, os::ReadAttribute(path, buffer));
  const auto model = ParseModalias(text);
  if (!model) return os::FailMalformed(path, text, "the name of an x86 processor");
  return *model;
}

}  // namespace kepler::energy::rapl
