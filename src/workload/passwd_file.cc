#include "workload/passwd_file.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/log.h"

namespace kepler::workload {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;
constexpr char kFile[] = "etc/passwd";

/// True if there is no such file, or no right to see it.
bool IsAbsent(const Error& error) { return error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kPermission; }

}  // namespace

PasswdFile::PasswdFile(const std::string& procfs) : roots_{procfs + "/1/root"} {
  if (procfs == "/proc") roots_.emplace_back("/");
}

Result<std::string_view> PasswdFile::Read(DeadlineReader& reader) const {
  Result<std::string_view> text;
  for (const std::string& root : roots_) {
    text = reader.ReadBeneath(root, kFile, "users of the host", kMaxBytes + 1);
    if (text && text->size() > kMaxBytes)
      return Fail(ErrorKind::kInvalid, fmt::format("{}/{} has more than {} bytes", root, kFile, kMaxBytes));
    if (text || !IsAbsent(text.error())) break;
  }
  return text;
}

std::optional<std::string_view> PasswdFile::ReadChanged(DeadlineReader& reader, BootTime now) {
  if (read_at_ && now - *read_at_ < kPeriod) return std::nullopt;
  read_at_ = now;
  const auto text = Read(reader);
  if (!text) {
    if (!IsAbsent(text.error()) && !std::exchange(has_failed_, true))
      log::Warn("failed to read the users of the host, using those of the last read", {{"err", text.error().message}});
    return std::nullopt;
  }
  has_failed_ = false;
  const size_t hash = std::hash<std::string_view>{}(*text);
  if (std::exchange(hash_, hash) == hash) return std::nullopt;
  return *text;
}

}  // namespace kepler::workload
