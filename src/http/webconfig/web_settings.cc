#include "http/webconfig/web_settings.h"

#include <fmt/chrono.h>
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string_view>

#include "base/log.h"
#include "http/webconfig/tls_context.h"

namespace kepler::http::webconfig {
namespace {

/// SHA-256 over the texts and their lengths.
std::array<unsigned char, 32> DigestOf(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const auto text : texts) all.append(std::to_string(text.size())).append(1, ':').append(text);
  std::array<unsigned char, 32> digest{};
  EVP_Digest(all.data(), all.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

/// Why `next` would accept clients that `now` rejects by certificate; "" where it would not. VerifyClientCertIfGiven
/// rejects nobody: a client with a bad certificate can send none.
std::string_view WhyOpensToCertificates(const WebConfig& now, const WebConfig& next) {
  if (!now.tls || !now.tls->wants_certificate()) return "";
  if (!next.tls || !next.tls->wants_certificate())
    return "no longer requires client certificates, so everybody would have access";
  if (now.tls->verifies() && !next.tls->verifies())
    return "no longer verifies client certificates, so anybody who makes a certificate would have access";
  if (!now.tls->client_allowed_sans.empty() && next.tls->client_allowed_sans.empty())
    return "no longer has client_allowed_sans, so every certificate of that CA would have access";
  return "";
}

}  // namespace

Result<std::unique_ptr<WebSettings>> WebSettings::Create(std::string path, std::chrono::nanoseconds check_period) {
  std::unique_ptr<WebSettings> settings(new WebSettings(std::move(path), check_period));
  if (!settings->has_file()) {
    settings->state_ = std::make_shared<WebState>();
    settings->reload_.last_success = settings->clock_.Wall();
    return settings;
  }
  const Reading reading = settings->Read();
  if (!reading.state) return std::unexpected(reading.state.error());
  settings->PutIntoForce(reading);
  return settings;
}

std::shared_ptr<const WebState> WebSettings::current() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

WebReload WebSettings::reload() const {
  const std::scoped_lock lock(mutex_);
  return reload_;
}

std::string WebWarning(const WebState& state, const std::string& path, Reach reach, WallTime now) {
  std::string warning = WebWarning(state.config, path, reach);
  if (!state.certificate_expiry || *state.certificate_expiry > now) return warning;
  const auto& places = state.config.tls_places;
  const auto place = places.find("cert_file");
  return fmt::format("{}: the certificate expired on {:%Y-%m-%d}, and clients refuse it; renew it{}{}",
                     (place != places.end() ? place : places.find("cert"))->second,
                     fmt::gmtime(std::chrono::system_clock::to_time_t(*state.certificate_expiry)),
                     warning.empty() ? "" : "; ", warning);
}

WebSettings::Reading WebSettings::Read() const {
  Reading reading;
  reading.state = Load(reading, current().get());
  return reading;
}

Result<std::shared_ptr<const WebState>> WebSettings::Load(Reading& reading, const WebState* in_force) const {
  auto state = std::make_shared<WebState>();
  // Stamps before reading: a change in between is then seen at the next check.
  reading.stamps.emplace_back(path_, StampOf(path_));
  KEPLER_TRY(const auto text, ReadSmallFile(path_));
  reading.bytes = DigestOf({text});
  KEPLER_TRY(state->config, ParseWebConfig(text, path_));
  if (!state->config.tls) return state;
  const auto& tls = *state->config.tls;
  for (const auto& file : {tls.cert_file, tls.key_file, tls.client_ca_file})
    if (!file.empty()) reading.stamps.emplace_back(file, StampOf(file));
  KEPLER_TRY(const auto pems, ReadPems(tls, state->config.tls_places));
  reading.tls_bytes = DigestOf({pems.cert.text, pems.key.text, pems.client_ca.text});
  reading.bytes = DigestOf({text, pems.cert.text, pems.key.text, pems.client_ca.text});
  if (in_force != nullptr && in_force->config.tls == state->config.tls && tls_bytes_ == reading.tls_bytes)
    state->tls = in_force->tls;
  else {
    KEPLER_TRY(state->tls, MakeTlsContext(tls, pems, state->config.tls_places));
  }
  state->certificate_expiry = CertificateExpiry(*state->tls);
  return state;
}

Status WebSettings::Judge(const Reading& reading) const {
  if (!reading.state) return std::unexpected(reading.state.error());
  const WebState& next = **reading.state;
  const auto now = current();
  const auto refuse = [&](std::string_view why) {
    return Fail(ErrorKind::kInvalid, path_ + ": " + std::string(why) + "; restart the agent to apply it");
  };
  if ((next.tls == nullptr) != (now->tls == nullptr)) return refuse("TLS cannot be switched on or off at run time");
  if (next.config.users.empty() && !now->config.users.empty())
    return refuse("no longer has users, so everybody would have access");
  if (const auto why = WhyOpensToCertificates(now->config, next.config); !why.empty()) return refuse(why);
  return {};
}

Status WebSettings::Reload(SteadyTime now) {
  if (!has_file()) return {};
  const std::scoped_lock one_at_a_time(checking_);
  Reading reading = Read();
  if (const auto usable = Judge(reading); !usable) {
    Failed(reading);
    return usable;
  }
  if (reading.bytes == bytes_) {
    PutIntoForce(reading);
  } else if (!candidate_ || !reading.Same(*candidate_)) {
    candidate_ = std::move(reading);
    candidate_seen_ = now;
  }
  return {};
}

bool WebSettings::Check(SteadyTime now) {
  if (!has_file()) return false;
  const std::scoped_lock one_at_a_time(checking_);
  if (now < next_check_) return false;
  next_check_ = now + check_period_;
  const auto changed = [](const auto& entry) { return StampOf(entry.first) != entry.second; };
  if (!candidate_ && std::ranges::none_of(stamps_, changed)) return false;
  if (candidate_ && now - candidate_seen_ < check_period_) return false;
  Reading reading = Read();
  if (candidate_ && reading.Same(*candidate_)) return Conclude(reading);
  candidate_ = std::move(reading);
  candidate_seen_ = now;
  return false;
}

bool WebSettings::Conclude(const Reading& reading) {
  if (const auto usable = Judge(reading); !usable) {
    Failed(reading);
    log::Error("failed to load the changed web configuration; the old one stays in use until the file is corrected",
               {{"file", path_}, {"err", usable.error().message}});
    return false;
  }
  const bool other = reading.bytes != bytes_;
  const bool corrected = !reload().successful;
  PutIntoForce(reading);
  if (other || corrected) log::Info("reloaded the web configuration", {{"file", path_}});
  return other;
}

void WebSettings::PutIntoForce(const Reading& reading) {
  candidate_.reset();
  stamps_ = reading.stamps;
  bytes_ = reading.bytes;
  tls_bytes_ = reading.tls_bytes;
  const std::scoped_lock lock(mutex_);
  state_ = *reading.state;
  reload_ = {.successful = true, .last_success = clock_.Wall()};
}

void WebSettings::Failed(const Reading& reading) {
  candidate_.reset();
  stamps_ = reading.stamps;
  const std::scoped_lock lock(mutex_);
  reload_.successful = false;
}

}  // namespace kepler::http::webconfig
