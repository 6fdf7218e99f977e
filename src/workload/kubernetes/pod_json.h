#pragma once
// Pods as the API server and the kubelet write them, in JSON. Read as the bytes come: what nobody asks for (most of a
// pod) is passed over, so that a list of 50 MB takes the memory of its names. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
  bool operator==(const Pod&) const = default;
};

inline constexpr size_t kMaxPods = 20'000;
// Whoever may make a pod chooses these: the rest is left out.
inline constexpr size_t kMaxContainers = 1'000;  // of one pod
inline constexpr size_t kMaxText = 4'096;        // of one name or id

struct PodList {
  std::vector<Pod> pods;         // without those that have no UID or name
  std::string resource_version;  // from where to watch; "" of a kubelet
  bool operator==(const PodList&) const = default;
};

/// A PodList, piece by piece.
class PodListReader {
 public:
  explicit PodListReader(AskedTexts asked = {});
  ~PodListReader();
  /// An error is of the whole list: no JSON, no PodList, or more than kMaxPods.
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
};

/// The answer to a watch, piece by piece: one event behind the other.
class PodEventReader {
 public:
  /// Its error ends the reading and is the answer of Read().
  using Take = std::function<Status(PodEvent event)>;

  explicit PodEventReader(Take take, AskedTexts asked = {});
  ~PodEventReader();
  /// Kinds of events that nobody knows are passed over. After an error no more may be read.
  [[nodiscard]] Status Read(std::string_view piece);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::workload::kubernetes
