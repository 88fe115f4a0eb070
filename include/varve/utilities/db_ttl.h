// SPDX-License-Identifier: Apache-2.0
#pragma once

// DBWithTTL: a database whose entries have a lifetime.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/utilities/stackable_db.h"

namespace varve {

// The files are RocksDB's: behind each value and merge operand stands the time of its writing, four
// bytes with the seconds since 1970. So a database is opened with lifetimes always, or never: what
// is opened without shows values with four bytes more, and values that were written without lose
// four bytes here, or are Corruption, for their keys alone, where these are no time since 2013. The
// times reach to 2106; RocksDB reads those before 2038.
//
// An entry is expired when its time and the lifetime of its column family have passed. It is then
// not there: Get, MultiGet, GetMergeOperands, KeyMayExist and iterators do not show it, by the time
// at which the call, the iterator or its snapshot began; reads through a snapshot repeat. A later
// compaction removes it, but for those that a snapshot taken before could show.
//
// A merge renews the lifetime of its key. What was expired when an operand was written is not
// merged with it. A merge is not done before its value is read or compacted, by the lifetime in
// force then.
//
// Time never goes back, in an opening or from one to the next: it is kept in the MANIFEST. After a
// crash it may be a minute ahead of the clock, and waits for that. Where the machine's clock was
// ahead by more, entries are judged by that until the clock has caught up.
//
// A lifetime is no part of the data: it is what this opening says, and one that is too short by
// mistake empties the database. Zero and negative ones never end.
//
// NotSupported: column families with user timestamps, in an opening or as a new one; ingestion of
// files, whose values have no times (GetBaseDB()->IngestExternalFile takes those that have).
// enforce_single_del_contracts is off, as an entry that a compaction removes may leave a Delete.
// What comes from below has the times on it: GetUpdatesSince, checkpoints, exported files. A
// CompactionFilter sees values without them.
//
// Thread safety: as DB.
class VARVE_EXPORT DBWithTTL : public StackableDB {
 public:
  // Lifetimes are in seconds. A database that is read-only expires entries as well, for its reads.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);

  // One lifetime for each column family, in their order: InvalidArgument otherwise.
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  ~DBWithTTL() override = default;

  // CreateColumnFamily and its like make families whose entries live for ever.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // For what is there, too, from the next call and the next compaction on: a longer lifetime shows
  // again what was expired and is not removed yet. Does nothing for a handle of another database.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* column_family, int32_t ttl) = 0;
  // InvalidArgument: the handle is of another database.
  virtual Status GetTtl(ColumnFamilyHandle* column_family, int32_t* ttl) = 0;

  // Varve's own: Put with a lifetime of its own, in place of the family's. It is stored as if it
  // had been written at another time, so that RocksDB expires it at the same second, and that a
  // later SetTtl moves its end by the difference. InvalidArgument: either lifetime is not positive,
  // or that time would be before 2013 or after 2106.
  virtual Status PutWithTtl(const WriteOptions& options, ColumnFamilyHandle* column_family,
                            const Slice& key, const Slice& value, int32_t ttl) = 0;
  Status PutWithTtl(const WriteOptions& options, const Slice& key, const Slice& value,
                    int32_t ttl) {
    return PutWithTtl(options, DefaultColumnFamily(), key, value, ttl);
  }

 protected:
  explicit DBWithTTL(DB* db) : StackableDB(db) {}
};

}  // namespace varve
