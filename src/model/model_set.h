#pragma once
// The known models and their sources. The set is replaced as a whole. A loader (of a file, or of a URL that is fetched
// again) sets it, and an estimator reads the latest set. A model may be large, so sets share models.
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/power_model.h"

namespace kepler::model {

struct KnownModel {
  PowerModel model;
  std::string source;   // a path or URL, without password and query
  bool chosen = false;  // the user named this model, so it is used for any machine
};
using ModelSet = std::vector<std::shared_ptr<const KnownModel>>;  // no entry is null

/// The latest set. Thread-safe.
class ModelBoard {
 public:
  void Set(std::shared_ptr<const ModelSet> next) {
    const std::scoped_lock lock(mutex_);
    latest_.swap(next);
  }
  /// Never null. A new set has a new pointer.
  [[nodiscard]] std::shared_ptr<const ModelSet> Latest() const {
    const std::scoped_lock lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelSet> latest_ = std::make_shared<const ModelSet>();
};

}  // namespace kepler::model
