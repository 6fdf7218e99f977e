#pragma once
// Acceptor: a listening socket. It admits or refuses connections, and pauses without descriptors. On the I/O thread.
#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "http/server/client_address.h"
#include "http/server/connection.h"
#include "http/server/event_loop.h"
#include "http/server/server_core.h"

namespace kepler::http::server {

class Acceptor {
 public:
  Acceptor(ServerCore& core, Socket socket);

  void Accept();
  void Close();
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  void Admit(UniqueFd fd, const ClientAddress& client);
  [[nodiscard]] Connection* LeastOfAll() const;
  [[nodiscard]] bool IsNew(const Connection::Waiting& waiting) const;  // true during its first_words_time
  [[nodiscard]] size_t NewcomersOtherThan(const std::vector<ClientAddress>& clients) const;
  [[nodiscard]] Connection* OldestOf(const std::vector<ClientAddress>& clients) const;
  [[nodiscard]] bool MakeRoom(const ClientAddress& newcomer);  // false: no connection may be closed for the newcomer
  void BackOff(int err);

  ServerCore& core_;
  Socket socket_;
  const std::string address_;
  Timer retry_;
  std::chrono::milliseconds delay_;
  SystemClock clock_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::http::server
