// SPDX-License-Identifier: Apache-2.0
#pragma once

// SuperVersion holds the memtables, tables and options of a column family at one moment, which a
// read pins together.
//
//      SuperVersion 17 -- mem        (being written)         searched first
//                     |-- immutables (newest first)
//                     |-- version    (tables and blob files)  searched last
//                     '-- options, table cache, merge operator
//
// A read takes one reference instead of one for each part, and sees parts that belong together:
// data that a flush moves from a memtable to a table is in exactly one of the two. Whenever a
// family changes (a memtable is switched, a version is installed, options are set), a new
// super-version with the next number replaces the current one. Old ones live as long as readers
// have references, and keep their memtables and files alive; so an iterator that is not deleted
// occupies memory and disk space.

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

// Immutable except for its reference count. Created under the DB mutex; the last Unref, on any
// thread, deletes it and releases the memtables and tables.
//
// Thread-safe.
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

  // Adds a reference. Requires that the caller has one, or holds the DB mutex while this is the
  // family's current super-version.
  void Ref() {
    const uint32_t before = refs_.fetch_add(1, std::memory_order_relaxed);
    VARVE_ASSERT(before > 0);
  }
  // Releases a reference. Returns true if that was the last one.
  bool Unref() {
    // With release and acquire, the reads of all holders happen before the destruction.
    const uint32_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    VARVE_ASSERT(before > 0);
    if (before == 1) delete this;
    return before == 1;
  }

  uint64_t number() const { return number_; }  // increases with each super-version
  // Returns the active memtable. Writers insert while readers search it.
  MemTable* mem() const { return mem_.get(); }
  // Returns the immutable memtables, newest first.
  const std::vector<std::shared_ptr<MemTable>>& immutables() const { return immutables_; }
  // Returns the version, which has the tables and blob files.
  const Version& version() const { return *version_; }
  const VersionRef& shared_version() const { return version_; }
  // Returns the effective options when this was made.
  const ColumnFamilyOptions& options() const { return *options_; }
  TableCache* table_cache() const { return table_cache_.get(); }
  // Returns the caller of the merge operator of options().
  const MergeCaller& merger() const { return merger_; }
  // Reads at a timestamp below this one may miss versions that compactions have dropped. Empty if
  // there is no limit.
  const std::string& full_history_ts_low() const { return full_history_ts_low_; }
  // Reads must not see newer entries than this one's: in a secondary, memtables may have incomplete
  // newer data. kMaxSequenceNumber in other databases.
  SequenceNumber sequence_limit() const { return sequence_limit_; }
  // Returns the sequence number for a read at `sequence`: the smaller of that and the limit.
  SequenceNumber Limit(SequenceNumber sequence) const {
    return std::min(sequence, sequence_limit_);
  }

 private:
  // Private, because the last Unref deletes the object.
  ~SuperVersion() = default;

  // Number of references.
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
