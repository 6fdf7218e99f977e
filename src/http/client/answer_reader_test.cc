#include "http/client/answer_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::http::client {
namespace {

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
  for (const char* bytes : {"HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA B\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const Read read = ReadIn(std::string(bytes) + "\r\n\r\n", 1);
    ASSERT_FALSE(read.status) << bytes;
    EXPECT_EQ(read.status.error().kind, ErrorKind::kMalformed) << bytes;
  }
}

TEST(AnswerReader, EndlessLines_AreErrors) {
  for (const char* begin : {"HTTP/1.1 200 OK\r\nA: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a="}) {
    const Read read = ReadIn(begin + std::string(200'000, 'a'), 1000);
    ASSERT_FALSE(read.status) << begin;
    EXPECT_EQ(read.status.error().kind, ErrorKind::kMalformed) << begin;
  }
}

}  // namespace
}  // namespace kepler::http::client
