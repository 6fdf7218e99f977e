#pragma once
// For the tests of Delivery.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/push/delivery.h"
#include "export/push/request_test_util.h"
#include "testing/fake_clock.h"
#include "testing/scripted_peer.h"

namespace kepler::push {

using status::PushDrop;
using status::PushFailure;

inline constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that gives the present answer to each request and keeps the bodies, and a delivery to it.
class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() { target_.peer = {.tls = false, .host = "127.0.0.1", .port = server_.port()}; }

  Delivery& Open(uint64_t max_bytes = 100, std::string directory = "") {
    DeliveryOptions options{.queue = {.max_bytes = max_bytes, .directory = std::move(directory)}};
    options.retry.jitter = 0;
    delivery_ = std::make_unique<Delivery>(target_, std::move(options), clock_);
    return *delivery_;
  }
  void Answer(std::string text) {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(text);
  }
  /// `head`: the status, and more headers if it has them. There is no body.
  void AnswerStatus(std::string_view head) { Answer(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", head)); }
  /// Sends the oldest request; returns the time until the next attempt.
  std::optional<Nanoseconds> Attempt(const std::stop_token& stop = {}) {
    delivery_->Attempt(stop);
    const auto next = delivery_->next_attempt();
    return next ? std::optional(*next - clock_.Now()) : std::nullopt;
  }
  uint64_t Failures(PushFailure failure) { return delivery_->status().failures[static_cast<size_t>(failure)]; }
  uint64_t Dropped(PushDrop reason) { return delivery_->status().dropped_points[static_cast<size_t>(reason)]; }
  std::vector<std::string> Received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

  testing::FakeClock clock_;
  std::mutex mutex_;
  std::string answer_{kOk};
  std::vector<std::string> received_, heads_;
  kepler::testing::ScriptedPeer server_{[this](kepler::testing::PeerConnection& client, const std::stop_token& stop) {
    const auto head = client.ReadHead();
    if (!head) return;
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t size = std::stoul(head->substr(head->find(kLength) + kLength.size()));
    const std::string body = client.ReadBytes(size);
    std::string answer;
    {
      const std::scoped_lock lock(mutex_);
      heads_.push_back(*head);
      received_.push_back(body);
      answer = answer_;
    }
    if (answer == "hang") return kepler::testing::WaitFor(stop);
    const bool is_endless = answer.ends_with("...");
    while (client.Send(answer) && is_endless) answer = std::string(10'000, 'x');
  }};
  Target target_{.exporter = "otlp",
                 .request = {.target = "/v1/metrics", .deadlines = {.total = std::chrono::seconds(30)}}};
  std::unique_ptr<Delivery> delivery_;
};

}  // namespace kepler::push
