#include "workload/user_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "os/passwd.h"

namespace kepler::workload {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;
constexpr char kFile[] = "etc/passwd";

}  // namespace

UserNames::UserNames(const std::string& procfs, const Clock& clock, const DeadlineReader::Limits& limits)
    : reader_(clock, limits), roots_{procfs + "/1/root"} {
  if (procfs == "/proc") roots_.emplace_back("/");
}

void UserNames::Refresh(BootTime now) {
  if (read_at_ && now - *read_at_ < kPeriod) return;
  read_at_ = now;
  reader_.BeginScan();
  static_cast<void>(std::ranges::any_of(roots_, [this](const std::string& root) { return Read(root); }));
}

/// Returns false if there is no such file, or no right to see it.
bool UserNames::Read(const std::string& root) {
  auto text = reader_.ReadBeneath(root, kFile, "names of users", kMaxBytes + 1);
  if (text && text->size() > kMaxBytes)
    text = Fail(ErrorKind::kInvalid, fmt::format("{}/{} has more than {} bytes", root, kFile, kMaxBytes));
  if (text) {
    has_failed_ = false;
    Parse(*text);
    return true;
  }
  if (text.error().kind == ErrorKind::kNotFound || text.error().kind == ErrorKind::kPermission) return false;
  if (!std::exchange(has_failed_, true))
    log::Warn("failed to read the names of users; new users have no name", {{"err", text.error().message}});
  return true;
}

void UserNames::Parse(std::string_view text) {
  const size_t hash = std::hash<std::string_view>{}(text);
  if (std::exchange(hash_, hash) == hash) return;
  names_.clear();
  for (const os::PasswdUser& user : os::ParsePasswd(text)) names_.try_emplace(user.uid, LabelText(user.name));
}

std::string_view UserNames::Find(uint32_t uid) const {
  const auto found = names_.find(uid);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace kepler::workload
