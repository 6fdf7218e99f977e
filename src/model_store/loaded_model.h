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
    std::string_view name{};                    // if the text has no name
    std::string_view source{};                  // for KnownModel
    std::string_view sha256{};                  // that the text must have; empty: any
    bool chosen = false;                        // for KnownModel
    std::optional<model::OutputType> output{};  // required; it is also the default if the text states none
    model::OutputType output_otherwise = model::OutputType::kAbsPower;  // default if neither states one
    bool is_signed = false;                     // the text itself must then state name and output
    const ReadArchive* read_archive = nullptr;  // null: archives are refused
    const ModelQuery* query = nullptr;          // that the model must be usable for; null: none
  };
  /// Returns true if the model has changed. After an error it is unchanged. kInvalid if the checksum differs, or if the
  /// model has the same name and a smaller version than the one in use; kMalformed if the text is not a model. Other
  /// errors as of Check() and CheckUsable().
  [[nodiscard]] Result<bool> Take(const Offer& offer);
  /// Checks whether the budget has room for a text of this size.
  [[nodiscard]] Status Check(uint64_t bytes) const { return budget_.Check(bytes, bytes_); }

  /// Null if no model is loaded.
  [[nodiscard]] const std::shared_ptr<const model::KnownModel>& known() const { return known_; }
  /// Checksum of its text; empty if no model is loaded.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  TextBudget& budget_;
  size_t bytes_ = 0;  // of its text
  std::shared_ptr<const model::KnownModel> known_;
  std::string sha256_;
};

}  // namespace kepler::model_store
