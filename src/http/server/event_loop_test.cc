#include "http/server/event_loop.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;

TEST(EventLoop, PostedTasks_RunInOrder) {
  EventLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.Post([&order, i] { order.push_back(i); });
  loop.Post([&loop] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(EventLoop, PostFromAnotherThread_Wakes) {
  EventLoop loop;
  std::jthread other([&loop] { loop.Post([&loop] { loop.Stop(); }); });
  loop.Run();
}

TEST(EventLoop, TasksNeverRun_AreDestroyed) {
  const auto token = std::make_shared<int>();
  {
    EventLoop loop;
    loop.Post([token] {});
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Timer, StartedAgain_RunsOnlyTheLatest) {
  EventLoop loop;
  Timer timer(loop);
  int first = 0;
  timer.Start(0ms, [&first] { ++first; });
  timer.Start(1ms, [&loop] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(first, 0);
}

TEST(Timer, CancelledWhenAlreadyDue_DoesNotRun) {
  EventLoop loop;
  Timer timer(loop), end(loop);
  int ran = 0;
  // The timer expires before the loop first looks, so the expiry is queued together with the task that cancels it.
  timer.Start(-1s, [&ran] { ++ran; });
  loop.Post([&timer] { timer.Cancel(); });
  end.Start(5ms, [&loop] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace kepler::http::server
