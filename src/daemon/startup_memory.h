#pragma once
// Returns memory that only the startup used. Any thread.
namespace kepler::daemon {

/// Returns free heap blocks to the kernel, and unmaps the read-only pages of the program and its libraries. The dynamic
/// linker reads megabytes of symbols and relocations that nothing uses later. The kernel maps a used page again from
/// its file, at its next use. Pages that this process changed stay. Does nothing on failure.
void ReturnStartupMemory();

}  // namespace kepler::daemon
