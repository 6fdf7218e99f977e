#include "modelserver/estimator/estimator_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "base/unique_fd.h"
#include "modelserver/estimator/estimate_request.h"

namespace kepler::modelserver::estimator {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr int kBacklog = SOMAXCONN;

Result<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return Fail(ErrorKind::kInvalid,
                fmt::format("socket {}: its path must have 1 to {} bytes", path, sizeof(address.sun_path) - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

UniqueFd NewSocket() { return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// Removes a socket that an ended process left.
Status RemoveLeftover(const std::string& path, const sockaddr_un& address) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? Status() : FailErrno("stat", path);
  if (!S_ISSOCK(info.st_mode))
    return Fail(ErrorKind::kInvalid, fmt::format("{}: it exists and is not a socket; set another --socket", path));
  const UniqueFd probe = NewSocket();
  const bool answers = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (answers || errno != ECONNREFUSED)
    return Fail(ErrorKind::kInvalid, fmt::format("{}: another process listens on it; stop that process, or set another "
                                                 "--socket",
                                                 path));
  if (unlink(path.c_str()) != 0) return FailErrno("remove", path);
  return {};
}

/// Nobody can connect between bind() and listen().
Result<UniqueFd> Bind(const SocketOptions& options) {
  KEPLER_TRY(const sockaddr_un address, AddressOf(options.path));
  KEPLER_CHECK_OK(RemoveLeftover(options.path, address));
  UniqueFd listener = NewSocket();
  if (!listener.valid()) return FailErrno("create socket", options.path);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return FailErrno("bind", options.path);
  const char* const path = options.path.c_str();
  if (options.group && lchown(path, static_cast<uid_t>(-1), *options.group) != 0)
    return FailErrno("set the group of", options.path);
  if (chmod(path, options.mode) != 0) return FailErrno("set the mode of", options.path);
  if (listen(listener.get(), kBacklog) != 0) return FailErrno("listen on", options.path);
  return listener;
}

}  // namespace

struct EstimatorSocket::Impl {
  struct Client {
    UniqueFd fd;
    BootTime deadline;
    std::string request{};
    ObjectEnd end{};
    std::string answer{};  // rest that is not sent yet
    bool is_answered = false;
  };

  SocketOptions options;
  const Clock& clock;
  Handler handler;
  Refuser refuser;
  UniqueFd listener;
  UniqueFd stop;  // readable: end
  struct stat bound{};
  std::vector<Client> clients{};
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<uint64_t> cut = 0;
  std::jthread thread{};  // ends first

  void Run();
  [[nodiscard]] int Patience() const;
  void AcceptAll();
  void WaitForDescriptor();
  void Cut(size_t index);
  void Give(Client& client, std::string answer);
  void Refuse(Client& client, std::string_view reason);
  [[nodiscard]] bool Read(Client& client);
  [[nodiscard]] bool Send(Client& client);
  [[nodiscard]] bool Serve(Client& client, short events);
  void BoundMemory();
};

/// Milliseconds until the first deadline.
int EstimatorSocket::Impl::Patience() const {
  if (clients.empty()) return -1;
  const BootTime first = std::ranges::min_element(clients, {}, &Client::deadline)->deadline;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - clock.Now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void EstimatorSocket::Impl::Cut(size_t index) {
  clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(index));
  ++cut;
}

/// The backlog keeps the new client. A poll would return at once until a descriptor is free.
void EstimatorSocket::Impl::WaitForDescriptor() {
  constexpr std::chrono::milliseconds kPause{50};
  if (clients.empty())
    std::this_thread::sleep_for(kPause);
  else
    Cut(0);
}

void EstimatorSocket::Impl::AcceptAll() {
  while (true) {
    UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) return WaitForDescriptor();
    if (!fd.valid()) return;
    if (clients.size() >= options.limits.clients) Cut(0);
    clients.push_back({.fd = std::move(fd), .deadline = clock.Now() + options.limits.time});
  }
}

void EstimatorSocket::Impl::Give(Client& client, std::string answer) {
  client.answer = std::move(answer);
  client.request = {};
  client.is_answered = true;
  client.deadline = clock.Now() + options.limits.time;
}

void EstimatorSocket::Impl::Refuse(Client& client, std::string_view reason) {
  ++refused;
  Give(client, refuser({.kind = ErrorKind::kMalformed, .message = std::string(reason)}));
}

/// Returns false if the client is gone.
bool EstimatorSocket::Impl::Read(Client& client) {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = recv(client.fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0 && client.request.empty()) return false;
  const std::string_view piece(buffer.data(), static_cast<size_t>(got));
  const ObjectEnd::Found found = client.end.Read(piece);
  if (found == ObjectEnd::Found::kNoObject) {
    Refuse(client, "the request is not a JSON object");
  } else if (client.request.size() + piece.size() > options.limits.request_bytes) {
    Refuse(client, fmt::format("the request has more than {} bytes", options.limits.request_bytes));
  } else {
    client.request += piece;
    if (found == ObjectEnd::Found::kEnd) {
      ++requests;
      // What follows the object, such as a line feed, is no part of it.
      Give(client, handler(std::string_view(client.request).substr(0, client.end.bytes())));
    } else if (got == 0) {
      Refuse(client, "the request is incomplete");
    }
  }
  return true;
}

/// Returns false if the connection is to be closed.
bool EstimatorSocket::Impl::Send(Client& client) {
  const ssize_t sent = send(client.fd.get(), client.answer.data(), client.answer.size(), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (sent < 0) {
    ++cut;
    return false;
  }
  client.answer.erase(0, static_cast<size_t>(sent));
  return !client.answer.empty();
}

bool EstimatorSocket::Impl::Serve(Client& client, short events) {
  if (!client.is_answered && events != 0 && !Read(client)) return false;
  if (client.is_answered) return Send(client);
  if (client.deadline > clock.Now()) return true;
  ++cut;
  return false;
}

void EstimatorSocket::Impl::BoundMemory() {
  size_t all = 0;
  for (const Client& client : clients) all += client.request.size();
  if (all <= options.limits.all_bytes) return;
  Refuse(*std::ranges::max_element(clients, {}, [](const Client& client) { return client.request.size(); }),
         "too many requests are incomplete");
}

void EstimatorSocket::Impl::Run() {
  std::vector<pollfd> polled;
  while (true) {
    polled = {{.fd = stop.get(), .events = POLLIN, .revents = 0},
              {.fd = listener.get(), .events = POLLIN, .revents = 0}};
    for (const Client& client : clients) {
      const short wanted = client.is_answered ? POLLOUT : POLLIN;
      polled.push_back({.fd = client.fd.get(), .events = wanted, .revents = 0});
    }
    if (poll(polled.data(), polled.size(), Patience()) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    std::vector<Client> kept;
    for (size_t i = 0; i < clients.size(); ++i) {
      Client& client = clients[i];
      const bool is_late = client.is_answered && client.deadline <= clock.Now();
      if (is_late) ++cut;
      if (!is_late && Serve(client, polled[i + 2].revents)) kept.push_back(std::move(client));
    }
    clients = std::move(kept);
    BoundMemory();
    if (polled[1].revents != 0) AcceptAll();
  }
}

EstimatorSocket::EstimatorSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<EstimatorSocket>> EstimatorSocket::Listen(SocketOptions options, const Clock& clock,
                                                                 Handler handler, Refuser refuser) {
  KEPLER_TRY(UniqueFd listener, Bind(options));
  UniqueFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) return FailErrno("create", "eventfd");
  std::unique_ptr<Impl> impl(new Impl{.options = std::move(options),
                                      .clock = clock,
                                      .handler = std::move(handler),
                                      .refuser = std::move(refuser),
                                      .listener = std::move(listener),
                                      .stop = std::move(stop)});
  if (lstat(impl->options.path.c_str(), &impl->bound) != 0) return FailErrno("stat", impl->options.path);
  return std::unique_ptr<EstimatorSocket>(new EstimatorSocket(std::move(impl)));
}

EstimatorSocket::~EstimatorSocket() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(impl_->stop.get(), &one, sizeof(one));
  if (impl_->thread.joinable()) impl_->thread.join();
  struct stat now{};
  if (lstat(impl_->options.path.c_str(), &now) == 0 && now.st_ino == impl_->bound.st_ino &&
      now.st_dev == impl_->bound.st_dev)
    unlink(impl_->options.path.c_str());
}

Status EstimatorSocket::Start() {
  KEPLER_TRY(impl_->thread, StartThread("estimator", [this](const std::stop_token&) { impl_->Run(); }));
  return {};
}

SocketCounts EstimatorSocket::counts() const {
  return {.requests = impl_->requests, .refused = impl_->refused, .cut = impl_->cut};
}

}  // namespace kepler::modelserver::estimator
