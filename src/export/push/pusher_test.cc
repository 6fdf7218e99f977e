#include "export/push/pusher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/scripted_peer.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using kepler::testing::ScriptedPeer;

class PusherTest : public ::testing::Test {
 protected:
  Pusher& Open(uint16_t port) {
    pusher_ = std::make_unique<Pusher>(
        Target{.exporter = "otlp",
               .peer = {.tls = false, .host = "127.0.0.1", .port = port},
               .request = {.target = "/v1/metrics"}},
        DeliveryOptions{.queue = {.directory = queue_directory_, .encoding = "otlp"}}, 60s,
        [this](const auto& take) {
          ++encoded_;
          on_encode_();
          for (int i = 0; i < requests_; ++i)
            take(Request{.body = std::make_shared<const std::string>("x"), .points = 1});
        },
        std::shared_ptr<const Clock>(&clock_, [](const Clock*) {}));
    return *pusher_;
  }
  /// Time until the next step.
  Nanoseconds Step() { return pusher_->Step({}) - clock_.Now(); }

  testing::FakeClock clock_;
  std::atomic<int> encoded_ = 0;
  int requests_ = 2;
  std::function<void()> on_encode_ = [] {};
  std::string queue_directory_;
  std::unique_ptr<Pusher> pusher_;
};

TEST_F(PusherTest, EncodesAtEachIntervalAndSendsEachRequest) {
  ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  Open(server.port());
  EXPECT_LE(Step(), 0ns);
  EXPECT_LE(Step(), 0ns);
  EXPECT_EQ(Step(), 60s);
  EXPECT_EQ(pusher_->status().requests, 2U);
  clock_.Advance(20s);
  EXPECT_EQ(Step(), 40s);
  EXPECT_EQ(encoded_, 1);
  clock_.Advance(40s);
  EXPECT_LE(Step(), 0ns);
  EXPECT_EQ(encoded_, 2);
}

TEST_F(PusherTest, RequestsOfAnEarlierProcess_AreSentBeforeThereIsNewData) {
  ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  testing::FakeTree tree;
  queue_directory_ = tree.Path("queue");
  static_cast<void>(Open(1).Step({}));
  EXPECT_EQ(pusher_->status().queued_requests, 2U);
  pusher_.reset();
  requests_ = 0;
  Open(server.port());
  EXPECT_LE(Step(), 0ns);
  EXPECT_LE(Step(), 0ns);
  EXPECT_EQ(Step(), 60s);
  EXPECT_EQ(pusher_->status().requests, 2U);
}

TEST_F(PusherTest, MissedPushes_AreSkipped) {
  requests_ = 0;
  Open(1);
  EXPECT_EQ(Step(), 60s);
  clock_.Advance(250s);  // suspended
  EXPECT_EQ(Step(), 50s);
  EXPECT_EQ(encoded_, 2);
}

TEST_F(PusherTest, SlowPushes_LeaveTimeToSend) {
  ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  for (const Nanoseconds time : {Nanoseconds(60s), Nanoseconds(60s + 1ms), Nanoseconds(150s)}) {
    encoded_ = 0;
    on_encode_ = [&] { clock_.Advance(time); };
    Open(server.port());
    for (int i = 0; i < 30; ++i)
      if (const Nanoseconds left = Step(); left > 0ns) clock_.Advance(left);
    EXPECT_EQ(encoded_, 10) << time;
    EXPECT_EQ(pusher_->status().requests, 20U) << time;
  }
}

TEST_F(PusherTest, NoServer_PushesGoOnBetweenRetries) {
  Open(1);
  EXPECT_LE(Step(), 0ns);
  EXPECT_GT(Step(), 0ns) << "a retry";
  clock_.Advance(60s);
  EXPECT_LE(Step(), 0ns) << "the retry, after the new push";
  EXPECT_EQ(pusher_->status().queued_requests, 4U);
}

TEST_F(PusherTest, Stop_EndsAPendingRequestAndAWait) {
  ScriptedPeer server([](const std::string&, const ScriptedPeer::Send&, const std::stop_token& stop) {
    kepler::testing::WaitFor(stop);
  });
  ASSERT_TRUE(Open(server.port()).Start());
  while (server.calls() == 0) std::this_thread::yield();
  pusher_.reset();  // the deadline of the request is 10 s
  requests_ = 0;
  const int before = encoded_;
  ASSERT_TRUE(Open(server.port()).Start());
  while (encoded_ == before) std::this_thread::yield();
  pusher_.reset();  // the next push is 60 s away
  EXPECT_EQ(server.calls(), 1U);
}

TEST_F(PusherTest, AThreadThatHangs_IsLeftBehind) {
  std::promise<void> hang;
  on_encode_ = [&, wait = hang.get_future().share()] { wait.wait(); };
  ASSERT_TRUE(Open(1).Start());
  while (encoded_ == 0) std::this_thread::yield();
  pusher_->Stop(std::chrono::steady_clock::now());
  EXPECT_EQ(ThreadsLeftBehind(), 1U);
  hang.set_value();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
  EXPECT_EQ(encoded_, 1);
}

/// Calls `on_now` each time somebody looks at it.
class WatchedClock final : public Clock {
 public:
  explicit WatchedClock(std::function<void()> on_now) : on_now_(std::move(on_now)) {}
  [[nodiscard]] BootTime Now() const override {
    on_now_();
    return inner_.Now();
  }
  [[nodiscard]] WallTime Wall() const override { return inner_.Wall(); }

 private:
  const std::function<void()> on_now_;
  const testing::FakeClock inner_;
};

TEST_F(PusherTest, AThreadThatHangsInItsQueue_DoesNotEncodeAfterStop) {
  std::promise<void> hang;
  std::atomic<int> looks = 0;
  const auto on_now = [&, wait = hang.get_future().share()] {
    // The first is of the constructor, the second of the step, the third of the failure to open the directory.
    if (++looks == 3) wait.wait();
  };
  const testing::FakeTree tree;
  std::atomic<bool> has_encoded = false;
  Pusher pusher(
      Target{.exporter = "otlp"}, DeliveryOptions{.queue = {.directory = tree.Path("no/parent")}}, 60s,
      [&](const auto&) { has_encoded = true; }, std::make_shared<WatchedClock>(on_now));
  ASSERT_TRUE(pusher.Start());
  while (looks < 3) std::this_thread::yield();
  pusher.Stop(std::chrono::steady_clock::now());
  EXPECT_EQ(ThreadsLeftBehind(), 1U);
  hang.set_value();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
  EXPECT_FALSE(has_encoded);
}

}  // namespace
}  // namespace kepler::push
