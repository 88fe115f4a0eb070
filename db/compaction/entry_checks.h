// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks of entries by flushes and compactions, as set in DBOptions.

namespace varve {

// A plain value, fixed for one job.
struct EntryChecks {
  bool enforce_single_del_contracts = true;  // true: a SingleDelete above a Delete is Corruption
  bool count = true;  // checks that all input entries are read: flush_verify_memtable_count and
                      // compaction_verify_record_count
  bool allow_data_in_errors = false;  // messages of failed checks may show keys
};

}  // namespace varve
