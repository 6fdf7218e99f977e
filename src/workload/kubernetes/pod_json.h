#pragma once
// Pods as the API server and the kubelet write them, in JSON. Read as the bytes come: what nobody asks for (most of a
// pod) is passed over, so that a list of 50 MB takes the memory of its names. Pure.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "workload/pod_map.h"

namespace kepler::workload::kubernetes {

/// The labels and annotations of pods that are asked for, by their names in the cluster. No others are kept.
struct AskedTexts {
  std::vector<std::string> labels{};
  std::vector<std::string> annotations{};
};

/// Texts as the server gave them.
struct Pod {
  std::string uid;
  std::string static_uid;  // what it says that its cgroup shows instead, the hash of a static pod's manifest; "": none
  std::string name;
  std::string name_space;
  std::vector<PodContainer> containers;  // that run or ran: init, sidecar and ephemeral ones too, and the last before
  using Texts = std::vector<std::pair<std::string, std::string>>;
  Texts labels{};       // name and value, of those that are asked for; the value as labels show it (LabelText)
  Texts annotations{};  // likewise: one may have 256 KiB
  PodOwner owner{};     // pod_owner.h
  bool operator==(const Pod&) const = default;
};

/// What is not kept because there is no room for it.
struct LeftOut {
  uint64_t pods = 0;
  uint64_t containers = 0;  // those of the pods too
  LeftOut& operator+=(const LeftOut& more) {
    pods += more.pods;
    containers += more.containers;
    return *this;
  }
  [[nodiscard]] bool any() const { return pods > 0 || containers > 0; }
  bool operator==(const LeftOut&) const = default;
};

// Anyone who may create a pod chooses these: the rest is left out.
inline constexpr size_t kMaxContainers = 1'000;            // of one pod
inline constexpr size_t kMaxText = 4'096;                  // bytes of one name or id
inline constexpr size_t kMaxNameBytes = size_t{32} << 20;  // of all pods together (MemoryOf)
inline constexpr size_t kPodPart = 16;                     // a pod's containers get one such part of the bytes of names
inline constexpr uint64_t kMaxEventBytes = uint64_t{16}
                                           << 20;  // of the text of one event; etcd keeps objects of 1.5 MiB

/// How many bytes of names a process keeps that may use `memory` bytes in all. A list takes up to four times as many
/// while it is read.
[[nodiscard]] constexpr size_t NameBytesFor(std::optional<uint64_t> memory) {
  constexpr uint64_t kPart = 16;
  constexpr uint64_t kMin = uint64_t{1} << 20;
  return std::clamp<uint64_t>(memory.value_or(UINT64_MAX) / kPart, kMin, kMaxNameBytes);
}

struct PodList {
  std::vector<Pod> pods;         // without those that have no UID or name
  std::string resource_version;  // from where to watch; "" of a kubelet
  size_t bytes = 0;              // of the pods (MemoryOf)
  LeftOut left_out{};
  bool operator==(const PodList&) const = default;
};

/// A PodList, piece by piece.
class PodListReader {
 public:
  /// `max_bytes`: limit of the names of all pods. Names are kept in the order of the list while they fit, and the
  /// containers of one pod get at most 1/kPodPart of the bytes.
  explicit PodListReader(AskedTexts asked = {}, size_t max_bytes = kMaxNameBytes);
  ~PodListReader();
  /// An error is of the whole list: no JSON, or no PodList.
  [[nodiscard]] Status Read(std::string_view piece);
  /// To call once, behind the last piece.
  [[nodiscard]] Result<PodList> Finish();

 private:
  class Impl;  // keeps the JSON library out of here
  std::unique_ptr<Impl> impl_;
};

/// What a watch says.
struct PodEvent {
  enum class Kind : uint8_t {
    kSet,       // the pod is there, or has changed
    kGone,      // it was deleted
    kBookmark,  // nothing has happened up to resource_version
    kError,     // the watch has failed; code and message say how
  };
  Kind kind = Kind::kBookmark;
  Pod pod{};                       // kSet, kGone
  std::string resource_version{};  // from where to go on after this
  int64_t code = 0;                // as of HTTP: 410 for a resource version that is too old
  std::string message{};
  LeftOut left_out{};  // of the pod
};

/// The answer to a watch, piece by piece: one event behind the other.
class PodEventReader {
 public:
  /// Its error ends the reading and is the answer of Read().
  using Take = std::function<Status(PodEvent event)>;

  /// `max_bytes`: limit of the names of all pods. An event may use as much as one pod of a list.
  explicit PodEventReader(Take take, AskedTexts asked = {}, size_t max_bytes = kMaxNameBytes);
  ~PodEventReader();
  /// Unknown kinds of events are passed over. An event above kMaxEventBytes is an error. After an error no more may be
  /// read.
  [[nodiscard]] Status Read(std::string_view piece);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::workload::kubernetes
