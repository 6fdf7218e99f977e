#include "report/command/report_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/parse.h"
#include "http/client/url.h"
#include "report/command/report_values.h"
#include "report/intensity.h"
#include "report/report_text.h"
#include "report/zone_choice.h"
#include "settings/table.h"

namespace kepler::report::command {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

constexpr int64_t kMillisecond = 1'000'000;  // nanoseconds
constexpr std::string_view kFormats[] = {"table"sv, "csv"sv, "json"sv, "html"sv};
constexpr std::string_view kBy[] = {"namespace"sv, "owner"sv,   "pod"sv,  "container"sv, "vm"sv,
                                    "project"sv,   "process"sv, "user"sv, "node"sv};

constexpr Key kReportKeys[] = {
    Key("by", "by",
        "Unit of a row. project: the VMs of an OpenStack project; process: all processes with the same name; user: the "
        "processes of a Unix user",
        kAt<&ReportOptions::by>, {.choices = kBy}),
    Key("zone", "zone",
        "Zones to add up, separated by commas or in several flags. Empty: package, or the first zone that is divided "
        "among workloads",
        kAt<&ReportOptions::zones>),
    Key("from", "from",
        "Start of the period: a time such as 2026-11-01T00:00:00Z, Unix seconds, or a duration before now such as 24h. "
        "Empty: the first tick",
        kAt<&ReportOptions::from>),
    Key("to", "to", "End of the period, in the same formats. Empty: the last tick", kAt<&ReportOptions::to>),
    Key("format", "format", "Format of the report", kAt<&ReportOptions::format>, {.choices = kFormats}),
    Key("output", "output", "File for the report; empty: standard output", kAt<&ReportOptions::output>,
        {.is_path = true}),
    Key("price", "price", "Price of a kWh, in any currency: adds the cost", kAt<&ReportOptions::price>),
    Key("carbon", "carbon",
        "Grams of CO2 per kWh, or a CSV file with the columns time and g_per_kwh: adds the emissions",
        kAt<&ReportOptions::carbon>, {.is_path = true}),
    Key("top", "top", "Number of largest rows to show; the others become one row. 0: all rows",
        kAt<&ReportOptions::top>, {.min = 0, .max = 1'000'000}),
    Key("prometheus", "prometheus", "URL of a Prometheus server or a compatible server, to read instead of files",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::url>),
    Key("match", "match", R"(Label matcher of the series to read: 'cluster="a"', 'job=~"kepler.*"')",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::match>),
    Key("bearer-token-file", "bearer-token-file", "File with a bearer token for the server; requires TLS",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::bearer_token_file>, {.is_path = true}),
    Key("user", "user", "User name for basic authentication; requires TLS",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::user>),
    Key("password-file", "password-file", "File with the password of --user; a trailing line end is ignored",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::password_file>, {.is_path = true}),
    Key("ca-file", "ca-file", "PEM file with the CA that signed the server's certificate; empty: the system's CAs",
        kAt<&ReportOptions::prometheus, &PrometheusAccess::ca_file>, {.is_path = true}),
    Key("timeout", "timeout", "Timeout of a request", kAt<&ReportOptions::prometheus, &PrometheusAccess::timeout>,
        {.min = 100 * kMillisecond, .max = 3'600'000 * kMillisecond}),
};
constexpr settings::TableOf<ReportOptions> kReportTable(kReportKeys);

constexpr std::string_view kAbout =
    R"(Adds up the energy of a period, from files that the agent has written or from a Prometheus server.

The files are those of exporter.jsonLines; rotated files and files of several nodes are accepted. - is standard input.
The report accounts for all energy of the nodes: the rows, and the energy that belongs to no row. An invalid line is
reported on stderr and left out. With --prometheus, all samples of the period are read; nothing is extrapolated.
Exit code 1: there is no report; 2: invalid flags.

Examples:
  kepler report /var/lib/kepler/energy.jsonl*
  kepler report --by=pod --from=2026-11-01T00:00:00Z --to=2026-12-01T00:00:00Z --price=0.30 --carbon=380 energy.jsonl
  kepler report --by=owner --from=24h --format=html --output=report.html energy.jsonl
  kepler report --prometheus=http://prometheus:9090 --from=24h --match='job="kepler"')";

/// A flag whose value is the next argument: "--by" without "=". All flags of this command have a value.
bool WantsValue(std::string_view argument) {
  constexpr std::array kWithout = {"--help"sv, "--help-long"sv, "--version"sv};
  return argument.starts_with("--") && !argument.contains('=') &&
         std::ranges::find(kWithout, argument) == kWithout.end();
}

/// Arguments that are neither flags nor their values are files, "-" is one, and so is each argument after "--". They
/// are taken out of `arguments`.
std::vector<std::string> TakeFiles(std::vector<const char*>& arguments) {
  std::vector<std::string> files;
  std::vector<const char*> others = {arguments.front()};
  bool has_only_files = false;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view text(arguments[i]);
    const bool is_value = WantsValue(others.back());
    if (has_only_files || (!is_value && (text == "-" || !text.starts_with('-'))))
      files.emplace_back(text);
    else if (text == "--" && !is_value)
      has_only_files = true;
    else
      others.push_back(arguments[i]);
  }
  arguments = std::move(others);
  return files;
}

/// The zones of all flags: "a,b" is two of them.
std::vector<std::string> TakeZones(settings::Draft& draft, const std::vector<std::string>& lists) {
  constexpr size_t kMaxZones = 8;
  std::vector<std::string> zones;
  for (const std::string& list : lists) {
    Splitter names(list, ',');
    while (const auto name = names.Next()) zones.emplace_back(Trim(*name));
  }
  if (std::ranges::find(zones, "") != zones.end())
    draft.Reject("zone", "has an empty item");
  else if (zones.size() > kMaxZones)
    draft.Reject("zone", fmt::format("has more than {} items", kMaxZones));
  else if (const Status checked = report::CheckZones(zones); !checked)
    draft.Reject("zone", checked.error().message);
  return zones;
}

/// An empty value is probably an unset variable of a script. Without the cost, the report would look complete.
void RefuseEmpty(settings::Draft& draft, std::string_view flag, std::string_view value, std::string_view example) {
  if (value.empty() && draft.origin(flag).from == settings::From::kFlag)
    draft.Reject(flag, fmt::format("is empty; write {}, or remove the flag", example));
}

/// The value, or its default after a rejection.
template <class T>
T Take(settings::Draft& draft, std::string_view flag, Result<T> value) {
  if (!value) draft.Reject(flag, value.error().message);
  return value.value_or(T());
}

void ReadPeriod(settings::Draft& draft, ReportOptions& options, WallTime now) {
  options.begin = Take(draft, "from", ReadPeriodEnd(options.from, now));
  options.end = Take(draft, "to", ReadPeriodEnd(options.to, now));
  if (options.begin && options.end && *options.begin >= *options.end) draft.Reject("from", "must be before --to");
  if (options.begin && *options.begin >= now && !options.prometheus.url.empty())
    draft.Reject("from", "must be before now");
}

void ReadPrices(settings::Draft& draft, ReportOptions& options) {
  RefuseEmpty(draft, "price", options.price, "the price of a kWh, such as 0.30");
  RefuseEmpty(draft, "carbon", options.carbon, "grams of CO2 per kWh, such as 380, or the path of a CSV file");
  const auto price = ReadAmount(options.price, report::kMaxPrice, "a number");
  options.price_per_kwh = Take(draft, "price", price);
  if (price && !*price && !options.price.empty())
    draft.Reject("price", fmt::format("must be a number from 0 to {}", report::kMaxPrice));
  options.grams_per_kwh =
      Take(draft, "carbon", ReadAmount(options.carbon, report::kMaxGramsPerKwh, "a file, or a number of grams"));
}

void CheckPrometheus(settings::Draft& draft, const ReportOptions& options) {
  const PrometheusAccess& access = options.prometheus;
  if (access.url.empty()) return;
  if (const auto url = http::client::ParseUrl(access.url); !url) draft.Reject("prometheus", url.error().message);
  if (!options.files.empty()) draft.Reject("prometheus", "cannot be combined with files");
  if (options.from.empty()) draft.Reject("from", "is required with --prometheus");
  if (access.user.empty() != access.password_file.empty())
    draft.Reject(access.user.empty() ? "user" : "password-file", "is missing: set --user and --password-file together");
  if (!access.user.empty() && !access.bearer_token_file.empty())
    draft.Reject("user", "cannot be combined with --bearer-token-file");
  if (access.user.contains(':')) draft.Reject("user", "must not contain a colon");
}

}  // namespace

settings::Parsed<ReportOptions> ParseReportOptions(std::vector<const char*> arguments, const BuildInfo& build,
                                                   WallTime now) {
  const std::vector<std::string> files = TakeFiles(arguments);
  const settings::Program program{.name = "kepler report", .about = kAbout, .build = build, .has_config_file = false};
  auto parsed = settings::ParseCommandLine<ReportOptions>(arguments, program, kReportTable,
                                                          [&](settings::Draft& draft, ReportOptions& options) {
                                                            options.zones = TakeZones(draft, options.zones);
                                                            options.files = files;
                                                            ReadPeriod(draft, options, now);
                                                            ReadPrices(draft, options);
                                                            CheckPrometheus(draft, options);
                                                          });
  if (parsed.action == settings::Action::kHelp)
    parsed.text.replace(0, parsed.text.find('\n'), "usage: kepler report [<flags>] <file>...");
  return parsed;
}

}  // namespace kepler::report::command
