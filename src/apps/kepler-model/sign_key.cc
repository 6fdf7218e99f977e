#include "apps/kepler-model/sign_key.h"

#include <fmt/format.h>

#include <cstddef>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"

namespace kepler::lab::tool {

Result<model_store::PrivateKey> ReadSignKey(const std::string& path) {
  constexpr size_t kMax = size_t{1} << 16;
  KEPLER_TRY(const std::string pem, files::ReadBounded(path, kMax));
  return files::InFile(path, model_store::PrivateKey::Parse(pem));
}

void NoteUnsigned(uint32_t version) {
  Note(
      fmt::format("version {} is not signed, so agents with model.publicKey refuse it; sign with --sign-key", version));
}

}  // namespace kepler::lab::tool
