#pragma once
// The models that there are, and where each came from. The set is swapped whole: who finds models (a file, a URL that
// is asked again) sets it, who estimates looks at the latest. A model may be large, so sets share it.
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
  bool chosen = false;  // somebody named this very model, so it is used whatever machine it is of
};
using ModelSet = std::vector<std::shared_ptr<const KnownModel>>;  // none is null

/// The latest set. Thread-safe.
class ModelBoard {
 public:
  void Set(std::shared_ptr<const ModelSet> next) {
    const std::scoped_lock lock(mutex_);
    latest_.swap(next);
  }
  /// Never null. A new set is another pointer.
  [[nodiscard]] std::shared_ptr<const ModelSet> Latest() const {
    const std::scoped_lock lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelSet> latest_ = std::make_shared<const ModelSet>();
};

}  // namespace kepler::model
