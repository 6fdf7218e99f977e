#include "attribution/vm_accounts.h"

namespace kepler::attribution {

Row VmAccounts::Claim(const snapshot::VmIdentity& identity, const VmOwner& owner, Row member) {
  const Row known = Find(identity);
  if (known == kNoRow) return OpenFor(identity, owner);
  Holder& holder = holders_[known];
  if (holder.owner != owner && known != member) {
    if (holder.processes > 0) return kNoRow;
    Forget(known);
    replaced_.push_back(known);
    return OpenFor(identity, owner);
  }
  if (known == member && holder.processes == 1) holder.owner = owner;
  return FindOrOpen(identity);
}

Row VmAccounts::OpenFor(const snapshot::VmIdentity& identity, const VmOwner& owner) {
  const Row row = FindOrOpen(identity);
  if (row >= holders_.size()) holders_.resize(row + 1);
  holders_[row] = {owner, 0};
  return row;
}

bool VmAccounts::MayClaim(const snapshot::VmIdentity& identity, const VmOwner& owner) const {
  const Row row = Find(identity);
  return row == kNoRow || holders_[row].processes == 0 || holders_[row].owner == owner;
}

void VmAccounts::Join(Row vm) {
  if (vm != kNoRow) ++holders_[vm].processes;
}

void VmAccounts::Leave(Row vm) {
  if (vm == kNoRow) return;
  Check(holders_[vm].processes > 0, "a process that leaves a VM must be in it");
  --holders_[vm].processes;
}

void VmAccounts::DepartReplaced() {
  for (const Row row : replaced_) Depart(row);
  replaced_.clear();
}

}  // namespace kepler::attribution
