#include "lab/recorder/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lab/dataset/exposition.h"
#include "lab/dataset/metrics.h"

namespace kepler::lab::recorder {
namespace {

/// Seconds until a load is steady and the agent's snapshots show it.
constexpr double kSettle = 1.5;
constexpr size_t kMaxFailuresInARow = 5;
/// If the agent's clock moves by more seconds relative to this machine's clock, somebody has set it. A page may be as
/// old as the agent's staleness, so smaller differences are normal.
constexpr double kMaxDrift = 15;

bool IsWantedHere(std::string_view metric) {
  return metric != dataset::kSnapshotTime && dataset::IsWanted(dataset::MetricNames::kKepler, metric);
}

std::string NameOf(const dataset::Phase& phase) {
  return phase.instances == 0 ? phase.stressor : fmt::format("{} x {}", phase.stressor, phase.instances);
}

double DurationOf(const dataset::Phase& phase, const Pace& pace) {
  return phase.instances == 0 ? pace.idle : pace.duration;
}

class Collector {
 public:
  Collector(const Pace& pace, double wall, Bench& bench) : pace_(pace), bench_(bench), offset_(wall - bench.Now()) {}

  Result<Collected> Run(std::span<const dataset::Phase> phases, const dataset::ExtractOptions& options) {
    KEPLER_CHECK_OK(JudgeFirstPage(options));
    for (size_t i = 0; i < phases.size() && !out_.was_stopped; ++i) {
      const double left = LengthOf(phases.subspan(i), pace_);
      bench_.Say(fmt::format("{} of {}: {}, {:.0f} s; {:.0f} min left", i + 1, phases.size(), NameOf(phases[i]),
                             DurationOf(phases[i], pace_), std::ceil(left / 60)));
      KEPLER_CHECK_OK(RunPhase(phases[i]));
      if (!out_.was_stopped && i + 1 < phases.size()) Wait(bench_.Now() + pace_.pause);
    }
    return std::move(out_);
  }

 private:
  void Wait(double time) { out_.was_stopped = out_.was_stopped || !bench_.WaitUntil(time); }

  /// Checks the first page before the loads run, which can take hours.
  Status JudgeFirstPage(const dataset::ExtractOptions& options) {
    KEPLER_TRY(const std::string page, bench_.Scrape());
    recording::Recording first;
    KEPLER_CHECK_OK(dataset::AddExposition(page, TimeOf(page, bench_.Now() + offset_), IsWantedHere, first));
    if (first.metrics.empty())
      return Fail(ErrorKind::kInvalid, "the page has no metric of Kepler; check that the URL is an agent's");
    return dataset::CheckSeries(std::move(first), options);
  }

  Status RunPhase(const dataset::Phase& phase) {
    if (phase.instances > 0) {
      if (const Status started = bench_.StartLoad(phase); !started) {
        bench_.Say(fmt::format("skipping {}: {}", NameOf(phase), started.error().message));
        ++out_.failed_phases;
        return {};
      }
    }
    is_new_ = true;
    const size_t failed = out_.failed_phases;
    const Status measured = Measure(phase);
    bench_.StopLoad();
    if (measured && is_new_ && !out_.was_stopped && out_.failed_phases == failed) {
      bench_.Say(fmt::format("{} has no rows: the agent made no snapshot during it", NameOf(phase)));
      ++out_.failed_phases;
    }
    return measured;
  }

  Status Measure(const dataset::Phase& phase) {
    const double end = bench_.Now() + DurationOf(phase, pace_);
    Wait(bench_.Now() + std::min(kSettle, DurationOf(phase, pace_) / 4));
    settled_ = bench_.Now() + offset_;
    for (double next = bench_.Now(); !out_.was_stopped; Wait(next)) {
      if (phase.instances > 0) {
        if (const Status load = bench_.CheckLoad(); !load) {
          bench_.Say(fmt::format("{} ended early: {}", NameOf(phase), load.error().message));
          ++out_.failed_phases;
          return {};
        }
      }
      KEPLER_CHECK_OK(Record(phase));
      next = std::max(next + pace_.interval, bench_.Now());  // scrapes may take longer than planned
      if (next > end) return {};
    }
    return {};
  }

  Status Record(const dataset::Phase& phase) {
    Status recorded = RecordPage(phase);
    if (recorded) {
      failures_ = 0;
      return {};
    }
    if (out_.recording.metrics.empty()) return recorded;
    ++out_.failed_scrapes;
    bench_.Say(recorded.error().message);
    if (++failures_ < kMaxFailuresInARow) return {};
    bench_.Say("all scrapes fail; writing the rows so far");
    out_.was_stopped = true;
    return {};
  }

  Status RecordPage(const dataset::Phase& phase) {
    KEPLER_TRY(const std::string page, bench_.Scrape());
    const double now = bench_.Now() + offset_;
    const double time = TimeOf(page, now);
    if (is_new_ && time < settled_) return {};
    KEPLER_CHECK_OK(dataset::AddExposition(page, time, IsWantedHere, out_.recording));
    if (out_.recording.metrics.empty())
      return Fail(ErrorKind::kInvalid,
                  "the page has no metric of Kepler any more; check whether the agent was "
                  "replaced");
    if (std::exchange(is_new_, false)) out_.lasted.push_back({.phase = phase, .begin = time, .end = time});
    out_.lasted.back().end = time;
    return {};
  }

  /// Returns the time of the agent's snapshot by this machine's clock. If somebody sets the agent's clock, the times of
  /// snapshots still advance as they did. The freshest page gives the difference between the two clocks.
  double TimeOf(const std::string& page, double now) {
    const auto taken = dataset::FindSample(page, dataset::kSnapshotTime);
    if (!taken) return now;
    const double ahead = *taken - now;
    const bool was_set = ahead_ && std::abs(ahead - *ahead_) >= kMaxDrift + pace_.interval;
    ahead_ = ahead_ && !was_set ? std::max(*ahead_, ahead) : ahead;
    return *taken - *ahead_;
  }

  const Pace& pace_;
  Bench& bench_;
  const double offset_;          // from Now() to Unix seconds
  std::optional<double> ahead_;  // the agent's clock before ours
  double settled_ = 0;           // Unix seconds: from when the load is steady
  size_t failures_ = 0;          // in a row
  bool is_new_ = true;           // nothing of this phase was recorded yet
  Collected out_;
};

}  // namespace

double LengthOf(std::span<const dataset::Phase> phases, const Pace& pace) {
  double length = 0;
  for (const dataset::Phase& phase : phases) length += DurationOf(phase, pace) + pace.pause;
  return phases.empty() ? 0 : length - pace.pause;
}

Result<Collected> Collect(std::span<const dataset::Phase> phases, const Pace& pace, double wall,
                          const dataset::ExtractOptions& options, Bench& bench) {
  return Collector(pace, wall, bench).Run(phases, options);
}

}  // namespace kepler::lab::recorder
