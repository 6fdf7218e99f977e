#pragma once
// How push and pull reach a model server: URL, login, certificates. Their keys are the first of both tables.
#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "base/duration.h"
#include "base/result.h"
#include "http/retrying/retrying_server.h"
#include "settings/command_line.h"
#include "settings/table.h"

namespace kepler::lab::tool {

struct ServerAccess {
  std::string server{};
  std::string name{};  // of the model
  std::string user{};
  std::string password_file{};
  std::string ca_file{};
  std::string cert_file{};
  std::string key_file{};
  Duration timeout = std::chrono::seconds(60);
  int retries = 4;
};

/// The keys of the member `kAccess` of a struct, and then `own`.
template <auto kAccess, size_t kOwn>
consteval auto WithServerAccess(const settings::Key (&own)[kOwn]) {
  using A = ServerAccess;
  using settings::kAt;
  using settings::Key;
  constexpr int64_t kSecond = 1'000'000'000;
  const Key access[] = {
      Key("server", "server", "URL of kepler-model serve", kAt<kAccess, &A::server>, {.required = true}),
      Key("name", "name", "Name of the model on the server", kAt<kAccess, &A::name>, {.required = true}),
      Key("user", "user", "User name for basic authentication; requires TLS", kAt<kAccess, &A::user>),
      Key("password-file", "password-file", "File with the password of --user; a trailing line end is ignored",
          kAt<kAccess, &A::password_file>, {.is_path = true}),
      Key("ca-file", "ca-file", "PEM file with the CA that signed the server's certificate; empty: the system's CAs",
          kAt<kAccess, &A::ca_file>, {.is_path = true}),
      Key("cert-file", "cert-file", "PEM file with a client certificate", kAt<kAccess, &A::cert_file>,
          {.is_path = true}),
      Key("key-file", "key-file", "PEM file with the key of --cert-file", kAt<kAccess, &A::key_file>,
          {.is_path = true}),
      Key("timeout", "timeout", "Timeout of a request", kAt<kAccess, &A::timeout>,
          {.min = kSecond, .max = 3600 * kSecond}),
      Key("retries", "retries",
          "Maximum number of retries after server errors (5xx), 429 and timeouts; Retry-After is honoured",
          kAt<kAccess, &A::retries>, {.min = 0, .max = 100}),
  };
  return [&]<size_t... kA, size_t... kB>(std::index_sequence<kA...>, std::index_sequence<kB...>) {
    return std::array{access[kA]..., own[kB]...};
  }(std::make_index_sequence<std::size(access)>(), std::make_index_sequence<kOwn>());
}

void CheckServerAccess(settings::Draft& draft, const ServerAccess& access);

/// Reads the files. Blocks.
[[nodiscard]] Result<http::retrying::Server> ServerOf(const ServerAccess& access);

}  // namespace kepler::lab::tool
