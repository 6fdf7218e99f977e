// Pods that come and go, 20 per second: the totals are those of all pods that ever lived, to the microjoule.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attribution/ledger.h"
#include "attribution/roll_ups.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;

struct FakePod {
  std::string uid;
  std::string name_space;
  std::string owner;
  int64_t born, ends, named;  // ticks
  int64_t energy = 0;         // that it used, in microjoules
};

/// Drives a ledger tick by tick. In each tick the energy in microjoules is the CPU time in nanoseconds, so each pod is
/// charged exactly its CPU time.
class Churn {
 public:
  Churn(uint64_t seed, int64_t per_tick, bool names_all)
      : random_(seed * 2 + 1),
        per_tick_(per_tick),
        names_all_(names_all),
        ledger_({std::chrono::seconds(Below(20)), Energy::Microjoules(static_cast<int64_t>(Below(2)) * 5'000), 50}) {
    ledger_.SetZones({{"package", "p", "x"}}, 0);
  }

  void Tick() {
    ++tick_;
    ledger_.BeginTick(BootTime(std::chrono::seconds(tick_)));
    for (int64_t i = 0; i < per_tick_; ++i) Start();
    int64_t sum = Outside();
    for (FakePod& pod : pods_) sum += Run(pod);
    for (FakePod& pod : pods_)
      if (pod.named == tick_) Name(pod);
    ledger_.SetOwnersOfEnded([&](std::string_view uid) -> std::optional<OwnerView> {
      const auto pod = late_.find(std::string(uid));
      if (pod == late_.end()) return std::nullopt;
      return OwnerView{pod->second.first, "Job", pod->second.second};
    });
    ledger_.Settle(std::array{SplitByRatio(Energy::Microjoules(sum), Power{}, true, Ratio::Clamped(1), weights_)},
                   Scan::kDone);
    ledger_.Publish(snapshot_);
    std::erase_if(pods_, [&](const FakePod& pod) { return tick_ >= pod.ends && (tick_ >= pod.named || IsNever(pod)); });
  }
  void Tick(int64_t times) {
    for (int64_t i = 0; i < times; ++i) {
      Tick();
      if (!IsExact()) return;
    }
  }

  /// Compares what the snapshot shows with what the pods used.
  [[nodiscard]] bool IsExact() {
    for (const auto& error : snapshot_.conservation_error)
      if (error[0] != Energy{}) return false;
    std::map<std::string, int64_t> namespaces;
    int64_t owners = Of(Level::kOwner, Unlisted::kDeparted) + Of(Level::kOwner, Unlisted::kCapped);
    for (size_t row = 0; row < snapshot_.namespaces.rows(); ++row)
      namespaces[snapshot_.namespaces.identity[row]->name_space] = snapshot_.namespaces.energy_at(row, 0).microjoules();
    for (size_t row = 0; row < snapshot_.owners.rows(); ++row)
      owners += snapshot_.owners.energy_at(row, 0).microjoules();
    int64_t named = 0;
    for (const auto& [name, energy] : expected_) named += energy;
    const int64_t unnamed = Of(Level::kNamespace, Unlisted::kUnseen) +
                            snapshot_.unnamed[std::to_underlying(Level::kNamespace)][0].microjoules();
    return namespaces == expected_ && owners == named && unnamed == unnamed_ &&
           Of(Level::kNamespace, Unlisted::kOutside) == outside_;
  }
  [[nodiscard]] int64_t Of(Level level, Unlisted reason) const {
    return snapshot_.unlisted[std::to_underlying(level)][std::to_underlying(reason)][0].microjoules();
  }
  [[nodiscard]] const snapshot::Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] int64_t started() const { return started_; }

 private:
  uint64_t Below(uint64_t limit) {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random_ >> 33) % limit;
  }
  bool IsNever(const FakePod& pod) const { return pod.named < 0; }

  void Start() {
    FakePod pod{.uid = "pod-" + std::to_string(started_++),
                .name_space = "ns-" + std::to_string(Below(7)),
                .owner = "job-" + std::to_string(Below(3'000)),
                .born = tick_,
                .ends = tick_ + static_cast<int64_t>(Below(10)),
                .named = tick_};
    const uint64_t when = Below(names_all_ ? 3 : 4);
    if (when == 1) pod.named += static_cast<int64_t>(Below(5));
    if (when == 2) pod.named = pod.ends + static_cast<int64_t>(Below(100));  // after its end
    if (when == 3) pod.named = -1;
    pods_.push_back(std::move(pod));
  }

  int64_t Run(FakePod& pod) {
    if (tick_ > pod.ends) return 0;
    const auto cpu = static_cast<int64_t>(Below(10'000));
    ledger_.UseResidual({.pod = ledger_.Pod({pod.uid})}, Nanoseconds(cpu));
    pod.energy += cpu;
    (pod.named >= 0 && pod.named < tick_ ? expected_[pod.name_space] : unnamed_) += cpu;
    return cpu;
  }
  int64_t Outside() {
    const auto cpu = static_cast<int64_t>(Below(50'000));
    ledger_.UseResidual({}, Nanoseconds(cpu));
    outside_ += cpu;
    return cpu;
  }

  void Name(const FakePod& pod) {
    unnamed_ -= pod.energy;
    expected_[pod.name_space] += pod.energy;
    const Row row = ledger_.pods().Find(std::string_view(pod.uid));
    if (row != kNoRow)
      ledger_.SetOwner(row, {pod.name_space, "Job", pod.owner});
    else
      late_[pod.uid] = {pod.name_space, pod.owner};
  }

  uint64_t random_;
  int64_t per_tick_;
  bool names_all_;
  Ledger ledger_;
  CpuTimeWeights weights_{ledger_.cpu_usage()};
  snapshot::Snapshot snapshot_;
  std::vector<FakePod> pods_;
  std::map<std::string, std::pair<std::string, std::string>> late_;  // by UID: namespace and owner
  std::map<std::string, int64_t> expected_;                          // by namespace
  int64_t unnamed_ = 0;
  int64_t outside_ = 0;
  int64_t tick_ = 0;
  int64_t started_ = 0;
};

TEST(RollUpsChurn, TwentyPodsPerSecond_TotalsAreThoseOfAllThatEverLived) {
  Churn churn(1, 20, /*names_all=*/false);
  churn.Tick(600);
  EXPECT_TRUE(churn.IsExact());
  EXPECT_EQ(churn.started(), 12'000);
  EXPECT_EQ(churn.snapshot().namespaces.rows(), 7u);
  EXPECT_EQ(churn.snapshot().owners.rows(), RollUps::kOwners.max_rows) << "3,000 owners do not fit";
  EXPECT_GT(churn.Of(Level::kOwner, Unlisted::kDeparted), 0);
  EXPECT_GT(churn.Of(Level::kNamespace, Unlisted::kUnseen), 0) << "some pods are never named";
}

RC_GTEST_PROP(RollUpsChurn, AnyHistory_NoJouleIsLost, (uint64_t seed)) {
  Churn churn(seed, *rc::gen::inRange(0, 4), *rc::gen::arbitrary<bool>());
  churn.Tick(*rc::gen::inRange(1, 200));
  RC_ASSERT(churn.IsExact());
}

}  // namespace
}  // namespace kepler::attribution
