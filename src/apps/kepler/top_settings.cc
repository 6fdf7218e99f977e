#include "apps/kepler/top_settings.h"

#include <string_view>

#include "http/client/url.h"
#include "report/intensity.h"
#include "report/report_text.h"
#include "settings/table.h"

namespace kepler::agent {
namespace {

using settings::kAt;
using settings::Key;
using S = TopSettings;

constexpr int64_t kTopMillisecond = 1'000'000;

constexpr Key kTopKeys[] = {
    Key("url", "url", "URL of an agent; empty: the agent of this machine, or this process if no agent runs",
        kAt<&S::url>),
    Key("local", "local", "Measure in this process, even if an agent runs", kAt<&S::local>),
    Key("configFile", "config.file", "Configuration file of the agent: its address, and how this process measures",
        kAt<&S::config_file>, {.alias = "config", .is_path = true}),
    Key("level", "level", "Workloads to show first", kAt<&S::level>, {.choices = top::kLevelNames}),
    Key("sort", "sort", "Order of the workloads", kAt<&S::sort>, {.choices = top::kSortNames}),
    Key("filter", "filter", "Show only workloads with this text in their names", kAt<&S::filter>),
    Key("interval", "interval", "Time between two requests", kAt<&S::interval>,
        {.min = 100 * kTopMillisecond, .max = 3'600'000 * kTopMillisecond}),
    Key("price", "price", "Price of a kilowatt-hour in any currency: adds the cost; 0: no cost", kAt<&S::price>,
        {.min = 0, .max = report::kMaxPrice}),
    Key("carbon", "carbon", "Grams of CO2 per kilowatt-hour: adds the emissions; 0: none", kAt<&S::carbon>,
        {.unit = "grams", .min = 0, .max = report::kMaxGramsPerKwh}),
    Key("once", "once", "Print one table and exit", kAt<&S::once>),
    Key("json", "json", "Print one answer of the agent's JSON API and exit", kAt<&S::json>),
    Key("limit", "limit", "Maximum number of workloads of --once and --json", kAt<&S::limit>, {.min = 1, .max = 1000}),
    Key("user", "user", "User name for basic authentication; requires TLS, except on the same machine", kAt<&S::user>),
    Key("password-file", "password-file", "File with the password of --user; a trailing line end is ignored",
        kAt<&S::password_file>, {.is_path = true}),
    Key("ca-file", "ca-file", "PEM file with the CA that signed the agent's certificate; empty: the system's CAs",
        kAt<&S::ca_file>, {.is_path = true}),
    Key("cert-file", "cert-file", "PEM file with a client certificate", kAt<&S::cert_file>, {.is_path = true}),
    Key("key-file", "key-file", "PEM file with the key of --cert-file", kAt<&S::key_file>, {.is_path = true}),
};
constexpr settings::TableOf<TopSettings> kTopTable(kTopKeys);

constexpr std::string_view kAboutTop =
    R"(Shows the power and energy of this machine and of its processes, containers, pods, VMs and namespaces,
as the agent of this machine measures them. If no agent runs, this process measures: run it as root, as the
agent. ? lists the keys, q quits.

Examples:
  kepler top
  sudo kepler top --local
  kepler top --level=pod --price=0.30 --carbon=380
  kepler top --once --json --level=container
  kepler top --url=https://node-1:28282 --ca-file=ca.pem --user=me --password-file=password)";

void CheckTop(settings::Draft& draft, const TopSettings& config) {
  if (const auto url = http::client::ParseUrl(config.url); !config.url.empty() && !url)
    draft.Reject("url", url.error().message);
  if (!config.url.empty() && (config.local || !config.config_file.empty()))
    draft.Reject("url", "cannot be combined with --local or --config.file: it selects the agent to show");
  if (config.user.empty() != config.password_file.empty())
    draft.Reject(config.user.empty() ? "user" : "password-file", "is missing: set --user and --password-file together");
  if (config.user.contains(':')) draft.Reject("user", "must not contain a colon");
  if (config.cert_file.empty() != config.key_file.empty())
    draft.Reject(config.cert_file.empty() ? "cert-file" : "key-file",
                 "is missing: set cert-file and key-file together");
}

}  // namespace

settings::Parsed<TopSettings> ParseTopSettings(const std::vector<const char*>& arguments, const BuildInfo& build) {
  std::vector<const char*> argv = {"kepler top"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return settings::ParseCommandLine<TopSettings>(
      argv, {.name = "kepler top", .about = kAboutTop, .build = build, .has_config_file = false}, kTopTable, CheckTop);
}

}  // namespace kepler::agent
