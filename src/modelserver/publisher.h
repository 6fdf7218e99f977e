#pragma once
// Publishes uploaded models in the store. models/NAME is a link to a directory below .versions/NAME; a publish writes a
// new directory to the disk and then replaces the link, so that readers and a crash see the old or the new version,
// never half of one. A lock (store_lock.h) keeps processes that publish the same model apart. Blocks; any thread.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::modelserver {

inline constexpr size_t kMaxUploadBytes = size_t{16} << 20;
inline constexpr size_t kMaxSignatureBytes = 1024;
/// Versions of a model that stay on the disk, with the published one.
inline constexpr size_t kKeptVersions = 8;
/// For another process that publishes the same model, which takes milliseconds.
inline constexpr std::chrono::milliseconds kPublishWait{5000};

struct Upload {
  std::string_view name;       // of the directory
  std::string_view json;       // model.json
  std::string_view signature;  // model.json.sig; empty: none
  double trained_until = 0;    // as in training_facts.h; 0: unknown
  // The published text that the publisher has read; empty if there was none. Not set: any text may be replaced.
  std::optional<std::string_view> replaced{};
  // Of the lock: who publishes, and how long to wait for another one.
  std::string_view publisher = "kepler-model";
  std::chrono::milliseconds patience = kPublishWait;
};

struct Published {
  uint32_t version = 0;
  std::string sha256;
  bool is_new = false;  // false: the store had the same bytes
};

/// Errors: kMalformed for a text that is no model of ours, kInvalid for a name that cannot be used, kUnavailable if the
/// version is not larger than the published one or the published text is not `replaced`, kTimeout if another process
/// publishes, else as FailErrno; then the published version is unchanged.
[[nodiscard]] Result<Published> Publish(const std::string& root, const Upload& upload);

struct KeptVersion {
  uint32_t version = 0;
  std::string directory;  // on the disk
  std::string json;
  std::string signature;  // empty: none
};

/// The versions of a model that can be read, the oldest first, with the published one if it was uploaded.
[[nodiscard]] std::vector<KeptVersion> KeptVersions(const std::string& root, std::string_view name);

/// Publishes a kept version again, byte for byte, in place of the published text `replaced`. Errors as Publish();
/// kUnavailable if another process has published since, or removed the kept version.
[[nodiscard]] Status PublishAgain(const std::string& root, std::string_view name, const KeptVersion& version,
                                  std::string_view replaced, std::string_view publisher);

}  // namespace kepler::modelserver
