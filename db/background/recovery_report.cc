// SPDX-License-Identifier: Apache-2.0
#include "db/background/engine.h"

namespace varve {

std::string RecoveryReport::ToString() const {
  std::string text = "logs_read=" + std::to_string(logs_read) +
                     " records_replayed=" + std::to_string(records_replayed) +
                     " bytes_replayed=" + std::to_string(bytes_replayed) +
                     " dropped_bytes=" + std::to_string(dropped_bytes) +
                     " last_sequence=" + std::to_string(last_sequence) +
                     " micros=" + std::to_string(micros);
  if (first_bad_log != 0) {
    text += " first_bad_log=" + std::to_string(first_bad_log) +
            " first_bad_offset=" + std::to_string(first_bad_offset) + " reason=\"" +
            first_bad_reason + "\"";
  }
  for (const std::string& file : files_set_aside) text += " set_aside=" + file;
  return text;
}

}  // namespace varve
