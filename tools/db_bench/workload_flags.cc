// SPDX-License-Identifier: Apache-2.0
// Flags that shape the work: what is run, on which keys and values, for how long, and what is
// reported. Names and defaults are those that published db_bench commands rely on.

#include "tools/db_bench/flags.h"

namespace {

bool IsPercentage(const char* /*flag*/, int32_t value) {
  return value >= 0 && value <= 100;
}

bool IsPositive(const char* /*flag*/, int32_t value) {
  return value > 0;
}

bool IsTimestampSize(const char* /*flag*/, int32_t value) {
  return value == 0 || value == 8;
}

bool IsShare(const char* /*flag*/, double value) {
  return value >= 0.0 && value <= 1.0;
}

bool IsSpeed(const char* /*flag*/, double value) {
  return value > 0.0;
}

bool IsThreadCount(const char* /*flag*/, int32_t value) {
  return value >= 1 && value <= 1024;
}

}  // namespace

// ---- What to run ----

DEFINE_string(benchmarks,
              "fillseq,fillsync,fillrandom,overwrite,readrandom,newiterator,"
              "newiteratorwhilewriting,seekrandom,seekrandomwhilewriting,readseq,readreverse,"
              "compact,compactall,flush,waitforcompaction,multireadrandom,readtocache,"
              "readwhilewriting,readrandomwriterandom,updaterandom,fill100K,crc32c,xxhash,"
              "xxhash64,xxh3,compress,uncompress",
              "Comma-separated list, run in order in one process. A name may carry [X5] (five "
              "runs), [W2] (two warm-up runs) or both, [X5-W2].");
DEFINE_string(db, "", "Directory of the database; empty: dbbench in the test directory");
DEFINE_string(wal_dir, "", "Directory of the logs; empty: the database's");
DEFINE_bool(use_existing_db, false,
            "Keep what is there; benchmarks that need a fresh database "
            "are skipped");
DEFINE_bool(use_existing_keys, false, "Draw from the stored keys instead of generated ones");
DEFINE_bool(readonly, false, "Open for reading only; implies --use_existing_db");
DEFINE_int64(num, 1000000, "Size of the key space, and the default count of operations");
DEFINE_int64(reads, -1, "Reads by each thread; negative: --num");
DEFINE_int64(writes, -1, "Writes by each thread; negative: --num");
DEFINE_int64(deletes, -1, "Deletes by each thread; negative: --num");
DEFINE_int32(bgwriter_num, -1, "Key space of the background writer; 0 or less: --num");
DEFINE_int32(threads, 1, "Worker threads; each performs the full count");
DEFINE_int32(duration, 0, "Seconds that replace the count where the benchmark honours it; 0: off");
DEFINE_int32(ops_between_duration_checks, 1000,
             "Operations from one look at the clock to the next");
DEFINE_int64(seed, 0, "Seed of all random draws; 0: from the time of day");
DEFINE_bool(finish_after_writes, false, "The background writer ends after --writes operations");
DEFINE_int32(num_column_families, 1, "Column families the keys are spread over");

// ---- Keys and values ----

DEFINE_int32(key_size, 16, "Bytes of a key");
DEFINE_int32(user_timestamp_size, 0,
             "Bytes of a timestamp after each key, 0 or 8; it rises with every operation");
DEFINE_bool(read_with_latest_user_timestamp, true,
            "Read as of the newest timestamp; false: as of a random one since the start");
DEFINE_int32(prefix_size, 0, "Bytes of the key prefix; above 0 also sets a prefix extractor");
DEFINE_int64(keys_per_prefix, 0, "Keys that share a prefix; 0: keys without prefix");
DEFINE_int32(value_size, 100, "Bytes of a value");
DEFINE_string(value_size_distribution_type, "fixed", "fixed, uniform or normal");
DEFINE_int32(value_size_min, 100, "Smallest value, unless fixed");
DEFINE_int32(value_size_max, 102400, "Largest value, unless fixed");
DEFINE_double(compression_ratio, 0.5, "Share of a value's bytes that is left when compressed");
DEFINE_double(read_random_exp_range, 0.0, "Above 0: skew of random reads, exponential");

// ---- Writing ----

DEFINE_int64(batch_size, 1, "Entries in a WriteBatch; keys in a MultiGet");
DEFINE_bool(disable_wal, false, "Write no log");
DEFINE_bool(sync, false, "Sync the log with every write");
DEFINE_bool(low_pri, false, "Writes yield when compaction is behind");
DEFINE_uint64(benchmark_write_rate_limit, 0, "Bytes a second that all writers may write; 0: any");
DEFINE_double(overwrite_probability, 0.0, "filluniquerandom: chance to write a recent key again");
DEFINE_uint32(overwrite_window_size, 1, "filluniquerandom: recent keys to choose from");
DEFINE_int64(writes_per_range_tombstone, 0,
             "fills and overwrite: entries between two range tombstones; 0: none");
DEFINE_int64(writes_before_delete_range, 0, "Entries before the first of these entries");
DEFINE_int64(range_tombstone_width, 100, "Keys that a range tombstone covers");
DEFINE_int64(max_num_range_tombstones, 0, "Range tombstones of a fill, at most");
DEFINE_bool(expand_range_tombstones, false, "Delete the keys of each range one by one instead");
DEFINE_uint64(disposable_entries_batch_size, 0,
              "fillanddeleteuniquerandom: entries of a round that are deleted again; 0: none");
DEFINE_uint64(disposable_entries_delete_delay, 0,
              "fillanddeleteuniquerandom: microseconds before they are");
DEFINE_int32(disposable_entries_value_size, 64, "Bytes of their values");
DEFINE_uint64(persistent_entries_batch_size, 0,
              "fillanddeleteuniquerandom: entries of a round that stay, written before these go");
DEFINE_int32(persistent_entries_value_size, 64, "Bytes of their values");

// ---- Tables from outside ----

DEFINE_int64(ingest_files, 100, "Files that writetables makes, at least 1");

// ---- Backups ----

DEFINE_string(backup_dir, "", "Where backup puts one, and restore takes the newest from");
DEFINE_uint64(backup_rate_limit, 0, "Bytes a second that backup writes; 0: any");
DEFINE_string(restore_dir, "", "Where restore makes a database");
DEFINE_uint64(restore_rate_limit, 0, "Bytes a second that restore writes; 0: any");

// ---- Reading ----

DEFINE_uint64(benchmark_read_rate_limit, 0, "Operations a second of all readers; 0: any");
DEFINE_bool(multiread_batched, false, "MultiGet into PinnableSlices instead of strings");
DEFINE_int64(multiread_stride, 0, "Distance of the keys in a batch; 0: each key is random");
DEFINE_int32(seek_nexts, 0, "Steps after each seek");
DEFINE_bool(reverse_iterator, false, "Those steps go backwards");
DEFINE_int64(max_scan_distance, 0, "Above 0: bound each scan to so many keys");
DEFINE_bool(use_tailing_iterator, false, "Seek with tailing iterators");
DEFINE_int32(readwritepercent, 90,
             "Percentage of reads in readrandomwriterandom and randomwithverify");
DEFINE_int32(deletepercent, 2, "Percentage of deletions in randomwithverify");
DEFINE_int64(merge_keys, -1,
             "Keys that mergerandom and readrandommergerandom choose from; negative: --num");
DEFINE_int32(mergereadpercent, 70, "Percentage of merges in readrandommergerandom");
DEFINE_bool(verify_checksum, true, "ReadOptions::verify_checksums");
DEFINE_bool(total_order_seek, false, "ReadOptions::total_order_seek");
DEFINE_bool(prefix_same_as_start, false, "ReadOptions::prefix_same_as_start");
DEFINE_bool(auto_prefix_mode, false, "ReadOptions::auto_prefix_mode");
DEFINE_int32(readahead_size, 0, "ReadOptions::readahead_size");
DEFINE_bool(adaptive_readahead, false, "ReadOptions::adaptive_readahead");
DEFINE_bool(auto_readahead_size, true, "ReadOptions::auto_readahead_size");
DEFINE_bool(async_io, false, "ReadOptions::async_io");
DEFINE_bool(optimize_multiget_for_io, true, "ReadOptions::optimize_multiget_for_io");
DEFINE_bool(rate_limit_user_ops, false, "Charge reads of the user to --rate_limiter_bytes_per_sec");
DEFINE_bool(rate_limit_auto_wal_flush, false, "Charge log writes to that limiter");
DEFINE_uint32(write_batch_protection_bytes_per_key, 0, "0 or 8: checksum entries of a WriteBatch");

// ---- Models of users, and other benchmarks ----

DEFINE_int64(mix_accesses, -1, "mixgraph: operations of a thread; negative: --reads");
DEFINE_double(mix_get_ratio, 1.0, "mixgraph: share of look-ups");
DEFINE_double(mix_put_ratio, 0.0, "mixgraph: share of writes");
DEFINE_double(mix_seek_ratio, 0.0, "mixgraph: share of scans");
DEFINE_int64(mix_max_scan_len, 10000, "mixgraph: steps of the longest scan");
DEFINE_int64(mix_max_value_size, 1024, "mixgraph: bytes of the largest value");
DEFINE_int64(keyrange_num, 1, "mixgraph: ranges into which the key space is divided");
DEFINE_double(keyrange_dist_a, 0.0,
              "mixgraph: a of a * e^(b x) + c * e^(d x), the share of accesses to range x");
DEFINE_double(keyrange_dist_b, 0.0, "mixgraph: b of it");
DEFINE_double(keyrange_dist_c, 0.0, "mixgraph: c of it");
DEFINE_double(keyrange_dist_d, 0.0, "mixgraph: d of it; all four 0: all ranges alike");
DEFINE_double(key_dist_a, 0.0,
              "mixgraph: a of a * x^b, the share of accesses to the x hottest keys of a range");
DEFINE_double(key_dist_b, 0.0, "mixgraph: b of it; 0: all keys alike");
DEFINE_double(value_theta, 0.0, "mixgraph: place of the Pareto distribution of sizes of values");
DEFINE_double(value_k, 0.2615, "mixgraph: its shape");
DEFINE_double(value_sigma, 25.45, "mixgraph: its scale");
DEFINE_double(iter_theta, 0.0, "mixgraph: place of the Pareto distribution of lengths of scans");
DEFINE_double(iter_k, 2.517, "mixgraph: its shape");
DEFINE_double(iter_sigma, 14.236, "mixgraph: its scale");
DEFINE_bool(sine_mix_rate, false,
            "mixgraph: hold operations back to a * sin(b t + c) + d a second, t in seconds");
DEFINE_uint64(sine_mix_rate_interval_milliseconds, 10000,
              "Time from one change of that rate to the next");
DEFINE_double(sine_mix_rate_noise, 0.0, "Share by which that rate is off at random");
DEFINE_double(sine_a, 1.0, "a of it");
DEFINE_double(sine_b, 1.0, "b of it");
DEFINE_double(sine_c, 0.0, "c of it");
DEFINE_double(sine_d, 1.0, "d of it");
DEFINE_int32(key_id_range, 100000, "timeseries: sources of events");
DEFINE_uint64(time_range, 100000, "timeseries: events of all sources after which one is old");
DEFINE_string(expire_style, "none", "timeseries: what is done to old events: none or delete");
DEFINE_int64(numdistinct, 1000, "randomreplacekeys: keys that exist at a time");
DEFINE_double(stddev, 2000.0,
              "randomreplacekeys: standard deviation of the numbers of keys that are replaced");
DEFINE_bool(use_single_deletes, true, "randomreplacekeys: replace keys with SingleDelete");
DEFINE_string(truth_db, "/dev/shm/truth_db/dbbench", "verify: database to compare with");

// ---- Reports ----

DEFINE_bool(histogram, false, "Print the distribution of latencies");
DEFINE_bool(statistics, false, "Collect the database's statistics and print them at the end");
DEFINE_int32(stats_level, 3, "StatsLevel of --statistics, 0 to 5");
DEFINE_int32(perf_level, 1, "PerfLevel of each thread; above 1 its counters are printed");
DEFINE_int64(stats_interval, 0,
             "Operations of a thread between interim lines; 0: a growing "
             "progress count");
DEFINE_int64(stats_interval_seconds, 0,
             "Seconds between interim lines; goes before "
             "--stats_interval");
DEFINE_int32(stats_per_interval, 0, "Above 0: interim lines bring the database's statistics");
DEFINE_int32(thread_status_per_interval, 0, "Above 0: they bring what background threads do");
DEFINE_bool(progress_reports, true, "Show the progress count on stderr");
DEFINE_int64(report_interval_seconds, 0, "Above 0: write rates to --report_file this often");
DEFINE_string(report_file, "report.csv", "Where those go: secs_elapsed,interval_qps");
DEFINE_bool(report_open_timing, false, "Print how long opening took");
DEFINE_uint64(slow_usecs, 1000000,
              "With --histogram: operations of so many microseconds are named");
DEFINE_bool(confidence_interval_only, false, "Repeated runs: print the 95% interval only");

// --- Traces.
DEFINE_string(trace_file, "",
              "Record the calls of each benchmark here, the last one's stay; replay makes them");
DEFINE_double(trace_replay_fast_forward, 1.0,
              "replay: speed; 2 takes half of the time that the calls took");
DEFINE_int32(trace_replay_threads, 1, "replay: threads that make the calls, 1 to 1024");

// --- Transactions.
DEFINE_bool(transaction_db, false, "Open for pessimistic transactions: each write is one");
DEFINE_bool(optimistic_transaction_db, false, "Open for optimistic transactions");
DEFINE_int32(txn_write_policy, 0,
             "0: WRITE_COMMITTED; 1: WRITE_PREPARED, as always with --unordered_write");
DEFINE_uint64(transaction_sets, 2, "randomtransaction: keys that a transaction changes");
DEFINE_bool(transaction_set_snapshot, false, "randomtransaction: check against a snapshot");
DEFINE_int32(transaction_sleep, 0, "randomtransaction: at most so many microseconds in between");
DEFINE_uint64(transaction_lock_timeout, 100,
              "randomtransaction: milliseconds that a lock is waited for");

DEFINE_validator(readwritepercent, &IsPercentage);
DEFINE_validator(deletepercent, &IsPercentage);
DEFINE_validator(mergereadpercent, &IsPercentage);
DEFINE_validator(threads, &IsPositive);
DEFINE_validator(key_size, &IsPositive);
DEFINE_validator(user_timestamp_size, &IsTimestampSize);
DEFINE_validator(num_column_families, &IsPositive);
DEFINE_validator(ops_between_duration_checks, &IsPositive);
DEFINE_validator(overwrite_probability, &IsShare);
DEFINE_validator(trace_replay_fast_forward, &IsSpeed);
DEFINE_validator(trace_replay_threads, &IsThreadCount);
