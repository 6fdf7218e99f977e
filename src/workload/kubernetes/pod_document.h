#pragma once
// What a document about pods says, as the JSON parser meets it. For pod_json.cc.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/text.h"
#include "workload/kubernetes/pod_json.h"
#include "workload/kubernetes/quantity.h"

namespace kepler::workload::kubernetes::internal {

using boost::system::error_code;
using std::string_view;

inline constexpr std::string_view kLabels = ".metadata.labels.";
inline constexpr std::string_view kAnnotations = ".metadata.annotations.";
/// Of a static pod; kubelet, pkg/kubelet/types/pod_update.go.
inline constexpr std::string_view kConfigHash = ".metadata.annotations.kubernetes.io/config.hash";

inline constexpr uint64_t kKib = 1000 * 1024;  // in thousandths of a byte

/// Reads `prefix` off the front of `text`.
inline std::optional<std::string_view> Below(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

/// Where a document has what.
struct Layout {
  std::string_view pod;   // a pod
  std::string_view head;  // what has the kind and the version of the whole
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

/// What the parser meets; its names are the library's. The path says where: ".items[].metadata.name".
class Handler {
 public:
  static constexpr size_t max_object_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;   // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = SIZE_MAX;     // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)

  /// The layout and the texts must outlive the handler. `max_bytes`: of the pods of one document.
  Handler(const Layout& layout, const AskedTexts& asked, size_t max_bytes)
      : layout_(layout), asked_(asked), max_bytes_(max_bytes) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    Open();
    if (path_ == layout_.pod) OpenPod();
    return true;
  }
  bool on_object_end(size_t, error_code&) {
    Close();
    if (path_ == layout_.pod) ClosePod();
    if (IsContainerStatus()) CloseContainer();
    if (IsContainerSpec()) CloseSpec();
    return true;
  }
  bool on_array_begin(error_code&) {
    Open();
    path_ += "[]";
    return true;
  }
  bool on_array_end(size_t, error_code&) {
    Close();
    return true;
  }
  bool on_key_part(string_view part, size_t, error_code&) {
    Append(part);
    return true;
  }
  bool on_key(string_view part, size_t, error_code&) {
    Append(part);
    path_.resize(open_.back());
    path_.append(1, '.').append(text_);
    text_.clear();
    return true;
  }
  bool on_string_part(string_view part, size_t, error_code&) {
    Append(part);
    return true;
  }
  bool on_string(string_view part, size_t, error_code&) {
    Append(part);
    KeepOfDocument();
    const auto in_pod = Below(path_, layout_.pod);
    if (in_pod) KeepOfPod(*in_pod);
    text_.clear();
    return true;
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(int64_t number, string_view, error_code&) {
    if (Below(path_, layout_.head) == ".code") document.code = number;
    return true;
  }
  bool on_uint64(uint64_t, string_view, error_code&) { return true; }
  bool on_double(double, string_view, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  Document document;

 private:
  void Open() { open_.push_back(path_.size()); }
  /// Back to where the object or array began: the next element of an array stands there too.
  void Close() {
    path_.resize(open_.back());
    open_.pop_back();
  }
  void Append(string_view part) {
    if (text_.size() < kMaxText) text_ += part.substr(0, kMaxText - text_.size());
  }
  [[nodiscard]] bool IsContainerStatus() const {
    return path_.starts_with(layout_.pod) && path_.ends_with("ontainerStatuses[]");
  }

  /// An ephemeral container has no requests.
  [[nodiscard]] bool IsContainerSpec() const {
    const auto at = Below(path_, layout_.pod);
    return at == ".spec.containers[]" || at == ".spec.initContainers[]";
  }

  void KeepOfDocument() {
    if (path_ == ".type") document.type = text_;
    const auto at = Below(path_, layout_.head);
    if (at == ".kind") document.kind = text_;
    if (at == ".metadata.resourceVersion") document.resource_version = text_;
    if (at == ".message") document.message = text_;
  }

  /// `at`: below the pod.
  void KeepOfPod(std::string_view at) {
    if (at == ".metadata.uid") pod_.uid = text_;
    if (at == ".metadata.name") pod_.name = text_;
    if (at == ".metadata.namespace") pod_.name_space = text_;
    if (at == kConfigHash) pod_.static_uid = text_;
    if (const auto name = Below(at, kLabels)) KeepIfAsked(*name, asked_.labels, pod_.labels);
    if (const auto name = Below(at, kAnnotations)) KeepIfAsked(*name, asked_.annotations, pod_.annotations);
    if (at.starts_with(".status.")) KeepOfContainer(at);
    if (at.starts_with(".spec.")) KeepOfSpec(at);
  }

  void KeepIfAsked(std::string_view name, const std::vector<std::string>& asked, Pod::Texts& kept) const {
    // A name that comes again and again is no reason to grow.
    if (kept.size() < asked.size() && std::ranges::find(asked, name) != asked.end())
      kept.emplace_back(name, LabelText(text_));
  }

  void KeepOfContainer(std::string_view at) {
    if (at.ends_with("ontainerStatuses[].name")) container_.name = text_;
    if (at.ends_with("ontainerStatuses[].containerID")) container_.id = WithoutRuntime(text_);
    if (at.ends_with("ontainerStatuses[].lastState.terminated.containerID")) before_ = WithoutRuntime(text_);
  }
  void KeepOfSpec(std::string_view at) {
    const auto below =
        at.starts_with(".spec.init") ? Below(at, ".spec.initContainers[]") : Below(at, ".spec.containers[]");
    if (below == ".name") spec_.name = text_;
    if (below == ".resources.requests.cpu") spec_.requests.cpu_millis = ParseThousandths(text_).value_or(0);
    if (below == ".resources.requests.memory")
      spec_.requests.memory_kib = (ParseThousandths(text_).value_or(0) + kKib - 1) / kKib;
  }
  static std::string WithoutRuntime(const std::string& id) {
    const size_t scheme = id.find("://");
    return scheme == std::string::npos ? id : id.substr(scheme + 3);
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
  }

  void ClosePod() {
    for (PodContainer& container : pod_.containers) {
      const auto requests = requests_.find(container.name);
      if (requests != requests_.end()) container.requests = requests->second;
    }
    requests_.clear();
    if (pod_.uid.empty() || pod_.name.empty()) return;
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
                   MemoryOf(pod.name_space);
    for (const Pod::Texts* texts : {&pod.labels, &pod.annotations})
      for (const auto& [name, value] : *texts) bytes += 2 * sizeof(std::string) + MemoryOf(name) + MemoryOf(value);
    return bytes;
  }

  const Layout& layout_;
  const AskedTexts& asked_;
  const size_t max_bytes_;
  std::string path_;
  std::vector<size_t> open_;  // for each object and array around: how long the path was where it began
  std::string text_;          // of the key or string at hand
  Pod pod_;
  size_t pod_bytes_ = 0;  // of its containers
  PodContainer container_;
  PodContainer spec_;                                            // as in the pod spec: name and requests
  std::unordered_map<std::string, ContainerRequests> requests_;  // of the pod at hand, by container name
  std::string before_;                                           // id of the one that was restarted as that
};

}  // namespace kepler::workload::kubernetes::internal
