/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes the events between two readings of a hardware counter. Plain C for BPF and for tests. */
#ifndef KEPLER_BPF_COUNTED_H
#define KEPLER_BPF_COUNTED_H

#ifdef __cplusplus
#include <linux/bpf.h>
#endif

/* Returns the events since `from`; 0 if one of the readings failed. The number is scaled up if the kernel shared the
 * counter (multiplexing). The times are in units of 1,024 ns, so no product overflows within hours. */
static inline __attribute__((always_inline)) __u64 counted(const struct bpf_perf_event_value* from,
                                                           const struct bpf_perf_event_value* to) {
  if (!from->enabled || to->counter < from->counter || to->enabled < from->enabled || to->running < from->running)
    return 0;
  const __u64 delta = to->counter - from->counter;
  const __u64 enabled = (to->enabled - from->enabled) >> 10;
  const __u64 running = (to->running - from->running) >> 10;
  if (running >= enabled) return delta;
  return running ? delta / running * enabled + delta % running * enabled / running : 0;
}

#endif
