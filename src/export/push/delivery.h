#pragma once
// Delivery: a bounded queue of encoded requests, and when each of them is sent. Requests leave the queue in order, once
// the server has accepted or refused them. Requests that the queue dropped are counted.
//
//   Add ──► queued ──Attempt──► accepted, accepted in part, or refused: removed
//             ▲────── later ──── no answer, 429, 502, 503, 504; with a directory also 3xx, 401, 403, 404
//
// A request whose attempts are all answered by such a status is refused after Patience: it may be what the server
// cannot take, and all others wait for it. While there is no answer, nothing is given up. Open(), Add() and Attempt()
// are for one thread, and may wait for a disk; status() is for any thread and never waits.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "export/push/encoded_request.h"
#include "export/push/patience.h"
#include "export/push/request_queue.h"
#include "http/client/client.h"
#include "http/client/retry.h"
#include "status/push_status.h"

namespace kepler::push {

/// What the server says in a 2xx.
struct Receipt {
  uint64_t rejected_points = 0;
  std::string message{};  // of the server, for the log; may be present without rejected points
};

/// The server, and how its protocol is spoken.
struct Target {
  std::string_view exporter;  // a literal, for metrics and the log: "otlp"
  http::client::Peer peer{};
  http::client::ClientRequest request{};  // without a body
  /// Adds certificates to a copy of `peer`, and headers and the login to a copy of `request`, before each attempt.
  /// Null: there are none.
  std::function<Status(http::client::Peer& peer, http::client::ClientRequest& request)> add_secrets{};
  /// Sends by another protocol than HTTP/1.1, as Client::Send() does. The answer has the HTTP status that fits best,
  /// and its body is the whole reason. Null: HTTP/1.1.
  std::function<Result<http::client::Answer>(const http::client::Peer& peer, const http::client::ClientRequest& request,
                                             const http::client::OnPiece& take, const std::stop_token& stop)>
      send{};
  /// Reads the body of a 2xx. Null: it has no meaning.
  std::function<Result<Receipt>(std::string_view answer)> read_receipt{};
  /// Name of a header of the answer with the number of data points that the server stored. "": there is none; otherwise
  /// a 2xx without it stored nothing.
  std::string written_header{};
  std::string unsupported_hint{};  // for the log, if the server does not know the protocol
};

struct DeliveryOptions {
  QueueOptions queue{};
  http::client::RetryPolicy retry = DefaultRetry();

  /// Retries until the request is dropped, with the statuses of OpenTelemetry's protocol.
  [[nodiscard]] static http::client::RetryPolicy DefaultRetry();
};

class Delivery {
 public:
  static constexpr size_t kMaxAnswer = 64 * 1024;  // bytes of a 2xx that are read

  /// `clock` must outlive it.
  Delivery(Target target, DeliveryOptions options, const Clock& clock);

  /// Takes the requests that earlier processes left in the queue's directory. To be called before requests are added.
  void Open();
  void Add(Request request);
  /// Time of the next attempt; nothing: the queue is empty.
  [[nodiscard]] std::optional<BootTime> next_attempt() const;
  /// Sends the oldest request, if there is one. After a stop nothing is counted.
  void Attempt(const std::stop_token& stop);
  [[nodiscard]] status::PushStatus status() const;

 private:
  /// With all secrets.
  struct Complete {
    http::client::Peer peer;
    http::client::ClientRequest request;
  };
  struct Outcome {
    Result<http::client::Answer> answer;
    bool has_2xx = false;  // the server accepted the request, even if its answer could not be read
    std::string body{};    // of the 2xx
  };

  [[nodiscard]] Result<Complete> MakeRequest(const Request& first) const;
  [[nodiscard]] Outcome Send(const Complete& complete, const std::stop_token& stop);
  [[nodiscard]] Result<Receipt> ReadReceipt(const Outcome& outcome, uint64_t points) const;
  /// Returns the number in Target::written_header, at most `points`; nothing if the answer has none.
  [[nodiscard]] std::optional<uint64_t> Written(const http::client::Answer& answer, uint64_t points) const;
  [[nodiscard]] std::string Hide(std::string_view said, const http::client::ClientRequest& request) const;
  [[nodiscard]] std::string Describe(const http::client::Answer& answer,
                                     const http::client::ClientRequest& request) const;
  /// The two remove the first request, of `points` data points.
  void Accept(const Outcome& outcome, const http::client::ClientRequest& request, uint64_t points);
  void Refuse(const http::client::Answer& answer, uint64_t points);
  /// True if the server has refused a request with this body for good; to be called once for each answer.
  [[nodiscard]] bool IsRefused(unsigned status, bool may_retry, const http::client::SharedText& body);
  void Postpone(Nanoseconds delay);
  void NoteFailure(status::PushFailure failure, std::string_view reason, std::string_view effect);
  void RemoveFirst();
  void NoteQueue();
  [[nodiscard]] double Random() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  const Target target_;
  const DeliveryOptions options_;
  const Clock& clock_;
  http::client::Client client_;
  std::minstd_rand random_;
  log::LogLimiter limiter_;
  RequestQueue queue_;
  unsigned failures_ = 0;  // in a row, without an answer that ends a request
  BootTime not_before_{};
  std::weak_ptr<const std::string> failing_;  // body of the request that patience_ is about
  Patience patience_;
  mutable std::mutex mutex_;
  status::PushStatus status_;  // guarded by mutex_
};

}  // namespace kepler::push
