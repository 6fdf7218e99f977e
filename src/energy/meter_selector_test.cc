#include "energy/meter_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class MeterSelectorTest : public ::testing::Test {
 protected:
  Script& Add(const std::string& name, uint64_t counter) {
    Script& script = scripts_.emplace_back();
    script.name = name;
    script.Add({"package", "/" + name, "package", {}, {}, {}}, RawCounter{counter});
    return script;
  }
  MeterSelector Make() {
    std::vector<std::unique_ptr<EnergySource>> sources;
    std::unique_ptr<EstimateSource> estimate;
    for (Script& script : scripts_) {
      if (script.authority == Authority::kEstimated)
        estimate = std::make_unique<ScriptedEstimate>(script, clock_);
      else
        sources.push_back(std::make_unique<ScriptedSource>(script, clock_));
    }
    return MeterSelector(std::move(sources), std::move(estimate), clock_);
  }
  MeterSelector MakeOpen() {
    MeterSelector selector = Make();
    EXPECT_TRUE(selector.Open());
    return selector;
  }
  void Scan(MeterSelector& selector) {
    clock_.Advance(5s);
    selector.Sample();
  }

  testing::FakeClock clock_;
  std::deque<Script> scripts_;
};

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

void Move(Script& script) { std::get<RawCounter>(script.values[0]).microjoules += 1'000'000; }

TEST_F(MeterSelectorTest, Open_FirstWorks_LaterOnesAreNotTouched) {
  Add("rapl", 1);
  Script& second = Add("model", 1);
  MeterSelector selector = MakeOpen();
  Scan(selector);
  EXPECT_EQ(selector.current().status().name, "rapl");
  EXPECT_EQ(second.discoveries, 0);
  EXPECT_EQ(selector.status().size(), 1u);
}

TEST_F(MeterSelectorTest, Open_FirstFails_TheNextIsUsedAndTheReasonKept) {
  Add("rapl", 1).discover_error = Error{ErrorKind::kNotFound, "list /s/class/powercap: No such file or directory"};
  Add("hwmon", 1);
  MeterSelector selector = MakeOpen();
  EXPECT_EQ(selector.current().status().name, "hwmon");
  ASSERT_EQ(selector.failures().size(), 1u);
  EXPECT_EQ(selector.failures()[0].source, "rapl");
  EXPECT_THAT(selector.failures()[0].reason, HasSubstr("/s/class/powercap"));
  EXPECT_EQ(selector.FailureText(), "rapl: list /s/class/powercap: No such file or directory");
  ASSERT_EQ(selector.status().size(), 2u);
  EXPECT_FALSE(selector.status()[0].up);
}

TEST_F(MeterSelectorTest, Open_NoneWorks_ErrorNamesEveryReason) {
  Add("rapl", 1).discover_error = Error{ErrorKind::kNotFound, "no powercap"};
  Add("hwmon", 1).discover_error = Error{ErrorKind::kNotFound, "no hwmon"};
  MeterSelector selector = Make();
  const Status status = selector.Open();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("rapl: no powercap; hwmon: no hwmon"));
}

TEST_F(MeterSelectorTest, Open_NoSources_Fails) {
  MeterSelector selector = Make();
  EXPECT_FALSE(selector.Open());
}

TEST_F(MeterSelectorTest, Sample_ChosenStandsStillWhileAnotherMoves_Switches) {
  Add("rapl", 0);
  Script& model = Add("model", 0);
  MeterSelector selector = MakeOpen();
  for (int i = 0; i < 3; ++i) {
    Scan(selector);
    Move(model);
    EXPECT_EQ(selector.current().status().name, "rapl") << "sample " << i;
  }
  Scan(selector);
  EXPECT_EQ(selector.current().status().name, "model");
  EXPECT_EQ(selector.current().deltas()[0].energy, Energy::Joules(1)) << "of the same interval";
  EXPECT_EQ(selector.failures().back().source, "rapl");
}

TEST_F(MeterSelectorTest, Sample_FallbackThatCannotBeOpened_IsNamedOnceWithTheReason) {
  Add("rapl", 0);
  Add("hwmon", 1).discover_error = Error{ErrorKind::kPermission, "open /s/class/hwmon: Permission denied"};
  MeterSelector selector = MakeOpen();
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i) Scan(selector);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(
      text,
      HasSubstr("failed to open a fallback energy meter\" meter=hwmon err=\"open /s/class/hwmon: Permission denied"));
  EXPECT_EQ(text.find("failed to open a fallback"), text.rfind("failed to open a fallback"));
}

TEST_F(MeterSelectorTest, Sample_OnlyAModelMoves_MeterHasAMinuteToProveItself) {
  Add("rapl", 0);
  Script& model = Add("model", 0);
  model.authority = Authority::kEstimated;
  MeterSelector selector = MakeOpen();
  for (int i = 0; i <= 11; ++i) {  // the first scan starts the minute
    Scan(selector);
    Move(model);
    EXPECT_EQ(selector.current().status().name, "rapl") << "sample " << i;
  }
  Scan(selector);
  EXPECT_EQ(selector.current().status().name, "model");
}

TEST_F(MeterSelectorTest, Sample_StandsStill_OtherMetersAreAnnouncedOnlyOnceUsed) {
  Add("rapl", 0);
  Script& model = Add("model", 0);
  model.domains[0].note = "estimated, not measured";
  model.authority = Authority::kEstimated;
  ::testing::internal::CaptureStdout();
  MeterSelector selector = MakeOpen();
  for (int i = 0; i <= 11; ++i) {
    Scan(selector);
    Move(model);
  }
  const std::string before = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(before, HasSubstr("meter=rapl zone=package"));
  EXPECT_THAT(before, Not(HasSubstr("model")));
  ::testing::internal::CaptureStdout();
  Scan(selector);
  ASSERT_EQ(selector.current().status().name, "model");
  const std::string after = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(after, HasSubstr("meter=model zone=package"));
  EXPECT_THAT(after, HasSubstr("estimated, not measured"));
}

TEST_F(MeterSelectorTest, Sample_NothingMoves_StaysWithTheChosen) {
  Add("rapl", 0);
  Add("hwmon", 0);
  MeterSelector selector = MakeOpen();
  for (int i = 0; i < 20; ++i) Scan(selector);
  EXPECT_EQ(selector.current().status().name, "rapl");
}

TEST_F(MeterSelectorTest, Sample_ChosenMovedOnceAndFroze_IsKept) {
  Script& rapl = Add("rapl", 0);
  Script& model = Add("model", 0);
  MeterSelector selector = MakeOpen();
  Scan(selector);
  Move(rapl);
  for (int i = 0; i < 20; ++i) {
    Scan(selector);
    Move(model);
  }
  EXPECT_EQ(selector.current().status().name, "rapl");
}

TEST_F(MeterSelectorTest, Sample_DeadMeterAndBrokenFallback_TakesTheThird) {
  Add("rapl", 0);
  Add("hwmon", 0).discover_error = Error{ErrorKind::kNotFound, "none"};
  Script& model = Add("model", 0);
  MeterSelector selector = MakeOpen();
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 6; ++i) {
    Scan(selector);
    Move(model);
  }
  EXPECT_EQ(selector.current().status().name, "model");
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(log.find("hwmon: none; rapl: its counters never advanced"), std::string::npos) << log;
}

TEST_F(MeterSelectorTest, Estimate_BetterOneCanBeReadLater_IsNamedOnceButNotTaken) {
  Script& rapl = Add("rapl", 1);
  rapl.discover_error = Error{ErrorKind::kNotFound, "no powercap"};
  Script& model = Add("model", 1);
  model.authority = Authority::kEstimated;
  MeterSelector selector = MakeOpen();
  const auto scan = [&] {
    Scan(selector);
    Move(model);
  };
  for (int i = 0; i < 11; ++i) scan();
  EXPECT_EQ(rapl.discoveries, 1);
  scan();
  EXPECT_EQ(rapl.discoveries, 2) << "a minute later";
  EXPECT_EQ(selector.failures().size(), 1u);
  EXPECT_FALSE(selector.status()[0].up);

  rapl.discover_error.reset();
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 40; ++i) scan();
  const std::string log = ::testing::internal::GetCapturedStdout();
  const std::string said = "a better meter is available now; restart the agent to use it";
  const size_t at = log.find(said);
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(log.substr(at), HasSubstr("meter=rapl"));
  EXPECT_EQ(log.find(said, at + 1), std::string::npos);
  EXPECT_EQ(rapl.discoveries, 3);
  EXPECT_EQ(selector.current().status().name, "model");
  ASSERT_EQ(selector.status().size(), 2u);
  EXPECT_TRUE(selector.status()[0].up);
  EXPECT_TRUE(selector.status()[0].restart_needed);
  EXPECT_FALSE(selector.status()[1].restart_needed);
}

TEST_F(MeterSelectorTest, RealMeter_BetterOneCanBeReadLater_IsNamedOnceButNotTaken) {
  Script& rapl = Add("rapl", 1);
  rapl.discover_error = Error{ErrorKind::kNotFound, "no powercap"};
  Script& hwmon = Add("hwmon", 1);
  Script& model = Add("model", 1);
  MeterSelector selector = MakeOpen();
  ::testing::internal::CaptureStdout();
  const auto scan = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Scan(selector);
      Move(hwmon);
    }
  };
  scan(12);
  EXPECT_EQ(rapl.discoveries, 2) << "a minute later";
  EXPECT_FALSE(selector.status()[0].restart_needed);
  rapl.discover_error.reset();
  scan(40);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(Count(log, "a better meter is available now; restart the agent to use it"), 1) << log;
  EXPECT_THAT(log, HasSubstr("meter=rapl instead_of=hwmon"));
  EXPECT_EQ(rapl.discoveries, 3);
  EXPECT_EQ(model.discoveries, 0) << "it is no better one";
  EXPECT_EQ(selector.current().status().name, "hwmon");
  ASSERT_EQ(selector.status().size(), 2u);
  EXPECT_TRUE(selector.status()[0].up);
  EXPECT_TRUE(selector.status()[0].restart_needed);
  EXPECT_FALSE(selector.status()[1].restart_needed);
}

TEST_F(MeterSelectorTest, EveryBetterMeter_IsSearchedForLater) {
  Script& first = Add("rapl", 1);
  Script& second = Add("hwmon", 1);
  for (Script* meter : {&first, &second}) meter->discover_error = Error{ErrorKind::kNotFound, "absent"};
  Script& model = Add("model", 1);
  MeterSelector selector = MakeOpen();
  second.discover_error.reset();
  for (int i = 0; i < 20; ++i) {
    Scan(selector);
    Move(model);
  }
  EXPECT_FALSE(selector.status()[0].restart_needed);
  EXPECT_TRUE(selector.status()[1].restart_needed);
}

TEST_F(MeterSelectorTest, MeterThatStoodStillAndWasReplaced_IsNotNamed) {
  Script& rapl = Add("rapl", 0);
  Script& hwmon = Add("hwmon", 0);
  MeterSelector selector = MakeOpen();
  for (int i = 0; i < 40; ++i) {
    Scan(selector);
    Move(hwmon);
  }
  EXPECT_EQ(selector.current().status().name, "hwmon");
  EXPECT_EQ(rapl.discoveries, 1);
  EXPECT_FALSE(selector.status()[0].restart_needed);
}

}  // namespace
}  // namespace kepler::energy
