#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace kepler::log {
namespace {

TEST(LogLimiter, SameCause_PassesOncePerPeriodAndCountsTheRest) {
  LogLimiter limiter(std::chrono::minutes(1));
  BootTime now{};
  EXPECT_TRUE(limiter.Ask("x", now).pass);
  EXPECT_FALSE(limiter.Ask("x", now + std::chrono::seconds(1)).pass);
  EXPECT_FALSE(limiter.Ask("x", now + std::chrono::seconds(59)).pass);
  EXPECT_TRUE(limiter.Ask("y", now).pass);
  const auto verdict = limiter.Ask("x", now + std::chrono::seconds(60));
  EXPECT_TRUE(verdict.pass);
  EXPECT_EQ(verdict.suppressed, 2u);
}

TEST(LogLimiter, LineThatMustPass_PassesWithinThePeriod_AndBeginsANewOne) {
  LogLimiter limiter(std::chrono::minutes(1));
  const auto at = [](int seconds) { return BootTime(std::chrono::seconds(seconds)); };
  EXPECT_TRUE(limiter.Ask("x", at(0), true).pass);
  EXPECT_FALSE(limiter.Ask("x", at(1)).pass);
  const auto verdict = limiter.Ask("x", at(30), true);
  EXPECT_TRUE(verdict.pass);
  EXPECT_EQ(verdict.suppressed, 1u);
  EXPECT_FALSE(limiter.Ask("x", at(61)).pass);
  EXPECT_EQ(limiter.Ask("x", at(90)).suppressed, 1u);
}

TEST(LogLimiter, Say_WritesWhatPassesAndHowManyDidNot) {
  LogLimiter limiter(std::chrono::minutes(1));
  const auto say = [&](std::chrono::seconds at) {
    limiter.Say(Level::kWarn, "x", BootTime(at), "no meter", {{"err", "gone"}});
  };
  ::testing::internal::CaptureStdout();
  Configure(Level::kInfo, Format::kText, Stream::kStdout);
  for (const int at : {1, 2, 3, 70}) say(std::chrono::seconds(at));
  limiter.Say(Level::kDebug, "y", BootTime{}, "hidden", {});
  const std::string lines = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  EXPECT_NE(lines.find("level=WARN source=src/base/log_test.cc:"), std::string::npos) << lines;
  EXPECT_NE(lines.find(" msg=\"no meter\" err=gone suppressed=0\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find(" msg=\"no meter\" err=gone suppressed=2\n"), std::string::npos) << lines;
}

TEST(Log, LevelOff_WritesNothing) {
  ::testing::internal::CaptureStdout();
  Configure(Level::kOff, Format::kText, Stream::kStdout);
  Error("no meter");
  LogLimiter().Say(Level::kError, "x", BootTime{}, "no meter", {});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  Configure(Level::kInfo, Format::kText, Stream::kStdout);
}

TEST(LogLimiter, EndlessCauses_StayBounded) {
  LogLimiter limiter;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(limiter.Ask("cause " + std::to_string(i), BootTime{}).pass);
  EXPECT_TRUE(limiter.Ask("cause 0", BootTime{}).pass) << "forgotten";
}

TEST(Log, TextLine_IsSlogShapedAndQuotesWhatNeedsIt) {
  ::testing::internal::CaptureStdout();
  Configure(Level::kInfo, Format::kText, Stream::kStdout);
  Warn("no meter", {{"path", "a b"}, {"reason", "say \"x\"\n"}});
  Info("plain", {{"a", "x/y"}, {"b", "k=v"}, {"c", "k\\v"}, {"d", ""}, {"e", "\u00E9"}});
  Debug("hidden");
  const std::string line = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(std::regex_search(line, std::regex("^time=20..-[01].-[0-3].T..:..:..\\.[0-9]{3}Z level="))) << line;
  EXPECT_NE(line.find(" level=WARN source=src/base/log_test.cc:"), std::string::npos) << line;
  EXPECT_NE(line.find(" msg=\"no meter\" path=\"a b\" reason=\"say \\\"x\\\"\\n\"\n"), std::string::npos) << line;
  EXPECT_NE(line.find(" msg=plain a=x/y b=\"k=v\" c=\"k\\\\v\" d=\"\" e=\u00E9\n"), std::string::npos) << line;
  EXPECT_EQ(line.find("hidden"), std::string::npos);
}

TEST(Log, JsonLine_IsOneObject) {
  ::testing::internal::CaptureStdout();
  Configure(Level::kDebug, Format::kJson, Stream::kStdout);
  Error("bad", {{"k", "v\"\x01"}});
  const std::string line = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(line.front(), '{');
  EXPECT_NE(line.find(R"("level":"ERROR")"), std::string::npos);
  EXPECT_NE(line.find("\"k\":\"v\\\"\\u0001\"}"), std::string::npos) << line;
}

TEST(Log, WhatATerminalObeys_IsEscaped) {
  for (const auto format : {Format::kText, Format::kJson}) {
    ::testing::internal::CaptureStdout();
    Configure(Level::kInfo, format, Stream::kStdout);
    Error("cannot read", {{"path", "a\u202E\u202C\xC2\x9B"}});
    const std::string line = ::testing::internal::GetCapturedStdout();
    EXPECT_NE(line.find("\"a\\u202e\\u202c\\u009b\""), std::string::npos) << line;
  }
}

TEST(Log, BytesThatAreNoUtf8_AreReplaced) {
  for (const auto format : {Format::kText, Format::kJson}) {
    ::testing::internal::CaptureStdout();
    Configure(Level::kInfo, format, Stream::kStdout);
    Error("cannot read", {{"path", "/a\xFF\u00E9"}});
    const std::string line = ::testing::internal::GetCapturedStdout();
    EXPECT_NE(line.find("\"/a\uFFFD\u00E9\""), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace kepler::log
