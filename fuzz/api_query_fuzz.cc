// A query of the JSON API: any bytes give bounded values or an error, and the snapshot is then written as valid UTF-8.
#include <memory>
#include <string>

#include "base/text.h"
#include "export/api/snapshot_json.h"
#include "export/api/workload_query.h"
#include "fuzz.h"

namespace {

/// One process, named by the input.
kepler::snapshot::Snapshot SnapshotOf(std::string_view name) {
  kepler::snapshot::Snapshot s;
  s.zones.push_back({"package", "p", "fake"});
  s.node.emplace_back();
  s.unattributed.resize(1);
  for (auto& level : s.unlisted)
    for (auto& reason : level) reason.resize(1);
  for (auto& level : s.unnamed) level.resize(1);
  s.processes.zones = 1;
  s.processes.identity.push_back(std::make_shared<const kepler::snapshot::ProcessIdentity>(
      kepler::snapshot::ProcessIdentity{1, std::string(name), std::string(name), "regular", "", ""}));
  s.processes.state.emplace_back();
  s.processes.cpu.emplace_back();
  s.processes.energy.emplace_back();
  s.processes.watts.emplace_back();
  return s;
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto query = kepler::api::ParseQuery(text, ~0U);
  if (!query) {
    if (query.error().message.empty() || !kepler::IsValidUtf8(query.error().message)) std::abort();
    return;
  }
  if (query->limit == 0 || query->limit > kepler::api::kMaxRows) std::abort();
  if (query->search.size() > kepler::api::kMaxSearch || query->under.size() > kepler::api::kMaxUnder) std::abort();
  const std::string json =
      kepler::api::SnapshotJson(SnapshotOf(text), false, *query, {.version = {}, .node = {}, .gates = ~0U});
  if (!kepler::IsValidUtf8(json) || json.find('\n') != json.size() - 1) std::abort();
}
