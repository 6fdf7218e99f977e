#include "workload/process_strings.h"

namespace kepler::workload {

void SplitStrings(std::string_view bytes, Extent extent, std::vector<std::string_view>& strings) {
  strings.clear();
  if (extent == Extent::kPrefix) bytes = bytes.substr(0, bytes.rfind('\0') + 1);
  while (!bytes.empty()) {
    const auto end = bytes.find('\0');
    strings.push_back(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
  }
  while (!strings.empty() && strings.back().empty()) strings.pop_back();
}

Result<std::span<const std::string_view>> ProcessStrings::Read(const std::string& path, const std::string& payer,
                                                               size_t max_bytes) {
  KEPLER_TRY(const std::string_view bytes, reader_.Read(path, payer, max_bytes));
  SplitStrings(bytes, bytes.size() == max_bytes ? Extent::kPrefix : Extent::kWhole, strings_);
  return std::span<const std::string_view>(strings_);
}

}  // namespace kepler::workload
