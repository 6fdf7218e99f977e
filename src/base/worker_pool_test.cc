#include "base/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <vector>

#include "testing/no_threads.h"

namespace kepler {
namespace {

using namespace std::chrono_literals;
constexpr auto kNever = std::chrono::steady_clock::time_point::max();

TEST(WorkerPool, Jobs_RunInOrder) {
  WorkerPool pool({.name = "jobs", .max_queued = 3});
  std::vector<int> order;  // of the one thread
  std::latch done(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pool.Add([&, i](const std::stop_token&) {
      order.push_back(i);
      done.count_down();
    }));
  }
  ASSERT_TRUE(pool.Start());
  done.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(WorkerPool, Threads_RunJobsAtTheSameTime) {
  WorkerPool pool({.name = "jobs", .threads = 2, .max_queued = 2});
  ASSERT_TRUE(pool.Start());
  std::latch both(2);
  std::latch done(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(pool.Add([&](const std::stop_token&) {
      both.arrive_and_wait();
      done.count_down();
    }));
  }
  done.wait();
}

TEST(WorkerPool, FullQueue_RefusesTheJobAndDestroysIt) {
  WorkerPool pool({.name = "jobs", .max_queued = 1});
  EXPECT_TRUE(pool.Add([](const std::stop_token&) {}));
  const auto owned = std::make_shared<int>();
  EXPECT_FALSE(pool.Add([owned](const std::stop_token&) {}));
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(WorkerPool, Close_DestroysWaitingJobsAndLetsTheRunningOneEnd) {
  WorkerPool pool({.name = "jobs", .max_queued = 1});
  ASSERT_TRUE(pool.Start());
  std::latch running(1);
  std::latch go_on(1);
  std::atomic<bool> ended = false;
  EXPECT_TRUE(pool.Add([&](const std::stop_token&) {
    running.count_down();
    go_on.wait();
    ended = true;
  }));
  running.wait();
  const auto owned = std::make_shared<int>();
  EXPECT_TRUE(pool.Add([owned](const std::stop_token&) { ADD_FAILURE() << "must not run"; }));
  pool.Close();
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(pool.Add([](const std::stop_token&) {}));
  go_on.count_down();
  pool.EndBy(kNever);
  EXPECT_TRUE(ended);
}

TEST(WorkerPool, End_StopsTheTokenOfARunningJob) {
  WorkerPool pool({.name = "jobs", .threads = 2, .max_queued = 2});
  ASSERT_TRUE(pool.Start());
  std::latch running(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(pool.Add([&](const std::stop_token& stop) {
      running.count_down();
      while (!stop.stop_requested()) std::this_thread::yield();
    }));
  }
  running.wait();
  pool.EndBy(kNever);
  EXPECT_EQ(ThreadsLeftBehind(), 0u);
}

TEST(WorkerPool, JobThatDoesNotEnd_IsLeftBehind) {
  const auto go_on = std::make_shared<std::promise<void>>();
  {
    WorkerPool pool({.name = "jobs", .max_queued = 1});
    ASSERT_TRUE(pool.Start());
    const auto running = std::make_shared<std::latch>(1);
    EXPECT_TRUE(pool.Add([go_on, running](const std::stop_token&) {
      running->count_down();
      go_on->get_future().wait();
    }));
    running->wait();
  }
  EXPECT_EQ(ThreadsLeftBehind(), 1u);
  go_on->set_value();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
}

TEST(WorkerPool, NoThread_IsAnErrorAndTheNextStartTriesAgain) {
  WorkerPool pool({.name = "jobs", .max_queued = 1});
  std::latch done(1);
  EXPECT_TRUE(pool.Add([&](const std::stop_token&) { done.count_down(); }));
  {
    const testing::NoThreads limit;
    const auto started = pool.Start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, ::testing::StartsWith("start thread jobs: "));
  }
  ASSERT_TRUE(pool.Start());
  done.wait();
}

}  // namespace
}  // namespace kepler
