// SPDX-License-Identifier: Apache-2.0
#pragma once

// WalFilter decides, while a database is opened, which records of its logs are replayed.
//
//   class WithoutAudit : public varve::WalFilter {
//    public:
//     const char* Name() const override { return "WithoutAudit"; }
//     WalProcessingOption LogRecord(const varve::WriteBatch& batch, varve::WriteBatch*,
//                                   bool*) const override {
//       return IsAudit(batch) ? WalProcessingOption::kIgnoreCurrentRecord
//                             : WalProcessingOption::kContinueProcessing;
//     }
//   };

#include <cstdint>
#include <map>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"

namespace varve {

class WriteBatch;

// Set in DBOptions::wal_filter. A decision of the filter is final: an opening writes the replayed
// records to tables, whatever avoid_flush_during_recovery says, and needs the logs no more. A
// read-only opening asks the filter again each time. Repairs, secondaries, backups and change
// streams do not ask it.
//
// Thread safety: one opening calls it from one thread at a time. An exception fails the opening.
class VARVE_EXPORT WalFilter : public Customizable {
 public:
  static const char* Type() { return "WalFilter"; }
  ~WalFilter() override = default;

  enum class WalProcessingOption {
    // Replays the record, or the batch that replaces it.
    kContinueProcessing = 0,
    // Leaves the record out, and goes on with the next one.
    kIgnoreCurrentRecord = 1,
    // Leaves out this record and all later ones, of all logs.
    kStopReplay = 2,
    // Treats the record as damaged, so that DBOptions::wal_recovery_mode decides.
    kCorruptedRecord = 3,
    // The number of answers. It is no answer itself.
    kWalProcessingOptionMax = 4,
  };

  // Called once, before the first record. Records of a log below the number of their column family
  // are in tables already, and are not applied to it again. The maps have the number of the log by
  // the column family's number, and the latter by its name.
  virtual void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
                                        const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {
  }

  // Decides about a record; `batch` is what was written. To replay something else instead, fills
  // *new_batch, which is empty, sets *batch_changed, which is false at first, to true, and returns
  // kContinueProcessing. The new batch may not have more updates than `batch`; otherwise the
  // opening fails with NotSupported. The default calls LogRecord.
  virtual WalProcessingOption LogRecordFound(unsigned long long /*log_number*/,
                                             const std::string& /*log_file_name*/,
                                             const WriteBatch& batch, WriteBatch* new_batch,
                                             bool* batch_changed) {
    return LogRecord(batch, new_batch, batch_changed);
  }
  // Older form of LogRecordFound.
  virtual WalProcessingOption LogRecord(const WriteBatch& /*batch*/, WriteBatch* /*new_batch*/,
                                        bool* /*batch_changed*/) const {
    return WalProcessingOption::kContinueProcessing;
  }

  const char* Name() const override = 0;
};

}  // namespace varve
