#include "apps/kepler-model/serve_settings.h"

#include <cstdlib>

#include "base/parse.h"
#include "base/small_file.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

constexpr std::string_view kPolicies[] = {"honest"sv, "upstream"sv};
constexpr std::string_view kReaders[] = {"login"sv, "open"sv};
constexpr std::string_view kLevels[] = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::string_view kFormats[] = {"text"sv, "json"sv};
constexpr int64_t kShortestScanInterval = 100'000'000;        // nanoseconds
constexpr int64_t kLongestScanInterval = 86'400'000'000'000;  // a day

constexpr int64_t kShortestJob = 1'000'000'000;  // nanoseconds
constexpr int64_t kLongestJob = kLongestScanInterval;
constexpr int64_t kMinRetrain = 10 * kShortestJob;
constexpr int64_t kMinJobMemory = 64;  // MiB
constexpr int64_t kMaxJobMemory = 1 << 20;

constexpr Key kServeKeys[] = {
    Key("store", "store",
        "Directory with the models: a model database of Kepler 0.7, directories with model.json, or both; default: "
        "MODEL_TOPURL, if it is a file URL, or MODEL_PATH",
        kAt<&Serving::store>, {.is_path = true}),
    Key("listen-address", "listen-address",
        "Comma-separated list of addresses to listen on; default: the port MODEL_SERVER_PORT, or :8100",
        kAt<&Serving::listen>),
    Key("web-config-file", "web-config-file",
        "Web configuration file: TLS, users and rate limit, in the format of the agent", kAt<&Serving::web_config_file>,
        {.is_path = true}),
    Key("readers", "readers",
        "Clients without a login; login: refused if the web configuration file has users; open: may read models, but "
        "not upload or train",
        kAt<&Serving::readers>, {.choices = kReaders}),
    Key("selection", "selection",
        "Choice of a model; honest: as the agent, by machine and then by error; upstream: as the model server of "
        "Kepler "
        "0.7, by error",
        kAt<&Serving::selection>, {.choices = kPolicies}),
    Key("error-key", "error-key",
        "Stated error that --selection=upstream and /best-models compare: mae, mape, package_mae ...; default: "
        "ERROR_KEY, or mae",
        kAt<&Serving::error_key>),
    Key("max-error", "max-error",
        "Maximum stated error of a model that is given to clients, such as package_mape:20 (percent) or dram_mae:5 "
        "(watts). Models above it, and models that do not state this error, are listed only",
        kAt<&Serving::max_error>),
    Key("scan-interval", "scan-interval", "Time between two scans of the store for changed files",
        kAt<&Serving::scan_interval>, {.min = kShortestScanInterval, .max = kLongestScanInterval}),
    Key("jobs", "jobs", "Directory for training jobs (POST /train); empty: the server does not train",
        kAt<&Serving::jobs>, {.is_path = true}),
    Key("job-time", "job-time", "Maximum time of a training job", kAt<&Serving::job_time>,
        {.min = kShortestJob, .max = kLongestJob}),
    Key("job-memory", "job-memory", "Maximum memory of a training job, in MiB", kAt<&Serving::job_memory>,
        {.min = kMinJobMemory, .max = kMaxJobMemory}),
    Key("retrain", "retrain", "Name of a model of the store to retrain on a schedule; requires --jobs. Empty: none",
        kAt<&Serving::retrain>),
    Key("retrain-server", "retrain-server", "URL of the Prometheus server that has the measurements of --retrain",
        kAt<&Serving::retrain_server>),
    Key("retrain-node", "retrain-node", "Node whose measurements train; empty: all", kAt<&Serving::retrain_node>),
    Key("retrain-machine", "retrain-machine", "Measured machine: JSON file written by kepler-model machine",
        kAt<&Serving::retrain_machine>, {.is_path = true}),
    Key("retrain-sign-key", "retrain-sign-key", "PEM file with an Ed25519 private key that signs each new version",
        kAt<&Serving::retrain_sign_key>, {.is_path = true}),
    Key("retrain-features", "retrain-features", "Features of the model, or a feature group",
        kAt<&Serving::retrain_features>),
    Key("retrain-trainer", "retrain-trainer", "Trainer; train --help lists them", kAt<&Serving::retrain_trainer>),
    Key("retrain-last", "retrain-last", "Time range of the measurements, up to now", kAt<&Serving::retrain_last>,
        {.min = kMinRetrain, .max = 366 * kLongestJob}),
    Key("retrain-interval", "retrain-interval", "Time between two trainings", kAt<&Serving::retrain_interval>,
        {.min = kShortestJob, .max = 366 * kLongestJob}),
    Key("config-dir", "config-dir",
        "Directory with a file for each environment name of Kepler 0.7; a file wins over the environment",
        kAt<&Serving::config_dir>, {.is_path = true}),
    Key("log-level", "log-level", "Log messages of this level and above", kAt<&Serving::log_level>,
        {.choices = kLevels}),
    Key("log-format", "log-format", "Format of the log", kAt<&Serving::log_format>, {.choices = kFormats}),
};
constexpr settings::TableOf<Serving> kServeTable(kServeKeys);

constexpr std::string_view kNoDownload =
    "this server downloads nothing; copy the model database into the directory of --store";
constexpr std::string_view kIsOfClients = "it is a setting of clients";

/// Names of upstream's model server and estimator that have no meaning here.
constexpr std::pair<std::string_view, std::string_view> kUnused[] = {
    {"INITIAL_PIPELINE_URL", kNoDownload},
    {"CONFIG_PATH", "use --config-dir"},
    {"MNT_PATH", "use --store"},
    {"RESOURCE_DIR", "training profiles are not served"},
    {"MODEL_SERVER_ENABLE", kIsOfClients},
    {"MODEL_SERVER_URL", kIsOfClients},
    {"MODEL_SERVER_MODEL_REQ_PATH", kIsOfClients},
    {"MODEL_SERVER_MODEL_LIST_PATH", kIsOfClients},
    {"MODEL_CONFIG", kIsOfClients},
};

/// The directory of a URL "file:///models/v0.7", or of an absolute path; empty for other URLs.
std::string DirectoryOf(std::string_view url) {
  constexpr std::string_view kScheme = "file://";
  if (url.starts_with(kScheme)) url.remove_prefix(kScheme.size());
  return url.starts_with('/') ? std::string(url) : "";
}

}  // namespace

const settings::TableOf<Serving>& ServeTable() { return kServeTable; }

std::vector<EnvironmentUse> ApplyEnvironment(Serving& config,
                                             const std::function<std::string(std::string_view)>& value) {
  std::vector<EnvironmentUse> uses;
  const auto note = [&](std::string_view name, std::string_view reason) {
    uses.push_back({std::string(name), std::string(reason)});
  };
  const auto store = [&](std::string_view name, const std::string& directory) {
    if (directory.empty()) return note(name, kNoDownload);
    if (!config.store.empty()) return note(name, "another setting names the store");
    config.store = directory;
    note(name, "");
  };
  if (const std::string url = value("MODEL_TOPURL"); !url.empty()) store("MODEL_TOPURL", DirectoryOf(url));
  if (const std::string path = value("MODEL_PATH"); !path.empty()) store("MODEL_PATH", path);
  if (const std::string key = value("ERROR_KEY"); !key.empty()) {
    note("ERROR_KEY", config.error_key.empty() ? "" : "--error-key is set");
    if (config.error_key.empty()) config.error_key = key;
  }
  if (const std::string port = value("MODEL_SERVER_PORT"); !port.empty()) {
    note("MODEL_SERVER_PORT", config.listen.empty() ? "" : "--listen-address is set");
    if (config.listen.empty()) config.listen = {":" + port};
  }
  for (const auto& [name, reason] : kUnused)
    if (!value(name).empty()) note(name, reason);
  if (config.error_key.empty()) config.error_key = "mae";
  if (config.listen.empty()) config.listen = {":8100"};
  return uses;
}

void LogEnvironment(const std::vector<EnvironmentUse>& uses) {
  for (const EnvironmentUse& use : uses) {
    if (use.reason.empty())
      log::Info("setting of Kepler 0.7 is used", {{"name", use.name}});
    else
      log::Warn("setting of Kepler 0.7 is ignored", {{"name", use.name}, {"reason", use.reason}});
  }
}

std::string EnvironmentOf(const std::string& directory, std::string_view name) {
  constexpr size_t kMax = 4096;
  if (const auto text = ReadSmallFile(directory + "/" + std::string(name), kMax); text && !Trim(*text).empty())
    return std::string(Trim(*text));
  const char* const text = std::getenv(std::string(name).c_str());
  return text == nullptr ? "" : std::string(Trim(text));
}

}  // namespace kepler::lab::tool
