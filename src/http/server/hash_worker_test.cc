#include "http/server/hash_worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kepler::http::server {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// A fake of the worker's CPU time: on a busy machine a hash takes longer than the CPU time that it uses.
TEST(HashWorker, FailedLogin_CostsTheCpuTimeOfItsHash) {
  EventLoop loop;
  nanoseconds used{0};
  HashWorker worker(
      loop, [&](const std::string&, const std::string&) { return used += hours(10), false; },
      [&](const LoginJob&, bool) { loop.Stop(); }, [&] { return used; });
  EXPECT_LT(worker.Next(), steady_clock::now());
  ASSERT_TRUE(worker.Start());
  ASSERT_TRUE(worker.Add({.client = {}, .hash = "h", .password = "p"}).queued);
  loop.Run();
  EXPECT_GT(worker.Next(), steady_clock::now() + hours(39));
}

}  // namespace
}  // namespace kepler::http::server
