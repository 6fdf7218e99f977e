#include "report/command/report_prometheus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/parse.h"
#include "base/percent.h"
#include "base/small_file.h"
#include "json/document.h"
#include "recording/recording_json.h"
#include "report/prometheus_series.h"
#include "report/prometheus_ticks.h"

namespace kepler::report::command {
namespace {

using report::By;
using report::Milliseconds;
using std::chrono::milliseconds;

/// Samples in one answer: 16 bytes each, and 32 more while they are sorted.
constexpr size_t kMaxSamples = 1'000'000;
constexpr size_t kWantedSamples = kMaxSamples / 2;
constexpr size_t kMaxZonesBytes = size_t{1} << 20;
constexpr milliseconds kFirstRange = std::chrono::minutes(10);
constexpr milliseconds kLongestRange = std::chrono::hours(24);
constexpr milliseconds kShortestRange = std::chrono::seconds(1);
/// An older sample is not a current one for Prometheus either.
constexpr milliseconds kLookBack = std::chrono::minutes(5);

std::string Seconds(Milliseconds time) {
  return fmt::format("{:.3f}", static_cast<double>(time.time_since_epoch().count()) / 1e3);
}

/// Servers limit the samples, chunks, bytes or time of a query in different words. 429 limits the requests.
bool IsTooLarge(const Error& error) {
  constexpr std::array kWords = {"too many", "more than", "limit", "exceed", "timed out"};
  return error.kind == ErrorKind::kInvalid && !error.message.contains(" answered 429") &&
         std::ranges::any_of(kWords, [&](const char* word) { return error.message.contains(word); });
}

/// Prometheus answers 503 to a query that took too long. A shorter range helps, and a retry does not.
bool HasTimedOut(const Error& error) {
  return error.message.contains(" answered 503") && error.message.contains("timed out");
}

std::string Join(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

/// The length of the next range, after one of `length` with that number of samples.
milliseconds NextLength(milliseconds length, size_t samples) {
  if (samples * 2 <= kWantedSamples) return std::min(length * 2, kLongestRange);
  if (samples <= kWantedSamples) return length;
  return std::max(length / 2, kShortestRange);
}

}  // namespace

Result<PrometheusSource> PrometheusSource::Open(const PrometheusAccess& access, Say say) {
  KEPLER_TRY(http::retrying::Server server, http::retrying::ServerAt(access.url));
  for (const auto& [path, secret] : {std::pair(&access.bearer_token_file, &server.bearer_token),
                                     std::pair(&access.password_file, &server.password)}) {
    if (path->empty()) continue;
    KEPLER_TRY(*secret, ReadSecretFile(*path));
  }
  if (!access.ca_file.empty()) {
    KEPLER_TRY(server.peer.ca, ReadSmallFile(access.ca_file));
  }
  server.user = access.user;
  server.timeout = std::chrono::ceil<milliseconds>(access.timeout);
  server.say = std::move(say);
  KEPLER_CHECK_OK(http::client::CheckPeer(server.peer));
  return PrometheusSource(std::move(server), access.match);
}

std::unexpected<Error> PrometheusSource::InAnswer(const Error& error) const {
  return Fail(error.kind, fmt::format("response of {}: {}", server_.peer.Url(), error.message));
}

void PrometheusSource::Keep(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    warnings_.insert(fmt::format("{} warns: {}", server_.peer.Url(), warning));
}

Result<std::vector<std::string>> PrometheusSource::ZonesOf(const PrometheusQuery& query) {
  const std::string_view metrics =
      query.by == By::kNode ? "kepler_node_(cpu|platform)_joules_total" : "kepler_node_cpu_active_joules_total";
  std::string selector = fmt::format(R"({{__name__=~"{}")", metrics);
  for (const std::string& match : match_) selector += "," + match;
  const std::string target =
      fmt::format("/api/v1/label/zone/values?match%5B%5D={}&start={}&end={}", PercentEncode(selector + "}"),
                  Seconds(query.from - kLookBack), Seconds(query.to));
  std::string body;
  const auto take = [&](std::string_view piece) -> Status {
    body += piece;
    if (body.size() <= kMaxZonesBytes) return {};
    return Fail(ErrorKind::kMalformed, fmt::format("response of {}: too many zones", server_.peer.Url()));
  };
  KEPLER_CHECK_OK(http::retrying::Ask(server_, target, [&] { body.clear(); }, take));
  const auto parsed = json::Parse(body);
  if (!parsed) return InAnswer(parsed.error());
  const json::Cursor root(*parsed);
  const auto known = root.Texts("data");
  if (!known) return InAnswer(known.error());
  Keep(root.Texts("warnings").value_or(std::vector<std::string>()));
  if (known->empty())
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("{} has no energy of nodes in the period{}; check the period, and that it scrapes the agents",
                    server_.peer.Url(), match_.empty() ? "" : " with the labels of --match"));
  for (const std::string& zone : query.zones)
    if (std::ranges::find(*known, zone) == known->end())
      return Fail(ErrorKind::kInvalid, fmt::format("{} has no zone '{}'{}; it has {}", server_.peer.Url(), zone,
                                                   query.by == By::kNode ? "" : " that workloads share", Join(*known)));
  if (!query.zones.empty()) return query.zones;
  const bool has_package = std::ranges::find(*known, "package") != known->end();
  return std::vector<std::string>{has_package ? "package" : known->front()};
}

Result<recording::Recording> PrometheusSource::Ask(const std::string& selector, const Range& range) {
  std::optional<recording::RecordingReader> reader;
  const std::string query = fmt::format("{}[{}ms]", selector, (range.end - range.begin).count());
  const std::string target = fmt::format("/api/v1/query?query={}&time={}", PercentEncode(query), Seconds(range.end));
  const auto take = [&](std::string_view piece) -> Status {
    if (const Status read = reader->Read(piece); !read) return InAnswer(read.error());
    return {};
  };
  KEPLER_CHECK_OK(
      http::retrying::Ask(server_, target, [&] { reader.emplace(recording::JsonLayout::kAnswer, kMaxSamples); }, take));
  auto read = reader->Finish();
  if (!read) return InAnswer(read.error());
  return read;
}

/// Makes the range shorter if its answer is too large.
Result<recording::Recording> PrometheusSource::AskHalves(const std::string& selector, Range& range) {
  while (true) {
    auto answer = Ask(selector, range);
    const milliseconds length = range.end - range.begin;
    if (answer || !IsTooLarge(answer.error()) || length <= kShortestRange) return answer;
    range.end = range.begin + std::max(length / 2, kShortestRange);
  }
}

Result<std::vector<std::string>> PrometheusSource::Read(const PrometheusQuery& query,
                                                        const std::function<void(const report::EnergyLine&)>& take) {
  const std::string selector = report::SelectorOf(query.by, query.zones, match_);
  server_.is_final = HasTimedOut;
  report::PrometheusTicks ticks(query.by, query.zones, take);
  milliseconds length = kFirstRange;
  for (Milliseconds begin = query.from - kLookBack; begin < query.to;) {
    Range range{.begin = begin, .end = std::min(begin + length, query.to)};
    KEPLER_TRY(const recording::Recording answer, AskHalves(selector, range));
    if (const Status added = ticks.Add(answer); !added) return InAnswer(added.error());
    Keep(answer.warnings);
    length = NextLength(range.end - range.begin, recording::CountSamples(answer));
    begin = range.end;
  }
  if (ticks.ticks() == 0)
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} has no samples of zone {} in the period", server_.peer.Url(), Join(query.zones)));
  std::vector<std::string> notes = ticks.Notes();
  notes.insert(notes.end(), warnings_.begin(), warnings_.end());
  return notes;
}

}  // namespace kepler::report::command
