#include "json/plain_object.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "json/event_recorder_test_util.h"
#include "json/stream.h"

namespace kepler::json {
namespace {

constexpr size_t kMaxPlainText = 20;

/// What Stream makes of one whole text. Empty: an error.
std::string ByStream(std::string_view text) {
  EventRecorder recorder(/*with_rough=*/false);
  Stream stream(recorder, kMaxPlainText, Stream::LongKeys::kCut);
  return stream.Read(text) && stream.Finish() ? recorder.seen : "";
}

TEST(PlainObject, MeetsTheSameAsAStream) {
  for (const std::string_view text :
       {R"({})", R"({"a":"b"})", R"({ "a" : "b" , "c" : 1.50 })",
        R"({"a":{"b":0.000001,"c":"12345678"},"d":{},"e":12345678901234567890})", "{\"a\":\"\x7F'\"}\r",
        R"({"1234567":"12345678","12345678":"123456789012345"})"}) {
    EventRecorder recorder(/*with_rough=*/false);
    ASSERT_TRUE(ReadPlainObject(text, kMaxPlainText, recorder)) << text;
    EXPECT_EQ(recorder.seen, ByStream(text)) << text;
  }
}

TEST(PlainObject, LeavesOtherTextsToAStream) {
  for (const std::string_view text : {"",
                                      "{",
                                      "1",
                                      "[]",
                                      R"({"a":[]})",
                                      R"({"a":true})",
                                      R"({"a":null})",
                                      R"({"a":-1})",
                                      R"({"a":1e5})",
                                      R"({"a":01})",
                                      R"({"a":1.})",
                                      R"({"a":.5})",
                                      R"({"a":"\n"})",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"é\"}",
                                      "{\"a\":\t1}",
                                      R"({"a":1}{)",
                                      R"({"a":1} )",
                                      R"({"a":1)",
                                      R"({"a" 1})",
                                      R"({"a":1,})",
                                      R"({,})",
                                      R"({"a"})",
                                      R"({a:1})",
                                      R"({"a":{"b":{}}})",
                                      R"({"a":"no"})",
                                      R"({"a":"123456789012345678901"})",
                                      R"({"123456789012345678901":1})",
                                      R"({"a":1234567890123456789012345678901})",
                                      R"({"a":"b)",
                                      R"({"a":"12345678)"}) {
    EventRecorder recorder(/*with_rough=*/false);
    EXPECT_FALSE(ReadPlainObject(text, kMaxPlainText, recorder)) << text;
  }
}

/// Bytes of a valid object are replaced, removed and repeated: what is read is what a stream reads.
TEST(PlainObject, NeverReadsWhatAStreamRefuses) {
  constexpr std::string_view kBytes = "{}[]\",:\\ .0123456789eE+-abcdefgh\r\n\t\x01\x7F\x80\xFF";
  std::mt19937 random(7);
  size_t read = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text = R"({"a":"12345678","b":{"package":1.25,"c d":0},"e":[],"f":7})";
    if (round % 2 == 0) text.erase(text.find(R"(,"e":[])"), 7);
    for (size_t changes = random() % 3; changes > 0 && !text.empty(); --changes) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.erase(at, random() % 3);
          break;
        default:
          text.insert(at, std::string(text, random() % text.size(), random() % 12));
      }
    }
    EventRecorder recorder(/*with_rough=*/false);
    if (!ReadPlainObject(text, kMaxPlainText, recorder)) continue;
    ++read;
    ASSERT_EQ(recorder.seen, ByStream(text)) << text;
  }
  EXPECT_GT(read, 10'000U);
}

}  // namespace
}  // namespace kepler::json
