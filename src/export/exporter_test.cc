#include "export/exporter.h"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <stop_token>
#include <vector>

namespace kepler {
namespace {

/// A receiver that takes the first snapshot and then says nothing for as long as the test likes.
class StuckExporter final : public PushExporter {
 public:
  StuckExporter() : PushExporter("stuck") {}
  ~StuckExporter() override {
    Stop();
    if (record != nullptr) *record = exported;
  }
  StuckExporter(const StuckExporter&) = delete;
  StuckExporter& operator=(const StuckExporter&) = delete;

  std::latch first_came{1};
  std::latch go_on{1};
  std::latch last_came{1};
  std::vector<uint64_t> exported;  // once last_came
  std::function<void()> stopping;  // called when the exporter is to end while it is stuck
  std::vector<uint64_t>* record = nullptr;

 private:
  void Export(const snapshot::Snapshot& snapshot, const std::stop_token& stop) override {
    const std::stop_callback on_stop(stop, [this] {
      if (stopping) stopping();
    });
    exported.push_back(snapshot.sequence);
    if (exported.size() == 1) {
      first_came.count_down();
      go_on.wait();
    } else {
      last_came.count_down();
    }
  }
};

TEST(PushExporter, StuckReceiver_PublicationGoesOnAndTheNewestFollows) {
  snapshot::Board board;
  StuckExporter exporter;
  board.Subscribe([&](const auto& snapshot) { exporter.OnSnapshot(snapshot); });
  snapshot::Pool pool(3 + board.subscribers());
  ASSERT_TRUE(exporter.Start());
  for (uint64_t sequence = 1; sequence <= 50; ++sequence) {
    auto next = pool.Acquire();
    ASSERT_NE(next, nullptr) << "snapshot " << sequence;
    next->sequence = sequence;
    board.Publish(std::move(next));
    if (sequence == 1) exporter.first_came.wait();
    EXPECT_EQ(board.Latest()->sequence, sequence);
  }
  exporter.go_on.count_down();
  exporter.last_came.wait();
  EXPECT_EQ(exporter.exported, (std::vector<uint64_t>{1, 50}));
  EXPECT_EQ(exporter.skipped(), 48U);
}

TEST(PushExporter, EndsWhileOneWaits_ItIsNotExportedAnyMore) {
  std::vector<uint64_t> exported;
  {
    StuckExporter exporter;
    ASSERT_TRUE(exporter.Start());
    const auto publish = [&](uint64_t sequence) {
      auto snapshot = std::make_shared<snapshot::Snapshot>();
      snapshot->sequence = sequence;
      exporter.OnSnapshot(snapshot);
    };
    publish(1);
    exporter.first_came.wait();
    publish(2);
    exporter.stopping = [&] { exporter.go_on.count_down(); };
    exporter.record = &exported;
  }
  EXPECT_EQ(exported, (std::vector<uint64_t>{1}));
}

TEST(PushExporter, EndsWhileNothingComes) {
  StuckExporter exporter;
  ASSERT_TRUE(exporter.Start());
}

}  // namespace
}  // namespace kepler
