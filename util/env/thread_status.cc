// SPDX-License-Identifier: Apache-2.0
// Defines the names of the values in varve/thread_status.h.

#include "varve/thread_status.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace varve {

namespace {

template <size_t kCount>
using Names = std::array<std::string, kCount>;

// Returns the i-th name, or the first if there is none.
template <size_t kCount>
const std::string& NameAt(const Names<kCount>& names, int i) {
  return names[i >= 0 && static_cast<size_t>(i) < kCount ? static_cast<size_t>(i) : 0];
}

const std::string& NoName() {
  static const std::string none;
  return none;
}

}  // namespace

std::string ThreadStatus::GetThreadTypeName(ThreadType thread_type) {
  switch (thread_type) {
    case HIGH_PRIORITY:
      return "High Pri";
    case LOW_PRIORITY:
      return "Low Pri";
    case USER:
      return "User";
    case BOTTOM_PRIORITY:
      return "Bottom Pri";
    case NUM_THREAD_TYPES:
      break;
  }
  return "Unknown";
}

const std::string& ThreadStatus::GetOperationName(OperationType op_type) {
  static const Names<NUM_OP_TYPES> names = {"Unknown",
                                            "Compaction",
                                            "Flush",
                                            "DBOpen",
                                            "Get",
                                            "MultiGet",
                                            "DBIterator",
                                            "VerifyDBChecksum",
                                            "VerifyFileChecksums",
                                            "GetEntity",
                                            "MultiGetEntity",
                                            "GetFileChecksumsFromCurrentManifest"};
  return NameAt(names, op_type);
}

const std::string& ThreadStatus::GetOperationStageName(OperationStage stage) {
  static const Names<NUM_OP_STAGES> names = {"Unknown",
                                             "Flush: run",
                                             "Flush: write L0",
                                             "Compaction: prepare",
                                             "Compaction: run",
                                             "Compaction: entries",
                                             "Compaction: install",
                                             "Compaction: sync",
                                             "Flush: pick memtables",
                                             "Flush: roll back",
                                             "Flush: install"};
  return NameAt(names, stage);
}

const std::string& ThreadStatus::GetOperationPropertyName(OperationType op_type, int i) {
  static const Names<NUM_COMPACTION_PROPERTIES> of_compaction = {
      "JobID", "InputOutputLevel", "Flags", "TotalInputBytes", "BytesRead", "BytesWritten"};
  static const Names<NUM_FLUSH_PROPERTIES> of_flush = {"JobID", "BytesMemtables", "BytesWritten"};
  if (op_type == OP_COMPACTION && i >= 0 && i < NUM_COMPACTION_PROPERTIES) {
    return NameAt(of_compaction, i);
  }
  if (op_type == OP_FLUSH && i >= 0 && i < NUM_FLUSH_PROPERTIES) return NameAt(of_flush, i);
  return NoName();
}

const std::string& ThreadStatus::GetStateName(StateType state_type) {
  static const Names<NUM_STATE_TYPES> names = {"Unknown", "Mutex wait"};
  return NameAt(names, state_type);
}

std::string ThreadStatus::MicrosToString(uint64_t op_elapsed_micros) {
  char text[48];
  (void)std::snprintf(text, sizeof(text), "%llu.%06llu s",
                      static_cast<unsigned long long>(op_elapsed_micros / 1000000),
                      static_cast<unsigned long long>(op_elapsed_micros % 1000000));
  return text;
}

std::map<std::string, uint64_t> ThreadStatus::InterpretOperationProperties(
    OperationType op_type, const uint64_t* op_properties) {
  std::map<std::string, uint64_t> values;
  const int count = op_type == OP_COMPACTION ? static_cast<int>(NUM_COMPACTION_PROPERTIES)
                    : op_type == OP_FLUSH    ? static_cast<int>(NUM_FLUSH_PROPERTIES)
                                             : 0;
  for (int i = 0; i < count; i++) {
    const uint64_t value = op_properties[i];
    // Two levels share this number: the upper half is the first input's, the lower half the
    // output's. The flags are one bit each.
    if (op_type == OP_COMPACTION && i == COMPACTION_INPUT_OUTPUT_LEVEL) {
      values["BaseInputLevel"] = value >> 32;
      values["OutputLevel"] = value & 0xffffffffu;
    } else if (op_type == OP_COMPACTION && i == COMPACTION_PROP_FLAGS) {
      values["IsManual"] = value & 1;
      values["IsDeletion"] = value >> 1 & 1;
      values["IsTrivialMove"] = value >> 2 & 1;
    } else {
      values[GetOperationPropertyName(op_type, i)] = value;
    }
  }
  return values;
}

}  // namespace varve
