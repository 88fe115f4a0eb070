// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what one read pins of a column family: its memtables, its tables and its options, at one
// moment.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"

#include "db/version/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "util/base/assert.h"
#include "util/key/merge_caller.h"

namespace varve {

// Immutable except for its reference count. Created under the DB mutex; the last Unref, wherever it
// happens, frees it and with it the references to memtables and tables.
//
// Thread safety: all methods may be called from any thread.
class SuperVersion {
 public:
  SuperVersion(uint64_t number, std::shared_ptr<MemTable> mem,
               std::vector<std::shared_ptr<MemTable>> immutables, VersionRef version,
               std::shared_ptr<const ColumnFamilyOptions> options,
               std::shared_ptr<TableCache> table_cache, const MergeCaller& merger = MergeCaller(),
               std::string full_history_ts_low = {},
               SequenceNumber sequence_limit = kMaxSequenceNumber)
      : number_(number),
        mem_(std::move(mem)),
        immutables_(std::move(immutables)),
        version_(std::move(version)),
        options_(std::move(options)),
        table_cache_(std::move(table_cache)),
        merger_(merger),
        full_history_ts_low_(std::move(full_history_ts_low)),
        sequence_limit_(sequence_limit) {}
  SuperVersion(const SuperVersion&) = delete;
  SuperVersion& operator=(const SuperVersion&) = delete;

  void Ref() {
    const uint32_t before = refs_.fetch_add(1, std::memory_order_relaxed);
    VARVE_ASSERT(before > 0);
  }
  // Releases a reference. Returns true if that was the last one.
  bool Unref() {
    // Release: this holder's reads happen before the destruction; acquire: so do those of others.
    const uint32_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    VARVE_ASSERT(before > 0);
    if (before == 1) delete this;
    return before == 1;
  }

  uint64_t number() const { return number_; }  // grows with each change of the family
  MemTable* mem() const { return mem_.get(); }
  // Returns the immutable memtables, newest first.
  const std::vector<std::shared_ptr<MemTable>>& immutables() const { return immutables_; }
  const Version& version() const { return *version_; }
  const VersionRef& shared_version() const { return version_; }
  const ColumnFamilyOptions& options() const { return *options_; }
  TableCache* table_cache() const { return table_cache_.get(); }
  // Returns the merge caller, with the operator of options() if there is one.
  const MergeCaller& merger() const { return merger_; }
  // Reads as of an older timestamp may miss what compactions have dropped. Empty: there is no
  // limit.
  const std::string& full_history_ts_low() const { return full_history_ts_low_; }
  // Reads see nothing newer than this: if another process writes the database, the memtables get
  // incomplete data, and the tables lack data they once had. Otherwise kMaxSequenceNumber.
  SequenceNumber sequence_limit() const { return sequence_limit_; }
  SequenceNumber Limit(SequenceNumber sequence) const {
    return std::min(sequence, sequence_limit_);
  }

 private:
  ~SuperVersion() = default;

  // Number of references; the decrement to zero makes every holder's reads visible to the deleter.
  std::atomic<uint32_t> refs_{1};
  const uint64_t number_;
  const std::shared_ptr<MemTable> mem_;
  const std::vector<std::shared_ptr<MemTable>> immutables_;
  const VersionRef version_;
  const std::shared_ptr<const ColumnFamilyOptions> options_;
  const std::shared_ptr<TableCache> table_cache_;
  const MergeCaller merger_;
  const std::string full_history_ts_low_;
  const SequenceNumber sequence_limit_;
};

}  // namespace varve
