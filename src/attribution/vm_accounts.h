#pragma once
// VmAccounts: the accounts of virtual machines. A VM is (hypervisor, id, owner). Pure; collection thread only.
#include <vector>

#include "attribution/group_accounts.h"
#include "base/ids.h"

namespace kepler::attribution {

class VmAccounts : public GroupAccounts<snapshot::VmIdentity> {
 public:
  using GroupAccounts::GroupAccounts;

  /// The account of the machine with these labels that `owner` runs. If the account with these labels is another
  /// owner's, it departs with this tick, and this one starts at 0; no living process may be in it. `goes_on`: the
  /// machine ran until now, so its account continues although the owner changed.
  Row Open(const snapshot::VmIdentity& identity, const VmOwner& owner, bool goes_on);
  /// When the last slices of those that another owner replaced in this tick are charged.
  void DepartReplaced();

 private:
  std::vector<VmOwner> owners_;  // by row
  std::vector<Row> replaced_;    // in this tick
};

}  // namespace kepler::attribution
