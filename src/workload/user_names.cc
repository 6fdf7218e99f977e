#include "workload/user_names.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "os/file.h"
#include "os/passwd.h"

namespace kepler::workload {

UserNames::UserNames(const std::string& procfs) : paths_{procfs + "/1/root/etc/passwd"} {
  if (procfs == "/proc") paths_.emplace_back("/etc/passwd");
}

void UserNames::Refresh(BootTime now) {
  if (checked_ && now - *checked_ < kPeriod) return;
  checked_ = now;
  static_cast<void>(std::ranges::any_of(paths_, [this](const std::string& path) { return Read(path); }));
}

/// Returns false if there is no such file, or no right to see it.
bool UserNames::Read(const std::string& path) {
  const auto version = VersionOf(path);
  if (!version) return false;
  if (path == path_ && version == version_) return true;
  const auto text = os::ReadWholeFile(path);
  if (!text) {
    if (!std::exchange(has_failed_, true))
      log::Warn("failed to read the names of users; new users have no name", {{"err", text.error().message}});
    return true;
  }
  has_failed_ = false;
  path_ = path;
  version_ = version;
  names_.clear();
  for (const os::PasswdUser& user : os::ParsePasswd(*text)) names_.try_emplace(user.uid, LabelText(user.name));
  return true;
}

std::optional<UserNames::Version> UserNames::VersionOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr int64_t kSecond = 1'000'000'000;
  return Version{status.st_ino, status.st_size, status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

std::string_view UserNames::Find(uint32_t uid) const {
  const auto found = names_.find(uid);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace kepler::workload
