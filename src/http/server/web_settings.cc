#include "http/server/web_settings.h"

#include <algorithm>

#include "base/log.h"
#include "base/parse.h"
#include "http/server/tls_context.h"

namespace kepler::http {

Result<std::unique_ptr<WebSettings>> WebSettings::Create(std::string path, std::chrono::nanoseconds check_period) {
  std::unique_ptr<WebSettings> settings(new WebSettings(std::move(path), check_period));
  KEPLER_CHECK_OK(settings->Apply(/*first=*/true));
  return settings;
}

std::shared_ptr<const WebState> WebSettings::current() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

Result<std::shared_ptr<const WebState>> WebSettings::Load(Stamps& stamps, bool first) const {
  auto state = std::make_shared<WebState>();
  if (path_.empty()) return state;
  // Stamps before reading: a change in between is then seen at the next check.
  stamps.emplace_back(path_, StampOf(path_));
  KEPLER_TRY(const auto text, ReadSmallFile(path_));
  if (!first && Trim(text).empty()) {
    return Fail(ErrorKind::kMalformed, path_ + ":1: is empty; an editor may be about to fill it");
  }
  KEPLER_TRY(state->config, ParseWebConfig(text, path_));
  if (!state->config.tls) return state;
  const auto& tls = *state->config.tls;
  for (const auto& file : {tls.cert_file, tls.key_file, tls.client_ca_file}) {
    if (!file.empty()) stamps.emplace_back(file, StampOf(file));
  }
  KEPLER_TRY(state->tls, MakeTlsContext(tls, path_));
  return state;
}

Status WebSettings::Apply(bool first) {
  const std::scoped_lock one_at_a_time(loading_);
  Stamps stamps;
  auto loaded = Load(stamps, first);
  const std::scoped_lock lock(mutex_);
  stamps_ = std::move(stamps);
  if (!loaded) return std::unexpected(std::move(loaded).error());
  if (!first && ((*loaded)->tls == nullptr) != (state_->tls == nullptr)) {
    return Fail(ErrorKind::kInvalid, path_ + ": TLS cannot be switched on or off while running; restart for that");
  }
  if (!first && (*loaded)->config.users.empty() && !state_->config.users.empty())
    log::Warn("the web configuration names no user any more: everybody is served", {{"file", path_}});
  state_ = *std::move(loaded);
  return {};
}

Status WebSettings::Reload() {
  if (path_.empty()) return {};
  return Apply(/*first=*/false);
}

bool WebSettings::Changed() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(stamps_, [](const auto& entry) { return StampOf(entry.first) != entry.second; });
}

void WebSettings::ReloadIfChanged(SteadyTime now) {
  if (path_.empty() || now < next_check_) return;
  next_check_ = now + check_period_;
  if (!Changed()) return;
  if (const auto status = Reload(); status) {
    log::Info("the web configuration was read again", {{"file", path_}});
  } else {
    log::Error("the changed web configuration is not usable; the old one stays in force until it is corrected",
               {{"file", path_}, {"err", status.error().message}});
  }
}

}  // namespace kepler::http
