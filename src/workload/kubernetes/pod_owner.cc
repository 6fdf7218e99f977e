#include "workload/kubernetes/pod_owner.h"

#include <optional>
#include <utility>

#include "base/parse.h"

namespace kepler::workload::kubernetes {
namespace {

using std::string_view;

constexpr string_view kReference = ".metadata.ownerReferences[]";
constexpr string_view kTemplateHash = ".metadata.labels.pod-template-hash";

// Scheduled times of CronJobs have eight digits: minutes since 1970. A date such as 20260131 would be in the year 2008,
// so it is not taken for a time.
constexpr size_t kTimeDigits = 8;
constexpr uint32_t kMinMinutes = 25'000'000;  // in 2017
constexpr uint32_t kMaxMinutes = 40'000'000;  // in 2046

/// Cuts "-" and `suffix` off `name`, if something is left.
std::optional<string_view> Without(string_view suffix, string_view name) {
  if (suffix.empty() || name.size() < suffix.size() + 2 || !name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  if (name.back() != '-') return std::nullopt;
  name.remove_suffix(1);
  return name;
}

std::optional<string_view> CronJobOf(string_view job) {
  if (job.size() < kTimeDigits) return std::nullopt;
  const string_view digits = job.substr(job.size() - kTimeDigits);
  const auto minutes = ParseNumber<uint32_t>(digits);
  if (!minutes || *minutes < kMinMinutes || *minutes >= kMaxMinutes) return std::nullopt;
  return Without(digits, job);
}

}  // namespace

void OwnerReader::Text(string_view at, string_view text) {
  if (at == kTemplateHash) template_hash_ = text;
  if (!at.starts_with(kReference)) return;
  at.remove_prefix(kReference.size());
  if (at == ".kind") reference_.kind = text;
  if (at == ".name") reference_.name = text;
}

void OwnerReader::Literal(string_view at, bool value) {
  if (at.starts_with(kReference) && at.substr(kReference.size()) == ".controller") is_controller_ = value;
}

void OwnerReader::EndObject(string_view at) {
  if (at != kReference) return;
  PodOwner reference = std::exchange(reference_, {});
  const bool is_complete = !reference.kind.empty() && !reference.name.empty();
  if (std::exchange(is_controller_, false) && is_complete && controller_.kind.empty())
    controller_ = std::move(reference);
}

PodOwner OwnerReader::Take() {
  PodOwner owner = std::exchange(controller_, {});
  if (owner.kind == "ReplicaSet")
    if (const auto deployment = Without(template_hash_, owner.name)) return {"Deployment", std::string(*deployment)};
  if (owner.kind == "Job")
    if (const auto cron_job = CronJobOf(owner.name)) return {"CronJob", std::string(*cron_job)};
  return owner;
}

}  // namespace kepler::workload::kubernetes
