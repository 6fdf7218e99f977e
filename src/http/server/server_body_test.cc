// Bodies of requests: those that nobody wants, and yet they come, and those that a handler takes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using testing::StartServer;
using testing::TestClient;

TEST(ServerBody, Short_IsDroppedAndTheConnectionStays) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(50'000, 'b'));
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(ServerBody, LongOrChunked_EndsTheConnectionAfterTheAnswer) {
  const auto server = StartServer();
  for (const auto* lines : {"Content-Length: 70000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    auto client = Connect(*server);
    client.Send(std::string("POST /hello HTTP/1.1\r\nHost: a\r\n") + lines + std::string(70'000, 'b'));
    const auto reply = client.Read();
    EXPECT_EQ(reply.status, 405u);
    EXPECT_EQ(reply.headers.at("connection"), "close");
    EXPECT_TRUE(client.WaitForEnd());
  }
}

TEST(ServerBody, Expect100Continue_GetsTheFinalAnswer) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(ServerBody, ThatNeverComes_EndsTheConnectionWithoutASecondAnswer) {
  const auto server = StartServer({.header_time = 500ms});
  for (const std::string begun : {"", "bo"}) {
    auto client = Connect(*server);
    client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n" + begun);
    EXPECT_EQ(client.Read().status, 200u);
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.left_over(), "");
  }
  EXPECT_EQ(server->status().timeouts, 2u);
  EXPECT_EQ(server->status().requests, 2u);
}

TEST(ServerBody, ThatHasCome_LeavesAnIdleConnection) {
  const auto server = StartServer({.header_time = 400ms, .idle_time = 1h});
  auto at_once = Connect(*server), late = Connect(*server);
  const std::string head = "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
  at_once.Send(head + "body");
  EXPECT_EQ(at_once.Read().status, 200u);
  late.Send(head);
  EXPECT_EQ(late.Read().status, 200u);
  late.Send("body");
  for (auto* client : {&at_once, &late}) {
    EXPECT_FALSE(client->Readable(600ms));  // more than a request may take
    EXPECT_EQ(client->Get("/hello").status, 200u);
  }
  EXPECT_EQ(server->status().timeouts, 0u);
}

TEST(ServerBody, RequestBegunBehindABody_IsStillCutWith408) {
  const auto server = StartServer({.header_time = 500ms});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbodyGET /he");
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_EQ(client.Read().status, 408u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().timeouts, 1u);
}

constexpr size_t kMax = 100'000;

std::string Post(const std::string& lines, const std::string& body = "") {
  return "POST /take HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body;
}
std::string PostOf(const std::string& body) {
  return Post("Content-Length: " + std::to_string(body.size()) + "\r\n", body);
}
std::string PostInChunksOf(const std::string& body, size_t chunk) {
  std::string chunks;
  for (size_t at = 0; at < body.size(); at += chunk) {
    const auto part = body.substr(at, chunk);
    fmt::format_to(std::back_inserter(chunks), "{:x};x=y\r\n{}\r\n", part.size(), part);
  }
  return Post("Transfer-Encoding: chunked\r\n", chunks + "0\r\nTrailer: z\r\n\r\n");
}
const char* const kChunked = "Transfer-Encoding: chunked\r\n";

/// "/take" takes POST and PUT with up to kMax bytes, and answers with the type and the body. Plain, and over TLS.
class ServerTakesBody : public ::testing::TestWithParam<bool> {
 protected:
  void Start(Limits limits = {}, const std::string& more = "") {
    std::string web = more;
    if (GetParam()) {
      const auto leaf = kepler::testing::MakeLeaf(kepler::testing::MakeAuthority("ca"), "server");
      tree_.Write("server.crt", leaf.cert);
      tree_.Write("server.key", leaf.key);
      web += "tls_server_config: {cert_file: server.crt, key_file: server.key}\n";
    }
    tree_.Write("web.yml", web);
    server_ = MakeServer(limits, tree_.Path("web.yml"));
    server_->Handle({.path = "/take", .methods = {"POST", "PUT"}, .max_body = kMax},
                    [](const Request& request, const Responder& answer) {
                      answer({.content_type = request.headers.Get("Content-Type"), .body = request.body});
                    });
    ASSERT_TRUE(server_->Start());
  }
  TestClient Client() {
    auto client = Connect(*server_);
    EXPECT_TRUE(!GetParam() || client.StartTls());
    return client;
  }
  /// The status of the only answer to `bytes`, after which the connection ends.
  unsigned LastAnswerTo(const std::string& bytes) {
    auto client = Client();
    client.Send(bytes);
    const auto reply = client.Read();
    EXPECT_EQ(reply.headers.at("connection"), "close") << bytes.substr(0, 200);
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.left_over(), "");
    return reply.status;
  }

  kepler::testing::FakeTree tree_;
  std::unique_ptr<Server> server_;
};
INSTANTIATE_TEST_SUITE_P(PlainAndTls, ServerTakesBody, ::testing::Bool());

TEST_P(ServerTakesBody, EveryFraming_ArrivesWholeAndTheConnectionStays) {
  Start();
  auto client = Client();
  std::string body;
  for (int i = 0; body.size() < 90'000; ++i) body += std::to_string(i) + ",";
  for (const auto& request : {PostOf(body), PostInChunksOf(body, 7'000), PostInChunksOf(body, 50'000)}) {
    client.Send(request);
    EXPECT_EQ(client.Read().body, body);
  }
  client.Send("PUT /take HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nhi");
  const auto reply = client.Read();
  EXPECT_EQ(reply.body, "hi");
  EXPECT_EQ(reply.headers.at("content-type"), "a/b");
  client.Send(Post("Content-Length: 0\r\n"));
  EXPECT_EQ(client.Read().body, "");
  EXPECT_EQ(client.Get("/hello").body, "hello\n");
  EXPECT_EQ(server_->status().requests, 6u);
}

TEST_P(ServerTakesBody, Pipeline_IsAnsweredInOrder) {
  Start();
  auto client = Client();
  client.Send(PostOf("one") + PostInChunksOf("two", 1) + "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n" + PostOf("three"));
  for (const auto* body : {"one", "two", "hello\n", "three"}) EXPECT_EQ(client.Read().body, body);
}

TEST_P(ServerTakesBody, BodyByteByByte_ArrivesWhole) {
  Start();
  auto client = Client();
  for (const char c : PostInChunksOf("hello", 2)) client.Send({&c, 1});
  EXPECT_EQ(client.Read().body, "hello");
}

TEST_P(ServerTakesBody, Above_Is413BeforeItIsRead) {
  Start();
  EXPECT_EQ(LastAnswerTo(Post("Content-Length: 100001\r\n")), 413u);
  EXPECT_EQ(LastAnswerTo(Post("Content-Length: 100001\r\nExpect: 100-continue\r\n")), 413u);
  EXPECT_EQ(LastAnswerTo(Post(kChunked, "186a1\r\n")), 413u);
  EXPECT_EQ(LastAnswerTo(Post(kChunked, "186a0\r\n" + std::string(kMax, 'x') + "\r\n1\r\n")), 413u);
}

TEST_P(ServerTakesBody, ClientThatExpects100_GetsIt) {
  Start();
  auto client = Client();
  for (const auto* framing : {"Content-Length: 5\r\n", kChunked}) {
    client.Send(Post(std::string(framing) + "Expect: 100-continue\r\n"));
    const auto go_on = client.Read();
    EXPECT_EQ(go_on.status, 100u);
    EXPECT_EQ(go_on.raw_head, "HTTP/1.1 100 Continue\r\n\r\n");
    client.Send(framing == kChunked ? "5\r\nhello\r\n0\r\n\r\n" : "hello");
    EXPECT_EQ(client.Read().body, "hello");
  }
}

TEST_P(ServerTakesBody, ClientOfHttp10ThatExpects100_GetsNone) {
  Start();
  auto client = Client();
  client.Send("POST /take HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  client.Send("hello");
  EXPECT_EQ(client.Read().body, "hello");
}

TEST_P(ServerTakesBody, RequestThatTwoReadersWouldCutDifferently_Is400AndTheEnd) {
  Start();
  const std::string smuggled = "0\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const auto* lines :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5, 6\r\n", "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n", "Content-Length : 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding:\r\n"})
    EXPECT_EQ(LastAnswerTo(Post(lines, smuggled)), 400u) << lines;
  for (const auto* lines : {"Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
                            "Transfer-Encoding: chunked, identity\r\n",
                            "Transfer-Encoding:\x0b"
                            "chunked\r\n"})
    EXPECT_THAT(LastAnswerTo(Post(lines, smuggled)), ::testing::AnyOf(400u, 501u)) << lines;
  EXPECT_EQ(LastAnswerTo("POST /take HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled), 400u);
}

TEST_P(ServerTakesBody, BadChunk_Is400AndTheEnd) {
  Start();
  for (const std::string& chunks : {std::string("hello\r\n"), std::string("5\r\nhelloworld\r\n"),
                                    "1;" + std::string(20'000, 'x'), "0\r\nX: " + std::string(20'000, 'x')})
    EXPECT_EQ(LastAnswerTo(Post(kChunked, chunks)), 400u) << chunks.substr(0, 20);
}

TEST_P(ServerTakesBody, OtherMethodOrPath_DropsItAsIfNobodyWantedIt) {
  Start();
  auto client = Client();
  client.Send("DELETE /take HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(client.Read().headers.at("allow"), "POST, PUT");
  client.Send("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(client.Read().headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST_P(ServerTakesBody, OverdueBody_IsCutWith408) {
  Start({.body_time = 100ms});
  EXPECT_EQ(LastAnswerTo(Post("Content-Length: 5\r\n", "hell")), 408u);
  EXPECT_EQ(LastAnswerTo(Post(kChunked, "5\r\nhello\r\n")), 408u);
  EXPECT_EQ(server_->status().timeouts, 2u);
}

TEST_P(ServerTakesBody, DrippingBody_DoesNotProlongItsTime) {
  Start({.body_time = 100ms});
  auto client = Client();
  client.Send(Post("Content-Length: 50000\r\n"));
  int bytes = 0;
  while (!client.Readable(5ms)) {
    client.Send("x");
    ASSERT_LT(++bytes, 2000);
  }
  EXPECT_EQ(client.Read().status, 408u);
}

TEST_P(ServerTakesBody, BodyThatWaits_GivesWayToOthers) {
  Start({.connections = 1, .first_words_time = 0ms});
  auto slow = Client();
  slow.Send(Post("Content-Length: 5\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(slow.Read().status, 100u);
  auto next = Client();
  EXPECT_EQ(next.Get("/hello").status, 200u);
  EXPECT_TRUE(slow.WaitForEnd());
  EXPECT_EQ(server_->status().connections_evicted, 1u);
}

TEST_P(ServerTakesBody, WhoIsNotLetIn_IsAskedForNoBody) {
  Start({}, "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n");
  EXPECT_EQ(LastAnswerTo(Post("Content-Length: 5\r\nExpect: 100-continue\r\n")), 401u);
  auto client = Client();
  client.Send(Post("Content-Length: 5\r\n", "hello") +
              Post("Authorization: Basic YWxpY2U6c2VjcmV0\r\nContent-Length: 5\r\n", "world"));
  EXPECT_EQ(client.Read().status, 401u);
  EXPECT_EQ(client.Read().body, "world");
}

TEST_P(ServerTakesBody, RateLimit_ComesBeforeTheBody) {
  Start({}, "rate_limit: {interval: 1h, burst: 1}\n");
  auto client = Client();
  client.Send(PostOf("one"));
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_EQ(LastAnswerTo(Post("Content-Length: 5\r\nExpect: 100-continue\r\n")), 429u);
}

/// Keeps the bodies that come to "/keep".
class Keeper {
 public:
  explicit Keeper(Server& server) {
    server.Handle({.path = "/keep", .methods = {"POST"}, .max_body = 1000},
                  [this](const Request& request, const Responder& answer) {
                    bodies_.push_back(request.body);
                    answer({});
                  });
  }
  void Forget() { bodies_.clear(); }

 private:
  std::vector<Body> bodies_;
};

TEST(ServerBody, AllTogether_AreBoundedAsLongAsSomebodyHasThem) {
  const auto server = MakeServer({.body_bytes = 2000});
  Keeper keeper(*server);
  ASSERT_TRUE(server->Start());
  const auto status_of = [&](const std::string& lines, size_t bytes) {
    auto client = Connect(*server);
    client.Send("POST /keep HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + std::string(bytes, 'x'));
    return client.Read().status;
  };
  EXPECT_EQ(status_of("Content-Length: 1000\r\n", 1000), 200u);
  EXPECT_EQ(status_of("Content-Length: 900\r\n", 900), 200u);
  EXPECT_EQ(status_of("Content-Length: 101\r\n", 101), 503u);
  EXPECT_EQ(status_of("Transfer-Encoding: chunked\r\n", 0), 503u);  // could be 1000
  EXPECT_EQ(status_of("Content-Length: 100\r\n", 100), 200u);
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
  keeper.Forget();
  auto gone = Connect(*server), refused = Connect(*server), client = Connect(*server);
  for (auto* sender : {&gone, &client}) {
    sender->Send("POST /keep HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(sender->Read().status, 100u);
  }
  refused.Send("POST /keep HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
  const auto reply = refused.Read();
  EXPECT_EQ(reply.status, 503u);
  EXPECT_THAT(reply.body, HasSubstr("too many concurrent request bodies"));
  gone.Abort();  // gives its room back
  while (server->status().connections_open > 2) std::this_thread::yield();
  EXPECT_EQ(status_of("Content-Length: 1000\r\n", 1000), 200u);
}

TEST(ServerBody, OneRoute_LeavesRoomForTheBodiesOfAnother) {
  const auto server = MakeServer({.body_bytes = 3000});
  std::vector<Body> kept;
  server->Handle({.path = "/greedy", .methods = {"POST", "PUT"}, .max_body = 1000, .max_bodies = 2000},
                 [&](const Request& request, const Responder& answer) {
                   kept.push_back(request.body);
                   answer({});
                 });
  const Keeper keeper(*server);
  ASSERT_TRUE(server->Start());
  const auto status_of = [&](const std::string& target, const std::string& lines, size_t bytes) {
    auto client = Connect(*server);
    client.Send(target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + std::string(bytes, 'x'));
    return client.Read().status;
  };
  const std::string length = "Content-Length: 1000\r\n";
  EXPECT_EQ(status_of("POST /greedy", length, 1000), 200u);
  EXPECT_EQ(status_of("PUT /greedy", length, 1000), 200u);
  EXPECT_EQ(status_of("POST /greedy", "Content-Length: 1\r\n", 1), 503u);
  EXPECT_EQ(status_of("POST /greedy", "Transfer-Encoding: chunked\r\n", 0), 503u);
  EXPECT_EQ(status_of("POST /keep", length, 1000), 200u) << "a refused body must not count in the total";
  EXPECT_EQ(status_of("POST /keep", "Content-Length: 1\r\n", 1), 503u);
  kept.pop_back();
  EXPECT_EQ(status_of("POST /keep", "Content-Length: 1\r\n", 1), 200u);
}

}  // namespace
}  // namespace kepler::http::server
