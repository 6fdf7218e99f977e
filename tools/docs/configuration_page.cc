#include "tools/docs/configuration_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "settings/flags.h"
#include "settings/print.h"
#include "settings/values.h"
#include "yaml/value.h"

namespace kepler::docs {
namespace {

using settings::Key;

constexpr std::string_view kHead = R"(# Configuration

<!-- Made by kepler_config_docs from src/apps/kepler/table.cc; a test compares the two. -->

The agent needs no configuration. What there is comes from three places, the later one winning: the built-in defaults,
the YAML file named by `--config.file`, the flags. A flag that is given wins even with its default value, and a list
given by flags replaces the list of the file. Rules are checked once everything is merged.

```sh
kepler --config.file=kepler.yaml --config.check   # 0: fine, 1: every mistake, with its line
kepler --config.file=kepler.yaml --config.print   # what is in force, as YAML
```

A mistake stops the start with exit code 1 and one line for each, `FILE:LINE: key: reason`, or `--flag: reason`. A key
that nobody knows is a warning at the start and a mistake under `--config.check`.

`--config.check` refuses what the start refuses, with the same message. Run it as the agent's user on the agent's machine:
it reads the files that the settings name (the web file, certificates, keys, the kubeconfig or the service account), opens
the meters, loads BPF where `activity.source` is `bpf`, and binds the addresses for a moment. A port that is in use is no
mistake, since the agent may be running. No server is asked.

)";

constexpr std::string_view kSyntax = R"(## How values are written

| Type | Written as |
|---|---|
| duration | `500ms`, `1m30s`, `1.5h`; units `ns`, `us`, `ms`, `s`, `m`, `h`; the bare number only for `0` |
| boolean | in YAML `true`, `false`, `yes`, `no`, `on`, `off`; as a flag `--name`, `--no-name` or `--name=true` |
| whole number, number | decimal, in YAML without quotes |
| list | in YAML `[a, b]` or one `- a` a line; as a flag by giving it again for each item |
| text or list | as a list, as one text, or with commas: `--metrics=node,pod`; in any case |

A file may write numbers and booleans in every way that Kepler 0.11 reads: `1_000`, `0x1F`, `0o17`, `0b101`, `010` (which
is octal) and `1e3` are numbers, the fraction of one that must be whole is cut off with a warning, and `yes`, `no`, `on` and
`off` may have quotes. Flags take decimal numbers only.

A key without a value (`interval:`) keeps the default; a list without one is empty. Spaces around texts do not count.
Anchors, aliases and merge keys work. A file holds one document of at most)";

constexpr std::string_view kNotes = R"(## Good to know

* Most processes of a machine do next to nothing, and each has series for each zone. Where a time-series database counts them,
  `exporter.prometheus.limits: {maxProcesses: 100, minWatts: 0.01, kernelThreads: one}` is a good beginning: what is not
  shown is `capped` in `kepler_node_cpu_unlisted_joules_total`, so that no joule is missing, and containers, pods and VMs keep
  all of theirs. `kepler_exposed_series` and `kepler_cut_series` count. It holds for the stdout exporter too.
* With `kube.enabled` the node's name is required, from the file or from `--kube.node-name`. Without it the default is the host name.
* `host.procfs`, and `host.sysfs` where it is given, must be directories with something in them. The default
  `/sys` may be missing: the agent then says so and runs without the meters that live there.
* `experimental.platform.redfish.configFile` is required and must be readable where redfish is enabled;
  `web.configFile` and `kube.config` must be readable where they are used. All three must be regular files.
* `web.listenAddresses` must not name an address twice (two names of one host are found at the start), nor one besides
  `:port` or `[::]:port`, which take them all, or besides `0.0.0.0:port`, which takes those of IPv4.
* The file of `web.configFile` is the web configuration of Prometheus' exporter-toolkit. Its `http_server_config.http2`,
  true by default, is accepted and changes nothing: the agent speaks HTTP/1.1.
* That file and those it names are looked at every second. A change counts once two looks have found the same, so
  that nothing half-written does, and SIGHUP is such a look: allow two seconds. Another name of the file counts from the
  next start; SIGHUP takes nothing in where that file is not usable. What would open a door that was shut
  (no user any more, no client certificate wanted or verified any more, no `client_allowed_sans` any more, TLS off) is
  refused and needs a restart. Connections whose TLS has changed are closed after the answer that is due.
  `kepler_config_last_reload_successful` says whether all went well.
* Taken, as by the exporter-toolkit, but with a warning in the log whenever such a file is taken in: one with neither TLS
  nor users, which serves everybody; users without TLS, unless all of `web.listenAddresses` are loopback ones; and
  `client_allowed_sans` with `RequireAnyClientCert`, which verifies no certificate: whoever makes one may put any name in
  it. `RequireAndVerifyClientCert` is what they are for.
* With users or client certificates every path asks for them, `/-/healthy` and `/-/ready` too, as in Prometheus' own
  exporters. A probe without a password gets 401 and fails. Probe the port instead (`tcpSocket` in Kubernetes, which the
  chart does), or send the `Authorization` header: `curl --user NAME:PASSWORD https://HOST:28282/-/healthy`.
* A hash in `basic_auth_users` may cost 14 at most, about a second of a processor; 10 is usual. Logins that were found
  right are remembered and answered at once, ahead of `rate_limit`. After five wrong ones a client (an IPv4 address or an
  IPv6 /64) is answered 429 for a second, and twice as long with each that follows, up to a minute; who was let in
  before from there still is, until the agent starts again or the password changes: then a neighbour at the same address
  who guesses can keep the right one out. Where all hashes have one cost, the time of an answer does not tell which
  users exist. `rate_limit` is for each client, where the exporter-toolkit has one for all.
* Where the name of a file is due, a line break, a control character or the text of a key is refused, and not shown.
* `experimental.gpu.dcgmEndpoint` is an http or https URL without credentials, query and fragment.
* `dev.fake-cpu-meter.enabled` and `experimental.hwmon.forceEnabled` are deprecated. They still work, with a warning,
  and set `cpu.preferredMeters` to `[fake]` or `[hwmon]`, whatever it says.
)";

/// Cells must not hold the table's own separator.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string Bounds(const Key& key) {
  const auto show = [&](int64_t bound) { return settings::ShowNumber(key, bound); };
  const settings::Details& rules = key.details;
  if (rules.max == settings::Details{}.max) return "";
  if (rules.min_above_zero > 0) return fmt::format(", 0 or {} to {}", show(rules.min_above_zero), show(rules.max));
  return fmt::format(", {} to {}", show(rules.min), show(rules.max));
}

std::string TypeCell(const Key& key) {
  const std::string_view unit = key.details.unit;
  return fmt::format("{}{}{}{}", settings::TypeName(key), unit.empty() ? "" : " of ", unit, Bounds(key));
}

std::string KeyRow(const Key& key) {
  const auto& [alias, missing, unit, is_path, secret, required, choices, items, min, max, min_above_zero] = key.details;
  std::string flag;
  if (!key.flag.empty()) flag = fmt::format("`--{}{}`", settings::IsBool(key) ? "[no-]" : "", key.flag);
  if (!alias.empty()) flag += fmt::format(", `--{}`", alias);
  std::string meaning = settings::Meaning(key);
  if (!choices.empty())
    meaning += fmt::format(". {} {}", settings::IsList(key) ? "Each one of" : "One of", fmt::join(choices, ", "));
  return fmt::format("| `{}` | {} | {} | `{}` | {} |\n", key.path, flag, TypeCell(key),
                     settings::Show(key, settings::Default(key)), Cell(meaning));
}

std::string KeyRows(std::span<const Key> keys, bool for_development) {
  std::string out = "| Key | Flag | Type | Default | Meaning |\n|---|---|---|---|---|\n";
  for (const Key& key : keys)
    if (settings::IsForDevelopment(key) == for_development) out += KeyRow(key);
  return out;
}

/// Of a list of blocks.
std::string BlockRows(const Key& list) {
  std::string out =
      fmt::format("\nEach item of `{}` is a block:\n\n| Key | Type | Meaning |\n|---|---|---|\n", list.path);
  for (const Key& key : list.details.items->keys)
    out += fmt::format("| `{}` | {} | {} |\n", key.path, TypeCell(key), Cell(key.help));
  return out;
}

}  // namespace

std::string ConfigurationPage(const settings::Values& defaults) {
  std::string out(kHead);
  out += "## Flags without a key\n\n| Flag | Meaning |\n|---|---|\n";
  for (const settings::CommandFlag& flag : settings::CommandFlags()) {
    const std::string alias = flag.alias.empty() ? "" : fmt::format(", `--{}`", flag.alias);
    out += fmt::format("| `--{}`{} | {} |\n", flag.name, alias, flag.help);
  }
  out += "\n## Keys\n\n" + KeyRows(defaults.keys, false);
  for (const Key& key : defaults.keys)
    if (key.details.items != nullptr) out += BlockRows(key);
  out += fmt::format("\n{} {} KiB,\n{} keys and values (anchors and aliases written out) and {} levels.\n\n{}", kSyntax,
                     yaml::kMaxBytes / 1024, yaml::kMaxValues, yaml::kMaxDepth, kNotes);
  out +=
      "\n## For development\n\nWhat tests of the agent use. It may change with any version; `--help` leaves it "
      "out.\n\n";
  out += KeyRows(defaults.keys, true);
  out += "\n## The defaults as a file\n\n```yaml\n" + settings::Print(defaults, true) + "```\n";
  return out;
}

}  // namespace kepler::docs
