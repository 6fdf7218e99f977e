#pragma once
// A model may be too large for the memory that is left, which libraries throw: that is an error of its own place.
// Internal to the room.
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model_store {

/// What `work` returns, a Result or a Status; kUnavailable for what it throws. `prefix` begins that message.
template <class Work>
auto Guarded(std::string_view prefix, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Fail(ErrorKind::kUnavailable, std::string(prefix) + "out of memory; list fewer or smaller models");
  } catch (const std::exception& error) {
    return Fail(ErrorKind::kUnavailable, std::string(prefix) + error.what());
  }
}

}  // namespace kepler::model_store
