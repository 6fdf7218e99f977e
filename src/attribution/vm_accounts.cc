#include "attribution/vm_accounts.h"

namespace kepler::attribution {

Row VmAccounts::Open(const snapshot::VmIdentity& identity, const VmOwner& owner, bool goes_on) {
  const Row known = Find(identity);
  if (known != kNoRow && !goes_on && owners_[known] != owner) {
    Forget(known);
    replaced_.push_back(known);
  }
  const Row row = FindOrOpen(identity);
  if (row >= owners_.size()) owners_.resize(row + 1);
  owners_[row] = owner;
  return row;
}

void VmAccounts::DepartReplaced() {
  for (const Row row : replaced_) Depart(row);
  replaced_.clear();
}

}  // namespace kepler::attribution
