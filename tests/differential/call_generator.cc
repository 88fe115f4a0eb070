// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/call_generator.h"

#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "tests/harness/random.h"

namespace varve::testing {

namespace {

const char* const kFamilies[] = {"default", "f1", "f2", "rev", "bare"};

// These options change no answer, and no number of files while automatic compactions are off.
const char* const kQuietOptions[] = {
    "allow_concurrent_memtable_write=false",
    "avoid_flush_during_recovery=true",
    "avoid_flush_during_shutdown=true",
    "block_based_table_factory={block_size=256}",
    "block_based_table_factory={filter_policy=bloomfilter:10:false}",
    "block_based_table_factory={cache_index_and_filter_blocks=true}",
    "block_based_table_factory={format_version=4}",
    "block_based_table_factory={index_type=kTwoLevelIndexSearch}",
    "compression=kLZ4Compression",
    "compression=kNoCompression",
    "enable_pipelined_write=true",
    "max_open_files=10",
    "max_sequential_skip_in_iterations=1",
    "max_successive_merges=3",
    "memtable_prefix_bloom_size_ratio=0.1",
    "memtable_whole_key_filtering=true",
    "paranoid_file_checks=true",
    "prefix_extractor=fixed:2",
    "prefix_extractor=capped:3",
    "recycle_log_file_num=2",
    "track_and_verify_wals_in_manifest=true",
    "two_write_queues=true",
    "wal_compression=kZSTD",
    "wal_recovery_mode=kAbsoluteConsistency",
    "wal_recovery_mode=kTolerateCorruptedTailRecords"};
const char* const kBusyOptions[] = {"atomic_flush=true",
                                    "level0_file_num_compaction_trigger=2",
                                    "level_compaction_dynamic_level_bytes=false",
                                    "max_bytes_for_level_base=65536",
                                    "max_write_buffer_number=4",
                                    "memtable_max_range_deletions=2",
                                    "target_file_size_base=32768",
                                    "write_buffer_size=65536"};
const char* const kSettings[] = {
    "disable_auto_compactions=false",      "max_successive_merges=2", "compression=kNoCompression",
    "target_file_size_base=1048576",       "write_buffer_size=many",  "no_such_option=1",
    "level0_file_num_compaction_trigger=3"};
const char* const kProperties[] = {"num-entries-active-mem-table",
                                   "num-deletes-active-mem-table",
                                   "num-entries-imm-mem-tables",
                                   "num-immutable-mem-table",
                                   "num-snapshots",
                                   "is-write-stopped",
                                   "actual-delayed-write-rate",
                                   "background-errors",
                                   "num-files-at-level0",
                                   "no-such-property"};

class CallGenerator {
 public:
  explicit CallGenerator(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ull + 7) {
    const uint64_t keys[] = {4, 12, 60};
    keys_ = 2 + random_.Below(keys[random_.Below(3)]);
    quiet_ = random_.OneIn(2);
    large_ = !quiet_ && random_.OneIn(2);
    ranges_ = random_.OneIn(2) ? random_.Below(12) : 0;
    for (uint64_t& weight : weights_) weight = 1 + random_.Skewed(3);
    const char* const kinds[] = {"plain", "txn", "opt"};
    for (uint64_t i = 0; i < 3; i++) kinds_[i] = kinds[random_.Below(3)];
  }

  History Make(size_t lines) {
    Open();
    for (const char* family : kFamilies) {
      if (random_.OneIn(2)) Emit(std::string("family ") + family);
    }
    while (history_.size() < lines) Step();
    End();
    return std::move(history_);
  }

 private:
  void Emit(const std::string& text) {
    History parsed = ParseHistory(text);
    if (!parsed.empty()) history_.push_back(std::move(parsed[0]));
  }

  // ---- Parts of lines ----

  template <size_t N>
  std::string OneOf(const char* const (&words)[N]) {
    return words[random_.Below(N)];
  }

  std::string Family() {
    std::string family = random_.OneIn(2) ? "default" : OneOf(kFamilies);
    if (family != "default" && random_.OneIn(250)) family += "!";
    return family;
  }

  std::string Key() {
    const uint64_t k = random_.Below(keys_);
    if (k == 1) return random_.OneIn(4) ? "%" : "k";
    if (k % 13 == 5) return "%00%FFx" + std::to_string(k);
    return "k" + std::to_string(k % 5) + std::to_string(k);
  }

  std::string Value() {
    std::string value = "v" + std::to_string(counter_++);
    if (random_.OneIn(30)) return "%";
    if (random_.OneIn(3)) value += "*" + std::to_string(8 + random_.Below(large_ ? 3000 : 60));
    return value;
  }

  std::string Named(const char* kind, uint64_t n) {
    return kind + std::to_string(random_.Below(n));
  }
  std::string Snapshot() {
    return (random_.OneIn(3) ? " snap=" + Named("s", 3) : "") +
           (random_.OneIn(15) ? " ignore" : "");
  }

  std::string Range(const std::string& family) {
    std::string begin = Key();
    std::string end = Key();
    const bool backwards = (BytesOf(end) < BytesOf(begin)) != family.starts_with("rev");
    if (begin == end) end += "0";
    if (backwards && !random_.OneIn(300)) std::swap(begin, end);
    return begin + " " + end;
  }

  // Returns one change. If `ranges`, it may delete ranges.
  std::string Change(bool ranges) {
    const std::string family = Family();
    const std::string head = " " + family + " ";
    const uint64_t dice = random_.Below(100);
    if (ranges && dice < ranges_) return "range" + head + Range(family);
    if (dice < 30) return "del" + head + Key();
    if (dice < 55 && !family.starts_with("bare")) return "merge" + head + Key() + " " + Value();
    return "put" + head + Key() + " " + Value();
  }

  std::string Changes(bool ranges, bool pops) {
    std::string text;
    for (uint64_t n = 1 + (random_.OneIn(2) ? random_.Below(8) : 0); n > 0; n--) {
      if (!text.empty()) text += " ; ";
      const uint64_t dice = random_.Below(30);
      if (dice == 0) {
        text += "log " + Value();
      } else if (dice < 3) {
        text += "save";
      } else if (dice < 5) {
        text += "back";
      } else if (dice == 5 && pops) {
        text += "pop";
      } else {
        text += Change(ranges);
      }
    }
    return text;
  }

  std::string Bounds() {
    std::string bounds;
    if (random_.OneIn(3)) bounds += " lower=" + Key();
    if (random_.OneIn(3)) bounds += " upper=" + Key();
    return bounds;
  }

  std::string Walk() {
    std::string walk = Bounds();
    if (random_.OneIn(3)) return walk + " back" + (random_.OneIn(3) ? " from=" + Key() : "");
    if (random_.OneIn(3)) walk += " from=" + Key();
    return walk;
  }

  // ---- Steps ----

  void Step() {
    using Method = void (CallGenerator::*)();
    static constexpr struct {
      uint64_t often;
      Method step;
    } kSteps[] = {{200, &CallGenerator::Write},      {40, &CallGenerator::SingleDelete},
                  {120, &CallGenerator::Read},       {60, &CallGenerator::Scan},
                  {120, &CallGenerator::Iterate},    {30, &CallGenerator::Snap},
                  {50, &CallGenerator::Maintain},    {60, &CallGenerator::Indexed},
                  {260, &CallGenerator::Transact},   {20, &CallGenerator::ChangeFamilies},
                  {30, &CallGenerator::AskProperty}, {12, &CallGenerator::Restart}};
    static_assert(std::size(kSteps) == kStepKinds);
    uint64_t sum = 0;
    for (size_t i = 0; i < kStepKinds; i++) sum += kSteps[i].often * weights_[i];
    uint64_t dice = random_.Below(sum);
    for (size_t i = 0; i < kStepKinds; i++) {
      const uint64_t often = kSteps[i].often * weights_[i];
      if (dice < often) return (this->*kSteps[i].step)();
      dice -= often;
    }
  }

  void Write() {
    if (random_.OneIn(2)) return Emit(Change(true));
    const char* const how[] = {"plain", "plain", "plain", "sync", "missing"};
    const bool unlogged = quiet_ && random_.OneIn(20);
    Emit("write " + (unlogged ? "nowal" : OneOf(how)) + " " + Changes(kind_ != "txn", true));
  }

  // Uses keys of their own, which are put and deleted in turn.
  void SingleDelete() {
    if (kind_ == "ro" || (kind_ == "txn" && !random_.OneIn(20))) return;
    const std::string family = random_.OneIn(2) ? "default" : OneOf(kFamilies);
    const std::string place = family + " s" + std::to_string(random_.Below(kSingleKeys));
    if (living_.erase(place) != 0) return Emit("write plain sdel " + place);
    living_.insert(place);
    Emit("write plain put " + place + " " + Value());
  }

  void Read() {
    const uint64_t dice = random_.Below(10);
    if (random_.OneIn(20)) return Emit("get f1! " + Key() + Snapshot());
    if (dice < 5) return Emit("get " + Family() + " " + Key() + Snapshot());
    if (dice < 6) return Emit("pinned " + Family() + " " + Key() + Snapshot());
    if (dice < 7) return Emit("may " + Family() + " " + Key());
    std::string text = (random_.OneIn(2) ? "multi " : "batched ") + Family();
    for (uint64_t n = 1 + random_.Below(8); n > 0; n--) text += " " + Key();
    Emit(text + Snapshot());
  }

  void Scan() {
    if (random_.OneIn(5)) {
      return Emit("scan " + Family() + " same from=k" + std::to_string(random_.Below(5)) +
                  std::to_string(random_.Below(9)));
    }
    Emit("scan " + Family() + Walk() + Snapshot());
  }

  // Moves forward, except now and then.
  void Tail() {
    const std::string it = Named("j", 2);
    const uint64_t dice = random_.Below(8);
    if (dice == 0) return Emit("enditer " + it);
    if (dice < 3) return Emit("iter " + it + " " + Family() + Bounds() + " tailing");
    if (dice == 3) return Emit("seek " + it + " " + Key());
    if (random_.OneIn(60)) return Emit("last " + it);
    Emit((dice == 4 ? "first " : "next ") + it);
  }

  void Iterate() {
    if (random_.OneIn(6)) return Tail();
    const std::string it = Named("i", 3);
    const char* const moves[] = {"next", "next", "next", "prev", "prev", "first", "last"};
    const uint64_t dice = random_.Below(12);
    if (dice == 0) return Emit("enditer " + it);
    if (dice == 1) return Emit("refresh " + it);
    if (dice == 2) return Emit("iter " + it + " " + Family() + Bounds() + Snapshot());
    if (dice == 3) return Emit("seek " + it + " " + Key());
    if (dice == 4) return Emit("seekback " + it + " " + Key());
    Emit(OneOf(moves) + " " + it);
  }

  void Snap() { Emit((random_.OneIn(2) ? "snap " : "unsnap ") + Named("s", 3)); }

  void Maintain() {
    const uint64_t dice = random_.Below(10);
    if (dice < 5) return Emit("flush " + Family());
    if (dice < 7) {
      return Emit("compact " + Family() + (!quiet_ && random_.OneIn(3) ? " from=" + Key() : "") +
                  (random_.OneIn(3) ? " force" : ""));
    }
    if (dice < 8) return Emit("syncwal");
    Emit("setopt " + Family() + " " + OneOf(kSettings));
  }

  void Indexed() {
    const std::string index = Named("w", 2);
    const uint64_t dice = random_.Below(10);
    if (dice == 0) return Emit("index " + index + (random_.OneIn(2) ? " overwrite" : ""));
    if (dice < 5) return Emit("iwrite " + index + " " + Changes(false, false));
    if (dice == 5) return Emit("iget " + index + " " + Family() + " " + Key());
    if (dice == 6) return Emit("iboth " + index + " " + Family() + " " + Key());
    if (dice == 7) {
      return Emit("iscan " + index + " " + Family() + (random_.OneIn(2) ? " back" : ""));
    }
    Emit((dice == 8 ? "icommit " : "endindex ") + index);
  }

  // Returns a change or a read of a transaction.
  std::string TransactionPart() {
    const char* const reads[] = {"get", "get", "own", "lock", "share", "lockown"};
    const uint64_t dice = random_.Below(40);
    if (dice == 0) return "log " + Value();
    if (dice == 1) return "save";
    if (dice == 2) return "back";
    if (dice < 15) return OneOf(reads) + " " + Family() + " " + Key();
    return Change(false);
  }

  void Transact() {
    const std::string name = Named("t", 3);
    const uint64_t dice = random_.Below(40);
    // A prepared transaction waits for its decision.
    if (prepared_.count(name) != 0 && dice < 36 && !random_.OneIn(30)) return;
    if (dice < 5) {
      return Emit("begin " + name + (random_.OneIn(2) ? " snap" : "") +
                  (random_.OneIn(30) ? " max=" + std::to_string(20 + random_.Below(100)) : ""));
    }
    if (dice < 24) {
      std::string text = TransactionPart();
      for (uint64_t n = random_.Below(5); n > 0; n--) text += " ; " + TransactionPart();
      return Emit("tx " + name + " " + text);
    }
    if (dice < 26) return Emit("tmulti " + name + " " + Family() + " " + Key() + " " + Key());
    if (dice < 28) return Emit("tscan " + name + " " + Family() + Walk());
    if (dice == 28) return Emit("tbatch " + name);
    if (dice == 29) return Emit("trebuild " + name + " " + Changes(false, true));
    if (dice < 32) return Emit("tname " + name + " n" + std::to_string(random_.Below(5)));
    if (dice < 34) {
      if (kind_ == "txn") prepared_.insert(name);
      return Emit("prepare " + name);
    }
    prepared_.erase(name);
    if (dice < 38) {
      Emit((dice < 37 ? "commit " : "rollback ") + name);
      // A decided transaction is seldom decided again.
      if (random_.OneIn(10)) return;
      return Emit((random_.OneIn(2) ? "begin " : "endtx ") + name);
    }
    Emit("endtx " + name);
  }

  void ChangeFamilies() {
    std::string family = OneOf(kFamilies);
    if (random_.OneIn(2)) return Emit("family " + family);
    for (uint64_t i = 0; i < kSingleKeys; i++) living_.erase(family + " s" + std::to_string(i));
    Emit("drop " + family + (random_.OneIn(20) ? "!" : ""));
  }

  void AskProperty() {
    if (!quiet_) return Emit("families");
    // Recoveries flush at their own choice; a change without effect there, or without a log, may
    // have taken sequence numbers.
    if (session_ > 1) return;
    if (random_.OneIn(3)) return Emit("sequence");
    Emit("prop " + Family() + " " + OneOf(kProperties));
  }

  // ---- Sessions ----

  void Open() {
    session_++;
    prepared_.clear();
    kind_ = random_.OneIn(15) && !history_.empty() ? "ro" : kinds_[random_.Below(3)];
    std::string text = "open " + kind_ + " defaults";
    if (quiet_) text += " ; disable_auto_compactions=true";
    for (uint64_t n = random_.Below(4); n > 0; n--) {
      text += " ; " + (quiet_ || random_.OneIn(2) ? OneOf(kQuietOptions) : OneOf(kBusyOptions));
    }
    if (random_.OneIn(20)) text += " ; except=" + OneOf(kFamilies);
    Emit(text);
    if (kind_ == "txn") Emit("prepared");
    if (kind_ == "txn" && random_.OneIn(2)) {
      Emit((random_.OneIn(2) ? "commit =n" : "rollback =n") + std::to_string(random_.Below(5)));
    }
  }

  void Restart() {
    const uint64_t dice = random_.Below(4);
    Emit(dice == 0 ? "close" : dice == 1 ? "crash swap" : "crash");
    Open();
  }

  void End() {
    for (int session = 0; session < 2; session++) {
      Emit(session == 0 ? "crash swap" : "close");
      Emit("open txn defaults");
      Emit("prepared");
      for (int i = 0; i < 5; i++) {
        if (session == 0 || i > 2) Emit("rollback =n" + std::to_string(i));
      }
      for (const char* family : kFamilies) Emit(std::string("scan ") + family);
    }
    Emit("close");
  }

  static constexpr size_t kStepKinds = 12;
  static constexpr uint64_t kSingleKeys = 2;
  Random random_;
  History history_;
  uint64_t counter_ = 0;
  uint64_t keys_ = 0;
  bool quiet_ = false;
  bool large_ = false;
  uint64_t ranges_ = 0;
  uint64_t weights_[kStepKinds] = {};
  std::string kinds_[3];
  std::string kind_;
  int session_ = 0;
  std::set<std::string> prepared_;
  // "family key" of each key that was put and is not deleted.
  std::set<std::string> living_;
};

}  // namespace

History RandomCalls(uint64_t seed, size_t lines) {
  return CallGenerator(seed).Make(lines);
}

bool KeepsContract(const History& history) {
  std::set<std::string> living;
  for (const Line& line : history) {
    if (line.verb() == "drop") {
      std::erase_if(
          living, [&](const std::string& place) { return place.starts_with(line.Word(1) + " "); });
    }
    if (line.verb() != "write" || !line.Word(4).starts_with("s")) continue;
    const std::string place = line.Word(3) + " " + line.Word(4);
    if (line.Word(2) == "sdel") living.erase(place);
    if (line.Word(2) == "put" && !living.insert(place).second) return false;
  }
  return true;
}

}  // namespace varve::testing
