#pragma once
// EnergyBook adds up the lines of files of JSON lines: the increments of every series between two ticks. A series that
// ends between two ticks is in the node's "departed" energy of its level; what its last line did not have yet is in the
// rest of the report. So the sum of all rows and of the rest is the node's energy. Pure; one thread.
//
// A new start time of the node's energy is another run of its agent: its totals count from 0 if the run began within
// the period, otherwise from its first tick. A run that ended never goes on. If it seems so, two agents have one node
// name: ticks of the earlier run are left out, and the report has a note.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "report/energy_line.h"
#include "report/energy_report.h"
#include "report/intensity.h"

namespace kepler::report {

class EnergyBook {
 public:
  struct Options {
    By by = By::kNamespace;
    std::vector<std::string> zones{};    // added up; empty: package, else the first zone that workloads share
    std::optional<Milliseconds> from{};  // empty: the first tick of each node
    std::optional<Milliseconds> to{};    // empty: the last one
    Intensity intensity{};
    std::string_view source = "the files";  // of the lines, for errors: a plural
    bool is_sorted = false;                 // all ticks of a node come in the order of time: their times are not kept
  };
  explicit EnergyBook(Options options) : options_(std::move(options)) {}

  /// Lines of one tick and node follow each other; ticks of a node are in the order of time.
  void Add(const EnergyLine& line);
  /// The report. kInvalid if the lines have no tick in the period, or nothing about the level or the zones.
  [[nodiscard]] Result<Report> Close();

 private:
  static constexpr size_t kReasons = 5;  // of unlisted energy
  enum class LineKind : uint8_t { kOtherLevel, kNode, kSample, kUnattributed, kUnlisted };
  struct NodeZone {
    std::string name;
    std::string start;
    Energy total;
    Energy active;
    Energy idle;
    bool is_divided = false;
  };
  struct Series {
    Energy energy;
    size_t row = 0;
    uint64_t tick = 0;  // 0: of no tick that was counted
  };
  struct Sample {
    Series* series = nullptr;  // of the node
    Energy energy;
  };
  struct Node;
  struct Tick {
    std::string node;
    Node* state = nullptr;  // of `node`
    Milliseconds time{};
    std::vector<NodeZone> zones;
    std::optional<Energy> unattributed;
    std::array<std::optional<Energy>, kReasons> unlisted;
    std::vector<Sample> samples;
  };
  /// Totals of a tick that later ones are compared with.
  struct Totals {
    Energy total;
    Energy active;
    Energy idle;
    Energy unattributed;
    std::array<Energy, kReasons> unlisted{};
  };
  /// Times of two ticks that follow each other in a run of the agent.
  struct Step {
    Milliseconds from;
    Milliseconds to;
    bool is_first = false;  // of the run
  };
  struct Node {
    std::vector<Milliseconds> times;        // of all ticks, sorted; the first and the last one of a sorted source
    std::vector<Step> steps;                // the first ones, until the interval is known
    std::chrono::milliseconds interval{0};  // between two ticks, about; 0: not known
    Milliseconds first{};                   // begin of its energy in the report
    Milliseconds run{};                     // first tick of the run
    Milliseconds since{};                   // begin of the energy that the next tick adds
    bool is_counted = false;                // its energy is in the report
    std::string start;                      // of the run; empty: there was no tick
    std::set<std::string> ended;            // starts of earlier runs
    size_t foreign = 0;                     // ticks of earlier runs, left out: another agent has this node name
    bool is_shared = false;                 // ticks of two runs overlap
    Milliseconds last{};
    uint64_t ticks = 0;
    Totals totals;
    std::unordered_map<std::string, Series> series;
  };

  [[nodiscard]] Energy Sum(const ZoneEnergies& energies) const;
  void ChooseZone();
  [[nodiscard]] LineKind KindOf(std::string_view level) const;
  void AddNode(const EnergyLine& line);
  void AddSample(const EnergyLine& line);
  [[nodiscard]] size_t RowOf(std::string name, std::string_view id);
  void NameRows();
  void NoteSharedNames();
  void NoteUnmeasured();
  void NoteIntensity();
  void CloseTick();
  [[nodiscard]] bool IsComplete() const;
  [[nodiscard]] bool AddsUp(const Totals& totals) const;
  [[nodiscard]] std::optional<Milliseconds> BeginOfRun() const;
  [[nodiscard]] bool Remember(std::vector<Milliseconds>& times) const;
  void ForEachAmount(const std::function<void(Amount&)>& change);
  void PrependBins();
  [[nodiscard]] bool IsForeign(Node& node, const std::string& start) const;
  void StartRun(Node& node, const std::string& start);
  void FindGap(Node& node);
  void LearnInterval(const std::string& name, Node& node);
  void CheckStep(const std::string& name, Node& node, const Step& step);
  void FindMissingEnds(const std::string& name, const Node& node);
  [[nodiscard]] std::optional<Totals> TotalsOfTick(std::string& start) const;
  void Count(Node& node, const Totals& now, bool is_counted);
  [[nodiscard]] Energy CountSeries(Node& node, bool is_counted);
  void Put(Energy energy, Amount& amount);
  void WidenBins();
  [[nodiscard]] Status CheckContent() const;
  [[nodiscard]] std::string OtherLevels() const;
  [[nodiscard]] std::string LeftOut() const;

  Options options_;
  Tick tick_;
  Milliseconds used_since_{};  // begin of the energy that the tick adds
  double grams_per_kwh_ = 0;   // of this energy
  std::map<std::string, Node, std::less<>> nodes_;
  std::unordered_map<std::string, size_t> row_of_;     // by name
  std::unordered_map<std::string, size_t> row_of_id_;  // of workloads without a name
  std::unordered_map<std::string, size_t> named_;      // rows with names, by id
  Report report_;
  std::array<Amount, kReasons + 2> rest_;  // by reason, then unattributed, idle
  std::set<std::string> known_zones_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> unmeasured_;  // nodes by zone and origin
  std::set<std::string> other_levels_;                                               // that the lines have
  std::string level_;                                                                // of the last line
  LineKind kind_ = LineKind::kOtherLevel;                                            // of `level_`
  std::string key_;  // of the last series: keeps its memory
  bool has_level_ = false;
  bool is_divided_ = true;
};

}  // namespace kepler::report
