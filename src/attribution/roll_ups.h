#pragma once
// RollUps: charges the energy of pods to their namespaces and owners. The energy of a pod waits until the cluster names
// the pod, and then moves to the two totals. If a pod ended first, its energy waits for kMaxWait more, and then is
// `unseen`. Invariant for every zone: energy of pods = Σ rows + departed + capped + unseen + waiting. Pure; collection
// thread only.
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/group_accounts.h"
#include "attribution/roll_up_accounts.h"
#include "attribution/usage_list.h"
#include "attribution/weights.h"
#include "base/clock.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// A pod's owner as the cluster names it. `kind` and `name` are empty if the pod has no controller.
struct OwnerView {
  std::string_view name_space;
  std::string_view kind;
  std::string_view name;
};

/// Returns the owner of the pod with this UID, or nothing if it is unknown.
using FindOwner = std::function<std::optional<OwnerView>(std::string_view uid)>;

class RollUps {
 public:
  static constexpr std::chrono::minutes kMaxWait{2};  // as long as the pod directory remembers pods that are gone
  static constexpr size_t kMaxEnded = 1'024;          // ended pods that wait for their names
  static constexpr RollUpLimits kNamespaces{.max_rows = 1'000};
  static constexpr RollUpLimits kOwners{.max_rows = 1'000, .max_idle = std::chrono::hours(1)};

  using PodAccounts = GroupAccounts<snapshot::PodIdentity>;

  explicit RollUps(RollUpLimits namespaces = kNamespaces, RollUpLimits owners = kOwners)
      : namespaces_(namespaces), owners_(owners) {}

  void SetZones(std::span<const size_t> from);
  /// `begin`: as in Accounts::BeginTick().
  void BeginTick(BootTime begin, BootTime now);
  /// Sets the owner of a pod. Does nothing, and allocates nothing, if the owner is the same.
  void Name(Row pod, const OwnerView& owner);
  /// Names pods that have ended without a name.
  void NameEnded(const FindOwner& find);
  /// Adds what the pods were charged in this tick. Call after the charges, before accounts end.
  void Charge(const PodAccounts& pods, std::span<const ZoneCharge> zones);
  /// Call with the rows of pods that were freed.
  void Close(std::span<const Row> pods);

  /// Writes the two tables, their unlisted energy without `outside`, and their unnamed energy.
  void Publish(snapshot::Snapshot& out);

 private:
  struct Pod {
    std::optional<snapshot::OwnerIdentity> owner;  // empty: the pod has no name yet
    Row name_space = kNoRow;
    Row owner_row = kNoRow;
    BootTime since{};  // begin of the first charge
    std::string uid;   // until the pod has a name
  };
  struct EndedPod {
    std::string uid;
    BootTime since;
    BootTime until;
    std::vector<Energy> energy;
  };
  void Join(Pod& pod, const OwnerView& owner, BootTime begin);
  void Leave(const Pod& pod);
  void Add(const Pod& pod, size_t zone, Energy energy);
  void MoveWaiting(Row row);
  void AddUnseen(std::span<const Energy> energy);

  size_t zones_ = 0;
  BootTime begin_{};
  BootTime now_{};
  RollUpAccounts<snapshot::OwnerIdentity> namespaces_;
  RollUpAccounts<snapshot::OwnerIdentity> owners_;
  std::vector<Pod> pods_;        // by row of the pod
  std::vector<Energy> waiting_;  // pods × zones
  std::vector<EndedPod> ended_;
  std::vector<Energy> unseen_;
};

}  // namespace kepler::attribution
