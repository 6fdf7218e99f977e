#pragma once
// For the tests of this room.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "export/push/encoded_request.h"

namespace kepler::push {

/// While it lives, the process cannot open files.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

inline Request Body(std::string text, uint64_t points = 1) {
  return {.body = std::make_shared<const std::string>(std::move(text)), .points = points};
}

}  // namespace kepler::push
