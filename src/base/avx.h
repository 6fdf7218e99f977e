#pragma once
// ClearAvxAfter: clears the upper halves of the vector registers after a call of isa-l.
//   if (ClearAvxAfter(isal_deflate(&stream)) != COMP_OK) …
//
// The AVX code of isa-l 2.30 never executes vzeroupper. While the upper halves are in use, each SSE instruction of the
// thread waits for the previous content of its result register. A scrape of 10,000 processes then takes 1.4 times as
// long. Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Mixing AVX Code with SSE Code".

namespace kepler {

#if defined(__x86_64__)
[[gnu::target("avx")]] inline void ZeroUpperHalves() { __builtin_ia32_vzeroupper(); }
#endif

/// Returns `result`.
template <class Result>
[[nodiscard]] Result ClearAvxAfter(Result result) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) ZeroUpperHalves();
#endif
  return result;
}

}  // namespace kepler
