#include "workload/kubernetes/pod_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kepler::workload::kubernetes {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string ReadData(const std::string& name) {
  std::ifstream file(KEPLER_TESTDATA "/" + name);
  EXPECT_TRUE(file) << name;
  return (std::ostringstream() << file.rdbuf()).str();
}

Result<PodList> ReadList(std::string_view text, size_t piece = SIZE_MAX, const AskedTexts& asked = {}) {
  PodListReader reader(asked);
  while (!text.empty()) {
    KEPLER_CHECK_OK(reader.Read(text.substr(0, piece)));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return reader.Finish();
}

Result<std::vector<Pod>> Parse(std::string_view text, size_t piece = SIZE_MAX, const AskedTexts& asked = {}) {
  KEPLER_TRY(PodList list, ReadList(text, piece, asked));
  return std::move(list.pods);
}

std::string ListOf(std::string_view items) { return R"({"kind":"PodList","items":[)" + std::string(items) + "]}"; }

TEST(PodListReader, KubeletsAnswer) {
  const auto pods = Parse(ReadData("kubelet-pods-1.20.json"), SIZE_MAX,
                          {.labels = {"app"}, .annotations = {"kubernetes.io/config.source", "absent"}});
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_EQ(pods->size(), 3u);
  const Pod& first = pods->front();
  EXPECT_EQ(first.name, "train-be");
  EXPECT_EQ(first.name_space, "default");
  EXPECT_EQ(first.uid, "969b3bf3-b31f-4ddf-b419-324ba0584406");
  EXPECT_EQ(first.static_uid, "");
  EXPECT_THAT(first.labels, ElementsAre(Pair("app", "train")));
  EXPECT_THAT(first.annotations, ElementsAre(Pair("kubernetes.io/config.source", "api")));
  ASSERT_EQ(first.containers.size(), 1u);
  EXPECT_EQ(first.containers[0].name, "burn");
  EXPECT_EQ(first.containers[0].id.size(), 64u);
}

TEST(PodListReader, HoweverItIsCut_TheSame) {
  const std::string text = ReadData("kubelet-pods-1.20.json");
  const auto whole = Parse(text);
  ASSERT_TRUE(whole);
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, size_t{1000}})
    EXPECT_EQ(Parse(text, piece), *whole) << piece;
}

TEST(PodListReader, AllKindsOfContainers_AndThoseThatWaitAreLeftOut) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u","name":"p","namespace":"n"},"status":{
    "initContainerStatuses":[{"name":"init","containerID":"containerd://a1","state":{"terminated":{"containerID":"x"}}}],
    "containerStatuses":[{"containerID":"cri-o://b2","name":"main"},{"name":"waits","containerID":""},{"name":"late"}],
    "ephemeralContainerStatuses":[{"name":"debug","containerID":"c3"}]}})"));
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->at(0).containers,
              ElementsAre(PodContainer{"a1", "init"}, PodContainer{"b2", "main"}, PodContainer{"c3", "debug"}));
}

TEST(PodListReader, Requests_AreThoseOfTheSpecOfTheSameName) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u","name":"p"},
    "status":{"containerStatuses":[{"name":"main","containerID":"containerd://a1",
        "lastState":{"terminated":{"containerID":"containerd://a0"}}},{"name":"free","containerID":"containerd://b2"}],
      "initContainerStatuses":[{"name":"side","containerID":"containerd://c3"}]},
    "spec":{"initContainers":[{"name":"side","resources":{"requests":{"cpu":"0.1"}}}],
      "containers":[{"name":"main","env":[{"name":"free"}],"resources":{"limits":{"cpu":"4"},
        "requests":{"cpu":"250m","memory":"64Mi"}}},{"name":"free","resources":{"requests":{"cpu":"-1","memory":"?"}}}]}})"));
  ASSERT_TRUE(pods);
  const ContainerRequests main{.cpu_millis = 250, .memory_kib = 65'536};
  EXPECT_THAT(pods->at(0).containers,
              ElementsAre(PodContainer{"a1", "main", main}, PodContainer{"a0", "main", main},
                          PodContainer{"b2", "free"}, PodContainer{"c3", "side", {.cpu_millis = 100}}));
}

TEST(PodListReader, RestartedContainer_HasBothIds) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u","name":"p"},"status":{"containerStatuses":[
    {"name":"main","containerID":"containerd://b2","lastState":{"terminated":{"containerID":"containerd://a1"}}},
    {"name":"crashes","lastState":{"terminated":{"containerID":"containerd://c3"}}}]}})"));
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->at(0).containers,
              ElementsAre(PodContainer{"b2", "main"}, PodContainer{"a1", "main"}, PodContainer{"c3", "crashes"}));
}

TEST(PodListReader, StaticPod_SaysBothUids) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"mirror","name":"p","annotations":{
    "kubernetes.io/config.hash":"0f","kubernetes.io/config.hash.other":"1"}}})"));
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->at(0).uid, "mirror");
  EXPECT_EQ(pods->at(0).static_uid, "0f");
}

TEST(PodListReader, ResourceVersion_IsTheLists) {
  EXPECT_EQ(ReadList(R"({"kind":"PodList","metadata":{"resourceVersion":"42"},"items":[
    {"metadata":{"uid":"u","name":"p","resourceVersion":"7"}}]})")
                ->resource_version,
            "42");
}

TEST(PodListReader, NoPods) {
  EXPECT_EQ(Parse(ListOf("")), std::vector<Pod>());
  EXPECT_EQ(Parse(R"({"kind":"PodList","items":null})"), std::vector<Pod>());
}

TEST(PodListReader, PodsWithoutUidOrName_AreLeftOut) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u"}},{"metadata":{"name":"n"}},{},17,null,"x",
    {"metadata":{"uid":"u","name":"good"}})"));
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_EQ(pods->size(), 1u);
  EXPECT_EQ(pods->at(0).name, "good");
}

TEST(PodListReader, NamesInOtherPlaces_AreNotThePods) {
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u","name":"p","labels":{"metadata.uid":"l","uid":"m"},
    "ownerReferences":[{"uid":"o","name":"q"}]},"spec":{"metadata":{"name":"s"},"containers":[{"name":"c"}]}})"),
                          SIZE_MAX, {.labels = {"metadata.uid", "uid"}});
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->at(0).uid, "u");
  EXPECT_EQ(pods->at(0).name, "p");
  EXPECT_THAT(pods->at(0).labels, ElementsAre(Pair("metadata.uid", "l"), Pair("uid", "m")));
  EXPECT_TRUE(pods->at(0).containers.empty());
}

TEST(PodListReader, LabelsAndAnnotations_OnlyThoseThatAreAskedFor) {
  const auto text = ListOf(R"({"metadata":{"uid":"u","name":"p","labels":{"team":"a","pod-template-hash":"5d4f"},
    "annotations":{"team":"b","example.com/owner":"c","example.com/owner.mail":"d","n":1,"o":{"p":"e"}}}})");
  const auto pods = Parse(text, SIZE_MAX, {.labels = {"team", "absent"}, .annotations = {"example.com/owner", "n"}});
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->at(0).labels, ElementsAre(Pair("team", "a")));
  EXPECT_THAT(pods->at(0).annotations, ElementsAre(Pair("example.com/owner", "c")));
  EXPECT_TRUE(Parse(text)->at(0).labels.empty());
  EXPECT_TRUE(Parse(text)->at(0).annotations.empty());
}

TEST(PodListReader, AnnotationsOfAMegabyte_AreCutAsLabels) {
  const std::string huge(1 << 20, 'a');
  const auto pods = Parse(ListOf(R"({"metadata":{"uid":"u","name":"p","labels":{"l":")" + huge +
                                 R"("},"annotations":{"a":")" + huge + R"("}}})"),
                          4096, {.labels = {"l"}, .annotations = {"a"}});
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->at(0).labels, ElementsAre(Pair("l", std::string(255, 'a'))));
  EXPECT_THAT(pods->at(0).annotations, ElementsAre(Pair("a", std::string(255, 'a'))));
}

TEST(PodListReader, Truncated_IsAnErrorAtEachByte) {
  const std::string text = ListOf(R"({"metadata":{"uid":"u","name":"p"}})");
  for (size_t size = 0; size < text.size(); ++size) {
    const auto pods = Parse(std::string_view(text).substr(0, size));
    ASSERT_FALSE(pods) << size;
    EXPECT_EQ(pods.error().kind, ErrorKind::kMalformed);
  }
}

TEST(PodListReader, WhatIsNoPodList_SaysSo) {
  EXPECT_THAT(Parse("<html>").error().message, HasSubstr("parse a list of pods: HTML, not JSON"));
  EXPECT_THAT(Parse("{x").error().message, HasSubstr("near byte 1"));
  EXPECT_THAT(Parse(R"({"kind":"Status","message":"x"})").error().message, HasSubstr("\"Status\" instead of PodList"));
  EXPECT_THAT(Parse("[]").error().message, HasSubstr("instead of PodList"));
  EXPECT_THAT(Parse(ListOf("") + "{}").error().message, HasSubstr("unexpected text after"));
  EXPECT_FALSE(Parse(ListOf(std::string(100, '['))));
}

/// Server-side apply makes keys of names that users choose: k:{"name":"..."}.
TEST(PodListReader, KeyOfAnyLength_IsPassedOver) {
  const std::string key(100'000, 'k');
  const auto list = Parse(R"({"kind":"PodList","items":[{"metadata":{"managedFields":[{")" + key +
                          R"(":{"x":1}}],"uid":"u","name":"p"}}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().name, "p");
}

std::string Many(size_t count, const std::string& one) {
  std::string list = one;
  for (size_t i = 1; i < count; ++i) list.append(1, ',').append(one);
  return list;
}

TEST(PodListReader, MoreThanThereIsRoomFor_IsLeftOutAndCounted) {
  const std::string pod = R"({"metadata":{"uid":"u","name":"p"},"status":{"containerStatuses":[
    {"name":"c","containerID":"i"},{"name":"d","containerID":"j"}]}})";
  PodListReader one(AskedTexts{});
  ASSERT_TRUE(one.Read(ListOf(pod)));
  const size_t bytes = one.Finish()->bytes;
  PodListReader reader(AskedTexts{}, 30 * bytes);
  ASSERT_TRUE(reader.Read(ListOf(Many(32, pod))));
  const auto list = reader.Finish();
  ASSERT_TRUE(list);
  EXPECT_EQ(list->pods.size(), 30u);
  EXPECT_EQ(list->bytes, 30 * bytes);
  EXPECT_EQ(list->left_out, (LeftOut{.pods = 2, .containers = 4}));
}

/// A pod with 100 containers, the metadata before and behind them.
std::vector<std::string> Crowds() {
  const std::string metadata = R"("metadata":{"uid":"u","name":"crowd"})";
  const std::string status =
      R"("status":{"containerStatuses":[)" + Many(100, R"({"name":"c","containerID":"i"})") + "]}";
  return {"{" + metadata + "," + status + "}", "{" + status + "," + metadata + "}"};
}
constexpr std::string_view kTiny = R"({"metadata":{"uid":"v","name":"tiny"}})";

TEST(PodListReader, LastPodThatFits_KeepsItsNameAndItsFirstContainers) {
  PodListReader one(AskedTexts{});
  ASSERT_TRUE(one.Read(ListOf(std::string(kTiny))));
  const size_t tiny = one.Finish()->bytes;
  for (const std::string& crowd : Crowds()) {
    PodListReader reader(AskedTexts{}, 100 * tiny);
    ASSERT_TRUE(reader.Read(ListOf(Many(98, std::string(kTiny)) + "," + crowd + "," + std::string(kTiny))));
    const auto list = reader.Finish();
    ASSERT_TRUE(list);
    ASSERT_EQ(list->pods.size(), 99u);
    const Pod& pod = list->pods.back();
    EXPECT_EQ(pod.name, "crowd");
    EXPECT_GT(pod.containers.size(), 0u);
    EXPECT_LT(pod.containers.size(), 10u);
    EXPECT_LE(list->bytes, 100 * tiny);
    EXPECT_EQ(list->left_out, (LeftOut{.pods = 1, .containers = 100 - pod.containers.size()}));
  }
}

TEST(PodListReader, ContainersOfOnePod_TakeOnePartOfTheRoom) {
  for (const std::string& crowd : Crowds()) {
    PodListReader reader(AskedTexts{}, 16 << 10);
    ASSERT_TRUE(reader.Read(ListOf(crowd + "," + Many(20, std::string(kTiny)))));
    const auto list = reader.Finish();
    ASSERT_TRUE(list);
    ASSERT_EQ(list->pods.size(), 21u) << "the others keep their names";
    const size_t containers = list->pods[0].containers.size();
    EXPECT_GT(containers, 3u);
    EXPECT_LE(containers * MemoryOf(PodContainer{}), (16u << 10) / kPodPart);
    EXPECT_EQ(list->left_out, (LeftOut{.pods = 0, .containers = 100 - containers}));
  }
}

TEST(PodListReader, TooMuchOfOnePod_IsLeftOut_AndTheOthersStay) {
  const auto pods = Parse(
      ListOf(R"({"metadata":{"uid":"u","name":"p","labels":{)" + Many(100, R"("a":"b")") +
             R"(}},"status":{"containerStatuses":[)" + Many(kMaxContainers + 1, R"({"name":"c","containerID":"i"})") +
             R"(]}},{"metadata":{"uid":"v","name":"next"}})"),
      SIZE_MAX, {.labels = {"a", "b"}});
  ASSERT_TRUE(pods) << pods.error().message;
  EXPECT_EQ(pods->at(0).labels.size(), 2U);
  EXPECT_EQ(pods->at(0).containers.size(), kMaxContainers);
  EXPECT_EQ(pods->at(1).name, "next");
}

using Kind = PodEvent::Kind;

Result<std::vector<PodEvent>> ReadEvents(std::string_view text, size_t piece = SIZE_MAX) {
  std::vector<PodEvent> events;
  PodEventReader reader([&](PodEvent event) -> Status {
    events.push_back(std::move(event));
    return {};
  });
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    KEPLER_CHECK_OK(reader.Read(text.substr(0, piece)));
  return events;
}
std::string EventOf(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"kind":"Pod","metadata":{"uid":"u","name":")" + name +
         R"(","resourceVersion":")" + version + R"("}}})";
}

TEST(PodEventReader, OneBehindTheOther_HoweverTheyAreCut) {
  const std::string text = EventOf("ADDED", "a", "1") + "\n" + EventOf("MODIFIED", "b", "2") +
                           EventOf("DELETED", "c", "3") + "\n\n" + EventOf("BOOKMARK", "", "4");
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{7}, size_t{60}}) {
    const auto events = ReadEvents(text, piece);
    ASSERT_TRUE(events) << events.error().message;
    ASSERT_EQ(events->size(), 4u);
    EXPECT_EQ(events->at(0).kind, Kind::kSet);
    EXPECT_EQ(events->at(0).pod.name, "a");
    EXPECT_EQ(events->at(1).kind, Kind::kSet);
    EXPECT_EQ(events->at(1).pod.name, "b");
    EXPECT_EQ(events->at(2).kind, Kind::kGone);
    EXPECT_EQ(events->at(2).resource_version, "3");
    EXPECT_EQ(events->at(3).kind, Kind::kBookmark);
    EXPECT_EQ(events->at(3).resource_version, "4");
  }
}

TEST(PodEventReader, AnEvent_IsTakenAtItsEnd) {
  for (const char* end : {"", "\n"}) EXPECT_EQ(ReadEvents(EventOf("ADDED", "a", "1") + end)->size(), 1u);
  EXPECT_TRUE(ReadEvents(R"({"type":"ADDED","object":{"kind":"Pod")")->empty())
      << "cut: the connection reports the error";
}

TEST(PodEventReader, Error_HasCodeAndMessage) {
  const auto events = ReadEvents(R"json({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},
    "status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired","code":410}})json");
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(events->at(0).kind, Kind::kError);
  EXPECT_EQ(events->at(0).code, 410);
  EXPECT_EQ(events->at(0).message, "too old resource version: 1 (5)");
}

TEST(PodEventReader, WhatNobodyKnows_IsPassedOver) {
  EXPECT_TRUE(ReadEvents(EventOf("RENAMED", "a", "1"))->empty());
  EXPECT_TRUE(ReadEvents(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"no uid"}}})")->empty());
  EXPECT_TRUE(ReadEvents("{}")->empty());
}

TEST(PodEventReader, WhatIsNoJson_SaysWhere) {
  EXPECT_THAT(ReadEvents(EventOf("ADDED", "a", "1") + "\n{]").error().message,
              AllOf(HasSubstr("parse a watch of pods: "), HasSubstr(", near byte 1")));
  EXPECT_THAT(ReadEvents(EventOf("ADDED", "a", "1") + "\n<html>").error().message,
              HasSubstr("parse a watch of pods: HTML, not JSON"));
}

TEST(PodEventReader, EventThatNeverEnds_IsAnError) {
  PodEventReader reader([](const PodEvent&) -> Status { return {}; });
  const std::string piece(64 << 10, 'x');
  ASSERT_TRUE(reader.Read(EventOf("ADDED", "a", "1")));
  ASSERT_TRUE(reader.Read(R"({"type":"ADDED","object":{"metadata":{"uid":"u","name":"p"},"spec":")"));
  Status read;
  uint64_t taken = 0;
  for (; read && taken <= 2 * kMaxEventBytes; taken += piece.size()) read = reader.Read(piece);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message,
              HasSubstr("parse a watch of pods: an event has more than 16777216 bytes, near byte"))
      << "the log takes what stands before the colon for the cause";
  EXPECT_LE(taken, kMaxEventBytes + 2 * piece.size());
}

TEST(PodEventReader, ContainersWithoutRoom_AreLeftOutAndCounted) {
  std::vector<PodEvent> events;
  PodEventReader reader(
      [&](PodEvent event) -> Status {
        events.push_back(std::move(event));
        return {};
      },
      {}, 4096);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(reader.Read(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"uid":"u","name":"p"},"status":{
      "containerStatuses":[)" +
                            Many(100, R"({"name":"c","containerID":"i"})") + "]}}}"));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].pod.containers.size() + events[0].left_out.containers, 100u);
  EXPECT_GT(events[0].left_out.containers, 70u);
  EXPECT_EQ(events[1].left_out, events[0].left_out) << "each event has the whole room";
}

TEST(PodEventReader, ErrorOfTheTaker_EndsIt) {
  int taken = 0;
  PodEventReader reader([&](const PodEvent&) -> Status {
    ++taken;
    return Fail(ErrorKind::kUnavailable, "enough");
  });
  EXPECT_EQ(reader.Read(EventOf("ADDED", "a", "1") + EventOf("ADDED", "a", "2")).error().message, "enough");
  EXPECT_EQ(taken, 1);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
