#include "activity/cgroup_accounts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::activity {
namespace {

bool IsLineOf(const os::CgroupLine& line, cgroup::Version version) {
  if (version == cgroup::Version::kUnified) return line.hierarchy == 0;
  return os::HasController(line.controllers, "cpuacct");
}

const os::CgroupLine* LineOf(const os::CgroupLines& lines, cgroup::Version version) {
  for (const os::CgroupLine& line : lines)
    if (IsLineOf(line, version)) return &line;
  return nullptr;
}

}  // namespace

CgroupAccounts::CgroupAccounts(const cgroup::Trees& trees, const os::CgroupLines& own, int32_t own_pid,
                               const AccountRules& rules)
    : rules_(rules), owners_(std::make_unique<cgroup::OwnerFinder>(trees, own, own_pid)) {
  if (trees.cpuacct) {
    main_version_ = cgroup::Version::kCpuacct;
    main_ = MakeLedger(*trees.cpuacct, own, own_pid, CgroupLedger::Scope::kAll);
    if (main_ && trees.unified) second_ = MakeLedger(*trees.unified, own, own_pid, CgroupLedger::Scope::kActivated);
  }
  if (!main_ && trees.unified) {
    main_version_ = cgroup::Version::kUnified;
    main_ = MakeLedger(*trees.unified, own, own_pid, CgroupLedger::Scope::kAll);
  }
  if (!main_) {
    log::Warn(
        rules_.residual_is_known
            ? "no cgroup tree with CPU time is visible, so short-lived processes are not counted; mount the host's "
              "/sys and set host.sysfs"
            : "no cgroup tree with CPU time is visible, so CPU time that BPF cannot report is lost; mount the host's "
              "/sys and set host.sysfs");
  }
}

std::unique_ptr<CgroupLedger> CgroupAccounts::MakeLedger(const cgroup::Tree& tree, const os::CgroupLines& own,
                                                         int32_t own_pid, CgroupLedger::Scope scope) const {
  const os::CgroupLine* line = LineOf(own, tree.version);
  cgroup::Paths paths = cgroup::Paths::Discover(tree, line != nullptr ? std::string_view(line->path) : "", own_pid);
  // If a part of the tree is mounted, the kernel's name of a cgroup differs from the name in the mount.
  const bool is_part = rules_.paths_of_trees && !paths.prefix().empty();
  if (!paths.reliable() || is_part) {
    log::Warn(
        "ignoring a cgroup tree that does not contain this process: its paths cannot be matched with "
        "/proc/PID/cgroup; run in the host's cgroup namespace or mount its /sys/fs/cgroup",
        {{"tree", tree.path}, {"own_cgroup", line->path}});
    return nullptr;
  }
  if (rules_.paths_of_trees)
    paths = {};
  else if (!paths.namespace_root().empty() || !paths.prefix().empty()) {
    log::Info("cgroup paths are relative to the cgroup of this process; translating them",
              {{"tree", tree.path}, {"namespace_root", paths.namespace_root()}, {"visible_below", paths.prefix()}});
  }
  return std::make_unique<CgroupLedger>(tree, std::move(paths), scope, *owners_);
}

void CgroupAccounts::ReadUsages(BootTime now, status::ActivityStatus& status) {
  now_ = now;
  if (main_) main_->Read(now, status);
  if (second_) second_->Read(now, status);
}

uint64_t CgroupAccounts::Epoch() const { return (main_ ? main_->epoch() : 1) + (second_ ? second_->epoch() : 0); }

uint32_t CgroupAccounts::NodeOf(CgroupLedger& ledger, const os::CgroupLine& line, bool add) {
  const auto name = ledger.paths().NameOf(line.path);
  if (!name) {
    if (!std::exchange(reported_outside_, true)) {
      log::Info(
          "some processes are in cgroups that are not visible here; their containers are known, but short-lived "
          "processes in them are not counted",
          {{"cgroup", line.path}});
    }
    return BookingPlace::kNone;
  }
  const auto known = ledger.Find(*name);
  const bool differs = known && *known != CgroupLedger::kRoot && line.id != 0 && ledger[*known].inode != 0 &&
                       ledger[*known].inode != line.id;
  if (!differs) return add ? ledger.FindOrAdd(*name, line.id) : known.value_or(BookingPlace::kNone);
  // Ids increase. The usage of the older cgroup is in the usage of its parent. Carve-outs count only if they exist.
  if (line.id < ledger[*known].inode) return &ledger == main_.get() ? ledger[*known].parent : BookingPlace::kNone;
  return add ? ledger.Replace(*known, line.id) : BookingPlace::kNone;
}

void CgroupAccounts::Locate(Booking& booking, bool add) {
  BookingPlace& place = booking.place;
  const os::CgroupLines& lines = booking.cgroups->lines;
  place = {};
  const os::CgroupLine* main_line = LineOf(lines, main_version_);
  if (main_line == nullptr) {
    place.epoch = Epoch();
    return;
  }
  place.main = NodeOf(*main_, *main_line, add);
  const size_t chosen = second_ ? cgroup::AccountingLine(lines) : lines.size();
  const bool named = chosen < lines.size();
  const bool carved = named && IsLineOf(lines[chosen], cgroup::Version::kUnified);
  if (carved) place.carve_out = NodeOf(*second_, lines[chosen], add);
  if (const auto* line = LineOf(lines, cgroup::Version::kUnified); named && !carved && line != nullptr)
    place.shadow = NodeOf(*second_, *line, /*add=*/false);
  const bool complete = place.main != BookingPlace::kNone && (!carved || place.carve_out != BookingPlace::kNone);
  if (add || complete) place.epoch = Epoch();
}

void CgroupAccounts::Book(Booking& booking, Nanoseconds time) {
  if (!main_) return;
  if (booking.place.epoch != Epoch()) Locate(booking, /*add=*/true);
  const BookingPlace& place = booking.place;
  if (place.main != BookingPlace::kNone) main_->AddKnown(place.main, time);
  if (place.carve_out == BookingPlace::kNone) return;
  second_->Activate(place.carve_out);
  second_->AddKnown(place.carve_out, time);
}

Nanoseconds CgroupAccounts::Repay(Booking& booking, Nanoseconds time) {
  if (!main_) return Nanoseconds{0};
  if (booking.place.epoch != Epoch()) Locate(booking, /*add=*/true);
  const BookingPlace& place = booking.place;
  if (place.carve_out != BookingPlace::kNone) return second_->Repay(place.carve_out, time);
  return place.main != BookingPlace::kNone ? main_->Repay(place.main, time) : Nanoseconds{0};
}

void CgroupAccounts::Compare(ResidualAccount& account, Nanoseconds exclusive) {
  const auto compared = account.Compare(exclusive, rules_.residual_is_known, kMinCompared);
  if (!compared) return;
  ++audit_.comparisons;
  const auto ratio =
      static_cast<double>(std::abs(compared->difference.count())) / static_cast<double>(compared->used.count());
  if (now_ - worst_since_ >= std::chrono::minutes(1)) {
    worst_before_ = now_ - worst_since_ < std::chrono::minutes(2) ? worst_now_ : 0;
    worst_now_ = 0;
    worst_since_ = now_;
  }
  worst_now_ = std::max(worst_now_, ratio);
  audit_.worst_ratio = std::max(worst_now_, worst_before_);
}

void CgroupAccounts::ActivateCarveOuts(std::span<Booking> bookings) {
  const uint64_t epoch = Epoch();
  if (std::exchange(main_of_epoch_, epoch) != epoch) main_of_.clear();
  main_of_.resize(second_->nodes().size(), CgroupLedger::kRoot);
  for (Booking& booking : bookings) {
    if (booking.users == 0) continue;
    if (booking.place.epoch != Epoch()) Locate(booking, /*add=*/false);
    const BookingPlace& place = booking.place;
    if (place.carve_out == BookingPlace::kNone) continue;
    second_->Activate(place.carve_out);
    main_of_[place.carve_out] = place.main;
  }
  // Runtimes put a process into one hierarchy after the other. In between, only v2 seems to name the container.
  for (const Booking& booking : bookings)
    if (booking.users > 0 && booking.place.shadow != BookingPlace::kNone) second_->Deactivate(booking.place.shadow);
}

/// Drops usage that was already missing at the previous mark and that no residual has given out since.
void CgroupAccounts::Doubt() {
  if (now_ - doubted_at_ < rules_.doubt_for) return;
  doubted_at_ = now_;
  for (CgroupLedger* ledger : {main_.get(), second_.get()})
    if (ledger != nullptr) ledger->Doubt();
}

Nanoseconds CgroupAccounts::Settle(std::span<Booking> bookings, ActivitySample& out, Residuals residuals) {
  Nanoseconds sum{0};
  if (!main_) return sum;
  const Nanoseconds min = residuals == Residuals::kDoubted ? Nanoseconds::max() : rules_.min_residual;
  const auto give = [&](const CgroupNode& node, Nanoseconds time) {
    if (residuals == Residuals::kDropped) return;
    out.residuals.push_back({.cgroup = node.cgroup, .cpu = time});
    sum += time;
  };
  const auto compare = [&](ResidualAccount& account, Nanoseconds exclusive) { Compare(account, exclusive); };
  if (second_) {
    ActivateCarveOuts(bookings);
    const auto give_second = [&](NodeId id, Nanoseconds time) {
      give((*second_)[id], time);
      if (main_of_[id] != BookingPlace::kNone) main_->AddKnown(main_of_[id], time);
    };
    second_->Settle(min, give_second, compare);
  }
  main_->Settle(min, [&](NodeId id, Nanoseconds time) { give((*main_)[id], time); }, compare);
  if (residuals == Residuals::kDoubted)
    Doubt();
  else
    doubted_at_ = now_;  // the remaining missing time is below the minimum or stale
  audit_.charged += sum;
  audit_.last = now_;
  return sum;
}

std::span<const cgroup::CgroupPtr> CgroupAccounts::living() const {
  if (!main_) return {};
  const uint64_t changes = main_->changes() + (second_ ? second_->changes() : 0);
  if (std::exchange(living_changes_, changes) == changes) return living_;
  living_.clear();
  for (const CgroupLedger* ledger : {main_.get(), second_.get()}) {
    if (ledger == nullptr) continue;
    for (const CgroupNode& node : ledger->nodes())
      if (node.cgroup) living_.push_back(node.cgroup);
  }
  return living_;
}

}  // namespace kepler::activity
