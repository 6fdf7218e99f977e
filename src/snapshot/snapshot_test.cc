#include "snapshot/snapshot.h"

#include <gtest/gtest.h>

#include <thread>

namespace kepler::snapshot {
namespace {

TEST(Pool, MaxHandedOut_AnswersNullUntilOneIsReturned) {
  Pool pool(2);
  auto a = pool.Acquire();
  const auto b = pool.Acquire();
  EXPECT_NE(a, nullptr);
  EXPECT_EQ(pool.Acquire(), nullptr);
  const Snapshot* address = a.get();
  a.reset();
  EXPECT_EQ(pool.Acquire().get(), address);  // recycled, not allocated again
}

TEST(Pool, DestroyedBeforeItsSnapshots_IsFine) {
  std::shared_ptr<Snapshot> kept;
  {
    Pool pool;
    kept = pool.Acquire();
  }
  kept->sequence = 7;
  EXPECT_EQ(kept->sequence, 7u);
}

TEST(Board, ReadersSeeWholeSnapshotsWhileOthersArePublished) {
  Pool pool(3);
  Board board;
  std::jthread reader([&](const std::stop_token& stop) {
    uint64_t last = 0;
    while (!stop.stop_requested()) {
      const auto snapshot = board.Latest();
      if (!snapshot) continue;
      EXPECT_GE(snapshot->sequence, last);
      EXPECT_EQ(snapshot->sequence, snapshot->pipeline.ticks);
      last = snapshot->sequence;
    }
  });
  for (uint64_t i = 1; i <= 2000; ++i) {
    auto next = pool.Acquire();
    if (!next) continue;  // the reader holds one
    next->sequence = i;
    next->pipeline.ticks = i;
    board.Publish(std::move(next));
  }
  EXPECT_NE(board.Latest(), nullptr);
}

}  // namespace
}  // namespace kepler::snapshot
