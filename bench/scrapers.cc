// Many readers at once, each with its own kept connection:   scrapers PORT CONNECTIONS SECONDS
// Asks 127.0.0.1 for /metrics with gzip, again and again. Prints "scrapes bytes failed slowest_ms"; a connection that
// fails is counted and ends.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/parse.h"
#include "base/unique_fd.h"

namespace {

using SteadyClock = std::chrono::steady_clock;

struct Tally {
  uint64_t scrapes = 0;
  uint64_t bytes = 0;
  uint64_t failed = 0;
  SteadyClock::duration slowest{};
};

class Scraper {
 public:
  explicit Scraper(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), buffer_(256 * 1024) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval max{30, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &max, sizeof max);
    connected_ = connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  /// The size of one answer; nothing unless it is a whole 200.
  std::optional<uint64_t> Scrape() {
    constexpr std::string_view kRequest = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n";
    if (!connected_ || send(socket_.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) != std::ssize(kRequest))
      return std::nullopt;
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const size_t got = Receive();
      if (got == 0) return std::nullopt;
      head.append(buffer_.data(), got);
    }
    const size_t head_size = head.find("\r\n\r\n") + 4;
    const auto size = ContentLength(std::string_view(head).substr(0, head_size));
    if (!head.starts_with("HTTP/1.1 200 ") || !size) return std::nullopt;
    for (uint64_t have = head.size() - head_size; have < *size;) {
      const size_t got = Receive();
      if (got == 0) return std::nullopt;
      have += got;
    }
    return size;
  }

 private:
  size_t Receive() {
    const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    return got > 0 ? static_cast<size_t>(got) : 0;
  }
  static std::optional<uint64_t> ContentLength(std::string_view head) {
    constexpr std::string_view kName = "\r\nContent-Length: ";
    const size_t at = head.find(kName);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = head.substr(at + kName.size());
    return kepler::ParseNumber<uint64_t>(rest.substr(0, rest.find('\r')));
  }

  kepler::UniqueFd socket_;
  std::vector<char> buffer_;
  bool connected_ = false;
};

void ScrapeUntil(SteadyClock::time_point end, uint16_t port, Tally& tally) {
  Scraper scraper(port);
  for (auto begin = SteadyClock::now(); begin < end;) {
    const auto bytes = scraper.Scrape();
    if (!bytes) {
      ++tally.failed;
      return;
    }
    const auto now = SteadyClock::now();
    ++tally.scrapes;
    tally.bytes += *bytes;
    tally.slowest = std::max(tally.slowest, now - begin);
    begin = now;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index) {
    return argc == 4 ? kepler::ParseNumber<uint16_t>(argv[index]).value_or(0) : uint16_t{0};
  };
  const uint16_t port = number(1);
  const uint16_t connections = number(2);
  const uint16_t seconds = number(3);
  if (port == 0 || connections == 0 || seconds == 0) {
    std::fputs("usage: scrapers PORT CONNECTIONS SECONDS\n", stderr);
    return 2;
  }
  std::vector<Tally> tallies(connections);
  const auto end = SteadyClock::now() + std::chrono::seconds(seconds);
  {
    std::vector<std::jthread> threads;
    threads.reserve(connections);
    for (Tally& tally : tallies) threads.emplace_back([&tally, end, port] { ScrapeUntil(end, port, tally); });
  }
  Tally sum;
  for (const Tally& tally : tallies) {
    sum.scrapes += tally.scrapes;
    sum.bytes += tally.bytes;
    sum.failed += tally.failed;
    sum.slowest = std::max(sum.slowest, tally.slowest);
  }
  std::printf("%llu %llu %llu %lld\n", static_cast<unsigned long long>(sum.scrapes),
              static_cast<unsigned long long>(sum.bytes), static_cast<unsigned long long>(sum.failed),
              static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(sum.slowest).count()));
  return 0;
}
