#pragma once
// Lists the files of a store that an index is made of. model_tree.h describes the tree.
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/small_file.h"
#include "model/power_model.h"

namespace kepler::modelserver {

/// The node types of a pipeline, in its directory.
inline constexpr char kTypesFile[] = "node_type_index.json";

/// Parts of a relative path from its end: [pipeline]/[source]/[output]/[group]/[name].
struct UpstreamPath {
  std::string pipeline_dir;  // relative; "" if the root is the pipeline
  std::string source;
  model::OutputType output{};
  std::string group;
  std::string name;
};
[[nodiscard]] std::optional<UpstreamPath> ParseUpstream(std::string_view relative);

using Stamps = std::map<std::string, FileStamp>;  // by path relative to the root of the store

/// Lists the files below `root`. Hidden directories and directories that may not be read are skipped. A scan of an
/// unchanged store is nothing but this: one stat() of each file. An error names the root; kNotFound if the root or a
/// directory was removed meanwhile. Blocks.
[[nodiscard]] Result<Stamps> ListStore(const std::string& root);

}  // namespace kepler::modelserver
