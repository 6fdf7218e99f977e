#include "export/remote_write/write_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "export/remote_write/decoded_series_test_util.h"

namespace kepler::remote_write {
namespace {

using ::testing::ElementsAre;

constexpr series::Family kJoules = {
    .name = "a_joules_total", .help = "Energy", .labels = {}, .rows = nullptr, .unit = "joules"};
constexpr std::array<Label, 2> kLabels = {{{"__name__", "a_joules_total"}, {"job", "kepler"}}};

std::string Snappy(const std::string& plain) {
  std::string body;
  snappy::Compress(plain.data(), plain.size(), &body);
  return body;
}

class WriteMessageTest : public ::testing::TestWithParam<Version> {
 protected:
  void AddTwo() {
    message_->BeginFamily(kJoules);
    message_->BeginRow(kLabels);
    message_->Add("dram", {.value = 1.5, .time = 7'000, .start = 3'000});
    message_->Add("", {.value = 0, .time = 7'000});
  }
  const std::unique_ptr<WriteMessage> message_ = MakeWriteMessage(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Versions, WriteMessageTest, ::testing::Values(Version::k1, Version::k2));

TEST_P(WriteMessageTest, SeriesAndMetadata_AreReadBack) {
  EXPECT_EQ(message_->size(), 0U);
  AddTwo();
  const size_t size = message_->size();
  const std::string plain(message_->Finish());
  EXPECT_EQ(plain.size(), size);
  const Decoded decoded = Decode(Snappy(plain), GetParam());
  EXPECT_THAT(decoded.series,
              ElementsAre(GetParam() == Version::k2 ? "a_joules_total{job=kepler zone=dram} 1.5 @7000 start=3000"
                                                    : "a_joules_total{job=kepler zone=dram} 1.5 @7000 start=0",
                          "a_joules_total{job=kepler} 0 @7000 start=0"));
  EXPECT_EQ(decoded.metadata.at("a_joules_total"), "type=1 help=Energy unit=joules");
}

TEST_P(WriteMessageTest, AfterClear_TheNextMessageIsComplete) {
  AddTwo();
  const std::string first(message_->Finish());
  message_->Clear();
  EXPECT_EQ(message_->size(), 0U);
  AddTwo();
  EXPECT_EQ(message_->Finish(), first);
}

TEST(WriteMessageV2, Symbols_AreFirstAndUnique) {
  const auto message = MakeWriteMessage(Version::k2);
  message->BeginFamily(kJoules);
  for (int i = 0; i < 2; ++i) {
    message->BeginRow(kLabels);
    message->Add("kepler", {.value = 1, .time = 2});
  }
  const std::string plain(message->Finish());
  EXPECT_EQ(plain.substr(0, 4), std::string("\x22\x00\x22\x06", 4)) << "the empty symbol, then Energy";
  EXPECT_THAT(WireMessage(plain).Texts(4),
              ElementsAre("", "Energy", "joules", "__name__", "a_joules_total", "job", "kepler", "zone"));
}

}  // namespace
}  // namespace kepler::remote_write
