#include "energy/platform/redfish/bmc_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "http/client/url.h"
#include "settings/draft.h"
#include "settings/table.h"
#include "settings/values.h"

namespace kepler::energy::platform::redfish {
namespace {

using settings::Draft;
using settings::kAt;
using settings::Key;

struct BmcFile {
  std::map<std::string, std::string> nodes;
  std::map<std::string, std::vector<std::string>> chassis;
  std::map<std::string, Bmc> bmcs;
};

constexpr std::array<std::string_view, 2> kAuthWords = {"basic", "session"};  // in the order of Auth

constexpr Key KeyOf(std::string_view path, settings::Place place, settings::Details details = {}) {
  return Key(path, "", "", place, details);
}
constexpr Key kBmcKeys[] = {
    KeyOf("endpoint", kAt<&Bmc::endpoint>, {.required = true}),
    KeyOf("username", kAt<&Bmc::username>),
    KeyOf("password", kAt<&Bmc::password>, {.secret = true}),
    KeyOf("passwordFile", kAt<&Bmc::password_file>, {.is_path = true}),
    KeyOf("insecure", kAt<&Bmc::insecure>),
    KeyOf("caFile", kAt<&Bmc::ca_file>, {.is_path = true}),
    KeyOf("certFile", kAt<&Bmc::cert_file>, {.is_path = true}),
    KeyOf("keyFile", kAt<&Bmc::key_file>, {.is_path = true}),
    KeyOf("auth", kAt<&Bmc::auth>, {.choices = kAuthWords}),
};
constexpr settings::TableOf<Bmc> kBmcTable(kBmcKeys);
constexpr Key kKeys[] = {
    KeyOf("nodes", kAt<&BmcFile::nodes>, {.required = true}),
    KeyOf("chassis", kAt<&BmcFile::chassis>),
    KeyOf("bmcs", kAt<&BmcFile::bmcs>, {.required = true, .items = &kBmcTable}),
};
constexpr settings::TableOf<BmcFile> kTable(kKeys);

Status Verdict(const Draft& draft) {
  settings::Strings all = draft.unknown();
  for (const auto* more : {&draft.errors(), &draft.warnings()}) all.insert(all.end(), more->begin(), more->end());
  if (all.empty()) return {};
  for (std::string& text : all)  // a missing key has no line
    if (!text.starts_with(draft.file())) text.insert(0, draft.file() + ": ");
  return settings::Bad(fmt::format("{}", fmt::join(all, "; ")));
}

/// The address of the BMC. All resources have absolute paths, so the endpoint has no path of its own.
Result<http::client::Peer> PeerOf(const std::string& endpoint) {
  KEPLER_TRY(http::client::Url url, http::client::ParseUrl(endpoint));
  constexpr auto kRoots =
      std::to_array<std::string_view>({"/", "/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/"});
  if (std::ranges::find(kRoots, url.target) == kRoots.end())
    return Fail(ErrorKind::kInvalid, "has a path; write only https://HOST or https://HOST:PORT");
  return url.peer;
}

std::string WhyInvalid(const Bmc& bmc) {
  if (const auto peer = PeerOf(bmc.endpoint); !peer) return "endpoint " + peer.error().message;
  const bool has_password = !bmc.password.empty() || !bmc.password_file.empty();
  if (!bmc.password.empty() && !bmc.password_file.empty()) return "has password and passwordFile; keep one of them";
  if (bmc.username.empty() && has_password) return "has a password without username; set username too";
  if (!bmc.username.empty() && !has_password)
    return "has username without a password; set password or passwordFile too";
  if (bmc.username.contains(':') && bmc.auth == Auth::kBasic)
    return "username contains a colon, which basic authentication cannot carry; set auth to session";
  if (bmc.username.empty() && bmc.auth == Auth::kSession) return "auth is session, which needs username and a password";
  if (bmc.cert_file.empty() != bmc.key_file.empty()) return "needs both certFile and keyFile, or neither";
  if (bmc.insecure && !bmc.ca_file.empty())
    return "has caFile, but insecure disables the verification; remove one of them";
  return "";
}

void CheckRules(Draft& draft, const BmcFile& file) {
  size_t item = 0;
  for (const auto& [node, bmc] : file.nodes) {
    if (!file.bmcs.contains(bmc))
      draft.Reject("nodes", fmt::format("{} is not one of the bmcs; add it there", settings::Quote(bmc)), item);
    ++item;
  }
  item = 0;
  for (const auto& [node, ids] : file.chassis) {
    if (!file.nodes.contains(node)) draft.Reject("chassis", "is not one of the nodes; add it there", item);
    if (std::ranges::any_of(ids, &std::string::empty)) draft.Reject("chassis", "contains an empty id", item);
    ++item;
  }
  item = 0;
  for (const auto& [id, bmc] : file.bmcs) {
    if (const std::string why = WhyInvalid(bmc); !why.empty()) draft.Reject("bmcs", why, item);
    ++item;
  }
}

Status FailNode(Draft& draft, const BmcFile& file, std::string_view node) {
  std::vector<std::string_view> known;
  known.reserve(file.nodes.size());
  for (const auto& [name, bmc] : file.nodes) known.emplace_back(name);
  const std::string_view nearest = NearestName(node, known);
  draft.Reject("nodes",
               fmt::format("has no entry for this node, {}; add it, or set experimental.platform.redfish.nodeName to "
                           "the name that it has there{}",
                           settings::Quote(node),
                           nearest.empty() ? "" : fmt::format(" (such as {})", settings::Quote(nearest))));
  return Verdict(draft);
}

/// Reads the certificates and keys of `bmc` into `peer`.
Status ReadCertificates(const Bmc& bmc, http::client::Peer& peer) {
  peer.verify = !bmc.insecure;
  if (!bmc.ca_file.empty()) {
    KEPLER_TRY(peer.ca, ReadSmallFile(bmc.ca_file));
    if (!http::client::HasCertificates(peer.ca))
      return Fail(ErrorKind::kInvalid,
                  bmc.ca_file + ": contains no certificate in PEM format; write the CA that signed that of the BMC");
  }
  if (bmc.cert_file.empty()) return {};
  KEPLER_TRY(peer.cert, ReadSmallFile(bmc.cert_file));
  KEPLER_TRY(peer.key, ReadSmallFile(bmc.key_file));
  if (const Status usable = http::client::CheckPeer(peer); !usable)
    return Fail(usable.error().kind, bmc.cert_file + ": " + usable.error().message);
  return {};
}

std::string WarningOf(const NodeBmc& node) {
  if (!node.peer.tls && !node.bmc.username.empty())
    return fmt::format("the password for the BMC {} is sent in plain text; use https in its endpoint", node.id);
  if (node.peer.tls && node.bmc.insecure)
    return fmt::format(
        "the certificate of the BMC {} is not verified, so an impostor may get the password; set caFile "
        "instead of insecure",
        node.id);
  return "";
}

}  // namespace

Result<NodeBmc> ParseBmcFile(std::string_view text, const std::string& path, std::string_view node) {
  BmcFile file;
  Draft draft(kTable.Of(file), path);
  draft.LoadYaml(std::string(text));
  draft.CheckTable();
  KEPLER_CHECK_OK(Verdict(draft));
  CheckRules(draft, file);
  KEPLER_CHECK_OK(Verdict(draft));
  const auto entry = file.nodes.find(std::string(node));
  if (entry == file.nodes.end()) return std::unexpected(FailNode(draft, file, node).error());

  NodeBmc found{.id = entry->second, .bmc = file.bmcs.at(entry->second), .peer = {}, .chassis = {}};
  KEPLER_TRY(found.peer, PeerOf(found.bmc.endpoint));
  if (const auto chassis = file.chassis.find(entry->first); chassis != file.chassis.end())
    found.chassis = chassis->second;
  const auto directory = std::filesystem::path(path).parent_path();
  for (std::string* name : {&found.bmc.password_file, &found.bmc.ca_file, &found.bmc.cert_file, &found.bmc.key_file})
    if (!name->empty()) *name = (directory / *name).string();  // an absolute name stays unchanged
  return found;
}

bool HaveChanged(const FileStamps& stamps) {
  return std::ranges::any_of(stamps, [](const auto& entry) { return StampOf(entry.first) != entry.second; });
}

Result<BmcAccess> ReadBmcFile(const std::string& path, std::string_view node, FileStamps& stamps) {
  stamps = {{path, StampOf(path)}};
  KEPLER_TRY(const std::string text, ReadSmallFile(path));
  KEPLER_TRY(NodeBmc found, ParseBmcFile(text, path, node));
  const Bmc& bmc = found.bmc;
  for (const std::string& name : {bmc.password_file, bmc.ca_file, bmc.cert_file, bmc.key_file})
    if (!name.empty()) stamps.emplace_back(name, StampOf(name));
  BmcAccess access{.id = found.id,
                   .peer = found.peer,
                   .username = bmc.username,
                   .password = bmc.password,
                   .auth = bmc.auth,
                   .chassis = std::move(found.chassis),
                   .warning = WarningOf(found)};
  KEPLER_CHECK_OK(ReadCertificates(bmc, access.peer));
  if (!bmc.password_file.empty()) {
    KEPLER_TRY(access.password, ReadSecretFile(bmc.password_file));
  }
  return access;
}

}  // namespace kepler::energy::platform::redfish
