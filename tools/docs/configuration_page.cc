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

For operators who change a default. The agent needs no configuration.

```sh
kepler --config.file=kepler.yaml --config.check   # exit code 0: valid; 1: prints each error with its line
kepler --config.file=kepler.yaml --config.print   # prints the effective configuration as YAML
```

The agent reads settings from three places. Each place overrides those before it:

1. built-in defaults
2. the YAML file named by `--config.file`
3. flags, even if the value is the default; a list given by flags replaces the list in the file

The agent checks the merged result. It prints each error as `FILE:LINE: key: reason` or `--flag: reason`.

| Problem | At startup | With `--config.check` |
|---|---|---|
| invalid value | error, exit code 1 | error, exit code 1 |
| unknown key | warning | error, exit code 1 |

`--config.check` reports the same errors as a startup, except a port in use. Run it as the agent's user on the agent's machine, because it:

* reads the files that the settings name: web file, certificates, keys, kubeconfig or service account
* opens the meters, and loads BPF if `activity.source` is `bpf`
* looks at the directories and files that exporters write
* binds the listen addresses for a moment
* sends no request to any server

)";

constexpr std::string_view kSyntax = R"(## Value syntax

| Type | Syntax |
|---|---|
| duration | `500ms`, `1m30s`, `1.5h`, `7d`; units `ns`, `us`, `ms`, `s`, `m`, `h`, `d` (24 hours); `0` needs no unit |
| boolean | in YAML `true`, `false`, `yes`, `no`, `on`, `off`; as a flag `--name`, `--no-name` or `--name=true` |
| whole number, number | decimal, in YAML without quotes |
| list | in YAML `[a, b]` or one `- a` per line; as a flag once per item |
| text or list | a list, a single text, or comma-separated: `--metrics=node,pod`; case-insensitive |

A YAML file may use the number and boolean syntax of Kepler 0.11:

* `1_000`, `0x1F`, `0o17`, `0b101`, `010` (octal) and `1e3` are numbers.
* If a whole number is required, a fraction is cut off with a warning.
* `yes`, `no`, `on` and `off` may have quotes.

A key without a value (`interval:`) keeps the default. A list key without a value is an empty list. Leading and trailing
spaces of texts are ignored. Anchors, aliases and merge keys work. A file holds one document of at most)";

constexpr std::string_view kNotes = R"(## Export fewer series

Most processes use almost no energy, but each has a series per zone. If your database is billed by series, start with:

```yaml
exporter:
  prometheus:
    limits: {maxProcesses: 100, minWatts: 0.01, kernelThreads: one}
```

The energy of processes without series is in `kepler_node_cpu_unlisted_joules_total{reason="capped"}`. Containers, pods and VMs
keep all series. `kepler_exposed_series` and `kepler_cut_series` show the effect. The limits also apply to the stdout exporter.

## Reload

```sh
systemctl reload kepler    # or: kill -HUP PID
curl -s http://localhost:28282/debug/config    # the effective configuration, without secrets
```

A reload loads the log level and the web configuration file again. The log lists other changed keys: they take effect at the next
startup. Files of the cluster (kubeconfig, CA and token) are checked at startup only.

## Web configuration file

`web.configFile` is a file in the format of Prometheus' exporter-toolkit.

**Changes.** The agent checks the file, and the files that it names, each second:

* A change takes effect after two checks find the same content. SIGHUP triggers a check. Allow two seconds.
* A changed `web.configFile` setting takes effect at the next startup.
* If the named file is unusable, SIGHUP changes nothing.
* Changes that weaken access control need a restart: removing the last user, client certificates or their verification,
  the last of `client_allowed_sans`, or TLS.
* If TLS settings change, existing connections are closed after the current response.
* `kepler_config_last_reload_successful` is 1 if the last reload succeeded.

**Warnings.** Each time the agent loads the file, it logs a warning for:

* a file with neither TLS nor users: everybody has access
* users without TLS, unless all `web.listenAddresses` are loopback addresses
* `client_allowed_sans` with `RequireAnyClientCert`: a client can put any name into an unverified certificate. Use
  `RequireAndVerifyClientCert`.

**Probes.** With users or client certificates every path requires them, including `/-/healthy` and `/-/ready`. A probe without a
password gets 401. Probe the port instead (`tcpSocket` in Kubernetes, the chart's default), or send the password:
`curl --user NAME:PASSWORD https://HOST:28282/-/healthy`.

**Logins.**

| Rule | Value |
|---|---|
| maximum bcrypt cost in `basic_auth_users` | 14, about one second of CPU time; 10 is usual |
| a known good login | is cached, and accepted before `rate_limit` applies |
| after five failed logins (a repeated wrong password counts once) of a client (IPv4 address or IPv6 /64) | 429 for one second, doubled by each further failure, up to one minute |
| logins during this time | Only cached ones pass; all others get 429, correct ones too. The cache ends with a restart or a password change |
| `rate_limit` | per client; the exporter-toolkit has one limit for all clients. Requests above it get 429 |
| 429 | has `Retry-After`: the seconds until the next request of the client may succeed |

If all hashes have the same cost, the response time does not reveal which users exist.

## Limits

* If `kube.enabled` is true, the node name is required: `kube.nodeName` or `--kube.node-name`.
* `host.procfs` must be a non-empty directory. So must `host.sysfs`, if it is set. If the default `/sys` is missing, the
  agent logs a warning and runs without the meters in it.
* `experimental.platform.redfish.configFile` is required if redfish is enabled.
* `experimental.platform.redfish.configFile`, `web.configFile` and `kube.config` must be readable regular files if they are used.
* `model.cacheDir` must be an absolute path.
* `web.listenAddresses` must not contain an address twice. An address must not be combined with `:port` or `[::]:port`, which
  include it. The same holds for an IPv4 address and `0.0.0.0:port`.
* `http_server_config.http2` (default true) is accepted without effect: the agent speaks HTTP/1.1.
* A file name must not contain line breaks or control characters. A file name that looks like a key or certificate is
  refused, and the message does not show it.
* `experimental.gpu.dcgmEndpoint` is an http or https URL without credentials, query or fragment.
* `dev.fake-cpu-meter.enabled` and `experimental.hwmon.forceEnabled` are deprecated. They work with a warning, and set
  `cpu.preferredMeters` to `[fake]` or `[hwmon]`.
* A neighbour behind the same client address can keep new logins out by wrong passwords; cached logins still pass.
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
  std::string flag;
  if (!key.flag.empty()) flag = fmt::format("`--{}{}`", settings::IsBool(key) ? "[no-]" : "", key.flag);
  if (!key.details.alias.empty()) flag += fmt::format(", `--{}`", key.details.alias);
  std::string meaning = settings::Meaning(key);
  if (const auto& choices = key.details.choices; !choices.empty())
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

/// Of a list of mappings.
std::string BlockRows(const Key& list) {
  std::string out =
      fmt::format("\nEach item of `{}` is a mapping:\n\n| Key | Type | Meaning |\n|---|---|---|\n", list.path);
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
      "\n## For development\n\nSettings for tests of the agent. They may change in any version; `--help` does not show "
      "them.\n\n";
  out += KeyRows(defaults.keys, true);
  out += "\n## The defaults as a file\n\n```yaml\n" + settings::Print(defaults, true) + "```\n";
  return out;
}

}  // namespace kepler::docs
