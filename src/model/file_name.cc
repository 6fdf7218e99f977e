#include "model/file_name.h"

#include <vector>

#include "base/parse.h"

namespace kepler::model {

std::string NameOfFile(std::string_view path) {
  constexpr std::string_view kSuffix = ".json";
  std::vector<std::string_view> names;
  Splitter parts(path, '/');
  while (const auto part = parts.Next()) {
    if (*part == ".." && !names.empty()) names.pop_back();
    if (!part->empty() && *part != "." && *part != "..") names.push_back(*part);
  }
  if (names.empty()) return "";
  std::string_view file = names.back();
  if ((file == "model.json" || file == "weight.json") && names.size() > 1) return std::string(names[names.size() - 2]);
  if (file.ends_with(kSuffix) && file != kSuffix) file.remove_suffix(kSuffix.size());
  return std::string(file);
}

}  // namespace kepler::model
