// kepler-model push.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/server_access.h"
#include "apps/kepler-model/sign_key.h"
#include "base/base64.h"
#include "base/small_file.h"
#include "json/document.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "model/model_json.h"
#include "model/sha256.h"
#include "model_store/public_keys.h"
#include "modelserver/publisher.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Pushing {
  ServerAccess access;
  std::string model;
  std::string sign_key;
  std::string public_key;
};

constexpr Key kOwnPushKeys[] = {
    Key("model", "model", "Model directory or model.json. Its signature is read from model.json.sig, if there is one",
        kAt<&Pushing::model>, {.is_path = true, .required = true}),
    Key("sign-key", "sign-key", "PEM file with an Ed25519 private key that signs the model", kAt<&Pushing::sign_key>,
        {.is_path = true}),
    Key("public-key", "public-key",
        "PEM file with Ed25519 public keys. The model must be signed by one of these keys, or nothing is sent",
        kAt<&Pushing::public_key>, {.is_path = true}),
};
constexpr auto kPushKeys = WithServerAccess<&Pushing::access>(kOwnPushKeys);
constexpr settings::TableOf<Pushing> kPushTable(kPushKeys);

constexpr std::string_view kAboutPush = R"(Uploads a model and its signature to a model server.

Examples:
  kepler-model push --server=https://models:8100 --name=epyc-9654 --model=model --user=admin --password-file=password
  kepler-model push --server=https://models:8100 --name=epyc-9654 --model=model --cert-file=me.pem --key-file=me.key \
      --sign-key=key.pem)";

/// The signature of --sign-key, or that of the file; empty if there is none.
Result<std::string> SignatureOf(const Pushing& config, const std::string& path, std::string_view text) {
  if (!config.sign_key.empty()) {
    KEPLER_TRY(const auto key, ReadSignKey(config.sign_key));
    return key.Sign(text);
  }
  auto signature = ReadSmallFile(path + ".sig", modelserver::kMaxSignatureBytes);
  if (!signature && signature.error().kind == ErrorKind::kNotFound) return "";
  return signature;
}

/// A signature that was left next to a newer model would keep agents with model.publicKey from the new model.
Status CheckSignature(const Pushing& config, const std::string& path, std::string_view text,
                      std::string_view signature) {
  if (!config.public_key.empty()) {
    KEPLER_TRY(const auto keys, model_store::PublicKeys::Read(config.public_key));
    if (signature.empty())
      return Fail(ErrorKind::kInvalid, path + ": it has no signature; nothing is sent; sign it with --sign-key");
    if (const Status good = keys.Verify(text, signature); !good)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: nothing is sent: {}", path, good.error().message));
  } else if (!signature.empty() && config.sign_key.empty()) {
    if (signature.size() != model_store::PublicKeys::kSignatureBytes)
      return Fail(ErrorKind::kInvalid, path + ".sig: it is not an Ed25519 signature; nothing is sent");
    Note(path + ".sig is not verified; verify it with --public-key, or sign the model with --sign-key");
  }
  return {};
}

std::string_view StateOf(const Pushing& config, std::string_view signature) {
  if (signature.empty()) return "unsigned";
  if (!config.public_key.empty()) return "verified";
  return config.sign_key.empty() ? "not verified" : "signed";
}

/// The server must state the same checksum: it has the bytes that were sent.
Status CheckPushed(std::string_view answer, std::string_view sha256) {
  const auto document = json::Parse(answer);
  const auto stated = document ? json::Cursor(*document).Text("sha256") : std::unexpected(document.error());
  if (stated && *stated == sha256) return {};
  return Fail(ErrorKind::kMalformed, "the server's answer does not confirm the upload; is it kepler-model serve?");
}

Status Push(const Pushing& config) {
  const std::string path = config.model.ends_with(".json") ? config.model : config.model + files::kModelFile;
  KEPLER_TRY(const std::string text, files::ReadBounded(path, modelserver::kMaxUploadBytes));
  KEPLER_TRY(const model::PowerModel model, files::InFile(path, model::ReadModelJson(text)));
  KEPLER_TRY(const std::string signature, SignatureOf(config, path, text));
  KEPLER_CHECK_OK(CheckSignature(config, path, text, signature));
  KEPLER_TRY(http::retrying::Server server, ServerOf(config.access));
  http::client::ClientRequest request{.method = http::client::Method::kPut,
                                      .target = "/models/" + config.access.name,
                                      .content_type = "application/json",
                                      .body = std::make_shared<const std::string>(text)};
  if (!signature.empty()) request.headers.emplace_back("X-Model-Signature", EncodeBase64(signature));
  std::string answer;
  KEPLER_CHECK_OK(http::retrying::Send(
      server, std::move(request), [&] { answer.clear(); },
      [&](std::string_view piece) -> Status {
        answer += piece;
        if (answer.size() > http::client::kMaxRefusal) return Fail(ErrorKind::kMalformed, "the answer is too long");
        return {};
      }));
  const std::string sha256 = model::Sha256(text);
  KEPLER_CHECK_OK(CheckPushed(answer, sha256));
  return PrintResult(fmt::format("{} version {} {} sha256 {}\n", config.access.name, model.version,
                                 StateOf(config, signature), sha256));
}

}  // namespace

int RunPush(std::span<const char* const> arguments) {
  return RunCommand<Pushing>(
      "push", kAboutPush, arguments, kPushTable, Push,
      [](settings::Draft& draft, const Pushing& config) { CheckServerAccess(draft, config.access); });
}

}  // namespace kepler::lab::tool
