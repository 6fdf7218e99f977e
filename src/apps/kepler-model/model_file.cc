#include "apps/kepler-model/model_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "apps/kepler-model/files.h"
#include "model/model_json.h"

namespace kepler::model_tool {

Result<model::PowerModel> ReadModel(const std::string& path) {
  std::error_code failed;
  const bool is_directory = std::filesystem::is_directory(path, failed);
  const std::string file = is_directory ? path + kModelFile : path;
  KEPLER_TRY(const std::string text, ReadBounded(file, model::kMaxModelBytes));
  auto model = model::ReadModelJson(text);
  if (!model) return Fail(model.error().kind, fmt::format("{}: {}", file, model.error().message));
  return model;
}

}  // namespace kepler::model_tool
