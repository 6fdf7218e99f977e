#pragma once
// VmAccounts: the accounts of virtual machines, and who may claim to be one. A VM is (hypervisor, id, owner). Pure;
// collection thread only.
#include <cstdint>
#include <vector>

#include "attribution/group_accounts.h"
#include "base/ids.h"

namespace kepler::attribution {

class VmAccounts : public GroupAccounts<snapshot::VmIdentity> {
 public:
  using GroupAccounts::GroupAccounts;

  /// kNoRow if a process of another owner is in the one with these labels: the claim changes nothing then. If another
  /// owner's has ended, or ends in this tick, it departs and this one starts at 0. `member`: the VM that the claiming
  /// process is in, or kNoRow; its own it keeps, whatever owner it has become.
  Row Claim(const snapshot::VmIdentity& identity, const VmOwner& owner, Row member);
  /// Whether Claim() would give a row.
  [[nodiscard]] bool MayClaim(const snapshot::VmIdentity& identity, const VmOwner& owner) const;
  [[nodiscard]] uint32_t processes(Row vm) const { return holders_[vm].processes; }
  [[nodiscard]] const VmOwner& owner(Row vm) const { return holders_[vm].owner; }
  /// A process that has an account is in it, or no longer. kNoRow is fine.
  void Join(Row vm);
  void Leave(Row vm);
  /// When the last slices of those that another owner replaced in this tick are charged.
  void DepartReplaced();

 private:
  struct Holder {
    VmOwner owner;
    uint32_t processes = 0;
  };
  Row OpenFor(const snapshot::VmIdentity& identity, const VmOwner& owner);

  std::vector<Holder> holders_;  // by row
  std::vector<Row> replaced_;    // in this tick
};

}  // namespace kepler::attribution
