#include "activity/bpf/usage_audit.h"

#include <unistd.h>

#include <utility>

namespace kepler::activity::bpf {

UsageAudit::UsageAudit(const os::CgroupTrees& trees, const os::CgroupMembership& own, CgroupChooser chooser)
    : accounts_(trees, own, ::getpid(), std::move(chooser),
                {.paths_of_trees = true,
                 .residual_is_known = false,
                 .least_residual = kLeast,
                 .first_number = kFirstNumber}) {}

UsageAudit::Place UsageAudit::PlaceOf(const SharedMembership& cgroups) {
  const auto [known, fresh] = places_.try_emplace(cgroups.get(), static_cast<Place>(memberships_.size()));
  if (!fresh) return known->second;
  if (free_.empty()) {
    memberships_.emplace_back();
  } else {
    known->second = free_.back();
    free_.pop_back();
  }
  memberships_[known->second] = {.parsed = cgroups, .users = 1};
  return known->second;
}

/// Those that nobody but this table knows any more.
void UsageAudit::ForgetUnused() {
  for (Place place = 0; place < memberships_.size(); ++place) {
    Membership& membership = memberships_[place];
    if (membership.users == 0 || membership.parsed.use_count() > 1) continue;
    places_.erase(membership.parsed.get());
    membership = {};
    free_.push_back(place);
  }
}

void UsageAudit::BeforePass(TaskTable& table, BootTime now, const Told& told, ActivityHealth& health,
                            std::vector<uint32_t>& gone) {
  gone.insert(gone.end(), gone_.begin(), gone_.end());
  gone_.clear();
  if (!possible()) return;
  if (accounts_.audit().charged.count() > 0) TakeBackCharged(table);
  if (read_ && now - read_->begin >= kDelay) Settle(table);
  if (!IsDue(now, told) || read_) return;
  ForgetUnused();
  accounts_.ReadUsages(now, health, gone_);
  latest_read_ = now;
  read_ = {now, table.look() + 1};
}

/// Of processes that were over when the usages were read that are settled, records have come after all.
void UsageAudit::TakeBackCharged(TaskTable& table) {
  table.ForEachOver(settled_, [this](const SharedMembership& cgroups, Nanoseconds time) {
    return accounts_.Repay(memberships_[PlaceOf(cgroups)], time);
  });
}

bool UsageAudit::IsDue(BootTime now, const Told& told) {
  const Told before = std::exchange(told_before_, told);
  if (before.losses != told.losses) lost_at_ = now;
  if (told.ends - before.ends >= kManyEnds) return true;
  const bool lost = lost_at_ && now - *lost_at_ < kPeriod;
  return lost || !latest_read_ || now - *latest_read_ >= kPeriod;
}

void UsageAudit::Settle(TaskTable& table) {
  table.ForEachOver(*read_, [this](const SharedMembership& cgroups, Nanoseconds time) {
    late_.push_back({PlaceOf(cgroups), time});
    return Nanoseconds{0};
  });
  for (const Late& late : late_) accounts_.Book(memberships_[late.place], late.time);
  settled_sample_.residuals.clear();
  accounts_.Settle(memberships_, settled_sample_);
  // They are booked with the sample that tells them.
  for (const Late& late : late_) accounts_.Book(memberships_[late.place], -late.time);
  late_.clear();
  for (const ResidualSample& residual : settled_sample_.residuals)
    charges_.push_back({std::string(residual.cgroup_path), residual.cgroup, residual.cpu});
  settled_ = *std::exchange(read_, std::nullopt);
}

/// `elsewhere`: the part of `time` that ran before the process was moved to `place`.
void UsageAudit::BookAt(Place place, Nanoseconds time, std::optional<Place> from, Nanoseconds elsewhere) {
  if (time.count() > 0) accounts_.Book(memberships_[place], time - elsewhere);
  if (elsewhere.count() == 0) return;
  if (from)
    accounts_.Book(memberships_[*from], elsewhere);
  else
    accounts_.BookRoot(elsewhere);
}

Nanoseconds UsageAudit::TakeElsewhere(Slot slot) {
  return slot < elsewhere_.size() ? std::exchange(elsewhere_[slot], Nanoseconds{0}) : Nanoseconds{0};
}

void UsageAudit::Book(ActivitySample& out, const CgroupDirectory& directory, const TaskTable& table) {
  if (!possible()) return;
  for (const TaskTable::Moved& moved : table.moved()) {
    if (moved.slot >= elsewhere_.size()) elsewhere_.resize(moved.slot + 1);
    elsewhere_[moved.slot] = moved.before;
  }
  for (const ExitedSample& exited : out.exited) {
    const SlotPlace slot = std::exchange(slots_[exited.slot], {});
    const Place place = exited.info != nullptr ? PlaceOf(exited.info->cgroup) : slot.place;
    BookAt(place, exited.cpu, slot.place, TakeElsewhere(exited.slot));
  }
  for (const ProcessSample& process : out.processes) {
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotPlace& slot = slots_[process.slot];
    const std::optional<Place> from = slot.version != 0 ? std::optional(slot.place) : std::nullopt;
    if (slot.version != process.version) slot = {process.version, PlaceOf(process.info->cgroup)};
    if (process.cpu.count() > 0) BookAt(slot.place, process.cpu, from, TakeElsewhere(process.slot));
  }
  for (size_t i = 0; i < out.briefs.size(); ++i) {
    const BriefSample& brief = out.briefs[i];
    if (brief.cpu.count() > 0)
      BookAt(PlaceOf(directory[brief.membership]), brief.cpu, std::nullopt, table.MovedOfBrief(i));
  }
  told_.swap(charges_);
  charges_.clear();
  for (const Charge& charge : told_)
    out.residuals.push_back({.cgroup_path = charge.path, .cgroup = charge.number, .cpu = charge.time});
}

}  // namespace kepler::activity::bpf
