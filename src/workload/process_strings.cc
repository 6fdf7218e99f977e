#include "workload/process_strings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

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

Result<std::span<const std::string_view>> ProcessStrings::Read(int procfs, const std::string& path) {
  const UniqueFd file(openat(procfs, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return FailErrno("open", path);
  bytes_.resize(most_);
  size_t size = 0;
  while (size < most_) {
    const ssize_t got = read(file.get(), bytes_.data() + size, most_ - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  SplitStrings({bytes_.data(), size}, size == most_ ? Extent::kPrefix : Extent::kWhole, strings_);
  return std::span<const std::string_view>(strings_);
}

}  // namespace kepler::workload
