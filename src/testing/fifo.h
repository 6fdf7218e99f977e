#pragma once
// A file that keeps whoever opens it waiting until it is let go.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace kepler::testing {

inline void MakeFifo(const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0) << path; }

/// Whoever opens it, which somebody does or is about to, finds it empty.
inline void ReleaseFifo(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)).valid()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "nobody reads " << path;
    std::this_thread::yield();
  }
}

}  // namespace kepler::testing
