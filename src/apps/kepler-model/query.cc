// kepler-model query.
#include "lab/recorder/query.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/parse_time.h"
#include "base/text.h"
#include "http/retrying/retrying_server.h"
#include "json/document.h"
#include "lab/dataset/metrics.h"
#include "lab/files/files.h"
#include "lab/judging/data.h"
#include "recording/recording_json.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

struct Querying {
  std::string server;
  std::string start, end;
  Duration last{};
  Duration step = std::chrono::seconds(5);
  std::string node;
  std::vector<std::string> vm;
  std::vector<std::string> match;
  dataset::MetricNames metrics = dataset::MetricNames::kAuto;
  std::string bearer_token_file;
  std::string user;
  std::string password_file;
  std::string ca_file;
  Duration timeout = std::chrono::seconds(60);
  int retries = 4;
  std::string output;
  bool json = false;
};

constexpr std::string_view kQueriedNames[] = {"auto"sv, "kepler"sv, "legacy"sv};
constexpr size_t kMaxCertificates = size_t{1} << 20;
constexpr size_t kMaxWarning = 300;  // bytes
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;

constexpr Key kQueryKeys[] = {
    Key("server", "server", "URL of a Prometheus server or a compatible server", kAt<&Querying::server>,
        {.required = true}),
    Key("start", "start", "Start time: 2026-11-23T18:00:00Z or Unix seconds", kAt<&Querying::start>),
    Key("end", "end", "End time in the same formats; empty: now", kAt<&Querying::end>),
    Key("last", "last", "Time range before the end, instead of --start", kAt<&Querying::last>, {.min = 0}),
    Key("step", "step", "Time between two points, at most the scrape interval", kAt<&Querying::step>,
        {.min = kMillisecond, .max = 3600 * kSecond}),
    Key("node", "node", "Node to record: its node_name, with legacy metrics its instance", kAt<&Querying::node>),
    Key("vm", "vm",
        "Names or ids of virtual machines, to record the energy that the agents of their hosts attribute to them. With "
        "--node, the features of that guest are recorded, too; without --node, nothing else",
        kAt<&Querying::vm>),
    Key("match", "match", R"(Label matcher of the series to record: 'cluster="a"', 'job=~"kepler.*"')",
        kAt<&Querying::match>),
    Key("metrics", "metrics",
        "Metrics to record; kepler: this agent's, legacy: Kepler's up to 0.10, auto: those on the server",
        kAt<&Querying::metrics>, {.choices = kQueriedNames}),
    Key("bearer-token-file", "bearer-token-file", "File with a bearer token for the server; requires TLS",
        kAt<&Querying::bearer_token_file>, {.is_path = true}),
    Key("user", "user", "User name for basic authentication; requires TLS", kAt<&Querying::user>),
    Key("password-file", "password-file", "File with the password of --user; a trailing line end is ignored",
        kAt<&Querying::password_file>, {.is_path = true}),
    Key("ca-file", "ca-file",
        "PEM file with the CA that signed the server's certificate; empty: the CAs of the "
        "system",
        kAt<&Querying::ca_file>, {.is_path = true}),
    Key("timeout", "timeout", "Timeout of a request", kAt<&Querying::timeout>,
        {.min = 100 * kMillisecond, .max = 3600 * kSecond}),
    Key("retries", "retries",
        "Maximum number of retries after server errors (5xx), 429 and timeouts; Retry-After is honoured",
        kAt<&Querying::retries>, {.min = 0, .max = 100}),
    Key("output", "output", "File for the recording, to be read by extract; -: standard output", kAt<&Querying::output>,
        {.is_path = true, .required = true}),
    Key("json", "json", "Print the summary as JSON", kAt<&Querying::json>),
};
constexpr settings::TableOf<Querying> kQueryTable(kQueryKeys);

constexpr std::string_view kAboutQuery = R"(Records features and energies of nodes from a Prometheus server.

Examples:
  kepler-model query --server=http://prometheus:9090 --last=1h --output=raw.json
  kepler-model query --server=https://prometheus/prefix --start=2026-11-23T18:00:00Z --end=2026-11-23T20:00:00Z \
      --node=worker-1 --bearer-token-file=token --ca-file=ca.pem --output=raw.json --json
  kepler-model query --server=http://prometheus:9090 --last=1h --vm=web-1 --output=host.json)";

double Now() { return std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count(); }
double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Result<recorder::TimeRange> RangeOf(const Querying& config) {
  recorder::TimeRange range{.end = Now()};
  if (!config.end.empty()) {
    KEPLER_TRY(range.end, ParseTime(config.end));
  }
  range.begin = range.end - InSeconds(config.last);
  if (!config.start.empty()) {
    KEPLER_TRY(range.begin, ParseTime(config.start));
  }
  // As they are sent: what is rounded once has as many points as it was split for.
  for (double* const time : {&range.begin, &range.end}) *time = std::round(*time * 1000) / 1000;
  if (range.begin >= range.end) return Fail(ErrorKind::kInvalid, "must be before the end");
  if (range.begin < 0) return Fail(ErrorKind::kInvalid, "must be after 1970");
  return range;
}

void CheckLogin(settings::Draft& draft, const Querying& config) {
  if (config.user.empty() != config.password_file.empty())
    draft.Reject(config.user.empty() ? "user" : "password-file", "is missing: set --user and --password-file together");
  if (!config.user.empty() && !config.bearer_token_file.empty())
    draft.Reject("user", "cannot be combined with --bearer-token-file");
  if (config.user.contains(':')) draft.Reject("user", "must not contain a colon");
}

void CheckQuerying(settings::Draft& draft, const Querying& config) {
  CheckLogin(draft, config);
  if (const auto server = http::retrying::ServerAt(config.server); !config.server.empty() && !server)
    draft.Reject("server", server.error().message);
  for (const auto& [key, text] : {std::pair("start", &config.start), std::pair("end", &config.end)})
    if (const auto time = ParseTime(*text); !text->empty() && !time) return draft.Reject(key, time.error().message);
  if (config.step % std::chrono::milliseconds(1) != Duration(0)) draft.Reject("step", "must be whole milliseconds");
  const bool has_last = config.last > Duration(0);
  if (config.start.empty() != has_last)
    draft.Reject("start", has_last ? "cannot be combined with --last" : "is missing: set --start or --last");
  else if (const auto range = RangeOf(config); !range)
    draft.Reject(has_last ? "last" : "start", range.error().message);
  if (!config.vm.empty() && config.metrics == dataset::MetricNames::kLegacy)
    draft.Reject("metrics", "legacy metrics have no energy of virtual machines");
  if (config.json && config.output == "-")
    draft.Reject("json", "cannot be combined with --output=-, because both use standard output");
}

std::string SummaryJson(const recorder::Queried& got, const recorder::TimeRange& range) {
  return fmt::format(R"({{"metrics":"{}","names":{},"series":{},"samples":{},"not_finite_samples":{},"queries":{},)"
                     R"("retries":{},"start":{},"end":{},"warnings":{}}})"
                     "\n",
                     kQueriedNames[static_cast<size_t>(got.names)], got.recording.metrics.size(),
                     dataset::CountSeries(got.recording), got.samples, got.recording.not_finite, got.queries,
                     got.retried, range.begin, range.end, json::QuoteList(got.recording.warnings));
}

std::string SummaryLine(const recorder::Queried& got) {
  return fmt::format("{} samples of {} series ({} metrics) in {} queries with {} retries; {} samples were not finite",
                     got.samples, dataset::CountSeries(got.recording), kQueriedNames[static_cast<size_t>(got.names)],
                     got.queries, got.retried, got.recording.not_finite);
}

Result<http::retrying::Server> ServerOf(const Querying& config) {
  KEPLER_TRY(http::retrying::Server server, http::retrying::ServerAt(config.server));
  if (!config.bearer_token_file.empty()) {
    KEPLER_TRY(const std::string token, files::ReadSecret(config.bearer_token_file));
    server.bearer_token = Trim(token);
  }
  if (!config.user.empty()) {
    server.user = config.user;
    KEPLER_TRY(server.password, files::ReadSecret(config.password_file));  // blanks may be a part of it
  }
  if (!config.ca_file.empty()) {
    KEPLER_TRY(server.peer.ca, files::ReadBounded(config.ca_file, kMaxCertificates));
  }
  server.timeout = std::chrono::ceil<std::chrono::milliseconds>(config.timeout);
  server.retries = config.retries;
  return server;
}

Result<recorder::Queried> Record(const Querying& config, const recorder::TimeRange& range) {
  KEPLER_TRY(http::retrying::Server server, ServerOf(config));
  const Progress progress;
  server.say = [&](std::string_view line) {
    progress.Clear();
    Note(line);
  };
  return recorder::Query(std::move(server),
                         {.range = range,
                          .step = InSeconds(config.step),
                          .node = config.node,
                          .vms = judging::SplitItems(config.vm),
                          .match = config.match,
                          .names = config.metrics,
                          .max_bytes = files::kMaxDataBytes},
                         [&](std::string_view text) { progress.Show(text); });
}

Status RecordAll(const Querying& config) {
  KEPLER_CHECK_OK(files::CheckWritable(config.output));
  KEPLER_TRY(const recorder::TimeRange range, RangeOf(config));
  KEPLER_TRY(const recorder::Queried got, Record(config, range));
  KEPLER_CHECK_OK(files::WriteFile(config.output, recording::WriteRecordingJson(got.recording)));
  for (const std::string& warning : got.recording.warnings)
    Note(fmt::format("{} warns: {}", config.server, SanitizeUtf8(warning, kMaxWarning)));
  if (config.json) return PrintResult(SummaryJson(got, range));
  Note(SummaryLine(got));
  return {};
}

}  // namespace

int RunQuery(std::span<const char* const> arguments) {
  return RunCommand<Querying>("query", kAboutQuery, arguments, kQueryTable, RecordAll, CheckQuerying);
}

}  // namespace kepler::lab::tool
