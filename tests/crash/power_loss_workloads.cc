// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/power_loss_workloads.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/crash/parallel_writes.h"

namespace varve::testing {

namespace {

void FlushAll(DB* db, const Handles& handles) {
  std::vector<ColumnFamilyHandle*> all;
  for (const auto& [name, handle] : handles) all.push_back(handle);
  EXPECT_TRUE(db->Flush(FlushOptions(), all).ok());
}

void CompactAll(DB* db, const Handles& handles) {
  for (const auto& [name, handle] : handles) {
    EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr).ok());
  }
}

void CompactEarly(DBOptions* /*db*/, ColumnFamilyOptions* cf) {
  cf->level0_file_num_compaction_trigger = 3;
}

void FlushAndCompact(DB* db, const Handles& handles, uint64_t i) {
  if (i % 9 == 0) FlushAll(db, handles);
  if (i % 25 == 0) CompactAll(db, handles);
}

const LossWorkload kLossWorkloads[] = {
    {"log_only",
     {"default"},
     60,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB*, const Handles&, uint64_t) {},
     5,
     0},
    {"flushes",
     {"default"},
     80,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 9 == 0) FlushAll(db, handles);
     },
     7,
     0},
    {"compactions",
     {"default"},
     120,
     [](DBOptions*, ColumnFamilyOptions* cf) {
       cf->level0_file_num_compaction_trigger = 2;
       cf->target_file_size_base = 4 << 10;
       cf->max_bytes_for_level_base = 8 << 10;
     },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 8 == 0) FlushAll(db, handles);
       if (i % 40 == 0) {
         EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
       }
     },
     11,
     0},
    {"families",
     {"default", "a", "b"},
     60,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 10 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("a")).ok());
       }
       if (i % 15 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("default")).ok());
       }
     },
     6,
     0},
    {"atomic_flush_without_log",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->atomic_flush = true; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 6 == 0) FlushAll(db, handles);
     },
     0,
     0,
     true},
    {"reopens_and_small_manifests",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->max_manifest_file_size = 500; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 5 == 0) FlushAll(db, handles);
     },
     4,
     13},
    {"best_efforts",
     {"default", "a"},
     40,
     [](DBOptions* db, ColumnFamilyOptions*) {
       db->best_efforts_recovery = true;
       db->max_manifest_file_size = 500;
     },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 9 == 0) FlushAll(db, handles);
     },
     4,
     13},
    {"recovery_keeps_logs",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->avoid_flush_during_recovery = true; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 17 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("a")).ok());
       }
     },
     4,
     7},
    {"logs_of_many_memtables",
     {"default"},
     60,
     [](DBOptions*, ColumnFamilyOptions* cf) {
       cf->write_buffer_size = 2 << 10;
       cf->min_write_buffer_number_to_merge = 4;
       cf->max_write_buffer_number = 8;
     },
     [](DB*, const Handles&, uint64_t) {},
     23,
     0},
    {"flushes_side_by_side",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions* cf) {
       db->max_background_jobs = 16;
       cf->write_buffer_size = 2 << 10;
       cf->max_write_buffer_number = 8;
     },
     [](DB*, const Handles&, uint64_t) {},
     9,
     0},
    {"families_come_and_go",
     {"default"},
     50,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles&, uint64_t i) {
       ColumnFamilyHandle* handle = nullptr;
       if (i % 6 != 0) return;
       ASSERT_TRUE(
           db->CreateColumnFamily(ColumnFamilyOptions(), "t" + std::to_string(i), &handle).ok());
       EXPECT_TRUE(db->Put(WriteOptions(), handle, "k", "v").ok());
       EXPECT_TRUE(db->DropColumnFamily(handle).ok());
       EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
     },
     5,
     0},
    {.name = "tables_in_two_directories",
     .families = {"default", "a"},
     .writes = 60,
     .tune =
         [](DBOptions* db, ColumnFamilyOptions* cf) {
           db->db_paths = {{"/fast", 8 << 10}, {"/slow", 0}};
           cf->level0_file_num_compaction_trigger = 2;
           cf->target_file_size_base = 4 << 10;
           cf->max_bytes_for_level_base = 8 << 10;
         },
     .after =
         [](DB* db, const Handles& handles, uint64_t i) {
           if (i % 8 == 0) FlushAll(db, handles);
           if (i % 25 == 0) {
             CompactRangeOptions slow;
             slow.target_path_id = 1;
             EXPECT_TRUE(db->CompactRange(slow, handles.at("a"), nullptr, nullptr).ok());
           }
         },
     .sync_every = 7,
     .reopen_every = 23},
    {.name = "merges",
     .families = {"default", "texts", "sums"},
     .writes = 60,
     .tune = CompactEarly,
     .after = FlushAndCompact,
     .sync_every = 7,
     .reopen_every = 31},
    {.name = "plain_tables",
     .families = {"default", "rows"},
     .writes = 60,
     .tune = CompactEarly,
     .after = FlushAndCompact,
     .sync_every = 7,
     .reopen_every = 31},
    // Flushes, compactions that collect garbage, and the replay of logs write blob files.
    {.name = "blob_files",
     .families = {"default", "texts"},
     .writes = 60,
     .tune =
         [](DBOptions*, ColumnFamilyOptions* cf) {
           cf->enable_blob_files = true;
           cf->min_blob_size = 20;
           cf->blob_file_size = 1 << 10;
           cf->enable_blob_garbage_collection = true;
           cf->blob_garbage_collection_age_cutoff = 0.5;
           cf->level0_file_num_compaction_trigger = 3;
         },
     .after = FlushAndCompact,
     .sync_every = 7,
     .reopen_every = 13},
    {.name = "timestamps",
     .families = {"default", "versions"},
     .writes = 70,
     .tune = CompactEarly,
     .after = FlushAndCompact,
     .sync_every = 6,
     .reopen_every = 33,
     .marks_every = 10},
    {.name = "timestamps_that_tables_forget",
     .families = {"default", "bare"},
     .writes = 50,
     .tune = [](DBOptions* db,
                ColumnFamilyOptions*) { db->allow_concurrent_memtable_write = false; },
     .after =
         [](DB* db, const Handles& handles, uint64_t i) {
           if (i % 12 == 0) FlushAll(db, handles);
         },
     .sync_every = 5,
     .reopen_every = 17},
    {.name = "slices",
     .families = {"default"},
     .writes = 60,
     .tune =
         [](DBOptions*, ColumnFamilyOptions* cf) {
           cf->compaction_style = kCompactionStyleUniversal;
           cf->level0_file_num_compaction_trigger = 2;
           cf->target_file_size_base = 100;  // so that tables have few keys, and merges many tables
         },
     .after =
         [](DB* db, const Handles& handles, uint64_t i) {
           if (i % 7 == 0) FlushAll(db, handles);
           if (i % 40 == 0) CompactAll(db, handles);
         },
     .sync_every = 7,
     .reopen_every = 31},
    {.name = "options_change",
     .families = {"default", "sums"},
     .writes = 40,
     .tune = [](DBOptions*,
                ColumnFamilyOptions* cf) { cf->level0_file_num_compaction_trigger = 2; },
     .after =
         [](DB* db, const Handles& handles, uint64_t i) {
           constexpr const char* kStyles[] = {"kCompactionStyleUniversal", "kCompactionStyleFIFO",
                                              "kCompactionStyleLevel"};
           if (i % 4 == 0) {
             EXPECT_TRUE(
                 db->SetOptions(handles.at("default"), {{"compaction_style", kStyles[i / 4 % 3]}})
                     .ok());
             EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("default")).ok());
           }
           const std::string number = std::to_string((64 + i) << 10);
           if (i % 6 == 0) {
             EXPECT_TRUE(
                 db->SetOptions(handles.at("default"), {{"write_buffer_size", number}}).ok());
           }
           if (i % 9 == 0) {
             EXPECT_TRUE(db->SetDBOptions({{"max_total_wal_size", number}}).ok());
           }
         },
     .sync_every = 5,
     .reopen_every = 15},
};

// Returns a short history with flushes in each write mode. Modes whose writes randomly skip the log
// are left out: they have no prefix to compare with.
std::vector<LossWorkload> WorkloadsOfModes() {
  std::vector<LossWorkload> workloads;
  for (const WriteMode& mode : WriteModes()) {
    if (IsExpectedRefusal(mode) || LeavesHoles(mode)) continue;
    const bool no_log = mode.no_log_one_in == 1;
    LossWorkload workload{mode.name.data(),
                          {"default", "sums"},
                          30,
                          [](DBOptions*, ColumnFamilyOptions*) {},
                          [](DB* db, const Handles& handles, uint64_t i) {
                            if (i % 6 == 0) FlushAll(db, handles);
                          },
                          mode.sync_one_in == 1 ? 1u : 5u,
                          13,
                          no_log};
    workload.mode = &mode;
    if (no_log) {
      workload.sync_every = 0;
      workload.tune = [](DBOptions* db, ColumnFamilyOptions*) { db->atomic_flush = true; };
    }
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

}  // namespace

std::vector<LossWorkload> LossWorkloads() {
  std::vector<LossWorkload> workloads(std::begin(kLossWorkloads), std::end(kLossWorkloads));
  for (LossWorkload& workload : WorkloadsOfModes()) workloads.push_back(std::move(workload));
  return workloads;
}

}  // namespace varve::testing
