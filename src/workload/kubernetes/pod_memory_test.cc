// What lists of pods that somebody else makes take of memory at most. Bodies are made piece by piece.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/allocations.h"
#include "workload/kubernetes/pod_cache.h"

namespace kepler::workload::kubernetes {
namespace {

constexpr BootTime kNow{std::chrono::seconds(100)};
constexpr size_t kRoom = size_t{4} << 20;
// The list that is read, the pods before, the pods after and two maps, as NameBytesFor() says.
constexpr size_t kMaxRooms = 4;

/// `count` pods of `containers` each. `round`: makes every name another one.
Result<PodList> ReadPods(size_t room, size_t count, size_t containers, size_t round, const AskedTexts& asked = {}) {
  PodListReader reader(asked, room);
  KEPLER_CHECK_OK(reader.Read(R"({"kind":"PodList","items":[)"));
  for (size_t pod = 0; pod < count; ++pod) {
    KEPLER_CHECK_OK(reader.Read(fmt::format(
        R"({}{{"metadata":{{"uid":"{:036}","name":"pod-{}-{}","labels":{{"app":"app-{}"}}}},"status":{{"containerStatuses":[)",
        pod == 0 ? "" : ",", pod, round, pod, pod)));
    for (size_t container = 0; container < containers; ++container)
      KEPLER_CHECK_OK(reader.Read(fmt::format(R"({}{{"name":"container-{}","containerID":"containerd://{:064x}"}})",
                                              container == 0 ? "" : ",", container,
                                              ((round * count) + pod) * containers + container)));
    KEPLER_CHECK_OK(reader.Read("]}}"));
  }
  KEPLER_CHECK_OK(reader.Read("]}"));
  return reader.Finish();
}

class PodMemory : public ::testing::Test {
 protected:
  /// Takes lists as the informer does, and each map as a tick does.
  void Take(size_t count, size_t containers, size_t round) {
    auto list = ReadPods(kRoom, count, containers, round);
    ASSERT_TRUE(list) << list.error().message;
    left_out_ += list->left_out;
    left_out_ += cache_.Replace(std::move(list->pods), kNow);
    map_ = cache_.Latest(kNow);
  }
  const uint64_t before_ = [] {
    kepler::testing::ResetPeak();
    return kepler::testing::live_bytes.load();
  }();
  PodCache cache_{kRoom};
  std::shared_ptr<const PodMap> map_;
  LeftOut left_out_;
};

TEST_F(PodMemory, ThreeHundredPodsOfAThousandContainers_StayWithinTheRoom) {
  for (size_t round = 0; round < 3; ++round) Take(300, 1'000, round);
  EXPECT_LE(kepler::testing::peak_bytes - before_, kMaxRooms * kRoom);
  EXPECT_GT(map_->containers(), kRoom / 400) << "what fits stays";
  EXPECT_GT(left_out_.containers, 3 * 250'000u);
  EXPECT_GT(left_out_.pods, 3 * 200u);
}

TEST_F(PodMemory, ManyTinyPods_StayWithinTheRoom) {
  for (size_t round = 0; round < 3; ++round) Take(60'000, 0, round);
  EXPECT_LE(kepler::testing::peak_bytes - before_, kMaxRooms * kRoom);
  EXPECT_GT(map_->pods(), kRoom / 800);
  EXPECT_GT(left_out_.pods, 3 * 40'000u);
}

TEST_F(PodMemory, ThirtyPods_HaveTheirNames_AndTheAccountIsTrue) {
  Take(30, 100, 0);
  EXPECT_FALSE(left_out_.any());
  EXPECT_EQ(map_->containers(), 3'000u);
  const auto real = static_cast<double>(kepler::testing::live_bytes - before_);
  EXPECT_NEAR(real / static_cast<double>(cache_.bytes()), 1, 0.25);
}

TEST_F(PodMemory, PodsThatAreGone_LeaveNothing) {
  Take(300, 100, 0);
  Take(0, 0, 1);
  map_ = cache_.Latest(kNow + PodCache::kMemory + std::chrono::seconds(1));
  EXPECT_EQ(cache_.bytes(), 0u);
  EXPECT_LE(kepler::testing::live_bytes - before_, 64u << 10);
}

TEST_F(PodMemory, TwentyThousandPodsWithLabelsOfTheirOwn_FitTheRoomOfTheChart) {
  const auto list = ReadPods(NameBytesFor(uint64_t{512} << 20), 20'000, 1, 0, {.labels = {"app"}});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->left_out, LeftOut());
  EXPECT_EQ(list->pods.size(), 20'000u);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
