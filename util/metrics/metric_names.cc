// SPDX-License-Identifier: Apache-2.0
// Makes the published name of every ticker and histogram, in enum order: entry i describes value i.
// Names are part of the public contract: dashboards and scripts search for them.
//
// The prefix is RocksDB's, although the library is another: a dashboard goes on to find its
// metrics. Most names are the enumerators' in small letters, with dots: BLOCK_CACHE_HIT is called
// "rocksdb.block.cache.hit". Those that differ are listed here.

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/statistics.h"

#include "util/base/declared_names.h"

namespace varve {

namespace {

constexpr std::pair<Tickers, const char*> kOtherTickerNames[] = {
    {GET_HIT_L0, "rocksdb.l0.hit"},
    {GET_HIT_L1, "rocksdb.l1.hit"},
    {GET_HIT_L2_AND_UP, "rocksdb.l2andup.hit"},
    {COMPACTION_KEY_DROP_NEWER_ENTRY, "rocksdb.compaction.key.drop.new"},
    {COMPACTION_KEY_DROP_RANGE_DEL, "rocksdb.compaction.key.drop.range_del"},
    {COMPACTION_RANGE_DEL_DROP_OBSOLETE, "rocksdb.compaction.range_del.drop.obsolete"},
    {ITER_BYTES_READ, "rocksdb.db.iter.bytes.read"},
    {NUMBER_OF_RESEEKS_IN_ITERATION, "rocksdb.number.reseeks.iteration"},
    {NO_ITERATOR_CREATED, "rocksdb.num.iterator.created"},
    {NO_ITERATOR_DELETED, "rocksdb.num.iterator.deleted"},
    {NUMBER_MULTIGET_CALLS, "rocksdb.number.multiget.get"},
    {GET_UPDATES_SINCE_CALLS, "rocksdb.getupdatessince.calls"},
    {WAL_FILE_SYNCED, "rocksdb.wal.synced"},
    {WAL_FILE_BYTES, "rocksdb.wal.bytes"},
    {WRITE_DONE_BY_SELF, "rocksdb.write.self"},
    {WRITE_DONE_BY_OTHER, "rocksdb.write.other"},
    {WRITE_WITH_WAL, "rocksdb.write.wal"},
    {COMPACT_READ_BYTES_MARKED, "rocksdb.compact.read.marked.bytes"},
    {COMPACT_READ_BYTES_PERIODIC, "rocksdb.compact.read.periodic.bytes"},
    {COMPACT_READ_BYTES_TTL, "rocksdb.compact.read.ttl.bytes"},
    {COMPACT_WRITE_BYTES_MARKED, "rocksdb.compact.write.marked.bytes"},
    {COMPACT_WRITE_BYTES_PERIODIC, "rocksdb.compact.write.periodic.bytes"},
    {COMPACT_WRITE_BYTES_TTL, "rocksdb.compact.write.ttl.bytes"},
    {NUMBER_SUPERVERSION_ACQUIRES, "rocksdb.number.superversion_acquires"},
    {NUMBER_SUPERVERSION_RELEASES, "rocksdb.number.superversion_releases"},
    {NUMBER_SUPERVERSION_CLEANUPS, "rocksdb.number.superversion_cleanups"},
    {BYTES_COMPRESSION_BYPASSED, "rocksdb.bytes.compression_bypassed"},
    {NUMBER_BLOCK_COMPRESSION_BYPASSED, "rocksdb.number.block_compression_bypassed"},
    {NUMBER_BLOCK_COMPRESSION_REJECTED, "rocksdb.number.block_compression_rejected"},
    {MERGE_OPERATION_TOTAL_TIME, "rocksdb.merge.operation.time.nanos"},
    {FILTER_OPERATION_TOTAL_TIME, "rocksdb.filter.operation.time.nanos"},
    {COMPACTION_CPU_TOTAL_TIME, "rocksdb.compaction.total.time.cpu_micros"},
    {NUMBER_RATE_LIMITER_DRAINS, "rocksdb.number.rate_limiter.drains"},
    {BLOB_DB_WRITE_INLINED_DEPRECATED, "rocksdb.blobdb.write.inlined"},
    {BLOB_DB_WRITE_INLINED_TTL_DEPRECATED, "rocksdb.blobdb.write.inlined.ttl"},
    {TXN_PREPARE_MUTEX_OVERHEAD, "rocksdb.txn.overhead.mutex.prepare"},
    {TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD, "rocksdb.txn.overhead.mutex.old.commit.map"},
    {TXN_DUPLICATE_KEY_OVERHEAD, "rocksdb.txn.overhead.duplicate.key"},
    {TXN_SNAPSHOT_MUTEX_OVERHEAD, "rocksdb.txn.overhead.mutex.snapshot"},
    {TXN_GET_TRY_AGAIN, "rocksdb.txn.get.tryagain"},
    {FILES_DELETED_FROM_TRASH_QUEUE, "rocksdb.files.marked.trash.deleted"},
    {VERIFY_CHECKSUM_READ_BYTES, "rocksdb.verify_checksum.read.bytes"},
    {FIFO_CHANGE_TEMPERATURE_COMPACTIONS, "rocksdb.fifo.change_temperature.compactions"},
    {SST_FOOTER_CORRUPTION_COUNT, "rocksdb.footer.corruption.count"},
    {FLUSH_REASON_WRITE_BUFFER_FULL, "rocksdb.flush.reason.write_buffer_full"},
    {FLUSH_REASON_WRITE_BUFFER_MANAGER, "rocksdb.flush.reason.write_buffer_manager"},
    {FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
     "rocksdb.flush.reason.memtable_max_range_deletions"},
    {ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL,
     "rocksdb.atomic_flush.request.reason.write_buffer_full"},
    {ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER,
     "rocksdb.atomic_flush.request.reason.write_buffer_manager"},
    {ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
     "rocksdb.atomic_flush.request.reason.memtable_max_range_deletions"},
    {ATOMIC_FLUSH_REQUEST_REASON_OTHER, "rocksdb.atomic_flush.request.reason.other"},
};

constexpr std::pair<Histograms, const char*> kOtherHistogramNames[] = {
    {DB_GET, "rocksdb.db.get.micros"},
    {DB_WRITE, "rocksdb.db.write.micros"},
    {COMPACTION_TIME, "rocksdb.compaction.times.micros"},
    {COMPACTION_CPU_TIME, "rocksdb.compaction.times.cpu_micros"},
    {SUBCOMPACTION_SETUP_TIME, "rocksdb.subcompaction.setup.times.micros"},
    {DB_MULTIGET, "rocksdb.db.multiget.micros"},
    {NUM_FILES_IN_SINGLE_COMPACTION, "rocksdb.numfiles.in.singlecompaction"},
    {DB_SEEK, "rocksdb.db.seek.micros"},
    {WRITE_STALL, "rocksdb.db.write.stall"},
    {READ_NUM_MERGE_OPERANDS, "rocksdb.read.num.merge_operands"},
    {FLUSH_TIME, "rocksdb.db.flush.micros"},
    {FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES,
     "rocksdb.flush.write_buffer_full.memtable.memory.bytes"},
    {FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES,
     "rocksdb.flush.write_buffer_manager.memtable.memory.bytes"},
};

std::string UsualName(std::string_view enumerator) {
  constexpr std::string_view kBlobs = "BLOB_DB_";
  std::string name = "rocksdb.";
  if (enumerator.starts_with(kBlobs)) {
    name += "blobdb.";
    enumerator.remove_prefix(kBlobs.size());
  }
  for (const char c : enumerator) {
    name += c == '_' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// Returns the names of the values below kCount; `others` contains those that are not the usual.
template <typename E, size_t kCount, typename Others>
std::vector<std::pair<E, std::string>> NameMap(const Others& others) {
  std::vector<std::pair<E, std::string>> map;
  map.reserve(kCount);
  for (const std::string_view enumerator : kEnumeratorNames<E, kCount>) {
    map.emplace_back(static_cast<E>(map.size()), UsualName(enumerator));
  }
  for (const auto& [value, name] : others) map[value].second = name;
  return map;
}

}  // namespace

const std::vector<std::pair<Tickers, std::string>> TickersNameMap =
    NameMap<Tickers, TICKER_ENUM_MAX>(kOtherTickerNames);
const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap =
    NameMap<Histograms, HISTOGRAM_ENUM_MAX>(kOtherHistogramNames);

}  // namespace varve
