// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the command line, which flags.cc defines and explains.

#include <gflags/gflags.h>

DECLARE_string(db);
DECLARE_string(expected_values_dir);
DECLARE_uint64(seed);
DECLARE_int32(threads);
DECLARE_uint64(ops_per_thread);
DECLARE_uint64(max_key);
DECLARE_int32(column_families);
DECLARE_int32(value_size_mult);
DECLARE_int32(reopen);
DECLARE_int32(kill_random_test);
DECLARE_int32(kill_after_ms);
DECLARE_int32(hang_seconds);
DECLARE_bool(destroy_db_initially);
DECLARE_bool(random_options);
DECLARE_int32(user_timestamp_size);
DECLARE_bool(persist_user_defined_timestamps);
DECLARE_int32(ttl);
DECLARE_int32(readpercent);
DECLARE_int32(prefixpercent);
DECLARE_int32(writepercent);
DECLARE_int32(mergepercent);
DECLARE_int32(delpercent);
DECLARE_int32(delrangepercent);
DECLARE_int32(iterpercent);
DECLARE_int32(multigetpercent);
DECLARE_int32(nooverwritepercent);
DECLARE_int32(use_put_entity_one_in);
DECLARE_int32(flush_one_in);
DECLARE_int32(compact_range_one_in);
DECLARE_int32(set_style_one_in);
DECLARE_int32(clear_column_family_one_in);
DECLARE_int32(temporary_family_one_in);
DECLARE_int32(acquire_snapshot_one_in);
DECLARE_int32(snapshot_hold_ops);
DECLARE_int32(sync_wal_one_in);
DECLARE_int32(verify_checksum_one_in);
DECLARE_int32(verify_db_one_in);
DECLARE_int32(checkpoint_one_in);
DECLARE_int32(backup_one_in);
DECLARE_int32(ingest_external_file_one_in);
DECLARE_int32(change_stream_one_in);
DECLARE_int32(secondary_one_in);
DECLARE_bool(sync);
DECLARE_bool(disable_wal);
DECLARE_string(write_mode);
DECLARE_bool(use_txn);
DECLARE_bool(use_optimistic_txn);
DECLARE_int32(txn_write_policy);
DECLARE_string(memtablerep);
DECLARE_uint64(write_buffer_size);
DECLARE_uint64(target_file_size_base);
DECLARE_string(compression_type);
DECLARE_bool(enable_blob_files);
DECLARE_uint64(min_blob_size);
DECLARE_uint64(blob_file_size);
DECLARE_bool(enable_blob_garbage_collection);
DECLARE_double(blob_garbage_collection_age_cutoff);
DECLARE_double(blob_garbage_collection_force_threshold);
