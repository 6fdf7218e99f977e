// The keys of model.publicKey, in PEM: refused with a reason, or keys that signatures can be held to.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model_store/public_keys.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto keys = kepler::model_store::PublicKeys::Parse(text);
  if (!keys) {
    if (keys.error().message.empty()) std::abort();
    return 0;
  }
  // Some keys are of small order and verify what nobody signed: that it ends is all there is to ask.
  static_cast<void>(keys->Verify(text, text.substr(0, kepler::model_store::PublicKeys::kSignatureBytes)));
  return 0;
}
