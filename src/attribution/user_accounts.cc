#include "attribution/user_accounts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "attribution/accounts.h"

namespace kepler::attribution {

void UserAccounts::SetZones(std::span<const size_t> from) {
  rows_.SetZones(from);
  unseen_ = WithZones(unseen_, 1, zones_, from);
  zones_ = from.size();
}

void UserAccounts::BeginTick(BootTime begin, BootTime now) {
  begin_ = begin;
  rows_.BeginTick(now);
  runs_.clear();
  latest_ = kNobody;
}

void UserAccounts::BeginRun(const Run& run, size_t index) {
  if (!runs_.empty()) runs_.back().end = index;
  runs_.push_back(run);
}

void UserAccounts::EndRuns(size_t size) {
  if (!runs_.empty()) runs_.back().end = size;
  // A new user must not take the row of a user of this tick.
  if (rows_.is_full())
    for (const Run& run : runs_)
      if (rows_.has({.uid = run.uid})) static_cast<void>(RowOf(run.uid));
  for (Run& run : runs_) run.row = RowOf(run.uid);
}

Row UserAccounts::RowOf(uint32_t uid) {
  if (uid == kUnknownUid) return kNoRow;
  const auto [row, is_new] = charged_.try_emplace(uid, kNoRow);
  if (is_new) row->second = rows_.Join({.uid = uid}, begin_);
  return row->second;
}

/// The rows have members during a tick only. A user without a charge for the longest time departs first.
void UserAccounts::EndTick() {
  for (const auto& [uid, row] : charged_) rows_.Leave(row);
  charged_.clear();
}

void UserAccounts::SetNames(const FindUserName& find) {
  for (Row row = 0; row < rows_.size(); ++row) {
    const snapshot::UserIdentity* const user = rows_.identity(row);
    if (user == nullptr) continue;
    const std::string_view name = find(user->uid);
    if (name != user->name) rows_.Relabel(row, {.uid = user->uid, .name = std::string(name)});
  }
}

void UserAccounts::Publish(snapshot::Snapshot& out) {
  using snapshot::Unlisted;
  rows_.Publish(out.users);
  auto& reasons = out.unlisted[std::to_underlying(snapshot::Level::kUser)];
  std::ranges::copy(rows_.departed(), reasons[std::to_underlying(Unlisted::kDeparted)].begin());
  std::ranges::copy(rows_.capped(), reasons[std::to_underlying(Unlisted::kCapped)].begin());
  std::ranges::copy(unseen_, reasons[std::to_underlying(Unlisted::kUnseen)].begin());
}

}  // namespace kepler::attribution
