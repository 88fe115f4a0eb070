// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the public calls of a database, one row each, in a form in which two threads can play them
// side by side and judge the answers.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"

#include "tests/harness/random.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

inline constexpr int kFirstKeys = 20;  // "i00".. of each family, which never change

// State that both players share. The families are default, "a", "b", which a call may drop, and
// "t", whose comparator has timestamps.
struct Stage {
  std::shared_ptr<MemFileSystem> disk;
  std::unique_ptr<Env> env;
  Options options;
  std::unique_ptr<DB> db;
  std::map<std::string, ColumnFamilyHandle*> handles;
  std::atomic<uint64_t> next_timestamp{100};

  std::mutex mu;                     // guards the rest
  std::set<std::string> made;        // families whose making was acknowledged, and no drop
  std::set<std::string> unmade;      // families that were refused, or dropped
  std::vector<uint64_t> calls_then;  // changes of files when a Close had returned OK

  ColumnFamilyHandle* family(const std::string& name) { return handles.at(name); }
};

// Plays in one thread. It writes its own keys, so it knows their content: acknowledged writes are
// there, refused ones are not.
class Player {
 public:
  Player(Stage* stage, char name, uint64_t seed) : stage_(stage), prefix_(1, name), random(seed) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  Stage& stage() { return *stage_; }
  DB* db() { return stage_->db.get(); }
  ColumnFamilyHandle* family(const std::string& name) { return stage_->family(name); }
  // Returns a family, which may be dropped, as its handle remains.
  ColumnFamilyHandle* AnyFamily() {
    static const char* const kNames[] = {"default", "a", "b"};
    return family(kNames[random.Below(3)]);
  }
  // Returns one of a few keys.
  std::string Key() { return prefix_ + std::to_string(random.Below(4)); }
  std::string CounterKey() const { return prefix_ + "-counter"; }
  // Returns a value that differs from all others.
  std::string Value(size_t bytes = 20) {
    return prefix_ + std::to_string(++values_) + std::string(bytes, 'v');
  }
  std::string NewFamily() { return prefix_ + "-new" + std::to_string(++families_); }

  // Writes tables of one entry each, for calls that take them in: nothing but these calls may
  // change files once the players have begun.
  void WriteTables();
  struct Table {
    std::string path;
    std::string key;
    std::string value;
  };
  // Returns false if no table is left.
  bool TakeTable(Table* table);

  // Records the result of a write: if OK, `key` has this value now; null means none.
  void Wrote(const Status& s, const std::string& family, const std::string& key,
             const std::string* value);
  void Counted(const Status& s, const std::string& family);
  // Records a problem unless the status is OK, a refusal for the right reason, or one of `others`.
  void Expect(const char* call, const Status& s, std::initializer_list<Status::Code> others = {});
  void Wrong(const std::string& what);
  // Moves over an iterator both ways. The first keys must be there, unless it has an error.
  void Walk(const char* call, Iterator* it, std::initializer_list<Status::Code> others = {});
  // Keeps an iterator that is used and deleted when the database is gone.
  void KeepIterator(Iterator* it) { iterators_.emplace_back(it); }
  void KeepPin(std::unique_ptr<PinnableSlice> pin) { pins_.push_back(std::move(pin)); }
  void KeepHandle(ColumnFamilyHandle* handle) { handles_.push_back(handle); }

  // Compares the contents of `db`, after everything is over, with the acknowledged writes.
  void Check(DB* db, const std::map<std::string, ColumnFamilyHandle*>& handles);
  // True if the player holds anything. Tables may outlive the database.
  bool HoldsAnything() const { return !iterators_.empty() || !pins_.empty() || !handles_.empty(); }
  // Uses all objects that are still held, at each step of the end of a database.
  void UseAfterClose();
  void ReleasePins() { pins_.clear(); }
  void ReleaseSomeHandles();
  void UseAfterDelete();
  // Returns "" if all was well.
  const std::string& wrong() const { return wrong_; }

 private:
  struct Expected {
    std::map<std::string, std::string> values;  // "" = none
    uint64_t count = 0;                         // the counter's value
  };

  Stage* const stage_;
  const std::string prefix_;
  uint64_t values_ = 0;
  int families_ = 0;
  std::map<std::string, Expected> expected_;  // by family
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Iterator>> iterators_;
  std::vector<std::unique_ptr<PinnableSlice>> pins_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::string wrong_;

 public:
  Random random;
};

struct Call {
  // The method, and which form of it: "Flush all". The first word is its name in varve/db.h.
  const char* name;
  void (*play)(Player& p);
  // True if nearly all later calls are refused. Other calls are then played until it is over.
  bool ends = false;
};

std::span<const Call> WritingCalls();
std::span<const Call> ReadingCalls();
std::span<const Call> AdminCalls();
std::span<const Call> InfoCalls();
// Returns all of these calls.
const std::vector<Call>& AllCalls();

}  // namespace varve::testing
