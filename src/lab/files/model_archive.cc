#include "lab/files/model_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "json/document.h"
#include "model/machine_json.h"
#include "model/model_json.h"
#include "model/sha256.h"
#include "model/weights_json.h"

namespace kepler::lab::files {
namespace {

using json::Cursor;
using json::Quote;

constexpr uint64_t kArchiveVersion = 1;
constexpr char kVersionKey[] = "kepler_archive";
constexpr char kModelMember[] = "model.json";
constexpr char kCardMember[] = "card.md";
constexpr char kSumsMember[] = "SHA256SUMS";
constexpr std::string_view kKnown[] = {kModelMember, kCardMember, kMetadataMember, kWeightMember};

std::string ComponentMetadata(const model::ComponentModel& component) {
  std::string out = fmt::format(R"({}:{{"trainer":{})", Quote(Name(component.component)), Quote(component.trainer));
  if (component.accuracy)
    out += fmt::format(R"(,"mae":{},"mape":{})", component.accuracy->mae_watts, component.accuracy->mape);
  return out + "}";
}

std::string Metadata(const model::PowerModel& model, std::span<const Member> files) {
  std::string components;
  for (const model::ComponentModel& component : model.components)
    components += (components.empty() ? "" : ",") + ComponentMetadata(component);
  std::string sums;
  for (const Member& file : files)
    sums += fmt::format(R"({}{}:"{}")", sums.empty() ? "" : ",", Quote(file.name), model::Sha256(file.bytes));
  std::string out = fmt::format("{{\"{}\":{},\n\"name\":{},\"version\":{},\"output\":\"{}\",\n\"features\":{}",
                                kVersionKey, kArchiveVersion, Quote(model.name), model.version, Name(model.output),
                                json::QuoteList(model.features));
  out += fmt::format(",\n\"components\":{{{}}}", components);
  if (model.machine) out += fmt::format(",\n\"machine\":{}", model::WriteMachineJson(*model.machine));
  return out + fmt::format(",\n\"sha256\":{{{}}}}}\n", sums);
}

/// "digest  name", a line a file. Nothing where the text is something else.
std::optional<std::map<std::string_view, std::string_view>> ParseSums(std::string_view text) {
  constexpr size_t kDigits = 64;
  std::map<std::string_view, std::string_view> sums;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    if (line->size() < kDigits + 3 || (line->substr(kDigits, 2) != "  " && line->substr(kDigits, 2) != " *"))
      return std::nullopt;
    if (!sums.emplace(line->substr(kDigits + 2), line->substr(0, kDigits)).second) return std::nullopt;
  }
  return sums;
}

Status CheckSums(std::span<const Member> members) {
  KEPLER_TRY(const Member* const list, NeededMember(members, kSumsMember));
  const auto sums = ParseSums(list->bytes);
  if (!sums) return OfMember(kSumsMember, "its lines must be DIGEST, two blanks and a unique name");
  for (const Member& member : members) {
    if (&member == list) continue;
    if (std::ranges::find(kKnown, member.name) == std::end(kKnown))
      return OfMember(member.name, "a model archive must not contain this file");
    const auto sum = sums->find(member.name);
    if (sum == sums->end()) return OfMember(member.name, "SHA256SUMS does not list it");
    if (sum->second != model::Sha256(member.bytes)) return OfMember(member.name, "its SHA-256 differs from SHA256SUMS");
  }
  for (const auto& [name, unused] : *sums)
    if (name == kSumsMember || FindMember(members, name) == nullptr)
      return OfMember(name, "SHA256SUMS lists it, but it is missing");
  return {};
}

Status CheckVersion(const Cursor& metadata) {
  KEPLER_TRY(const Cursor at, metadata.Member(kVersionKey));
  KEPLER_TRY(const uint64_t version, at.Count());
  if (version != kArchiveVersion)
    return at.Refuse(
        fmt::format("version {} is not supported; this program reads version {}", version, kArchiveVersion));
  return {};
}

/// That they are of this model and of these files.
Status CheckMetadata(const Cursor& metadata, const model::PowerModel& model, std::span<const Member> members) {
  KEPLER_TRY(const Cursor name, metadata.Member("name"));
  KEPLER_TRY(const std::string_view text, name.Text());
  if (text != model.name) return name.Refuse("the model in model.json has another name");
  KEPLER_TRY(const Cursor version, metadata.Member("version"));
  KEPLER_TRY(const uint64_t number, version.Count());
  if (number != model.version) return version.Refuse("the model in model.json has another version");
  KEPLER_TRY(const Cursor sums, metadata.Member("sha256"));
  KEPLER_TRY(const auto* const files, sums.Members());
  for (const auto& [file, value] : *files) {
    const Cursor at = sums.At(value);
    KEPLER_TRY(const std::string_view digest, at.Text());
    const Member* const member = FindMember(members, file);
    if (member == nullptr) return at.Refuse("the file does not exist");
    if (digest != model::Sha256(member->bytes)) return at.Refuse("the file has another SHA-256");
  }
  return {};
}

}  // namespace

std::vector<Member> PackModel(const SharedModel& shared) {
  std::vector<Member> files = {{kModelMember, shared.json}, {kCardMember, shared.card}};
  if (auto weights = model::WriteWeightsJson(shared.model)) files.push_back({kWeightMember, *std::move(weights)});
  files.push_back({kMetadataMember, Metadata(shared.model, files)});
  std::string sums;
  for (const Member& file : files) sums += fmt::format("{}  {}\n", model::Sha256(file.bytes), file.name);
  files.push_back({kSumsMember, std::move(sums)});
  return files;
}

bool IsPackedModel(std::span<const Member> members) {
  if (FindMember(members, kSumsMember) != nullptr || FindMember(members, kModelMember) != nullptr) return true;
  const Member* const metadata = FindMember(members, kMetadataMember);
  if (metadata == nullptr) return false;
  const auto document = json::Parse(metadata->bytes);
  return document && Cursor(*document).Member(kVersionKey).has_value();
}

Result<SharedModel> UnpackModel(std::span<const Member> members) {
  KEPLER_TRY(const Member* const metadata, NeededMember(members, kMetadataMember));
  KEPLER_TRY(const Member* const text, NeededMember(members, kModelMember));
  KEPLER_TRY(const Member* const card, NeededMember(members, kCardMember));
  KEPLER_TRY(const json::Value document, InMember(metadata->name, json::Parse(metadata->bytes)));
  // First: another version may have other files.
  KEPLER_CHECK_OK(InMember(metadata->name, CheckVersion(Cursor(document))));
  KEPLER_CHECK_OK(CheckSums(members));
  if (card->bytes.size() > kMaxCardBytes)
    return OfMember(card->name, fmt::format("larger than the maximum of {} MiB", kMaxCardBytes >> 20),
                    ErrorKind::kInvalid);
  KEPLER_TRY(auto model, InMember(text->name, model::ReadModelJson(text->bytes)));
  KEPLER_CHECK_OK(InMember(metadata->name, CheckMetadata(Cursor(document), model, members)));
  return SharedModel{.model = std::move(model), .json = text->bytes, .card = card->bytes};
}

}  // namespace kepler::lab::files
