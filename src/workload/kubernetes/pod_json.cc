#include "workload/kubernetes/pod_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace kepler::workload::kubernetes {
namespace {

namespace json = boost::json;
using boost::system::error_code;
using json::string_view;

constexpr std::string_view kLabels = ".metadata.labels.";
/// Of a static pod; kubelet, pkg/kubelet/types/pod_update.go.
constexpr std::string_view kConfigHash = ".metadata.annotations.kubernetes.io/config.hash";

/// Reads `prefix` off the front of `text`.
std::optional<std::string_view> Below(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

}  // namespace

namespace internal {

/// Where a document has what.
struct Layout {
  std::string_view pod;   // a pod
  std::string_view head;  // what has the kind and the version of the whole
};
constexpr Layout kListLayout = {.pod = ".items[]", .head = ""};
constexpr Layout kEventLayout = {.pod = ".object", .head = ".object"};

/// What was found in a document.
struct Document {
  std::vector<Pod> pods;
  std::string type, kind, resource_version, message;
  int64_t code = 0;
};

/// What the parser meets; its names are the library's. The path says where: ".items[].metadata.name".
class Handler {
 public:
  static constexpr size_t max_object_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;   // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = SIZE_MAX;     // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)

  explicit Handler(const Layout& layout) : layout_(layout) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) {
    Open();
    if (path_ != layout_.pod) return true;
    pod_ = {};
    if (document.pods.size() < kMaxPods) return true;
    error = json::error::array_too_large;
    return false;
  }
  bool on_object_end(size_t, error_code&) {
    Close();
    if (path_ == layout_.pod) ClosePod();
    if (IsContainerStatus()) CloseContainer();
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
    if (text_.size() < kMaxText) text_.append(part.data(), std::min(part.size(), kMaxText - text_.size()));
  }
  [[nodiscard]] bool IsContainerStatus() const {
    return path_.starts_with(layout_.pod) && path_.ends_with("ontainerStatuses[]");
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
    if (at.starts_with(kLabels) && pod_.labels.size() < kMaxLabels)
      pod_.labels.emplace_back(at.substr(kLabels.size()), text_);
    if (at.starts_with(".status.")) KeepOfContainer(at);
  }

  void KeepOfContainer(std::string_view at) {
    if (at.ends_with("ontainerStatuses[].name")) container_.name = text_;
    if (at.ends_with("ontainerStatuses[].containerID")) container_.id = WithoutRuntime(text_);
    if (at.ends_with("ontainerStatuses[].lastState.terminated.containerID")) before_ = WithoutRuntime(text_);
  }
  static std::string WithoutRuntime(const std::string& id) {
    const size_t scheme = id.find("://");
    return scheme == std::string::npos ? id : id.substr(scheme + 3);
  }

  void CloseContainer() {
    const ContainerName container = std::exchange(container_, {});
    const std::string before = std::exchange(before_, {});
    if (container.name.empty() || pod_.containers.size() >= kMaxContainers) return;
    if (!container.id.empty()) pod_.containers.push_back(container);  // else it waits to be started
    if (!before.empty() && before != container.id) pod_.containers.push_back({before, container.name});
  }

  void ClosePod() {
    if (!pod_.uid.empty() && !pod_.name.empty()) document.pods.push_back(std::move(pod_));
  }

  const Layout& layout_;
  std::string path_;
  std::vector<size_t> open_;  // for each object and array around: how long the path was where it began
  std::string text_;          // of the key or string at hand
  Pod pod_;
  ContainerName container_;
  std::string before_;  // id of the one that was restarted as that
};

using Parser = json::basic_parser<Handler>;  // 32 levels: a pod has 12

std::unexpected<Error> Refuse(std::string_view what, uint64_t bytes, const error_code& error) {
  const std::string why = error == json::error::array_too_large ? "it has too many pods" : error.message();
  return Fail(ErrorKind::kMalformed, fmt::format("parse {}, near byte {}: {}", what, bytes, why));
}

}  // namespace internal

class PodListReader::Impl {
 public:
  Status Read(std::string_view piece) {
    if (piece.empty()) return {};
    error_code error;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
    bytes_ += read;
    if (error) return internal::Refuse(kWhat, bytes_, error);
    if (read < piece.size() && piece.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
      return Fail(ErrorKind::kMalformed, fmt::format("parse {}: more text behind byte {}", kWhat, bytes_));
    return {};
  }
  Result<PodList> Finish() {
    error_code error;
    if (!parser_.done()) static_cast<void>(parser_.write_some(false, nullptr, 0, error));
    if (error) return internal::Refuse(kWhat, bytes_, error);
    internal::Document& found = parser_.handler().document;
    if (found.kind != "PodList")
      return Fail(ErrorKind::kMalformed,
                  fmt::format("parse {}: its kind is \"{}\" instead of PodList", kWhat, found.kind.substr(0, 64)));
    return PodList{std::move(found.pods), std::move(found.resource_version)};
  }

 private:
  static constexpr std::string_view kWhat = "a list of pods";
  uint64_t bytes_ = 0;
  internal::Parser parser_{json::parse_options{}, internal::kListLayout};
};

PodListReader::PodListReader() : impl_(std::make_unique<Impl>()) {}
PodListReader::~PodListReader() = default;
Status PodListReader::Read(std::string_view piece) { return impl_->Read(piece); }
Result<PodList> PodListReader::Finish() { return impl_->Finish(); }

class PodEventReader::Impl {
 public:
  explicit Impl(Take take) : take_(std::move(take)) {}

  Status Read(std::string_view piece) {
    while (!piece.empty()) {
      error_code error;
      const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
      bytes_ += read;
      if (error) return internal::Refuse("a watch of pods", bytes_, error);
      piece.remove_prefix(read);
      if (!parser_.done()) continue;
      parser_.reset();
      KEPLER_CHECK_OK(End(std::exchange(parser_.handler().document, {})));
    }
    return {};
  }

 private:
  Status End(internal::Document document) {
    PodEvent event{.resource_version = std::move(document.resource_version)};
    if (document.type == "ERROR") {
      event.kind = PodEvent::Kind::kError;
      event.code = document.code;
      event.message = std::move(document.message);
    } else if (document.type == "ADDED" || document.type == "MODIFIED" || document.type == "DELETED") {
      if (document.pods.empty()) return {};
      event.kind = document.type == "DELETED" ? PodEvent::Kind::kGone : PodEvent::Kind::kSet;
      event.pod = std::move(document.pods.front());
    } else if (document.type != "BOOKMARK") {
      return {};
    }
    return take_(std::move(event));
  }

  const Take take_;
  uint64_t bytes_ = 0;
  internal::Parser parser_{json::parse_options{}, internal::kEventLayout};
};

PodEventReader::PodEventReader(Take take) : impl_(std::make_unique<Impl>(std::move(take))) {}
PodEventReader::~PodEventReader() = default;
Status PodEventReader::Read(std::string_view piece) { return impl_->Read(piece); }

}  // namespace kepler::workload::kubernetes
