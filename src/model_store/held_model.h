#pragma once
// The model that a place gave last and that was good.
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/model_set.h"

namespace kepler::model_store {

class HeldModel {
 public:
  struct Offer {
    std::string_view text;
    std::string_view name{};    // where the text does not say it
    std::string_view source{};  // for KnownModel
    std::string_view sha256{};  // that the text must have; "" any
    bool chosen = false;        // for KnownModel
  };
  /// Whether it is another model now. On an error it is what it was before: kInvalid where the checksum is another, or
  /// the model is of the same name and a smaller version than the one in use; kMalformed for no model.
  [[nodiscard]] Result<bool> Take(const Offer& offer);

  /// Null without a model.
  [[nodiscard]] const std::shared_ptr<const model::KnownModel>& known() const { return known_; }
  /// Of its text; "" without a model.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  std::shared_ptr<const model::KnownModel> known_;
  std::string sha256_;
};

}  // namespace kepler::model_store
