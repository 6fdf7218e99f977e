#include "lab/recorder/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/percent.h"
#include "json/document.h"
#include "lab/dataset/guests.h"
#include "recording/recording_json.h"

namespace kepler::lab::recorder {
namespace {

/// Maximum number of points of a series in one response of Prometheus.
constexpr size_t kMaxPoints = 11'000;
constexpr size_t kFewestPoints = 60;  // a range with so few points is not halved
constexpr size_t kMaxNamesBytes = size_t{64} << 20;

std::string ParametersOf(const TimeRange& range) {
  return fmt::format("start={:.3f}&end={:.3f}", range.begin, range.end);
}

struct Names {
  std::set<std::string> names;
  recording::Recording warned;  // only warnings
};
Result<Names> ReadNames(std::string_view body) {
  KEPLER_TRY(const json::Value answer, json::Parse(body));
  const json::Cursor root(answer);
  KEPLER_TRY(const auto names, root.Texts("data"));
  return Names{.names = {names.begin(), names.end()},
               .warned = {.warnings = root.Texts("warnings").value_or(std::vector<std::string>())}};
}

std::string_view OfWhom(dataset::MetricNames names) {
  if (names == dataset::MetricNames::kLegacy) return "legacy ";
  return names == dataset::MetricNames::kKepler ? "suitable " : "";
}

class Asking {
 public:
  Asking(http::retrying::Server server, const Question& question, const std::function<void(std::string_view)>& report)
      : server_(std::move(server)), question_(question), report_(report) {}

  Result<Queried> Run() {
    KEPLER_CHECK_OK(FindMetrics());
    const auto pieces = SplitRange(question_.range, question_.step, kMaxPoints);
    size_t done = 0;
    for (const std::string& metric : metrics_) {
      const size_t before = bytes_;
      for (size_t i = 0; i < pieces.size(); ++i) {
        report_(fmt::format("{} of {} queries, {} samples", done++, metrics_.size() * pieces.size(), out_.samples));
        KEPLER_CHECK_OK(Record(metric, pieces[i]));
        KEPLER_CHECK_OK(CheckBytes(before + (bytes_ - before) / (i + 1) * pieces.size()));
      }
    }
    out_.retried = server_.retried;
    if (out_.samples > 0) return std::move(out_);
    const bool is_of_all = question_.node.empty() && question_.match.empty() && question_.vms.empty();
    return Fail(ErrorKind::kInvalid, fmt::format("{}: no samples at that time{}", server_.peer.Url(),
                                                 is_of_all ? "" : " of that node, those virtual machines and labels"));
  }

 private:
  Result<std::set<std::string>> NamesThere() {
    std::string body;
    const auto take = [&](std::string_view piece) -> Status {
      body += piece;
      if (body.size() <= kMaxNamesBytes) return {};
      return Fail(ErrorKind::kMalformed, fmt::format("{}: too many metric names", server_.peer.Url()));
    };
    const std::string target = fmt::format("/api/v1/label/__name__/values?match%5B%5D={}&{}",
                                           PercentEncode("{__name__=~\"kepler_.+\"}"), ParametersOf(question_.range));
    KEPLER_CHECK_OK(http::retrying::Ask(server_, target, [&] { body.clear(); }, take));
    auto read = ReadNames(body);
    if (!read) return Fail(read.error().kind, fmt::format("{}: {}", server_.peer.Url(), read.error().message));
    recording::Append(out_.recording, std::move(read->warned));
    return std::move(read->names);
  }

  Status FindMetrics() {
    KEPLER_TRY(const auto there, NamesThere());
    out_.names = question_.names;
    if (!question_.vms.empty()) out_.names = dataset::MetricNames::kKepler;
    if (out_.names == dataset::MetricNames::kAuto)
      out_.names = dataset::Detect([&](std::string_view metric) { return there.contains(std::string(metric)); });
    if (!question_.vms.empty() && !there.contains(std::string(dataset::kVmEnergy)))
      return Fail(ErrorKind::kInvalid, fmt::format("{} has no {} in that time; check that it scrapes the agent of the "
                                                   "host, and that the agent exports the level vm",
                                                   server_.peer.Url(), dataset::kVmEnergy));
    for (const std::string& name : there)
      if (IsWanted(name)) metrics_.push_back(name);
    if (!metrics_.empty()) return {};
    return Fail(ErrorKind::kInvalid, fmt::format("{} has no {}metrics of Kepler in that time; check that it scrapes "
                                                 "the agent",
                                                 server_.peer.Url(), OfWhom(out_.names)));
  }

  [[nodiscard]] bool IsWanted(std::string_view metric) const {
    if (question_.vms.empty()) return dataset::IsWanted(out_.names, metric);
    if (IsOfVms(metric) || IsOfHosts(metric)) return true;
    return !question_.node.empty() && dataset::IsWanted(out_.names, metric) &&
           std::ranges::find(dataset::EnergyMetrics(), metric) == dataset::EnergyMetrics().end();
  }
  static bool IsOfVms(std::string_view metric) {
    return metric == dataset::kVmEnergy || metric == dataset::kVmIdleEnergy;
  }
  /// Metrics with the time and the source of the energy of a virtual machine.
  static bool IsOfHosts(std::string_view metric) {
    return metric == dataset::kSnapshotTime || metric == dataset::kEnergySource;
  }

  [[nodiscard]] std::string Selector(std::string_view metric, std::string_view label, std::string_view value) const {
    std::string matchers;
    if (!value.empty()) matchers = fmt::format("{}={}", label, json::Quote(value));
    for (const std::string& match : question_.match) matchers += (matchers.empty() ? "" : ",") + match;
    return fmt::format("{}{{{}}}", metric, matchers);
  }

  [[nodiscard]] std::string SelectorOfVms(std::string_view metric) const {
    std::vector<std::string> selectors;
    for (const std::string& vm : question_.vms)
      for (const std::string_view label : {"vm_name", "vm_id"}) selectors.push_back(Selector(metric, label, vm));
    return fmt::format("{}", fmt::join(selectors, " or "));
  }

  [[nodiscard]] std::string SelectorOf(std::string_view metric) const {
    if (!question_.vms.empty() && IsOfVms(metric)) return SelectorOfVms(metric);
    const bool is_legacy = out_.names == dataset::MetricNames::kLegacy;
    std::string of_node = Selector(metric, is_legacy ? "instance" : "node_name", question_.node);
    if (question_.vms.empty() || !IsOfHosts(metric)) return of_node;
    const std::string of_hosts =
        fmt::format("{} and on (node_name) ({})", Selector(metric, "", ""), SelectorOfVms(dataset::kVmEnergy));
    return question_.node.empty() ? of_hosts : fmt::format("{} or ({})", of_node, of_hosts);
  }

  /// Refuses a recording that is too large for extract, as soon as this is certain or very likely. `expected`: bytes of
  /// the whole recording if the rest of the metric has as many bytes per point.
  [[nodiscard]] Status CheckBytes(size_t expected) const {
    if (bytes_ <= question_.max_bytes && expected / 2 <= question_.max_bytes) return {};
    return Fail(ErrorKind::kInvalid,
                fmt::format("the recording would have about {} MiB or more, but extract reads at most {} MiB; use a "
                            "shorter time, a longer step or single nodes",
                            std::max(bytes_, expected) >> 20, question_.max_bytes >> 20));
  }

  /// If the server refuses a request because of too many samples, requests both halves of the range, recursively.
  Status Record(const std::string& metric, const TimeRange& range) {
    Status asked = RecordPiece(metric, range);
    if (asked || !asked.error().message.contains("too many samples")) return asked;
    const size_t points = CountPoints(range, question_.step);
    if (points <= kFewestPoints) return asked;
    for (const TimeRange& half : SplitRange(range, question_.step, (points + 1) / 2))
      KEPLER_CHECK_OK(Record(metric, half));
    return {};
  }

  Status RecordPiece(const std::string& metric, const TimeRange& range) {
    std::optional<recording::RecordingReader> reader;
    const std::string target = fmt::format("/api/v1/query_range?query={}&{}&step={:.3f}",
                                           PercentEncode(SelectorOf(metric)), ParametersOf(range), question_.step);
    ++out_.queries;
    KEPLER_CHECK_OK(http::retrying::Ask(
        server_, target, [&] { reader.emplace(recording::JsonLayout::kAnswer); },
        [&](std::string_view piece) { return InAnswer(reader->Read(piece)); }));
    auto got = reader->Finish();
    if (!got) return InAnswer(std::unexpected(got.error()));
    recording::Recording named{.metrics = {}, .warnings = std::move(got->warnings), .not_finite = got->not_finite};
    // A compatible server may omit the metric's name.
    for (auto& [name, series] : got->metrics) std::ranges::move(series, std::back_inserter(named.metrics[metric]));
    out_.samples += recording::CountSamples(named);
    bytes_ += recording::WriteRecordingJson(named).size();
    recording::Append(out_.recording, std::move(named));
    if (out_.samples <= recording::kMaxSamples) return {};
    return Fail(ErrorKind::kInvalid,
                fmt::format("more than {} samples; use a shorter time or a longer step", recording::kMaxSamples));
  }
  [[nodiscard]] Status InAnswer(Status read) const {
    if (read) return read;
    return Fail(read.error().kind, fmt::format("response of {}: {}", server_.peer.Url(), read.error().message));
  }

  http::retrying::Server server_;
  const Question& question_;
  const std::function<void(std::string_view)>& report_;
  std::vector<std::string> metrics_;
  size_t bytes_ = 0;  // about: as they will be written
  Queried out_;
};

}  // namespace

Result<Queried> Query(http::retrying::Server server, const Question& question,
                      const std::function<void(std::string_view)>& report) {
  return Asking(std::move(server), question, report).Run();
}

}  // namespace kepler::lab::recorder
