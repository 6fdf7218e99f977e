#include "model_store/loaded_model.h"

#include <fmt/format.h>

#include <utility>

#include "model/any_json.h"
#include "model/sha256.h"

namespace kepler::model_store {
namespace {

Status CheckVersion(const model::PowerModel& offered, const model::PowerModel& loaded) {
  if (offered.name != loaded.name || offered.version >= loaded.version) return {};
  return Fail(ErrorKind::kInvalid,
              fmt::format("version {} of {} is older than version {}, which is in use; to go back, increase its "
                          "version",
                          offered.version, offered.name, loaded.version));
}

Result<model::PowerModel> Read(const LoadedModel::Offer& offer) {
  if (!offer.text.starts_with("PK"))
    return model::ReadAnyModelJson(offer.text, {.name = offer.name,
                                                .features = {},
                                                .component = {},
                                                .output = offer.output,
                                                .output_otherwise = offer.output_otherwise,
                                                .is_signed = offer.is_signed});
  if (offer.read_archive == nullptr)
    return Fail(ErrorKind::kMalformed, "it is an archive; unpack it with kepler-model import and use the result");
  KEPLER_TRY(model::PowerModel read, (*offer.read_archive)(offer.text));
  if (offer.output && read.output != *offer.output)
    return Fail(ErrorKind::kInvalid, fmt::format("the archive states that its watts are {}", Name(read.output)));
  return read;
}

}  // namespace

Result<bool> LoadedModel::Take(const Offer& offer) {
  std::string sha256 = model::Sha256(offer.text);
  if (!offer.sha256.empty() && sha256 != offer.sha256)
    return Fail(ErrorKind::kInvalid, fmt::format("its SHA-256 is {}, expected {}", sha256, offer.sha256));
  if (known_ && sha256 == sha256_) return false;
  const auto turn = budget_.Turn();
  KEPLER_CHECK_OK(Check(offer.text.size()));
  KEPLER_TRY(model::PowerModel read, Read(offer));
  if (known_) KEPLER_CHECK_OK(CheckVersion(read, known_->model));
  auto known = std::make_shared<const model::KnownModel>(
      model::KnownModel{.model = std::move(read), .source = std::string(offer.source), .chosen = offer.chosen});
  if (offer.query != nullptr) KEPLER_CHECK_OK(CheckUsable(known, *offer.query));
  known_ = std::move(known);
  sha256_ = std::move(sha256);
  budget_.Replace(std::exchange(bytes_, offer.text.size()), offer.text.size());
  return true;
}

}  // namespace kepler::model_store
