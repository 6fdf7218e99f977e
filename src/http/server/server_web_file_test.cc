// Basic authentication, headers, rate limit and re-reading, through a running server.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <latch>
#include <vector>

#include "http/server/password_checker.h"
#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/fake_tree.h"
#include "testing/no_threads.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using ::testing::Not;
using testing::StartServer;

constexpr const char* kByAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";  // alice:secret
constexpr const char* kUsers =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
constexpr const char* kBob = "Authorization: Basic Ym9iOmdlaGVpbQ==\r\n";  // bob:geheim
constexpr const char* kTwoUsers =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
    "  bob: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n";

class ServerWebFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<Server> Start(const std::string& text) {
    Write(text);
    return StartServer({.web_check_time = 0ms}, tree_.Path("web.yml"));
  }
  /// A second after the last time, as the file says: two writes within a clock tick of the kernel leave one stamp.
  void Write(const std::string& text) {
    tree_.Write("web.yml", text);
    const timespec now = {.tv_sec = ++written_, .tv_nsec = 0};
    const timespec times[2] = {now, now};
    ASSERT_EQ(::utimensat(AT_FDCWD, tree_.Path("web.yml").c_str(), times, 0), 0);
  }
  kepler::testing::FakeTree tree_;

 private:
  time_t written_ = 1'700'000'000;
};

TEST_F(ServerWebFileTest, MissingOrBadFile_StopsTheStart) {
  const auto start = [&] {
    const auto server =
        Server::Create({.listen_addresses = {"127.0.0.1:0"}, .web_config_file = tree_.Path("web.yml"), .limits = {}});
    return server ? "no error" : server.error().message;
  };
  EXPECT_THAT(start(), HasSubstr(tree_.Path("web.yml")));
  Write("\nbasic_auth_user: {}\n");
  EXPECT_THAT(start(), HasSubstr(tree_.Path("web.yml") + ":2: basic_auth_user: unknown key"));
}

TEST_F(ServerWebFileTest, EmptyFile_ServesPlainHttp) {
  const auto server = Start("");
  EXPECT_FALSE(server->tls());
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
}

TEST_F(ServerWebFileTest, BasicAuth_SparesOpenRoutes) {
  Write(kUsers);
  const auto server = MakeServer({}, tree_.Path("web.yml"));
  const auto say_user = [](const Request& request, const Responder& answer) { answer(testing::Text(request.user)); };
  server->Handle(Route{.path = "/open/", .open = true}, say_user);
  server->Handle(Route{.path = "/open/", .methods = {"DELETE"}}, say_user);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/open/a").status, 200u);
  EXPECT_EQ(client.Get("/open/a").body, "");
  EXPECT_EQ(client.Get("/open/a", kByAlice).body, "alice");
  EXPECT_EQ(client.Get("/open/a", "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n").status, 401u);  // alice:wrong
  const auto status = [&](std::string_view request_line) {
    auto other = Connect(*server);
    other.Send(fmt::format("{} HTTP/1.1\r\nHost: x\r\n\r\n", request_line));
    return other.Read(/*head_only=*/request_line.starts_with("HEAD")).status;
  };
  EXPECT_EQ(status("HEAD /open/a"), 200u);
  for (const auto* closed : {"DELETE /open/a", "PUT /open/a", "GET /open", "GET /hello", "GET /x"})
    EXPECT_EQ(status(closed), 401u) << closed;
}

TEST_F(ServerWebFileTest, BasicAuth_GuardsEveryPath) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  const auto refused = client.Get("/hello");
  EXPECT_EQ(refused.status, 401u);
  EXPECT_EQ(refused.headers.at("www-authenticate"), "Basic");
  EXPECT_EQ(refused.body, "Unauthorized\n");
  EXPECT_EQ(client.Get("/unknown").status, 401u);
  EXPECT_EQ(client.Get("/hello", "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n").status, 401u);  // alice:wrong
  EXPECT_EQ(client.Get("/hello", "Authorization: Basic Ym9iOnNlY3JldA==\r\n").status, 401u);  // bob:secret
  EXPECT_EQ(client.Get("/hello", "Authorization: Bearer x\r\n").status, 401u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Get("/hello", kByAlice).body, "hello\n");
  EXPECT_EQ(client.Get("/unknown", kByAlice).status, 404u);
  EXPECT_EQ(server->status().requests_denied.no_credentials, 3u);
  EXPECT_EQ(server->status().requests_denied.password, 2u);
  EXPECT_EQ(server->status().requests_denied.total(), 5u);
}

TEST_F(ServerWebFileTest, NoThreadToCheckAPassword_Is503AndCounted) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  {
    const kepler::testing::NoThreads limit;
    EXPECT_EQ(client.Get("/hello", kByAlice).status, 503u);
  }
  EXPECT_EQ(server->status().requests_denied.busy, 1u);
  EXPECT_EQ(server->status().requests_denied.total(), 1u);
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
}

TEST_F(ServerWebFileTest, ManyFirstLogins_AllPass) {
  const auto server = Start(kUsers);
  std::vector<testing::TestClient> clients;
  clients.reserve(PasswordChecker::kMaxOfOneLogin);
  for (size_t i = 0; i < PasswordChecker::kMaxOfOneLogin; ++i) clients.push_back(Connect(*server));
  for (auto& client : clients) client.SendGet("/hello", kByAlice);
  for (auto& client : clients) EXPECT_EQ(client.Read().status, 200u);
}

TEST_F(ServerWebFileTest, ClientGoneDuringItsLogin_HarmsNobody) {
  const auto server = Start(kUsers);
  auto gone = Connect(*server);
  gone.SendGet("/hello", kByAlice);
  gone.Abort();
  EXPECT_EQ(Connect(*server).Get("/hello", kByAlice).status, 200u);
}

TEST_F(ServerWebFileTest, GuesserThatResetsItsConnection_IsChargedUnderItsOwnAddress) {
  Write(kUsers);
  const auto server = MakeServer({.web_check_time = 0ms}, tree_.Path("web.yml"));
  std::latch held(1), gone(1);
  server->Handle("/hold", [&](const Request&, const Responder& answer) {
    held.count_down();
    gone.wait();
    answer({});
  });
  ASSERT_TRUE(server->Start());
  auto holder = Connect(*server), guesser = Connect(*server), user = Connect(*server);
  EXPECT_EQ(guesser.Get("/hello").status, 401u);  // accepted
  ::testing::internal::CaptureStdout();
  holder.SendGet("/hold", kByAlice);
  held.wait();
  guesser.SendGet("/hello", "Authorization: Basic YTow\r\n");  // a:0
  guesser.Abort();
  gone.count_down();
  // Hashed after the guess, which came first.
  EXPECT_EQ(user.Get("/hello", "Authorization: Basic YTox\r\n").status, 401u);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(log, HasSubstr("client=127.0.0.1 user=unknown failures=1"));
  EXPECT_THAT(log, Not(HasSubstr("client=0.0.0.0")));
  EXPECT_EQ(server->status().requests_denied.password, 2u);
}

TEST_F(ServerWebFileTest, StopDuringLogin_IsHarmless) {
  auto server = Start(kUsers);
  auto client = Connect(*server);
  client.SendGet("/hello", kByAlice);
  server.reset();
}

TEST_F(ServerWebFileTest, Headers_StandOnEveryAnswer) {
  const auto server = Start("http_server_config:\n  headers:\n    X-Frame-Options: deny\n    X-XSS-Protection: '0'\n");
  auto client = Connect(*server);
  for (const auto* path : {"/hello", "/unknown"}) {
    const auto reply = client.Get(path);
    EXPECT_EQ(reply.headers.at("x-frame-options"), "deny");
    EXPECT_EQ(reply.headers.at("x-xss-protection"), "0");
  }
}

TEST_F(ServerWebFileTest, Guesser_IsPutOffAndWhoIsKnownIsServed) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  for (const auto* wrong : {"YTow", "YTox", "YToy", "YToz", "YTo0"})  // a:0 to a:4
    EXPECT_EQ(client.Get("/hello", "Authorization: Basic " + std::string(wrong) + "\r\n").status, 401u);
  const auto put_off = client.Get("/hello", "Authorization: Basic YTo1\r\n");
  EXPECT_EQ(put_off.status, 429u);
  EXPECT_EQ(put_off.headers.at("retry-after"), "1");
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  EXPECT_EQ(server->status().requests_denied.password, 5u);
  EXPECT_EQ(server->status().requests_denied.backoff, 1u);
}

TEST_F(ServerWebFileTest, RateLimit_Answers429BeforeLookingAtPasswordsOfWhoIsNotKnown) {
  const auto server = Start(std::string(kUsers) + "rate_limit: {interval: 1h, burst: 2}\n");
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  EXPECT_EQ(client.Get("/hello").status, 401u);
  const auto reply = client.Get("/hello", "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n");  // alice:wrong
  EXPECT_EQ(reply.status, 429u);
  EXPECT_EQ(reply.body, "Too Many Requests\n");
  const std::string wait = reply.headers.at("retry-after");
  EXPECT_TRUE(wait == "3600" || wait == "3599") << wait;
  EXPECT_EQ(server->status().requests_denied.rate_limit, 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
}

TEST_F(ServerWebFileTest, RateLimit_IsNotUsedUpByAGuesserThatIsPutOff) {
  const auto server = Start(std::string(kUsers) + "rate_limit: {interval: 1h, burst: 6}\n");
  auto client = Connect(*server);
  for (const auto* wrong : {"YTow", "YTox", "YToy", "YToz", "YTo0"})  // a:0 to a:4
    EXPECT_EQ(client.Get("/hello", "Authorization: Basic " + std::string(wrong) + "\r\n").status, 401u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.Get("/hello", "Authorization: Basic YTo1\r\n").status, 429u);
  EXPECT_EQ(server->status().requests_denied.backoff, 10u);
  EXPECT_EQ(client.Get("/hello").status, 401u);
  EXPECT_EQ(client.Get("/hello").status, 429u);
  EXPECT_EQ(server->status().requests_denied.rate_limit, 1u);
}

TEST_F(ServerWebFileTest, RateLimit_IsEachClientsOwn) {
  const auto server = Start(std::string(kUsers) + "rate_limit: {interval: 1h, burst: 1}\n");
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 401u);
  EXPECT_EQ(client.Get("/hello").status, 429u);
  testing::TestClient scraper(server->addresses().front(), 0, "127.0.0.2");
  EXPECT_EQ(scraper.Get("/hello", kByAlice).status, 200u);  // its first login
}

TEST_F(ServerWebFileTest, ChangedFile_CountsFromTheSecondCheckThatFindsIt) {
  const auto server = Start("{}\n");
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 200u);
  Write(kUsers);
  EXPECT_EQ(client.Get("/hello").status, 200u);  // each request checks first
  EXPECT_EQ(client.Get("/hello").status, 401u);  // on the same connection
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  Write("basic_auth_users:\n  alice: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n");
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 401u);
}

TEST_F(ServerWebFileTest, FileThatIsHalfWritten_IsNotTaken) {
  const auto server = Start(kTwoUsers);
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello", kBob).status, 200u);
  const std::string text = kTwoUsers;
  for (size_t size = 0; size < text.size(); size += 7) {  // each check finds more of it
    Write(text.substr(0, size));
    ASSERT_EQ(client.Get("/hello", kBob).status, 200u) << size;
  }
  Write(text);
  for (int check = 0; check < 3; ++check) EXPECT_EQ(client.Get("/hello", kBob).status, 200u);
}

TEST_F(ServerWebFileTest, UserWhoIsGone_IsNoLongerServed) {
  const auto server = Start(kTwoUsers);
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello", kBob).status, 200u);
  Write(kUsers);
  EXPECT_EQ(client.Get("/hello", kBob).status, 200u);
  EXPECT_EQ(client.Get("/hello", kBob).status, 401u);  // on the same connection
  EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
}

TEST_F(ServerWebFileTest, FileThatLosesAllUsers_OpensNoDoor) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  EXPECT_TRUE(server->status().reload_successful);
  const WallTime started = server->status().reload_success;
  for (const auto* text : {"", "\n", "# rewritten soon\n", "{}\n", "basic_auth_users:\n", "basic_auth_users: {}\n"}) {
    Write(text);
    for (int check = 0; check < 4; ++check) EXPECT_EQ(client.Get("/hello").status, 401u) << text;
    EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u) << text;
    EXPECT_FALSE(server->status().reload_successful) << text;
    const auto asked = server->ReloadWebConfig();
    ASSERT_FALSE(asked) << text;
    EXPECT_THAT(asked.error().message, HasSubstr("web.yml: no longer has users"));
  }
  EXPECT_EQ(server->status().reload_success, started);
  Write(kTwoUsers);
  static_cast<void>(client.Get("/hello", kByAlice));
  EXPECT_EQ(client.Get("/hello", kBob).status, 200u);
  EXPECT_TRUE(server->status().reload_successful);
  EXPECT_GT(server->status().reload_success, started);
}

TEST_F(ServerWebFileTest, BrokenFile_KeepsTheOldInForceAndSaysWhy) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  for (const auto* text : {"basic_auth_usrs: {}\n", "", "  \n", "a: [\n"}) {
    Write(text);
    const auto status = server->ReloadWebConfig();
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, HasSubstr("web.yml:"));
    EXPECT_EQ(client.Get("/hello").status, 401u);
    EXPECT_EQ(client.Get("/hello", kByAlice).status, 200u);
  }
  tree_.Remove("web.yml");
  for (int check = 0; check < 3; ++check) EXPECT_EQ(client.Get("/hello").status, 401u);
  Write(std::string(kUsers) + "http_server_config: {headers: {X-Frame-Options: deny}}\n");
  EXPECT_TRUE(server->ReloadWebConfig());  // the first check
  EXPECT_EQ(client.Get("/hello", kByAlice).headers.count("x-frame-options"), 1u);
}

TEST_F(ServerWebFileTest, BrokenFile_IsLoggedOnce) {
  const auto server = Start(kUsers);
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 401u);
  ::testing::internal::CaptureStdout();
  Write("basic_auth_usrs: {}\n");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.Get("/hello").status, 401u);
  const auto log = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(log, HasSubstr("failed to load"));
  EXPECT_EQ(log.find("failed to load"), log.rfind("failed to load"));
}

TEST_F(ServerWebFileTest, Reload_WithoutAFileIsNothing) { EXPECT_TRUE(StartServer()->ReloadWebConfig()); }

TEST_F(ServerWebFileTest, SwitchingTlsOn_IsRefusedWhileRunning) {
  const auto server = Start("{}\n");
  Write("tls_server_config: {cert_file: absent, key_file: absent}\n");
  EXPECT_FALSE(server->ReloadWebConfig());
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
}

}  // namespace
}  // namespace kepler::http::server
