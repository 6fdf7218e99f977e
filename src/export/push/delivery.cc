#include "export/push/delivery.h"

#include <fmt/format.h>

#include <limits>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::push {

using http::client::Answer;
using http::client::ClientRequest;
using status::PushDrop;
using status::PushFailure;

namespace {

constexpr size_t kMaxShown = 200;       // bytes of a server's text in the log
constexpr unsigned kUnsupported = 415;  // Unsupported Media Type

PushFailure FailureOf(const Result<Answer>& answer) {
  if (answer) {
    if (answer->status == 429 || answer->status == 503) return PushFailure::kThrottled;
    if (answer->status == 504) return PushFailure::kTimeout;  // of a proxy
    return answer->status / 100 == 5 ? PushFailure::kServer : PushFailure::kRefused;
  }
  switch (answer.error().kind) {
    case ErrorKind::kTimeout:
      return PushFailure::kTimeout;
    case ErrorKind::kPermission:
      return PushFailure::kCertificate;
    case ErrorKind::kInvalid:
      return PushFailure::kSetup;
    case ErrorKind::kMalformed:
      return PushFailure::kAnswer;
    default:
      return PushFailure::kConnection;
  }
}

/// Returns what the server said without the login and the values of the headers from index `first` on, which it may
/// repeat. Shorter values, such as the number of a tenant, are no secrets.
std::string HideSecrets(std::string_view said, const ClientRequest& request, size_t first) {
  constexpr size_t kMinSecret = 8;
  constexpr std::string_view kHidden = "<hidden>";
  std::string text = HideLogin(said, request);
  for (size_t i = first; i < request.headers.size(); ++i) {
    const std::string& value = request.headers[i].second;
    if (value.size() < kMinSecret) continue;
    for (size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + kHidden.size()))
      text.replace(at, value.size(), kHidden);
  }
  return text;
}

uint64_t& At(auto& counters, auto reason) { return counters[static_cast<size_t>(reason)]; }

}  // namespace

http::client::RetryPolicy DeliveryOptions::DefaultRetry() {
  return {.retries = std::numeric_limits<unsigned>::max(),
          .first_delay = std::chrono::seconds(1),
          .max_delay = std::chrono::seconds(30),
          .max_retry_after = std::chrono::minutes(10),
          .jitter = 0.2,
          .statuses = {429, 502, 503, 504}};
}

Delivery::Delivery(Target target, DeliveryOptions options, const Clock& clock)
    : target_(std::move(target)),
      options_(std::move(options)),
      clock_(clock),
      random_(std::random_device{}()),
      queue_(target_.exporter, options_.queue, clock) {
  status_.exporter = target_.exporter;
}

void Delivery::Open() {
  queue_.Open();
  NoteQueue();
}

void Delivery::Add(Request request) {
  queue_.Add(std::move(request));
  NoteQueue();
}

void Delivery::NoteQueue() {
  const QueueLosses losses = queue_.TakeLosses();
  if (losses.full_points > 0)
    limiter_.Say(log::Level::kWarn, "queue_full", clock_.Now(), "the queue of an exporter is full, dropped data points",
                 {{"exporter", std::string(target_.exporter)}, {"points", fmt::format("{}", losses.full_points)}});
  const std::scoped_lock lock(mutex_);
  At(status_.dropped_points, PushDrop::kQueueFull) += losses.full_points;
  At(status_.dropped_points, PushDrop::kFile) += losses.file_points;
  At(status_.failures, PushFailure::kFile) += losses.files;
  status_.queued_requests = queue_.requests();
  status_.queued_bytes = queue_.bytes();
}

std::optional<BootTime> Delivery::next_attempt() const {
  if (queue_.empty()) return std::nullopt;
  return not_before_;
}

Result<Delivery::Complete> Delivery::MakeRequest(const Request& first) const {
  Complete complete{.peer = target_.peer, .request = target_.request};
  ClientRequest& request = complete.request;
  request.method = http::client::Method::kPost;
  request.may_repeat = true;  // a repeated data point has the same time
  request.body = first.body;
  request.wanted_header = target_.written_header;
  if (target_.add_secrets) KEPLER_CHECK_OK(target_.add_secrets(complete.peer, request));
  KEPLER_CHECK_OK(http::client::CheckRequest(complete.peer, request));
  return complete;
}

Delivery::Outcome Delivery::Send(const Complete& complete, const std::stop_token& stop) {
  Outcome outcome;
  const auto take = [&](std::string_view piece) -> Status {
    outcome.has_2xx = true;
    if (outcome.body.size() + piece.size() > kMaxAnswer)
      return Fail(ErrorKind::kInvalid, fmt::format("the answer has more than {} bytes", kMaxAnswer));
    outcome.body += piece;
    return {};
  };
  outcome.answer = target_.send ? target_.send(complete.peer, complete.request, take, stop)
                                : client_.Send(complete.peer, complete.request, take, stop);
  return outcome;
}

void Delivery::Attempt(const std::stop_token& stop) {
  const Request* const first = queue_.First();
  NoteQueue();
  if (first == nullptr) {  // a file of the queue may be readable later
    if (!queue_.empty()) Postpone(options_.retry.Delay(++failures_, Random()));
    return;
  }
  const uint64_t points = first->points;
  const auto complete = MakeRequest(*first);
  if (!complete) {
    NoteFailure(PushFailure::kSetup, complete.error().message, "retrying");
    return Postpone(options_.retry.Delay(++failures_, Random()));
  }
  const ClientRequest& request = complete->request;
  const Outcome outcome = Send(*complete, stop);
  if (stop.stop_requested()) return;
  if (outcome.has_2xx) return Accept(outcome, request, points);
  const auto delay = options_.retry.Next(request, outcome.answer, ++failures_, Random(), clock_.Wall());
  if (!outcome.answer) patience_.Reset();
  const bool is_final = outcome.answer && IsRefused(outcome.answer->status, delay.has_value(), first->body);
  std::string text =
      outcome.answer ? Describe(*outcome.answer, request) : Hide(outcome.answer.error().message, request);
  if (outcome.answer && outcome.answer->status == kUnsupported) text = target_.unsupported_hint + text;
  NoteFailure(FailureOf(outcome.answer), text, is_final ? "dropped its data points" : "retrying");
  if (is_final) return Refuse(*outcome.answer, points);
  // Errors that only an operator can end, such as a wrong certificate, are retried too: the files may change.
  Postpone(delay ? *delay : options_.retry.Delay(failures_, Random()));
}

bool Delivery::IsRefused(unsigned status, bool may_retry, const http::client::SharedText& body) {
  // A wrong or expired token, a wrong or missing route, a login page: an operator can end these, and they say nothing
  // about the request. A directory keeps what waits.
  const bool is_operators = status == 401 || status == 403 || status == 404 || status / 100 == 3;
  if (is_operators && !options_.queue.directory.empty()) {
    patience_.Reset();
    return false;
  }
  if (failing_.lock() != body) patience_.Reset();
  failing_ = body;
  return patience_.EndsAt(clock_.Now()) || !may_retry;
}

std::string Delivery::Hide(std::string_view said, const ClientRequest& request) const {
  return HideSecrets(said, request, target_.request.headers.size());
}

std::string Delivery::Describe(const Answer& answer, const ClientRequest& request) const {
  const std::string reason = Hide(answer.body, request).substr(0, kMaxShown);
  if (target_.send) return fmt::format("{} answered {}", target_.peer.Url(), reason);
  if (!answer.location.empty())
    return fmt::format("{} answered {}: redirects to {}; set that URL", target_.peer.Url(), answer.status,
                       Hide(answer.location, request).substr(0, kMaxShown));
  return fmt::format("{} answered {}{}{}", target_.peer.Url(), answer.status, reason.empty() ? "" : ": ", reason);
}

void Delivery::Postpone(Nanoseconds delay) { not_before_ = clock_.Now() + delay; }

void Delivery::NoteFailure(PushFailure failure, std::string_view reason, std::string_view effect) {
  const std::string cause = fmt::format("{}, {}", ToString(failure), effect);
  limiter_.Say(log::Level::kWarn, cause, clock_.Now(), "failed to push data points",
               {{"exporter", std::string(target_.exporter)},
                {"reason", std::string(ToString(failure))},
                {"err", SanitizeUtf8(reason, kMaxShown * 2)},
                {"effect", std::string(effect)}});
  const std::scoped_lock lock(mutex_);
  ++At(status_.failures, failure);
}

status::PushStatus Delivery::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

std::optional<uint64_t> Delivery::Written(const Answer& answer, uint64_t points) const {
  if (target_.written_header.empty()) return std::nullopt;
  const auto written = ParseNumber<uint64_t>(answer.wanted);
  return written ? std::optional(std::min(*written, points)) : std::nullopt;
}

Result<Receipt> Delivery::ReadReceipt(const Outcome& outcome, uint64_t points) const {
  if (!outcome.answer) return std::unexpected(outcome.answer.error());
  if (target_.read_receipt) return target_.read_receipt(outcome.body);
  if (target_.written_header.empty()) return Receipt();
  if (const auto written = Written(*outcome.answer, points)) return Receipt{.rejected_points = points - *written};
  return Receipt{.rejected_points = points,
                 .message = fmt::format("{}the answer has no {}", target_.unsupported_hint, target_.written_header)};
}

void Delivery::Accept(const Outcome& outcome, const ClientRequest& request, uint64_t points) {
  const Result<Receipt> receipt = ReadReceipt(outcome, points);
  if (!receipt)
    NoteFailure(PushFailure::kAnswer, Hide(receipt.error().message, request),
                "assuming that the data points were accepted");
  const uint64_t rejected = receipt ? std::min(receipt->rejected_points, points) : 0;
  if (rejected > 0)
    NoteFailure(PushFailure::kPartial,
                fmt::format("{} data points rejected: {}", rejected, Hide(receipt->message, request)), "dropped them");
  {
    const std::scoped_lock lock(mutex_);
    At(status_.dropped_points, PushDrop::kPartial) += rejected;
    ++status_.requests;
    status_.points += points - rejected;
    status_.last_success = clock_.Wall();
  }
  RemoveFirst();
}

void Delivery::Refuse(const Answer& answer, uint64_t points) {
  const uint64_t written = Written(answer, points).value_or(0);
  {
    const std::scoped_lock lock(mutex_);
    At(status_.dropped_points, PushDrop::kRefused) += points - written;
    status_.points += written;
  }
  RemoveFirst();
}

void Delivery::RemoveFirst() {
  failures_ = 0;
  not_before_ = {};
  queue_.RemoveFirst();
  NoteQueue();
}

}  // namespace kepler::push
