// Sends HTTP requests at a constant rate and measures how long the answers take. A request begins at its time, whether
// earlier ones are answered or not: a slow server cannot hide behind a slow client.
//   request_rate PORT RATE SECONDS CONNECTIONS keep|close <REQUESTS
// Standard input: requests as bytes, separated by NUL; they are sent in turn. "close": a connection for each request.
// Prints: answered failed p50 p99 max, times in microseconds from the planned begin.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

/// Reads one answer with a Content-Length. False unless it is a 200 that is complete. `closes`: the server closes.
bool ReadAnswer(int fd, bool& closes) {
  std::string text;
  size_t wanted = std::string::npos;
  char piece[65536];
  while (text.size() < wanted) {
    const ssize_t got = recv(fd, piece, sizeof piece, 0);
    if (got <= 0) return false;
    text.append(piece, static_cast<size_t>(got));
    const size_t end = text.find("\r\n\r\n");
    if (wanted != std::string::npos || end == std::string::npos) continue;
    constexpr std::string_view kLength = "content-length: ";
    std::string head = text.substr(0, end);
    std::ranges::transform(head, head.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    const size_t at = head.find(kLength);
    if (at == std::string::npos) return false;
    wanted = end + 4 + std::strtoul(head.c_str() + at + kLength.size(), nullptr, 10);
    closes = head.starts_with("http/1.0") || head.contains("connection: close");
  }
  return text.substr(9, 3) == "200";
}

struct Plan {
  uint16_t port;
  double rate;
  size_t total;
  bool keeps;
  std::vector<std::string> requests;
  Clock::time_point begin;
};

/// Sends each request whose turn comes, and adds its microseconds.
void Work(const Plan& plan, std::atomic<size_t>& next, std::vector<double>& times, std::atomic<size_t>& failed) {
  int fd = -1;
  for (size_t i = next++; i < plan.total; i = next++) {
    const auto planned =
        plan.begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(double(i) / plan.rate));
    std::this_thread::sleep_until(planned);
    const std::string& request = plan.requests[i % plan.requests.size()];
    if (fd < 0) fd = Connect(plan.port);
    bool closes = !plan.keeps;
    const bool is_sent = fd >= 0 && send(fd, request.data(), request.size(), MSG_NOSIGNAL) == ssize_t(request.size());
    bool is_good = is_sent && ReadAnswer(fd, closes);
    closes = closes || !plan.keeps || !is_good;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - planned).count());
    if (!is_good) ++failed;
    if (closes && fd >= 0) close(fd), fd = -1;
  }
  if (fd >= 0) close(fd);
}

std::vector<std::string> Requests() {
  std::vector<std::string> requests(1);
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != 0)
      requests.back() += static_cast<char>(c);
    else
      requests.emplace_back();
  }
  if (requests.back().empty()) requests.pop_back();
  return requests;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const double rate = std::strtod(argv[2], nullptr);
  Plan plan{.port = static_cast<uint16_t>(std::atoi(argv[1])),
            .rate = rate,
            .total = static_cast<size_t>(rate * std::strtod(argv[3], nullptr)),
            .keeps = std::string_view(argv[5]) == "keep",
            .requests = Requests(),
            .begin = Clock::now() + std::chrono::milliseconds(100)};
  if (plan.requests.empty() || plan.total == 0) return 2;
  std::atomic<size_t> next = 0, failed = 0;
  std::vector<std::vector<double>> times(static_cast<size_t>(std::atoi(argv[4])));
  {
    std::vector<std::jthread> threads;
    for (auto& own : times) threads.emplace_back([&] { Work(plan, next, own, failed); });
  }
  std::vector<double> all;
  for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all);
  const auto at = [&](double part) { return all[static_cast<size_t>(part * double(all.size() - 1))]; };
  fmt::print("{} {} {:.0f} {:.0f} {:.0f}\n", all.size() - failed, failed.load(), at(0.5), at(0.99), all.back());
  return 0;
}
