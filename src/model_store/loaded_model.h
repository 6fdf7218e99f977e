#pragma once
// The latest valid model of a place. It stays in use until a newer one is valid.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/model_set.h"
#include "model_store/model_query.h"
#include "model_store/text_budget.h"

namespace kepler::model_store {

/// Reads an archive (zip) of a model; the model has passed Check(). Any thread.
using ReadArchive = std::function<Result<model::PowerModel>(std::string_view bytes)>;

class LoadedModel {
 public:
  /// `budget` must outlive it.
  explicit LoadedModel(TextBudget& budget) : budget_(budget) {}
  ~LoadedModel() { budget_.Replace(bytes_, 0); }
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  struct Offer {
    std::string_view text;
    std::string_view name{};                    // where the text does not say it
    std::string_view source{};                  // for KnownModel
    std::string_view sha256{};                  // that the text must have; "" any
    bool chosen = false;                        // for KnownModel
    std::optional<model::OutputType> output{};  // that the model must have, or has where the text does not say it
    model::OutputType output_otherwise = model::OutputType::kAbsPower;  // where nobody says it
    bool is_signed = false;                                             // and so must say its name and output itself
    const ReadArchive* read_archive = nullptr;                          // null: archives are refused
    const ModelQuery* query = nullptr;                                  // that the model must be usable for; null: none
  };
  /// Whether it is another model now. On an error it is unchanged: kInvalid where the checksum is another, or
  /// the model is of the same name and a smaller version than the one in use; kMalformed for no model; as Check() and
  /// CheckUsable().
  [[nodiscard]] Result<bool> Take(const Offer& offer);
  /// Whether the budget has room for a text of this size.
  [[nodiscard]] Status Check(uint64_t bytes) const { return budget_.Check(bytes, bytes_); }

  /// Null without a model.
  [[nodiscard]] const std::shared_ptr<const model::KnownModel>& known() const { return known_; }
  /// Of its text; "" without a model.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  TextBudget& budget_;
  size_t bytes_ = 0;  // of its text
  std::shared_ptr<const model::KnownModel> known_;
  std::string sha256_;
};

}  // namespace kepler::model_store
