#include "attribution/roll_ups.h"

#include <algorithm>
#include <utility>

namespace kepler::attribution {
namespace {

bool IsSame(const snapshot::OwnerIdentity& a, const OwnerView& b) {
  return a.name_space == b.name_space && a.kind == b.kind && a.name == b.name;
}

}  // namespace

void RollUps::SetZones(std::span<const size_t> from) {
  namespaces_.SetZones(from);
  owners_.SetZones(from);
  waiting_ = WithZones(waiting_, pods_.size(), zones_, from);
  unseen_ = WithZones(unseen_, 1, zones_, from);
  for (EndedPod& pod : ended_) pod.energy = WithZones(pod.energy, 1, zones_, from);
  zones_ = from.size();
}

void RollUps::BeginTick(BootTime begin, BootTime now) {
  begin_ = begin;
  now_ = now;
  namespaces_.BeginTick(now);
  owners_.BeginTick(now);
  std::erase_if(ended_, [&](const EndedPod& pod) {
    if (pod.until > now) return false;
    AddUnseen(pod.energy);
    return true;
  });
}

void RollUps::Name(Row row, const OwnerView& owner) {
  if (row >= pods_.size()) {
    pods_.resize(row + 1);
    waiting_.resize(pods_.size() * zones_);
  }
  Pod& pod = pods_[row];
  if (pod.owner && IsSame(*pod.owner, owner)) return;
  const bool is_new = !pod.owner;
  const Pod before = pod;
  Join(pod, owner, is_new && pod.since != BootTime{} ? pod.since : begin_);
  Leave(before);  // afterwards, so that a row that stays has pods all the time
  if (is_new) MoveWaiting(row);
}

void RollUps::Join(Pod& pod, const OwnerView& owner, BootTime begin) {
  pod.owner = {std::string(owner.name_space), std::string(owner.kind), std::string(owner.name)};
  pod.name_space = namespaces_.Join({pod.owner->name_space}, begin);
  pod.owner_row = owners_.Join(*pod.owner, begin);
  pod.uid = {};
}

void RollUps::Leave(const Pod& pod) {
  namespaces_.Leave(pod.name_space);
  owners_.Leave(pod.owner_row);
}

void RollUps::Add(const Pod& pod, size_t zone, Energy energy) {
  namespaces_.Add(pod.name_space, zone, energy);
  owners_.Add(pod.owner_row, zone, energy);
}

void RollUps::MoveWaiting(Row row) {
  for (size_t zone = 0; zone < zones_; ++zone)
    Add(pods_[row], zone, std::exchange(waiting_[row * zones_ + zone], Energy{}));
}

void RollUps::NameEnded(const FindOwner& find) {
  std::erase_if(ended_, [&](const EndedPod& ended) {
    const std::optional<OwnerView> owner = find(ended.uid);
    if (!owner) return false;
    Pod pod;
    Join(pod, *owner, ended.since);
    for (size_t zone = 0; zone < zones_; ++zone) Add(pod, zone, ended.energy[zone]);
    Leave(pod);
    return true;
  });
}

void RollUps::Charge(const PodAccounts& pods, std::span<const ZoneCharge> zones) {
  if (pods.size() > pods_.size()) {
    pods_.resize(pods.size());
    waiting_.resize(pods_.size() * zones_);
  }
  for (Row row = 0; row < pods.size(); ++row) {
    if (!pods.running(row)) continue;
    Pod& pod = pods_[row];
    if (pod.since == BootTime{}) pod.since = begin_;
    if (!pod.owner && pod.uid.empty()) pod.uid = pods.identity(row).id;
    for (size_t zone = 0; zone < zones_; ++zone) {
      const Energy energy = zones[zone].unchanged ? Energy{} : pods.charged(row, zone);
      if (pod.owner)
        Add(pod, zone, energy);
      else
        waiting_[row * zones_ + zone] += energy;
    }
  }
}

void RollUps::Close(std::span<const Row> pods) {
  for (const Row row : pods) {
    Pod pod = std::exchange(pods_[row], {});
    Leave(pod);
    const std::span<Energy> energy = std::span(waiting_).subspan(row * zones_, zones_);
    const bool has_energy = std::ranges::any_of(energy, [](Energy one) { return one != Energy{}; });
    if (has_energy && ended_.size() < kMaxEnded)
      ended_.push_back({std::move(pod.uid), pod.since, now_ + kMaxWait, {energy.begin(), energy.end()}});
    else
      AddUnseen(energy);
    std::ranges::fill(energy, Energy{});
  }
}

void RollUps::AddUnseen(std::span<const Energy> energy) {
  for (size_t zone = 0; zone < zones_; ++zone) unseen_[zone] += energy[zone];
}

void RollUps::Publish(snapshot::Snapshot& out) {
  using snapshot::Level;
  using snapshot::Unlisted;
  namespaces_.Publish(out.namespaces);
  owners_.Publish(out.owners);
  const auto publish = [&](Level level, const auto& accounts) {
    auto& reasons = out.unlisted[std::to_underlying(level)];
    std::ranges::copy(accounts.departed(), reasons[std::to_underlying(Unlisted::kDeparted)].begin());
    std::ranges::copy(accounts.capped(), reasons[std::to_underlying(Unlisted::kCapped)].begin());
    std::ranges::copy(unseen_, reasons[std::to_underlying(Unlisted::kUnseen)].begin());
    auto& unnamed = out.unnamed[std::to_underlying(level)];
    const auto add = [&](std::span<const Energy> energy) {
      for (size_t zone = 0; zone < zones_; ++zone) unnamed[zone] += energy[zone];
    };
    for (Row row = 0; row < pods_.size(); ++row)
      if (!pods_[row].owner) add(std::span(waiting_).subspan(row * zones_, zones_));
    for (const EndedPod& pod : ended_) add(pod.energy);
  };
  publish(Level::kNamespace, namespaces_);
  publish(Level::kOwner, owners_);
}

}  // namespace kepler::attribution
