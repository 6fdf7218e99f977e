#include "report/prometheus_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "export/series/figure_text.h"
#include "report/prometheus_range.h"
#include "report/workload_lives.h"

namespace kepler::report {
namespace {

constexpr size_t kMaxShown = 80;  // bytes of a name
constexpr std::chrono::milliseconds kMaxFirstInterval = std::chrono::minutes(1);
constexpr Energy kSameStart = Energy::Joules(1);  // a second: no agent starts twice in it

/// "{instance="n1:28282", job="kepler"}".
std::string Show(const recording::Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", SanitizeUtf8(name, kMaxShown),
                       QuoteJson(SanitizeUtf8(value, kMaxShown)));
  return "{" + out + "}";
}

}  // namespace

class PrometheusTicks::Impl {
 public:
  Impl(By by, std::vector<std::string> zones, Take take) : by_(by), zones_(std::move(zones)), take_(std::move(take)) {}

  Status Add(const recording::Recording& samples) {
    KEPLER_TRY(range_, ReadRange(by_, zones_, samples));
    for (const auto& [scrape, points] : range_.scrapes) TakeTick(scrape.first, range_.targets[scrape.second], points);
    range_ = {};
    for (auto& [name, node] : nodes_) node.lives.ForgetEnded();
    return {};
  }

  [[nodiscard]] std::vector<std::string> Notes() const {
    std::vector<std::string> notes = unknown_starts_;
    for (const auto& [name, node] : nodes_)
      if (node.left_out > 0)
        notes.push_back(fmt::format(
            "{}: {} of {} left out, because {} has the same node name at the same "
            "time; choose one with --match",
            SanitizeUtf8(name, kMaxShown), CountText(node.left_out, "scrape"), Show(node.other), Show(node.target)));
    return notes;
  }
  [[nodiscard]] size_t ticks() const { return ticks_; }

 private:
  struct Node {
    recording::Labels target{};
    Milliseconds last{};
    std::chrono::milliseconds interval{0};  // between two ticks, about; 0: not known
    std::string start{};                    // of the run; a text that is not a time: unknown
    std::optional<Energy> start_time{};     // of the agent, as in ScrapeSums
    std::vector<Energy> counters{};         // of the last tick
    WorkloadLives lives{};
    size_t left_out = 0;        // ticks of `other`
    recording::Labels other{};  // target
  };

  /// Two targets with one node name: the same agent scraped twice, or two machines. The first one counts while it
  /// lives.
  [[nodiscard]] bool IsLeftOut(Node& node, const ScrapeTarget& target, Milliseconds time) const {
    if (node.counters.empty() || node.target == target.labels) return false;
    const bool goes_on = std::ranges::any_of(range_.targets, [&](const ScrapeTarget& other) {
      return other.node == target.node && other.labels == node.target && other.last > time;
    });
    if (!goes_on && time - node.last > node.interval * 2) return false;
    ++node.left_out;
    node.other = target.labels;
    return true;
  }

  /// The server does not have the start times that tell the runs of an agent apart. `what`: why they matter.
  void NoteUnknownStart(const std::string& node, Milliseconds last, Milliseconds time, std::string_view what,
                        bool is_other) {
    constexpr size_t kMaxNotes = 10;
    if (unknown_starts_.size() >= kMaxNotes) return;
    unknown_starts_.push_back(fmt::format(
        "{}: {} between {} and {}, but the server does not know the start of the agent; {}",
        SanitizeUtf8(node, kMaxShown), is_other ? "the counters began at 0 again" : what, series::TimeText(last),
        series::TimeText(time),
        is_other ? "the last energy of the old agent is missing" : "if it is a new agent, energy is missing"));
  }

  /// So long a time without a scrape that a new agent may have counted more than the old one had.
  static bool IsGap(const Node& node, Milliseconds time) {
    const std::chrono::milliseconds max =
        node.interval.count() == 0 ? kMaxFirstInterval : node.interval * kMaxIntervals;
    return time - node.last > max;
  }

  /// True if `now` is of another run of the agent than the last tick of the node. Sets the start of the run.
  bool BeginsRun(Node& node, const ScrapeTarget& target, Milliseconds time, const ScrapeSums& sums) {
    const std::vector<Energy>& now = sums.counters;
    const auto show = [](Energy seconds) { return fmt::format("{:.3f}", seconds.ToJoules()); };
    const std::optional<Energy> before = std::exchange(node.start_time, sums.start);
    if (node.counters.empty()) {
      node.start = sums.start ? show(*sums.start) : "unknown";
      return true;
    }
    if (before && sums.start) {
      if (*sums.start <= *before + kSameStart && *before <= *sums.start + kSameStart) return false;
      node.start = show(*sums.start);
      return true;
    }
    const auto has_fallen = [&](size_t count) {
      for (size_t i = 0; i < count; ++i)
        if (now[i] < node.counters[i]) return true;
      return false;
    };
    const std::string_view doubt = node.target != target.labels ? "the target changed"
                                   : has_fallen(now.size())     ? "a counter fell"
                                   : IsGap(node, time)          ? "no scrape is known"
                                                                : "";
    const auto last = Energy::Microjoules(std::chrono::microseconds(node.last.time_since_epoch()).count());
    const bool is_newer = sums.start && *sums.start > last;
    if (doubt.empty() && !is_newer) return false;
    const bool is_other = is_newer || has_fallen(zones_.size());
    if (is_other) node.start = show(sums.start.value_or(last));
    if (!sums.start) NoteUnknownStart(target.node, node.last, time, doubt, is_other);
    return is_other;
  }

  void TakeTick(Milliseconds time, const ScrapeTarget& target, std::span<const RangePoint> points) {
    const ScrapeSums sums = SumsOf(range_, points, zones_.size());
    if (!sums.has_total) return;  // a sample at the time at which a counter was 0
    Node& node = nodes_[target.node];
    if ((!node.counters.empty() && time <= node.last) || IsLeftOut(node, target, time)) return;
    if (BeginsRun(node, target, time, sums))
      node.lives.BeginRun();
    else
      node.interval = node.interval.count() == 0 ? time - node.last : std::min(time - node.last, node.interval * 2);
    node.counters = sums.counters;
    node.target = target.labels;
    node.last = time;
    ++ticks_;
    EmitNode(target.node, time, node.start, sums);
    if (sums.adds_up) node.lives.BeginTick();
    EmitWorkloads(node, target.node, time, sums.adds_up, points);
    EmitRest(target.node, time, sums);
  }

  [[nodiscard]] ZoneEnergies ByZone(std::span<const Energy> energies) const {
    ZoneEnergies out;
    for (size_t zone = 0; zone < zones_.size(); ++zone) out.emplace_back(zones_[zone], energies[zone]);
    return out;
  }
  static EnergyLine LineOf(const std::string& node, Milliseconds time, std::string_view level) {
    EnergyLine line;
    line.time = time;
    line.node = node;
    line.level = level;
    return line;
  }

  void EmitNode(const std::string& name, Milliseconds time, const std::string& start, const ScrapeSums& sums) const {
    EnergyLine line = LineOf(name, time, "node");
    line.start = start;
    line.is_divided = sums.has_active;
    for (size_t zone = 0; zone < zones_.size(); ++zone) {
      line.zone = zones_[zone];
      line.joules = {{zones_[zone], sums.total[zone]}};
      line.active = sums.active[zone];
      line.idle = sums.idle[zone];
      take_(line);
    }
  }

  void EmitRest(const std::string& name, Milliseconds time, const ScrapeSums& sums) const {
    EnergyLine line = LineOf(name, time, "unattributed");
    line.joules = ByZone(sums.unattributed);
    take_(line);
    if (!sums.has_unlisted) return;
    line.level = "unlisted";
    line.of = LevelOf(by_);
    for (size_t i = 0; i < kUnlistedReasons.size(); ++i) {
      line.reason = kUnlistedReasons[i];
      line.joules = ByZone(sums.unlisted[i]);
      take_(line);
    }
  }

  /// The report leaves out a tick that does not add up. A workload that is missing in it has not ended.
  void EmitWorkloads(Node& node, const std::string& name, Milliseconds time, bool adds_up,
                     std::span<const RangePoint> points) {
    EnergyLine line = LineOf(name, time, LevelOf(by_));
    for (auto begin = points.begin(); begin != points.end();) {
      const size_t workload = range_.series[begin->series].workload;
      const auto end = std::find_if(begin, points.end(), [&](const RangePoint& point) {
        return range_.series[point.series].workload != workload;
      });
      EmitWorkload(node, std::span(begin, end), adds_up, line);
      begin = end;
    }
  }

  /// `points`: of the same workload, its ended series first.
  void EmitWorkload(Node& node, std::span<const RangePoint> points, bool adds_up, EnergyLine& line) {
    RangeSeries& first = range_.series[points.front().series];
    if (first.series.kind != SeriesKind::kWorkload) return;
    const auto middle =
        std::ranges::find_if(points, [&](const RangePoint& p) { return !range_.series[p.series].series.is_ended; });
    const std::span ended(points.begin(), middle), running(middle, points.end());
    const auto sum = [](std::span<const RangePoint> of) {
      std::optional<Energy> energy;
      for (const RangePoint& point : of) energy = energy.value_or(Energy()) + point.energy;
      return energy;
    };
    if (first.life == nullptr) first.life = node.lives.Find(first.key);
    const auto generations =
        adds_up ? node.lives.Advance(*first.life, sum(ended), sum(running)) : WorkloadLives::Generations{};
    std::swap(line.texts, first.series.texts);  // a copy for each sample takes long
    for (const auto& [of, generation] :
         {std::pair(ended, generations.ended), std::pair(running, generations.running)}) {
      if (of.empty()) continue;
      line.key = std::to_string(generation);
      line.joules.clear();
      for (const RangePoint& point : of)
        line.joules.emplace_back(zones_[range_.series[point.series].zone], point.energy);
      take_(line);
    }
    std::swap(line.texts, first.series.texts);
  }

  const By by_;
  const std::vector<std::string> zones_;
  const Take take_;
  std::map<std::string, Node, std::less<>> nodes_;
  PrometheusRange range_{};  // of Add()
  std::vector<std::string> unknown_starts_;
  size_t ticks_ = 0;
};

PrometheusTicks::PrometheusTicks(By by, std::vector<std::string> zones, Take take)
    : impl_(std::make_unique<Impl>(by, std::move(zones), std::move(take))) {}
PrometheusTicks::~PrometheusTicks() = default;
Status PrometheusTicks::Add(const recording::Recording& samples) { return impl_->Add(samples); }
std::vector<std::string> PrometheusTicks::Notes() const { return impl_->Notes(); }
size_t PrometheusTicks::ticks() const { return impl_->ticks(); }

}  // namespace kepler::report
