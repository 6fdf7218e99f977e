#include "apps/kepler-model/sign_key.h"

#include <cstddef>

#include "lab/files/files.h"

namespace kepler::lab::tool {

Result<model_store::PrivateKey> ReadSignKey(const std::string& path) {
  constexpr size_t kMax = size_t{1} << 16;
  KEPLER_TRY(const std::string pem, files::ReadBounded(path, kMax));
  return files::InFile(path, model_store::PrivateKey::Parse(pem));
}

}  // namespace kepler::lab::tool
