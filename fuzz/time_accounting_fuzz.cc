// /proc/config.gz, /boot/config-*, BTF and the kernel's command line, cut and changed anywhere.
#include "base/gunzip.h"
#include "fuzz.h"
#include "os/file.h"
#include "os/read_time_accounting.h"

void Fuzz(std::string_view bytes) {
  using kepler::KeptApart;
  const auto text = kepler::Gunzip(bytes, kepler::os::kMaxFileBytes);
  if (text && text->size() > kepler::os::kMaxFileBytes) std::abort();
  for (const auto& read :
       {kepler::os::ParseKernelConfig(text ? std::string_view(*text) : bytes), kepler::os::ParseKernelTypes(bytes)}) {
    if (read && (read->interrupts == KeptApart::kUnknown || read->steal == KeptApart::kUnknown)) std::abort();
  }
  static_cast<void>(kepler::os::HasStealAccountingOff(bytes));
}
