#pragma once
// Names a model if its file contains no name. Pure.
#include <string>
#include <string_view>

namespace kepler::model {

/// Returns the name from a path, or from the path of a URL: "a" for "/models/a.json". Files called model.json or
/// weight.json are named after their directory, if the path has a named directory.
[[nodiscard]] std::string NameOfFile(std::string_view path);

}  // namespace kepler::model
