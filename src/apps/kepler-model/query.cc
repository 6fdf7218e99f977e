// kepler-model query.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/progress.h"
#include "apps/kepler-model/server.h"
#include "apps/kepler-model/times.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "dataset/metrics.h"
#include "dataset/recording_json.h"
#include "model/json.h"
#include "model_files/files.h"

namespace kepler::model_tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

/// Of a series in one answer: Prometheus gives no more.
constexpr size_t kMaxPoints = 11'000;
constexpr size_t kFewestPoints = 60;
constexpr size_t kMaxNamesBytes = size_t{64} << 20;

struct Querying {
  std::string server;
  std::string start, end;
  Duration last{};
  Duration step = std::chrono::seconds(5);
  std::string node;
  std::vector<std::string> match;
  dataset::MetricNames metrics = dataset::MetricNames::kAuto;
  std::string bearer_token_file;
  std::string ca_file;
  Duration timeout = std::chrono::seconds(60);
  int retries = 4;
  std::string output;
  bool json = false;
};

constexpr std::string_view kQueriedNames[] = {"auto"sv, "kepler"sv, "legacy"sv};
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;

constexpr Key kQueryKeys[] = {
    Key("server", "server", "URL of a Prometheus, or of what answers as it does", kAt<&Querying::server>,
        {.required = true}),
    Key("start", "start", "From when: 2026-11-23T18:00:00Z or Unix seconds", kAt<&Querying::start>),
    Key("end", "end", "Until when, in the same ways; empty: now", kAt<&Querying::end>),
    Key("last", "last", "In place of start: how long before the end", kAt<&Querying::last>, {.min = 0}),
    Key("step", "step", "Time between two points; the scrape interval, or a part of it", kAt<&Querying::step>,
        {.min = kMillisecond, .max = 3600 * kSecond}),
    Key("node", "node", "Only that node (its node_name; with legacy metrics its instance)", kAt<&Querying::node>),
    Key("match", "match", R"(Only series with a label so: 'cluster="a"', 'job=~"kepler.*"')", kAt<&Querying::match>),
    Key("metrics", "metrics",
        "Whose metrics to take; kepler: this agent's, legacy: those of Kepler up to 0.10, auto: what there is",
        kAt<&Querying::metrics>, {.choices = kQueriedNames}),
    Key("bearer-token-file", "bearer-token-file", "File with a token for the server, which must speak TLS then",
        kAt<&Querying::bearer_token_file>, {.is_path = true}),
    Key("ca-file", "ca-file", "PEM file of the authority that the server's certificate is of; empty: the system's",
        kAt<&Querying::ca_file>, {.is_path = true}),
    Key("timeout", "timeout", "How long an answer may take, whole", kAt<&Querying::timeout>,
        {.min = 100 * kMillisecond, .max = 3600 * kSecond}),
    Key("retries", "retries", "How often to ask again after errors of the server (5xx), 429 and timeouts",
        kAt<&Querying::retries>, {.min = 0, .max = 100}),
    Key("output", "output", "File for what was recorded, as extract reads it; -: standard output",
        kAt<&Querying::output>, {.is_path = true, .required = true}),
    Key("json", "json", "Print what was recorded as JSON", kAt<&Querying::json>),
};
constexpr settings::TableOf<Querying> kQueryTable(kQueryKeys);

constexpr std::string_view kAboutQuery = R"(Records features and energies of nodes from a Prometheus.

Examples:
  kepler-model query --server=http://prometheus:9090 --last=1h --output=raw.json
  kepler-model query --server=https://prometheus/prefix --start=2026-11-23T18:00:00Z --end=2026-11-23T20:00:00Z \
      --node=worker-1 --bearer-token-file=token --ca-file=ca.pem --output=raw.json --json)";

double Now() { return std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count(); }
double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Result<TimeRange> RangeOf(const Querying& config) {
  TimeRange range{.end = Now()};
  if (!config.end.empty()) {
    KEPLER_TRY(range.end, ParseTime(config.end));
  }
  range.begin = range.end - InSeconds(config.last);
  if (!config.start.empty()) {
    KEPLER_TRY(range.begin, ParseTime(config.start));
  }
  // As they are sent: what is rounded once has as many points as it was split for.
  for (double* const time : {&range.begin, &range.end}) *time = std::round(*time * 1000) / 1000;
  if (range.begin >= range.end) return Fail(ErrorKind::kInvalid, "must lie before the end");
  if (range.begin < 0) return Fail(ErrorKind::kInvalid, "must lie after 1970");
  return range;
}

void CheckQuerying(settings::Draft& draft, Querying& config) {
  if (const auto server = ServerAt(config.server); !config.server.empty() && !server)
    draft.Reject("server", server.error().message);
  for (const auto& [key, text] : {std::pair("start", &config.start), std::pair("end", &config.end)})
    if (const auto time = ParseTime(*text); !text->empty() && !time) return draft.Reject(key, time.error().message);
  if (config.step % std::chrono::milliseconds(1) != Duration(0))
    draft.Reject("step", "must be whole milliseconds, as the server takes it");
  const bool has_last = config.last > Duration(0);
  if (config.start.empty() != has_last)
    draft.Reject("start", has_last ? "and last say the same; give one of them" : "or last must say from when");
  else if (const auto range = RangeOf(config); !range)
    draft.Reject(has_last ? "last" : "start", range.error().message);
  if (config.json && config.output == "-")
    draft.Reject("json", "needs another --output than -: both are standard output");
}

class Query {
 public:
  Query(const Querying& config, Server server, TimeRange range)
      : config_(config), server_(std::move(server)), range_(range) {}

  Status Run() {
    KEPLER_CHECK_OK(FindMetrics());
    const auto pieces = SplitRange(range_, InSeconds(config_.step), kMaxPoints);
    size_t done = 0;
    for (const std::string& metric : metrics_) {
      const size_t before = bytes_;
      for (size_t i = 0; i < pieces.size(); ++i) {
        progress_.Show(fmt::format("{} of {} queries, {} samples", done++, metrics_.size() * pieces.size(), samples_));
        KEPLER_CHECK_OK(Record(metric, pieces[i], kMaxPoints));
        KEPLER_CHECK_OK(CheckBytes(before + (bytes_ - before) / (i + 1) * pieces.size()));
      }
    }
    if (samples_ == 0)
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{}: no samples at that time{}", server_.peer.Url(),
                              config_.node.empty() && config_.match.empty() ? "" : " of that node and those labels"));
    return {};
  }

  [[nodiscard]] const dataset::Recording& recording() const { return recording_; }
  [[nodiscard]] std::string SummaryJson() const {
    return fmt::format(R"({{"metrics":"{}","names":{},"series":{},"samples":{},"not_finite_samples":{},"queries":{},)"
                       R"("retries":{},"start":{},"end":{}}})"
                       "\n",
                       kQueriedNames[static_cast<size_t>(names_)], recording_.metrics.size(),
                       dataset::CountSeries(recording_), samples_, recording_.not_finite, queries_, server_.retried,
                       range_.begin, range_.end);
  }
  [[nodiscard]] std::string SummaryLine() const {
    return fmt::format(
        "{} samples of {} series ({} metrics) in {} queries, {} of them again; {} samples were not finite", samples_,
        dataset::CountSeries(recording_), kQueriedNames[static_cast<size_t>(names_)], queries_, server_.retried,
        recording_.not_finite);
  }

 private:
  [[nodiscard]] std::string TimesOf(const TimeRange& range) const {
    return fmt::format("start={:.3f}&end={:.3f}", range.begin, range.end);
  }

  Result<std::set<std::string>> NamesThere() {
    std::string body;
    const auto take = [&](std::string_view piece) -> Status {
      body += piece;
      if (body.size() <= kMaxNamesBytes) return {};
      return Fail(ErrorKind::kMalformed, fmt::format("{}: too many names of metrics", server_.peer.Url()));
    };
    const std::string target = fmt::format("/api/v1/label/__name__/values?match%5B%5D={}&{}",
                                           UrlEncode("{__name__=~\"kepler_.+\"}"), TimesOf(range_));
    KEPLER_CHECK_OK(Ask(server_, target, [&] { body.clear(); }, take));
    auto names = ReadNames(body);
    if (!names) return Fail(names.error().kind, fmt::format("{}: {}", server_.peer.Url(), names.error().message));
    return names;
  }
  static Result<std::set<std::string>> ReadNames(std::string_view body) {
    KEPLER_TRY(const model::Json json, model::ParseJson(body));
    KEPLER_TRY(const model::JsonAt data, model::JsonAt(json).Member("data"));
    KEPLER_TRY(const auto elements, data.Elements());
    std::set<std::string> names;
    for (const model::JsonAt& element : elements) {
      KEPLER_TRY(const std::string_view name, element.Text());
      names.emplace(name);
    }
    return names;
  }

  Status FindMetrics() {
    KEPLER_TRY(const auto there, NamesThere());
    names_ = config_.metrics;
    if (names_ == dataset::MetricNames::kAuto)
      names_ = dataset::Detect([&](std::string_view metric) { return there.contains(std::string(metric)); });
    for (const std::string& name : there)
      if (dataset::IsWanted(names_, name)) metrics_.push_back(name);
    if (metrics_.empty())
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{} knows no {}metrics of Kepler at that time; is the agent scraped?", server_.peer.Url(),
                              names_ == dataset::MetricNames::kLegacy   ? "legacy "
                              : names_ == dataset::MetricNames::kKepler ? "suitable "
                                                                        : ""));
    return {};
  }

  [[nodiscard]] std::string SelectorOf(const std::string& metric) const {
    std::string matchers;
    if (!config_.node.empty())
      matchers = fmt::format("{}={}", names_ == dataset::MetricNames::kLegacy ? "instance" : "node_name",
                             model::JsonText(config_.node));
    for (const std::string& match : config_.match) matchers += (matchers.empty() ? "" : ",") + match;
    return fmt::format("{}{{{}}}", metric, matchers);
  }

  /// What extract would refuse is not worth waiting for: neither what there is nor, where it is far more, what there
  /// will be if the metric goes on as it did.
  [[nodiscard]] Status CheckBytes(size_t expected) const {
    if (bytes_ <= model_files::kMaxDataBytes && expected / 2 <= model_files::kMaxDataBytes) return {};
    return Fail(ErrorKind::kInvalid,
                fmt::format("the recording would have about {} MiB or more, and extract reads {} MiB at most; take a "
                            "shorter time, a longer step or single nodes",
                            std::max(bytes_, expected) >> 20, model_files::kMaxDataBytes >> 20));
  }

  /// In smaller pieces where the server has no room for so many samples at once.
  Status Record(const std::string& metric, const TimeRange& range, size_t points) {
    for (const TimeRange& piece : SplitRange(range, InSeconds(config_.step), points)) {
      Status asked = RecordPiece(metric, piece);
      if (asked) continue;
      if (!asked.error().message.contains("too many samples") || points <= kFewestPoints) return asked;
      KEPLER_CHECK_OK(Record(metric, piece, points / 2));
    }
    return {};
  }

  Status RecordPiece(const std::string& metric, const TimeRange& range) {
    std::optional<dataset::RecordingReader> reader;
    const std::string target = fmt::format("/api/v1/query_range?query={}&{}&step={:.3f}", UrlEncode(SelectorOf(metric)),
                                           TimesOf(range), InSeconds(config_.step));
    ++queries_;
    KEPLER_CHECK_OK(Ask(
        server_, target, [&] { reader.emplace(dataset::JsonLayout::kAnswer); },
        [&](std::string_view piece) { return InAnswer(reader->Read(piece)); }));
    auto got = reader->Finish();
    if (!got) return InAnswer(std::unexpected(got.error()));
    dataset::Recording named{.metrics = {}, .not_finite = got->not_finite};
    named.metrics[metric] = std::move(got->metrics[""]);
    samples_ += dataset::CountSamples(named);
    bytes_ += dataset::WriteRecordingJson(named).size();
    dataset::Append(recording_, std::move(named));
    if (samples_ <= dataset::kMaxSamples) return {};
    return Fail(ErrorKind::kInvalid,
                fmt::format("more than {} samples; take a shorter time or a longer step", dataset::kMaxSamples));
  }
  [[nodiscard]] Status InAnswer(Status read) const {
    if (read) return read;
    return Fail(read.error().kind, fmt::format("the answer of {}: {}", server_.peer.Url(), read.error().message));
  }

  const Querying& config_;
  Server server_;
  const TimeRange range_;
  dataset::MetricNames names_ = dataset::MetricNames::kAuto;
  std::vector<std::string> metrics_;
  dataset::Recording recording_;
  size_t samples_ = 0;
  size_t bytes_ = 0;  // about: as they will be written
  size_t queries_ = 0;
  Progress progress_;
};

Result<Server> ServerOf(const Querying& config) {
  KEPLER_TRY(Server server, ServerAt(config.server));
  if (!config.bearer_token_file.empty()) {
    KEPLER_TRY(const std::string token, ReadSmallFile(config.bearer_token_file));
    server.bearer_token = Trim(token);
  }
  if (!config.ca_file.empty()) {
    KEPLER_TRY(server.peer.ca, ReadSmallFile(config.ca_file));
  }
  server.timeout = std::chrono::ceil<std::chrono::milliseconds>(config.timeout);
  server.retries = config.retries;
  return server;
}

Status RecordAll(const Querying& config) {
  KEPLER_CHECK_OK(model_files::CheckWritable(config.output));
  KEPLER_TRY(Server server, ServerOf(config));
  KEPLER_TRY(const TimeRange range, RangeOf(config));
  std::string summary;
  {
    Query query(config, std::move(server), range);
    KEPLER_CHECK_OK(query.Run());
    const model_files::OutputFile file{config.output, dataset::WriteRecordingJson(query.recording())};
    KEPLER_CHECK_OK(model_files::WriteFiles({&file, 1}));
    summary = config.json ? query.SummaryJson() : query.SummaryLine();
  }
  if (config.json) return PrintResult(summary);
  Note(summary);
  return {};
}

}  // namespace

int RunQuery(std::span<const char* const> arguments) {
  return RunCommand<Querying>("query", kAboutQuery, arguments, kQueryTable, CheckQuerying, RecordAll);
}

}  // namespace kepler::model_tool
