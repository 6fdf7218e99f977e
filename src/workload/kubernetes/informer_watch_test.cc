// How the API server is listed and watched.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "workload/kubernetes/informer.h"
#include "workload/kubernetes/informer_fixture.h"

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kPods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
const std::string kList = kPods + "&resourceVersion=0";
const std::string kNode = "/api/v1/nodes/n1";

std::string ListAt(const std::string& version, const std::string& items) {
  return Ok(R"({"kind":"PodList","metadata":{"resourceVersion":")" + version + R"("},"items":[)" + items + "]}");
}
std::string PodAt(const std::string& version, const std::string& uid, const std::string& name) {
  return R"({"kind":"Pod","metadata":{"uid":")" + uid + R"(","name":")" + name + R"(","resourceVersion":")" + version +
         R"("}})";
}
std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string Chunk(const std::string& text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }
/// What a server that ends the watch itself sends.
std::string Watch(const std::vector<std::string>& events) {
  std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& event : events) answer += Chunk(event);
  return answer + Chunk("");
}
std::string WatchFrom(const std::string& version) {
  return kPods + "&watch=1&allowWatchBookmarks=true&timeoutSeconds=N&resourceVersion=" + version;
}

/// For a server whose answers are those of `script`.
struct OneServer {
  OneServer(const ScriptedPeer::Script& script, const kepler::testing::PeerCertificate& certificate,
            std::string authority)
      : peer(script, certificate), believed(std::move(authority)) {}
  [[nodiscard]] AccessFinder Access() const {
    return [this]() -> Result<ClusterAccess> {
      return ClusterAccess{.api = {.host = "127.0.0.1", .port = peer.port(), .ca = believed}, .token = "t0k"};
    };
  }
  ScriptedPeer peer;
  std::string believed;
};

const std::string kWatchBegins = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

class InformerWatch : public InformerTest {
 protected:
  InformerWatch() {
    ServeNode(kubelet_.port());
    Serve(kList, ListAt("10", PodAt("9", "u1", "web")));
  }
  [[nodiscard]] std::string NameOf(const std::string& uid) const {
    const auto map = informer_.Latest();
    const snapshot::PodIdentity* const pod = map->FindPod(uid);
    return pod == nullptr ? "" : pod->name;
  }
  Informer informer_{Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_};
};

TEST_F(InformerWatch, ListThenWatch_ThenOnFromThere) {
  Serve(WatchFrom("10"), Watch({Event("ADDED", PodAt("11", "u2", "db")), Event("MODIFIED", PodAt("12", "u2", "db2")),
                                Event("BOOKMARK", PodAt("15", "", ""))}));
  Serve(WatchFrom("15"), Watch({Event("DELETED", PodAt("16", "u1", "web"))}));
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(NameOf("u1"), "web");
  EXPECT_EQ(NameOf("u2"), "db2");
  EXPECT_EQ(informer_.status().pods, 2u);
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(informer_.status().pods, 1u);
  EXPECT_EQ(NameOf("u1"), "web") << "its last time is still to come";
  EXPECT_THAT(Targets(), ElementsAre(kList, kNode, WatchFrom("10"), WatchFrom("15")));
  EXPECT_EQ(informer_.status().requests, 3u);
  EXPECT_EQ(informer_.status().failed_requests, 0u);
}

TEST_F(InformerWatch, AnnotationThatIsAskedFor_RelabelsWhenItChanges_AndNoOther) {
  const auto annotated = [](const std::string& version, const std::string& owner, const std::string& other) {
    return R"({"kind":"Pod","metadata":{"uid":"u1","name":"web","resourceVersion":")" + version +
           R"(","annotations":{"owner":")" + owner + R"(","other":")" + other + R"("}}})";
  };
  Informer informer(
      Access(), {.node = {.node_name = "n1", .asked = {.annotations = {"owner"}}}, .mode = InformerMode::kApiserver},
      clock_);
  const auto owner = [&] { return informer.Latest()->FindPod("u1")->labels->at(0); };
  Serve(kList, ListAt("10", annotated("9", "a", "1")));
  Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("11", "", ""))}));
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(owner(), std::pair("annotation_owner"s, "a"s));
  const auto before = informer.Latest();
  Serve(WatchFrom("11"), Watch({Event("MODIFIED", annotated("12", "a", "2"))}));
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.Latest(), before);
  Serve(WatchFrom("12"), Watch({Event("MODIFIED", annotated("13", "b", "2"))}));
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(owner(), std::pair("annotation_owner"s, "b"s));
}

TEST_F(InformerWatch, CutWithinAnEvent_GoesOnBehindTheLastOne) {
  const std::string whole = Watch({Event("ADDED", PodAt("11", "u2", "db")), Event("ADDED", PodAt("12", "u3", "x"))});
  Serve(WatchFrom("10"), whole.substr(0, whole.size() - 40));
  Serve(WatchFrom("11"), Watch({Event("ADDED", PodAt("12", "u3", "x"))}));
  EXPECT_EQ(Refresh(informer_), "") << "watches are cut when servers want it";
  EXPECT_EQ(NameOf("u2"), "db");
  EXPECT_EQ(NameOf("u3"), "");
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(NameOf("u3"), "x");
  EXPECT_THAT(Targets(), ElementsAre(kList, kNode, WatchFrom("10"), WatchFrom("11")));
}

TEST_F(InformerWatch, TooOldAVersion_IsListedAnew_FromThere) {
  const std::string gone = R"({"kind":"Status","message":"too old resource version","code":410})";
  for (const std::string& answer : {Watch({Event("ERROR", gone)}), Refuse(410, "too old resource version")}) {
    Informer informer(Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
    Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("11", "", ""))}));
    Serve(WatchFrom("11"), answer);
    Serve(kPods + "&resourceVersion=11", ListAt("20", PodAt("19", "u7", "new")));
    Serve(WatchFrom("20"), Watch({Event("BOOKMARK", PodAt("21", "", ""))}));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Refresh(informer), "");
    EXPECT_EQ(informer.Latest()->FindPod("u7")->name, "new");
    EXPECT_EQ(informer.status().pods, 1u);
    EXPECT_THAT(Targets(), ElementsAre(kList, kNode, WatchFrom("10"), WatchFrom("11"), kPods + "&resourceVersion=11",
                                       WatchFrom("20")));
  }
}

TEST_F(InformerWatch, Refusals_AreSaidOnce_ThoughEachWatchIsOfAnotherTime) {
  Serve(WatchFrom("10"), Refuse(500, "overloaded"));
  EXPECT_THAT(Refresh(informer_), HasSubstr("/api/v1/pods answered 500: overloaded"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Refresh(informer_), "") << i;
}

TEST_F(InformerWatch, TokenInAnErrorEvent_IsNotLogged) {
  Serve(WatchFrom("10"), Watch({Event("ERROR", R"({"kind":"Status","message":"t0k is bad","code":500})")}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("ended the watch of pods: <token> is bad"));
}

TEST_F(InformerWatch, ServerThatForgetsAtOnce_IsAskedForTheLatestThen) {
  const std::string gone = R"({"kind":"Status","message":"too old","code":410})";
  Serve(WatchFrom("10"), Watch({Event("ERROR", gone)}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("too old"));
  EXPECT_EQ(informer_.status().failed_requests, 1u);
  Serve(kPods + "&resourceVersion=10", Refuse(410, "too old"));
  EXPECT_THAT(Refresh(informer_), HasSubstr("answered 410"));
  Serve(kPods, ListAt("20", PodAt("19", "u7", "new")));
  Serve(WatchFrom("20"), Watch({Event("BOOKMARK", PodAt("21", "", ""))}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("received the pods of this node again"));
  EXPECT_THAT(Targets(),
              ElementsAre(kList, kNode, WatchFrom("10"), kPods + "&resourceVersion=10", kPods, WatchFrom("20")));
}

TEST_F(InformerWatch, ServerThatIsDown_IsNotAskedForTheLatest) {
  Serve(kList, Refuse(503, "down"));
  for (int i = 0; i < 2; ++i) static_cast<void>(Refresh(informer_));
  EXPECT_THAT(Targets(), ElementsAre(kList, kList));
}

TEST_F(InformerWatch, QuietWatchThatIsCutAfterAWhile_HasWorked) {
  const OneServer server(
      [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
        send(head.contains("watch=1") ? kWatchBegins : ListAt("10", ""));
        clock_.Advance(2 * Informer::kMinWatch);
      },
      Certificate(authority_), believed_);
  Informer informer(server.Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(informer.status().failed_requests, 0u);
}

TEST_F(InformerWatch, ServerThatHangsInAWatch_IsNoticedAndCounted) {
  const OneServer server(
      [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token& stop) {
        if (!head.contains("watch=1")) {
          send(ListAt("10", ""));
          return;
        }
        send(kWatchBegins + Chunk(Event("ADDED", PodAt("11", "u2", "db"))));
        clock_.Advance(2 * Informer::kMinWatch);
        kepler::testing::WaitFor(stop);
      },
      Certificate(authority_), believed_);
  Informer informer(
      server.Access(),
      {.node = {.node_name = "n1", .watch_grace = 200ms}, .mode = InformerMode::kApiserver, .watch_time = 0s}, clock_);
  EXPECT_THAT(Refresh(informer), HasSubstr("the answer was not complete in time"));
  EXPECT_EQ(informer.status().failed_requests, 1u);
  EXPECT_EQ(informer.Latest()->FindPod("u2")->name, "db");
}

TEST_F(InformerWatch, WatchThatEndsInTime_IsFollowedAtOnceByTheNext) {
  int watches = 0;
  const OneServer server(
      [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
        if (!head.contains("watch=1")) {
          send(ListAt("10", ""));
          return;
        }
        if (++watches < 4) clock_.Advance(2 * Informer::kMinWatch);
        send(kWatchBegins + (watches == 4 ? Chunk(Event("ADDED", PodAt("11", "u2", "db"))) : "") + Chunk(""));
      },
      Certificate(authority_), believed_);
  Informer informer(server.Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
  EXPECT_EQ(Refresh(informer), "");
  EXPECT_EQ(watches, 4);
  EXPECT_EQ(informer.Latest()->FindPod("u2")->name, "db");
  EXPECT_EQ(informer.status().requests, 5u);
}

TEST_F(InformerWatch, WatchThatEndsAtOnceWithoutAWord_HasFailed) {
  Serve(WatchFrom("10"), Watch({}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("ended the watch of pods at once"));
  EXPECT_EQ(informer_.status().failed_requests, 1u);
}

TEST_F(InformerWatch, BookmarksOnly_AreASign) {
  Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("12", "", ""))}));
  clock_.Advance(1h);
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(informer_.status().last_success, clock_.Wall());
}

TEST_F(InformerWatch, NodeThatTheClusterDoesNotHave_IsAnErrorUntilItHasIt) {
  Serve(kNode, Refuse(404, "nodes n1 not found"));
  Serve(kList, ListAt("10", ""));
  EXPECT_THAT(Refresh(informer_), ::testing::AllOf(HasSubstr("nodes n1 not found"), HasSubstr("set kube.nodeName")));
  EXPECT_EQ(informer_.status().failed_requests, 1u);
  EXPECT_EQ(informer_.status().last_success, WallTime{}) << "an empty list of no node says nothing";
  ServeNode(kubelet_.port());
  Serve(kList, ListAt("10", PodAt("9", "u1", "web")));
  Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("11", "", ""))}));
  Serve(WatchFrom("11"), Refuse(410, "too old"));
  Serve(kPods + "&resourceVersion=11", ListAt("20", PodAt("19", "u1", "web")));
  Serve(WatchFrom("20"), Watch({Event("BOOKMARK", PodAt("21", "", ""))}));
  static_cast<void>(Targets());
  for (int i = 0; i < 3; ++i) static_cast<void>(Refresh(informer_));
  EXPECT_THAT(Targets(), ElementsAre(kList, kNode, WatchFrom("10"), WatchFrom("11"), kPods + "&resourceVersion=11",
                                     WatchFrom("20")))
      << "once";
}

TEST_F(InformerWatch, RoleThatMayNotGetNodes_IsEnough) {
  Serve(kNode, Refuse(403, "no"));
  Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("11", "", ""))}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("failed to check kube.nodeName"));
  EXPECT_EQ(NameOf("u1"), "web");
  EXPECT_EQ(informer_.status().failed_requests, 0u);
}

TEST_F(InformerWatch, NoJson_IsListedAnew) {
  Serve(WatchFrom("10"), Watch({"<html>"}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("parse a watch of pods"));
  static_cast<void>(Targets());
  Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt("12", "", ""))}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("received the pods of this node again"));
  EXPECT_THAT(Targets(), ElementsAre(kList, WatchFrom("10")));
}

TEST_F(InformerWatch, WatchThatFailsEachTime_IsNoRecovery_ThoughListsSucceed) {
  Serve(WatchFrom("10"), Watch({"<html>"}));
  EXPECT_THAT(Refresh(informer_), HasSubstr("failed to get the pods"));
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(1s);
    EXPECT_EQ(Refresh(informer_), "") << i;
  }
}

TEST_F(InformerWatch, ListWithoutAUsableVersion_IsAnError) {
  Serve(kList, ListAt("1\\r\\nHost: x", PodAt("9", "u1", "web")));
  EXPECT_THAT(Refresh(informer_), HasSubstr(R"(no valid resource version: \"1\\r\\nHost: x\")"));
  EXPECT_EQ(NameOf("u1"), "web");
}

TEST_F(InformerWatch, EventWithoutAUsableVersion_IsAnError_AndIsNotSentBack) {
  const std::string gone = R"({"kind":"Status","message":"too old","code":410})";
  for (const std::string& version : {"1 2"s, R"(1\r\nX: y)"s, std::string(1000, '7')}) {
    Informer informer(Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
    Serve(WatchFrom("10"), Watch({Event("BOOKMARK", PodAt(version, "", "")), Event("ERROR", gone)}));
    EXPECT_THAT(Refresh(informer), HasSubstr(R"(returned no valid resource version: \")" + version.substr(0, 1)));
    static_cast<void>(Targets());
    static_cast<void>(Refresh(informer));
    EXPECT_THAT(Targets(), ElementsAre(kList, WatchFrom("10"))) << "listed anew";
  }
}

TEST_F(InformerWatch, EventWithoutRoom_IsCounted_AndTheWatchGoesOn) {
  Informer informer(Access(), {.node = {.node_name = "n1", .max_name_bytes = 2048}, .mode = InformerMode::kApiserver},
                    clock_);
  std::vector<std::string> events;
  events.reserve(21);
  for (int i = 0; i < 20; ++i)
    events.push_back(Event("ADDED", PodAt(std::to_string(11 + i), "v" + std::to_string(i), "p")));
  events.push_back(Event("MODIFIED", PodAt("40", "u1", "renamed")));
  Serve(WatchFrom("10"), Watch(events));
  EXPECT_THAT(Refresh(informer), HasSubstr("stay without names"));
  EXPECT_EQ(informer.Latest()->FindPod("u1")->name, "renamed");
  EXPECT_EQ(informer.status().pods + informer.status().left_out_pods, 21u);
  EXPECT_EQ(informer.status().failed_requests, 0u);
}

TEST_F(InformerWatch, TenThousandPods_OneAfterTheOther) {
  std::vector<std::string> events;
  for (int i = 0; i < 10'000; ++i) {
    const std::string pod = PodAt(std::to_string(11 + i), "v" + std::to_string(i), "p" + std::to_string(i));
    events.push_back(Event("ADDED", pod) + Event("DELETED", pod));
  }
  Serve(WatchFrom("10"), Watch(events));
  EXPECT_EQ(Refresh(informer_), "");
  EXPECT_EQ(informer_.status().pods, 1u);
  EXPECT_EQ(informer_.Latest()->pods(), 1 + PodCache::kMaxGone);
}

TEST_F(InformerWatch, OpenWatch_EndsWithTheInformer) {
  std::atomic<bool> watched = false;
  const OneServer server(
      [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token& stop) {
        if (!head.contains("watch=1")) {
          send(ListAt("10", ""));
          return;
        }
        send(kWatchBegins);
        watched = true;
        watched.notify_all();
        kepler::testing::WaitFor(stop);
      },
      Certificate(authority_), believed_);
  Informer informer(server.Access(), {.node = {.node_name = "n1"}, .mode = InformerMode::kApiserver}, clock_);
  ASSERT_TRUE(informer.Start());
  watched.wait(false);
  informer.Miss("u9", "anything");
  EXPECT_EQ(informer.status().requests, 2u);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
