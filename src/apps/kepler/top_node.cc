#include "apps/kepler/top_node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/kepler/node_api.h"
#include "apps/kepler/top_client.h"
#include "apps/kepler/wiring.h"
#include "base/host_port.h"
#include "daemon/descriptor_budget.h"
#include "status/zone_origin.h"

namespace kepler::agent {
namespace {

constexpr std::chrono::seconds kPatience{10};  // more than a tick with many processes takes

bool IsDenied(const status::SourceStatus& source) {
  return source.problem &&
         (source.problem->kind == ErrorKind::kPermission || source.problem->message.contains("Permission denied"));
}

}  // namespace

std::string UrlOfAgent(const std::vector<std::string>& listen_addresses) {
  const std::string_view address = listen_addresses.empty() ? std::string_view(":28282") : listen_addresses.front();
  const auto parts = SplitHostPort(address);
  if (!parts) return fmt::format("http://{}", address);
  if (parts->host.empty() || parts->host == "0.0.0.0" || parts->host == "::")
    return fmt::format("http://127.0.0.1:{}", parts->port);
  return fmt::format("http://{}", address);
}

std::vector<std::string> LacksOf(const snapshot::Snapshot& snapshot, bool wants_bpf, bool is_root) {
  std::vector<std::string> lacks;
  const bool is_metered = std::ranges::any_of(snapshot.zones, [](const status::Zone& zone) {
    return zone.domain == status::Domain::kCpu && status::OriginOf(zone.source) != status::Origin::kEstimated;
  });
  if (!is_metered) {
    const bool is_denied = std::ranges::any_of(snapshot.sources, IsDenied);
    const std::string_view why =
        is_denied ? "this user may not read the energy meters; run as root" : "no energy meter can be read";
    lacks.push_back(fmt::format("{}{}", snapshot.zones.empty() ? "" : kEstimateRemark, why));
  }
  if (wants_bpf && snapshot.activity.name == "procfs")
    lacks.push_back(fmt::format("CPU time is from /proc, without short-lived processes: BPF {}",
                                is_root ? "is not available" : "needs root, or CAP_BPF and CAP_PERFMON"));
  return lacks;
}

Result<std::unique_ptr<TopNode>> TopNode::Open(Config config, const BuildInfo& build, Duration interval,
                                               std::string remark) {
  config.freshness = {.interval = interval, .staleness = interval};
  std::unique_ptr<TopNode> node(new TopNode(std::move(config), std::move(remark)));
  KEPLER_CHECK_OK(node->Start(build));
  return node;
}

Status TopNode::Start(const BuildInfo& build) {
  daemon::RaiseDescriptorLimit();
  pods_ = MakeInformer(config_, clock_);
  KEPLER_TRY(node_, ThisNode::Open(config_, clock_, pods_.get()));
  collector_ = std::make_unique<pipeline::Collector>(node_->tick(), node_->board(), clock_, config_.freshness);
  api_ = MakeApi(config_, build, clock_, *collector_, node_->board());
  collector_->OnSnapshot([this](const snapshot::Snapshot& snapshot) { Take(snapshot); });
  if (pods_) KEPLER_CHECK_OK(pods_->Start());
  return collector_->Start();
}

TopNode::~TopNode() {
  if (collector_) collector_->Stop();
}

void TopNode::Take(const snapshot::Snapshot& snapshot) {
  api_->Observe(snapshot);
  {
    const std::scoped_lock lock(mutex_);
    ++snapshots_;
  }
  taken_.notify_all();
}

Status TopNode::WaitFor(size_t snapshots, const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  const Nanoseconds patience = kPatience + static_cast<Nanoseconds>(config_.freshness.interval);
  if (taken_.wait_for(lock, stop, patience, [&] { return snapshots_ >= snapshots; })) return {};
  return Fail(ErrorKind::kTimeout, "this process has no measurement yet");
}

Result<std::string> TopNode::Get(const std::string& target, const std::stop_token& stop) const {
  KEPLER_CHECK_OK(WaitFor(1, stop));
  const size_t path = std::min(target.find('?'), target.size());
  const http::server::Request request{
      .method = "GET", .path = target.substr(0, path), .query = target.substr(std::min(path + 1, target.size()))};
  const auto response = request.path == "/api/v1/history" ? api_->History(request) : api_->Snapshot(request);
  constexpr unsigned kOk = 200;
  if (response.status == kOk) return *response.body;
  return Fail(ErrorKind::kInvalid, ApiReason(*response.body));
}

std::vector<std::string> TopNode::Remarks() const {
  std::vector<std::string> remarks;
  if (!remark_.empty()) remarks.push_back(remark_);
  if (const auto snapshot = node_->board().Latest())
    for (std::string& lack : LacksOf(*snapshot, config_.activity_source != ActivityChoice::kProcfs, geteuid() == 0))
      remarks.push_back(std::move(lack));
  return remarks;
}

}  // namespace kepler::agent
