// SPDX-License-Identifier: Apache-2.0
#pragma once

// What flushes and compactions check of their entries, as DBOptions have it.

namespace varve {

struct EntryChecks {
  bool enforce_single_del_contracts = true;
  bool count = true;  // that the inputs' entries are all there: flush_verify_memtable_count and
                      // compaction_verify_record_count
  bool allow_data_in_errors = false;  // what a failed check says may show keys
};

}  // namespace varve
