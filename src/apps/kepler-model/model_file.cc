#include "apps/kepler-model/model_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "apps/kepler-model/files.h"
#include "model/any_json.h"
#include "model/model_json.h"

namespace kepler::model_tool {
namespace {

/// As the model server has it, in a directory with the name of the model.
constexpr char kWeightFile[] = "/weight.json";

}  // namespace

Result<model::PowerModel> ReadModel(const std::string& path, std::span<const std::string> features,
                                    model::Component component) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::string file = path;
  if (fs::is_directory(path, failed)) {
    file = path + kModelFile;
    if (!fs::exists(file, failed) && fs::exists(path + kWeightFile, failed)) file = path + kWeightFile;
  }
  KEPLER_TRY(const std::string text, ReadBounded(file, model::kMaxModelBytes));
  const fs::path place = fs::path(file).lexically_normal();
  const std::string name = file.ends_with(kWeightFile) ? place.parent_path().filename() : place.stem();
  auto model = model::ReadAnyModelJson(text, {.name = name, .features = features, .component = component});
  if (!model) return Fail(model.error().kind, fmt::format("{}: {}", file, model.error().message));
  return model;
}

}  // namespace kepler::model_tool
