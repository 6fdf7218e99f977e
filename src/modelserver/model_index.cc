#include "modelserver/model_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "model/sha256.h"

namespace kepler::modelserver {
namespace {

constexpr size_t kMaxModelName = 128;  // bytes

}  // namespace

const StoredModel* ModelIndex::FindOwn(std::string_view name) const {
  const auto found =
      std::ranges::find_if(models, [&](const StoredModel& model) { return model.own && model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

const StoredModel* ModelIndex::FindById(std::string_view id) const {
  const auto found = std::ranges::lower_bound(models, id, {}, &StoredModel::id);
  return found == models.end() || found->id != id ? nullptr : &*found;
}

const Pipeline* ModelIndex::FindPipeline(std::string_view name) const {
  const auto found = std::ranges::find(pipelines, name, &Pipeline::name);
  return found == pipelines.end() ? nullptr : &*found;
}

const StoredFile* ModelIndex::FindFile(std::string_view relative) const {
  for (const StoredModel& model : models)
    for (const auto* const file : {&model.archive, &model.weights, &model.own, &model.signature})
      if (*file && (*file)->relative == relative) return &**file;
  return nullptr;
}

std::string NormalSource(std::string_view name) { return std::string(name.contains("rapl") ? "rapl-sysfs" : name); }

bool IsModelName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxModelName && name.front() != '.' && std::ranges::all_of(name, is_allowed);
}

std::string NoModelName(std::string_view name) {
  constexpr size_t kShown = 40;
  return fmt::format(
      "{} is not a model name; use 1 to {} letters (a-z, A-Z), digits, '.', '_' and '-', and no '.' in front",
      QuoteJson(SanitizeUtf8(name, kShown)), kMaxModelName);
}

Result<std::string> ReadStored(const StoredFile& file) {
  auto bytes = ReadSmallFile(file.path, kMaxStoredBytes);
  if (!bytes && bytes.error().kind != ErrorKind::kNotFound) return bytes;
  if (!bytes || model::Sha256(*bytes) != file.sha256)
    return Fail(ErrorKind::kUnavailable, file.relative + ": the file has changed since it was indexed");
  return bytes;
}

}  // namespace kepler::modelserver
