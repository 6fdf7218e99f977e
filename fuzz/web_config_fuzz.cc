// The exporter-toolkit web file: any bytes give a configuration or an error that names the file.
#include <chrono>

#include "fuzz.h"
#include "http/webconfig/web_config.h"

void Fuzz(std::string_view text) {
  const auto config = kepler::http::webconfig::ParseWebConfig(
      text, "web.yml", [] { return kepler::http::webconfig::CpuTime(std::chrono::milliseconds(1)); });
  if (!config && !config.error().message.starts_with("web.yml:")) std::abort();
  if (config) {
    for (const auto& [user, hash] : config->users) {
      if (user.empty() || !kepler::http::webconfig::IsBcryptHash(hash)) std::abort();
      if (kepler::http::webconfig::BcryptCost(hash) > kepler::http::webconfig::kMaxBcryptCost) std::abort();
    }
    for (const auto& [name, value] : config->headers)
      if (value.find_first_of("\r\n") != std::string::npos) std::abort();  // would split the response
    if (config->rate_limit.interval.count() < 0) std::abort();
  }
}
