// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database with lifetimes in memory, and a clock that the test sets.

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/env_wrappers.h"
#include "varve/system_clock.h"
#include "varve/utilities/db_ttl.h"

#include "tests/harness/database.h"

namespace varve::testing {

// The wall clock is the test's, the monotonic one goes on.
class SetClock final : public SystemClockWrapper {
 public:
  SetClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "SetClock"; }
  Status GetCurrentTime(int64_t* seconds) override {
    // A single reading may differ from those after it.
    *seconds = glitch.exchange(0);
    if (*seconds == 0) *seconds = now;
    return fails ? Status::IOError("the clock is broken") : Status::OK();
  }
  uint64_t NowMicros() override { return static_cast<uint64_t>(now.load()) * 1000000; }

  std::atomic<int64_t> now{1'700'000'000};
  std::atomic<int64_t> glitch{0};
  std::atomic<bool> fails{false};
};

class SetClockEnv final : public EnvWrapper {
 public:
  SetClockEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "SetClockEnv"; }
};

class TtlDatabase : public Database {
 protected:
  TtlDatabase() : env_(options_.env, clock_) {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
  }
  ~TtlDatabase() override { CloseTtl(); }

  void OpenTtl(int32_t ttl, bool read_only = false) {
    CloseTtl();
    DBWithTTL* db = nullptr;
    const Status s = DBWithTTL::Open(options_, kName, &db, ttl, read_only);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ttl_.reset(db);
  }
  void CloseTtl() {
    if (ttl_ == nullptr) return;
    EXPECT_TRUE(ttl_->Close().ok());
    ttl_.reset();
  }
  // Reopens the files that a killed process leaves.
  void KillTtl() {
    abandoned_.push_back(std::move(ttl_));
    Kill();
    env_at_kill_.push_back(std::make_unique<SetClockEnv>(options_.env, clock_));
    options_.env = env_at_kill_.back().get();
  }
  void Pass(int64_t seconds) { clock_->now += seconds; }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(ttl_->Put(WriteOptions(), key, value).ok());
  }
  void Merge(const std::string& key, const std::string& value) {
    ASSERT_TRUE(ttl_->Merge(WriteOptions(), key, value).ok());
  }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    return Text(ttl_->Get(options, key, &value_));
  }
  std::string Text(const Status& s) const {
    if (s.ok()) return value_;
    return s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }
  // Returns the value in the underlying database, without its last four bytes; "-" if there is
  // none.
  std::string Beneath(const std::string& key) {
    std::string stored;
    if (!ttl_->GetBaseDB()->Get(ReadOptions(), key, &stored).ok()) return "-";
    return stored.substr(0, stored.size() - 4);
  }
  std::string ScanTtl(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(ttl_->NewIterator(options));
    it->SeekToFirst();
    return Rest(it.get());
  }
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(ttl_->CompactRange(options, nullptr, nullptr).ok());
  }

  const std::shared_ptr<SetClock> clock_ = std::make_shared<SetClock>();
  SetClockEnv env_;
  std::vector<std::unique_ptr<SetClockEnv>> env_at_kill_;
  std::vector<std::unique_ptr<DBWithTTL>> abandoned_;
  std::unique_ptr<DBWithTTL> ttl_;
  std::string value_;
};

}  // namespace varve::testing
