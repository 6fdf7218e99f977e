// /proc/config.gz, /boot/config-*, BTF and the kernel's command line, cut and changed anywhere.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/gunzip.h"
#include "os/file.h"
#include "os/read_time_accounting.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kepler::KeptApart;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto text = kepler::Gunzip(bytes, kepler::os::kMaxFileBytes);
  if (text && text->size() > kepler::os::kMaxFileBytes) std::abort();
  for (const auto& read :
       {kepler::os::ParseKernelConfig(text ? std::string_view(*text) : bytes), kepler::os::ParseKernelTypes(bytes)}) {
    if (read && (read->interrupts == KeptApart::kUnknown || read->steal == KeptApart::kUnknown)) std::abort();
  }
  static_cast<void>(kepler::os::HasStealAccountingOff(bytes));
  return 0;
}
