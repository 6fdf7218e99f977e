#include "attribution/process_listing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace kepler::attribution {
namespace {

using Listing = ProcessAccounts::Listing;

/// The parent of all kernel threads: init/main.c, rest_init().
std::shared_ptr<const snapshot::ProcessIdentity> Kthreadd() {
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = 2;
  identity->comm = "kthreadd";
  identity->type = "regular";
  return identity;
}

}  // namespace

void ProcessListing::HideEnding(ProcessAccounts& processes) {
  for (const Row row : processes.ending())
    if (IsHiddenKernelThread(processes, row)) HideKernelThread(processes, row);
}

void ProcessListing::Published(ProcessAccounts& processes) {
  for (const Row row : leaving_) processes.Unlist(row);
  leaving_.clear();
}

void ProcessListing::Update(ProcessAccounts& processes, const PrimaryPower& primary, Nanoseconds time) {
  if (!limits_.any()) return;
  cut_.emplace();
  Learn(processes, primary, time);
  wanted_.clear();
  unwanted_.clear();
  leaving_.clear();                   // not empty if the previous tick was not published
  const Row rows = processes.size();  // kernel threads may open another account below
  for (Row row = 0; row < rows; ++row) {
    if (!processes.running(row) || row == kthreadd_) continue;
    if (IsHiddenKernelThread(processes, row)) {
      HideKernelThread(processes, row);
      ++cut_->kernel_threads;
    } else if (IsBelowMin(processes, row)) {
      Cut(processes, row, cut_->min_power);
    } else {
      wanted_.push_back(row);
    }
  }
  if (kthreadd_ != kNoRow && cut_->kernel_threads > 0) --cut_->kernel_threads;  // kthreadd itself is shown
  KeepMostPower(processes);
  for (const Row row : unwanted_) Cut(processes, row, cut_->max);
  ListWanted(processes);
}

void ProcessListing::Learn(const ProcessAccounts& processes, const PrimaryPower& primary, Nanoseconds time) {
  of_late_.resize(processes.size());
  const double weight = 1 - std::exp(-std::chrono::duration<double>(time) / kRecent);
  for (Row row = 0; row < processes.size(); ++row) {
    if (!processes.running(row)) continue;
    if (processes.listing(row) == Listing::kNew) of_late_[row] = 0;
    if (!primary.known) continue;
    const auto used = static_cast<double>(processes.charged(row, primary.zone).microjoules());
    of_late_[row] += weight * (used * primary.watts_per_uj - of_late_[row]);
  }
}

/// A kernel thread in the cgroup of a container (vhost) belongs to that container and is not hidden.
bool ProcessListing::IsHiddenKernelThread(const ProcessAccounts& processes, Row row) const {
  return limits_.kernel_threads != KernelThreads::kEach && processes.kernel_thread(row) &&
         processes.groups(row) == Groups{};
}

void ProcessListing::HideKernelThread(ProcessAccounts& processes, Row row) {
  if (limits_.kernel_threads == KernelThreads::kOne) {
    if (kthreadd_ == kNoRow) kthreadd_ = processes.OpenLasting(Kthreadd());
    processes.Give(row, kthreadd_);
  }
  processes.Unlist(row);
}

bool ProcessListing::IsBelowMin(const ProcessAccounts& processes, Row row) const {
  const bool listed = processes.listing(row) == Listing::kListed;
  return of_late_[row] * (listed ? kStays : 1) < limits_.min_power.watts();
}

void ProcessListing::KeepMostPower(const ProcessAccounts& processes) {
  if (limits_.max == 0 || wanted_.size() <= limits_.max) return;
  const auto keep = wanted_.begin() + static_cast<std::ptrdiff_t>(limits_.max);
  const auto rank = [&](Row row) {
    const bool listed = processes.listing(row) == Listing::kListed;
    return std::pair(of_late_[row] * (listed ? kStays : 1), listed);
  };
  std::nth_element(wanted_.begin(), keep, wanted_.end(), [&](Row a, Row b) {
    const auto rank_a = rank(a);
    const auto rank_b = rank(b);
    return rank_a != rank_b ? rank_a > rank_b : a < b;
  });
  unwanted_.assign(keep, wanted_.end());
  wanted_.erase(keep, wanted_.end());
}

/// A published series ends with the next publication, so that its energy of this tick is shown before it departs.
void ProcessListing::Cut(ProcessAccounts& processes, Row row, uint64_t& count) {
  if (processes.shown(row)) return leaving_.push_back(row);
  processes.Unlist(row);
  ++count;
}

void ProcessListing::ListWanted(ProcessAccounts& processes) {
  const auto listed = [&](Row row) { return processes.listing(row) == Listing::kListed; };
  size_t places = limits_.max == 0 ? SIZE_MAX : limits_.max;
  places -= std::min(places, leaving_.size() + static_cast<size_t>(std::ranges::count_if(wanted_, listed)));
  for (const Row row : wanted_) {
    if (listed(row)) continue;
    // If a series restarted without a snapshot in between, its counter would fall.
    if (places > 0 && processes.listing(row) != Listing::kLeft) {
      processes.List(row);
      --places;
    } else {
      processes.Unlist(row);
      ++(limits_.max > 0 ? cut_->max : cut_->min_power);
    }
  }
}

}  // namespace kepler::attribution
