#pragma once
// Scans the directory tree of a store and makes its index. The tree is that of upstream's model database,
// [version]/[pipeline]/[EnergySource]/[OutputType]/[FeatureGroup]/[model].zip or .json, with metadata.json and
// node_type_index.json in each pipeline; the root may be any directory above the sources. Our own models are
// directories with model.json and model.json.sig. Anybody may edit the tree: a broken file is skipped with a reason,
// and hidden directories are not read. Blocks; one thread at a time.
#include <memory>
#include <string>

#include "base/result.h"
#include "modelserver/model_index.h"
#include "modelserver/store_files.h"

namespace kepler::modelserver {

class ModelTree {
 public:
  explicit ModelTree(std::string root) : root_(std::move(root)) {}

  /// Scans the tree. Returns the index, which is the previous one if no file has changed; files that have not changed
  /// are not read again. An error names the root, and the previous index stays valid.
  [[nodiscard]] Result<std::shared_ptr<const ModelIndex>> Scan();
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
  Stamps stamps_;
  std::shared_ptr<const ModelIndex> latest_;
};

}  // namespace kepler::modelserver
