// SPDX-License-Identifier: Apache-2.0
#pragma once

// State of an environment's background threads, returned by Env::GetThreadList().

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "varve/export.h"

namespace varve {

// A copy that never changes. Databases opened with DBOptions::enable_thread_tracking report the
// state of their jobs; all other threads are listed without an operation.
struct VARVE_EXPORT ThreadStatus {
  // The thread's pool.
  enum ThreadType : int {
    HIGH_PRIORITY = 0,
    LOW_PRIORITY,
    USER,
    BOTTOM_PRIORITY,
    NUM_THREAD_TYPES,
  };

  // Only the first three occur, as calls run on users' threads, which are not listed.
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

  // Indexes in op_properties.
  enum CompactionPropertyType : int {
    COMPACTION_JOB_ID = 0,
    COMPACTION_INPUT_OUTPUT_LEVEL,  // first input level << 32 | output level
    COMPACTION_PROP_FLAGS,          // bit 0: requested, 1: only deletes files, 2: only moves files
    COMPACTION_TOTAL_INPUT_BYTES,
    COMPACTION_BYTES_READ,     // set when they are read
    COMPACTION_BYTES_WRITTEN,  // set when they are written
    NUM_COMPACTION_PROPERTIES,
  };
  enum FlushPropertyType : int {
    FLUSH_JOB_ID = 0,
    FLUSH_BYTES_MEMTABLES,
    FLUSH_BYTES_WRITTEN,  // set when they are written
    NUM_FLUSH_PROPERTIES,
  };
  static constexpr int kNumOperationProperties =
      std::max<int>(NUM_COMPACTION_PROPERTIES, NUM_FLUSH_PROPERTIES);

  // Always STATE_UNKNOWN.
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

  uint64_t thread_id;  // value of Env::GetThreadID() on that thread
  ThreadType thread_type;
  // Both are empty without an operation.
  std::string db_name;
  std::string cf_name;
  OperationType operation_type;
  uint64_t op_elapsed_micros;
  OperationStage operation_stage;
  uint64_t op_properties[kNumOperationProperties];
  StateType state_type;

  // Return readable names; "Unknown" for a number out of range, an empty name for such a property.
  static std::string GetThreadTypeName(ThreadType thread_type);
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
