#pragma once
// A model as one file to share: a zip archive of model.json, card.md, metadata.json, weight.json where the format of
// Kepler 0.7 can hold the model, and SHA256SUMS over all of them, as sha256sum reads it. Pure.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/files/archive.h"
#include "model/power_model.h"

namespace kepler::lab::files {

inline constexpr char kMetadataMember[] = "metadata.json";
inline constexpr char kWeightMember[] = "weight.json";

/// Maximum size of a card, in an archive and in the directory of a model.
inline constexpr size_t kMaxCardBytes = size_t{1} << 20;

struct SharedModel {
  model::PowerModel model;
  std::string json;  // model.json, which says the same
  std::string card;
};

/// What goes into the archive, in its order; the same model gives the same bytes.
[[nodiscard]] std::vector<Member> PackModel(const SharedModel& shared);

/// Whether it is such an archive, of whatever version.
[[nodiscard]] bool IsPackedModel(std::span<const Member> members);

/// All checksums hold, every file is listed, nothing else is there, the metadata are those of the model, and the card
/// is no larger than is packed. The sums find damage; who can write the archive can write them too. Errors name the
/// member.
[[nodiscard]] Result<SharedModel> UnpackModel(std::span<const Member> members);

/// An archive that Kepler's model server publishes: metadata.json, the formula of each component, and how its features
/// are scaled. Python pickles among them are read as data (lab/pickle), never executed.
struct ServerModel {
  model::PowerModel model;  // with the stated errors, and without components of 0 W
  std::string stated;       // the errors in its metadata, "package_mae 3.2, package_mape 4.1"; may be empty
  // If a file of the formula is missing: which one, and the model is that of weight.json. It may be of an earlier
  // training, so no errors are stated. Otherwise empty.
  std::string weights_because;
};

/// Reads pickles of scikit-learn and XGBoost's JSON; weight.json if one of these files is missing. Errors name the
/// member.
[[nodiscard]] Result<ServerModel> ReadServerArchive(std::span<const Member> members);

}  // namespace kepler::lab::files
