#pragma once
// A node that writes lines, and what a report makes of them, for tests of EnergyBook.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "export/json_lines/lines.h"
#include "export/series/visit.h"
#include "report/energy_book.h"
#include "testing/snapshot_builder.h"

namespace kepler::report {

inline constexpr int64_t kBookStart = 1'700'000'000;

inline std::vector<std::string> LinesOf(const snapshot::Snapshot& snapshot, const std::string& node) {
  std::string text;
  json_lines::AppendLines(snapshot, {.node = node, .levels = series::kAllLevels}, text);
  std::vector<std::string> lines;
  Splitter split(text, '\n');
  while (const auto line = split.Next())
    if (!line->empty()) lines.emplace_back(*line);
  return lines;
}

/// A node whose agent writes lines. Pods get energy, and end.
class FakeNode {
 public:
  /// `source`: of its meter.
  explicit FakeNode(std::string name = "n1", std::string source = "rapl")
      : name_(std::move(name)), source_(std::move(source)) {
    Restart(0);
  }

  void Restart(int64_t second) {
    begin_ = now_ = second;
    pods_.clear();
    departed_ = capped_ = unattributed_ = idle_ = Energy();
  }
  void Use(const std::string& pod, int64_t microjoules) { pods_[pod] += Energy::Microjoules(microjoules); }
  /// The pod has only its id until then.
  void UseUnnamed(const std::string& pod, int64_t microjoules) {
    if (unnamed_.insert(pod).second) End(pod);
    Use(pod, microjoules);
  }
  void Name(const std::string& pod) {
    End(pod);
    unnamed_.erase(pod);
  }
  void Idle(int64_t microjoules) { idle_ += Energy::Microjoules(microjoules); }
  void Nobody(int64_t microjoules) { unattributed_ += Energy::Microjoules(microjoules); }
  void Cap(int64_t microjoules) { capped_ += Energy::Microjoules(microjoules); }
  void End(const std::string& pod) {
    departed_ += pods_[pod];
    pods_.erase(pod);
  }
  /// The lines of a tick at that second.
  std::vector<std::string> Tick(int64_t second) {
    auto snapshot = testing::EmptySnapshot({"package"});
    snapshot.zones[0].source = source_;
    snapshot.taken_at = WallTime(std::chrono::seconds(kBookStart + second));
    snapshot.begun = BootTime(std::chrono::seconds(1'000 + second));
    snapshot.started = BootTime(std::chrono::seconds(1'000 + begin_));
    Energy active = departed_ + capped_ + unattributed_;
    for (const auto& [name, energy] : pods_) {
      active += energy;
      const bool has_name = !unnamed_.contains(name);
      testing::AddRow(
          snapshot.pods,
          snapshot::PodIdentity{.id = "id-" + name, .name = has_name ? name : "", .name_space = has_name ? "shop" : ""},
          {energy});
    }
    const auto level = static_cast<size_t>(snapshot::Level::kPod);
    snapshot.unlisted[level][0][0] = departed_;
    snapshot.unlisted[level][1][0] = capped_;
    snapshot.unattributed[0] = unattributed_;
    snapshot.node[0].active = active;
    snapshot.node[0].idle = idle_;
    snapshot.node[0].total = active + idle_;
    return LinesOf(snapshot, name_);
  }

 private:
  std::string name_, source_;
  int64_t begin_ = 0, now_ = 0;
  std::map<std::string, Energy> pods_;
  std::set<std::string> unnamed_;
  Energy departed_, capped_, unattributed_, idle_;
};

inline Milliseconds At(int64_t second) { return Milliseconds(std::chrono::seconds(kBookStart + second)); }

inline Result<Report> ReportOf(const std::vector<std::string>& lines, EnergyBook::Options options) {
  EnergyBook book(std::move(options));
  LineReader reader;
  for (const std::string& line : lines) {
    const auto read = reader.Read(line);
    if (!read) return std::unexpected(read.error());
    book.Add(**read);
  }
  return book.Close();
}

inline void Append(std::vector<std::string> more, std::vector<std::string>& to) {
  to.insert(to.end(), more.begin(), more.end());
}

inline Energy SumOf(const Report& report) {
  Energy sum;
  for (const Row& row : report.rows) sum += row.amount.energy;
  for (const Row& row : report.rest) sum += row.amount.energy;
  return sum;
}

inline int64_t In(const std::vector<Row>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? -1 : row->amount.energy.microjoules();
}

}  // namespace kepler::report
