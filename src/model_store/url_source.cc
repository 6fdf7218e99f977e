#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "http/client/redirection.h"
#include "http/client/retry.h"
#include "model_store/guarded.h"
#include "model_store/source.h"

namespace kepler::model_store {
namespace {

/// A model server of Kepler 0.7 has no such path. It answers in HTML; `kepler-model serve` answers 404 in
/// plain text if it has no model.
bool IsOldServer(const http::client::Answer& answer) {
  return (answer.status == 404 || answer.status == 405) && !ToLowerAscii(answer.wanted).starts_with("text/plain");
}

/// Returns the reason that a model server gives; "" if the answer is an HTML page.
std::string ReasonIn(const http::client::Answer& refusal) {
  constexpr size_t kMaxReason = 300;
  const std::string_view text = Trim(refusal.body);
  return text.empty() || text.starts_with('<') ? "" : ": " + EscapeControls(SanitizeUtf8(text, kMaxReason));
}

}  // namespace

void UrlSource::LoadLocal(Look& look) {
  const auto kept = LoadKept();
  if (!kept && kept.error().kind == ErrorKind::kNotFound) return;
  const Result<bool> taken = kept ? Take(*kept) : std::unexpected(kept.error());
  if (!taken)
    look.problems.push_back(
        {taken.error().kind, fmt::format("{}: cached copy: {}", place_.shown, taken.error().message)});
  else if (*taken) {
    look.changed = true;
    kept_ = kept->signature();
  }
}

Result<UrlSource::Answer> UrlSource::LoadKept() const {
  KEPLER_TRY(IncomingText whole, cache_.Load(place_.CacheKey(keys_ != nullptr), budget_));
  const size_t signature_bytes = keys_ == nullptr ? 0 : PublicKeys::kSignatureBytes;
  if (whole.text().size() < signature_bytes)
    return kepler::Fail(ErrorKind::kMalformed, "it is too short to contain a model and a signature");
  return Answer{.whole = std::move(whole), .signature_bytes = signature_bytes};
}

Result<bool> UrlSource::Take(const Answer& answer) {
  if (keys_ != nullptr) KEPLER_CHECK_OK(keys_->Verify(answer.text(), answer.signature()));
  return loaded_.Take({.text = answer.text(),
                       .name = place_.name,
                       .source = place_.shown,
                       .sha256 = place_.sha256,
                       .chosen = place_.is_named,
                       .output = place_.output,
                       .output_otherwise = OutputOf(place_.shown),
                       .is_signed = keys_ != nullptr,
                       .read_archive = archives_,
                       .query = place_.query ? &*place_.query : nullptr});
}

Result<UrlSource::Fetched> UrlSource::Fetch(const std::stop_token& stop) {
  Answer answer{.whole = IncomingText(budget_)};
  http::client::Client client;  // one connection for all requests
  KEPLER_TRY(const http::client::Answer head,
             Send(client, answer.whole, place_.url->target, "", budget_.limits().model, stop));
  if (place_.query && IsOldServer(head)) return FetchOld(client, stop);
  KEPLER_CHECK_OK(CheckAnswer(head));
  if (keys_ != nullptr) KEPLER_CHECK_OK(FetchSignature(client, answer, stop));
  KEPLER_TRY(const bool is_new, Take(answer));
  return Fetched{.answer = std::move(answer), .is_new = is_new};
}

Result<UrlSource::Fetched> UrlSource::FetchOld(http::client::Client& client, const std::stop_token& stop) {
  constexpr std::string_view kOld = "the server is a model server of Kepler 0.7";
  if (keys_ != nullptr)
    return kepler::Fail(ErrorKind::kInvalid,
                        fmt::format("{}: its models have no signature, and model.publicKey requires one", kOld));
  Status first;
  for (std::string& body : OldBodies(*place_.query)) {
    Answer answer{.whole = IncomingText(budget_)};
    KEPLER_TRY(const http::client::Answer head,
               Send(client, answer.whole, place_.OldTarget(), std::move(body), budget_.limits().model, stop));
    const Status good = CheckAnswer(head);
    const Result<bool> taken = good ? Take(answer) : std::unexpected(good.error());
    if (taken) return Fetched{.answer = std::move(answer), .is_new = *taken};
    if (first) first = std::unexpected(taken.error());
  }
  return kepler::Fail(first.error().kind, fmt::format("{}: {}", kOld, first.error().message));
}

Status UrlSource::FetchSignature(http::client::Client& client, Answer& answer, const std::stop_token& stop) const {
  constexpr size_t kMaxSignatureBytes = 4096;
  const size_t text_bytes = answer.whole.text().size();
  const auto head = Send(client, answer.whole, place_.SignatureTarget(), "", kMaxSignatureBytes, stop);
  const Status good = head ? CheckAnswer(*head) : std::unexpected(head.error());
  if (!good) return kepler::Fail(good.error().kind, "its signature cannot be read: " + good.error().message);
  answer.signature_bytes = answer.whole.text().size() - text_bytes;
  return {};
}

Result<http::client::Answer> UrlSource::Send(http::client::Client& client, IncomingText& into,
                                             const std::string& target, std::string body, size_t most,
                                             const std::stop_token& stop) const {
  http::client::ClientRequest request{.target = target,
                                      .deadlines = {.silence = times_.silence, .total = times_.total},
                                      .max_bytes = most,
                                      .wanted_header = "Content-Type"};
  if (!place_.user.empty()) {
    request.user = place_.user;
    KEPLER_TRY(request.password, ReadSecretFile(place_.password_file));
  }
  if (!body.empty()) {
    request.method = http::client::Method::kPost;
    request.content_type = "application/json";
    request.body = std::make_shared<const std::string>(std::move(body));
    request.may_repeat = true;  // it changes nothing
  }
  const auto take = [&into](std::string_view piece) { return into.Append(piece); };
  return client.Send(place_.url->peer, request, take, stop);
}

Status UrlSource::CheckAnswer(const http::client::Answer& answer) const {
  if (answer.ok()) return {};
  std::string why = http::client::DescribeRedirection(place_.url->peer, answer);
  if (why.empty()) why = fmt::format("the server answered {}", answer.status);
  if (place_.query) why += ReasonIn(answer);
  return kepler::Fail(answer.status == 404 ? ErrorKind::kNotFound : ErrorKind::kUnavailable, std::move(why));
}

void UrlSource::Refresh(Look& look, const std::stop_token& stop) {
  const bool is_pinned = !place_.sha256.empty() && loaded_.sha256() == place_.sha256;
  next_ = clock_.Now() + Spread(times_.refresh);
  look.at_place = true;
  if (is_pinned) return;
  ++look.refreshes;
  const auto fetched = Guarded("", [&] { return Fetch(stop); });
  if (stop.stop_requested()) return;
  if (!fetched) return Fail(look, fetched.error());
  if (std::exchange(failures_, 0) > 0) log::Info("fetched a power model again after failures", {{"url", place_.shown}});
  look.changed = look.changed || fetched->is_new;
  if (fetched->is_new || kept_ != fetched->answer.signature()) Keep(fetched->answer, fetched->is_new, look);
}

/// A model that could not be saved is saved again after the next answer. The error is logged once per model.
void UrlSource::Keep(const Answer& answer, bool is_new, Look& look) {
  const Status kept = cache_.Save(place_.CacheKey(keys_ != nullptr), answer.whole.text());
  kept_.reset();
  if (kept) kept_ = answer.signature();
  if (!kept && is_new)
    look.not_kept.push_back({kept.error().kind, fmt::format("{}: {}", place_.shown, kept.error().message)});
}

void UrlSource::Fail(Look& look, const Error& error) {
  ++look.failed_refreshes;
  look.problems.push_back({error.kind, fmt::format("{}: {}", place_.shown, error.message)});
  const http::client::RetryPolicy policy{.first_delay = kFirstDelay,
                                         .max_delay = std::max<Nanoseconds>(times_.refresh, kFirstDelay)};
  next_ = clock_.Now() + Spread(policy.Delay(++failures_, 0));
}

Nanoseconds UrlSource::Spread(Nanoseconds time) const {
  const double factor = 1 + times_.jitter * (2 * times_.random() - 1);
  return Nanoseconds(static_cast<int64_t>(static_cast<double>(time.count()) * factor));
}

double RandomShare() {
  static thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

void UrlSource::AddTo(model::ModelSet& set) const {
  if (loaded_.known()) set.push_back(loaded_.known());
}

}  // namespace kepler::model_store
