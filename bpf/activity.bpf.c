// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports the CPU time of every thread. Two programs together report all of it:
//   tasks               reads the kernel's clock of every living thread when the agent scans;
//   on_task_freed       reports the final clock of every thread that died, after its last context switch.
// No program runs on the context-switch path, unless hardware counters are enabled (on_switch).
// clang-format off: the types come first, libbpf's headers use them
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
// clang-format on

#include "abi.h"
#include "counted.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// The agent sets these values before it loads the programs.
const volatile bool with_cpuacct = false;   // a v1 hierarchy accounts CPU time
const volatile bool with_counters = false;  // on_switch is loaded
const volatile bool with_uids = false;      // something shows users
const volatile __u32 ring_bytes = KEPLER_MIN_RING_BYTES;

struct kepler_totals totals;
__u64 executables_since = 0;  // set by the agent before it runs that iterator

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, KEPLER_MIN_RING_BYTES);
} ring SEC(".maps");

// Processes whose record did not fit into the ring. The elements are small, so only a much larger burst fills the
// queue.
struct {
  __uint(type, BPF_MAP_TYPE_QUEUE);
  __uint(max_entries, 16384);
  __type(value, struct kepler_dropped);
} dropped SEC(".maps");

struct task_counters {
  __u64 value[KEPLER_COUNTERS];
};
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct task_counters);
} task_counters SEC(".maps");

struct perf_array {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, sizeof(int));
  __uint(value_size, sizeof(int));
};
struct perf_array cycles SEC(".maps");
struct perf_array instructions SEC(".maps");
struct perf_array cache_misses SEC(".maps");

// Values of the counters of this CPU when `tid` was switched in.
struct slice {
  struct bpf_perf_event_value at[KEPLER_COUNTERS];
  __s32 tid;
  __u32 begun;
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct slice);
} slices SEC(".maps");

static __always_inline __u64 cpuacct_of(struct css_set* cgroups) {
  struct cgroup_subsys_state* state = NULL;
  struct cgroup* cgroup = NULL;
  if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpuacct_cgrp_id)) return 0;
  const __u64 index = bpf_core_enum_value(enum cgroup_subsys_id, cpuacct_cgrp_id);
  const void* at = (const char*)cgroups + bpf_core_field_offset(struct css_set, subsys) + index * sizeof(void*);
  if (bpf_probe_read_kernel(&state, sizeof(state), at) || !state) return 0;
  cgroup = BPF_CORE_READ(state, cgroup);
  return BPF_CORE_READ(cgroup, kn, id);
}

// Fills all fields except `start`, which iterator rows and records define differently. The task keeps the objects that
// this function reads alive, except real_parent. If the parent is gone, parent_tgid is wrong, but the times are right.
static __always_inline void fill(struct kepler_task* out, struct task_struct* task) {
  // Read in this order. A thread that dies between the two reads is then in neither value, and never in both.
  out->group_ran_dead = task->signal->sum_sched_runtime;
  barrier();
  out->ran = task->se.sum_exec_runtime;
  out->group = (__u64)task->signal;
  out->cgroup_v2 = 0;
  out->cgroup_cpuacct = 0;
  if (bpf_core_field_exists(task->cgroups)) {
    struct css_set* cgroups = task->cgroups;
    out->cgroup_v2 = cgroups->dfl_cgrp->kn->id;
    if (with_cpuacct) out->cgroup_cpuacct = cpuacct_of(cgroups);
  }
  out->tid = task->pid;
  out->tgid = task->tgid;
  out->parent_tgid = task->flags & PF_KTHREAD ? KEPLER_KERNEL_THREAD : task->real_parent->tgid;
  out->uid = with_uids ? BPF_CORE_READ(task, real_cred, uid.val) : KEPLER_UNKNOWN_UID;
  __builtin_memcpy(out->comm, task->comm, sizeof(out->comm));
  __builtin_memset(out->counters, 0, sizeof(out->counters));
  if (!with_counters) return;
  const struct task_counters* counters = bpf_task_storage_get(&task_counters, task, 0, 0);
  if (counters) __builtin_memcpy(out->counters, counters->value, sizeof(out->counters));
}

// Wakes the agent only if the ring is half full. The agent reads the ring at each tick anyway.
static __always_inline __u64 wakeup(void) {
  return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < ring_bytes / 2 ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
}

static __always_inline void count(__u64* totals_of_kind, __u32 kind) { __sync_fetch_and_add(&totals_of_kind[kind], 1); }

// Call after an end was counted.
static __always_inline void note_soon(void) {
  const __u64 scan = totals.last_scan;
  if (totals.soon_of == scan || bpf_ktime_get_boot_ns() < scan + KEPLER_SOON_NS) return;
  totals.ended_soon = totals.records[KEPLER_TASK_FREED] + totals.dropped[KEPLER_TASK_FREED];
  totals.soon_of = scan;
}

static __always_inline void lose(struct task_struct* task) {
  count(totals.dropped, KEPLER_TASK_FREED);
  note_soon();
  // The time of a thread is in the record of its leader, or in the next row of its living process.
  if (task->pid != task->tgid) return;
  struct kepler_dropped process = {};
  process.start = task->start_boottime;
  process.ran = task->signal->sum_sched_runtime;
  if (bpf_core_field_exists(task->cgroups)) process.cgroup_v2 = task->cgroups->dfl_cgrp->kn->id;
  process.tgid = task->tgid;
  if (bpf_map_push_elem(&dropped, &process, 0) && process.start >= totals.last_scan)
    __sync_fetch_and_add(&totals.lost, process.ran);
}

SEC("iter/task") int tasks(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  // Allocated here, because on_switch holds the lock of the run queue and must not allocate.
  if (with_counters) bpf_task_storage_get(&task_counters, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  struct kepler_task row;
  fill(&row, task);
  row.start = task->group_leader->start_boottime;
  barrier();
  // The task was released after the iterator took it. Its record will come, and group_ran_dead may include its time.
  if (task->exit_state & EXIT_DEAD) return 0;
  bpf_seq_write(context->meta->seq, &row, sizeof(row));
  return 0;
}

SEC("iter/task") int executables(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || task->pid != task->tgid || task->start_boottime < executables_since) return 0;
  // An exiting task may release its file at any moment.
  if (task->flags & PF_EXITING) return 0;
  struct mm_struct* mm = task->mm;
  if (!mm) return 0;
  struct file* file = mm->exe_file;
  if (!file) return 0;
  struct kepler_executable row;
  __builtin_memset(&row, 0, sizeof(row));
  row.start = task->start_boottime;
  row.tgid = task->tgid;
  if (bpf_d_path(&file->f_path, row.path, sizeof(row.path)) < 0) return 0;
  bpf_seq_write(context->meta->seq, &row, sizeof(row));
  return 0;
}

SEC("tp_btf/sched_process_free") int BPF_PROG(on_task_freed, struct task_struct* task) {
  struct kepler_task_freed* freed = bpf_ringbuf_reserve(&ring, sizeof(*freed), 0);
  if (!freed) {
    lose(task);
    return 0;
  }
  freed->record.kind = KEPLER_TASK_FREED;
  freed->record.pad = 0;
  fill(&freed->task, task);
  freed->task.start = task->start_boottime;
  bpf_ringbuf_submit(freed, wakeup());
  count(totals.records, KEPLER_TASK_FREED);
  note_soon();
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, pid_t old_pid, struct linux_binprm* binprm) {
  struct kepler_exec* exec = bpf_ringbuf_reserve(&ring, sizeof(*exec), 0);
  if (!exec) {
    count(totals.dropped, KEPLER_EXEC);
    return 0;
  }
  exec->record.kind = KEPLER_EXEC;
  exec->record.pad = 0;
  exec->start = task->group_leader->start_boottime;
  exec->tgid = task->tgid;
  exec->pad = 0;
  if (bpf_probe_read_kernel_str(exec->path, sizeof(exec->path), binprm->interp) < 0) exec->path[0] = '\0';
  bpf_ringbuf_submit(exec, wakeup());
  count(totals.records, KEPLER_EXEC);
  return 0;
}

static __always_inline int report_cgroup(struct cgroup* cgroup, const char* path, __u32 kind) {
  struct kepler_cgroup* reported = bpf_ringbuf_reserve(&ring, sizeof(*reported), 0);
  if (!reported) {
    count(totals.dropped, kind);
    return 0;
  }
  reported->record.kind = kind;
  reported->record.pad = 0;
  reported->id = cgroup->kn->id;
  reported->hierarchy = cgroup->root->hierarchy_id;
  reported->pad = 0;
  if (bpf_probe_read_kernel_str(reported->path, sizeof(reported->path), path) < 0) reported->path[0] = '\0';
  bpf_ringbuf_submit(reported, wakeup());
  count(totals.records, kind);
  return 0;
}

SEC("tp_btf/cgroup_mkdir") int BPF_PROG(on_cgroup_made, struct cgroup* cgroup, const char* path) {
  return report_cgroup(cgroup, path, KEPLER_CGROUP_MADE);
}

SEC("tp_btf/cgroup_rmdir") int BPF_PROG(on_cgroup_removed, struct cgroup* cgroup, const char* path) {
  return report_cgroup(cgroup, path, KEPLER_CGROUP_REMOVED);
}

// Reports the time that the process has run so far, which is in the usage of its previous cgroup.
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_task_moved, struct cgroup* to, const char* path, struct task_struct* task, bool whole_process) {
  if (task->pid != task->tgid) return 0;
  struct kepler_moved* moved = bpf_ringbuf_reserve(&ring, sizeof(*moved), 0);
  if (!moved) {
    count(totals.dropped, KEPLER_TASK_MOVED);
    return 0;
  }
  moved->record.kind = KEPLER_TASK_MOVED;
  moved->record.pad = 0;
  moved->start = task->start_boottime;
  moved->ran = task->signal->sum_sched_runtime + task->se.sum_exec_runtime;
  moved->tgid = task->tgid;
  moved->hierarchy = to->root->hierarchy_id;
  moved->from = 0;
  if (bpf_core_field_exists(task->cgroups)) {
    struct css_set* cgroups = task->real_parent->cgroups;
    moved->from = moved->hierarchy == 0 ? cgroups->dfl_cgrp->kn->id : with_cpuacct ? cpuacct_of(cgroups) : 0;
  }
  bpf_ringbuf_submit(moved, wakeup());
  count(totals.records, KEPLER_TASK_MOVED);
  return 0;
}

static __always_inline void read_counter(void* counter, struct bpf_perf_event_value* now) {
  if (bpf_perf_event_read_value(counter, BPF_F_CURRENT_CPU, now, sizeof(*now))) __builtin_memset(now, 0, sizeof(*now));
}

SEC("tp_btf/sched_process_fork") int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  bpf_task_storage_get(&task_counters, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return 0;
}

// Adds the events since the begin of the slice to `task`. Later events belong to `next`. Preemption must be off.
static __always_inline void end_slice(struct task_struct* task, __s32 next) {
  const __u32 zero = 0;
  struct slice* slice = bpf_map_lookup_elem(&slices, &zero);
  if (!slice) return;
  struct bpf_perf_event_value now[KEPLER_COUNTERS];
  read_counter(&cycles, &now[0]);
  read_counter(&instructions, &now[1]);
  read_counter(&cache_misses, &now[2]);
  if (slice->begun && slice->tid != task->pid) {
    __sync_fetch_and_add(&totals.switch_gaps, 1);
  } else if (slice->begun && task->pid) {
    struct task_counters* counters = bpf_task_storage_get(&task_counters, task, 0, 0);
    if (counters) {
      counters->value[0] += counted(&slice->at[0], &now[0]);
      counters->value[1] += counted(&slice->at[1], &now[1]);
      counters->value[2] += counted(&slice->at[2], &now[2]);
    }
  }
  __builtin_memcpy(slice->at, now, sizeof(now));
  slice->tid = next;
  slice->begun = 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* previous, struct task_struct* next) {
  end_slice(previous, next->pid);
  return 0;
}

// The agent runs this program on each CPU before a scan. Events of a task that keeps its CPU are then in that scan.
SEC("raw_tp") int split_slice(void* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  end_slice(task, task->pid);
  return 0;
}
