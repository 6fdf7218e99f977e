#pragma once
// What a document about pods says, as it is read. For pod_json.cc.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "json/stream.h"
#include "workload/kubernetes/pod_json.h"
#include "workload/kubernetes/pod_owner.h"
#include "workload/kubernetes/quantity.h"

namespace kepler::workload::kubernetes::internal {

using std::string_view;

inline constexpr string_view kLabels = ".metadata.labels.";
inline constexpr string_view kAnnotations = ".metadata.annotations.";
/// Of a static pod; kubelet, pkg/kubelet/types/pod_update.go.
inline constexpr string_view kConfigHash = ".metadata.annotations.kubernetes.io/config.hash";

inline constexpr uint64_t kKib = 1000 * 1024;  // in thousandths of a byte

/// Reads `prefix` off the front of `text`.
inline std::optional<string_view> Below(string_view text, string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

/// Where a document has what.
struct Layout {
  string_view pod;   // a pod
  string_view head;  // what has the kind and the version of the whole
};
inline constexpr Layout kListLayout = {.pod = ".items[]", .head = ""};
inline constexpr Layout kEventLayout = {.pod = ".object", .head = ".object"};

/// What was found in a document.
struct Document {
  std::vector<Pod> pods;
  std::string type, kind, resource_version, message;
  int64_t code = 0;
  size_t bytes = 0;  // of the pods (MemoryOf)
  LeftOut left_out;
};

/// Keeps what is asked for of a document. The path says where the reader is: ".items[].metadata.name".
class DocumentVisitor final : public json::Visitor {
 public:
  /// The layout and the texts must outlive the visitor. `max_bytes`: of the pods of one document.
  DocumentVisitor(const Layout& layout, const AskedTexts& asked, size_t max_bytes)
      : layout_(layout), asked_(asked), max_bytes_(max_bytes) {}

  Status BeginObject() override {
    Open();
    if (path_ == layout_.pod) OpenPod();
    return {};
  }
  Status EndObject() override {
    Close();
    if (path_ == layout_.pod) ClosePod();
    if (IsContainerStatus()) CloseContainer();
    if (IsContainerSpec()) CloseSpec();
    if (const auto in_pod = Below(path_, layout_.pod)) owner_.EndObject(*in_pod);
    return {};
  }
  Status BeginList() override {
    Open();
    path_ += "[]";
    return {};
  }
  Status EndList() override {
    Close();
    return {};
  }
  Status Key(string_view key) override {
    path_.resize(open_.back());
    path_.append(1, '.').append(key);
    return {};
  }
  Status Text(string_view text) override {
    KeepOfDocument(text);
    if (const auto in_pod = Below(path_, layout_.pod)) KeepOfPod(*in_pod, text);
    return {};
  }
  Status Number(double /*rough*/, string_view text) override {
    if (Below(path_, layout_.head) == ".code") document.code = ParseNumber<int64_t>(text).value_or(0);
    return {};
  }
  Status Literal(std::optional<bool> value) override {
    if (const auto in_pod = Below(path_, layout_.pod)) owner_.Literal(*in_pod, value.value_or(false));
    return {};
  }

  Document document;

 private:
  void Open() { open_.push_back(path_.size()); }
  /// Back to where the object or array began: the next element of an array stands there too.
  void Close() {
    path_.resize(open_.back());
    open_.pop_back();
  }
  [[nodiscard]] bool IsContainerStatus() const {
    return path_.starts_with(layout_.pod) && path_.ends_with("ontainerStatuses[]");
  }

  /// An ephemeral container has no requests.
  [[nodiscard]] bool IsContainerSpec() const {
    const auto at = Below(path_, layout_.pod);
    return at == ".spec.containers[]" || at == ".spec.initContainers[]";
  }

  void KeepOfDocument(string_view text) {
    if (path_ == ".type") document.type = text;
    const auto at = Below(path_, layout_.head);
    if (at == ".kind") document.kind = text;
    if (at == ".metadata.resourceVersion") document.resource_version = text;
    if (at == ".message") document.message = text;
  }

  /// `at`: below the pod.
  void KeepOfPod(string_view at, string_view text) {
    if (at == ".metadata.uid") pod_.uid = text;
    if (at == ".metadata.name") pod_.name = text;
    if (at == ".metadata.namespace") pod_.name_space = text;
    if (at == kConfigHash) pod_.static_uid = text;
    owner_.Text(at, text);
    if (const auto name = Below(at, kLabels)) KeepIfAsked(*name, text, asked_.labels, pod_.labels);
    if (const auto name = Below(at, kAnnotations)) KeepIfAsked(*name, text, asked_.annotations, pod_.annotations);
    if (at.starts_with(".status.")) KeepOfContainer(at, text);
    if (at.starts_with(".spec.")) KeepOfSpec(at, text);
  }

  void KeepIfAsked(string_view name, string_view text, const std::vector<std::string>& asked, Pod::Texts& kept) const {
    // A name that comes again and again is no reason to grow.
    if (kept.size() < asked.size() && std::ranges::find(asked, name) != asked.end())
      kept.emplace_back(name, LabelText(text));
  }

  void KeepOfContainer(string_view at, string_view text) {
    if (at.ends_with("ontainerStatuses[].name")) container_.name = text;
    if (at.ends_with("ontainerStatuses[].containerID")) container_.id = WithoutRuntime(text);
    if (at.ends_with("ontainerStatuses[].lastState.terminated.containerID")) before_ = WithoutRuntime(text);
  }
  void KeepOfSpec(string_view at, string_view text) {
    const auto below =
        at.starts_with(".spec.init") ? Below(at, ".spec.initContainers[]") : Below(at, ".spec.containers[]");
    if (below == ".name") spec_.name = text;
    if (below == ".resources.requests.cpu") spec_.requests.cpu_millis = ParseThousandths(text).value_or(0);
    if (below == ".resources.requests.memory")
      spec_.requests.memory_kib = (ParseThousandths(text).value_or(0) + kKib - 1) / kKib;
  }
  static string_view WithoutRuntime(string_view id) {
    const size_t scheme = id.find("://");
    return scheme == string_view::npos ? id : id.substr(scheme + 3);
  }

  void CloseContainer() {
    PodContainer container = std::exchange(container_, {});
    PodContainer before{std::exchange(before_, {}), container.name};
    if (container.name.empty()) return;
    const bool is_other = !before.id.empty() && before.id != container.id;
    if (!container.id.empty()) Keep(std::move(container));  // else it waits to be started
    if (is_other) Keep(std::move(before));
  }

  void Keep(PodContainer container) {
    const size_t bytes = MemoryOf(container);
    const bool has_room =
        pod_bytes_ + bytes <= max_bytes_ / kPodPart && document.bytes + pod_bytes_ + bytes <= max_bytes_;
    if (pod_.containers.size() >= kMaxContainers || !has_room) {
      ++document.left_out.containers;
      return;
    }
    pod_bytes_ += bytes;
    pod_.containers.push_back(std::move(container));
  }

  void DropContainer() {
    pod_bytes_ -= MemoryOf(pod_.containers.back());
    pod_.containers.pop_back();
    ++document.left_out.containers;
  }

  void CloseSpec() {
    PodContainer spec = std::exchange(spec_, {});
    if (spec.requests.any() && requests_.size() < kMaxContainers)
      requests_.try_emplace(std::move(spec.name), spec.requests);
  }

  void OpenPod() {
    pod_ = {};
    pod_bytes_ = 0;
    owner_ = {};
  }

  void ClosePod() {
    for (PodContainer& container : pod_.containers) {
      const auto requests = requests_.find(container.name);
      if (requests != requests_.end()) container.requests = requests->second;
    }
    requests_.clear();
    if (pod_.uid.empty() || pod_.name.empty()) return;
    pod_.owner = owner_.Take();
    const size_t texts = MemoryOfTexts(pod_);
    // Its name comes before those of its containers.
    while (document.bytes + texts + pod_bytes_ > max_bytes_ && !pod_.containers.empty()) DropContainer();
    const size_t bytes = texts + pod_bytes_;
    if (document.bytes + bytes > max_bytes_) {
      ++document.left_out.pods;
      return;
    }
    document.bytes += bytes;
    pod_.containers.shrink_to_fit();
    document.pods.push_back(std::move(pod_));
  }

  /// Of all but its containers.
  [[nodiscard]] static size_t MemoryOfTexts(const Pod& pod) {
    size_t bytes = MemoryOf(KnownPod{}) + MemoryOf(pod.uid) + MemoryOf(pod.static_uid) + MemoryOf(pod.name) +
                   MemoryOf(pod.name_space) + MemoryOf(pod.owner.kind) + MemoryOf(pod.owner.name);
    for (const Pod::Texts* texts : {&pod.labels, &pod.annotations})
      for (const auto& [name, value] : *texts) bytes += 2 * sizeof(std::string) + MemoryOf(name) + MemoryOf(value);
    return bytes;
  }

  const Layout& layout_;
  const AskedTexts& asked_;
  const size_t max_bytes_;
  std::string path_;
  std::vector<size_t> open_;  // for each object and array around: how long the path was where it began
  Pod pod_;
  size_t pod_bytes_ = 0;  // of its containers
  OwnerReader owner_;     // of the pod at hand
  PodContainer container_;
  PodContainer spec_;                                            // as in the pod spec: name and requests
  std::unordered_map<std::string, ContainerRequests> requests_;  // of the pod at hand, by container name
  std::string before_;                                           // id of the one that was restarted as that
};

}  // namespace kepler::workload::kubernetes::internal
