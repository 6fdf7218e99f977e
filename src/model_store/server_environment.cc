#include "model_store/server_environment.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kEnable = "MODEL_SERVER_ENABLE";
constexpr std::string_view kUrl = "MODEL_SERVER_URL";
constexpr std::string_view kPort = "MODEL_SERVER_PORT";
constexpr std::string_view kPaths[] = {"MODEL_SERVER_MODEL_REQ_PATH", "MODEL_SERVER_MODEL_LIST_PATH"};
constexpr std::string_view kDefaultHost = "kepler-model-server.kepler.svc.cluster.local";

/// As in Kepler 0.7, the port counts only if no URL is set; the host is then the default one.
std::string UrlOf(const std::string& url, const std::string& port) {
  if (url.empty()) return fmt::format("http://{}:{}", kDefaultHost, port.empty() ? "8100" : port);
  return url.contains("://") ? url : "http://" + url;
}

}  // namespace

std::string ReadOldSetting(const std::string& directory, const std::string& name) {
  constexpr size_t kMaxBytes = size_t{64} << 10;
  if (const char* const text = std::getenv(name.c_str()); text != nullptr) return text;
  const auto file = ReadSmallFile(directory + '/' + name, kMaxBytes);
  return file ? std::string(Trim(*file)) : "";
}

ServerEnvironment ReadServerEnvironment(const std::function<std::string(std::string_view)>& value,
                                        std::string_view setting) {
  ServerEnvironment read;
  const auto note = [&](std::string_view name, std::string_view reason) {
    read.uses.push_back({std::string(name), std::string(reason)});
  };
  const std::string enable = value(kEnable);
  const std::string url = value(kUrl);
  const std::string port = value(kPort);
  const bool is_enabled = ParseBool(Trim(enable)).value_or(false);
  const std::string unused = !setting.empty() ? fmt::format("{} is set", setting)
                             : is_enabled     ? ""
                             : enable.empty() ? fmt::format("{} is not set", kEnable)
                                              : fmt::format("{} is not true", kEnable);
  if (is_enabled) note(kEnable, unused);
  if (!is_enabled && !enable.empty() && !ParseBool(Trim(enable))) note(kEnable, "it is neither true nor false");
  if (!url.empty()) note(kUrl, unused);
  if (!port.empty()) note(kPort, !unused.empty() || url.empty() ? unused : "MODEL_SERVER_URL has the port");
  for (const std::string_view name : kPaths)
    if (!value(name).empty()) note(name, "the paths of kepler-model serve are fixed");
  if (unused.empty()) read.server = UrlOf(std::string(Trim(url)), std::string(Trim(port)));
  return read;
}

}  // namespace kepler::model_store
