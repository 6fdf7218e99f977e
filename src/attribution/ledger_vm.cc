#include "attribution/group_rows.h"
#include "attribution/ledger.h"

// Who is which virtual machine.

namespace kepler::attribution {

Row Ledger::Vm(const snapshot::VmIdentity& identity, const VmOwner& owner, Row member) {
  const Row known = FindVm(identity);
  if (known == kNoRow) return OpenVm(identity, owner);
  VmHolder& holder = vm_owners_[known];
  const bool moves = known == member && holder.processes == 1;
  if (holder.owner != owner && known != member) {
    if (holder.processes > 0) return kNoRow;
    vm_rows_.erase(KeyOf(identity));
    replaced_vms_.push_back(known);
    return OpenVm(identity, owner);
  }
  if (moves) holder.owner = owner;
  FindOrOpen(vms_, vm_rows_, identity);
  alive_vms_.Touch(known, tick_);
  return known;
}

Row Ledger::OpenVm(const snapshot::VmIdentity& identity, const VmOwner& owner) {
  const Row row = FindOrOpen(vms_, vm_rows_, identity);
  if (row >= vm_owners_.size()) vm_owners_.resize(row + 1);
  vm_owners_[row] = {owner, 0};
  alive_vms_.Touch(row, tick_);
  return row;
}

bool Ledger::MayBeVm(const snapshot::VmIdentity& identity, const VmOwner& owner) const {
  const Row row = FindVm(identity);
  return row == kNoRow || vm_owners_[row].processes == 0 || vm_owners_[row].owner == owner;
}

Row Ledger::FindVm(const snapshot::VmIdentity& identity) const {
  const auto it = vm_rows_.find(KeyOf(identity));
  return it == vm_rows_.end() ? kNoRow : it->second;
}

void Ledger::LeaveVm(Row process) {
  if (const Row vm = process_groups_[process].vm; vm != kNoRow) --vm_owners_[vm].processes;
}

/// Their last slices are charged by now.
void Ledger::DepartReplacedVms() {
  for (const Row row : replaced_vms_) vms_.Depart(row);
  replaced_vms_.clear();
}

}  // namespace kepler::attribution
