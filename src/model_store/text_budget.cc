#include "model_store/text_budget.h"

#include <fmt/format.h>

namespace kepler::model_store {
namespace {

std::string Show(uint64_t bytes) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  return bytes > 0 && bytes % kMiB == 0 ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} bytes", bytes);
}

}  // namespace

Status TextBudget::Check(uint64_t bytes, size_t held) const {
  if (bytes > limits_.model)
    return Fail(ErrorKind::kInvalid, fmt::format("it has {}; the maximum for a model is {}; train a smaller one",
                                                 Show(bytes), Show(limits_.model)));
  const size_t others = used_ - held;
  if (others + bytes > limits_.all)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("it has {} and the other models have {}; the maximum in all is {}; list fewer or smaller "
                            "models",
                            Show(bytes), Show(others), Show(limits_.all)));
  return {};
}

Status TextBudget::Claim(size_t bytes) {
  if (reading_.fetch_add(bytes) + bytes <= limits_.all) return {};
  Release(bytes);
  return Fail(ErrorKind::kUnavailable,
              fmt::format("more than {} of models are being read at once; it is retried", Show(limits_.all)));
}

}  // namespace kepler::model_store
