#pragma once
// A small blocking HTTP client for the tests: raw bytes out, replies in, plain or TLS. Every wait ends after 10 s.
#include <openssl/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace kepler::http::server::testing {

struct Reply {
  unsigned status = 0;                         // 0: no reply came
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
  std::string raw_head;
  bool cut = false;  // the connection ended within a body in chunks
};

struct TlsClientOptions {
  std::string cert{};  // PEM; "" sends none
  std::string key{};
  int max_version = 0;  // TLS1_2_VERSION; 0: any
  std::string alpn{};   // wire form
};

class TestClient {
 public:
  /// Connects to "127.0.0.1:1234" or "[::1]:1234". `receive_buffer` > 0 makes a reader that is soon full; `source` is
  /// the IPv4 address to connect from.
  explicit TestClient(const std::string& address, int receive_buffer = 0, const char* source = nullptr);
  ~TestClient();
  TestClient(TestClient&&) noexcept;
  TestClient& operator=(TestClient&&) noexcept;

  /// Whether the handshake succeeded as far as the client can tell.
  [[nodiscard]] bool StartTls(const TlsClientOptions& options = {});
  void Send(std::string_view bytes);
  void SendGet(std::string_view path, std::string_view extra_lines = "");
  /// Reads one reply; `head_only` for answers to HEAD. Status 0 when the connection ends first.
  [[nodiscard]] Reply Read(bool head_only = false);
  [[nodiscard]] Reply Get(std::string_view path, std::string_view extra_lines = "");
  /// Reads until the server closes; true when it did so in time.
  [[nodiscard]] bool WaitForEnd();
  /// Whether bytes (or the end) come within `time`.
  [[nodiscard]] bool Readable(std::chrono::milliseconds time) const;
  /// What comes next, to left_over(); false at the end.
  [[nodiscard]] bool Fill();
  void Abort();  // closes with a reset
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool was_reset() const { return was_reset_; }
  [[nodiscard]] const std::string& left_over() const { return buffer_; }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const;
  };
  [[nodiscard]] bool FillTo(size_t bytes);
  [[nodiscard]] std::string Take(size_t bytes);
  void ReadChunks(Reply& reply);

  UniqueFd fd_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::string buffer_;
  bool was_reset_ = false;
};

}  // namespace kepler::http::server::testing
