// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/model.h"

#include <algorithm>
#include <cstdlib>

namespace varve::testing {

namespace {

std::string GetText(const FamilyState& state, const std::string& key) {
  const auto found = state.find(key);
  if (found == state.end() || IsRemovable(found->second)) return kAbsent;
  return "=" + Shown(found->second);
}

}  // namespace

std::string PairText(const Slice& key, const Slice& value) {
  return key.ToString() + "=" + Shown(value);
}

const std::map<std::string, Model::Verb>& Model::Verbs() {
  static const std::map<std::string, Verb> verbs = {
      {"open", {&Model::MeansOpen, &Model::DoOpen}},
      {"close", {&Model::MeansOpened, &Model::DoClose}},
      {"kill", {&Model::MeansAnyOpened, &Model::DoKill}},
      {"family", {&Model::MeansFamily, &Model::DoFamily}},
      {"drop", {&Model::MeansDrop, &Model::DoDrop}},
      {"write", {&Model::MeansWrite, &Model::DoWrite}},
      {"ingest", {&Model::MeansIngest, &Model::DoIngest}},
      {"excise", {&Model::MeansExcise, &Model::DoExcise}},
      {"clip", {&Model::MeansExcise, &Model::DoExcise}},
      {"checkpoint", {&Model::MeansOpened, &Model::DoNothing}},
      {"backup", {&Model::MeansOpened, &Model::DoNothing}},
      {"export", {&Model::MeansExport, &Model::DoNothing}},
      {"secondary", {&Model::MeansOpened, &Model::DoNothing}},
      {"stream", {&Model::MeansOpened, &Model::DoNothing}},
      {"streamed", {&Model::MeansOpened, &Model::DoNothing}},
      {"snap", {&Model::MeansSnap, &Model::DoSnap}},
      {"unsnap", {&Model::MeansUnsnap, &Model::DoUnsnap}},
      {"get", {&Model::MeansRead, &Model::DoGet}},
      {"multi", {&Model::MeansMulti, &Model::DoMulti}},
      {"scan", {&Model::MeansRead, &Model::DoScan}},
      {"prefix", {&Model::MeansRead, &Model::DoPrefix}},
      {"iter", {&Model::MeansIterator, &Model::DoIterator}},
      {"enditer", {&Model::MeansMove, &Model::DoEnd}},
      {"first", {&Model::MeansMove, &Model::DoMove}},
      {"last", {&Model::MeansBackMove, &Model::DoMove}},
      {"seek", {&Model::MeansMove, &Model::DoMove}},
      {"seekback", {&Model::MeansBackMove, &Model::DoMove}},
      {"next", {&Model::MeansMove, &Model::DoMove}},
      {"prev", {&Model::MeansBackMove, &Model::DoMove}},
      {"refresh", {&Model::MeansRefresh, &Model::DoRefresh}},
      {"flush", {&Model::MeansFlush, &Model::DoNothing}},
      {"compact", {&Model::MeansExisting, &Model::DoNothing}},
      {"files", {&Model::MeansExisting, &Model::DoNothing}},
      {"suggest", {&Model::MeansExisting, &Model::DoNothing}},
      {"deletefiles", {&Model::MeansDeleteFiles, &Model::DoDeleteFiles}},
      {"raise", {&Model::MeansRaise, &Model::DoRaise}},
      {"pause", {&Model::MeansOpened, &Model::DoPause}},
      {"continue", {&Model::MeansOpened, &Model::DoPause}},
      {"manual", {&Model::MeansOpened, &Model::DoManual}},
      {"set", {&Model::MeansExisting, &Model::DoNothing}},
      {"setdb", {&Model::MeansOpened, &Model::DoNothing}},
      {"sync", {&Model::MeansOpened, &Model::DoNothing}},
      {"wait", {&Model::MeansOpened, &Model::DoNothing}},
      {"ask", {&Model::MeansExisting, &Model::DoNothing}},
      {"verify", {&Model::MeansOpened, &Model::DoNothing}},
      {"hold", {&Model::MeansOpened, &Model::DoNothing}},
      {"release", {&Model::MeansOpened, &Model::DoNothing}},
      {"lock", {&Model::MeansOpened, &Model::DoNothing}},
      {"live", {&Model::MeansOpened, &Model::DoNothing}},
      {"peek", {&Model::MeansOpened, &Model::DoNothing}},
      {"repair", {&Model::MeansRepair, &Model::DoNothing}},
      {"operands", {&Model::MeansRead, &Model::DoGet}},
      {"settle", {&Model::MeansSettle, &Model::DoNothing}},
  };
  return verbs;
}

bool Model::Means(const Line& line) const {
  const auto verb = Verbs().find(line.verb());
  return verb != Verbs().end() && (this->*verb->second.means)(line);
}

std::string Model::Do(const Line& line) {
  return (this->*Verbs().at(line.verb()).act)(line);
}

const FamilyModel* Model::Find(const std::string& db, const std::string& family) const {
  const auto found = databases_.find(db);
  if (found == databases_.end() || !found->second.open) return nullptr;
  const auto at = found->second.families.find(family);
  return at == found->second.families.end() ? nullptr : &at->second;
}

const Model::Database* Model::Open(const Line& line) const {
  const auto found = databases_.find(line.Db());
  return found == databases_.end() || !found->second.open ? nullptr : &found->second;
}

const FamilyModel* Model::FamilyOf(const Line& line) const {
  return Find(line.Db(), line.Family());
}

// ---- Which lines are meaningful ----

bool Model::MeansOpen(const Line& line) const {
  if (line.Db().empty() || Open(line) != nullptr) return false;
  if (!line.HasOption("trim")) return true;
  const uint64_t trim = NumberOf(line.Option("trim"));
  const auto found = databases_.find(line.Db());
  if (found == databases_.end()) return false;
  // Trimming history requires families with timestamps, all of whose marks are below.
  bool any = false;
  for (const auto& [name, family] : found->second.families) {
    any |= family.has_timestamps();
    if (family.has_timestamps() && family.mark() > trim) return false;
  }
  return any;
}

bool Model::MeansRepair(const Line& line) const {
  return databases_.count(line.Db()) != 0 && Open(line) == nullptr;
}

bool Model::MeansOpened(const Line& line) const {
  return Open(line) != nullptr;
}

bool Model::MeansAnyOpened(const Line& /*line*/) const {
  return std::any_of(databases_.begin(), databases_.end(),
                     [](const auto& one) { return one.second.open; });
}

bool Model::MeansFamily(const Line& line) const {
  return Open(line) != nullptr && FamilyOf(line) == nullptr;
}

bool Model::MeansExisting(const Line& line) const {
  return FamilyOf(line) != nullptr;
}

bool Model::MeansExport(const Line& line) const {
  const FamilyModel* const family = FamilyOf(line);
  return family != nullptr && !family->has_timestamps();
}

bool Model::MeansFlush(const Line& line) const {
  if (Open(line) == nullptr) return false;
  for (size_t i = 2; i < line.words.size(); i++) {
    if (line.words[i] != "nowait" && Find(line.Db(), line.words[i]) == nullptr) return false;
  }
  return line.words.size() > 2;
}

bool Model::MeansDrop(const Line& line) const {
  return FamilyOf(line) != nullptr && line.Family() != "default";
}

bool Model::MeansWrite(const Line& line) const {
  const Database* const db = Open(line);
  if (db == nullptr) return false;
  const std::vector<Change> changes = ChangesOf(line);
  // One batch may change a key more than once, so earlier changes count.
  std::map<std::string, WriteContract> touched;
  for (const Change& change : changes) {
    const auto found = db->families.find(change.family);
    if (found == db->families.end()) return false;
    const FamilyModel& family = found->second;
    if (family.has_timestamps() && line.Stamp() < std::max(db->last_timestamp, family.mark()))
      return false;
    if (changes.size() == 1) {
      return family.contract().Keeps(change, family.order(), family.filtered());
    }
    const auto [at, added] = touched.try_emplace(change.family, family.contract());
    if (!at->second.Keeps(change, family.order(), family.filtered())) return false;
    at->second.Count(change, family.order());
  }
  return true;
}

// Files have no single deletions, and with timestamps only keys that are nowhere else.
bool Model::MeansIngest(const Line& line) const {
  const std::vector<Change> changes = ChangesOf(line);
  const bool fits = std::none_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.kind == Change::kSingleDelete || HasTimestamps(change.family);
  });
  return fits && !changes.empty() && MeansWrite(line);
}

bool Model::MeansExcise(const Line& line) const {
  const FamilyModel* const family = FamilyOf(line);
  if (family == nullptr || family->has_timestamps()) return false;
  return family->order()->Compare(BytesOf(line.Word(2)), BytesOf(line.Word(3))) < 0;
}

bool Model::MeansSnap(const Line& line) const {
  const Database* const db = Open(line);
  return db != nullptr && !line.Word(2).empty() && db->snaps.count(line.Word(2)) == 0;
}

bool Model::MeansUnsnap(const Line& line) const {
  const Database* const db = Open(line);
  if (db == nullptr || db->snaps.count(line.Word(2)) == 0) return false;
  return std::none_of(iterators_.begin(), iterators_.end(), [&](const auto& one) {
    const IteratorModel& it = one.second;
    return it.refreshes && it.db == line.Db() && it.snap == line.Word(2);
  });
}

bool Model::ReadsLegally(const Line& line, const FamilyModel& family) const {
  if (line.HasOption("snap")) {
    const auto& snaps = databases_.at(line.Db()).snaps;
    const auto snap = snaps.find(line.Option("snap"));
    if (snap == snaps.end()) return false;
    if (snap->second.moments.count(line.Family()) == 0) return false;
  }
  if (!family.has_timestamps()) return !line.HasTimestamp();
  return line.HasTimestamp() && line.Stamp() >= family.mark();
}

bool Model::MeansRead(const Line& line) const {
  const FamilyModel* const family = FamilyOf(line);
  if (family == nullptr || !ReadsLegally(line, *family)) return false;
  if (!line.HasOption("lower") || !line.HasOption("upper")) return true;
  return family->order()->Compare(BytesOf(line.Option("lower")), BytesOf(line.Option("upper"))) < 0;
}

bool Model::MeansMulti(const Line& line) const {
  const Database* const db = Open(line);
  if (db == nullptr) return false;
  for (size_t i = 2; i < line.words.size(); i++) {
    const std::string& word = line.words[i];
    const size_t slash = word.find('/');
    if (slash == std::string::npos) continue;
    const FamilyModel* const family = Find(line.Db(), word.substr(0, slash));
    if (family == nullptr || family->has_timestamps()) return false;
    if (!line.HasOption("snap")) continue;
    const auto snap = db->snaps.find(line.Option("snap"));
    if (snap == db->snaps.end() || snap->second.moments.count(word.substr(0, slash)) == 0) {
      return false;
    }
  }
  return true;
}

bool Model::MeansIterator(const Line& line) const {
  if (line.HasOption("snap") && line.Has("tailing")) return false;
  const FamilyModel* const family = FamilyOf(line);
  if (family != nullptr && family->has_timestamps() && line.Has("tailing")) return false;
  return MeansRead(line) && iterators_.count(line.Word(2)) == 0;
}

bool Model::MeansMove(const Line& line) const {
  return iterators_.count(line.Word(1)) != 0;
}

bool Model::MeansBackMove(const Line& line) const {
  return MeansMove(line) && !iterators_.at(line.Word(1)).tailing;
}

bool Model::MeansRefresh(const Line& line) const {
  if (!MeansMove(line)) return false;
  const IteratorModel& it = iterators_.at(line.Word(1));
  const FamilyModel* const family = Find(it.db, it.family);
  if (it.tailing || family == nullptr) return false;
  if (family->has_timestamps() && it.timestamp < family->mark()) return false;
  if (!line.HasOption("snap")) return true;
  const auto& snaps = databases_.at(it.db).snaps;
  const auto snap = snaps.find(line.Option("snap"));
  return snap != snaps.end() && snap->second.moments.count(it.family) != 0;
}

// Deleting whole files leaves a known state only if the rest of the range is deleted, too, and only
// for the latest state.
bool Model::MeansDeleteFiles(const Line& line) const {
  const FamilyModel* const family = FamilyOf(line);
  if (family == nullptr || family->has_timestamps() || !databases_.at(line.Db()).snaps.empty())
    return false;
  for (const auto& [name, it] : iterators_) {
    if (it.db == line.Db() && it.family == line.Family()) return false;
  }
  return family->order()->Compare(BytesOf(line.Word(2)), BytesOf(line.Word(3))) < 0;
}

bool Model::MeansRaise(const Line& line) const {
  const FamilyModel* const family = FamilyOf(line);
  if (family == nullptr || !family->has_timestamps()) return false;
  const uint64_t mark = NumberOf(line.Word(2));
  if (mark < family->mark() || mark > databases_.at(line.Db()).last_timestamp) return false;
  // Reads below the mark are not allowed afterwards.
  return std::none_of(iterators_.begin(), iterators_.end(), [&](const auto& one) {
    return one.second.db == line.Db() && one.second.family == line.Family();
  });
}

bool Model::MeansSettle(const Line& line) const {
  const Database* const db = Open(line);
  if (db == nullptr || !db->snaps.empty()) return false;
  return std::none_of(iterators_.begin(), iterators_.end(),
                      [&](const auto& one) { return one.second.db == line.Db(); });
}

// ---- The effects of lines ----

std::string Model::DoNothing(const Line& /*line*/) {
  return kDone;
}

std::string Model::DoOpen(const Line& line) {
  Database& db = databases_[line.Db()];
  db.open = true;
  db.paused = false;
  db.manual_off = false;
  db.families.try_emplace("default", "default", line);
  if (line.HasOption("trim")) {
    const uint64_t trim = NumberOf(line.Option("trim"));
    for (auto& [name, family] : db.families) {
      if (family.has_timestamps()) family.Trim(trim);
    }
  }
  return kDone;
}

void Model::ForgetReaders(const std::string& db, const std::string& family) {
  std::erase_if(iterators_, [&](const auto& one) {
    return one.second.db == db && (family.empty() || one.second.family == family);
  });
}

std::string Model::DoClose(const Line& line) {
  Database& db = databases_[line.Db()];
  ForgetReaders(line.Db(), "");
  db.open = false;
  db.snaps.clear();
  return kDone;
}

std::string Model::DoKill(const Line& /*line*/) {
  for (auto& [name, db] : databases_) {
    db.open = false;
    db.snaps.clear();
  }
  iterators_.clear();
  return kDone;
}

std::string Model::DoFamily(const Line& line) {
  databases_[line.Db()].families.try_emplace(line.Family(), line.Family(), line);
  return kDone;
}

std::string Model::DoDrop(const Line& line) {
  ForgetReaders(line.Db(), line.Family());
  Database& db = databases_[line.Db()];
  db.families.erase(line.Family());
  for (auto& [name, snap] : db.snaps) {
    snap.views.erase(line.Family());
    snap.moments.erase(line.Family());
  }
  return kDone;
}

std::string Model::DoWrite(const Line& line) {
  Database& db = databases_[line.Db()];
  for (const Change& change : ChangesOf(line)) {
    db.families.at(change.family).Apply(change, line.Stamp());
  }
  db.last_timestamp = std::max(db.last_timestamp, line.Stamp());
  return kDone;
}

std::string Model::DoIngest(const Line& line) {
  return DoWrite(line);
}

std::string Model::DoExcise(const Line& line) {
  return DoWrite(AsWrite(line, FamilyOf(line)->reverse()));
}

std::string Model::DoSnap(const Line& line) {
  Database& db = databases_[line.Db()];
  Snap snap;
  for (const auto& [name, family] : db.families) {
    snap.views[name] = family.now();
    snap.moments[name] = family.moment();
  }
  db.snaps.emplace(line.Word(2), std::move(snap));
  return kDone;
}

std::string Model::DoUnsnap(const Line& line) {
  databases_[line.Db()].snaps.erase(line.Word(2));
  return kDone;
}

View Model::ViewOf(const Line& line, const std::string& family) const {
  const Database& db = databases_.at(line.Db());
  const FamilyModel& model = db.families.at(family);
  if (!line.HasOption("snap")) return model.See(line.Stamp(), model.moment());
  const Snap& snap = db.snaps.at(line.Option("snap"));
  return model.has_timestamps() ? model.See(line.Stamp(), snap.moments.at(family))
                                : snap.views.at(family);
}

std::string Model::DoGet(const Line& line) {
  return GetText(*ViewOf(line, line.Family()), BytesOf(line.Word(2)));
}

std::string Model::DoMulti(const Line& line) {
  std::string answer;
  for (size_t i = 2; i < line.words.size(); i++) {
    const std::string& word = line.words[i];
    const size_t slash = word.find('/');
    if (slash == std::string::npos) continue;
    const View view = ViewOf(line, word.substr(0, slash));
    answer += GetText(*view, BytesOf(word.substr(slash + 1))) + " ";
  }
  return answer;
}

std::string Model::DoScan(const Line& line) {
  IteratorModel it;
  it.view = ViewOf(line, line.Family());
  if (line.HasOption("lower")) it.lower = BytesOf(line.Option("lower"));
  if (line.HasOption("upper")) it.upper = BytesOf(line.Option("upper"));
  std::string answer;
  const bool back = line.Has("back");
  for (back ? it.Last() : it.First(); it.at.has_value(); back ? it.Prev() : it.Next()) {
    answer += it.Answer() + " ";
  }
  return answer;
}

std::string Model::DoPrefix(const Line& line) {
  const std::string start = BytesOf(line.Word(2));
  const View view = ViewOf(line, line.Family());
  std::string answer;
  for (auto at = view->lower_bound(start); at != view->end(); ++at) {
    if (!Slice(at->first).starts_with(start.substr(0, kPrefixBytes))) break;
    if (!IsRemovable(at->second)) answer += PairText(at->first, at->second) + " ";
  }
  return answer;
}

std::string Model::DoIterator(const Line& line) {
  IteratorModel it;
  it.db = line.Db();
  it.family = line.Family();
  it.tailing = line.Has("tailing");
  it.timestamp = line.Stamp();
  it.refreshes = line.Has("autorefresh");
  it.snap = line.Option("snap");
  it.view = ViewOf(line, it.family);
  if (line.HasOption("lower")) it.lower = BytesOf(line.Option("lower"));
  if (line.HasOption("upper")) it.upper = BytesOf(line.Option("upper"));
  iterators_.emplace(line.Word(2), std::move(it));
  return kDone;
}

std::string Model::DoEnd(const Line& line) {
  iterators_.erase(line.Word(1));
  return kDone;
}

std::string Model::DoMove(const Line& line) {
  IteratorModel& it = iterators_.at(line.Word(1));
  const std::string& verb = line.verb();
  if (it.tailing) it.view = Find(it.db, it.family)->now();
  if (verb == "first") it.First();
  if (verb == "last") it.Last();
  if (verb == "seek") it.Seek(BytesOf(line.Word(2)));
  if (verb == "seekback") it.SeekForPrev(BytesOf(line.Word(2)));
  if (verb != "next" && verb != "prev") return it.Answer();
  const uint64_t steps = line.words.size() > 2 ? NumberOf(line.Word(2)) : 1;
  std::string answer;
  for (uint64_t i = 0; i < steps; i++) {
    if (it.at.has_value()) verb == "next" ? it.Next() : it.Prev();
    answer += it.Answer() + " ";
  }
  return answer;
}

std::string Model::DoRefresh(const Line& line) {
  IteratorModel& it = iterators_.at(line.Word(1));
  const Database& db = databases_.at(it.db);
  const FamilyModel& family = db.families.at(it.family);
  it.at.reset();
  it.snap = line.Option("snap");
  if (!line.HasOption("snap")) {
    it.view = family.See(it.timestamp, family.moment());
    return kDone;
  }
  const Snap& snap = db.snaps.at(line.Option("snap"));
  it.view = family.has_timestamps() ? family.See(it.timestamp, snap.moments.at(it.family))
                                    : snap.views.at(it.family);
  return kDone;
}

std::string Model::DoDeleteFiles(const Line& line) {
  Change change;
  change.kind = Change::kDeleteRange;
  change.family = line.Family();
  change.key = BytesOf(line.Word(2));
  change.value = BytesOf(line.Word(3));
  databases_[line.Db()].families.at(change.family).Apply(change, 0);
  return kDone;
}

std::string Model::DoRaise(const Line& line) {
  databases_[line.Db()].families.at(line.Family()).Raise(NumberOf(line.Word(2)));
  return kDone;
}

std::string Model::DoPause(const Line& line) {
  databases_[line.Db()].paused = line.verb() == "pause";
  return kDone;
}

std::string Model::DoManual(const Line& line) {
  databases_[line.Db()].manual_off = line.Has("off");
  return kDone;
}

}  // namespace varve::testing
