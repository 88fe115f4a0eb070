// SPDX-License-Identifier: Apache-2.0
#pragma once

// DBWithTTL is a database whose entries have a lifetime.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/utilities/stackable_db.h"

namespace varve {

// The files have RocksDB's format: each value and merge operand is followed by its write time, four
// bytes with the seconds since 1970. So a database must be opened with lifetimes always or never.
// If such a database is opened as a plain one, its values have four more bytes. Values that a plain
// one wrote lose four bytes here, or, where these bytes are no time since 2013, are Corruption for
// their keys alone. Times reach to 2106; RocksDB reads those before 2038.
//
// An entry expires when the lifetime of its column family has passed since its write time. Get,
// MultiGet, GetMergeOperands, KeyMayExist and iterators do not show expired entries; they use the
// time at which the call, the iterator or its snapshot began, so reads through a snapshot are
// repeatable. A later compaction removes expired entries, except those that an older snapshot could
// show.
//
// A merge renews the lifetime of its key. An operand is not merged with a value that had expired
// when the operand was written. Operands are merged when the value is read or compacted, with the
// lifetime in force then.
//
// Time never goes back, within an opening or from one to the next: it is stored in the MANIFEST.
// After a crash it may be up to a minute ahead of the clock, and stands still until the clock
// reaches it. If the machine's clock was ahead by more, entries are judged by that time until the
// clock has caught up.
//
// Lifetimes are not stored: each opening sets them, and one that is too short by mistake empties
// the database. With zero and negative lifetimes entries never expire.
//
// NotSupported: column families with user timestamps, at opening or created later; ingestion of
// files, because their values have no times (GetBaseDB()->IngestExternalFile takes files that
// have). enforce_single_del_contracts is off, because compaction may replace an expired entry with
// a Delete. Data from the base database includes the times: GetUpdatesSince, checkpoints, exported
// files. A CompactionFilter sees values without them.
//
// Thread safety: as DB.
class VARVE_EXPORT DBWithTTL : public StackableDB {
 public:
  // Opens a database whose entries live for `ttl` seconds, as DB::Open does, or as
  // DB::OpenForReadOnly if `read_only`; reads hide expired entries then as well. On success the
  // caller owns *dbptr.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);

  // Opens the database with these column families. `ttls` must have the lifetime of each, in
  // seconds and in the same order; otherwise InvalidArgument.
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  ~DBWithTTL() override = default;

  // Creates a column family whose entries live for `ttl` seconds. CreateColumnFamily and the other
  // calls of DB create families whose entries never expire.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // Sets the lifetime in seconds of the column family (without a handle: the default one), also
  // that of existing entries, from the next call and the next compaction on: a longer lifetime
  // shows expired entries again unless they were removed. Does nothing for a handle of another
  // database.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* column_family, int32_t ttl) = 0;
  // Sets *ttl to the lifetime in seconds. InvalidArgument: the handle is of another database, or
  // `ttl` is null.
  virtual Status GetTtl(ColumnFamilyHandle* column_family, int32_t* ttl) = 0;

  // Puts a value that lives for `ttl` seconds, whatever the family's lifetime. It is stored with a
  // shifted write time, so RocksDB expires it at the same second, and a later SetTtl moves its end
  // by the difference. InvalidArgument: either lifetime is not positive, or the shifted time would
  // be before 2013 or after 2106. RocksDB has no such call.
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
