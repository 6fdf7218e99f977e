// A name with two addresses. The first does not answer. This program resolves "two.test" itself.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "http/client/client_test_util.h"

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host == nullptr || std::string_view(host) != "two.test") return real(host, service, hints, found);
  addrinfo* next = nullptr;
  if (const int error = real("127.0.0.1", service, hints, &next); error != 0) return error;
  if (const int error = real("127.0.0.2", service, hints, found); error != 0) return error;
  (*found)->ai_next = next;
  return 0;
}

namespace kepler::http::client {
namespace {

using namespace std::chrono_literals;
using kepler::testing::ScriptedPeer;

/// Listens, and accepts nobody: the kernel drops what asks for a connection once the queue is full.
class FullListener {
 public:
  explicit FullListener(uint16_t port) {
    const sockaddr_in address{.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = {.s_addr = ::inet_addr("127.0.0.2")},
                              .sin_zero = {}};
    const auto* const there = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), there, sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    for (int i = 0; i < 4; ++i) {
      queued_.push_back(MakeSocket());
      static_cast<void>(::connect(queued_.back().get(), there, sizeof address));
    }
  }

 private:
  static UniqueFd MakeSocket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

  UniqueFd listener_ = MakeSocket();
  std::vector<UniqueFd> queued_;
};

TEST(ClientAddresses, NextAddressIsTried_WhenOneDoesNotAnswer) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const FullListener full(server.port());
  const auto got =
      Get({.tls = false, .host = "two.test", .port = server.port()}, {.target = "/", .deadlines = {.silence = 300ms}});
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.body, "hello");
}

}  // namespace
}  // namespace kepler::http::client
