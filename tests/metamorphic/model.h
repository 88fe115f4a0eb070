// SPDX-License-Identifier: Apache-2.0
#pragma once

// Says which lines of a history are meaningful, and what each must answer. It does not know of
// files, levels or options, as those must not matter.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/metamorphic/history.h"
#include "tests/model/reference.h"
#include "tests/model/timestamp_reference.h"

namespace varve::testing {

// The state of a family that readers see at one moment.
using View = std::shared_ptr<FamilyState>;

// Tracks what callers of SingleDelete must observe: the key was put once since its last single
// deletion, and never merged, deleted or range-deleted. It also tracks the contract of writers with
// compaction filters, see Keeps.
class WriteContract {
 public:
  bool Keeps(const Change& change, const Comparator* order, bool filtered) const;
  void Count(const Change& change, const Comparator* order);
  // Makes all keys unknown.
  void Forget();

 private:
  std::map<std::string, int> puts_since_delete_;
};

// Models one column family. Families called "timed..." have timestamps.
class FamilyModel {
 public:
  FamilyModel(const std::string& name, const Line& line);

  const Comparator* order() const { return order_; }
  bool reverse() const { return order_ != BytewiseComparator(); }
  bool filtered() const { return filtered_; }
  bool has_timestamps() const { return has_timestamps_; }
  uint64_t mark() const { return mark_; }
  void Raise(uint64_t mark) { mark_ = mark; }
  void Trim(uint64_t timestamp);
  uint64_t moment() const { return versions_.order(); }  // number of writes

  const WriteContract& contract() const { return contract_; }
  void Apply(const Change& change, uint64_t timestamp);
  // Returns the view at a timestamp and a moment. For a family without timestamps it is the current
  // one.
  View See(uint64_t timestamp, uint64_t moment) const;
  View now() const { return now_; }

 private:
  FamilyState& Writable();

  const Comparator* order_;
  const bool filtered_;
  const bool has_timestamps_;
  uint64_t mark_ = 0;
  View now_;                     // shared with snapshots and iterators until it changes
  TimestampReference versions_;  // set for a family with timestamps
  WriteContract contract_;
};

// Holds the position of an iterator in its view.
struct IteratorModel {
  std::string db;
  std::string family;
  bool tailing = false;
  uint64_t timestamp = 0;
  bool refreshes = false;  // by itself, and reads its snapshot again and again
  std::string snap;
  View view;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
  std::optional<std::string> at;

  bool Contains(const std::string& key) const;
  void First();
  void Last();
  void Seek(const std::string& target);
  void SeekForPrev(const std::string& target);
  void Next();
  void Prev();
  std::string Answer() const;

 private:
  using Position = FamilyState::const_iterator;
  void Forward(Position from);
  void Backward(Position after);
};

class Model {
 public:
  // Returns true if the line is meaningful here. Do, which returns the answer, requires that.
  bool Means(const Line& line) const;
  std::string Do(const Line& line);

  struct Snap {
    std::map<std::string, View> views;
    std::map<std::string, uint64_t> moments;
  };
  struct Database {
    bool open = false;
    bool paused = false;
    bool manual_off = false;
    uint64_t last_timestamp = 1;
    std::map<std::string, FamilyModel> families;
    std::map<std::string, Snap> snaps;
  };
  const std::map<std::string, Database>& databases() const { return databases_; }
  const std::map<std::string, IteratorModel>& iterators() const { return iterators_; }
  // Returns the family of a line, or null unless its database is open and has it.
  const FamilyModel* Find(const std::string& db, const std::string& family) const;

 private:
  using Judge = bool (Model::*)(const Line&) const;
  using Act = std::string (Model::*)(const Line&);
  struct Verb {
    Judge means;
    Act act;
  };
  static const std::map<std::string, Verb>& Verbs();

  const Database* Open(const Line& line) const;
  const FamilyModel* FamilyOf(const Line& line) const;
  bool ReadsLegally(const Line& line, const FamilyModel& family) const;
  View ViewOf(const Line& line, const std::string& family) const;
  void ForgetReaders(const std::string& db, const std::string& family);

  bool MeansOpen(const Line& line) const;
  bool MeansOpened(const Line& line) const;
  bool MeansAnyOpened(const Line& line) const;
  bool MeansFamily(const Line& line) const;
  bool MeansExisting(const Line& line) const;
  bool MeansExport(const Line& line) const;
  bool MeansDrop(const Line& line) const;
  bool MeansWrite(const Line& line) const;
  bool MeansIngest(const Line& line) const;
  bool MeansExcise(const Line& line) const;
  bool MeansSnap(const Line& line) const;
  bool MeansUnsnap(const Line& line) const;
  bool MeansRead(const Line& line) const;
  bool MeansMulti(const Line& line) const;
  bool MeansIterator(const Line& line) const;
  bool MeansMove(const Line& line) const;
  bool MeansBackMove(const Line& line) const;
  bool MeansRefresh(const Line& line) const;
  bool MeansDeleteFiles(const Line& line) const;
  bool MeansRaise(const Line& line) const;
  bool MeansFlush(const Line& line) const;
  bool MeansSettle(const Line& line) const;
  bool MeansRepair(const Line& line) const;

  std::string DoOpen(const Line& line);
  std::string DoClose(const Line& line);
  std::string DoKill(const Line& line);
  std::string DoFamily(const Line& line);
  std::string DoDrop(const Line& line);
  std::string DoWrite(const Line& line);
  std::string DoIngest(const Line& line);
  std::string DoExcise(const Line& line);
  std::string DoSnap(const Line& line);
  std::string DoUnsnap(const Line& line);
  std::string DoGet(const Line& line);
  std::string DoMulti(const Line& line);
  std::string DoScan(const Line& line);
  std::string DoPrefix(const Line& line);
  std::string DoIterator(const Line& line);
  std::string DoEnd(const Line& line);
  std::string DoMove(const Line& line);
  std::string DoRefresh(const Line& line);
  std::string DoDeleteFiles(const Line& line);
  std::string DoRaise(const Line& line);
  std::string DoPause(const Line& line);
  std::string DoManual(const Line& line);
  std::string DoNothing(const Line& line);

  std::map<std::string, Database> databases_;
  std::map<std::string, IteratorModel> iterators_;
};

// Returns "key=value", the form of answers.
std::string PairText(const Slice& key, const Slice& value);
constexpr const char* kAbsent = "-";
constexpr const char* kDone = "ok";
constexpr size_t kPrefixBytes = 3;  // bytes of the lines "prefix"

}  // namespace varve::testing
