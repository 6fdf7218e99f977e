#include "attribution/roll_up_accounts.h"

#include <algorithm>
#include <utility>

#include "attribution/accounts.h"
#include "base/check.h"

namespace kepler::attribution {

void RollUpAccounts::SetZones(std::span<const size_t> from) {
  energy_ = WithZones(energy_, rows_.size(), zones_, from);
  departed_ = WithZones(departed_, 1, zones_, from);
  capped_ = WithZones(capped_, 1, zones_, from);
  zones_ = from.size();
}

void RollUpAccounts::BeginTick(BootTime now) {
  previous_ = std::exchange(now_, now);
  for (Row row = 0; row < rows_.size(); ++row)
    if (is_idle(rows_[row]) && now - rows_[row].left >= limits_.max_idle) Depart(row);
}

Row RollUpAccounts::Join(const snapshot::OwnerIdentity& owner, BootTime begin) {
  const auto known = row_of_.find(owner);
  if (known != row_of_.end()) {
    ++rows_[known->second].pods;
    return known->second;
  }
  const Row row = FreeRow();
  if (row == kNoRow) return kNoRow;
  row_of_.emplace(owner, row);
  // A series that returns begins after its former end: the last sample is of the tick before the departure.
  rows_[row] = {.identity = std::make_shared<const snapshot::OwnerIdentity>(owner),
                .pods = 1,
                .begin = std::max(begin, last_departed_)};
  return row;
}

Row RollUpAccounts::FreeRow() {
  if (free_.empty() && rows_.size() < limits_.max_rows) {
    rows_.emplace_back();
    energy_.resize(energy_.size() + zones_);
    return static_cast<Row>(rows_.size() - 1);
  }
  if (free_.empty()) {
    Row longest = kNoRow;  // without pods
    for (Row row = 0; row < rows_.size(); ++row)
      if (is_idle(rows_[row]) && (longest == kNoRow || rows_[row].left < rows_[longest].left)) longest = row;
    if (longest == kNoRow) return kNoRow;
    Depart(longest);
  }
  const Row row = free_.back();
  free_.pop_back();
  return row;
}

void RollUpAccounts::Leave(Row row) {
  if (row == kNoRow) return;
  Check(rows_[row].pods > 0, "only a pod of the row may leave");
  if (--rows_[row].pods == 0) rows_[row].left = now_;
}

void RollUpAccounts::Depart(Row row) {
  for (size_t zone = 0; zone < zones_; ++zone) departed_[zone] += std::exchange(energy_[row * zones_ + zone], Energy{});
  row_of_.erase(*rows_[row].identity);
  rows_[row] = {};
  free_.push_back(row);
  last_departed_ = previous_;
}

void RollUpAccounts::Publish(snapshot::RollUp& out) const {
  const auto rows = static_cast<size_t>(std::ranges::count_if(rows_, [](const State& row) { return !!row.identity; }));
  out.zones = zones_;
  out.identity.resize(rows);
  out.begin.resize(rows);
  out.energy.resize(rows * zones_);
  size_t to = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].identity) continue;
    if (out.identity[to] != rows_[row].identity) out.identity[to] = rows_[row].identity;
    out.begin[to] = rows_[row].begin;
    std::copy_n(energy_.begin() + static_cast<std::ptrdiff_t>(row * zones_), zones_,
                out.energy.begin() + static_cast<std::ptrdiff_t>(to * zones_));
    ++to;
  }
}

}  // namespace kepler::attribution
