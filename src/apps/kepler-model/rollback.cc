// kepler-model rollback.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/decisions.h"
#include "apps/kepler-model/sign_key.h"
#include "base/small_file.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "model/model_json.h"
#include "modelserver/model_index.h"
#include "modelserver/publisher.h"

namespace kepler::lab::tool {
namespace {

using modelserver::KeptVersion;
using settings::kAt;
using settings::Key;

struct RollingBack {
  std::string store;
  std::string name;
  int64_t to = 0;  // 0: the version before the published one
  std::string sign_key{};
};

constexpr Key kRollbackKeys[] = {
    Key("store", "store", "Store of kepler-model serve", kAt<&RollingBack::store>, {.is_path = true, .required = true}),
    Key("name", "name", "Name of the model in the store", kAt<&RollingBack::name>, {.required = true}),
    Key("to", "to", "Version to publish again; 0: the version before the published one", kAt<&RollingBack::to>,
        {.min = 0, .max = UINT32_MAX}),
    Key("sign-key", "sign-key",
        "PEM file with an Ed25519 private key that signs the model under its new number; without it, a signed version "
        "keeps its number and its signature",
        kAt<&RollingBack::sign_key>, {.is_path = true}),
};
constexpr settings::TableOf<RollingBack> kRollbackTable(kRollbackKeys);

constexpr std::string_view kAboutRollback =
    R"(Publishes an earlier version of a model again, uploaded or retrained, under a new number.

Agents refuse a smaller version than theirs, so the model gets a new number. A signature covers the number. Without
--sign-key, a signed version is published as it was: running agents keep their newer version until they restart.

Examples:
  kepler-model rollback --store=/var/lib/kepler-models --name=epyc-9654
  kepler-model rollback --store=/var/lib/kepler-models --name=epyc-9654 --to=3 --sign-key=key.pem)";

constexpr std::string_view kPublisher = "kepler-model rollback";

Result<KeptVersion> Choose(const RollingBack& config, const std::vector<KeptVersion>& kept, uint32_t published) {
  const auto is_it = [&](const KeptVersion& of) {
    return config.to == 0 ? of.version < published : of.version == config.to;
  };
  const auto found = std::find_if(kept.rbegin(), kept.rend(), is_it);
  if (found != kept.rend()) return *found;
  std::string numbers;
  for (const KeptVersion& of : kept) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", of.version);
  const std::string wanted =
      config.to == 0 ? fmt::format("no version before {}", published) : fmt::format("no version {}", config.to);
  return Fail(ErrorKind::kNotFound,
              fmt::format("{}: the store has {}; it has versions {}", config.name, wanted, numbers));
}

/// Under a new number, because agents refuse a smaller version than theirs. `replaced`: the published text.
Status PublishRenumbered(const RollingBack& config, const KeptVersion& of, const modelserver::Decision& decision,
                         std::string_view replaced) {
  KEPLER_TRY(model::PowerModel model, model::ReadModelJson(of.json));
  model.version = decision.new_version;
  KEPLER_TRY(const std::string text, files::ModelText(model));
  std::string signature;
  if (!config.sign_key.empty()) {
    KEPLER_TRY(const auto key, ReadSignKey(config.sign_key));
    KEPLER_TRY(signature, key.Sign(text));
  }
  const auto published = modelserver::Publish(config.store, {.name = config.name,
                                                             .json = text,
                                                             .signature = signature,
                                                             .trained_until = decision.trained_until,
                                                             .replaced = replaced,
                                                             .publisher = kPublisher});
  if (!published) return std::unexpected(published.error());
  return {};
}

Status RollBack(const RollingBack& config) {
  const ModelInStore model{.store = config.store, .name = config.name};
  const auto text = ReadSmallFile(model.Published(), modelserver::kMaxUploadBytes);
  if (!text && text.error().kind == ErrorKind::kNotFound)
    return Fail(ErrorKind::kNotFound,
                fmt::format("{}: no model of this name was uploaded or retrained in {}", config.name, config.store));
  if (!text) return std::unexpected(text.error());
  // A published text that somebody has broken can be replaced.
  const auto published = model::ReadModelJson(*text);
  const auto kept = modelserver::KeptVersions(config.store, config.name);
  modelserver::Decision decision;
  KEPLER_TRY(const uint32_t next, NextVersion(model, published ? published->version : 0));
  decision.old_version = published ? published->version : next;
  KEPLER_TRY(const KeptVersion before, Choose(config, kept, decision.old_version));
  const bool keeps_number = config.sign_key.empty() && !before.signature.empty();
  decision.new_version = keeps_number ? before.version : std::max(next, decision.old_version + 1);
  KEPLER_TRY(decision.trained_until, TrainedUntil(model, before.directory, before.version));
  decision.reason =
      fmt::format("rolled back to version {}{}", before.version, keeps_number ? ", with its number and signature" : "");
  if (keeps_number) {
    KEPLER_CHECK_OK(modelserver::PublishAgain(config.store, config.name, before, *text, kPublisher));
    Note(fmt::format("agents that use version {} keep it until they restart; to replace it, sign with --sign-key",
                     decision.old_version));
  } else {
    KEPLER_CHECK_OK(PublishRenumbered(config, before, decision, *text));
    if (config.sign_key.empty()) NoteUnsigned(decision.new_version);
  }
  decision.is_published = true;
  return Remember(model, decision);
}

void CheckRollingBack(settings::Draft& draft, const RollingBack& config) {
  if (!config.name.empty() && !modelserver::IsModelName(config.name))
    draft.Reject("name", modelserver::NoModelName(config.name));
}

}  // namespace

int RunRollback(std::span<const char* const> arguments) {
  return RunCommand<RollingBack>("rollback", kAboutRollback, arguments, kRollbackTable, RollBack, CheckRollingBack);
}

}  // namespace kepler::lab::tool
