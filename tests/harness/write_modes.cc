// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/write_modes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/memtablerep.h"
#include "varve/rate_limiter.h"

namespace varve::testing {

namespace {

// Empty at present; it is a std::array because built-in arrays cannot be empty.
constexpr std::array<std::string_view, 0> kExpectedRefusals = {};

void Plain(DBOptions*) {}

void Pipelined(DBOptions* db) {
  db->enable_pipelined_write = true;
}

void SerialInserts(DBOptions* db) {
  db->allow_concurrent_memtable_write = false;
}

void ManualFlush(DBOptions* db) {
  db->manual_wal_flush = true;
}

void AtomicFlush(DBOptions* db) {
  db->atomic_flush = true;
}

void RangeSyncs(DBOptions* db) {
  db->wal_bytes_per_sync = 16 << 10;
  db->strict_bytes_per_sync = true;
}

void SmallLimits(DBOptions* db) {
  db->max_total_wal_size = 128 << 10;
  db->db_write_buffer_size = 512 << 10;
}

void Recycled(DBOptions* db) {
  db->recycle_log_file_num = 2;
}

void CompressedLog(DBOptions* db) {
  db->wal_compression = kZSTD;
}

void RateLimited(DBOptions* db) {
  db->rate_limiter.reset(NewGenericRateLimiter(256 << 20));
}

// Writes files without mapping or preallocation.
void PlainFiles(DBOptions* db) {
  db->allow_fallocate = false;
}

// An Env and a FileSystem that the engine does not know: they pass every call on.
class UsersEnv final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
};

class UsersFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "UsersFileSystem"; }
};

void OnUsersEnv(DBOptions* db) {
  static UsersEnv* const env = new UsersEnv(Env::Default());
  db->env = env;
}

void OnUsersFileSystem(DBOptions* db) {
  static Env* const env =
      NewCompositeEnv(std::make_shared<UsersFileSystem>(FileSystem::Default())).release();
  db->env = env;
}

void Unordered(DBOptions* db) {
  db->unordered_write = true;
}

void UnorderedManual(DBOptions* db) {
  db->unordered_write = true;
  db->manual_wal_flush = true;
}

void UnorderedAtomicFlush(DBOptions* db) {
  db->unordered_write = true;
  db->atomic_flush = true;
}

void TwoQueues(DBOptions* db) {
  db->two_write_queues = true;
}

void UnorderedQueues(DBOptions* db) {
  db->unordered_write = true;
  db->two_write_queues = true;
}

constexpr WriteMode kModes[] = {
    {.name = "ordered", .tune = Plain},
    {.name = "pipelined", .tune = Pipelined},
    {.name = "serial_inserts", .tune = SerialInserts},
    {.name = "no_log", .tune = Plain, .no_log_one_in = 1},
    {.name = "mixed_log", .tune = Plain, .no_log_one_in = 3},
    {.name = "sync", .tune = Plain, .sync_one_in = 1},
    {.name = "mixed_sync", .tune = Pipelined, .sync_one_in = 8},
    {.name = "manual_wal_flush", .tune = ManualFlush, .buffers_log = true, .backs_log = true},
    {.name = "atomic_flush", .tune = AtomicFlush},
    {.name = "wal_bytes_per_sync", .tune = RangeSyncs, .backs_log = true},
    {.name = "small_limits", .tune = SmallLimits},
    {.name = "no_slowdown", .tune = Plain, .no_slowdown = true},
    {.name = "low_pri", .tune = Plain, .low_pri = true},
    {.name = "recycled_logs", .tune = Recycled, .backs_log = true},
    {.name = "compressed_log", .tune = CompressedLog, .backs_log = true},
    {.name = "compressed_sync", .tune = CompressedLog, .sync_one_in = 4, .backs_log = true},
    {.name = "plain_files", .tune = PlainFiles, .sync_one_in = 8, .backs_log = true},
    {.name = "rate_limited", .tune = RateLimited, .limited = true, .backs_log = true},
    {.name = "users_env", .tune = OnUsersEnv, .sync_one_in = 8, .backs_log = true},
    {.name = "users_file_system", .tune = OnUsersFileSystem, .sync_one_in = 8, .backs_log = true},
    {.name = "unordered", .tune = Unordered, .torn_gets = true},
    {.name = "unordered_sync", .tune = Unordered, .sync_one_in = 4, .torn_gets = true},
    {.name = "unordered_no_log", .tune = Unordered, .no_log_one_in = 1, .torn_gets = true},
    {.name = "unordered_mixed_log", .tune = Unordered, .no_log_one_in = 3, .torn_gets = true},
    {.name = "unordered_manual", .tune = UnorderedManual, .torn_gets = true, .buffers_log = true},
    {.name = "unordered_atomic_flush", .tune = UnorderedAtomicFlush, .torn_gets = true},
    {.name = "two_queues", .tune = TwoQueues},
    {.name = "two_queues_mixed", .tune = TwoQueues, .sync_one_in = 16, .no_log_one_in = 3},
    {.name = "unordered_queues", .tune = UnorderedQueues, .torn_gets = true},
    {.name = "vector", .tune = Plain, .memtable = "vector"},
    {.name = "serial_vector", .tune = SerialInserts, .memtable = "vector"},
    {.name = "unordered_vector",
     .tune = Unordered,
     .no_log_one_in = 3,
     .torn_gets = true,
     .memtable = "vector"},
    {.name = "plain_list", .tune = Plain, .memtable = "plain_skip_list"},
    {.name = "unordered_plain_list",
     .tune = Unordered,
     .no_log_one_in = 3,
     .torn_gets = true,
     .memtable = "plain_skip_list"},
};

bool Chance(uint32_t one_in, Random* random) {
  return one_in != 0 && random->OneIn(one_in);
}

}  // namespace

void WriteMode::Apply(DBOptions* db, ColumnFamilyOptions* family) const {
  tune(db);
  if (memtable == nullptr) return;
  std::unique_ptr<MemTableRepFactory> factory;
  if (!GetMemTableRepFactoryFromString(memtable, &factory).ok()) abort();
  family->memtable_factory = std::move(factory);
}

WriteOptions WriteMode::DrawWriteOptions(Random* random) const {
  WriteOptions options;
  options.disableWAL = Chance(no_log_one_in, random);
  options.sync = !options.disableWAL && Chance(sync_one_in, random);
  options.no_slowdown = no_slowdown;
  options.low_pri = low_pri;
  if (limited && !options.disableWAL) options.rate_limiter_priority = Env::IO_USER;
  return options;
}

std::span<const WriteMode> WriteModes() {
  return kModes;
}

std::vector<const WriteMode*> LogBackings() {
  std::vector<const WriteMode*> backings = {&WriteModeNamed("ordered")};
  for (const WriteMode& mode : kModes) {
    if (mode.backs_log) backings.push_back(&mode);
  }
  return backings;
}

const WriteMode& WriteModeNamed(std::string_view name) {
  const auto* it = std::ranges::find(kModes, name, &WriteMode::name);
  if (it == std::end(kModes)) abort();
  return *it;
}

bool IsExpectedRefusal(const WriteMode& mode) {
  return std::ranges::find(kExpectedRefusals, mode.name) != std::end(kExpectedRefusals);
}

std::string JudgeOpening(const WriteMode& mode, const Status& status) {
  const std::string name(mode.name);
  if (!IsExpectedRefusal(mode)) {
    return status.ok() ? "" : "mode " + name + " did not open: " + status.ToString();
  }
  if (status.IsNotSupported()) return "";
  if (!status.ok()) return "mode " + name + " should say NotSupported: " + status.ToString();
  return "mode " + name + " opens now: remove it from kExpectedRefusals in write_modes.cc";
}

}  // namespace varve::testing
