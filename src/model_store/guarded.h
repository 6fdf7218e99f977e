#pragma once
// Turns exceptions of libraries into errors, since a model may be too large for the free memory. Internal to the room.
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model_store {

/// Returns the Result or Status of `work`. kUnavailable if `work` throws; the message begins with `prefix`.
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
