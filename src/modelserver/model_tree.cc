#include "modelserver/model_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "lab/files/files.h"
#include "model/any_json.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "model/sha256.h"
#include "model/weights_format.h"
#include "model/weights_json.h"
#include "modelserver/own_archive.h"

namespace kepler::modelserver {
namespace {

namespace fs = std::filesystem;

constexpr char kUploads[] = "models/";  // of Publish()

bool IsServedTrainer(std::string_view name) {
  const std::string_view trainer = model::TrainerOf(name);
  return trainer == model::kLinearTrainer ||
         std::ranges::find(model::kCurves, trainer, &model::CurveKind::trainer) != std::end(model::kCurves);
}

/// The trainer whose formula the weights of this predictor are.
std::string_view TrainerOfWeights(const model::Predictor& predictor) {
  const auto* const curve = std::get_if<model::Curve>(&predictor.formula);
  if (curve == nullptr) return model::kLinearTrainer;
  return std::ranges::find(model::kCurves, curve->shape, &model::CurveKind::shape)->trainer;
}

/// Returns true if an archive for each kind of energy source that the model has can be made.
bool CanBeArchive(const model::PowerModel& model) {
  return std::ranges::all_of(model.components, [&](const model::ComponentModel& of) {
    return WriteOwnArchive(model, of.component == model::Component::kPlatform ? "acpi" : "rapl-sysfs").has_value();
  });
}

/// Makes an index. Models of the previous index whose files have not changed are copied.
class Builder {
 public:
  Builder(const std::string& root, const Stamps& stamps, const ModelIndex* previous) : root_(root), stamps_(stamps) {
    if (previous == nullptr) return;
    for (const StoredModel& model : previous->models) known_.emplace(model.id, &model);
  }

  ModelIndex Build() {
    for (const auto& [relative, stamp] : stamps_)
      if (fs::path(relative).filename() == kTypesFile) AddTypes(relative);
    // An uploaded model wins against a copy of the same name, wherever the copy is.
    for (const bool is_uploaded : {true, false})
      for (const auto& entry : stamps_)
        if (entry.first.starts_with(kUploads) == is_uploaded) AddModel(entry.first);
    std::ranges::sort(index_.models, {}, &StoredModel::id);
    std::ranges::sort(index_.pipelines, {}, &Pipeline::name);
    return std::move(index_);
  }

 private:
  [[nodiscard]] bool Exists(const std::string& relative) const { return stamps_.contains(relative); }

  [[nodiscard]] std::string NameOfDir(const std::string& relative) const {
    return relative.empty() ? fs::path(root_).filename().string() : fs::path(relative).filename().string();
  }

  void Skip(const std::string& relative, std::string_view reason) {
    index_.skipped.push_back({relative, EscapeControls(reason)});
  }

  using Loaded = std::pair<StoredFile, std::string>;

  [[nodiscard]] Result<Loaded> Load(const std::string& relative) const {
    return Load(relative, (fs::path(root_) / relative).string());
  }
  [[nodiscard]] Result<Loaded> Load(const std::string& relative, const std::string& path) const {
    StoredFile file{.path = path, .relative = relative, .sha256 = {}, .stamp = {}};
    // Without a stamp, the file came after the list of files. The next scan reads it again.
    if (const auto stamp = stamps_.find(relative); stamp != stamps_.end()) file.stamp = stamp->second;
    if (std::error_code error; fs::is_other(path, error))
      return Fail(ErrorKind::kInvalid, fmt::format("read {}: it is not a regular file", path));
    KEPLER_TRY(std::string bytes, ReadSmallFile(file.path, kMaxStoredBytes));
    file.sha256 = model::Sha256(bytes);
    return std::pair(std::move(file), std::move(bytes));
  }

  void AddTypes(const std::string& relative) {
    const std::string dir = fs::path(relative).parent_path().string();
    auto file = Load(relative);
    auto types = file ? model::ReadNodeTypesJson(file->second) : std::unexpected(file.error());
    if (!types) return Skip(relative, types.error().message);
    types_of_.emplace(dir, *types);
    index_.pipelines.push_back({NameOfDir(dir), *std::move(types)});
  }

  void AddModel(const std::string& relative) {
    const fs::path path(relative);
    if (path.filename() == kOwnFile)
      Add(path.parent_path().string(), [&] { return ReadOwn(relative); });
    else if (const auto upstream = ParseUpstream(relative); upstream && upstream->name != "metadata")
      Add((path.parent_path() / upstream->name).string(), [&] { return ReadUpstream(*upstream, path); });
  }

  template <class Read>
  void Add(const std::string& id, Read read) {
    if (!seen_.insert(id).second) return;
    if (const auto known = known_.find(id); known != known_.end() && IsUnchanged(*known->second)) {
      if (known->second->own) own_names_.insert(known->second->name);
      return index_.models.push_back(*known->second);
    }
    Result<StoredModel> model = read();
    if (!model) return Skip(id, model.error().message);
    model->id = id;
    index_.models.push_back(*std::move(model));
  }

  [[nodiscard]] bool IsUnchanged(const StoredModel& model) const {
    const auto same = [&](const std::optional<StoredFile>& file, const std::string& relative) {
      const auto now = stamps_.find(file ? file->relative : relative);
      return file ? now != stamps_.end() && now->second == file->stamp : now == stamps_.end();
    };
    const bool types_are_same = !model.type || model.own || TypesUnchanged(model);
    if (model.own)
      return same(model.own, "") &&
             same(model.signature, model.id.empty() ? kSignatureFile : model.id + "/" + kSignatureFile);
    return types_are_same && same(model.archive, model.id + ".zip") && same(model.weights, model.id + ".json");
  }

  [[nodiscard]] bool TypesUnchanged(const StoredModel& model) const {
    const auto machine = MachineOf(ParseUpstream(model.id + ".zip")->pipeline_dir, model.type);
    return !machine || machine == model.machine();
  }

  [[nodiscard]] std::optional<model::MachineSpec> MachineOf(const std::string& pipeline_dir,
                                                            std::optional<uint32_t> type) const {
    const auto types = types_of_.find(pipeline_dir);
    if (!type || types == types_of_.end()) return std::nullopt;
    const auto found = std::ranges::find(types->second, *type, &model::NodeType::number);
    return found == types->second.end() ? std::nullopt : std::optional(found->machine);
  }

  struct Version {
    Loaded model;
    std::optional<StoredFile> signature;
  };
  /// model.json and its signature, of one version. A publish replaces the link to their directory at any time, and
  /// later publishes remove the directory.
  [[nodiscard]] Result<Version> LoadVersion(const std::string& relative) const {
    constexpr int kTries = 4;
    for (int i = 1;; ++i) {
      std::error_code error;
      const fs::path directory = fs::canonical((fs::path(root_) / relative).parent_path(), error);
      if (error) {
        if (i == kTries) return FailErrno("find", relative, error.value());
        continue;
      }
      auto model = Load(relative, (directory / kOwnFile).string());
      auto signature = Load(relative + ".sig", (directory / kSignatureFile).string());
      if (i < kTries && !fs::is_directory(directory, error)) continue;
      if (!model) return std::unexpected(model.error());
      if (!signature && signature.error().kind != ErrorKind::kNotFound) return std::unexpected(signature.error());
      return Version{.model = *std::move(model),
                     .signature = signature ? std::optional(std::move(signature->first)) : std::nullopt};
    }
  }

  Result<StoredModel> ReadOwn(const std::string& relative) {
    KEPLER_TRY(auto version, LoadVersion(relative));
    auto& file = version.model;
    const std::string name = NameOfDir(fs::path(relative).parent_path().string());
    if (!IsModelName(name)) return Fail(ErrorKind::kInvalid, "its directory cannot be the name of a model");
    if (!own_names_.insert(name).second)
      return Fail(ErrorKind::kInvalid, "another directory with a model has the same name");
    auto known = std::make_shared<model::KnownModel>();
    KEPLER_TRY(known->model, model::ReadAnyModelJson(file.second, {.name = name}));
    known->source = relative;
    // Only cards need these rows, and read the file again: they are most of a small model.
    for (model::ComponentModel& component : known->model.components) component.tested = {};
    StoredModel model;
    model.name = name;
    model.pipeline = known->model.name;
    model.output = known->model.output;
    model.features = known->model.features;
    model.group = model::GroupNameOf(known->model.features);
    model.stated = StatedErrors(known->model);
    model.own = std::move(file.first);
    model.judged_archive = known;
    if (model::WriteWeightsJson(known->model)) {
      model.judged_weights = known;
      model.weights_name = fmt::format("{}_0", TrainerOfWeights(known->model.components.front().predictor));
    }
    if (CanBeArchive(known->model)) model.archive_name = kOwnArchiveName;
    model.signature = std::move(version.signature);
    return model;
  }

  Result<StoredModel> ReadUpstream(const UpstreamPath& path, const fs::path& relative) {
    StoredModel model;
    model.name = path.name;
    model.pipeline = NameOfDir(path.pipeline_dir);
    model.source = path.source;
    model.group = path.group;
    model.output = path.output;
    model.type = TypeOfName(path.name);
    const std::string stem = (relative.parent_path() / path.name).string();
    KEPLER_CHECK_OK(ReadZip(stem + ".zip", path, model));
    if (const Status weights = ReadWeights(stem + ".json", path, model); !weights) {
      if (!model.archive) return std::unexpected(weights.error());
      Skip(stem + ".json", weights.error().message);
    }
    if (!model.archive && !model.weights) return Fail(ErrorKind::kMalformed, "it is not a file of a model");
    return model;
  }

  Status ReadZip(const std::string& relative, const UpstreamPath& path, StoredModel& model) {
    if (!Exists(relative)) return {};
    KEPLER_TRY(auto file, Load(relative));
    KEPLER_TRY(ArchiveSummary summary, ReadArchiveSummary(file.second));
    if (summary.outline.output != path.output)
      return Fail(ErrorKind::kMalformed, "metadata.json states another output than the directory");
    auto known = std::make_shared<model::KnownModel>();
    known->model = std::move(summary.outline);
    if (!known->model.machine) known->model.machine = MachineOf(path.pipeline_dir, model.type);
    known->source = relative;
    model.features = std::move(summary.features);
    model.stated = std::move(summary.stated);
    model.archive_name = path.name;
    model.archive = std::move(file.first);
    model.judged_archive = std::move(known);
    return {};
  }

  /// Reads weights of the trainers that the agent of Kepler 0.7 can apply; others are ignored.
  Status ReadWeights(const std::string& relative, const UpstreamPath& path, StoredModel& model) {
    if (!Exists(relative) || !IsServedTrainer(path.name)) return {};
    KEPLER_TRY(auto file, Load(relative));
    auto known = std::make_shared<model::KnownModel>();
    KEPLER_TRY(known->model, model::ReadWeightsJson(file.second, path.name));
    known->model.name = path.name;
    known->model.output = path.output;
    if (model.judged_archive != nullptr) {
      known->model.machine = model.judged_archive->model.machine;
      CopyErrors(model.judged_archive->model, known->model);
    }
    if (!known->model.machine) known->model.machine = MachineOf(path.pipeline_dir, model.type);
    known->source = relative;
    if (model.features.empty()) model.features = known->model.features;
    model.weights_name = path.name;
    model.weights = std::move(file.first);
    model.judged_weights = std::move(known);
    return {};
  }

  static void CopyErrors(const model::PowerModel& from, model::PowerModel& to) {
    for (model::ComponentModel& component : to.components) {
      const auto found = std::ranges::find(from.components, component.component, &model::ComponentModel::component);
      if (found != from.components.end()) component.accuracy = found->accuracy;
    }
  }

  const std::string& root_;
  const Stamps& stamps_;
  std::map<std::string, const StoredModel*, std::less<>> known_;
  std::map<std::string, std::vector<model::NodeType>, std::less<>> types_of_;  // by directory of the pipeline
  std::set<std::string> seen_;
  std::set<std::string> own_names_;
  ModelIndex index_;
};

}  // namespace

Result<std::shared_ptr<const ModelIndex>> ModelTree::Scan() {
  auto listed = ListStore(root_);
  // A directory can be removed while it is listed.
  for (int retries = 0; !listed && listed.error().kind == ErrorKind::kNotFound && retries < 3; ++retries)
    listed = ListStore(root_);
  KEPLER_TRY(Stamps stamps, std::move(listed));
  if (latest_ != nullptr && stamps == stamps_) return latest_;
  auto next = std::make_shared<ModelIndex>(Builder(root_, stamps, latest_.get()).Build());
  next->generation = latest_ == nullptr ? 1 : latest_->generation + 1;
  stamps_ = std::move(stamps);
  latest_ = std::move(next);
  return latest_;
}

}  // namespace kepler::modelserver
