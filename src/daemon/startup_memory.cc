#include "daemon/startup_memory.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace kepler::daemon {
namespace {

using ProgramHeaders = std::span<const ElfW(Phdr)>;

/// Text relocations are changes of read-only pages, so these pages differ from the file.
bool HasTextRelocations(ElfW(Addr) base, ProgramHeaders headers) {
  const auto dynamic = std::ranges::find(headers, PT_DYNAMIC, [](const auto& header) { return header.p_type; });
  if (dynamic == headers.end()) return false;
  const auto* const first = std::bit_cast<const ElfW(Dyn)*>(base + dynamic->p_vaddr);
  const std::span entries(first, dynamic->p_memsz / sizeof *first);
  return std::ranges::any_of(entries, [](const auto& entry) {
    return entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0);
  });
}

/// For each loaded file. The dynamic linker's lock is held, so no other thread unloads the file.
int UnmapReadOnly(dl_phdr_info* file, size_t, void*) {
  const ProgramHeaders headers(file->dlpi_phdr, file->dlpi_phnum);
  if (HasTextRelocations(file->dlpi_addr, headers)) return 0;
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  for (const auto& segment : headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const ElfW(Addr) begin = (file->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const ElfW(Addr) end = file->dlpi_addr + segment.p_vaddr + segment.p_filesz;
    madvise(std::bit_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ReturnStartupMemory() {
  dl_iterate_phdr(UnmapReadOnly, nullptr);
  malloc_trim(0);  // loading BPF programs needs megabytes of small blocks for BTF
}

}  // namespace kepler::daemon
