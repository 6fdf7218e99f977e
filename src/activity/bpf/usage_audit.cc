#include "activity/bpf/usage_audit.h"

#include <unistd.h>

namespace kepler::activity::bpf {

UsageAudit::UsageAudit(const cgroup::Trees& trees, const os::CgroupLines& own)
    : accounts_(trees, own, ::getpid(),
                {.paths_of_trees = true, .residual_is_known = false, .min_residual = kMin, .doubt_for = kPeriod}) {}

UsageAudit::Place UsageAudit::PlaceOf(const cgroup::Membership& cgroups) {
  const auto [known, fresh] = places_.try_emplace(&cgroups);
  if (!fresh) return known->second;
  known->second = TakePlace(bookings_, free_);
  bookings_[known->second] = {.cgroups = cgroups.shared_from_this(), .users = 1};
  return known->second;
}

/// Drops the places that only this table still holds.
void UsageAudit::ForgetUnused() {
  for (Place place = 0; place < bookings_.size(); ++place) {
    Booking& booking = bookings_[place];
    if (booking.users == 0 || booking.cgroups.use_count() > 1) continue;
    places_.erase(booking.cgroups.get());
    booking = {};
    free_.push_back(place);
  }
}

void UsageAudit::BeforePass(TaskTable& table, const Clock& clock, uint64_t losses, status::ActivityStatus& status) {
  const BootTime now = clock.Now();
  if (!possible()) return;
  if (std::exchange(losses_before_, losses) != losses) lost_at_ = now;
  if (accounts_.audit().charged.count() > 0) TakeBackCharged(table);
  if (read_ && now - read_->begin >= kDelay) Settle(table);
  if (read_ || !IsDue(now)) return;
  ForgetUnused();
  accounts_.ReadUsages(now, status);
  latest_read_ = now;
  read_ = {clock.Now(), table.scan() + 1};
  not_before_ = read_->begin + kMaxShare * (read_->begin - now);
}

/// Records have arrived for processes that ended before the usages of the settled comparison were read. Their time is
/// repaid.
void UsageAudit::TakeBackCharged(TaskTable& table) {
  table.ForEachOver(settled_, [this](const cgroup::Membership& cgroups, Nanoseconds time) {
    return accounts_.Repay(bookings_[PlaceOf(cgroups)], time);
  });
}

bool UsageAudit::IsDue(BootTime now) const {
  return now >= not_before_ && (HasLost(now) || !latest_read_ || now - *latest_read_ >= kPeriod);
}

void UsageAudit::Settle(TaskTable& table) {
  table.ForEachOver(*read_, [this](const cgroup::Membership& cgroups, Nanoseconds time) {
    late_.push_back({PlaceOf(cgroups), time});
    return Nanoseconds{0};
  });
  table.ForEachDelayed(*read_, [this](const cgroup::Membership& cgroups, Nanoseconds time) {
    late_.push_back({PlaceOf(cgroups), time});
  });
  for (const Delayed& late : late_) accounts_.Book(bookings_[late.place], late.time);
  accounts_.Settle(bookings_, settled_sample_, HasLost(read_->begin) ? Residuals::kGiven : Residuals::kDoubted);
  // The sample that reports these processes books their time again.
  for (const Delayed& late : late_) accounts_.Book(bookings_[late.place], -late.time);
  late_.clear();
  settled_ = *std::exchange(read_, std::nullopt);
}

/// Time from before a move is in the usage of the cgroup `from`. For a new process, `from` is the cgroup of its parent.
void UsageAudit::BookMoved(const TaskTable::Moved& moved, std::optional<Place> from, CgroupDirectory& directory) {
  if (moved.before.count() == 0) return;
  if (!from && moved.from != 0) {
    const bool unified = directory.accounted_hierarchy() == 0;
    const CgroupIds ids{.unified = unified ? moved.from : 0, .cpuacct = unified ? 0 : moved.from};
    from = PlaceOf(*directory.Find(ids));
  }
  if (from && !bookings_[*from].cgroups->lines.empty())
    accounts_.Book(bookings_[*from], moved.before);
  else
    accounts_.BookRoot(moved.before);
}

TaskTable::Moved UsageAudit::TakeMoved(Slot slot) {
  return slot < moved_.size() ? std::exchange(moved_[slot], {}) : TaskTable::Moved{};
}

void UsageAudit::Book(ActivitySample& out, CgroupDirectory& directory, const TaskTable& table) {
  if (!possible()) return;
  for (const TaskTable::Moved& moved : table.moved()) {
    if (moved.slot >= moved_.size()) moved_.resize(moved.slot + 1);
    moved_[moved.slot] = moved;
  }
  const auto book = [&](Place place, Nanoseconds time, std::optional<Place> from, const TaskTable::Moved& moved) {
    if (time.count() == 0) return;
    // If the split between the cgroups is unknown, neither cgroup shows missing time.
    accounts_.Book(bookings_[place], moved.at_most ? time : time - moved.before);
    // A pass may show a move before the record of the move arrives.
    if (!moved.at_most || from != place) BookMoved(moved, from, directory);
  };
  for (const ExitedSample& exited : out.exited) {
    const SlotPlace slot = std::exchange(slots_[exited.slot], {});
    const Place place = exited.info != nullptr ? PlaceOf(*exited.info->cgroup) : slot.place;
    book(place, exited.cpu, slot.place, TakeMoved(exited.slot));
  }
  for (const ProcessSample& process : out.processes) {
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotPlace& slot = slots_[process.slot];
    const std::optional<Place> from = slot.cgroups ? std::optional(slot.place) : std::nullopt;
    const cgroup::MembershipPtr& cgroups = process.info->cgroup;
    if (slot.cgroups != cgroups) slot = {cgroups, PlaceOf(*cgroups)};
    if (process.cpu.count() > 0) book(slot.place, process.cpu, from, TakeMoved(process.slot));
  }
  for (size_t i = 0; i < out.short_lived.size(); ++i) {
    const ShortLivedSample& process = out.short_lived[i];
    const RanElsewhere& moved = table.MovedOfShortLived(i);
    book(PlaceOf(*process.cgroups), process.cpu, std::nullopt,
         {.before = Nanoseconds(static_cast<int64_t>(moved.ran)), .from = moved.from});
  }
  moved_.clear();  // processes that only a failed pass has shown are reported as short-lived
  Charge(out);
}

void UsageAudit::Charge(ActivitySample& out) {
  auto& found = settled_sample_.residuals;
  out.residuals.insert(out.residuals.end(), found.begin(), found.end());
  found.clear();
}

}  // namespace kepler::activity::bpf
