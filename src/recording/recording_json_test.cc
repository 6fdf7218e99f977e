#include "recording/recording_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kepler::recording {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kFile =
    R"({"a_total": [{"metric": {"__name__": "a_total", "zone": "dram", "node": "n"},
                     "values": [[1700000000.5, "1e+03"], [1700000005.5, "1001.5"]]},
                    {"metric": {}, "values": []}],
        "b_total": []})";

Result<Recording> ReadAnswer(std::string_view text) {
  RecordingReader reader(JsonLayout::kAnswer);
  KEPLER_CHECK_OK(reader.Read(text));
  return reader.Finish();
}
std::string ErrorOfText(std::string_view text) {
  const auto read = ReadRecordingJson(text);
  return read ? "no error" : read.error().message;
}

TEST(RecordingJson, File_IsRead) {
  const auto recording = ReadRecordingJson(kFile);
  ASSERT_TRUE(recording) << recording.error().message;
  ASSERT_EQ(recording->metrics.size(), 2U);
  const Series& series = recording->metrics.at("a_total")[0];
  EXPECT_THAT(series.labels, ElementsAre(Pair("node", "n"), Pair("zone", "dram")));
  EXPECT_THAT(series.samples, ElementsAre(Sample{1700000000.5, 1000}, Sample{1700000005.5, 1001.5}));
  EXPECT_EQ(recording->metrics.at("a_total").size(), 2U);
  EXPECT_EQ(CountSamples(*recording), 2U);
  EXPECT_EQ(CountSeries(*recording), 2U);
}

TEST(RecordingJson, Written_IsReadBack) {
  const auto recording = ReadRecordingJson(kFile);
  ASSERT_TRUE(recording);
  const auto again = ReadRecordingJson(WriteRecordingJson(*recording));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *recording);
}

TEST(RecordingJson, BytesOneByOne_GiveTheSame) {
  RecordingReader reader(JsonLayout::kRecording);
  for (const char c : kFile) ASSERT_TRUE(reader.Read(std::string_view(&c, 1)));
  const auto pieces = reader.Finish();
  const auto whole = ReadRecordingJson(kFile);
  ASSERT_TRUE(pieces && whole);
  EXPECT_EQ(*pieces, *whole);
}

TEST(RecordingJson, NotFinite_IsCounted) {
  const auto recording =
      ReadRecordingJson(R"({"a": [{"metric": {}, "values": [[1, "NaN"], [2, "+Inf"], [3, "-Inf"], [4, "5"]]}]})");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->not_finite, 3U);
  EXPECT_THAT(recording->metrics.at("a")[0].samples, ElementsAre(Sample{4, 5}));
}

TEST(RecordingJson, Answer_IsOneListOfSeries) {
  const auto recording = ReadAnswer(
      R"({"status":"success","warnings":["some"],"data":{"resultType":"matrix","result":[
          {"metric":{"__name__":"a"},"values":[[1,"2"]],"histograms":[[1,{"count":"1"}]]}]}})");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_THAT(recording->metrics.at("a")[0].samples, ElementsAre(Sample{1, 2}));
  EXPECT_THAT(recording->warnings, ElementsAre("some"));
}

TEST(RecordingJson, Answer_SeriesGoToTheirMetrics) {
  const auto recording = ReadAnswer(
      R"({"data":{"result":[{"metric":{"z":"1","__name__":"b"},"values":[[1,"2"]]},
          {"metric":{"__name__":"a","z":"1"},"values":[[1,"3"]]},{"metric":{},"values":[[1,"4"]]}]}})");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->metrics.size(), 3U);
  EXPECT_THAT(recording->metrics.at("a")[0].samples, ElementsAre(Sample{1, 3}));
  EXPECT_THAT(recording->metrics.at("b")[0].labels, ElementsAre(Pair("z", "1")));
  EXPECT_THAT(recording->metrics.at("")[0].samples, ElementsAre(Sample{1, 4}));
}

TEST(RecordingJson, Answer_HasAtMostTheSamplesThatTheCallerAllows) {
  RecordingReader reader(JsonLayout::kAnswer, 2);
  const Status read = reader.Read(R"({"data":{"result":[{"metric":{},"values":[[1,"2"],[2,"2"],[3,"2"]]}]}})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(read.error().message, HasSubstr("more than 2 samples"));
}

TEST(RecordingJson, AnswerWithoutResult_IsRefused) {
  const auto read = ReadAnswer(R"({"status":"success"})");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("data.result is missing"));
}

TEST(RecordingJson, EachPrefix_IsRefused) {
  for (size_t size = 0; size < kFile.size(); ++size) EXPECT_FALSE(ReadRecordingJson(kFile.substr(0, size))) << size;
}

TEST(RecordingJson, OtherShapes_AreRefused) {
  EXPECT_THAT(ErrorOfText("[]"), HasSubstr("a recording must be an object of metrics"));
  EXPECT_THAT(ErrorOfText("5"), HasSubstr("a recording must be an object of metrics"));
  EXPECT_THAT(ErrorOfText(R"({"status":"success","data":{}})"), HasSubstr("this is a response of Prometheus"));
  EXPECT_THAT(ErrorOfText(R"({"a":{}})"), HasSubstr("\"a\" is not a list of series"));
  EXPECT_THAT(ErrorOfText(R"({"a":[5]})"), HasSubstr("a series must be an object"));
  EXPECT_THAT(ErrorOfText(R"({"a":[[]]})"), HasSubstr("a series must be an object"));
  EXPECT_THAT(ErrorOfText(R"({"a":[{"metric":{}}]})"), HasSubstr("has no \"values\""));
  EXPECT_THAT(ErrorOfText(R"({"a":[{"metric":{},"value":[1,"2"]}]})"), HasSubstr("has no \"values\""));
  for (const std::string_view values : {"5", R"("x")", "{}", "[5]", R"(["x"])", "[{}]", "[[]]", "[[1]]",
                                        "[[1,\"2\",3]]", "[[\"1\",\"2\"]]", "[[1,null]]", "[[1,[2]]]", "[[[1],2]]"})
    EXPECT_THAT(ErrorOfText(fmt::format(R"({{"a":[{{"values":{}}}]}})", values)),
                HasSubstr("[unix seconds, \"number\"]"))
        << values;
  EXPECT_THAT(ErrorOfText(R"({"a":[{"values":[[1,"2x"]]}]})"), HasSubstr("\"2x\" is not a number"));
  EXPECT_THAT(ErrorOfText(R"({"a":[{"values":[[-1,"2"]]}]})"), HasSubstr("-1 is not a Unix time"));
  EXPECT_THAT(ErrorOfText(R"({"a":[{"metric":{"x":5},"values":[]}]})"), HasSubstr("must be names and texts"));
  EXPECT_THAT(ErrorOfText(R"({"a":[]} x)"), HasSubstr("unexpected text after byte"));
}

TEST(Recording, Append_ContinuesSeries) {
  auto one = ReadRecordingJson(R"({"a":[{"metric":{"n":"1"},"values":[[1,"1"]]}]})");
  auto two = ReadRecordingJson(
      R"({"a":[{"metric":{"n":"2"},"values":[[1,"7"]]},{"metric":{"n":"1"},"values":[[2,"2"],[3,"NaN"]]}]})");
  ASSERT_TRUE(one && two);
  Append(*one, *std::move(two));
  ASSERT_EQ(CountSeries(*one), 2U);
  EXPECT_THAT(one->metrics.at("a")[0].samples, ElementsAre(Sample{1, 1}, Sample{2, 2}));
  EXPECT_EQ(one->not_finite, 1U);
}

}  // namespace
}  // namespace kepler::recording
