#include "workload/kubernetes/informer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "workload/kubernetes/informer_fixture.h"

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST_F(InformerTest, Kubelet_IsFoundOnceAndAskedThen) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_EQ(informer.Latest()->pods(), 0u);
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "web");
  EXPECT_EQ(informer.Latest()->FindContainer("id1")->name, "c");
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/api/v1/nodes/n1", "/pods", "/pods"}));
  EXPECT_EQ(informer.status().requests, 2u);
  EXPECT_EQ(informer.status().failed_requests, 0u);
  EXPECT_EQ(informer.status().pods, 1u);
  EXPECT_EQ(informer.status().last_success, clock_.Wall());
}

TEST_F(InformerTest, RequestsToTheKubelet_ShareAConnection) {
  const ScriptedPeer kubelet(
      [this](kepler::testing::PeerConnection& client, const std::stop_token&) {
        while (const auto head = client.ReadHead())
          Answer(*head, [&client](std::string_view bytes) { return client.Send(bytes); });
      },
      Certificate(authority_));
  ServeNode(kubelet.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(kubelet.calls(), 3u);
  EXPECT_EQ(kubelet.connections(), 1u);
}

TEST_F(InformerTest, OneCause_IsSaidOnce_WhereverTheAnswerBreaks) {
  ServeNode(kubelet_.port());
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  const std::string whole = PodsAnswer("web");
  Serve("/pods", Ok(whole.substr(0, 20)));
  EXPECT_THAT(Refresh(informer), HasSubstr("parse a list of pods: "));
  for (const size_t bytes : {1u, 21u, 60u}) {
    Serve("/pods", Ok(whole.substr(0, bytes)));
    EXPECT_EQ(Refresh(informer), "") << bytes;
    Serve("/pods", Ok(whole.substr(0, bytes) + "?"));
    EXPECT_EQ(Refresh(informer), "") << bytes;
  }
}

TEST_F(InformerTest, NothingNew_IsTheSameMap) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_EQ(Refresh(informer), "");
  const auto before = informer.Latest();
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.Latest(), before);
  Serve("/pods", Ok(PodsAnswer("other")));
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "other");
  EXPECT_EQ(before->FindPod("u1")->name, "web");
}

TEST_F(InformerTest, LabelsAndAnnotationsThatAreAskedFor) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(R"({"kind":"PodList","items":[{"metadata":{"uid":"u1","name":"web","labels":{"team":"a","x":"y"},
    "annotations":{"owner":"b","x":"y"}}}]})"));
  Informer informer(Access(), {.node = {.node_name = "n1", .asked = {.labels = {"team"}, .annotations = {"owner"}}}},
                    clock_);
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(*informer.Latest()->FindPod("u1")->labels,
            (snapshot::LabelList{{"annotation_owner", "b"}, {"label_team", "a"}}));
}

TEST_F(InformerTest, RotatedToken_IsReadAgain) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_EQ(Refresh(informer), "");
  Accept("new");
  EXPECT_THAT(Refresh(informer), HasSubstr("check whether the token is still valid"));
  tree_.Write("token", "new");
  EXPECT_THAT(Refresh(informer), HasSubstr("received the pods of this node again"));
  EXPECT_EQ(informer.status().failed_requests, 1u);
}

TEST_F(InformerTest, ServerThatComesAndGoes_LeavesTheFailureAsTheLatestLine) {
  ServeNode(kubelet_.port());
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  const auto fail = [&] {
    Serve("/pods", Refuse(500, "oops"));
    return Refresh(informer);
  };
  const auto succeed = [&] {
    Serve("/pods", Ok(PodsAnswer("web")));
    return Refresh(informer);
  };
  EXPECT_THAT(fail(), HasSubstr("failed to get the pods"));
  EXPECT_THAT(succeed(), HasSubstr("received the pods of this node again"));
  EXPECT_THAT(fail(), HasSubstr("failed to get the pods")) << "the latest line was a recovery";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(succeed(), "") << i;
    EXPECT_EQ(fail(), "") << i;
  }
  clock_.Advance(10min);
  EXPECT_THAT(succeed(), HasSubstr("received the pods of this node again"));
  EXPECT_THAT(fail(), ::testing::AllOf(HasSubstr("failed to get the pods"), HasSubstr("suppressed=5")));
}

TEST_F(InformerTest, RenewedAuthority_IsReadAgain) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  believed_ = kepler::testing::MakeAuthority("former").cert;
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_THAT(Refresh(informer), HasSubstr("is not trusted"));
  EXPECT_TRUE(Targets().empty());
  believed_ = authority_.cert;
  EXPECT_THAT(Refresh(informer), HasSubstr("received the pods of this node again"));
}

TEST_F(InformerTest, Failures_KeepWhatIsKnown_AndFindTheKubeletAgain) {
  ServeNode(kubelet_.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_EQ(Refresh(informer), "");
  const std::string half = Ok(PodsAnswer("web")).substr(0, 200);
  for (const std::string& answer : {Refuse(500, "oops"), half, Ok("{}"), Ok("[["), std::string("no HTTP\r\n\r\n")}) {
    Serve("/pods", answer);
    static_cast<void>(Refresh(informer));
    EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "web");
  }
  EXPECT_EQ(informer.status().failed_requests, 5u);
  ScriptedPeer moved(Script(), Certificate(authority_));
  ServeNode(moved.port());
  Serve("/pods", Ok(PodsAnswer("moved")));
  EXPECT_THAT(Refresh(informer), HasSubstr("received the pods of this node again"));
  EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "moved");
  EXPECT_EQ(moved.calls(), 1u);
}

TEST_F(InformerTest, TokenThatTheServerRepeats_IsNotLogged) {
  Serve("/api/v1/nodes/n1", Refuse(403, "the token t0k is bad, t0k"));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_THAT(Refresh(informer),
              ::testing::AllOf(HasSubstr("the token <token> is bad, <token>"), ::testing::Not(HasSubstr("t0k"))));
}

TEST_F(InformerTest, Forbidden_NamesTheRuleThatIsMissing) {
  ServeNode(kubelet_.port());
  Serve("/pods", Refuse(403, "Forbidden (user=system:anonymous)"));
  Informer kubelet(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_THAT(Refresh(kubelet), ::testing::AllOf(HasSubstr("nodes/pods"), HasSubstr("Forbidden (user=")));
  Serve("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&resourceVersion=0", Refuse(403, "no"));
  Informer api(Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
  EXPECT_THAT(Refresh(api), HasSubstr("list on pods"));
}

TEST_F(InformerTest, NamesWithoutRoom_AreCounted_AndSaidOnce) {
  ServeNode(kubelet_.port());
  std::string items;
  for (int i = 0; i < 100; ++i)
    items += fmt::format(
        R"({}{{"metadata":{{"uid":"u{}","name":"web"}},"status":{{"containerStatuses":[{{"name":"c","containerID":"containerd://{}"}}]}}}})",
        i == 0 ? "" : ",", i, i);
  Serve("/pods", Ok(R"({"kind":"PodList","items":[)" + items + "]}"));
  Informer informer(Access(), {.node = {.node_name = "n1", .max_name_bytes = 16 << 10}}, clock_);
  EXPECT_THAT(Refresh(informer),
              ::testing::AllOf(HasSubstr("stay without names"), HasSubstr("max_name_bytes=16384"), HasSubstr("pods=")));
  const auto status = informer.status();
  EXPECT_EQ(status.failed_requests, 0u);
  EXPECT_GT(status.pods, 10u);
  EXPECT_EQ(status.pods + status.left_out_pods, 100u);
  EXPECT_EQ(status.left_out_containers, status.left_out_pods);
  EXPECT_EQ(informer.Latest()->FindPod("u0")->name, "web");
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.status().left_out_pods, 2 * status.left_out_pods);
}

TEST_F(InformerTest, NodeOfMoreThanTwoMegabytes_IsRefused) {
  Serve("/api/v1/nodes/n1", Ok(R"({"kind":"Node","x":")" + std::string(NodeClient::kMaxNodeBytes, 'x') + R"("})"));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_THAT(Refresh(informer), HasSubstr("/api/v1/nodes/n1 has more than 2097152 bytes"));
  EXPECT_EQ(informer.status().failed_requests, 1u);
}

TEST_F(InformerTest, WrongNodeName_SaysWhichSetting) {
  Informer informer(Access(), {.node = {.node_name = "n2"}}, clock_);
  EXPECT_THAT(Refresh(informer), ::testing::AllOf(HasSubstr("nodes/n2"), HasSubstr("kube.nodeName")));
}

TEST_F(InformerTest, KubeletOfAnotherAuthority_IsBelievedOnlyWhereThatIsSaid) {
  const auto own = kepler::testing::MakeAuthority("kubelet's own");
  ScriptedPeer self_signed(Script(), Certificate(own));
  ServeNode(self_signed.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  Informer strict(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_THAT(Refresh(strict), HasSubstr("is not trusted"));
  EXPECT_EQ(self_signed.calls(), 0u);
  Informer trusting(Access(), {.node = {.node_name = "n1", .verify_kubelet = false}}, clock_);
  EXPECT_EQ(Refresh(trusting), "");
}

TEST_F(InformerTest, KubeletThatSignsItself_IsBelievedByItsName) {
  const auto own = kepler::testing::MakeAuthority("kubelet's own");
  const auto leaf = kepler::testing::MakeLeaf(own, "node", "DNS:node-host");
  ScriptedPeer self_signed(Script(), {leaf.cert, leaf.key});
  ServeNode(self_signed.port());
  Serve("/pods", Ok(PodsAnswer("web")));
  kubelet_ca_ = own.cert;
  Informer pinned(Access(), {.node = {.node_name = "n1"}}, clock_);
  EXPECT_EQ(Refresh(pinned), "");
  EXPECT_EQ(pinned.Latest()->FindPod("u1")->name, "web");
}

TEST_F(InformerTest, KubeletThatRefuses_IsNotLookedForAgain) {
  ServeNode(kubelet_.port());
  Serve("/pods", Refuse(403, "no"));
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  for (int i = 0; i < 3; ++i) static_cast<void>(Refresh(informer));
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/api/v1/nodes/n1", "/pods", "/pods", "/pods"}));
}

TEST_F(InformerTest, AnswersWithoutPodsOrReason_AreExplained) {
  ServeNode(kubelet_.port());
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  Serve("/pods", "HTTP/1.1 302 Found\r\nLocation: https://other/pods\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(Refresh(informer), HasSubstr("/pods answered 302: the server redirects to https://other/pods; "
                                           "redirections are not followed, set that URL"));
  Serve("/pods", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(Refresh(informer), HasSubstr("/pods answered 503\" "));
  Serve("/pods", "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_THAT(Refresh(informer), HasSubstr("/pods: the answer is empty"));
}

TEST_F(InformerTest, EachCauseIsSaidOnce) {
  ServeNode(kubelet_.port());
  Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
  for (const unsigned status : {403u, 401u, 500u}) {
    Serve("/pods", Refuse(status, "first"));
    EXPECT_THAT(Refresh(informer), HasSubstr("answered " + std::to_string(status)));
    Serve("/pods", Refuse(status, "second"));
    EXPECT_EQ(Refresh(informer), "");
  }
}

TEST_F(InformerTest, HungKubelet_HoldsUpNeitherReadersNorTheEnd) {
  std::atomic<bool> asked = false;
  ScriptedPeer hung(
      [&](const std::string&, const ScriptedPeer::Send&, const std::stop_token& stop) {
        asked = true;
        asked.notify_all();
        kepler::testing::WaitFor(stop);
      },
      Certificate(authority_));
  ServeNode(hung.port());
  const auto begin = std::chrono::steady_clock::now();
  {
    Informer informer(Access(), {.node = {.node_name = "n1"}}, clock_);
    ASSERT_TRUE(informer.Start());
    asked.wait(false);
    informer.Miss("u9", "unknown");
    EXPECT_EQ(informer.Latest()->pods(), 0u);
    EXPECT_EQ(informer.status().requests, 1u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, NodeClient::kSilence / 2) << "the stop has ended it";
}

}  // namespace
}  // namespace kepler::workload::kubernetes
