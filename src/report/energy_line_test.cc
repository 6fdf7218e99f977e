#include "report/energy_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(LineReader, Node) {
  LineReader reader;
  const auto line = reader.Read(
      R"({"version":1,"time":"2023-11-14T22:13:20.250Z","node":"n1","level":"node","zone":"package","path":"p",)"
      R"("start":"2023-11-14T00:00:00.000Z","joules":9007199254.740993,"active_joules":1.000001,"idle_joules":2,"watts":2.5})");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ((*line)->time.time_since_epoch().count(), 1'700'000'000'250);
  EXPECT_EQ((*line)->node, "n1");
  EXPECT_EQ((*line)->start, "2023-11-14T00:00:00.000Z");
  EXPECT_THAT((*line)->joules, ElementsAre(Pair("package", Energy::Microjoules(9'007'199'254'740'993))));
  EXPECT_EQ((*line)->active, Energy::Microjoules(1'000'001));
  EXPECT_EQ((*line)->idle, Energy::Joules(2));
  EXPECT_TRUE((*line)->is_divided);
}

TEST(LineReader, WorkloadWithZones) {
  LineReader reader;
  const auto line = reader.Read(
      R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n1","level":"pod","pod_id":"u","pod_name":"we\"b","state":"running",)"
      R"("cpu_seconds":1.5,"joules":{"package":0.000001,"dram":3.5},"idle_joules":{"package":7},"watts":{"package":1}})");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ((*line)->Text("pod_name"), "we\"b");
  EXPECT_EQ((*line)->Text("missing"), "");
  EXPECT_THAT((*line)->joules,
              ElementsAre(Pair("package", Energy::Microjoules(1)), Pair("dram", Energy::Microjoules(3'500'000))));
}

TEST(LineReader, User) {
  LineReader reader;
  const auto line = reader.Read(
      R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n1","level":"user","uid":4294967294,"user":"a","joules":{}})");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ((*line)->Text("uid"), "4294967294");
  EXPECT_EQ((*line)->Text("user"), "a");
}

TEST(LineReader, AnythingElse_IsRefusedAndTheNextLineIsRead) {
  LineReader reader;
  constexpr std::string_view kGood =
      R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n","level":"unattributed","joules":{}})";
  for (const std::string_view bad :
       {R"()", R"({)", R"([1])", R"(text)", R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n"})",
        R"({"version":1,"time":"yesterday","node":"n","level":"pod"})",
        R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod","joules":{"package":1e13}})",
        R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod","joules":{"package":0.0000001}})",
        R"({"version":1,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod"} {"version":1})",
        R"({"time":"2023-11-14T22:13:20Z","node":"n","level":"pod"})"}) {
    const auto line = reader.Read(bad);
    ASSERT_FALSE(line) << bad;
    EXPECT_FALSE(line.error().message.empty());
    EXPECT_TRUE(reader.Read(kGood)) << "after " << bad;
  }
  for (size_t size = 0; size < kGood.size(); ++size) EXPECT_FALSE(reader.Read(kGood.substr(0, size))) << size;
  const auto newer = reader.Read(R"({"version":2,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod"})");
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().message, HasSubstr("version 2"));
  EXPECT_TRUE(reader.Read(R"({"version":1.0,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod"})"));
  const auto between = reader.Read(R"({"version":1.5,"time":"2023-11-14T22:13:20Z","node":"n","level":"pod"})");
  ASSERT_FALSE(between);
  EXPECT_THAT(between.error().message, HasSubstr("version 1.5"));
}

TEST(ReadJoules, ExactOrRefused) {
  EXPECT_EQ(ReadJoules("0"), Energy());
  EXPECT_EQ(ReadJoules("999999999999.999999"), Energy::Microjoules(999'999'999'999'999'999));
  for (const std::string_view bad : {"", "-", ".5", "1.", "-1.5", "1.0000001", "--1", "1000000000001", "nan", "1.-5"})
    EXPECT_FALSE(ReadJoules(bad)) << bad;
}

/// jq and Python write small numbers like this. 8.2e-05 * 1e6 is not 82 in doubles.
TEST(ReadJoules, ExponentsMoveThePoint) {
  EXPECT_EQ(ReadJoules("8.2e-05"), Energy::Microjoules(82));
  EXPECT_EQ(ReadJoules("1E-6"), Energy::Microjoules(1));
  EXPECT_EQ(ReadJoules("9.007199254740993e+9"), Energy::Microjoules(9'007'199'254'740'993));
  EXPECT_EQ(ReadJoules("100000e-11"), Energy::Microjoules(1));
  EXPECT_EQ(ReadJoules("1e12"), Energy::Joules(1'000'000'000'000));
  EXPECT_EQ(ReadJoules("0.00e-300"), Energy());
  EXPECT_EQ(ReadJoules("1.0000000000"), Energy::Joules(1));
  for (const std::string_view bad : {"1e-7", "1.5e-6", "1e13", "1.1e12", "1e", "e5", "1.e5", "1e+-5", "1e5.5", "1e5e5",
                                     "1e99999999999", "1e-2147483648", "12345678901234567890e0"})
    EXPECT_FALSE(ReadJoules(bad)) << bad;
}

}  // namespace
}  // namespace kepler::report
