/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs report to the agent. The one header that both sides compile: plain C, fixed sizes, no padding.
 * Times are nanoseconds; start times are CLOCK_BOOTTIME; pids are those of the machine's first pid namespace. */
#ifndef KEPLER_BPF_ABI_H
#define KEPLER_BPF_ABI_H

#ifdef __cplusplus
#include <linux/types.h>
#define KEPLER_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes))
#else
#define KEPLER_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "abi")
#endif

enum {
  KEPLER_COUNTERS = 3, /* cycles, instructions, cache misses, in this order */
  KEPLER_COMM_BYTES = 16,
  KEPLER_PATH_BYTES = 256,
  KEPLER_CGROUP_PATH_BYTES = 1024,
  KEPLER_SOON_NS = 100000000,      /* until then the ends before a pass are reported, but under a storm of them */
  KEPLER_MIN_RING_BYTES = 1 << 19, /* powers of two */
  KEPLER_MAX_RING_BYTES = 1 << 22
};

/* One thread. From the iterator: as of now. In a KEPLER_TASK_FREED record: its final values, after its last switch. */
struct kepler_task {
  __u64 ran;            /* se.sum_exec_runtime */
  __u64 group_ran_dead; /* signal->sum_sched_runtime: threads of the process that ended, a few us short of exact; read
                           before `ran` */
  __u64 start;          /* iterator: of the process (its leader); record: of the thread itself */
  __u64 group;          /* the same for all threads of a process, for no other until all of them are freed */
  __u64 cgroup_v2;      /* kernfs id (the inode of the directory); 0: unknown */
  __u64 cgroup_cpuacct; /* the same in the v1 hierarchy of cpuacct; 0: not asked for */
  __u64 counters[KEPLER_COUNTERS];
  __s32 tid;
  __s32 tgid;
  __s32 parent_tgid; /* who would wait for it; only a hint in a record */
  __u32 flags;       /* KEPLER_TASK_* */
  char comm[KEPLER_COMM_BYTES];
};
KEPLER_ASSERT_SIZE(kepler_task, 104);

enum { KEPLER_TASK_KERNEL_THREAD = 1 };

/* Iterator "executables": the file that the leader of a process runs. */
struct kepler_executable {
  __u64 start;
  __s32 tgid;
  __u32 pad;
  char path[KEPLER_PATH_BYTES];
};
KEPLER_ASSERT_SIZE(kepler_executable, 272);

/* Ring buffer: each record begins with its kind. */
enum kepler_record_kind {
  KEPLER_TASK_FREED = 1,
  KEPLER_EXEC = 2,
  KEPLER_CGROUP_MADE = 3,
  KEPLER_CGROUP_REMOVED = 4,
  KEPLER_TASK_MOVED = 5,
  KEPLER_RECORD_KINDS = 6
};

struct kepler_record {
  __u32 kind;
  __u32 pad;
};

struct kepler_task_freed {
  struct kepler_record record;
  struct kepler_task task;
};
KEPLER_ASSERT_SIZE(kepler_task_freed, 112);

struct kepler_exec {
  struct kepler_record record;
  __u64 start; /* of the process */
  __s32 tgid;
  __u32 pad;
  char path[KEPLER_PATH_BYTES]; /* of the interpreter of a script; NUL-terminated, cut if longer */
};
KEPLER_ASSERT_SIZE(kepler_exec, 280);

struct kepler_cgroup {
  struct kepler_record record;
  __u64 id;
  __u32 hierarchy; /* 0: v2 */
  __u32 pad;
  char path[KEPLER_CGROUP_PATH_BYTES]; /* from the root of the hierarchy; NUL-terminated, cut if longer */
};
KEPLER_ASSERT_SIZE(kepler_cgroup, 1048);

/* A process was put into another cgroup. */
struct kepler_moved {
  struct kepler_record record;
  __u64 start; /* of the process */
  __u64 ran;   /* before that: its leader and its dead threads */
  __u64 from;  /* its parent's cgroup in that hierarchy (kernfs id), where it was if it is new; 0: unknown */
  __s32 tgid;
  __u32 hierarchy; /* in which; 0: v2 */
};
KEPLER_ASSERT_SIZE(kepler_moved, 40);

/* A process that ended while the ring was full: what it ran in all, and nothing else. Elements of a queue. */
struct kepler_dropped {
  __u64 start;
  __u64 ran;
  __u64 cgroup_v2; /* kernfs id; 0: unknown */
  __s32 tgid;
  __u32 pad;
};
KEPLER_ASSERT_SIZE(kepler_dropped, 32);

/* Totals since the load, in .bss: written by the kernel (except last_scan), read by the agent. */
struct kepler_totals {
  __u64 last_scan; /* written by the agent: when its latest pass began */
  __u64 records[KEPLER_RECORD_KINDS];
  __u64 dropped[KEPLER_RECORD_KINDS];
  __u64 lost; /* time of whole processes for which the queue had no room either, if they started since last_scan */
  __u64 switch_gaps; /* slices whose begin was not seen: their counters are not known */
  __u64 ended_soon;  /* records of tasks, dropped ones too, by the first that came KEPLER_SOON_NS after a pass began */
  __u64 soon_of;     /* the last_scan of that pass */
};
KEPLER_ASSERT_SIZE(kepler_totals, 136);

#endif
