// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Gives a QEMU guest RAPL energy counters. QEMU's emulation returns 0 for these MSRs; this module replaces the result
 * of the kernel's own reads, so that intel_rapl_msr, the perf PMU "power" and /dev/cpu/N/msr show counters that advance
 * with the CPU time of the guest. Debian's kernels have PARAVIRT_XXL: every rdmsr goes through native_read_msr{,_safe}.
 *
 * Energy of a package since loading: idle_mw * time + busy_mw * CPU time of its CPUs. Time does not count while `held`.
 * Sources: Intel SDM vol. 4, chapter 2 (MSRs, units), AMD PPR 17h (Core::X86::Msr::RAPL_PWR_UNIT and the next two).
 */
#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#define INTEL_POWER_UNIT 0x606
#define INTEL_PKG_POWER_LIMIT 0x610
#define INTEL_PKG_ENERGY 0x611
#define INTEL_PKG_POWER_INFO 0x614
#define INTEL_DRAM_ENERGY 0x619
#define INTEL_PP0_ENERGY 0x639
#define INTEL_PSYS_ENERGY 0x64d
#define AMD_POWER_UNIT 0xc0010299
#define AMD_CORE_ENERGY 0xc001029a
#define AMD_PKG_ENERGY 0xc001029b

#define MAX_PACKAGES 8
#define NS_PER_MS 1000000

static bool amd;
module_param(amd, bool, 0444);
MODULE_PARM_DESC(amd, "show AMD's MSRs instead of Intel's");
static uint idle_mw = 20000;
module_param(idle_mw, uint, 0444);
static uint busy_mw = 15000;
module_param(busy_mw, uint, 0444);
MODULE_PARM_DESC(busy_mw, "power of a CPU that is busy, in addition to idle_mw of its package");
static uint dram_mw = 3000;
module_param(dram_mw, uint, 0444);
static uint rest_mw = 7000;
module_param(rest_mw, uint, 0444);
MODULE_PARM_DESC(rest_mw, "what psys measures in addition to package and DRAM");
static ulong start_raw = 0x1000;
module_param(start_raw, ulong, 0444);
MODULE_PARM_DESC(start_raw, "first value of each 32-bit counter");
static uint unit_shift = 14;
module_param(unit_shift, uint, 0444);
MODULE_PARM_DESC(unit_shift,
                 "Intel's unit of energy is 2^-unit_shift J, except for DRAM; more makes counters wrap sooner");
static bool broken;
module_param(broken, bool, 0644);
MODULE_PARM_DESC(broken, "reading a counter fails with EIO");

/* What a domain has used, in ns of time and of CPU time. */
struct usage {
  u64 time_ns;
  u64 busy_ns;
};

static DEFINE_RAW_SPINLOCK(lock);
static struct usage origin[MAX_PACKAGES]; /* counts from here; under the lock, as the next two */
static struct usage stop[MAX_PACKAGES];   /* while held: counts up to here */
/* No counter advances while it is set; then all go on from the same value. */
static bool held;

static u64 cpu_busy_ns(int cpu) {
  const u64* times = kcpustat_cpu(cpu).cpustat;

  return times[CPUTIME_USER] + times[CPUTIME_NICE] + times[CPUTIME_SYSTEM] + times[CPUTIME_SOFTIRQ] +
         times[CPUTIME_IRQ];
}

/* An offline CPU keeps its CPU time, but not its package: it counts for the package that it had when this was loaded.
 */
static int package_of[NR_CPUS];

static struct usage now_of(int package) {
  struct usage sum = {.time_ns = ktime_get_mono_fast_ns()};
  int cpu;

  for_each_possible_cpu(cpu) if (package_of[cpu] == package) sum.busy_ns += cpu_busy_ns(cpu);
  return sum;
}

static struct usage used_by(int package) {
  struct usage used;
  unsigned long flags;

  raw_spin_lock_irqsave(&lock, flags);
  used = held ? stop[package] : now_of(package);
  used.time_ns -= origin[package].time_ns;
  used.busy_ns -= origin[package].busy_ns;
  raw_spin_unlock_irqrestore(&lock, flags);
  return used;
}

/* mW for a time, in microjoules */
static u64 energy_uj(u64 ns, uint milliwatts) { return div_u64(ns, NS_PER_MS) * milliwatts; }

static u32 raw_of(u64 uj, uint shift) { return start_raw + div_u64(uj << shift, 1000000); }

static bool is_counter(u32 msr) {
  return amd ? msr == AMD_CORE_ENERGY || msr == AMD_PKG_ENERGY
             : msr == INTEL_PKG_ENERGY || msr == INTEL_DRAM_ENERGY || msr == INTEL_PP0_ENERGY ||
                   msr == INTEL_PSYS_ENERGY;
}

static u64 counter_of(u32 msr, struct usage used) {
  u64 busy = energy_uj(used.busy_ns, busy_mw);
  u64 package = energy_uj(used.time_ns, idle_mw) + busy;
  u64 dram = energy_uj(used.time_ns, dram_mw);

  switch (msr) {
    case INTEL_PKG_ENERGY:
      return raw_of(package, unit_shift);
    case INTEL_PP0_ENERGY:
      return raw_of(busy, unit_shift);
    case INTEL_DRAM_ENERGY: /* servers: 15.3 uJ, whatever the unit register says */
      return (u32)(start_raw + div_u64(dram * 10, 153));
    case INTEL_PSYS_ENERGY:
      return raw_of(package + dram + energy_uj(used.time_ns, rest_mw), unit_shift);
    case AMD_PKG_ENERGY:
      return raw_of(package, 16);
    default:
      return raw_of(busy, 16);
  }
}

/* Returns false for a register that is left alone. */
static bool value_of(u32 msr, u64* value) {
  int package = package_of[raw_smp_processor_id()];

  if (package < 0 || package >= MAX_PACKAGES) return false;
  if (is_counter(msr)) {
    *value = counter_of(msr, used_by(package));
    return true;
  }
  if (amd) {
    *value = 0xa1003; /* 2^-16 J */
    return msr == AMD_POWER_UNIT;
  }
  switch (msr) {
    case INTEL_POWER_UNIT:
      *value = 0xa0003 | unit_shift << 8; /* 1/8 W, 976 us */
      return true;
    case INTEL_PKG_POWER_INFO:
      *value = 205 * 8 | (u64)75 * 8 << 16;
      return true;
    case INTEL_PKG_POWER_LIMIT:
      *value = 205 * 8 | 1 << 15;
      return true;
  }
  return false;
}

struct call {
  u32 msr;
  int* error; /* of native_read_msr_safe */
};

static int remember(struct kretprobe_instance* instance, struct pt_regs* regs, bool safe) {
  u32 msr = regs->di;

  if (!(msr >= INTEL_POWER_UNIT && msr <= INTEL_PSYS_ENERGY) && !(msr >= AMD_POWER_UNIT && msr <= AMD_PKG_ENERGY))
    return 1; /* no handler at the return */
  *(struct call*)instance->data = (struct call){msr, safe ? (int*)regs->si : NULL};
  return 0;
}

static int enter(struct kretprobe_instance* instance, struct pt_regs* regs) { return remember(instance, regs, false); }

static int enter_safe(struct kretprobe_instance* instance, struct pt_regs* regs) {
  return remember(instance, regs, true);
}

static int leave(struct kretprobe_instance* instance, struct pt_regs* regs) {
  struct call* call = (struct call*)instance->data;
  u64 value;

  if (!value_of(call->msr, &value)) return 0;
  regs->ax = value;
  if (call->error && broken && is_counter(call->msr)) *call->error = -EIO;
  return 0;
}

#define PROBE(symbol, entry)         \
  {.kp.symbol_name = symbol,         \
   .entry_handler = entry,           \
   .handler = leave,                 \
   .data_size = sizeof(struct call), \
   .maxactive = 64}
static struct kretprobe plain = PROBE("native_read_msr", enter);
static struct kretprobe safe = PROBE("native_read_msr_safe", enter_safe);

static void hold_or_release(void) {
  int package;

  for (package = 0; package < MAX_PACKAGES; package++) {
    struct usage now = now_of(package);

    if (held) {
      origin[package].time_ns += now.time_ns - stop[package].time_ns;
      origin[package].busy_ns += now.busy_ns - stop[package].busy_ns;
    } else {
      stop[package] = now;
    }
  }
  held = !held;
}

static int set_held(const char* text, const struct kernel_param* param) {
  bool wanted;
  unsigned long flags;
  int error = kstrtobool(text, &wanted);

  if (error) return error;
  raw_spin_lock_irqsave(&lock, flags);
  if (wanted != held) hold_or_release();
  raw_spin_unlock_irqrestore(&lock, flags);
  return 0;
}

static const struct kernel_param_ops held_ops = {.set = set_held, .get = param_get_bool};
module_param_cb(held, &held_ops, &held, 0644);
MODULE_PARM_DESC(held, "no counter advances");

static int __init lab_init(void) {
  int cpu, package, error;

  for (cpu = 0; cpu < NR_CPUS; cpu++)
    package_of[cpu] = cpu < nr_cpu_ids && cpu_online(cpu) ? topology_physical_package_id(cpu) : -1;
  for (package = 0; package < MAX_PACKAGES; package++) origin[package] = stop[package] = now_of(package);
  error = register_kretprobe(&plain);
  if (error) return error;
  error = register_kretprobe(&safe);
  if (error) unregister_kretprobe(&plain);
  return error;
}

static void __exit lab_exit(void) {
  unregister_kretprobe(&safe);
  unregister_kretprobe(&plain);
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_LICENSE("Dual MIT/GPL"); /* kretprobes are for GPL modules */
MODULE_DESCRIPTION("RAPL counters for guests of the hardware lab");
