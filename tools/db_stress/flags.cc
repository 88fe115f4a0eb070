// SPDX-License-Identifier: Apache-2.0

// Defines the flags. Names and meanings are those of RocksDB's db_stress where both have them.

#include "tools/db_stress/flags.h"

DEFINE_string(db, "", "Directory of the database; empty: one in the system's directory of tests");
DEFINE_string(expected_values_dir, "", "Where the expected state is kept; empty: beside the db");
DEFINE_uint64(seed, 1, "Operations and options follow from it");
DEFINE_int32(threads, 4, "Threads of operations");
DEFINE_uint64(ops_per_thread, 10000, "Operations of each thread, of each round");
DEFINE_uint64(max_key, 2000, "Keys of each column family");
DEFINE_int32(column_families, 2, "Column families");
DEFINE_int32(value_size_mult, 8, "Values have up to so many times 16 bytes");
DEFINE_int32(reopen, 2, "How often the database is closed and opened on the way");
DEFINE_int32(kill_random_test, 0,
             "Rounds of child processes that kill themselves at some moment; 0: none is killed");
DEFINE_int32(kill_after_ms, 400, "... of the first so many milliseconds");
DEFINE_int32(hang_seconds, 120, "A round hangs that does nothing for so long");
DEFINE_bool(destroy_db_initially, true, "Begin with an empty database");
DEFINE_bool(random_options, true, "Draw options of the database for each opening");
DEFINE_int32(user_timestamp_size, 0, "Bytes of user timestamps: 0 or 8");
DEFINE_bool(persist_user_defined_timestamps, true, "Store them in tables");
DEFINE_int32(ttl, -1,
             "Open as a DBWithTTL with this lifetime, in seconds: an hour or more, as entries must "
             "not expire; -1: open as a DB");

DEFINE_int32(readpercent, 30, "Get and GetMergeOperands; the percentages add up to 100");
DEFINE_int32(prefixpercent, 5, "Scans of a prefix");
DEFINE_int32(writepercent, 30, "Put");
DEFINE_int32(mergepercent, 10, "Merge");
DEFINE_int32(delpercent, 8, "Delete; SingleDelete of keys that are not overwritten");
DEFINE_int32(delrangepercent, 2, "DeleteRange");
DEFINE_int32(iterpercent, 8, "Iterators, both ways, with bounds");
DEFINE_int32(multigetpercent, 7, "MultiGet, half of them at a snapshot");
DEFINE_int32(nooverwritepercent, 6, "Share of keys that are never overwritten");
DEFINE_int32(use_put_entity_one_in, 6,
             "Put writes an entity; 0: never. Not with user timestamps, nor "
             "with --ttl");

DEFINE_int32(flush_one_in, 500, "Flush; 0: never, as below");
DEFINE_int32(compact_range_one_in, 1500, "CompactRange");
DEFINE_int32(set_style_one_in, 3000, "Set another compaction style, and blob options");
DEFINE_int32(clear_column_family_one_in, 6000, "Drop a family and make it again");
DEFINE_int32(temporary_family_one_in, 3000, "Make a family beside the others, use and drop it");
DEFINE_int32(acquire_snapshot_one_in, 100, "Take a snapshot");
DEFINE_int32(snapshot_hold_ops, 300, "Operations that a snapshot is held for");
DEFINE_int32(sync_wal_one_in, 200, "FlushWAL, SyncWAL");
DEFINE_int32(verify_checksum_one_in, 3000, "VerifyChecksum");
DEFINE_int32(verify_db_one_in, 5000, "Read every key");
DEFINE_int32(checkpoint_one_in, 15000, "Make a checkpoint, and read it");
DEFINE_int32(backup_one_in, 30000, "Make a backup, verify and restore it, and read that");
DEFINE_int32(ingest_external_file_one_in, 2000, "Put some keys by a file");
DEFINE_int32(change_stream_one_in, 5000, "Look for some writes in a change stream");
DEFINE_int32(secondary_one_in, 0, "Follow as a secondary, and read that");

DEFINE_bool(sync, false, "Sync every write, unless options are drawn");
DEFINE_bool(disable_wal, false, "Write without a log, unless options are drawn");
DEFINE_string(write_mode, "",
              "ordered, pipelined, unordered, two_queues, no_log, mixed_log, manual_wal_flush, "
              "serial, sync; empty: drawn");
DEFINE_bool(use_txn, false, "Pessimistic transactions: all writes are in one");
DEFINE_bool(use_optimistic_txn, false,
            "Optimistic transactions: all writes of single keys are in one");
DEFINE_int32(txn_write_policy, 0,
             "0: WRITE_COMMITTED; 1: WRITE_PREPARED, as always with unordered writes");
DEFINE_string(
    memtablerep, "",
    "Kind of memtable: skip_list, plain_skip_list or vector; empty: one of the first two is "
    "drawn, the first unless options are");
DEFINE_uint64(write_buffer_size, 256 << 10, "Bytes of a memtable, unless drawn");
DEFINE_uint64(target_file_size_base, 128 << 10, "Bytes of a table, unless drawn");
DEFINE_string(compression_type, "snappy", "Codec of tables, unless drawn");
DEFINE_bool(enable_blob_files, false,
            "Keep values apart; these options of blob files are drawn, too");
DEFINE_uint64(min_blob_size, 16, "Bytes of a value that is kept apart");
DEFINE_uint64(blob_file_size, 64 << 10, "Bytes of a blob file");
DEFINE_bool(enable_blob_garbage_collection, true, "Write values of old blob files anew");
DEFINE_double(blob_garbage_collection_age_cutoff, 0.5, "Share of blob files that are old");
DEFINE_double(blob_garbage_collection_force_threshold, 0.5,
              "Share of garbage that starts compactions");
