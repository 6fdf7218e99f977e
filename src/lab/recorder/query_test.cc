#include "lab/recorder/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "testing/scripted_peer.h"

namespace kepler::lab::recorder {
namespace {

using kepler::testing::ScriptedPeer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Reply {
  int status = 200;
  std::string body;
};

/// A Prometheus that knows the names of metrics, and answers each range as the test says.
class Prometheus {
 public:
  Prometheus(std::string names, std::function<Reply(const std::string& target)> range)
      : names_(std::move(names)),
        range_(std::move(range)),
        peer_([this](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
          const std::string target = head.substr(4, head.find(' ', 4) - 4);
          const bool is_range = target.contains("/query_range");
          if (is_range) {
            const std::scoped_lock lock(mutex_);
            ranges_.push_back(target);
          }
          const Reply reply =
              is_range ? range_(target) : Reply{.body = R"({"status":"success","data":[)" + names_ + "]}"};
          send("HTTP/1.1 " + std::to_string(reply.status) +
               " x\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body);
        }) {}

  Result<Queried> Ask(const Question& question) {
    http::retrying::Server server;
    server.peer = {.tls = false, .host = "127.0.0.1", .port = peer_.port()};
    server.prefix = "/prom";
    server.retries = 0;
    return Query(std::move(server), question, [](std::string_view) {});
  }
  std::vector<std::string> ranges() {
    const std::scoped_lock lock(mutex_);
    return ranges_;
  }

 private:
  const std::string names_;
  const std::function<Reply(const std::string&)> range_;
  std::mutex mutex_;
  std::vector<std::string> ranges_;
  ScriptedPeer peer_;  // keep last
};

Reply Series(const std::string& values) {
  return {.body =
              R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"node_name":"a"},"values":[)" +
              values + "]}]}}"};
}

constexpr char kKnown[] = R"("kepler_node_cpu_joules_total","kepler_node_cpu_watts","kepler_node_cpu_seconds_total")";
const Question kMinute{.range = {.begin = 1000, .end = 1060}};

std::string ComplaintOf(const Result<Queried>& got) { return got ? "" : got.error().message; }

TEST(Query, AsksForTheMetricsThatMatter_OfThatNodeAndLabels) {
  Prometheus server(kKnown, [](const std::string&) { return Series(R"([1000,"1"],[1005,"NaN"],[1010,"3"])"); });
  Question question = kMinute;
  question.node = "wo\"rker";
  question.match = {"job=~\"k.*\""};
  const auto got = server.Ask(question);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->names, dataset::MetricNames::kKepler);
  EXPECT_EQ(got->samples, 4u);
  EXPECT_EQ(got->recording.not_finite, 2u);
  EXPECT_EQ(got->queries, 2u);
  EXPECT_THAT(got->recording.metrics, SizeIs(2));
  EXPECT_THAT(
      server.ranges(),
      ElementsAre("/prom/api/v1/query_range?query=kepler_node_cpu_joules_total%7Bnode_name%3D%22wo%5C%22rker%22%"
                  "2Cjob%3D~%22k.%2A%22%7D&start=1000.000&end=1060.000&step=5.000",
                  HasSubstr("query=kepler_node_cpu_seconds_total%7B")));
}

TEST(Query, WarningsOfTheServer_AreKeptOnce) {
  const auto warned = [](const std::string& text) {
    Reply reply = Series(R"([1000,"1"])");
    return reply.body.insert(1, "\"warnings\":[\"" + text + "\"],"), reply;
  };
  Prometheus server(R"("kepler_node_cpu_joules_total","kepler_node_cpu_seconds_total"],"warnings":["no names of a)"
                    R"( shard"],"x":[)",
                    [&](const std::string& target) {
                      return warned(target.contains("joules") ? "no samples of a shard" : "no names of a shard");
                    });
  const auto got = server.Ask(kMinute);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->recording.warnings, ElementsAre("no names of a shard", "no samples of a shard"));
}

TEST(Query, VirtualMachine_OnlyItsEnergyAndTheTimesOfItsHost) {
  Prometheus server(R"("kepler_vm_cpu_joules_total","kepler_vm_cpu_watts","kepler_snapshot_timestamp_seconds",)"
                    R"("kepler_node_cpu_joules_total","kepler_node_cpu_seconds_total")",
                    [](const std::string&) { return Series(R"([1000,"1"])"); });
  Question question = kMinute;
  question.vms = {"web"};
  ASSERT_TRUE(server.Ask(question));
  const std::string energy =
      "kepler_vm_cpu_joules_total%7Bvm_name%3D%22web%22%7D%20or%20kepler_vm_cpu_joules_total%7Bvm_id%3D%22web%22%7D";
  const std::string times = "kepler_snapshot_timestamp_seconds%7B%7D%20and%20on%20%28node_name%29%20%28" + energy;
  EXPECT_THAT(server.ranges(), ElementsAre(HasSubstr("query=" + times), HasSubstr("query=" + energy)));
  question.node = "guest";
  ASSERT_TRUE(server.Ask(question));
  EXPECT_THAT(server.ranges(), Contains(HasSubstr("query=kepler_node_cpu_seconds_total%7Bnode_name%3D%22guest%22%7D")));
  EXPECT_THAT(server.ranges(), Not(Contains(HasSubstr("kepler_node_cpu_joules_total"))))
      << "what the guest estimates is no label";
  Prometheus none(kKnown, [](const std::string&) { return Series(R"([1000,"1"])"); });
  EXPECT_THAT(ComplaintOf(none.Ask(question)), HasSubstr("has no kepler_vm_cpu_joules_total in that time"));
}

TEST(Query, LegacyMetrics_HaveTheNodeInAnotherLabel) {
  Prometheus server(R"("kepler_node_package_joules_total","kepler_container_bpf_cpu_time_ms_total")",
                    [](const std::string&) { return Series(R"([1000,"1"])"); });
  Question question = kMinute;
  question.node = "w";
  ASSERT_TRUE(server.Ask(question));
  EXPECT_THAT(server.ranges(), Contains(HasSubstr("%7Binstance%3D%22w%22%7D")));
}

TEST(Query, MoreSamplesThanTheServerHasRoomFor_AreAskedForInPieces) {
  Prometheus server(kKnown, [](const std::string& target) {
    if (target.contains("start=0.000&end=")) return Reply{422, R"({"error":"query would load too many samples"})"};
    return Series(R"([1000,"1"])");
  });
  Question question = kMinute;
  question.range = {.begin = 0, .end = 10'999};
  question.step = 1;
  EXPECT_THAT(ComplaintOf(server.Ask(question)), HasSubstr("too many samples"));  // however short
  EXPECT_THAT(server.ranges(), AllOf(Contains(HasSubstr("start=0.000&end=10999.000&step=1")),
                                     Contains(HasSubstr("start=0.000&end=5499.000&step=1")),
                                     Contains(HasSubstr("start=0.000&end=2749.000&step=1"))));
}

TEST(Query, FewPoints_AreHalvedFromTheirOwnNumberOn) {
  Prometheus server(kKnown,
                    [](const std::string&) { return Reply{422, R"({"error":"query would load too many samples"})"}; });
  Question question = kMinute;
  question.range = {.begin = 0, .end = 199 * 5};
  EXPECT_THAT(ComplaintOf(server.Ask(question)), HasSubstr("too many samples"));
  EXPECT_THAT(server.ranges(), ElementsAre(HasSubstr("start=0.000&end=995.000&"), HasSubstr("start=0.000&end=495.000&"),
                                           HasSubstr("start=0.000&end=245.000&")));
}

TEST(Query, RefusedPiece_IsAskedForInHalvesThatHaveEachPointOnce) {
  Prometheus server(R"("kepler_node_cpu_joules_total","kepler_node_cpu_seconds_total")", [](const std::string& target) {
    if (target.contains("start=0.000&end=1000.000&"))
      return Reply{422, R"({"error":"query would load too many samples"})"};
    return Series(R"([1000,"1"])");
  });
  Question question = kMinute;
  question.range = {.begin = 0, .end = 1000};  // 201 points
  const auto got = server.Ask(question);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->queries, 6u);
  const auto ranges = server.ranges();
  ASSERT_THAT(ranges, SizeIs(6));
  EXPECT_THAT(ranges[1], HasSubstr("start=0.000&end=500.000&"));
  EXPECT_THAT(ranges[2], HasSubstr("start=505.000&end=1000.000&"));
}

TEST(Query, RecordingThatNobodyWillRead_EndsIt) {
  Prometheus server(kKnown, [](const std::string&) { return Series(R"([1000,"1"],[1005,"2"])"); });
  Question question = kMinute;
  question.max_bytes = 10;
  EXPECT_THAT(ComplaintOf(server.Ask(question)), HasSubstr("use a shorter time"));
  EXPECT_THAT(server.ranges(), SizeIs(1));
}

TEST(Query, NothingThere_IsSaid) {
  Prometheus other(R"("up")", [](const std::string&) { return Reply{}; });
  EXPECT_THAT(ComplaintOf(other.Ask(kMinute)), HasSubstr("has no metrics of Kepler in that time"));
  Prometheus empty(kKnown, [](const std::string&) {
    return Reply{.body = R"({"status":"success","data":{"resultType":"matrix","result":[]}})"};
  });
  EXPECT_THAT(ComplaintOf(empty.Ask(kMinute)), HasSubstr("no samples at that time"));
  Question question = kMinute;
  question.node = "x";
  EXPECT_THAT(ComplaintOf(empty.Ask(question)), HasSubstr("no samples at that time of that node"));
}

TEST(Query, AnswerThatIsNone_IsAnErrorThatNamesTheServer) {
  Prometheus broken(kKnown, [](const std::string&) { return Reply{.body = "<html>"}; });
  EXPECT_THAT(ComplaintOf(broken.Ask(kMinute)), HasSubstr("response of http://127.0.0.1:"));
  Prometheus nameless("7", [](const std::string&) { return Reply{}; });
  EXPECT_THAT(ComplaintOf(nameless.Ask(kMinute)), AllOf(HasSubstr("http://127.0.0.1:"), HasSubstr("data: ")));
  Prometheus refusing(kKnown, [](const std::string&) { return Reply{400, R"({"error":"bad matcher"})"}; });
  EXPECT_THAT(ComplaintOf(refusing.Ask(kMinute)), HasSubstr("answered 400: bad matcher"));
}

}  // namespace
}  // namespace kepler::lab::recorder
