// The pods from the API server: one list, then watches that begin where the last answer ended.
#include <random>
#include <utility>

#include "base/log.h"
#include "workload/kubernetes/informer.h"

namespace kepler::workload::kubernetes {

Status Informer::Follow(const std::stop_token& stop) {
  CountRequest();
  KEPLER_CHECK_OK(Connect());
  bool just_listed = false;
  if (version_.empty()) {
    KEPLER_CHECK_OK(List(stop));
    just_listed = true;
    CountRequest();
  }
  while (true) {
    const BootTime begin = clock_.Now();
    KEPLER_TRY(const WatchEnd end, Watch(stop));
    if (end == WatchEnd::kTooOld && just_listed)
      return Fail(ErrorKind::kGone, "the API server rejected its own resource version as too old");
    // The next watch begins at once, because nothing is received between two of them.
    const bool next = end == WatchEnd::kInTime && clock_.Now() - begin >= kMinWatch && !IsKubeletDue();
    if (!next || stop.stop_requested()) return {};
    just_listed = false;
    Succeed();
    CountRequest();
  }
}

/// Asks once, because the API server answers an empty list for a node that it does not have.
Status Informer::CheckNode(const std::stop_token& stop) {
  if (has_checked_node_) return {};
  const Status found = client_->FindNode(stop);
  if (!found && found.error().kind == ErrorKind::kNotFound) return found;
  has_checked_node_ = found || found.error().kind == ErrorKind::kPermission;
  if (!found && has_checked_node_) log::Info("failed to check kube.nodeName", {{"err", found.error().message}});
  return {};
}

Status Informer::List(const std::stop_token& stop) {
  auto list = client_->List(list_from_, stop);
  // Not the latest, unless nothing else is left: lists of all nodes at once are what brings an API server down.
  list_from_ = !list && list.error().kind == ErrorKind::kGone ? "" : "0";
  if (!list) return std::unexpected(std::move(list).error());
  KEPLER_CHECK_OK(CheckNode(stop));
  Use(InformerMode::kApiserver);
  version_ = std::move(list->resource_version);
  Take(*std::move(list));
  Publish();
  return {};
}

/// No error where it worked for a while.
Result<Informer::WatchEnd> Informer::Watch(const std::stop_token& stop) {
  const BootTime begin = clock_.Now();
  bool has_begun = false;
  bool has_said = false;
  const auto take = [&](const PodEvent& event) {
    has_said = true;
    return Take(event);
  };
  const auto heard = [&] {
    has_begun = true;
    Publish();
  };
  const std::chrono::seconds longer(std::uniform_int_distribution<int64_t>(0, options_.watch_time.count())(random_));
  const Status end = client_->Watch(version_, options_.watch_time + longer, take, heard, stop);
  if (!end && end.error().kind == ErrorKind::kGone) {
    list_from_ = std::exchange(version_, "");
    return WatchEnd::kTooOld;
  }
  if (!end && end.error().kind == ErrorKind::kMalformed) version_.clear();
  const bool cut = !end && end.error().kind == ErrorKind::kUnavailable;
  const bool worked = has_said || (has_begun && clock_.Now() - begin >= kMinWatch);
  if (worked && (end || cut)) return cut ? WatchEnd::kCut : WatchEnd::kInTime;
  if (end) return Fail(ErrorKind::kUnavailable, "the API server ended the watch of pods at once");
  return std::unexpected(end.error());
}

void Informer::Take(PodList list) {
  names_.Note(list.bytes + cache_.bytes());
  Count(list.left_out);
  Count(cache_.Replace(std::move(list.pods), clock_.Now()));
}

Status Informer::Take(const PodEvent& event) {
  if (!event.resource_version.empty()) version_ = event.resource_version;
  if (event.kind == PodEvent::Kind::kGone) cache_.Remove(event.pod.uid, clock_.Now());
  if (event.kind != PodEvent::Kind::kSet) return {};
  Count(event.left_out);
  Count(cache_.Set(event.pod));
  return {};
}

}  // namespace kepler::workload::kubernetes
