// kepler-model pull.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/server_access.h"
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

struct Pulling {
  ServerAccess access;
  std::string output;
  std::string public_key;
};

constexpr Key kOwnPullKeys[] = {
    Key("output", "output", "Directory for model.json and model.json.sig", kAt<&Pulling::output>,
        {.is_path = true, .required = true}),
    Key("public-key", "public-key",
        "PEM file with Ed25519 public keys. The model must be signed by one of these keys, or nothing is written",
        kAt<&Pulling::public_key>, {.is_path = true}),
};
constexpr auto kPullKeys = WithServerAccess<&Pulling::access>(kOwnPullKeys);
constexpr settings::TableOf<Pulling> kPullTable(kPullKeys);

constexpr std::string_view kAboutPull = R"(Downloads a model and its signature from a model server.

Example:
  kepler-model pull --server=https://models:8100 --name=epyc-9654 --output=model --public-key=models.pem)";

struct Pulled {
  std::string text;
  std::string signature;  // empty: the server has none
};

Result<std::string> Download(http::retrying::Server& server, const std::string& target, size_t max) {
  std::string body;
  KEPLER_CHECK_OK(http::retrying::Send(
      server, {.target = target, .max_bytes = max}, [&] { body.clear(); },
      [&](std::string_view piece) -> Status {
        body += piece;
        return {};
      }));
  return body;
}

/// Empty if the server has none.
Result<std::string> DownloadSignature(http::retrying::Server& server, const std::string& target) {
  auto signature = Download(server, target + ".sig", modelserver::kMaxSignatureBytes);
  if (!signature && signature.error().kind == ErrorKind::kNotFound) return "";
  return signature;
}

/// A publish between two downloads gives a model and the signature of another version, so the signature is downloaded
/// before and after the model.
Result<Pulled> DownloadBoth(http::retrying::Server& server, const std::string& name) {
  constexpr int kMaxTries = 4;
  const std::string target = "/models/" + name + files::kModelFile;
  KEPLER_TRY(std::string before, DownloadSignature(server, target));
  for (int i = 0; i < kMaxTries; ++i) {
    Pulled pulled;
    KEPLER_TRY(pulled.text, Download(server, target, modelserver::kMaxUploadBytes));
    KEPLER_TRY(pulled.signature, DownloadSignature(server, target));
    if (pulled.signature == before) return pulled;
    before = std::move(pulled.signature);
  }
  return Fail(ErrorKind::kUnavailable, "the model on the server changed during each download; nothing is written");
}

Status Verify(const std::optional<model_store::PublicKeys>& keys, const Pulled& pulled) {
  if (!keys) return {};
  if (pulled.signature.empty()) return Fail(ErrorKind::kInvalid, "the model has no signature; nothing is written");
  if (const Status good = keys->Verify(pulled.text, pulled.signature); !good)
    return Fail(ErrorKind::kInvalid, "the model is refused, nothing is written: " + good.error().message);
  return {};
}

Status Write(const Pulling& config, const Pulled& pulled) {
  const std::string path = config.output + files::kModelFile;
  std::vector<files::OutputFile> files = {{path, pulled.text}};
  if (!pulled.signature.empty()) files.push_back({path + ".sig", pulled.signature});
  KEPLER_CHECK_OK(files::WriteFiles(files));
  return pulled.signature.empty() ? RemoveSignature(config.output) : Status();
}

Status Pull(const Pulling& config) {
  std::optional<model_store::PublicKeys> keys;
  if (!config.public_key.empty()) {
    KEPLER_TRY(keys, model_store::PublicKeys::Read(config.public_key));
  }
  KEPLER_TRY(http::retrying::Server server, ServerOf(config.access));
  KEPLER_TRY(const Pulled pulled, DownloadBoth(server, config.access.name));
  KEPLER_CHECK_OK(Verify(keys, pulled));
  KEPLER_TRY(const model::PowerModel model, files::InFile(server.peer.Url(), model::ReadModelJson(pulled.text)));
  KEPLER_CHECK_OK(Write(config, pulled));
  const std::string_view state = pulled.signature.empty() ? "unsigned" : keys ? "verified" : "not verified";
  return PrintResult(fmt::format("{} version {} {} sha256 {}\n", config.access.name, model.version, state,
                                 model::Sha256(pulled.text)));
}

}  // namespace

int RunPull(std::span<const char* const> arguments) {
  return RunCommand<Pulling>(
      "pull", kAboutPull, arguments, kPullTable, Pull,
      [](settings::Draft& draft, const Pulling& config) { CheckServerAccess(draft, config.access); });
}

}  // namespace kepler::lab::tool
