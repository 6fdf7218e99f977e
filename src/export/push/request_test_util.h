#pragma once
// For the tests of this room.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "export/push/encoded_request.h"

namespace kepler::push {

inline Request Body(std::string text, uint64_t points = 1) {
  return {.body = std::make_shared<const std::string>(std::move(text)), .points = points};
}

}  // namespace kepler::push
