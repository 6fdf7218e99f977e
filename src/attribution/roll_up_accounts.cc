#include "attribution/roll_up_accounts.h"

#include <algorithm>
#include <utility>

#include "attribution/accounts.h"
#include "base/check.h"

namespace kepler::attribution {

template <class Identity>
void RollUpAccounts<Identity>::SetZones(std::span<const size_t> from) {
  energy_ = WithZones(energy_, rows_.size(), zones_, from);
  departed_ = WithZones(departed_, 1, zones_, from);
  capped_ = WithZones(capped_, 1, zones_, from);
  zones_ = from.size();
}

template <class Identity>
void RollUpAccounts<Identity>::BeginTick(BootTime now) {
  previous_ = std::exchange(now_, now);
  for (Row row = 0; row < rows_.size(); ++row)
    if (is_idle(rows_[row]) && now - rows_[row].left >= limits_.max_idle) Depart(row);
}

template <class Identity>
Row RollUpAccounts<Identity>::Join(const Identity& identity, BootTime begin) {
  const auto known = row_of_.find(identity);
  if (known != row_of_.end()) {
    ++rows_[known->second].members;
    return known->second;
  }
  const Row row = FreeRow();
  if (row == kNoRow) return kNoRow;
  row_of_.emplace(identity, row);
  // A series that returns begins after its former end: the last sample is of the tick before the departure.
  rows_[row] = {
      .identity = std::make_shared<const Identity>(identity), .members = 1, .begin = std::max(begin, last_departed_)};
  return row;
}

template <class Identity>
Row RollUpAccounts<Identity>::FreeRow() {
  if (free_.empty() && rows_.size() < limits_.max_rows) {
    rows_.emplace_back();
    energy_.resize(energy_.size() + zones_);
    return static_cast<Row>(rows_.size() - 1);
  }
  if (free_.empty()) {
    Row longest = kNoRow;  // without members
    for (Row row = 0; row < rows_.size(); ++row)
      if (is_idle(rows_[row]) && (longest == kNoRow || rows_[row].left < rows_[longest].left)) longest = row;
    if (longest == kNoRow) return kNoRow;
    Depart(longest);
  }
  const Row row = free_.back();
  free_.pop_back();
  return row;
}

template <class Identity>
void RollUpAccounts<Identity>::Leave(Row row) {
  if (row == kNoRow) return;
  Check(rows_[row].members > 0, "only a member of the row may leave");
  if (--rows_[row].members == 0) rows_[row].left = now_;
}

template <class Identity>
void RollUpAccounts<Identity>::Depart(Row row) {
  MoveOut(row);
  row_of_.erase(*rows_[row].identity);
  rows_[row] = {};
  free_.push_back(row);
}

/// The energy leaves the series, whose last sample is of the previous tick.
template <class Identity>
void RollUpAccounts<Identity>::MoveOut(Row row) {
  for (size_t zone = 0; zone < zones_; ++zone) departed_[zone] += std::exchange(energy_[row * zones_ + zone], Energy{});
  last_departed_ = previous_;
}

template <class Identity>
void RollUpAccounts<Identity>::Relabel(Row row, Identity identity) {
  State& state = rows_[row];
  Check(state.identity && *state.identity == identity, "only equal labels may replace those of a row");
  state.identity = std::make_shared<const Identity>(std::move(identity));
  if (!std::exchange(state.shown, false)) return;
  MoveOut(row);
  state.begin = previous_;
}

template <class Identity>
void RollUpAccounts<Identity>::Publish(snapshot::RollUpTable<Identity>& out) {
  const auto rows = static_cast<size_t>(std::ranges::count_if(rows_, [](const State& row) { return !!row.identity; }));
  out.zones = zones_;
  out.identity.resize(rows);
  out.begin.resize(rows);
  out.energy.resize(rows * zones_);
  size_t to = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].identity) continue;
    rows_[row].shown = true;
    if (out.identity[to] != rows_[row].identity) out.identity[to] = rows_[row].identity;
    out.begin[to] = rows_[row].begin;
    std::copy_n(energy_.begin() + static_cast<std::ptrdiff_t>(row * zones_), zones_,
                out.energy.begin() + static_cast<std::ptrdiff_t>(to * zones_));
    ++to;
  }
}

template class RollUpAccounts<snapshot::OwnerIdentity>;
template class RollUpAccounts<snapshot::UserIdentity>;

}  // namespace kepler::attribution
