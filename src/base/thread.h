#pragma once
// StartThread: where a thread cannot be made, that is an error like any other and no exception.
#include <functional>
#include <stop_token>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace kepler {

using ThreadWork = std::move_only_function<void(const std::stop_token&)>;

/// Runs `work` on a thread of that name (the kernel keeps 15 characters) with the asynchronous signals blocked: they go
/// to the main thread, and a write to a closed connection is an error there instead of SIGPIPE. The error says which
/// limits may be in the way.
[[nodiscard]] Result<std::jthread> StartThread(std::string_view name, ThreadWork work);

}  // namespace kepler
