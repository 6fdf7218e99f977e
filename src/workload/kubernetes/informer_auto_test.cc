// Mode auto: the kubelet, and while it is unavailable the API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/kubernetes/informer.h"
#include "workload/kubernetes/informer_fixture.h"

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kApiList = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&resourceVersion=0";
const std::string kApiWatch =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&watch=1&allowWatchBookmarks=true&timeoutSeconds=N&resourceVersion=7";

class InformerAuto : public InformerTest {
 protected:
  InformerAuto() {
    ServeNode(kubelet_.port());
    Serve("/pods", Ok(PodsAnswer("of-kubelet")));
    Serve(kApiList, Ok(R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[
      {"metadata":{"name":"of-api","namespace":"shop","uid":"u1"}}]})"));
    const std::string bookmark = R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})";
    Serve(kApiWatch, Ok(bookmark));
  }
  [[nodiscard]] std::string Name() const { return informer_.Latest()->FindPod("u1")->name; }
  [[nodiscard]] std::string_view source() const { return informer_.status().source; }
  Informer informer_{Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kAuto}, clock_};
};

TEST_F(InformerAuto, KubeletThatAnswers_IsTheOnlyOneAsked) {
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(Name(), "of-kubelet");
  EXPECT_EQ(informer_.status().mode, "auto");
  EXPECT_EQ(source(), "kubelet");
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/api/v1/nodes/n1", "/pods"}));
}

TEST_F(InformerAuto, KubeletThatRefuses_IsReplacedByTheApiServer_SaidOnce) {
  for (const unsigned status : {401u, 403u, 500u}) {
    Informer informer(Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kAuto}, clock_);
    Serve("/pods", Refuse(status, "not you"));
    EXPECT_THAT(Refresh(informer), AllOf(HasSubstr("the kubelet is unavailable, using the API server"),
                                         HasSubstr("answered " + std::to_string(status) + ": not you")));
    EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "of-api");
    EXPECT_EQ(informer.status().source, "apiserver");
    EXPECT_EQ(informer.status().failed_requests, 1u);
    EXPECT_TRUE(informer.status().up);
    static_cast<void>(Targets());
    clock_.Advance(Informer::kKubeletAgain / 2);
    EXPECT_EQ(Refresh(informer), "");
    EXPECT_EQ(Targets(), std::vector<std::string>{kApiWatch}) << "not asked before the hour is over";
  }
}

TEST_F(InformerAuto, KubeletThatIsNotThereOrNotBelieved_IsReplaced) {
  const auto own = kepler::testing::MakeAuthority("kubelet's own");
  const ScriptedPeer self_signed(Script(), Certificate(own));
  ServeNode(self_signed.port());
  EXPECT_THAT(Refresh(informer_), AllOf(HasSubstr("using the API server"), HasSubstr("is not trusted")));
  EXPECT_EQ(Name(), "of-api");
  EXPECT_EQ(self_signed.calls(), 0u);
  Informer other(Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kAuto}, clock_);
  ServeNode(1);
  EXPECT_THAT(Refresh(other), HasSubstr("using the API server"));
  EXPECT_EQ(other.status().source, "apiserver");
}

TEST_F(InformerAuto, RoleThatMayNotGetNodes_IsEnoughForTheApiServer) {
  Serve("/api/v1/nodes/n1", Refuse(403, "no"));
  EXPECT_THAT(Refresh(informer_), HasSubstr("using the API server"));
  EXPECT_EQ(Name(), "of-api");
}

TEST_F(InformerAuto, KubeletIsAskedAgainAfterAnHour) {
  Serve("/pods", Refuse(403, "no"));
  static_cast<void>(Refresh(informer_));
  clock_.Advance(Informer::kKubeletAgain);
  EXPECT_EQ(Refresh(informer_), "") << "that it still refuses was said";
  EXPECT_EQ(source(), "apiserver");
  EXPECT_EQ(Name(), "of-api");
  EXPECT_EQ(informer_.status().failed_requests, 2u);
  Serve("/pods", Ok(PodsAnswer("of-kubelet")));
  clock_.Advance(Informer::kKubeletAgain);
  EXPECT_THAT(Refresh(informer_), HasSubstr("the kubelet answers again"));
  EXPECT_EQ(source(), "kubelet");
  EXPECT_EQ(Name(), "of-kubelet");
  static_cast<void>(Targets());
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(Targets(), std::vector<std::string>{"/pods"});
}

TEST_F(InformerAuto, BothFail_BothAreNamed_AndAskedAtEachAttempt) {
  Serve("/pods", Refuse(403, "kubelet says no"));
  Serve(kApiList, Refuse(403, "server says no"));
  EXPECT_THAT(Refresh(informer_),
              AllOf(HasSubstr("kubelet says no"), HasSubstr("server says no"), Not(HasSubstr("using the API server"))));
  EXPECT_EQ(source(), "kubelet");
  EXPECT_FALSE(informer_.status().up);
  EXPECT_EQ(informer_.status().failed_requests, 2u);
  static_cast<void>(Targets());
  static_cast<void>(Refresh(informer_));
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/pods", kApiList}));
}

TEST_F(InformerAuto, ApiServerThatFailsLater_LetsTheKubeletBeAskedBeforeTheHour) {
  Serve("/pods", Refuse(403, "no"));
  static_cast<void>(Refresh(informer_));
  Serve(kApiWatch, Refuse(503, "down"));
  static_cast<void>(Refresh(informer_));
  EXPECT_EQ(source(), "apiserver");
  Serve("/pods", Ok(PodsAnswer("of-kubelet")));
  EXPECT_THAT(Refresh(informer_), HasSubstr("the kubelet answers again"));
}

TEST_F(InformerAuto, WrongNodeName_IsNotAskedAboutTheApiServer) {
  Informer informer(Access(), {.node = {.node_name = "n2"}, .mode = InformerMode::kAuto}, clock_);
  EXPECT_THAT(Refresh(informer), AllOf(HasSubstr("nodes/n2"), HasSubstr("set kube.nodeName")));
  EXPECT_EQ(Targets(), std::vector<std::string>{"/api/v1/nodes/n2"});
}

}  // namespace
}  // namespace kepler::workload::kubernetes
