// The key of model.publicKey, in PEM: refused with a reason, or a key that signatures can be held to.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model_store/public_key.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto key = kepler::model_store::PublicKey::Parse(text);
  if (!key) {
    if (key.error().message.empty()) std::abort();
    return 0;
  }
  // Some keys are of small order and verify what nobody signed: that it ends is all there is to ask.
  static_cast<void>(key->Verify(text, text.substr(0, kepler::model_store::PublicKey::kSignatureBytes)));
  return 0;
}
