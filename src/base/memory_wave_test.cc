#include "base/memory_wave.h"

#include <gtest/gtest.h>

namespace kepler {
namespace {

TEST(MemoryWave, OverOnceAQuarterIsLeft_UntilItIsEnded) {
  MemoryWave wave(100);
  wave.Note(1000);
  EXPECT_FALSE(wave.over());
  wave.Note(251);
  EXPECT_FALSE(wave.over());
  wave.Note(250);
  EXPECT_TRUE(wave.over());
  wave.End();
  EXPECT_FALSE(wave.over());
  wave.Note(0);
  EXPECT_TRUE(wave.over()) << "what was left was a wave too";
}

TEST(MemoryWave, AFew_AreNone) {
  MemoryWave wave(100);
  wave.Note(99);
  wave.Note(0);
  EXPECT_FALSE(wave.over());
}

}  // namespace
}  // namespace kepler
