#include "attribution/ledger.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace kepler::attribution {
namespace {

template <class Groups>
bool HoldNew(Groups& groups, Row row) {
  if (groups.listing(row) != Groups::Listing::kNew || groups.shown(row)) return false;
  groups.Hold(row);
  return true;
}

/// Number of zones up to the last one that workloads may have a part of.
size_t CountColumns(std::span<const status::Zone> zones) {
  size_t columns = zones.size();
  while (columns > 0 && zones[columns - 1].domain == status::Domain::kPlatform) --columns;
  return columns;
}

}  // namespace

using snapshot::Level;
using Payer = Usage::Payer;

Ledger::Ledger(RetentionPolicy policy, const ProcessLimits& limits, bool shows_pods)
    : policy_(policy),
      processes_(policy),
      listing_(limits),
      containers_(policy),
      vms_(policy),
      pods_(policy),
      shows_pods_(shows_pods) {}

void Ledger::SetZones(std::vector<status::Zone> zones, size_t primary) {
  std::vector<size_t> from;
  for (const status::Zone& zone : zones) {
    const auto known = std::ranges::find(zones_, zone);
    from.push_back(known == zones_.end() ? kNewZone : static_cast<size_t>(known - zones_.begin()));
  }
  const size_t before = zones_.size();
  for (size_t zone = 0; zone < before; ++zone)
    Check(node_[zone].total == Energy{} || std::ranges::find(from, zone) != from.end(),
          "a charged zone must not be removed");
  const size_t columns = CountColumns(zones);
  std::vector<size_t> columns_from(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(columns));
  for (size_t& column : columns_from)
    if (column != kNewZone && column >= columns_) column = kNewZone;
  processes_.SetZones(columns_from);
  containers_.SetZones(columns_from);
  vms_.SetZones(columns_from);
  pods_.SetZones(columns_from);
  roll_ups_.SetZones(columns_from);
  users_.SetZones(columns_from);
  node_ = WithZones(node_, 1, before, from);
  methods_ = WithZones(methods_, 1, before, from);
  watts_per_uj_ = WithZones(watts_per_uj_, 1, before, from);
  unchanged_ = WithZones(unchanged_, 1, before, from);
  unattributed_ = WithZones(unattributed_, 1, before, from);
  for (auto& level : unlisted_)
    for (ByZone& reason : level) reason = WithZones(reason, 1, before, from);
  zones_ = std::move(zones);
  columns_ = columns;
  primary_ = primary;
}

void Ledger::BeginTick(BootTime now) {
  if (now_ == BootTime{})
    begin_ = now;
  else if (scanned_)
    begin_ = now_;
  tick_time_ = now_ == BootTime{} ? Nanoseconds{0} : now - now_;
  now_ = now;
  processes_.BeginTick(begin_);
  containers_.BeginTick(begin_);
  vms_.BeginTick(begin_);
  pods_.BeginTick(begin_);
  roll_ups_.BeginTick(begin_, now_);
  users_.BeginTick(begin_, now_);
  usage_.Clear();
  short_lived_.clear();
}

Row Ledger::Pod(const snapshot::PodIdentity& identity) { return pods_.FindOrOpen(identity); }

Row Ledger::Container(const snapshot::ContainerIdentity& identity, Row pod) {
  const Row row = containers_.FindOrOpen(identity);
  if (row >= container_pod_.size()) container_pod_.resize(row + 1, kNoRow);
  if (pod != kNoRow) container_pod_[row] = pod;  // some paths of a container do not show the pod
  TouchContainer(row);
  ShowPod(row);
  return row;
}

void Ledger::ShowPod(Row container) {
  const Row pod = container_pod_[container];
  if (!shows_pods_ || pod == kNoRow) return;
  const snapshot::PodIdentity& of = pods_.identity(pod);
  const snapshot::ContainerIdentity& shown = containers_.identity(container);
  if (shown.pod_name == of.name && shown.pod_namespace == of.name_space) return;
  snapshot::ContainerIdentity identity = shown;
  identity.pod_name = of.name;
  identity.pod_namespace = of.name_space;
  containers_.SetLabels(container, std::move(identity));
}

void Ledger::RenameContainer(Row container, std::string_view name, size_t max_bytes) {
  if (containers_.identity(container).name == name) return;
  snapshot::ContainerIdentity identity = containers_.identity(container);
  identity.name = LabelText(name, max_bytes);
  containers_.SetLabels(container, std::move(identity));
}

void Ledger::RenamePod(Row pod, const snapshot::PodIdentity& names) {
  const snapshot::PodIdentity& shown = pods_.identity(pod);
  const bool same_labels =
      names.labels == shown.labels || (names.labels && shown.labels && *names.labels == *shown.labels);
  if (same_labels && names.name == shown.name && names.name_space == shown.name_space) return;
  snapshot::PodIdentity identity = names;
  identity.id = shown.id;  // a static pod's cgroup shows another one than the API server does
  KeepKnownNames(identity, shown);
  pods_.SetLabels(pod, std::move(identity));
  if (!shows_pods_) return;
  for (Row container = 0; container < container_pod_.size(); ++container)
    if (container_pod_[container] == pod && containers_.running(container)) ShowPod(container);
}

bool Ledger::HoldContainer(Row container) { return HoldNew(containers_, container); }
bool Ledger::HoldPod(Row pod) { return HoldNew(pods_, pod); }

void Ledger::TouchContainer(Row container) {
  containers_.Touch(container);
  if (const Row pod = container_pod_[container]; pod != kNoRow) TouchPod(pod);
}

Row Ledger::UpdateProcess(Row process, std::shared_ptr<const snapshot::ProcessIdentity> identity, const Groups& groups,
                          bool kernel_thread, uint32_t uid) {
  if (process != kNoRow) {
    const bool same = processes_.groups(process) == groups && processes_.kernel_thread(process) == kernel_thread &&
                      processes_.identity(process) == *identity;
    if (same) {
      processes_.SetUid(process, uid);
      return process;
    }
    CloseProcess(process);
  }
  return OpenProcess(std::move(identity), groups, kernel_thread, uid);
}

void Ledger::Use(const Usage& usage, Nanoseconds cpu, const HardwareEvents& events, uint32_t uid) {
  Touch(usage.groups);
  if (cpu.count() <= 0) return;
  users_.Use(uid, usage_.users().size());
  usage_.Add(usage, cpu, events);
}

void Ledger::Touch(const Groups& groups) {
  if (groups.container != kNoRow) TouchContainer(groups.container);
  if (groups.vm != kNoRow) vms_.Touch(groups.vm);
  if (groups.pod != kNoRow) TouchPod(groups.pod);
}

void Ledger::UseProcess(Row process, Nanoseconds cpu, const HardwareEvents& events) {
  Use({Payer::kProcess, process, processes_.groups(process)}, cpu, events, processes_.uid(process));
}

void Ledger::UseShortLived(const ShortLivedProcess& process) {
  Use({Payer::kShortLived, static_cast<Row>(short_lived_.size()), process.groups}, process.cpu, process.events,
      process.uid);
  if (process.cpu.count() > 0) short_lived_.push_back(process);
}

void Ledger::UseResidual(const Groups& groups, Nanoseconds cpu) {
  Use({Payer::kResidual, kNoRow, groups}, cpu, {}, kUnknownUid);
}

void Ledger::UseUnattributed(Nanoseconds cpu) {
  if (cpu.count() <= 0) return;
  users_.UseNobody(usage_.users().size());
  usage_.Add({Payer::kUnattributed, kNoRow, {}}, cpu);
}

Ledger::ByZone& Ledger::Unlisted(Level level, snapshot::Unlisted reason) {
  return unlisted_[std::to_underlying(level)][std::to_underlying(reason)];
}

}  // namespace kepler::attribution
