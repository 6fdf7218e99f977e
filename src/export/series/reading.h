#pragma once
// Reading: the data of one push.
#include <memory>
#include <optional>
#include <vector>

#include "snapshot/snapshot.h"
#include "status/agent_status.h"
#include "status/http_status.h"
#include "status/push_status.h"

namespace kepler::series {

struct Reading {
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // null: no snapshot yet
  bool stale = false;                                  // too old for its watts to be valid
  std::vector<status::PushStatus> pushes{};
  std::optional<status::SelfStatus> self{};  // nothing: the `process` collector is off
  std::optional<status::HttpStatus> http{};  // nothing: not sent
};

}  // namespace kepler::series
