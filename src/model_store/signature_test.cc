// That a store with a public key takes signed models only, from wherever they come.
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "model_store/signing_test_util.h"
#include "model_store/store_fixture.h"
#include "os/dirents.h"
#include "testing/scripted_peer.h"

namespace kepler::model_store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SignedFiles : public StoreTest {
 protected:
  SignedFiles() { keys_ = signer_.Key(); }
  void WriteSigned(const std::string& path, const std::string& text) {
    tree_.Write(path, text);
    tree_.Write(path + ".sig", signer_.Sign(text));
  }
  Signer signer_;
};

TEST_F(SignedFiles, AreTaken_OthersAreRefusedByName) {
  WriteSigned("m/a.json", ModelText("a"));
  WriteSigned("m/b/model.json", ModelText("b"));
  tree_.Write("m/none.json", ModelText("none"));
  tree_.Write("m/other.json", ModelText("other"));
  tree_.Write("m/other.json.sig", Signer().Sign(ModelText("other")));
  tree_.Write("m/cut.json", ModelText("cut"));
  tree_.Write("m/cut.json.sig", signer_.Sign(ModelText("cut")).substr(0, 40));
  Make({tree_.Path("m")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("m/none.json: it has no signature: "),
                            HasSubstr("m/other.json: its signature does not match its content"),
                            HasSubstr("m/cut.json: its signature has 40 bytes")));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
}

TEST_F(SignedFiles, ASignatureThatComesLater_Counts) {
  const std::string text = ModelText("a");
  tree_.Write("a.json", text);
  Make({tree_.Path("a.json")});
  Load();
  EXPECT_THAT(Models(), IsEmpty());
  tree_.Write("a.json.sig", signer_.Sign(text));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
}

TEST_F(SignedFiles, ANewerModelThatIsNotSigned_LeavesTheOneInUse) {
  WriteSigned("a.json", ModelText("a"));
  Make({tree_.Path("a.json")});
  Load();
  tree_.Write("a.json", ModelText("a", 2));
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("does not match its content"));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
}

// It would mean another formula in a file of another name, and other watts in another directory.
TEST_F(SignedFiles, OfAKindThatLeavesItsMeaningToItsPlace_AreRefused) {
  const std::string weights =
      R"({"package":{"All_Weights":{"Bias_Weight":1,"Categorical_Variables":{},
          "Numerical_Variables":{"bpf_cpu_time_ms":{"scale":10,"weight":1}}}}})";
  WriteSigned("DynPower/SGDRegressorTrainer_0.json", weights);
  const auto place = tree_.Path("DynPower/SGDRegressorTrainer_0.json");
  Make({place + "#power=DynPower"});
  EXPECT_THAT(Load(), HasSubstr(place + ": a signed model must be a model.json of kepler-model train"));
  EXPECT_THAT(Models(), IsEmpty());
  keys_.reset();
  Make({place});
  Load();
  EXPECT_THAT(Models(), ElementsAre("SGDRegressorTrainer_0 1"));
}

TEST_F(SignedFiles, WithoutAKeyNobodyAsks) {
  keys_.reset();
  tree_.Write("a.json", ModelText("a"));
  tree_.Write("a.json.sig", "garbage");
  Make({tree_.Path("a.json")});
  Load();
  EXPECT_THAT(Models(), ElementsAre("a 1"));
}

class SignedUrls : public SignedFiles {
 protected:
  void Serve(const std::string& target, const std::string& body) {
    const std::scoped_lock lock(mutex_);
    bodies_[target] = body;
  }
  [[nodiscard]] std::string Url(const std::string& target) const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + target;
  }
  std::string AnswerTo(const std::string& head) {
    const std::scoped_lock lock(mutex_);
    const auto found = bodies_.find(head.substr(4, head.find(' ', 4) - 4));
    const std::string body = found == bodies_.end() ? "" : found->second;
    return std::string("HTTP/1.1 ") + (found == bodies_.end() ? "404 Not Found" : "200 OK") +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> bodies_;
  kepler::testing::ScriptedPeer server_{[this](kepler::testing::PeerConnection& client, const std::stop_token&) {
    while (const auto head = client.ReadHead()) client.Send(AnswerTo(*head));
  }};
};

TEST_F(SignedUrls, AModelAndItsSignature_ComeOverOneConnection) {
  const std::string text = ModelText("a");
  Serve("/a.json", text);
  Serve("/a.json.sig", signer_.Sign(text));
  Make({Url("/a.json")});
  RefreshAfter({});
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  EXPECT_EQ(server_.calls(), 2u);
  EXPECT_EQ(server_.connections(), 1u);
}

TEST_F(SignedUrls, HaveTheirSignatureNextToThem) {
  const std::string text = ModelText("a");
  Serve("/a.json?key=1", text);
  Make({Url("/a.json?key=1")});
  EXPECT_THAT(RefreshAfter({}), HasSubstr("its signature cannot be read: the server answered 404"));
  EXPECT_THAT(Models(), IsEmpty());
  Serve("/a.json.sig?key=1", Signer().Sign(text));
  EXPECT_THAT(RefreshAfter(seconds(10)), HasSubstr("does not match its content"));
  EXPECT_THAT(Models(), IsEmpty());
  Serve("/a.json.sig?key=1", signer_.Sign(text));
  RefreshAfter(seconds(20));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  Serve("/a.json?key=1", ModelText("a", 2));
  EXPECT_THAT(RefreshAfter(hours(1)), HasSubstr("does not match its content"));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
}

TEST_F(SignedUrls, OfAKindThatLeavesItsMeaningToItsPlace_AreRefused) {
  const std::string weights = R"({"package":{"All_Weights":{}}})";
  Serve("/a.json", weights);
  Serve("/a.json.sig", signer_.Sign(weights));
  Make({Url("/a.json")});
  EXPECT_THAT(RefreshAfter({}), HasSubstr("/a.json: a signed model must be a model.json of kepler-model train"));
}

TEST_F(SignedUrls, WhatWasKept_IsVerifiedAgain) {
  cache_ = tree_.Path("cache");
  const std::string text = ModelText("a");
  Serve("/a.json", text);
  Serve("/a.json.sig", signer_.Sign(text));
  Make({Url("/a.json")});
  RefreshAfter({});
  for (const bool again : {false, true}) {
    Make({Url("/a.json")});
    Load();
    EXPECT_THAT(Models(), ElementsAre("a 1")) << again;
    board_->Set(std::make_shared<model::ModelSet>());
  }
  keys_ = Signer().Key();
  Make({Url("/a.json")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("cached copy: "), HasSubstr("does not match its content")));
  EXPECT_THAT(Models(), IsEmpty());
}

// A kill between two files would leave the one of another model than the other.
TEST_F(SignedUrls, AModelAndItsSignature_AreKeptInOneFile) {
  cache_ = tree_.Path("cache");
  for (const uint32_t version : {1u, 2u}) {
    const std::string text = ModelText("a", version);
    Serve("/a.json", text);
    Serve("/a.json.sig", signer_.Sign(text));
    Make({Url("/a.json")});
    RefreshAfter({});
    EXPECT_THAT(*os::ListDir(cache_), SizeIs(1)) << version;
  }
  Make({Url("/a.json")});
  Load();
  EXPECT_THAT(Models(), ElementsAre("a 2"));
}

// The order of docs/agent-models.md. The server may be down when the old key goes.
TEST_F(SignedUrls, KeysChange_WithoutAGap) {
  cache_ = tree_.Path("cache");
  const std::string text = ModelText("a");
  const Signer next;
  Serve("/a.json", text);
  Serve("/a.json.sig", signer_.Sign(text));
  keys_ = *PublicKeys::Parse(signer_.PublicPem() + next.PublicPem());
  Make({Url("/a.json")});
  RefreshAfter({});
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  Serve("/a.json.sig", next.Sign(text));
  EXPECT_EQ(RefreshAfter(hours(1)), "") << "the same model";
  board_->Set(std::make_shared<model::ModelSet>());
  keys_ = next.Key();
  Make({Url("/a.json")});
  Load();
  EXPECT_THAT(Models(), ElementsAre("a 1")) << "what is kept has the new signature";
}

TEST_F(SignedUrls, WhatWasKeptWithoutAKey_IsNotReadWithOne_NorTheOtherWay) {
  cache_ = tree_.Path("cache");
  const std::string text = ModelText("a");
  Serve("/a.json", text);
  Serve("/a.json.sig", signer_.Sign(text));
  const std::optional<PublicKeys> none, ours = signer_.Key();
  for (const auto& [before, after] : {std::pair(none, ours), std::pair(ours, none)}) {
    keys_ = before;
    Make({Url("/a.json")});
    RefreshAfter({});
    ASSERT_THAT(Models(), ElementsAre("a 1"));
    board_->Set(std::make_shared<model::ModelSet>());
    keys_ = after;
    Make({Url("/a.json")});
    EXPECT_EQ(Load(), "");
    EXPECT_THAT(Models(), IsEmpty());
  }
}

TEST_F(SignedUrls, WhatIsKept_MayBeTooShort) {
  cache_ = tree_.Path("cache");
  ASSERT_TRUE(ModelCache(cache_).Save(ParsePlace(Url("/a.json"))->CacheKey(true), "{}"));
  Make({Url("/a.json")});
  EXPECT_THAT(Load(), HasSubstr("cached copy: it is too short to contain a model and a signature"));
}

}  // namespace
}  // namespace kepler::model_store
