// SPDX-License-Identifier: Apache-2.0

// Goal: after any mix of writes, flushes, compactions, openings and kills, while time passes, each
// read shows just the entries of a map whose lifetime has not passed; through a snapshot, those
// whose lifetime had not passed when it was taken. Method: random histories from seeds, with a
// clock that the test sets.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/write_batch.h"

#include "db/ttl/ttl_clock.h"
#include "tests/db/ttl/ttl_fixture.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr int64_t kLifetime = 100;

class TtlModelTest : public TtlDatabase {
 protected:
  void Run(uint64_t seed) {
    random_ = std::make_unique<Random>(seed);
    // No job writes the MANIFEST on its own, as the time stands meanwhile.
    options_.disable_auto_compactions = true;
    options_.num_levels = random_->OneIn(3) ? 2 : 7;
    options_.avoid_flush_during_recovery = random_->OneIn(3);
    OpenTtl(kLifetime);
    for (int step = 0; step < 300 && !HasFailure(); step++) Step();
    CheckAll();
    ReleaseSnapshots();
    CloseTtl();
    entries_.clear();
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }

 private:
  struct Entry {
    std::string value;
    int64_t written = 0;
  };
  using Entries = std::map<std::string, Entry>;
  struct Held {
    const Snapshot* snapshot = nullptr;
    Entries entries;
    int64_t taken = 0;
  };

  std::string Key() { return "k" + std::to_string(100 + random_->Below(50)); }
  Entry NewEntry() {
    return {std::to_string(++values_) + std::string(random_->Below(300), 'v'), clock_->now};
  }

  void Step() {
    const uint64_t choice = random_->Below(100);
    if (choice < 50) return WriteSome();
    if (choice < 65) return Pass(static_cast<int64_t>(random_->Below(40)));
    if (choice < 75) return FlushTtl();
    if (choice < 78) return CompactAll();
    if (choice < 82) return HoldOne();
    if (choice < 85) return ReleaseOne();
    if (choice < 88) return OpenAgain();
    CheckAll();
  }

  void WriteSome() {
    WriteBatch batch;
    for (uint64_t n = random_->OneIn(3) ? 1 + random_->Below(5) : 1; n > 0; n--) {
      const std::string key = Key();
      const uint64_t choice = random_->Below(10);
      if (choice < 7) {
        const Entry entry = NewEntry();
        ASSERT_TRUE(batch.Put(key, entry.value).ok());
        entries_[key] = entry;
      } else if (choice < 9) {
        ASSERT_TRUE(batch.Delete(key).ok());
        entries_.erase(key);
      } else {
        const std::string end = key + "~";
        ASSERT_TRUE(batch.DeleteRange(key, end).ok());
        entries_.erase(entries_.lower_bound(key), entries_.lower_bound(end));
      }
    }
    ASSERT_TRUE(ttl_->Write(WriteOptions(), &batch).ok());
  }

  void FlushTtl() { ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok()); }
  void HoldOne() {
    if (held_.size() < 3) held_.push_back({ttl_->GetSnapshot(), entries_, clock_->now});
  }
  void ReleaseOne() {
    if (held_.empty()) return;
    ttl_->ReleaseSnapshot(held_.front().snapshot);
    held_.erase(held_.begin());
  }
  void ReleaseSnapshots() {
    while (!held_.empty()) ReleaseOne();
  }
  void OpenAgain() {
    ReleaseSnapshots();
    if (random_->OneIn(3)) {
      KillTtl();
      // After a kill the time stands until the clock has come as far as was granted.
      Pass(TtlClock::kGrantSeconds);
    }
    OpenTtl(kLifetime);
  }

  void CheckAll() {
    Check(nullptr, entries_, clock_->now);
    for (const Held& held : held_) Check(held.snapshot, held.entries, held.taken);
  }
  void Check(const Snapshot* snapshot, const Entries& entries, int64_t now) {
    std::string text;
    for (const auto& [key, entry] : entries) {
      if (entry.written + kLifetime < now) continue;
      text += (text.empty() ? "" : " ") + key + "=" + entry.value;
    }
    ASSERT_EQ(ScanTtl(snapshot), text);
    for (int i = 0; i < 5; i++) {
      const std::string key = Key();
      const auto it = entries.find(key);
      const bool shows = it != entries.end() && it->second.written + kLifetime >= now;
      ASSERT_EQ(Get(key, snapshot), shows ? it->second.value : "NOT_FOUND") << key;
    }
    CheckBackwards(snapshot, entries, now);
  }
  void CheckBackwards(const Snapshot* snapshot, const Entries& entries, int64_t now) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(ttl_->NewIterator(options));
    it->SeekToLast();
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (entry->second.written + kLifetime < now) continue;
      ASSERT_TRUE(it->Valid()) << entry->first;
      ASSERT_EQ(it->key(), entry->first);
      ASSERT_EQ(it->value(), entry->second.value);
      it->Prev();
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_TRUE(it->status().ok());
  }

  std::unique_ptr<Random> random_;
  uint64_t values_ = 0;
  Entries entries_;
  std::vector<Held> held_;
};

TEST_F(TtlModelTest, ShowsWhatIsNotExpired) {
  const uint64_t seeds = NumberFromEnvironment("VARVE_MODEL_SEEDS", 20);
  const uint64_t first = NumberFromEnvironment("VARVE_MODEL_FIRST", 1) + Rotation() * seeds;
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    SCOPED_TRACE("VARVE_MODEL_FIRST=" + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(Run(seed));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::testing
