#include "http/server/memory_return.h"

#include <gtest/gtest.h>

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;

/// Everything on the loop's thread, in one task after the other.
class MemoryReturnTest : public ::testing::Test {
 protected:
  /// Counts up to `peak` and down to `rest`, then runs the expired timers.
  void Wave(size_t peak, size_t rest) {
    for (size_t open = 0; open <= peak; ++open) memory_.OnConnections(open);
    for (size_t open = peak; open-- > rest;) memory_.OnConnections(open);
    Timer end(loop_);
    end.Start(1ms, [this] { loop_.Stop(); });
    loop_.Run();
  }

  EventLoop loop_;
  int given_back_ = 0;
  MemoryReturn memory_{loop_, 0ms, [this] { ++given_back_; }};
};

TEST_F(MemoryReturnTest, WaveThatIsGone_GivesBackOnce) {
  Wave(1000, 0);
  EXPECT_EQ(given_back_, 1);
}

TEST_F(MemoryReturnTest, WaveOfWhichMoreThanAQuarterIsLeft_IsNotOver) {
  Wave(1000, 251);
  EXPECT_EQ(given_back_, 0);
}

TEST_F(MemoryReturnTest, AFewClients_AreNoWave) {
  Wave(MemoryReturn::kWave - 1, 0);
  EXPECT_EQ(given_back_, 0);
}

TEST(MemoryReturn, NextWaveWithinTheDelay_IsWaitedFor) {
  EventLoop loop;
  int given_back = 0;
  MemoryReturn memory(loop, 0ms, [&] { ++given_back; });
  for (const size_t open : {1000u, 0u, 900u}) memory.OnConnections(open);
  Timer end(loop);
  end.Start(1ms, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(given_back, 0);
}

}  // namespace
}  // namespace kepler::http::server
