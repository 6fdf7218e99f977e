#include "json/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/event_recorder_test_util.h"

namespace kepler::json {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kText = R"( {"a\u00e9b": [1, -2.50, "x\n\"y\""], "c": {"d": null, "e": [true, false]}} )";
constexpr std::string_view kSeen =
    "{;key a\u00e9b;[;number 1 1;number -2.5 -2.50;text x\n\"y\";];key c;{;key d;null;key e;[;true;false;];};};";

Status ReadAll(EventRecorder& recorder, std::string_view text, size_t piece, size_t max_text = SIZE_MAX) {
  Stream stream(recorder, max_text);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    KEPLER_CHECK_OK(stream.Read(text.substr(0, piece)));
  return stream.Finish();
}

TEST(JsonStream, MeetsTheSameInPiecesOfAnySize) {
  for (size_t piece = 1; piece <= kText.size(); ++piece) {
    EventRecorder recorder;
    const Status read = ReadAll(recorder, kText, piece);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(recorder.seen, kSeen) << piece;
  }
}

TEST(JsonStream, ANumberMayEndWithTheText) {
  EventRecorder recorder;
  ASSERT_TRUE(ReadAll(recorder, "12.5", 1));
  EXPECT_EQ(recorder.seen, "number 12.5 12.5;");
}

TEST(JsonStream, EveryPrefixIsIncomplete) {
  const std::string_view text = kText.substr(0, kText.size() - 1);
  for (size_t size = 0; size < text.size(); ++size) {
    EventRecorder recorder;
    EXPECT_FALSE(ReadAll(recorder, text.substr(0, size), SIZE_MAX)) << size;
  }
}

TEST(JsonStream, ErrorsNameTheByte) {
  const auto error_of = [](std::string_view text, size_t piece, size_t max_text = SIZE_MAX) {
    EventRecorder recorder;
    const Status read = ReadAll(recorder, text, piece, max_text);
    return read ? Error{ErrorKind::kIo, "no error"} : read.error();
  };
  EXPECT_THAT(error_of("[1, }", 2).message, HasSubstr("parse JSON, near byte 4: "));
  EXPECT_EQ(error_of("[1]  x", 2).message, "parse JSON: unexpected text after byte 5");
  EXPECT_EQ(error_of("[\"no\"]", 3).message, "parse JSON, near byte 4: not that");
  EXPECT_EQ(error_of("[\"no\"]", 3).kind, ErrorKind::kInvalid);
  EXPECT_EQ(error_of("<html>", 100).message, "HTML, not JSON; check the file or URL");
  EXPECT_EQ(error_of(R"({"abcd": 1})", 1, 3).kind, ErrorKind::kMalformed) << "a key longer than any text";
  EXPECT_EQ(error_of("{\"" + std::string(70'000, 'k') + "\": 1}", 1000).kind, ErrorKind::kMalformed);
}

TEST(JsonStream, ALongTextIsCut) {
  for (const size_t piece : {1U, 2U, 100U}) {
    EventRecorder recorder;
    ASSERT_TRUE(ReadAll(recorder, R"(["abcdef", "gh"])", piece, 3));
    EXPECT_EQ(recorder.seen, "[;text abc;text gh;];") << piece;
  }
}

TEST(JsonStream, ALongKeyIsCutWhereThatIsWanted) {
  for (const size_t piece : {1U, 2U, 100U}) {
    EventRecorder recorder;
    Stream stream(recorder, 3, Stream::LongKeys::kCut);
    std::string_view text = R"({"abcdef": 1})";
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
      ASSERT_TRUE(stream.Read(text.substr(0, piece)));
    EXPECT_EQ(recorder.seen, "{;key abc;number 1 1;};") << piece;
  }
}

TEST(JsonStream, ReadOne_StopsAtTheEndOfEachText) {
  for (const size_t piece : {1U, 3U, 100U}) {
    EventRecorder recorder;
    Stream stream(recorder);
    std::string_view rest = "{\"a\":1}\n[2] {}";
    while (!rest.empty()) {
      const auto read = stream.ReadOne(rest.substr(0, piece));
      ASSERT_TRUE(read) << read.error().message;
      rest.remove_prefix(*read);
      if (stream.AtEnd()) recorder.seen += '|';
    }
    EXPECT_EQ(recorder.seen, "{;key a;number 1 1;};|[;number 2 2;];|{;};|") << piece;
  }
}

TEST(JsonStream, ReadOne_CountsTheBytesOfEachText) {
  EventRecorder recorder;
  Stream stream(recorder);
  const std::string first = R"({"a": [1, 2, 3]})";
  ASSERT_EQ(stream.ReadOne(first).value(), first.size());
  const auto read = stream.ReadOne(R"({"a": x})");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("near byte 6:"));
}

}  // namespace
}  // namespace kepler::json
