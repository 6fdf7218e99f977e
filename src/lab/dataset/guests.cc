#include "lab/dataset/guests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "lab/dataset/metrics.h"
#include "lab/dataset/targets.h"

namespace kepler::lab::dataset {
namespace {

using std::string;
using std::string_view;

constexpr string_view kNodeCpu = "kepler_node_cpu_seconds_total";

template <class... Arguments>
std::unexpected<Error> RefuseJoin(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return Fail(ErrorKind::kInvalid, SanitizeUtf8(fmt::format(text, std::forward<Arguments>(arguments)...), 1000));
}

string_view VmName(const Labels& labels) {
  const string_view name = LabelOf(labels, "vm_name");
  return name.empty() ? LabelOf(labels, "vm_id") : name;
}
bool IsOf(const Labels& labels, string_view vm) {
  return LabelOf(labels, "vm_name") == vm || LabelOf(labels, "vm_id") == vm;
}

class Joining {
 public:
  Joining(Recording& guests, Recording host) : guests_(guests), host_(std::move(host)) {}

  Result<Joined> Run(std::span<const GuestVm> vms) {
    if (host_.metrics.empty()) host_ = guests_;
    Dropped dropped;
    OrderSamples(host_, dropped, out_.notes);
    KEPLER_CHECK_OK(FindBoth());
    KEPLER_TRY(const auto pairs, vms.empty() ? PairByName() : PairAsSet(vms));
    for (const auto& [node, vm] : pairs) KEPLER_CHECK_OK(Join(node, vm));
    for (const string_view metric : EnergyMetrics()) guests_.metrics.erase(string(metric));
    guests_.metrics[string(EnergyMetrics().front())] = std::move(energies_);
    return std::move(out_);
  }

 private:
  using Pairs = std::map<string, string>;

  Status FindBoth() {
    for (const Series& series : SeriesOf(guests_, kNodeCpu)) {
      const Target target = TargetOf(series.labels);
      targets_[target.node].insert(target);
    }
    for (const Series& series : SeriesOf(host_, kVmEnergy)) names_.emplace(VmName(series.labels));
    for (const string_view metric : {EnergyMetrics().front(), kEnergySource})
      for (const Series& series : SeriesOf(host_, metric))
        if (LabelOf(series.labels, "path") == kEstimatedPath)
          estimated_.emplace(LabelOf(series.labels, "node_name"), LabelOf(series.labels, "zone"));
    if (targets_.empty())
      return RefuseJoin("no features of guests: {} is missing; record the agents in the guests", kNodeCpu);
    if (names_.empty())
      return RefuseJoin("no energy of virtual machines: {} is missing; record it at the host with query --vm=NAME",
                        kVmEnergy);
    return {};
  }

  /// Returns the virtual machines by node.
  Result<Pairs> PairByName() {
    Pairs pairs;
    for (const string& name : names_)
      if (targets_.contains(name)) pairs[name] = name;
    if (pairs.empty() && targets_.size() == 1 && names_.size() == 1) pairs[targets_.begin()->first] = *names_.begin();
    if (!pairs.empty()) return pairs;
    return RefuseJoin("no node has the name of a virtual machine; set --vm=NODE=VM; nodes: {}; virtual machines: {}",
                      fmt::join(Nodes(), ", "), fmt::join(names_, ", "));
  }

  Result<Pairs> PairAsSet(std::span<const GuestVm> vms) {
    Pairs pairs;
    for (const GuestVm& wanted : vms) {
      string node = wanted.node;
      if (node.empty())
        node = targets_.contains(wanted.vm) || targets_.size() > 1 ? wanted.vm : targets_.begin()->first;
      if (!targets_.contains(node))
        return RefuseJoin("no node \"{}\" in the recording of the guests; set --vm=NODE=VM; available: {}", node,
                          fmt::join(Nodes(), ", "));
      if (const auto [place, is_new] = pairs.emplace(node, wanted.vm); !is_new)
        return RefuseJoin("node \"{}\" has two virtual machines: {}, {}; set one", node, place->second, wanted.vm);
    }
    return pairs;
  }

  Status Join(const string& node, const string& vm) {
    std::set<string> ids;
    bool has_idle = false;
    for (const string_view metric : {kVmEnergy, kVmIdleEnergy})
      for (const Series& series : SeriesOf(host_, metric)) {
        if (!IsOf(series.labels, vm) || LabelOf(series.labels, "state") == "terminated") continue;
        ids.emplace(LabelOf(series.labels, "vm_id"));
        has_idle = has_idle || metric == kVmIdleEnergy;
        for (const Target& target : targets_[node]) AddEnergy(target, series, metric == kVmIdleEnergy);
      }
    if (ids.empty()) return RefuseJoin("no virtual machine \"{}\"; available: {}", vm, fmt::join(names_, ", "));
    if (ids.size() > 1)
      return RefuseJoin("several virtual machines have the name \"{}\"; set one of their ids: {}", vm,
                        fmt::join(ids, ", "));
    if (const auto [place, is_new] = guests_of_.emplace(*ids.begin(), node); !is_new)
      return RefuseJoin("virtual machine \"{}\" has two nodes: {}, {}; set one", vm, place->second, node);
    out_.nodes.push_back(node);
    out_.notes.push_back(SanitizeUtf8(
        fmt::format("watts of {} are the active share of virtual machine {} at its host{}", node, vm,
                    has_idle ? ", and apart from it the idle share"
                             : "; there is no idle share, because the host has no attribution.idle: by-use"),
        1000));
    return {};
  }

  void AddEnergy(const Target& target, const Series& of_vm, bool is_idle) {
    const string_view zone = LabelOf(of_vm.labels, "zone");
    const bool is_estimate = estimated_.contains({string(LabelOf(of_vm.labels, "node_name")), string(zone)});
    energies_.push_back({.labels = {{"instance", target.instance},
                                    {"job", target.job},
                                    {"node_name", target.node},
                                    {"path", is_estimate ? string(kEstimatedPath) : "vm"},
                                    {"zone", string(zone) + (is_idle ? "_idle" : "")}},
                         .samples = of_vm.samples});
  }

  static std::span<const Series> SeriesOf(const Recording& recording, string_view metric) {
    const auto found = recording.metrics.find(metric);
    return found == recording.metrics.end() ? std::span<const Series>() : found->second;
  }
  [[nodiscard]] std::vector<string> Nodes() const {
    std::vector<string> nodes;
    nodes.reserve(targets_.size());
    for (const auto& [node, targets] : targets_) nodes.push_back(node);
    return nodes;
  }

  Recording& guests_;
  Recording host_;
  std::map<string, std::set<Target>> targets_;     // scraped agents by node
  std::set<string> names_;                         // of virtual machines
  std::set<std::pair<string, string>> estimated_;  // host and zone
  Pairs guests_of_;                                // node by id of a virtual machine
  std::vector<Series> energies_;
  Joined out_;
};

}  // namespace

GuestVm ParseGuestVm(string_view text) {
  const size_t middle = text.find('=');
  if (middle == string_view::npos) return {.vm = string(text)};
  return {.node = string(text.substr(0, middle)), .vm = string(text.substr(middle + 1))};
}

Result<Joined> JoinHost(Recording& guests, Recording host, std::span<const GuestVm> vms) {
  return Joining(guests, std::move(host)).Run(vms);
}

}  // namespace kepler::lab::dataset
