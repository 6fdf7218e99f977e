#pragma once
// What a model is called whose file does not say it. Pure.
#include <string>
#include <string_view>

namespace kepler::model {

/// Of a path, or that of a URL: "a" of "/models/a.json". Files that all are called so, model.json and weight.json, are
/// named by their directory, where the path has one that is a name.
[[nodiscard]] std::string NameOfFile(std::string_view path);

}  // namespace kepler::model
