#include "workload/user_names.h"

#include "base/text.h"
#include "os/passwd.h"

namespace kepler::workload {

UserNames::UserNames(const std::string& procfs, const Clock& clock, const DeadlineReader::Limits& limits)
    : reader_(clock, limits), file_(procfs) {}

void UserNames::Refresh(BootTime now) {
  reader_.BeginScan();
  const auto text = file_.ReadChanged(reader_, now);
  if (!text) return;
  names_.clear();
  for (const os::PasswdUser& user : os::ParsePasswd(*text)) names_.try_emplace(user.uid, LabelText(user.name));
}

std::string_view UserNames::Find(uint32_t uid) const {
  const auto found = names_.find(uid);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace kepler::workload
