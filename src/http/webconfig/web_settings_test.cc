#include "http/webconfig/web_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::http::webconfig {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using SteadyTime = WebSettings::SteadyTime;

constexpr auto kPeriod = 1s;
constexpr const char* kAlice =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
constexpr const char* kAliceAndBob =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
    "  bob: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n";
constexpr const char* kAliceAndMore =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n# more\n";

class WebSettingsTest : public ::testing::Test {
 protected:
  WebSettingsTest() {
    tree_.Write("web.yml", kAlice);
    settings_ = WebSettings::Create(tree_.Path("web.yml"), kPeriod).value();
  }
  /// A size that differs tells the two apart, whatever the clock of the kernel says.
  void Write(const std::string& text) { tree_.Write("web.yml", text); }
  [[nodiscard]] size_t users() const { return settings_->current()->config.users.size(); }

  kepler::testing::FakeTree tree_;
  std::unique_ptr<WebSettings> settings_;
  SteadyTime now_{1h};
};

TEST_F(WebSettingsTest, NothingChanged_StaysAsItIs) {
  const auto before = settings_->current();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(settings_->Check(now_ += kPeriod));
  EXPECT_EQ(settings_->current(), before);
}

TEST_F(WebSettingsTest, Change_CountsAtTheSecondCheck) {
  Write(kAliceAndBob);
  EXPECT_FALSE(settings_->Check(now_));
  EXPECT_FALSE(settings_->Check(now_ + kPeriod / 2));  // too early: no check at all
  EXPECT_EQ(users(), 1u);
  EXPECT_TRUE(settings_->Check(now_ + kPeriod));
  EXPECT_EQ(users(), 2u);
}

TEST_F(WebSettingsTest, FileThatChangesBetweenTheChecks_IsReadOnceMore) {
  Write(kAliceAndBob);
  EXPECT_FALSE(settings_->Check(now_));
  Write(kAliceAndMore);
  EXPECT_FALSE(settings_->Check(now_ += kPeriod));
  EXPECT_EQ(users(), 1u);
  EXPECT_TRUE(settings_->Check(now_ += kPeriod));
}

TEST_F(WebSettingsTest, Reload_IsAFirstCheckHoweverOftenItIsAsked) {
  Write(kAliceAndBob);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(settings_->Reload(now_));
  EXPECT_EQ(users(), 1u);
  EXPECT_FALSE(settings_->Check(now_ + kPeriod / 2));
  EXPECT_EQ(users(), 1u);
  EXPECT_TRUE(settings_->Check(now_ + 2 * kPeriod));
  EXPECT_EQ(users(), 2u);
}

TEST_F(WebSettingsTest, Reload_OfTheSameFileSucceedsAtOnce) {
  const WallTime before = settings_->reload().last_success;
  EXPECT_TRUE(settings_->Reload(now_));
  EXPECT_TRUE(settings_->reload().successful);
  EXPECT_GE(settings_->reload().last_success, before);
  EXPECT_FALSE(settings_->Check(now_ + kPeriod));
}

TEST_F(WebSettingsTest, FailureAndCorrection_ShowInTheOutcome) {
  const auto before = settings_->current();
  tree_.Remove("web.yml");
  EXPECT_THAT(settings_->Reload(now_).error().message, HasSubstr("web.yml"));
  EXPECT_FALSE(settings_->reload().successful);
  EXPECT_EQ(settings_->current(), before);
  Write(kAlice);
  EXPECT_FALSE(settings_->Check(now_ += kPeriod));
  EXPECT_FALSE(settings_->reload().successful);
  EXPECT_FALSE(settings_->Check(now_ += kPeriod));  // what is in force is what was
  EXPECT_TRUE(settings_->reload().successful);
}

TEST(WebSettings, WithoutAFile_NothingIsChecked) {
  const auto settings = WebSettings::Create("", kPeriod).value();
  EXPECT_FALSE(settings->has_file());
  EXPECT_FALSE(settings->Check(SteadyTime{1h}));
  EXPECT_TRUE(settings->Reload(SteadyTime{1h}));
  EXPECT_TRUE(settings->reload().successful);
  EXPECT_GT(settings->reload().last_success, WallTime());
}

}  // namespace
}  // namespace kepler::http::webconfig
