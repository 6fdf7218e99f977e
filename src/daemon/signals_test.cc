#include "daemon/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace kepler::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

constexpr auto kAtOnce = 10ms;
constexpr auto kNotInThisTest = 1h;

[[noreturn]] void StandStill() {
  while (true) pause();
}

// Each in a process of its own: signals are the whole process's.

TEST(SignalsDeathTest, StopThatStandsStill_EndsWith1AndSaysSo) {
  EXPECT_EXIT(
      {
        const Signals signals(kAtOnce);
        Signals::BoundTheStop();
        StandStill();
      },
      ExitedWithCode(EXIT_FAILURE), "stopping takes too long");
}

TEST(SignalsDeathTest, StartedWithTheAlarmBlockedAndWaiting_TheStopIsBoundedAllTheSame) {
  EXPECT_EXIT(
      {
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
        raise(SIGALRM);
        const Signals signals(kAtOnce);
        sigset_t blocked;
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        if (sigismember(&blocked, SIGALRM) != 0) std::exit(42);  // it would never end
        Signals::BoundTheStop();
        StandStill();
      },
      ExitedWithCode(EXIT_FAILURE), "stopping takes too long");
}

TEST(SignalsDeathTest, AskedTwice_EndsAtOnce) {
  EXPECT_EXIT(
      {
        const Signals signals(kNotInThisTest);
        Signals::BoundTheStop();
        raise(SIGTERM);
        StandStill();
      },
      KilledBySignal(SIGTERM), "");
}

TEST(SignalsDeathTest, ReloadThatStandsStill_IsBoundedToo) {
  EXPECT_EXIT(
      {
        const Signals signals(kAtOnce);
        const Signals::Listening listening;
        raise(SIGTERM);
        StandStill();
      },
      ExitedWithCode(EXIT_FAILURE), "stopping takes too long");
}

TEST(SignalsDeathTest, AskedTwiceDuringAReload_EndsAtOnce) {
  EXPECT_EXIT(
      {
        const Signals signals(kNotInThisTest);
        const Signals::Listening listening;
        raise(SIGINT);
        raise(SIGINT);
        StandStill();
      },
      KilledBySignal(SIGINT), "");
}

TEST(SignalsDeathTest, AskedDuringAReload_IsWhatTheNextWaitReturns) {
  EXPECT_EXIT(
      {
        Signals signals(kNotInThisTest);
        {
          const Signals::Listening listening;
          raise(SIGTERM);
        }
        std::exit(signals.Wait(std::nullopt) == SIGTERM ? 42 : 1);
      },
      ExitedWithCode(42), "");
}

TEST(SignalsDeathTest, BlockedSignals_AreTakenInTurnAndNoneIsNothing) {
  EXPECT_EXIT(
      {
        Signals signals(kNotInThisTest);
        raise(SIGHUP);
        const bool first = signals.Wait(1h) == SIGHUP;
        const bool second = signals.Wait(1ms) == std::nullopt;
        raise(SIGINT);
        std::exit(first && second && signals.Wait(std::nullopt) == SIGINT ? 42 : 1);
      },
      ExitedWithCode(42), "");
}

TEST(SignalsDeathTest, Released_WhatWaitedIsDroppedAndTheNextOneEndsIt) {
  EXPECT_EXIT(
      {
        Signals signals(kNotInThisTest);
        raise(SIGINT);
        signals.Release();  // lives on
        raise(SIGTERM);
        StandStill();
      },
      KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace kepler::daemon
