#include <cstdlib>
#include <map>
#include <mutex>
#include <stop_token>

#include "model/sha256.h"
#include "model_store/store_fixture.h"
#include "os/dirents.h"
#include "testing/certificates.h"
#include "testing/scripted_peer.h"

namespace kepler::model_store {
namespace {

using kepler::testing::ScriptedPeer;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Answer(std::string_view status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}
std::string Ok(const std::string& body) { return Answer("200 OK", body); }

/// What hangs, does so for ever; what stands before it was sent.
constexpr std::string_view kHang = "hang";

class UrlSourceTest : public StoreTest {
 protected:
  void Serve(const std::string& target, std::string answer) {
    const std::scoped_lock lock(mutex_);
    answers_[target] = std::move(answer);
  }
  [[nodiscard]] std::string Url(const std::string& target) const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + target;
  }
  ScriptedPeer::Script Script() {
    return [this](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token& stop) {
      const std::string target = head.substr(4, head.find(' ', 4) - 4);
      std::string answer;
      {
        const std::scoped_lock lock(mutex_);
        const auto found = answers_.find(target);
        answer = found == answers_.end() ? Answer("404 Not Found", "no") : found->second;
      }
      const bool hangs = answer.ends_with(kHang);
      if (hangs) answer.resize(answer.size() - kHang.size());
      if (!answer.empty()) send(answer);
      if (hangs) kepler::testing::WaitFor(stop);
    };
  }
  /// Returns the log of the first fetch, if the server answers with `answer`.
  std::string WhyNot(const std::string& answer, const std::string& behind = "") {
    Serve("/a.json", answer);
    Make({Url("/a.json") + behind}, {.silence = milliseconds(200), .total = milliseconds(400)});
    const std::string said = Load() + RefreshAfter({});
    EXPECT_THAT(Models(), IsEmpty());
    EXPECT_EQ(places_->status().failed_refreshes, 1u);
    EXPECT_EQ(UntilNext(), UrlSource::kFirstDelay);
    EXPECT_THAT(said, AllOf(HasSubstr("level=WARN"), HasSubstr(Url("/a.json") + ": ")));
    return said;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  ScriptedPeer server_{Script()};
};

TEST_F(UrlSourceTest, ModelIsFetched_AndAgainAfterAnHour) {
  Serve("/a.json?key=s3cret", Ok(ModelText("a")));
  Make({Url("/a.json?key=s3cret")});
  EXPECT_EQ(Load(), "") << "the agent does not wait for a server";
  EXPECT_THAT(RefreshAfter({}), AllOf(HasSubstr("a (version 1"), Not(HasSubstr("s3cret"))));
  ASSERT_THAT(Models(), ElementsAre("a 1"));
  EXPECT_TRUE(board_->Latest()->front()->chosen);
  EXPECT_EQ(board_->Latest()->front()->source, Url("/a.json"));
  const auto set = board_->Latest();
  EXPECT_EQ(RefreshAfter(hours(1)), "");
  EXPECT_EQ(server_.calls(), 2u);
  EXPECT_EQ(board_->Latest(), set);
  Serve("/a.json?key=s3cret", Ok(ModelText("a", 2)));
  EXPECT_EQ(RefreshAfter(minutes(59)), "");
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("a 2"));
}

TEST_F(UrlSourceTest, RequestsAreSpread) {
  Serve("/a.json", Ok(ModelText("a")));
  static double random;
  random = 0;
  UrlTimes times;
  times.jitter = 0.1;
  times.random = [] { return random; };
  Make({Url("/a.json")}, times);
  RefreshAfter({});
  EXPECT_EQ(UntilNext(), minutes(54));
  random = 1;
  RefreshAfter(minutes(54));
  EXPECT_EQ(UntilNext(), minutes(66));
  Serve("/a.json", Answer("503 Busy", ""));
  RefreshAfter(minutes(66));
  EXPECT_EQ(UntilNext(), UrlSource::kFirstDelay * 11 / 10);
  for (int i = 0; i < 100; ++i) {
    const double share = RandomShare();
    EXPECT_TRUE(share >= 0 && share <= 1) << share;
  }
}

TEST_F(UrlSourceTest, TheTimeOfTheOldestFetchIsKnown) {
  Serve("/a.json", Ok(ModelText("a")));
  Make({Url("/a.json"), Url("/b.json")});
  Load();
  EXPECT_EQ(places_->status().last_fetch, WallTime());
  RefreshAfter({});
  EXPECT_EQ(places_->status().last_fetch, WallTime()) << "b never succeeded";
  Serve("/b.json", Ok(ModelText("b")));
  RefreshAfter(UrlSource::kFirstDelay);
  EXPECT_EQ(places_->status().last_fetch, clock_.Wall() - UrlSource::kFirstDelay) << "that of a";
  tree_.Write("c.json", ModelText("c"));
  Make({tree_.Path("c.json")});
  Load();
  EXPECT_EQ(places_->status().last_fetch, std::nullopt);
}

TEST_F(UrlSourceTest, WhatIsNoModel_IsSaidAndTriedAgain) {
  const std::string good = ModelText("a");
  EXPECT_THAT(WhyNot(Answer("404 Not Found", "no")), HasSubstr("the server answered 404"));
  EXPECT_THAT(WhyNot(Answer("500 Oops", "")), HasSubstr("answered 500"));
  EXPECT_THAT(WhyNot(Ok("")), HasSubstr("a.json: "));
  EXPECT_THAT(WhyNot(Ok("<html>")), HasSubstr("a.json: "));
  EXPECT_THAT(WhyNot(Ok("PK\x03\x04")), HasSubstr("kepler-model import"));
  EXPECT_THAT(WhyNot(Ok(good.substr(0, good.size() / 2))), HasSubstr("a.json: "));
  std::string nan = good;
  EXPECT_THAT(WhyNot(Ok(nan.replace(nan.find("\"bias\":10"), 9, "\"bias\":NaN"))), HasSubstr("a.json: "));
  EXPECT_THAT(WhyNot("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + good),
              HasSubstr("the connection ended too early"));
  EXPECT_THAT(WhyNot("garbage\r\n\r\n"), HasSubstr("a.json: "));
}

TEST_F(UrlSourceTest, AServerThatHangs_IsLeftAlone) {
  EXPECT_THAT(WhyNot(std::string(kHang)), HasSubstr("no answer in time"));
  EXPECT_THAT(WhyNot("HTTP/1.1 200 OK\r\nContent-Len"), HasSubstr("a.json: "));
}

TEST_F(UrlSourceTest, MoreThanTheMost_IsRefused) {
  Serve("/a.json", Ok(std::string(TextLimits().model + 1, ' ')));
  Make({Url("/a.json")});
  EXPECT_THAT(RefreshAfter({}), HasSubstr("/a.json has more than 16777216 bytes"));
}

// As large as one may be, from each of several servers at once.
TEST_F(UrlSourceTest, WhatIsOnItsWay_Counts) {
  limits_ = {.model = 1000, .all = 500};
  EXPECT_THAT(WhyNot(Ok(std::string(800, ' '))), HasSubstr("more than 500 bytes of models are being read at once"));
}

TEST_F(UrlSourceTest, Redirections_AreNamedAndNotFollowed) {
  const auto to = [&](const std::string& location) {
    return WhyNot(Answer("302 Found", "", "Location: " + location + "\r\n"));
  };
  EXPECT_THAT(to("file:///etc/passwd"),
              AllOf(HasSubstr("redirects to file:///etc/passwd"), Not(HasSubstr("set that URL"))));
  EXPECT_THAT(to("https://127.0.0.1/b.json?key=s3cret"), AllOf(HasSubstr("set that URL"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(to("https://me:s3cret@h/b.json"), AllOf(HasSubstr("with a password"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(to("/b.json"), HasSubstr("redirects to /b.json"));
  EXPECT_EQ(server_.calls(), 4u);
}

TEST_F(UrlSourceTest, Https_BelievesWhomTheSystemBelieves) {
  const auto authority = kepler::testing::MakeAuthority("models");
  const auto leaf = kepler::testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
  const ScriptedPeer server(Script(), {.cert = leaf.cert, .key = leaf.key});
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/a.json";
  Serve("/a.json", Ok(ModelText("a")));
  Make({url});
  EXPECT_THAT(RefreshAfter({}), AllOf(HasSubstr(url), HasSubstr("is not trusted")));
  EXPECT_THAT(Models(), IsEmpty());
  tree_.Write("ca.pem", authority.cert);
  setenv("SSL_CERT_FILE", tree_.Path("ca.pem").c_str(), 1);
  RefreshAfter(seconds(10));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  Serve("/a.json", Answer("301 Moved", "", "Location: http://127.0.0.1/b.json\r\n"));
  EXPECT_THAT(RefreshAfter(hours(1)), HasSubstr("if http instead of https"));
  unsetenv("SSL_CERT_FILE");
}

TEST_F(UrlSourceTest, Login_IsSentToTheModelServerOverTlsOnly) {
  const auto authority = kepler::testing::MakeAuthority("models");
  const auto leaf = kepler::testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
  std::string head;
  const ScriptedPeer server(
      [&](const std::string& got, const ScriptedPeer::Send& send, const std::stop_token& /*stop*/) {
        const std::scoped_lock lock(mutex_);
        head = got;
        send(Answer("401 Unauthorized", "Unauthorized\n", "Content-Type: text/plain\r\n"));
      },
      {.cert = leaf.cert, .key = leaf.key});
  tree_.Write("ca.pem", authority.cert);
  setenv("SSL_CERT_FILE", tree_.Path("ca.pem").c_str(), 1);
  const auto fetch_from = [&](const std::string& url) {
    auto place = PlaceOfServer(url, ModelQuery{}).value();
    place.user = "alice";
    place.password_file = tree_.Path("password");
    MakePlaces({std::move(place)});
    return RefreshAfter({});
  };
  const std::string secure = "https://127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(fetch_from(secure), HasSubstr("password: No such file"));
  EXPECT_EQ(server.calls(), 0u);
  tree_.Write("password", "secret\r\n");
  EXPECT_THAT(fetch_from(secure), AllOf(HasSubstr("the server answered 401: Unauthorized"), Not(HasSubstr("secret"))));
  {
    const std::scoped_lock lock(mutex_);
    EXPECT_THAT(head, HasSubstr("Authorization: Basic YWxpY2U6c2VjcmV0\r\n"));  // alice:secret
  }
  EXPECT_THAT(fetch_from("http://127.0.0.1:" + std::to_string(server.port())), HasSubstr("in plain text; use https"));
  EXPECT_EQ(server.calls(), 1u);
  unsetenv("SSL_CERT_FILE");
}

TEST_F(UrlSourceTest, Checksum_ThatIsRight_IsAskedForOnce) {
  const std::string text = ModelText("a");
  EXPECT_THAT(WhyNot(Ok(ModelText("b")), "#sha256=" + model::Sha256(text)), HasSubstr("its SHA-256 is"));
  Serve("/a.json", Ok(text));
  RefreshAfter(seconds(10));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  const size_t calls = server_.calls();
  RefreshAfter(hours(2));
  EXPECT_EQ(server_.calls(), calls) << "it cannot be another one";
}

TEST_F(UrlSourceTest, Failures_DoubleThePauseUpToTheRefresh_AndEndWithTheFirstAnswer) {
  Serve("/a.json", Answer("503 No", ""));
  Make({Url("/a.json")}, {.refresh = seconds(60)});
  for (const int pause : {10, 20, 40, 60, 60}) {
    RefreshAfter(std::max(UntilNext(), Nanoseconds::zero()));
    EXPECT_EQ(UntilNext(), seconds(pause));
  }
  Serve("/a.json", Ok(ModelText("a")));
  EXPECT_THAT(RefreshAfter(seconds(60)), HasSubstr("fetched a power model again"));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  Serve("/a.json", Answer("503 No", ""));
  RefreshAfter(seconds(60));
  EXPECT_EQ(UntilNext(), seconds(10));
  EXPECT_THAT(Models(), ElementsAre("a 1")) << "the last good one stays";
  EXPECT_EQ(places_->status().refreshes, 7u);
  EXPECT_EQ(places_->status().failed_refreshes, 6u);
}

TEST_F(UrlSourceTest, OlderVersion_IsRefused) {
  Serve("/a.json", Ok(ModelText("a", 5)));
  Make({Url("/a.json")});
  RefreshAfter({});
  Serve("/a.json", Ok(ModelText("a", 4)));
  EXPECT_THAT(RefreshAfter(hours(1)), HasSubstr("version 4 of a is older than version 5"));
  EXPECT_THAT(Models(), ElementsAre("a 5"));
}

TEST_F(UrlSourceTest, WeightFiles_AreOfThePowerThatTheUrlSays) {
  Serve("/DynPower/BPFOnly/SGDRegressorTrainer_0.json",
        Ok(R"({"package":{"All_Weights":{"Bias_Weight":1,"Categorical_Variables":{},
           "Numerical_Variables":{"bpf_cpu_time_ms":{"scale":10,"weight":1}}}}})"));
  Make({Url("/DynPower/BPFOnly/SGDRegressorTrainer_0.json")});
  RefreshAfter({});
  ASSERT_THAT(Models(), ElementsAre("SGDRegressorTrainer_0 1"));
  EXPECT_EQ(board_->Latest()->front()->model.output, model::OutputType::kDynPower);
}

TEST_F(UrlSourceTest, OneFailing_DoesNotTakeTheOthersModels) {
  tree_.Write("f.json", ModelText("f"));
  Serve("/a.json", Ok(ModelText("a")));
  Make({Url("/gone.json"), Url("/a.json"), tree_.Path("f.json")});
  Load();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("/gone.json: the server answered 404"));
  EXPECT_THAT(Models(), ElementsAre("a 1", "f 1"));
}

TEST_F(UrlSourceTest, WhatWasFetched_IsThereAtTheNextStart) {
  cache_ = tree_.Path("cache");
  Serve("/a.json", Ok(ModelText("a", 3)));
  Make({Url("/a.json")});
  RefreshAfter({});
  Serve("/a.json", Answer("503 No", ""));
  Make({Url("/a.json")});
  Load();
  EXPECT_THAT(Models(), ElementsAre("a 3"));
  EXPECT_EQ(board_->Latest()->front()->source, Url("/a.json"));
  RefreshAfter({});
  EXPECT_THAT(Models(), ElementsAre("a 3")) << "the server says nothing";
  Serve("/a.json", Ok(ModelText("a", 2)));
  EXPECT_THAT(RefreshAfter(seconds(10)), HasSubstr("is older than version 3"));
  board_->Set(std::make_shared<model::ModelSet>());
  Make({Url("/a.json") + "#sha256=" + std::string(64, '0')});
  EXPECT_THAT(Load(), AllOf(HasSubstr("cached copy"), HasSubstr("SHA-256")));
  EXPECT_THAT(Models(), IsEmpty());
}

TEST_F(UrlSourceTest, ACacheThatCannotBeWritten_IsAWarning) {
  tree_.Write("file", "");
  cache_ = tree_.Path("file/cache");
  Serve("/a.json", Ok(ModelText("a")));
  Make({Url("/a.json")});
  EXPECT_THAT(RefreshAfter({}), AllOf(HasSubstr("level=WARN"), HasSubstr("model.cacheDir")));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  EXPECT_EQ(RefreshAfter(hours(1)), "") << "said already";
  EXPECT_EQ(places_->status().failed_refreshes, 0u);
  tree_.Remove("file");
  EXPECT_EQ(RefreshAfter(hours(1)), "");
  Make({Url("/a.json")});
  EXPECT_THAT(Load(), HasSubstr("a (version 1")) << "the same model, once it could be kept";
}

TEST_F(UrlSourceTest, WhatWasKeptOfOtherUrls_IsRemovedAtTheStart) {
  cache_ = tree_.Path("cache");
  Serve("/a.json", Ok(ModelText("a")));
  Serve("/b.json", Ok(ModelText("b")));
  Make({Url("/a.json"), Url("/b.json")});
  RefreshAfter({});
  Make({Url("/b.json")});
  Load();
  EXPECT_THAT(Models(), ElementsAre("b 1"));
  Make({Url("/a.json")});
  EXPECT_EQ(Load(), "");
}

TEST_F(UrlSourceTest, AServerThatHangs_DelaysNoOtherPlace) {
  Serve("/a.json", std::string(kHang));
  Serve("/b.json", Ok(ModelText("b")));
  Serve("/c.json", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + ModelText("c") + std::string(kHang));
  Make({Url("/a.json"), Url("/c.json"), Url("/b.json")});
  ASSERT_TRUE(Start(minutes(10)));
  ASSERT_TRUE(ComesToBe([this] { return !Models().empty(); })) << "no model came";
  EXPECT_THAT(Models(), ElementsAre("b 1"));
  EXPECT_EQ(store_->status().failed_refreshes, 0u) << "nobody waited for the other to fail";
}

TEST_F(UrlSourceTest, DescriptorsAreNoMoreThanItSays) {
  const auto count = [] { return os::ListDir("/proc/self/fd")->size(); };
  Serve("/a.json", std::string(kHang));
  Make({Url("/a.json")});
  const size_t before = count();
  ASSERT_TRUE(Start(minutes(10)));
  ASSERT_TRUE(ComesToBe([this] { return server_.calls() > 0; })) << "the server was not asked";
  const size_t during = count() - 1;  // without the server's own
  EXPECT_GT(during, before);
  EXPECT_LE(during, before + store_->descriptors());
}

TEST_F(UrlSourceTest, Thread_EndsWhileAServerHangs) {
  Serve("/a.json", std::string(kHang));
  Make({Url("/a.json")});
  ASSERT_TRUE(Start(minutes(10)));
  ASSERT_TRUE(ComesToBe([this] { return server_.calls() > 0; })) << "the server was not asked";
  store_.reset();
  EXPECT_THAT(Models(), IsEmpty());
}

}  // namespace
}  // namespace kepler::model_store
