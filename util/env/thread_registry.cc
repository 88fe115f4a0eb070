// SPDX-License-Identifier: Apache-2.0
#include "util/env/thread_registry.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/metrics/perf_counters.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// The present work of one thread.
struct Record {
  uint64_t id = 0;
  ThreadStatus::ThreadType type = ThreadStatus::USER;
  std::string db;
  std::string family;
  ThreadStatus::OperationType operation = ThreadStatus::OP_UNKNOWN;
  uint64_t started = 0;  // In nanoseconds of PerfClockNanos.
  ThreadStatus::OperationStage stage = ThreadStatus::STAGE_UNKNOWN;
  uint64_t properties[ThreadStatus::kNumOperationProperties] = {};
};

ThreadStatus::ThreadType TypeOf(Env::Priority pool) {
  switch (pool) {
    case Env::HIGH:
      return ThreadStatus::HIGH_PRIORITY;
    case Env::LOW:
      return ThreadStatus::LOW_PRIORITY;
    case Env::BOTTOM:
      return ThreadStatus::BOTTOM_PRIORITY;
    default:
      return ThreadStatus::USER;
  }
}

// Never destroyed: threads may end after everything else.
struct Registry final : private ForkWatch {
  Registry() { Watch(&mu); }

  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  Mutex mu{lock_ranks::kThreadRegistry};
  std::list<Record> records VARVE_GUARDED_BY(mu);
};

Registry& TheRegistry() {
  static auto* const registry = std::make_unique<Registry>().release();
  return *registry;
}

// Written only by its thread; the record is accessed under the registry's mutex.
constinit thread_local Record* own_record = nullptr;

// The child has none of the parent's threads, and the thread that forked belongs to no pool.
void Registry::InChild() {
  records.clear();
  own_record = nullptr;
}

}  // namespace

ListedThread::ListedThread(Env::Priority pool) {
  VARVE_ASSERT(own_record == nullptr);
  BestEffort([pool] {
    Registry& registry = TheRegistry();
    MutexLock lock(&registry.mu);
    Record& record = registry.records.emplace_back();
    record.id = static_cast<uint64_t>(::syscall(SYS_gettid));
    record.type = TypeOf(pool);
    own_record = &record;
  });
}

// own_record is null if there was no memory for a record, or in a child of fork(), which has none.
ListedThread::~ListedThread() {
  if (own_record == nullptr) return;
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  registry.records.remove_if([](const Record& record) { return &record == own_record; });
  own_record = nullptr;
}

ListedOperation::ListedOperation(bool wanted, ThreadStatus::OperationType type,
                                 const std::string& db, const std::string& family) {
  if (!wanted || own_record == nullptr) return;
  const uint64_t now = PerfClockNanos();
  MutexLock lock(&TheRegistry().mu);
  if (own_record->operation != ThreadStatus::OP_UNKNOWN) return;
  // If the second string cannot be copied, the first one stays, unseen: names are shown only with
  // an operation.
  noted_ = Guarded([&] {
             own_record->db = db;
             own_record->family = family;
           }).ok();
  if (!noted_) return;
  own_record->operation = type;
  own_record->started = now;
  own_record->stage = ThreadStatus::STAGE_UNKNOWN;
  std::fill(std::begin(own_record->properties), std::end(own_record->properties), 0);
}

ListedOperation::~ListedOperation() {
  if (!noted_ || own_record == nullptr) return;
  MutexLock lock(&TheRegistry().mu);
  own_record->operation = ThreadStatus::OP_UNKNOWN;
}

void ListedOperation::Enter(ThreadStatus::OperationStage stage) {
  if (!noted_ || own_record == nullptr) return;
  MutexLock lock(&TheRegistry().mu);
  own_record->stage = stage;
}

void ListedOperation::Set(int property, uint64_t value) {
  if (!noted_ || own_record == nullptr) return;
  VARVE_ASSERT(property >= 0 && property < ThreadStatus::kNumOperationProperties);
  MutexLock lock(&TheRegistry().mu);
  own_record->properties[property] = value;
}

std::vector<ThreadStatus> ListThreads() {
  const uint64_t now = PerfClockNanos();
  std::vector<ThreadStatus> list;
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  for (const Record& record : registry.records) {
    // An idle thread shows neither the names nor the time of its last operation.
    if (record.operation == ThreadStatus::OP_UNKNOWN) {
      list.emplace_back(record.id, record.type, "", "", record.operation, 0,
                        ThreadStatus::STAGE_UNKNOWN, nullptr, ThreadStatus::STATE_UNKNOWN);
      continue;
    }
    const uint64_t elapsed = now > record.started ? (now - record.started) / 1000 : 0;
    list.emplace_back(record.id, record.type, record.db, record.family, record.operation, elapsed,
                      record.stage, record.properties, ThreadStatus::STATE_UNKNOWN);
  }
  return list;
}

}  // namespace varve
