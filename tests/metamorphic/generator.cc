// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/generator.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/random.h"
#include "tests/metamorphic/changeable_options.h"
#include "tests/metamorphic/model.h"

namespace varve::testing {

namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ull + 1) {
    // Few keys collide often, many keys make a tree.
    const uint64_t keys[] = {6, 20, 80, 400};
    keys_ = 2 + random_.Below(keys[random_.Below(4)]);
    single_keys_ = 1 + random_.Below(20);
    bulk_ = random_.OneIn(2) ? random_.Below(8) : 0;
    most_bulk_ = random_.OneIn(3) ? 500 : 60;
    large_ = random_.OneIn(2);
    ranges_ = random_.Below(8);
    singles_ = random_.Below(12);
    merges_ = random_.OneIn(3) ? 0 : random_.Below(40);
    filters_ = random_.Below(30);
    has_timestamps_ = random_.OneIn(2);
    second_ = random_.OneIn(2);
    for (uint64_t& weight : weights_) weight = 1 + random_.Skewed(4);
  }

  History Make(size_t lines) {
    Emit("open a 0");
    Emit("family a/f1");
    Emit("family a/f2 filtered");
    if (random_.OneIn(2)) Emit("family a/f3 reverse");
    if (has_timestamps_)
      Emit(std::string("family a/timed1") + (random_.OneIn(3) ? " reverse" : ""));
    if (second_) {
      Emit("open b 1");
      Emit("family b/f1 reverse");
    }
    while (history_.size() < lines) Step();
    End();
    return std::move(history_);
  }

 private:
  // Adds a line unless it is meaningless. Returns true if it was added.
  bool Emit(const std::string& text) {
    History parsed = ParseHistory(text);
    if (parsed.empty() || !model_.Means(parsed[0])) return false;
    model_.Do(parsed[0]);
    history_.push_back(std::move(parsed[0]));
    return true;
  }

  // ---- Parts of lines ----

  std::string Db() {
    std::vector<std::string> open;
    for (const auto& [name, db] : model_.databases()) {
      if (db.open) open.push_back(name);
    }
    return open.empty() ? "a" : open[random_.Below(open.size())];
  }

  std::string Family(const std::string& db) {
    const auto found = model_.databases().find(db);
    if (found == model_.databases().end() || found->second.families.empty()) return "default";
    auto it = found->second.families.begin();
    std::advance(it, static_cast<long>(random_.Below(found->second.families.size())));
    return it->first;
  }

  // Returns "a/f1", with a timestamp if the family has them.
  std::string Place() {
    const std::string db = Db();
    return Place(db, Family(db));
  }

  std::string Place(const std::string& db, const std::string& family) {
    const FamilyModel* const model = model_.Find(db, family);
    std::string place = db + "/" + family;
    if (model == nullptr || !model->has_timestamps()) return place;
    const uint64_t last = model_.databases().at(db).last_timestamp;
    return place + "@" + std::to_string(model->mark() + random_.Below(last - model->mark() + 2));
  }

  std::string PlainPlace() {
    const std::string db = Db();
    return db + "/" + Family(db);
  }

  // Returns a key: short ones, long shared prefixes and binary bytes all occur.
  std::string Key() {
    const uint64_t k = random_.Below(keys_);
    std::string key = "k" + std::to_string(k % 7) + std::to_string(k);
    if (k % 13 == 5) key = std::string(1, static_cast<char>(k % 251)) + std::string("\0\xff", 2);
    if (k % 17 == 3) key = "k3long-shared-prefix-" + std::to_string(k);
    if (k == 1) key.clear();
    return WordOf(key);
  }

  std::string Value() {
    std::string value = "v" + std::to_string(counter_++);
    if (random_.OneIn(3)) return value;
    const uint64_t bytes = random_.OneIn(40) ? 6000 : large_ ? 1200 : 120;
    return value + "*" + std::to_string(6 + random_.Below(bytes));
  }

  std::string FilteredValue() {
    const char* const starts[] = {"drop-", "Chg-", "purge-"};
    if (random_.Below(100) >= filters_) return Value();
    return starts[random_.Below(3)] + Value();
  }

  // Returns one change of a family, as a part of a line "write".
  std::string Part(const std::string& db, const std::string& family) {
    const FamilyModel* const model = model_.Find(db, family);
    const std::string head = " " + family + " ";
    const uint64_t dice = random_.Below(100);
    if (model == nullptr) return "note x";
    if (random_.Below(100) < bulk_) return Bulk(head);
    if (dice < ranges_) {
      std::string begin = Key();
      std::string end = Key();
      Order(*model, &begin, &end);
      return "range" + head + begin + " " + end;
    }
    if (dice < ranges_ + singles_) return SinglePart(*model, head);
    if (dice < ranges_ + singles_ + 12) return "del" + head + Key();
    if (dice < ranges_ + singles_ + 12 + merges_ && !model->filtered()) {
      return "merge" + head + Key() + " " + (random_.OneIn(4) ? "=" : "") + Value();
    }
    return "put" + head + Key() + " " + (model->filtered() ? FilteredValue() : Value());
  }

  std::string Bulk(const std::string& head) {
    const uint64_t from = random_.Below(2000);
    const std::string range =
        std::to_string(from) + " " + std::to_string(random_.Below(most_bulk_));
    if (random_.OneIn(3)) return "wipe" + head + range;
    if (random_.OneIn(6)) {
      return "range" + head + NumberedKey(from) + " " +
             NumberedKey(from + random_.Below(most_bulk_));
    }
    return "fill" + head + range + " v" + std::to_string(counter_++) + "*" +
           std::to_string(6 + random_.Below(200));
  }

  // Returns a change of keys that are only put and singly deleted, in turn.
  std::string SinglePart(const FamilyModel& model, const std::string& head) {
    const std::string key = "s" + std::to_string(random_.Below(single_keys_));
    Change change;
    change.kind = Change::kSingleDelete;
    change.key = key;
    const bool may = model.contract().Keeps(change, model.order(), model.filtered());
    return may && random_.OneIn(2) ? "sdel" + head + key : "put" + head + key + " " + Value();
  }

  static void Order(const FamilyModel& family, std::string* begin, std::string* end) {
    if (family.order()->Compare(BytesOf(*begin), BytesOf(*end)) > 0) std::swap(*begin, *end);
  }

  std::string Snap(const std::string& db) {
    const auto found = model_.databases().find(db);
    if (found == model_.databases().end() || found->second.snaps.empty()) return "";
    if (random_.OneIn(2)) return "";
    auto it = found->second.snaps.begin();
    std::advance(it, static_cast<long>(random_.Below(found->second.snaps.size())));
    return " snap=" + it->first;
  }

  std::string Bounds(const std::string& place) {
    const Line line{{"", place}};
    const FamilyModel* const family = model_.Find(line.Db(), line.Family());
    if (family == nullptr) return "";
    std::string begin = Key();
    std::string end = Key();
    Order(*family, &begin, &end);
    std::string bounds;
    if (random_.OneIn(3)) bounds += " lower=" + begin;
    if (random_.OneIn(3)) bounds += " upper=" + end;
    return bounds;
  }

  // Returns read options that must not change what is read.
  std::string ReadFlags() {
    const char* const flags[] = {"total",      "pin",    "async",  "readahead", "adaptive",
                                 "autoprefix", "nofill", "noauto", "nocheck",   "autorefresh"};
    std::string words;
    for (const char* flag : flags) {
      if (random_.OneIn(5)) words += std::string(" ") + flag;
    }
    return words;
  }

  std::string Later() { return random_.OneIn(3) ? " later" : ""; }

  std::string Range() {
    const std::string from = random_.OneIn(2) ? " from=" + Key() : "";
    return from + (random_.OneIn(2) ? " to=" + Key() : "");
  }

  // ---- Steps ----

  void Step() {
    using Method = void (Generator::*)();
    // The frequency in a thousand, before the temper.
    static constexpr struct {
      uint64_t often;
      Method step;
    } kSteps[] = {
        {420, &Generator::Write},        {90, &Generator::Get},       {40, &Generator::Multi},
        {40, &Generator::Scan},          {30, &Generator::Prefix},    {20, &Generator::NewIterator},
        {170, &Generator::Move},         {30, &Generator::Snapshot},  {25, &Generator::Flush},
        {12, &Generator::Compact},       {8, &Generator::Files},      {6, &Generator::Suggest},
        {5, &Generator::DeleteFiles},    {12, &Generator::SetOption}, {6, &Generator::SetDb},
        {8, &Generator::ChangeFamilies}, {6, &Generator::Restart},    {3, &Generator::Kill},
        {8, &Generator::Pause},          {10, &Generator::Sundry},    {6, &Generator::Timestamps},
        {16, &Generator::Ingest},        {5, &Generator::Excise},     {8, &Generator::Copy}};
    uint64_t sum = 0;
    for (size_t i = 0; i < std::size(kSteps); i++) sum += kSteps[i].often * weights_[i];
    uint64_t dice = random_.Below(sum);
    for (size_t i = 0; i < std::size(kSteps); i++) {
      const uint64_t often = kSteps[i].often * weights_[i];
      if (dice < often) return (this->*kSteps[i].step)();
      dice -= often;
    }
  }

  void Write() {
    const std::string db = Db();
    const uint64_t last = model_.databases().at(db).last_timestamp;
    std::string text = "write " + db;
    // Timestamps never decrease, and often stay the same.
    if (has_timestamps_)
      text += "@" + std::to_string(last + (random_.OneIn(3) ? random_.Below(3) : 0));
    const uint64_t parts = random_.OneIn(4) ? 1 + random_.Below(24) : 1;
    for (uint64_t i = 0; i < parts; i++) {
      text += (i == 0 ? " " : " ; ") + Part(db, Family(db));
    }
    Emit(text);
  }

  void Ingest() {
    const std::string db = Db();
    std::string text = "ingest " + db;
    const uint64_t parts = random_.OneIn(3) ? 1 + random_.Below(40) : 1 + random_.Below(4);
    // Parts belong to families that lie apart in the line, or all to one.
    const std::string one = random_.OneIn(2) ? Family(db) : "";
    for (uint64_t i = 0; i < parts; i++) {
      std::string part;
      do part = Part(db, one.empty() ? Family(db) : one);
      while (part.starts_with("sdel"));
      text += (i == 0 ? " " : " ; ") + part;
    }
    Emit(text);
  }

  void Excise() { OnRange(random_.OneIn(4) ? "clip" : "excise"); }

  void Copy() {
    switch (random_.Below(5)) {
      case 0:
        Emit("checkpoint " + Db());
        break;
      case 1:
        Emit("backup " + Db());
        break;
      case 2:
        Emit("export " + PlainPlace());
        break;
      case 3:
        return Follow("secondary", "secondary");
      default:
        return Follow("stream", "streamed");
    }
  }

  // A follower is compared when its database has gone on.
  void Follow(const std::string& begin, const std::string& compare) {
    const std::string db = Db();
    if (!Emit(begin + " " + db) || following_) return;
    following_ = true;
    for (uint64_t n = random_.Below(60); n > 0; n--) Step();
    following_ = false;
    Emit(compare + " " + db);
  }

  void Get() {
    const std::string place = Place();
    Emit((random_.OneIn(6) ? "operands " : "get ") + place + " " + Key() +
         Snap(Line{{"", place}}.Db()));
  }

  void Multi() {
    const std::string db = Db();
    const bool one = random_.OneIn(3);
    const std::string family = Family(db);
    std::string text = "multi " + db;
    for (uint64_t n = 1 + random_.Below(20); n > 0; n--) {
      text += " " + (one ? family : Family(db)) + "/" + Key();
    }
    Emit(text + (random_.OneIn(3) ? " async" : "") + Snap(db));
  }

  void Scan() {
    const std::string place = Place();
    Emit("scan " + place + (random_.OneIn(3) ? " back" : "") + Bounds(place) + ReadFlags() +
         Snap(Line{{"", place}}.Db()));
  }

  void Prefix() {
    const std::string place = Place();
    Emit("prefix " + place + " " + Key() + (random_.OneIn(2) ? " same" : "") + ReadFlags());
  }

  void NewIterator() {
    if (model_.iterators().size() > 5) {
      Emit("enditer " + AnyIterator());
      return;
    }
    const std::string place = Place();
    const std::string name = "i" + std::to_string(iterator_++);
    const bool tailing = random_.OneIn(5);
    Emit("iter " + place + " " + name + (tailing ? " tailing" : "") + Bounds(place) + ReadFlags() +
         (tailing ? "" : Snap(Line{{"", place}}.Db())));
  }

  std::string AnyIterator() {
    if (model_.iterators().empty()) return "none";
    auto it = model_.iterators().begin();
    std::advance(it, static_cast<long>(random_.Below(model_.iterators().size())));
    return it->first;
  }

  void Move() {
    const std::string it = AnyIterator();
    if (it == "none") return NewIterator();
    const uint64_t dice = random_.Below(20);
    const std::string steps = " " + std::to_string(1 + random_.Skewed(5));
    if (dice < 3) {
      Emit("seek " + it + " " + Key());
    } else if (dice < 6) {
      Emit("seekback " + it + " " + Key());
    } else if (dice < 7) {
      Emit("first " + it);
    } else if (dice < 8) {
      Emit("last " + it);
    } else if (dice < 13) {
      Emit("next " + it + steps);
    } else if (dice < 18) {
      Emit("prev " + it + steps);
    } else if (dice < 19) {
      Emit("refresh " + it + Snap(model_.iterators().at(it).db));
    } else {
      Emit("enditer " + it);
    }
  }

  void Snapshot() {
    const std::string db = Db();
    const auto found = model_.databases().find(db);
    if (found == model_.databases().end()) return;
    const auto& snaps = found->second.snaps;
    if (snaps.size() < 4 && random_.OneIn(2)) {
      Emit("snap " + db + " s" + std::to_string(snapshot_++));
    } else if (!snaps.empty()) {
      auto it = snaps.begin();
      std::advance(it, static_cast<long>(random_.Below(snaps.size())));
      Emit("unsnap " + db + " " + it->first);
    }
  }

  void Flush() {
    const std::string db = Db();
    std::string text = "flush " + db + " " + Family(db);
    if (random_.OneIn(3)) text += " " + Family(db);
    Emit(text + (random_.OneIn(4) ? " nowait" : ""));
  }

  void Compact() {
    const char* const last[] = {"skip", "filter", "force", "optimized"};
    std::string text = "compact " + PlainPlace() + Range();
    text += std::string(" last=") + last[random_.Below(4)];
    if (random_.OneIn(2)) text += " exclusive";
    if (random_.OneIn(6)) text += " level=" + std::to_string(random_.Below(4));
    if (random_.OneIn(4)) text += " parts=" + std::to_string(1 + random_.Below(4));
    if (random_.OneIn(4)) text += " stall";
    Emit(text + Later());
  }

  void Files() {
    Emit("files " + PlainPlace() + " level=" + std::to_string(random_.Below(4)) + " count=" +
         std::to_string(1 + random_.Below(4)) + " deeper=" + std::to_string(random_.Below(3)) +
         (random_.OneIn(3) ? " move" : "") + Later());
  }

  void Suggest() { Emit("suggest " + PlainPlace() + Range()); }

  void DeleteFiles() { OnRange("deletefiles"); }

  // Emits a line of a call on a range of a family.
  void OnRange(const std::string& call) {
    const std::string db = Db();
    const std::string family = Family(db);
    const FamilyModel* const model = model_.Find(db, family);
    if (model == nullptr) return;
    std::string begin = Key();
    std::string end = Key();
    Order(*model, &begin, &end);
    Emit(call + " " + db + "/" + family + " " + begin + " " + end);
  }

  void SetOption() {
    const ChangeableOption& option = FamilyOptions()[random_.Below(FamilyOptions().size())];
    Emit("set " + PlainPlace() + " " + option.name + "=" + Choice(option));
  }

  void SetDb() {
    const ChangeableOption& option = DatabaseOptions()[random_.Below(DatabaseOptions().size())];
    Emit("setdb " + Db() + " " + option.name + "=" + Choice(option));
  }

  std::string Choice(const ChangeableOption& option) {
    return option.values[random_.Below(option.values.size())];
  }

  void ChangeFamilies() {
    const std::string db = Db();
    if (random_.OneIn(2)) {
      const char* const kinds[] = {"", " reverse", " filtered", " reverse filtered"};
      const bool timed = has_timestamps_ && random_.OneIn(3);
      Emit("family " + db + "/" + (timed ? "timed" : "f") + std::to_string(random_.Below(6)) +
           kinds[random_.Below(timed ? 2 : 4)]);
    } else {
      Emit("drop " + db + "/" + Family(db));
    }
  }

  void Reopen(const std::string& db) {
    if (random_.OneIn(12)) Emit("repair " + db);
    std::string text = "open " + db + " " + std::to_string(random_.Below(4));
    if (has_timestamps_ && random_.OneIn(2)) {
      const uint64_t last = model_.databases().at(db).last_timestamp;
      const uint64_t back = random_.Below(random_.OneIn(2) ? 5 : 60);
      if (Emit(text + " trim=" + std::to_string(last - std::min(last, back)))) return;
    }
    Emit(text);
  }

  void Restart() {
    const std::string db = Db();
    Emit("close " + db);
    // Now and then the second database continues alone.
    if (second_ && db == "b" && random_.OneIn(2)) {
      for (int i = 0; i < 30; i++) Step();
    }
    ReopenAll();
  }

  void Kill() {
    Emit("kill");
    ReopenAll();
  }

  void ReopenAll() {
    for (const char* db : {"a", "b"}) {
      if (model_.databases().count(db) != 0 && !model_.databases().at(db).open) Reopen(db);
    }
  }

  void Pause() {
    const std::string db = Db();
    if (!model_.databases().at(db).paused) {
      Emit("pause " + db);
    } else {
      Emit("continue " + db);
    }
  }

  void Sundry() {
    const char* const lines[] = {"sync ",    "wait ", "verify ", "manual ", "hold ",
                                 "release ", "lock ", "live ",   "peek "};
    const uint64_t i = random_.Below(13);
    if (i >= 9) {
      const char* const questions[] = {"rocksdb.stats", "rocksdb.levelstats",
                                       "rocksdb.estimate-num-keys", "rocksdb.sstables",
                                       "rocksdb.estimate-live-data-size"};
      Emit("ask " + PlainPlace() + " " + questions[random_.Below(5)]);
      return;
    }
    const std::string db = Db();
    const bool off = random_.OneIn(2) && !model_.databases().at(db).manual_off;
    Emit(lines[i] + db + (i == 3 ? (off ? " off" : " on") : ""));
  }

  void Timestamps() {
    const std::string db = Db();
    const uint64_t last = model_.databases().at(db).last_timestamp;
    Emit("raise " + db + "/" + Family(db) + " " +
         std::to_string(last - std::min(last, random_.Below(5))));
  }

  void End() {
    ReopenAll();
    while (!model_.iterators().empty()) Emit("enditer " + model_.iterators().begin()->first);
    std::vector<std::string> lines;
    for (const auto& [name, db] : model_.databases()) {
      for (const auto& [snap, state] : db.snaps) lines.push_back("unsnap " + name + " " + snap);
      lines.push_back("continue " + name);
      for (const char* when : {"before", "after"}) {
        for (const auto& [family, model] : db.families) {
          const std::string stamp =
              model.has_timestamps() ? "@" + std::to_string(db.last_timestamp + 1) : "";
          lines.push_back("scan " + name + "/" + family + stamp);
          lines.push_back("scan " + name + "/" + family + stamp + " back");
        }
        if (std::string(when) == "before") lines.push_back("settle " + name);
      }
    }
    for (const auto& [name, db] : model_.databases()) lines.push_back("close " + name);
    for (const std::string& line : lines) Emit(line);
  }

  Random random_;
  uint64_t keys_ = 0;
  uint64_t single_keys_ = 0;
  uint64_t bulk_ = 0;  // in a hundred changes
  uint64_t most_bulk_ = 0;
  bool large_ = false;
  uint64_t ranges_ = 0;  // in a hundred changes, as the next three
  uint64_t singles_ = 0;
  uint64_t merges_ = 0;
  uint64_t filters_ = 0;
  bool has_timestamps_ = false;
  bool second_ = false;
  bool following_ = false;
  uint64_t weights_[24] = {};
  Model model_;
  History history_;
  uint64_t counter_ = 0;
  uint64_t iterator_ = 0;
  uint64_t snapshot_ = 0;
};

}  // namespace

History RandomHistory(uint64_t seed, size_t lines) {
  return Generator(seed).Make(lines);
}

}  // namespace varve::testing
