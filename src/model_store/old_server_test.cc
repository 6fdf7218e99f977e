// A model server of Kepler 0.7: its answers, byte for byte as Flask sends them, become models or reasons.
#include <map>
#include <mutex>
#include <stop_token>

#include "base/parse.h"
#include "model/any_json.h"
#include "model_store/store_fixture.h"
#include "testing/scripted_peer.h"

namespace kepler::model_store {
namespace {

using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kNotFound[] =
    "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not "
    "found on the server. If you entered the URL manually please check your spelling and try again.</p>\n";
constexpr char kHtml[] = "text/html; charset=utf-8";

std::string Flask(const std::string& status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nServer: Werkzeug/3.0.6 Python/3.10.15\r\nDate: Fri, 27 Nov 2026 13:00:00 GMT\r\n" +
         "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

const ModelQuery kQuery{
    .machine = {.processor = "intel_xeon_e5_2686v4", .cores = 72, .chips = 2, .memory_gib = 503, .frequency_mhz = 3000},
    .features = {"bpf_cpu_time_ms", "cpu_cycles"}};

std::string OldWeights(const std::string& component, const std::string& page_cache = "0.0",
                       const std::string& processor = "intel_xeon_e5_2686v4") {
  return "{\"" + component + R"(": {"All_Weights": {"Bias_Weight": 50.0, "Categorical_Variables": {}, )" +
         R"("Numerical_Variables": {"bpf_cpu_time_ms": {"scale": 2.0, "weight": 3.0}, )" +
         R"("bpf_page_cache_hit": {"scale": 1.0, "weight": )" + page_cache +
         R"(}}}}, "model_name": "SGDRegressorTrainer_1", "machine_spec": {"processor": ")" + processor +
         R"(", "cores": 72, "chips": 2, "memory": 503, "frequency": 3000}, "mae": 9.0})";
}

class OldServerTest : public StoreTest {
 protected:
  OldServerTest() { Answer(kWithPages, Flask("400 BAD REQUEST", kHtml, "cannot find model for these")); }

  static constexpr const char* kWithPages = "rapl, pages";
  static constexpr const char* kWithoutPages = "rapl";
  static constexpr const char* kPlatform = "acpi";

  /// Requests without an answer get that to kWithPages.
  void Answer(const std::string& request, std::string answer) {
    const std::scoped_lock lock(mutex_);
    answers_[request] = std::move(answer);
  }
  void Answer(const std::string& request, const std::string& status, const std::string& body) {
    Answer(request, Flask(status, status.starts_with("200") ? "application/json" : kHtml, body));
  }
  void AskFor(const ModelQuery& query = kQuery) {
    auto place = PlaceOfServer("http://127.0.0.1:" + std::to_string(server_.port()), query);
    ASSERT_TRUE(place) << place.error().message;
    MakePlaces({*std::move(place)});
  }
  /// The log of the first fetch, which gives no model.
  std::string WhyNot(const std::string& body) {
    Answer(kWithPages, "200 OK", body);
    AskFor();
    const std::string said = RefreshAfter({});
    EXPECT_THAT(Models(), IsEmpty()) << body;
    EXPECT_EQ(UntilNext(), UrlSource::kFirstDelay);
    EXPECT_THAT(said, HasSubstr("/best/model.json: the server is a model server of Kepler 0.7: "));
    return said;
  }
  std::vector<std::string> TakePosts() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(posts_, {});
  }

  std::mutex mutex_;
  std::string best_ = Flask("404 NOT FOUND", kHtml, kNotFound);
  std::map<std::string, std::string> answers_;
  std::vector<std::string> posts_;
  ScriptedPeer server_{[this](PeerConnection& client, const std::stop_token& /*stop*/) { Serve(client); }};

 private:
  void Serve(PeerConnection& client) {
    const auto head = client.ReadHead();
    if (!head) return;
    if (head->starts_with("GET /best/model.json?")) {
      const std::scoped_lock lock(mutex_);
      client.Send(best_);
      return;
    }
    constexpr std::string_view kLength = "Content-Length: ";
    EXPECT_THAT(*head, AllOf(HasSubstr("POST /model HTTP/1.1\r\n"), HasSubstr("Content-Type: application/json\r\n")));
    const std::string rest = head->substr(head->find(kLength) + kLength.size());
    const std::string body = client.ReadBytes(ParseNumber<size_t>(rest.substr(0, rest.find('\r'))).value_or(0));
    const std::scoped_lock lock(mutex_);
    posts_.push_back(body);
    const std::string request = body.contains("\"acpi\"")               ? kPlatform
                                : body.contains("bpf_page_cache_hit\"") ? kWithPages
                                                                        : kWithoutPages;
    client.Send(answers_.contains(request) ? answers_[request] : answers_[kWithPages]);
  }
};

TEST_F(OldServerTest, IsAskedByPostForTheWeights) {
  Answer(kWithPages, "200 OK", OldWeights("package"));
  AskFor();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("SGDRegressorTrainer_1"));
  ASSERT_THAT(Models(), ElementsAre("SGDRegressorTrainer_1 1"));
  EXPECT_THAT(TakePosts(), ElementsAre(OldBodies(kQuery)[0]));
  const model::KnownModel& known = *board_->Latest()->front();
  EXPECT_EQ(known.model.output, model::OutputType::kAbsPower);
  EXPECT_EQ(known.model.machine, kQuery.machine);
  EXPECT_FALSE(known.chosen);
  EXPECT_EQ(RefreshAfter(hours(1)), "") << "the same";
  EXPECT_EQ(places_->status().failed_refreshes, 0u);
}

TEST_F(OldServerTest, ReplacedByOurs_ItIsAskedByGet) {
  Answer(kWithPages, "200 OK", OldWeights("package"));
  AskFor();
  RefreshAfter({});
  TakePosts();
  auto ours = model::ReadAnyModelJson(OldWeights("package"), {});
  ASSERT_TRUE(ours);
  ours->name = "ours";
  {
    const std::scoped_lock lock(mutex_);
    best_ = Flask("200 OK", "application/json", model::WriteModelJson(*ours));
  }
  RefreshAfter(hours(1));
  EXPECT_THAT(Models(), ElementsAre("ours 1"));
  EXPECT_THAT(TakePosts(), IsEmpty());
}

TEST_F(OldServerTest, PageCacheWithAWeight_IsRefused_AndCountersAreTried) {
  EXPECT_THAT(WhyNot(OldWeights("package", "0.5")), HasSubstr("it needs bpf_page_cache_hit, which is unknown here"));
  EXPECT_EQ(TakePosts(), OldBodies(kQuery));
  Answer(kWithoutPages, "200 OK", OldWeights("dram"));
  RefreshAfter(seconds(10));
  EXPECT_THAT(Models(), ElementsAre("SGDRegressorTrainer_1 1"));
}

TEST_F(OldServerTest, AnotherMachinesModel_IsRefused_AndTheLastGoodOneStays) {
  EXPECT_THAT(WhyNot(OldWeights("package", "0.0", "amd_epyc_7763")), HasSubstr("its machine (amd_epyc_7763)"));
  Answer(kWithPages, "200 OK", OldWeights("package"));
  RefreshAfter(seconds(10));
  ASSERT_THAT(Models(), ElementsAre("SGDRegressorTrainer_1 1"));
  const auto good = board_->Latest();
  Answer(kWithPages, "200 OK", OldWeights("package", "0.0", "amd_epyc_7763"));
  RefreshAfter(hours(1));
  EXPECT_EQ(board_->Latest(), good);
  EXPECT_EQ(places_->status().failed_refreshes, 2u);
}

TEST_F(OldServerTest, WithoutModelsOfRapl_ThoseOfThePlatformAreUsed) {
  Answer(kPlatform, "200 OK", OldWeights("platform"));
  AskFor();
  RefreshAfter({});
  EXPECT_THAT(Models(), ElementsAre("SGDRegressorTrainer_1 1"));
  EXPECT_EQ(board_->Latest()->front()->model.components[0].component, model::Component::kPlatform);
}

TEST_F(OldServerTest, MissingMalformedOrTruncated_IsAReason) {
  const std::string good = OldWeights("package");
  EXPECT_THAT(WhyNot(""), HasSubstr("the text is empty"));
  EXPECT_THAT(WhyNot("{}"), HasSubstr("not a model"));
  EXPECT_THAT(WhyNot(R"({"package": {"All_Weights": {}}})"), HasSubstr("package.All_Weights"));
  EXPECT_THAT(WhyNot("PK\x03\x04"), HasSubstr("archive"));
  for (const size_t part : {1u, 2u, 3u}) WhyNot(good.substr(0, good.size() * part / 4));
  std::string wrong = good;
  EXPECT_THAT(WhyNot(wrong.replace(wrong.find("3.0"), 3, "NaN")), HasSubstr("byte"));
  Answer(kWithPages, Flask("200 OK", "application/json", good).substr(0, 400));
  AskFor();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("the connection ended too early"));
  EXPECT_THAT(Models(), IsEmpty());
}

TEST_F(OldServerTest, ItsReasonIsLogged) {
  AskFor();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("Kepler 0.7: the server answered 400: cannot find model for these"));
  EXPECT_EQ(TakePosts().size(), 3u);
  Answer(kWithPages, "500 INTERNAL SERVER ERROR", "<!doctype html>\n<title>500 Internal Server Error</title>\n");
  EXPECT_THAT(RefreshAfter(seconds(10)), AllOf(HasSubstr("the server answered 500"), Not(HasSubstr("doctype"))));
}

TEST_F(OldServerTest, OursWithoutAModel_IsNoOldServer) {
  best_ = Flask("404 Not Found", "text/plain; charset=utf-8", "no model fits for package: there are no models\n");
  AskFor();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("the server answered 404: no model fits for package: there are no models"));
  EXPECT_THAT(TakePosts(), IsEmpty());
}

TEST_F(OldServerTest, WithKeys_NothingIsTaken) {
  keys_.emplace();
  Answer(kWithPages, "200 OK", OldWeights("package"));
  AskFor();
  EXPECT_THAT(RefreshAfter({}), HasSubstr("its models have no signature, and model.publicKey requires one"));
  EXPECT_THAT(TakePosts(), IsEmpty());
  EXPECT_THAT(Models(), IsEmpty());
}

TEST_F(OldServerTest, ItsAnswerIsKeptForTheNextStart) {
  cache_ = tree_.Path("cache");
  Answer(kWithPages, "200 OK", OldWeights("package"));
  AskFor();
  RefreshAfter({});
  AskFor();
  Load();
  EXPECT_THAT(Models(), ElementsAre("SGDRegressorTrainer_1 1"));
  board_->Set(std::make_shared<model::ModelSet>());
  ModelQuery other = kQuery;
  other.features.clear();
  AskFor(other);
  Load();
  EXPECT_THAT(Models(), IsEmpty()) << "kept for another query";
}

}  // namespace
}  // namespace kepler::model_store
