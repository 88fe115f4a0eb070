// SPDX-License-Identifier: Apache-2.0

// Goal: one writer's error is reported to all writers that it concerns and to no others. A log that
// fails to write or to sync a record fails every write that depends on it with the same error, no
// later write succeeds until Resume, and nothing acknowledged is lost; a malformed batch is
// rejected and disturbs no other writer. Method: eight writers of a recomputable history, in each
// write mode, over a file system that starts to fail, or beside a writer of mutated batches.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "varve/c.h"
#include "varve/env.h"

#include "tests/crash/parallel_writes.h"
#include "tests/harness/database.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

namespace {

constexpr size_t kWriters = kMostWriters;
constexpr uint64_t kWritesSound = 20;
constexpr uint64_t kWritesResumed = 30;
constexpr uint64_t kHostileBatches = 2000;

// Returns the modes in which every write waits for the log.
std::vector<const WriteMode*> LoggedModes() {
  std::vector<const WriteMode*> modes;
  for (const WriteMode& mode : WriteModes()) {
    if (!IsExpectedRefusal(mode) && mode.SurvivesKill()) modes.push_back(&mode);
  }
  return modes;
}

}  // namespace

class GroupFailureTest : public Database {
 protected:
  void OpenIn(const WriteMode& mode) {
    mode_ = &mode;
    DBOptions modes;
    mode.Apply(&modes, &options_);
    const DBOptions& fixed = options_;
    modes.env = fixed.env;
    modes.info_log = fixed.info_log;
    modes.create_if_missing = true;
    modes.create_missing_column_families = true;
    options_ = Options(modes, options_);
    const Status s = TryOpen({"default", "other"});
    ASSERT_EQ(JudgeOpening(mode, s), "");
  }

  Handles AllHandles() { return {{"default", Handle("default")}, {"other", Handle("other")}}; }

  // Every writer continues until `stop` returns true or a write fails; then it retries until it has
  // failed `failures` times. Collects the errors' texts in errors_.
  template <typename Stop>
  void RunWriters(Stop stop, int failures) {
    const Handles handles = AllHandles();
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kWriters; t++) {
      threads.emplace_back([this, &handles, &stop, failures, t] {
        int failed = 0;
        while (failed < failures && !stop(t)) {
          // A failed write is the next one: repeating it has no further effect.
          const uint64_t i = progress_.acked[t].load() + 1;
          const bool after_failure = has_failed_.load(std::memory_order_acquire);
          const Status s = WriteParallel(db(), handles, *mode_, t, i, &progress_);
          if (s.ok()) {
            if (after_failure) late_successes_++;
            continue;
          }
          failed++;
          has_failed_.store(true, std::memory_order_release);
          const std::lock_guard<std::mutex> lock(errors_mutex_);
          errors_.push_back(s.ToString());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void RunUntil(uint64_t writes) {
    RunWriters([&](size_t t) { return progress_.acked[t].load() >= writes; }, 1);
    ASSERT_TRUE(errors_.empty()) << errors_.front();
  }

  void CheckAll(const Positions& least) {
    const ParallelCheck check =
        CheckParallel(db(), AllHandles(), *mode_, least, Load(progress_.begun));
    ASSERT_EQ(check.problem, "");
  }

  void FailAndResume(FaultCall call, uint64_t nth) {
    RunUntil(kWritesSound);
    FaultRule rule;
    rule.calls = Only(call);
    rule.path_contains = ".log";
    rule.nth = nth;
    rule.effect = call == FaultCall::kWrite ? FaultEffect::kShortWrite : FaultEffect::kIoError;
    faults().Inject(rule);
    RunWriters([this](size_t t) { return progress_.acked[t].load() > 100 * kWritesSound; }, 2);
    ASSERT_GT(faults().strikes(), 0u) << "nothing failed";
    // No success follows the first failing call, though the file system works again.
    EXPECT_EQ(late_successes_.load(), 0u);
    ASSERT_EQ(errors_.size(), 2 * kWriters);
    for (const std::string& error : errors_) EXPECT_EQ(error, errors_.front());
    CheckAll(Load(progress_.acked));

    faults().ClearFaults();
    const Status resumed = db()->Resume();
    ASSERT_TRUE(resumed.ok()) << resumed.ToString();
    has_failed_ = false;
    errors_.clear();
    const uint64_t last = std::ranges::max(Load(progress_.acked)) + kWritesResumed;
    RunUntil(last);
    CheckAll(Load(progress_.acked));
  }

  const WriteMode* mode_ = nullptr;
  Progress progress_;
  std::atomic<bool> has_failed_{false};      // Publishes that some write returned an error.
  std::atomic<uint64_t> late_successes_{0};  // A counter.
  std::mutex errors_mutex_;
  std::vector<std::string> errors_;  // Guarded by errors_mutex_ while writers run.
};

TEST_F(GroupFailureTest, LogErrorsFailTheGroupUntilResume) {
  int cases = 0;
  for (const WriteMode* mode : LoggedModes()) {
    const bool syncs = mode->sync_one_in != 0;
    for (const FaultCall call : {FaultCall::kWrite, FaultCall::kSync}) {
      if (call == FaultCall::kSync && !syncs) continue;
      for (const uint64_t nth : {1, 3, 10}) {
        SCOPED_TRACE(std::string(mode->name) + ", call " + std::to_string(static_cast<int>(call)) +
                     ", the " + std::to_string(nth) + "th");
        OpenIn(*mode);
        FailAndResume(call, nth);
        if (HasFailure()) return;
        // Checks the state after a kill, and after a clean close.
        Kill();
        OpenIn(*mode);
        CheckAll(Load(progress_.acked));
        if (HasFailure()) return;
        Reopen();
        CheckAll(Load(progress_.acked));
        ASSERT_TRUE(Close().ok());
        Remount(std::make_shared<MemFileSystem>());
        for (size_t t = 0; t < kMostWriters; t++) {
          for (auto* positions :
               {&progress_.begun, &progress_.acked, &progress_.logged, &progress_.durable}) {
            (*positions)[t] = 0;
          }
        }
        cases++;
      }
    }
  }
  printf("RESULT group_failure cases=%d wrong=0\n", cases);
  EXPECT_GE(cases, 20);
}

namespace {

// Returns a valid batch with one byte changed, or truncated. The history does not use its keys and
// values, so that a batch that is still valid changes nothing that is compared.
std::string HostileBytes(Random* random) {
  WriteBatch batch;
  const std::string stuff(1 + random->Below(40), '\xee');
  for (uint64_t i = 0; i <= random->Below(3); i++) {
    EXPECT_TRUE(batch.Put(stuff, stuff).ok());
    EXPECT_TRUE(batch.Delete(stuff).ok());
    EXPECT_TRUE(batch.DeleteRange(stuff, stuff + "\xee").ok());
  }
  std::string bytes = batch.Data();
  if (random->OneIn(3)) {
    bytes.resize(random->Below(bytes.size()));
  } else {
    bytes[random->Below(bytes.size())] = static_cast<char>(random->Next());
  }
  return bytes;
}

}  // namespace

TEST_F(GroupFailureTest, MalformedBatchesDisturbNobody) {
  uint64_t refused = 0;
  for (const WriteMode* mode : LoggedModes()) {
    SCOPED_TRACE(std::string(mode->name));
    OpenIn(*mode);
    std::atomic<bool> over{false};
    std::thread hostile([&] {
      Random random(1);
      for (uint64_t i = 0; i < kHostileBatches / 10; i++) {
        WriteBatch batch(HostileBytes(&random));
        const Status s = db()->Write(OptionsOfParallelWrite(*mode, 0, i), &batch);
        if (!s.ok()) refused++;
        EXPECT_TRUE(s.ok() || s.IsCorruption() || s.IsInvalidArgument() || s.IsNotSupported() ||
                    s.IsIncomplete())
            << s.ToString();
      }
      over = true;
    });
    RunWriters([&](size_t) { return over.load(); }, 1);
    hostile.join();
    ASSERT_TRUE(errors_.empty()) << errors_.front();
    CheckAll(Load(progress_.acked));
    if (HasFailure()) return;
    Kill();
    OpenIn(*mode);
    CheckAll(Load(progress_.acked));
    if (HasFailure()) return;
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GE(refused, kHostileBatches / 10) << "the mutations are harmless";
}

TEST(GroupFailureCTest, MalformedBatchesOfTheCApiAreRefused) {
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_env(options, env);
  char* error = nullptr;
  rocksdb_t* const db = rocksdb_open(options, "/c", &error);
  ASSERT_EQ(error, nullptr);
  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  Random random(2);
  uint64_t refused = 0;
  for (uint64_t i = 0; i < kHostileBatches; i++) {
    const std::string bytes = HostileBytes(&random);
    rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_from(bytes.data(), bytes.size());
    rocksdb_write(db, write, batch, &error);
    rocksdb_writebatch_destroy(batch);
    if (error == nullptr) continue;
    refused++;
    rocksdb_free(std::exchange(error, nullptr));
    // The next write is not affected.
    rocksdb_put(db, write, "k", 1, "v", 1, &error);
    ASSERT_EQ(error, nullptr);
  }
  EXPECT_GE(refused, kHostileBatches / 4);
  EXPECT_LT(refused, kHostileBatches) << "nothing is valid: the mutations say little";
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_env_destroy(env);
}

}  // namespace varve::testing
