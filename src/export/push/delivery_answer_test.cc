#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/push/delivery_test_util.h"

namespace kepler::push {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(DeliveryTest, Refused_IsDroppedAndTheNextRequestFollows) {
  Open();
  delivery_->Add(Body("bad", 7));
  delivery_->Add(Body("good", 8));
  for (const std::string_view status : {"400 Bad Request", "500 Internal"}) {
    Answer("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 3\r\n\r\nwhy");
    static_cast<void>(Attempt());
  }
  EXPECT_EQ(Dropped(PushDrop::kRefused), 15U);
  EXPECT_EQ(Failures(PushFailure::kRefused), 1U);
  EXPECT_EQ(Failures(PushFailure::kServer), 1U);
  EXPECT_EQ(delivery_->next_attempt(), std::nullopt);
  EXPECT_EQ(delivery_->status().last_success, WallTime{});
}

TEST_F(DeliveryTest, Redirection_NamesItsTarget) {
  Open();
  AnswerStatus("308 Permanent Redirect\r\nLocation: https://new.example.com/push");
  delivery_->Add(Body("one", 10));
  ::testing::internal::CaptureStdout();
  static_cast<void>(Attempt());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("answered 308: redirects to https://new.example.com/push; set that URL"));
}

TEST_F(DeliveryTest, AnswerWithoutABody_IsItsStatus) {
  Open();
  AnswerStatus("500 Internal");
  delivery_->Add(Body("one", 10));
  ::testing::internal::CaptureStdout();
  static_cast<void>(Attempt());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("answered 500\""));
}

TEST_F(DeliveryTest, PartialSuccess_CountsOnlyTheRejectedPoints) {
  target_.read_receipt = [](std::string_view answer) -> Result<Receipt> {
    return Receipt{.rejected_points = answer == "ok" ? 3U : 0U, .message = "too old"};
  };
  Open();
  delivery_->Add(Body("one", 10));
  EXPECT_EQ(Attempt(), std::nullopt) << "never sent twice";
  EXPECT_EQ(Dropped(PushDrop::kPartial), 3U);
  EXPECT_EQ(delivery_->status().points, 7U);
  EXPECT_EQ(Failures(PushFailure::kPartial), 1U);
  delivery_->Add(Body("two", 2));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(Dropped(PushDrop::kPartial), 5U) << "no more than the request had";
}

TEST_F(DeliveryTest, WrittenHeader_CountsWhatTheServerDidNotStore) {
  target_.written_header = "X-Samples-Written";
  target_.unsupported_hint = "set version 1: ";
  Open();
  struct Case {
    std::string_view answer;
    uint64_t points, partial, refused;  // in total
  };
  for (const Case& wanted :
       {Case{"204 No Content\r\nX-Samples-Written: 10", 10, 0, 0}, Case{"200 OK\r\nx-samples-written: 7", 17, 3, 0},
        Case{"200 OK\r\nX-Samples-Written: 11", 27, 3, 0}, Case{"200 OK\r\nX-Other: 10", 27, 13, 0},
        Case{"200 OK\r\nX-Samples-Written: 1e1", 27, 23, 0}, Case{"200 OK\r\nX-Samples-Written: -1", 27, 33, 0},
        Case{"400 Bad Request\r\nX-Samples-Written: 4", 31, 33, 6},
        Case{"400 Bad Request\r\nX-Samples-Written: many", 31, 33, 16},
        Case{"415 Unsupported Media Type", 31, 33, 26}}) {
    AnswerStatus(wanted.answer);
    delivery_->Add(Body("one", 10));
    EXPECT_EQ(Attempt(), std::nullopt) << wanted.answer;
    EXPECT_EQ(delivery_->status().points, wanted.points) << wanted.answer;
    EXPECT_EQ(Dropped(PushDrop::kPartial), wanted.partial) << wanted.answer;
    EXPECT_EQ(Dropped(PushDrop::kRefused), wanted.refused) << wanted.answer;
  }
}

TEST_F(DeliveryTest, UnknownProtocol_IsLoggedWithTheHint) {
  target_.written_header = "X-Samples-Written";
  target_.unsupported_hint = "set version 1: ";
  for (const std::string_view answer : {"415 Unsupported Media Type", "204 No Content"}) {
    Open();
    AnswerStatus(answer);
    delivery_->Add(Body("one"));
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(Attempt(), std::nullopt);
    EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("set version 1: ")) << answer;
  }
}

TEST_F(DeliveryTest, UnreadableLongAndEndlessAnswers_AreAcceptedOnce) {
  target_.read_receipt = [](std::string_view) -> Result<Receipt> { return Fail(ErrorKind::kMalformed, "no protobuf"); };
  Open();
  for (const std::string& answer :
       {std::string(kOk), "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + std::string(10'000'000, 'x'),
        std::string("HTTP/1.1 200 OK\r\n\r\n...")}) {
    Answer(answer);
    delivery_->Add(Body("one"));
    EXPECT_EQ(Attempt(), std::nullopt);
  }
  EXPECT_EQ(Failures(PushFailure::kAnswer), 3U);
  EXPECT_EQ(delivery_->status().points, 3U);
  EXPECT_THAT(Received(), ElementsAre("one", "one", "one"));
}

TEST_F(DeliveryTest, EndlessRefusal_IsRefused) {
  Open();
  Answer("HTTP/1.1 400 Bad Request\r\n\r\n...");
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 1U);
}

}  // namespace
}  // namespace kepler::push
