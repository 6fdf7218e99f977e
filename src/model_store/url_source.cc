#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "http/client/redirection.h"
#include "http/client/retry.h"
#include "model_store/guarded.h"
#include "model_store/source.h"

namespace kepler::model_store {
namespace {

std::string Describe(const http::client::Peer& peer, const http::client::Answer& refusal) {
  const std::string redirection = http::client::DescribeRedirection(peer, refusal);
  return redirection.empty() ? fmt::format("the server answered {}", refusal.status) : redirection;
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
                       .query = place_.query ? &*place_.query : nullptr});
}

Result<UrlSource::Answer> UrlSource::Fetch(const std::stop_token& stop) const {
  constexpr size_t kMaxSignatureBytes = 4096;
  Answer answer{.whole = IncomingText(budget_)};
  http::client::Client client;  // one connection for both files
  KEPLER_CHECK_OK(FetchInto(client, answer.whole, place_.url->target, budget_.limits().model, stop));
  if (keys_ == nullptr) return answer;
  const size_t text_bytes = answer.whole.text().size();
  if (const Status fetched = FetchInto(client, answer.whole, place_.SignatureTarget(), kMaxSignatureBytes, stop);
      !fetched)
    return kepler::Fail(fetched.error().kind, "its signature cannot be read: " + fetched.error().message);
  answer.signature_bytes = answer.whole.text().size() - text_bytes;
  return answer;
}

Status UrlSource::FetchInto(http::client::Client& client, IncomingText& into, const std::string& target, size_t most,
                            const std::stop_token& stop) const {
  const http::client::ClientRequest request{
      .target = target, .deadlines = {.silence = times_.silence, .total = times_.total}, .max_bytes = most};
  const auto take = [&into](std::string_view piece) { return into.Append(piece); };
  KEPLER_TRY(const http::client::Answer refusal, client.Send(place_.url->peer, request, take, stop));
  if (refusal.ok()) return {};
  return kepler::Fail(refusal.status == 404 ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
                      Describe(place_.url->peer, refusal));
}

void UrlSource::Refresh(Look& look, const std::stop_token& stop) {
  const bool is_pinned = !place_.sha256.empty() && loaded_.sha256() == place_.sha256;
  next_ = clock_.Now() + Spread(times_.refresh);
  look.at_place = true;
  if (is_pinned) return;
  ++look.refreshes;
  const auto answer = Guarded("", [&] { return Fetch(stop); });
  if (stop.stop_requested()) return;
  const Result<bool> taken = answer ? Guarded("", [&] { return Take(*answer); }) : std::unexpected(answer.error());
  if (!taken) return Fail(look, taken.error());
  if (std::exchange(failures_, 0) > 0)
    log::Info("fetched a power model again after failures", {{"source", place_.shown}});
  look.changed = look.changed || *taken;
  if (*taken || kept_ != answer->signature()) Keep(*answer, *taken, look);
}

/// What could not be kept is tried again with each answer, and said of each model once.
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
