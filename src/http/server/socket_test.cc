#include <gtest/gtest.h>
#include <sys/socket.h>

#include "http/server/event_loop.h"

namespace kepler::http::server {
namespace {

TEST(Socket, Ready_RunsTask) {
  EventLoop loop;
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const UniqueFd other(fds[1]);
  auto socket = Socket::Create(loop, UniqueFd(fds[0]));
  ASSERT_TRUE(socket);
  bool writable = false;
  socket->WhenReadable([&loop] { loop.Stop(); });
  socket->WhenWritable([&] {
    writable = true;
    EXPECT_EQ(::send(other.get(), "x", 1, 0), 1);
  });
  loop.Run();
  EXPECT_TRUE(writable);
}

TEST(Socket, Closed_DropsTaskUnrun) {
  EventLoop loop;
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const UniqueFd other(fds[1]);
  auto socket = Socket::Create(loop, UniqueFd(fds[0]));
  ASSERT_TRUE(socket);
  const auto token = std::make_shared<int>();
  bool ran = false;
  socket->WhenReadable([&ran, token] { ran = true; });
  socket->Close();
  loop.Post([&loop] { loop.Stop(); });
  loop.Run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Socket, NotASocket_IsAnError) {
  EventLoop loop;
  EXPECT_FALSE(Socket::Create(loop, UniqueFd(-1)));
}

}  // namespace
}  // namespace kepler::http::server
