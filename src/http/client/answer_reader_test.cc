#include "http/client/answer_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kepler::http::client {
namespace {

using ::testing::HasSubstr;

struct Read {
  Status status;
  std::string body;
  bool done = false;
  bool keeps = false;
  size_t excess = 0;
};

/// What becomes of these bytes in pieces of `step`.
Read ReadIn(std::string_view bytes, size_t step, Method method = Method::kGet) {
  Read read;
  const Peer peer{.host = "h"};
  const ClientRequest request{.method = method, .target = "/"};
  const OnPiece take = [&read](std::string_view piece) -> Status {
    read.body += piece;
    return {};
  };
  AnswerReader reader(peer, request, take);
  while (!bytes.empty() && !reader.done() && read.status) {
    read.status = reader.Take(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  if (read.status && !reader.done()) read.status = reader.End();
  read.done = reader.done();
  read.keeps = read.done && reader.keeps();
  read.excess = reader.excess() + bytes.size();
  return read;
}

struct Case {
  const char* bytes;
  const char* body;
  bool done, keeps;
  size_t excess;
};

TEST(AnswerReader, GivesTheSameInPiecesOfAnySize) {
  for (const Case& wanted : {
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true, true, 0},
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP", "hello", true, false, 4},
           Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX: y\r\n\r\n",
                "hello", true, true, 0},
           Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", "", true, true, 0},
           Case{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 x\r\nContent-Length: 1\r\n\r\nx", "x", true, true, 0},
           Case{"HTTP/1.1 200 OK\r\n\r\nto the end", "to the end", true, false, 0},
           Case{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", "x", true, false, 0},
           Case{"HTTP/1.1 204 x\r\n\r\nx", "", true, false, 1},
           Case{"HTTP/1.1 101 x\r\n\r\n", "", true, false, 0},
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "hell", false, false, 0},
           Case{"HTTP/1.1 100 Continue\r\n\r\n", "", false, false, 0},
           Case{"", "", false, false, 0},
       }) {
    for (const size_t step : {1U, 2U, 7U, 1000U}) {
      const Read read = ReadIn(wanted.bytes, step);
      EXPECT_EQ(read.body, wanted.body) << wanted.bytes << " in " << step;
      EXPECT_EQ(read.done, wanted.done) << wanted.bytes << " in " << step;
      EXPECT_EQ(read.done, read.status.has_value()) << wanted.bytes << " in " << step;
      EXPECT_EQ(read.excess, wanted.excess) << wanted.bytes << " in " << step;
    }
    EXPECT_EQ(ReadIn(wanted.bytes, 1000).keeps, wanted.keeps) << wanted.bytes;
  }
}

TEST(AnswerReader, HeadHasNoBody) {
  const Read read = ReadIn("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 1, Method::kHead);
  EXPECT_TRUE(read.status && read.keeps);
}

TEST(AnswerReader, MalformedBytes_AreErrors) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const auto& [bytes, why] : std::vector<std::pair<std::string, std::string>>{
           {"HTTP/2 200 OK\r\n\r\n", "the answer is not HTTP/1.x"},
           {"HTTP/1.1 20 OK\r\n\r\n", "the status is not a number of three digits"},
           {"HTTP/1.1 200 O\x01K\r\n\r\n", "the status line has an invalid character"},
           {ok + "A B\r\n\r\n", "a header has an invalid character"},
           {ok + "A: \x01\r\n\r\n", "a header has an invalid character"},
           {ok + "Content-Length: x\r\n\r\n", "Content-Length is not one valid number of bytes"},
           {ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", ""},
           {ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk header is invalid"}}) {
    const Read read = ReadIn(bytes + "\r\n\r\n", 1);
    ASSERT_FALSE(read.status) << bytes;
    EXPECT_EQ(read.status.error().kind, ErrorKind::kMalformed) << bytes;
    EXPECT_THAT(read.status.error().message, HasSubstr("read the answer of https://h:443: " + why)) << bytes;
  }
}

TEST(AnswerReader, EndlessLines_AreErrors) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const auto& [begin, why] : std::vector<std::pair<std::string, std::string>>{
           {ok + "A: ", "the head has more than 8 KiB"},
           {ok + "Transfer-Encoding: chunked\r\n\r\n5;a=", "a chunk header or the trailer has more than 64 KiB"}}) {
    const Read read = ReadIn(begin + std::string(200'000, 'a'), 1000);
    ASSERT_FALSE(read.status) << begin;
    EXPECT_EQ(read.status.error().kind, ErrorKind::kMalformed) << begin;
    EXPECT_THAT(read.status.error().message, HasSubstr(why)) << begin;
  }
}

}  // namespace
}  // namespace kepler::http::client
