#pragma once
// The index of a store: which models its directory tree holds, with checksums. A value that never changes; readers
// share it, and a new scan (model_tree.h) makes another one.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/small_file.h"
#include "model/model_set.h"
#include "model/node_types.h"
#include "modelserver/archive_summary.h"

namespace kepler::modelserver {

/// Files of our own model in its directory.
inline constexpr char kOwnFile[] = "model.json";
inline constexpr char kSignatureFile[] = "model.json.sig";

struct StoredFile {
  std::string path;      // on disk
  std::string relative;  // below the root of the store, with "/"
  std::string sha256;
  FileStamp stamp;
};

/// One model: of an upstream database, or ours (model.json in a directory of its own).
struct StoredModel {
  std::string id;    // relative path without its suffix: "ec2-0.7.11/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0"
  std::string name;  // "SGDRegressorTrainer_0"; the directory of our own model
  std::string pipeline;  // "ec2-0.7.11"; the name in the file of our own model
  std::string source;    // "rapl-sysfs", "acpi"; empty for our own models, which serve the sources of their components
  std::string group;     // "BPFOnly"
  model::OutputType output = model::OutputType::kAbsPower;
  std::vector<std::string> features;  // as the file spells them
  Stated stated;
  std::optional<uint32_t> type;  // node type in its pipeline
  // Names that old clients get: they select the reader, and trainer_name is compared with them. Empty if the model
  // cannot be given in this form.
  std::string archive_name;  // "XgboostFitTrainer_0"
  std::string weights_name;  // "SGDRegressorTrainer_0"
  // What a choice judges; null if the file is missing. The predictors of `judged_archive` are placeholders.
  std::shared_ptr<const model::KnownModel> judged_archive;
  std::shared_ptr<const model::KnownModel> judged_weights;
  std::optional<StoredFile> archive;    // .zip of upstream
  std::optional<StoredFile> weights;    // .json of upstream
  std::optional<StoredFile> own;        // model.json
  std::optional<StoredFile> signature;  // model.json.sig
  [[nodiscard]] const std::optional<model::MachineSpec>& machine() const {
    return (judged_archive != nullptr ? judged_archive : judged_weights)->model.machine;
  }
};

struct Pipeline {
  std::string name;
  std::vector<model::NodeType> types;
};

/// A file at the place of a model that cannot be read as one.
struct SkippedFile {
  std::string relative;
  std::string reason;
};

struct ModelIndex {
  uint64_t generation = 0;          // of this process; larger is newer
  std::vector<StoredModel> models;  // by id
  std::vector<Pipeline> pipelines;  // by name
  std::vector<SkippedFile> skipped;
  [[nodiscard]] const StoredModel* FindOwn(std::string_view name) const;
  [[nodiscard]] const StoredModel* FindById(std::string_view id) const;
  [[nodiscard]] const Pipeline* FindPipeline(std::string_view name) const;
  /// Any file of a model, by its relative path.
  [[nodiscard]] const StoredFile* FindFile(std::string_view relative) const;
};

/// "rapl-sysfs" for every name that contains "rapl", as upstream does; else the name.
[[nodiscard]] std::string NormalSource(std::string_view name);

/// Returns true if `name` can be the directory of a model: letters, digits, ".", "_" and "-", at most 128, and no "."
/// in front.
[[nodiscard]] bool IsModelName(std::string_view name);

/// The error for a `name` that is not one.
[[nodiscard]] std::string NoModelName(std::string_view name);

/// The bytes of a file, which must be those that the index was made of. kUnavailable if somebody has changed the file
/// since. Blocks.
[[nodiscard]] Result<std::string> ReadStored(const StoredFile& file);

/// Maximum size of a file of the store.
inline constexpr size_t kMaxStoredBytes = size_t{64} << 20;

}  // namespace kepler::modelserver
