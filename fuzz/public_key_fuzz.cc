// The keys of model.publicKey, in PEM: refused with a reason, or keys that signatures can be held to.
#include "fuzz.h"
#include "model_store/public_keys.h"

void Fuzz(std::string_view text) {
  const auto keys = kepler::model_store::PublicKeys::Parse(text);
  if (!keys) {
    if (keys.error().message.empty()) std::abort();
    return;
  }
  // Some keys are of small order and verify what nobody signed: that it ends is all there is to ask.
  static_cast<void>(keys->Verify(text, text.substr(0, kepler::model_store::PublicKeys::kSignatureBytes)));
}
