// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the state of an Env's background threads, returned by Env::GetThreadList(): the job that
// each of them runs, its database, and its duration.
//
//   std::vector<varve::ThreadStatus> threads;
//   if (env->GetThreadList(&threads).ok()) {
//     for (const varve::ThreadStatus& t : threads) {
//       printf("%s %s\n", t.db_name.c_str(),
//              varve::ThreadStatus::GetOperationName(t.operation_type).c_str());
//     }
//   }

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "varve/export.h"

namespace varve {

// The state of one thread when the list was made. Only databases opened with
// DBOptions::enable_thread_tracking report their jobs; all other threads are listed without an
// operation.
struct VARVE_EXPORT ThreadStatus {
  // The thread's pool. Flushes run in HIGH_PRIORITY, unless it has no threads, and compactions in
  // LOW_PRIORITY; USER and BOTTOM_PRIORITY are pools that the library itself does not use.
  enum ThreadType : int {
    HIGH_PRIORITY = 0,
    LOW_PRIORITY,
    USER,
    BOTTOM_PRIORITY,
    NUM_THREAD_TYPES,
  };

  // The kind of job. Only the first three occur, as calls run on users' threads, which are not
  // listed.
  enum OperationType : int {
    OP_UNKNOWN = 0,
    OP_COMPACTION,
    OP_FLUSH,
    OP_DBOPEN,
    OP_GET,
    OP_MULTIGET,
    OP_DBITERATOR,
    OP_VERIFY_DB_CHECKSUM,
    OP_VERIFY_FILE_CHECKSUMS,
    OP_GETENTITY,
    OP_MULTIGETENTITY,
    OP_GET_FILE_CHECKSUMS_FROM_CURRENT_MANIFEST,
    NUM_OP_TYPES,
  };

  // A flush is in STAGE_FLUSH_WRITE_L0, then in STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS; a compaction
  // in STAGE_COMPACTION_PREPARE, STAGE_COMPACTION_RUN, STAGE_COMPACTION_INSTALL. Others do not
  // occur.
  enum OperationStage : int {
    STAGE_UNKNOWN = 0,
    STAGE_FLUSH_RUN,
    STAGE_FLUSH_WRITE_L0,
    STAGE_COMPACTION_PREPARE,
    STAGE_COMPACTION_RUN,
    STAGE_COMPACTION_PROCESS_KV,
    STAGE_COMPACTION_INSTALL,
    STAGE_COMPACTION_SYNC_FILE,
    STAGE_PICK_MEMTABLES_TO_FLUSH,
    STAGE_MEMTABLE_ROLLBACK,
    STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS,
    NUM_OP_STAGES,
  };

  // Indexes in op_properties for an operation of OP_COMPACTION.
  enum CompactionPropertyType : int {
    // Number of the job, as in the LOG and in the structures of listeners.
    COMPACTION_JOB_ID = 0,
    // The first input level in the upper 32 bits, and the output level in the lower ones.
    COMPACTION_INPUT_OUTPUT_LEVEL,
    // Bit 0 is set if a call asked for the compaction, bit 1 if it only deletes files, bit 2 if it
    // only moves files to another level.
    COMPACTION_PROP_FLAGS,
    // Bytes of all input tables, known from the beginning.
    COMPACTION_TOTAL_INPUT_BYTES,
    // Bytes read and written, known only at the end of the job; 0 before.
    COMPACTION_BYTES_READ,
    COMPACTION_BYTES_WRITTEN,
    NUM_COMPACTION_PROPERTIES,
  };
  // Indexes in op_properties for an operation of OP_FLUSH.
  enum FlushPropertyType : int {
    // Number of the job, as in the LOG and in the structures of listeners.
    FLUSH_JOB_ID = 0,
    // Bytes of keys and values in the memtables, known from the beginning.
    FLUSH_BYTES_MEMTABLES,
    // Bytes of the table; 0 until it is written.
    FLUSH_BYTES_WRITTEN,
    NUM_FLUSH_PROPERTIES,
  };
  // Length of op_properties, enough for each operation.
  static constexpr int kNumOperationProperties =
      std::max<int>(NUM_COMPACTION_PROPERTIES, NUM_FLUSH_PROPERTIES);

  // The wait of the thread. Always STATE_UNKNOWN, as waits are not tracked.
  enum StateType : int {
    STATE_UNKNOWN = 0,
    STATE_MUTEX_WAIT = 1,
    NUM_STATE_TYPES,
  };

  // `properties` has kNumOperationProperties elements, or is null for zeros.
  ThreadStatus(uint64_t id, ThreadType type, std::string db, std::string cf,
               OperationType operation, uint64_t elapsed_micros, OperationStage stage,
               const uint64_t* properties, StateType state)
      : thread_id(id),
        thread_type(type),
        db_name(std::move(db)),
        cf_name(std::move(cf)),
        operation_type(operation),
        op_elapsed_micros(elapsed_micros),
        operation_stage(stage),
        op_properties(),
        state_type(state) {
    if (properties != nullptr) {
      std::copy(properties, properties + kNumOperationProperties, op_properties);
    }
  }

  // Identifies the thread: the value of Env::GetThreadID() on it.
  uint64_t thread_id;
  // The pool that the thread belongs to.
  ThreadType thread_type;
  // Name of the job's database directory and of its column family. Both are empty without an
  // operation.
  std::string db_name;
  std::string cf_name;
  // Kind of the job, or OP_UNKNOWN if the thread is idle or its database is not tracked.
  OperationType operation_type;
  // Microseconds since the job began; 0 without an operation.
  uint64_t op_elapsed_micros;
  OperationStage operation_stage;
  // Properties of the job at the indexes above. Those not known yet are 0.
  uint64_t op_properties[kNumOperationProperties];
  // Always STATE_UNKNOWN.
  StateType state_type;

  // Return readable names. For a number out of range they return "Unknown", or "" for a property.
  static std::string GetThreadTypeName(ThreadType thread_type);
  // The references stay valid until the process ends.
  static const std::string& GetOperationName(OperationType op_type);
  static const std::string& GetOperationStageName(OperationStage stage);
  static const std::string& GetOperationPropertyName(OperationType op_type, int i);
  static const std::string& GetStateName(StateType state_type);
  // Returns a text such as "1.002003 s".
  static std::string MicrosToString(uint64_t op_elapsed_micros);
  // Returns names and values of an operation's properties, with levels and flags separated.
  // `op_properties` has kNumOperationProperties elements.
  static std::map<std::string, uint64_t> InterpretOperationProperties(
      OperationType op_type, const uint64_t* op_properties);
};

}  // namespace varve
