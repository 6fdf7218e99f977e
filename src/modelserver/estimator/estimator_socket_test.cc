#include "modelserver/estimator/estimator_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::modelserver::estimator {
namespace {

using ::testing::HasSubstr;

class Peer {
 public:
  explicit Peer(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  void Send(std::string_view text) const {
    EXPECT_EQ(send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  void EndRequest() const { shutdown(fd_.get(), SHUT_WR); }
  /// All until the socket is closed.
  [[nodiscard]] std::string Receive() const {
    std::string all;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = recv(fd_.get(), buffer, sizeof(buffer), 0)) > 0) all.append(buffer, static_cast<size_t>(got));
    return all;
  }

 private:
  UniqueFd fd_;
};

class EstimatorSocketTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::unique_ptr<EstimatorSocket>> Listen(SocketLimits limits = {}) const {
    return EstimatorSocket::Listen(
        {.path = path_, .mode = 0640, .limits = limits}, clock_,
        [](std::string_view request) { return "got " + std::string(request); },
        [](const Error& error) { return "refused: " + error.message; });
  }
  void Start(SocketLimits limits = {}) {
    auto socket = Listen(limits);
    ASSERT_TRUE(socket) << socket.error().message;
    socket_ = *std::move(socket);
    ASSERT_TRUE(socket_->Start());
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::FakeClock clock_;
  const std::string path_ = tree_.Path("estimator.sock");
  std::unique_ptr<EstimatorSocket> socket_;
};

TEST_F(EstimatorSocketTest, AnswersAndCloses) {
  Start();
  const Peer peer(path_);
  peer.Send("{\"a\":1}\n");
  EXPECT_EQ(peer.Receive(), "got {\"a\":1}");
  EXPECT_EQ(socket_->counts().requests, 1U);
}

TEST_F(EstimatorSocketTest, BytesAfterTheObjectAreNoPartOfIt) {
  Start();
  const Peer peer(path_);
  peer.Send(R"( {"a":{"b":"}"}} {"c":2}})");
  EXPECT_EQ(peer.Receive(), R"(got  {"a":{"b":"}"}})");
}

TEST_F(EstimatorSocketTest, SilentClientsDelayNobody) {
  Start();
  std::vector<std::unique_ptr<Peer>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Peer>(path_));
  silent[3]->Send("{\"half\":");
  const Peer peer(path_);
  peer.Send("{}");
  EXPECT_EQ(peer.Receive(), "got {}");
  silent[3]->Send("2}");
  EXPECT_EQ(silent[3]->Receive(), "got {\"half\":2}");
}

TEST_F(EstimatorSocketTest, SlowClientIsClosed) {
  Start();
  const Peer slow(path_);
  slow.Send("{");
  const Peer first(path_);
  first.Send("{}");
  EXPECT_EQ(first.Receive(), "got {}");  // `slow` was accepted before
  clock_.Advance(std::chrono::seconds(6));
  const Peer second(path_);  // wakes the thread
  second.Send("{}");
  EXPECT_EQ(second.Receive(), "got {}");
  EXPECT_EQ(slow.Receive(), "");
  EXPECT_EQ(socket_->counts().cut, 1U);
}

TEST_F(EstimatorSocketTest, RefusesWithTheReason) {
  Start({.request_bytes = 10});
  const Peer large(path_);
  large.Send("{\"0123456789");
  EXPECT_EQ(large.Receive(), "refused: the request has more than 10 bytes");
  const Peer wrong(path_);
  wrong.Send("hello");
  EXPECT_EQ(wrong.Receive(), "refused: the request is not a JSON object");
  const Peer cut(path_);
  cut.Send("{\"a\"");
  cut.EndRequest();
  EXPECT_EQ(cut.Receive(), "refused: the request is incomplete");
  EXPECT_EQ(socket_->counts().refused, 3U);
}

TEST_F(EstimatorSocketTest, AtTheLimitTheOldestClientIsClosed) {
  Start({.clients = 2});
  const Peer oldest(path_);
  const Peer middle(path_);
  const Peer newest(path_);
  EXPECT_EQ(oldest.Receive(), "");
  middle.Send("{}");
  newest.Send("{}");
  EXPECT_EQ(middle.Receive(), "got {}");
  EXPECT_EQ(newest.Receive(), "got {}");
}

TEST_F(EstimatorSocketTest, MemoryOfIncompleteRequestsIsLimited) {
  Start({.all_bytes = 8});
  const Peer large(path_);
  large.Send("{\"0123456789");
  EXPECT_EQ(large.Receive(), "refused: too many requests are incomplete");
}

TEST_F(EstimatorSocketTest, HasItsModeAndIsRemoved) {
  Start();
  struct stat info{};
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
  socket_.reset();
  EXPECT_NE(lstat(path_.c_str(), &info), 0);
}

TEST_F(EstimatorSocketTest, ReplacesOnlyALeftover) {
  Start();
  const auto second = Listen();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another process listens on it"));
  socket_.reset();
  {
    const UniqueFd left(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    ASSERT_EQ(bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_TRUE(Listen());
  tree_.Write("estimator.sock", "a file");
  const auto file = Listen();
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("it exists and is not a socket"));
}

TEST_F(EstimatorSocketTest, LongPathIsRefused) {
  const auto socket = EstimatorSocket::Listen({.path = "/" + std::string(200, 'a')}, clock_, {}, {});
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().message, HasSubstr("must have 1 to 107 bytes"));
}

}  // namespace
}  // namespace kepler::modelserver::estimator
