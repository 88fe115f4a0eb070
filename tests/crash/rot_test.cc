// SPDX-License-Identifier: Apache-2.0

// Goal: whatever byte of whatever file rots, and wherever a file is truncated, a database returns
// right results or an error; it never returns wrong ones, crashes or hangs. Method: small databases
// of several shapes on the in-memory file system. Each case damages one file of a copy, opens it,
// reads it in every way, verifies, compacts, reads again. A damaged log may cost its end, if that
// is reported; a damaged MANIFEST may restore an older state, if no table's bytes are lost by it.
// If the checksum is corrected after the damage, any result is allowed.
//
// VARVE_ROT_STRIDE=k takes every k-th byte case (1: all), VARVE_ROT_CASE=shape/number runs one.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "varve/env.h"
#include "varve/table.h"

#include "tests/crash/case_watch.h"
#include "tests/crash/family_kinds.h"
#include "tests/crash/reseal.h"
#include "tests/crash/rot_shapes.h"
#include "tests/crash/tolerant_reading.h"
#include "tests/harness/environment.h"
#include "util/coding/fixed.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const std::string kName = "/db";
constexpr uint64_t kDefaultStride = 257;  // Odd and no multiple of 7, so that all kinds of damage
                                          // occur.
constexpr uint64_t kCasesWanted = 9000;   // At the default stride or a smaller one.
constexpr uint64_t kBytesMost = 48 << 10;
constexpr uint64_t kGarbageMost = 16;

class SilentLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

using Files = std::map<std::string, std::string>;  // By path.

void ReadTree(FileSystem* fs, const std::string& directory, Files* files) {
  std::vector<std::string> names;
  if (!fs->GetChildren(directory, IOOptions(), &names, nullptr).ok()) return;
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    const std::string path = directory + "/" + name;
    bool is_directory = false;
    if (fs->IsDirectory(path, IOOptions(), &is_directory, nullptr).ok() && is_directory) {
      ReadTree(fs, path, files);
      continue;
    }
    uint64_t size = 0;
    std::unique_ptr<FSSequentialFile> file;
    fs->GetFileSize(path, IOOptions(), &size, nullptr).PermitUncheckedError();
    if (!fs->NewSequentialFile(path, FileOptions(), &file, nullptr).ok()) continue;
    std::string bytes(size, '\0');
    Slice result;
    file->Read(size, IOOptions(), &result, bytes.data(), nullptr).PermitUncheckedError();
    (*files)[path] = result.ToString();
  }
}

void WriteWhole(FileSystem* fs, const std::string& path, const std::string& bytes) {
  std::unique_ptr<FSWritableFile> file;
  EXPECT_TRUE(fs->NewWritableFile(path, FileOptions(), &file, nullptr).ok());
  EXPECT_TRUE(file->Append(bytes, IOOptions(), nullptr).ok());
  EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// True for tables and blob files.
bool HoldsData(const std::string& path) {
  return EndsWith(path, ".sst") || EndsWith(path, ".blob");
}

// Returns the ends of a log's whole records: truncation there leaves no trace. For files of one 32
// KiB block.
std::set<uint64_t> RecordEnds(const std::string& log) {
  std::set<uint64_t> ends = {0};
  uint64_t at = 0;
  while (at + 7 <= log.size()) {
    const uint64_t length =
        static_cast<unsigned char>(log[at + 4]) + 256u * static_cast<unsigned char>(log[at + 5]);
    if (log[at + 6] == 0) break;
    at += 7 + length;
    ends.insert(at);
  }
  return ends;
}

// The kinds of damage. Sealed ones damage the payload and correct the checksum.
enum class Damage {
  kFlip,
  kZero,
  kOnes,
  kTruncate,
  kSealedFlip,
  kSealedZero,
  kSealedOnes,
  kAppend,
  kSwap,
  kRemove
};
constexpr const char* kDamages[] = {"flip",        "zero",        "ones",   "cut",  "sealed flip",
                                    "sealed zero", "sealed ones", "append", "swap", "remove"};

struct Case {
  const std::string* path;
  Damage damage;
  uint64_t at;                         // For kAppend: the number of bytes.
  const std::string* other = nullptr;  // For kSwap: the other file.

  // True if the contents may be chosen by an attacker: only crashes and hangs are wrong.
  bool sealed() const { return damage >= Damage::kSealedFlip && damage <= Damage::kSealedOnes; }
};

// Returns the damaged form of a byte.
char Damaged(Damage damage, char byte, uint64_t at) {
  switch (damage) {
    case Damage::kZero:
    case Damage::kSealedZero:
      return '\0';
    case Damage::kOnes:
    case Damage::kSealedOnes:
      return '\xff';
    default:
      return static_cast<char>(byte ^ (1 << ((at * 5 + 3) % 8)));
  }
}

class RottingShape {
 public:
  explicit RottingShape(const RotShape& shape)
      : shape_(shape),
        states_(shape.families, shape.writes),
        fs_(std::make_shared<MemFileSystem>()),
        logger_(std::make_shared<SilentLogger>()) {}

  void Build() {
    std::unique_ptr<Env> env = NewCompositeEnv(fs_);
    std::unique_ptr<DB> db;
    Handles handles;
    ASSERT_TRUE(Open(env.get(), &db, &handles).ok());
    for (uint64_t i = 1; i <= shape_.writes; i++) {
      ASSERT_TRUE(WriteNumbered(db.get(), handles, shape_.families, i, WriteOptions()).ok());
      const bool last = i == shape_.writes && !shape_.pending;
      if (i % shape_.flush_every == 0 || last) {
        for (const auto& [name, handle] : handles) {
          ASSERT_TRUE(db->Flush(FlushOptions(), handle).ok());
        }
        flushed_ = i;
      }
      if (i == shape_.mark_at) {
        ASSERT_TRUE(RaiseMarks(db.get(), handles, i / 2).ok());
      }
      if (i == shape_.compact_at) Compact(db.get(), handles);
      if (i != shape_.killed_at) continue;
      fs_ = fs_->CrashClone(CrashPolicy::kKill, 1);
      CloseWithFamilies(&db, &handles);
      env = NewCompositeEnv(fs_);
      ASSERT_TRUE(Open(env.get(), &db, &handles).ok());
    }
    if (shape_.pending) fs_ = fs_->CrashClone(CrashPolicy::kKill, 1);
    CloseWithFamilies(&db, &handles);
    ReadTree(fs_.get(), kName, &files_);
    uint64_t bytes = 0;
    for (const auto& [path, contents] : files_) {
      if (!EndsWith(path, "LOCK") && path.find("OPTIONS-") == std::string::npos) {
        bytes += contents.size();
      }
      ListCases(path, contents);
    }
    ListCasesOfFiles();
    EXPECT_LE(bytes, kBytesMost) << "make the shape smaller";
  }

  // Checks that the undamaged database is right, as otherwise the sweep proves nothing.
  void CheckUndamaged() {
    const CaseResult result = Judge(fs_->CrashClone(CrashPolicy::kKill, 1), Case{nullptr, {}, 0});
    EXPECT_EQ(result.wrong, "");
    EXPECT_EQ(result.outcome, "right");
  }

  // Number of cases: one in `step`, and all of those that damage whole files.
  size_t size(uint64_t step) const { return cases_.size() / step + whole_.size(); }
  const Case& At(uint64_t i, uint64_t step) const {
    return i < whole_.size() ? whole_[i] : cases_[Drawn(i - whole_.size(), step)];
  }
  // Returns a case by its number in messages.
  const Case& Numbered(uint64_t number) const {
    return number < whole_.size() ? whole_[number] : cases_[number - whole_.size()];
  }

  std::string NameOf(uint64_t i, uint64_t step) const {
    const Case& c = At(i, step);
    const uint64_t number = i < whole_.size() ? i : whole_.size() + Drawn(i - whole_.size(), step);
    return std::string(shape_.name) + "/" + std::to_string(number) + " " + *c.path + " " +
           kDamages[static_cast<int>(c.damage)] + " at " + std::to_string(c.at) + " of " +
           std::to_string(files_.at(*c.path).size());
  }

  CaseResult Run(const Case& c) const {
    const std::string& sound = files_.at(*c.path);
    std::string bytes = sound;
    if (c.damage == Damage::kTruncate) {
      bytes.resize(c.at);
    } else if (c.damage == Damage::kAppend) {
      for (uint64_t i = 0; i < c.at; i++) bytes += static_cast<char>(37 * (i + c.at) + 1);
    } else if (c.damage == Damage::kSwap) {
      bytes = files_.at(*c.other);
    } else if (c.damage != Damage::kRemove) {
      bytes[c.at] = Damaged(c.damage, bytes[c.at], c.at);
    }
    if (c.damage != Damage::kRemove && bytes == sound) return CaseResult{"", "unchanged"};
    if (c.sealed() && !seals_.at(*c.path).Reseal(&bytes, c.at)) return {"", "unsealed"};
    std::shared_ptr<MemFileSystem> fs = fs_->CrashClone(CrashPolicy::kKill, 1);
    WriteWhole(fs.get(), *c.path, bytes);
    if (c.damage == Damage::kSwap) WriteWhole(fs.get(), *c.other, sound);
    if (c.damage == Damage::kRemove) {
      EXPECT_TRUE(fs->DeleteFile(*c.path, IOOptions(), nullptr).ok());
    }
    return c.sealed() ? Survive(fs) : Judge(fs, c);
  }

 private:
  static uint64_t Drawn(uint64_t i, uint64_t step) { return i * step + Rotation() % step; }

  void ListCases(const std::string& path, const std::string& contents) {
    const std::string* name = &files_.find(path)->first;
    // The options file is not read, so a few cases suffice.
    const uint64_t step = path.find("OPTIONS-") == std::string::npos ? 1 : 97;
    for (uint64_t at = 0; at < contents.size(); at += step) {
      for (Damage damage : {Damage::kFlip, Damage::kZero, Damage::kOnes, Damage::kTruncate}) {
        cases_.push_back(Case{name, damage, at});
      }
    }
    const bool log = EndsWith(path, ".log") || path.find("MANIFEST-") != std::string::npos;
    if (!log && !EndsWith(path, ".sst")) return;
    const Seals& seals =
        seals_.emplace(path, log ? Seals::OfLog(contents) : Seals::OfTable(contents)).first->second;
    EXPECT_GT(seals.count(), log ? 0u : 3u) << path;
    for (uint64_t at = 0; at < contents.size(); at++) {
      for (Damage damage : {Damage::kSealedFlip, Damage::kSealedZero, Damage::kSealedOnes}) {
        cases_.push_back(Case{name, damage, at});
      }
    }
  }

  // Lists cases with garbage after a file, a missing file, and two files of a kind swapped.
  void ListCasesOfFiles() {
    for (const auto& [path, contents] : files_) {
      for (uint64_t n = 1; n <= kGarbageMost; n++) {
        whole_.push_back(Case{&path, Damage::kAppend, n});
      }
      whole_.push_back(Case{&path, Damage::kRemove, 0});
      for (const auto& [other, unused] : files_) {
        const auto both = [&one = path, &two = other](const char* end) {
          return EndsWith(one, end) && EndsWith(two, end);
        };
        const bool alike = both(".sst") || both(".log") || both(".blob");
        if (alike && path < other) whole_.push_back(Case{&path, Damage::kSwap, 0, &other});
      }
    }
  }

  Status Open(Env* env, std::unique_ptr<DB>* db, Handles* handles) const {
    DBOptions options;
    options.env = env;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.info_log = logger_;
    options.max_background_jobs = 1;
    options.avoid_flush_during_recovery = shape_.killed_at != 0;
    if (std::ranges::any_of(shape_.families, IsBare)) {
      options.allow_concurrent_memtable_write = false;
    }
    ColumnFamilyOptions cf;
    cf.compression = kNoCompression;
    cf.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    shape_.tune(&cf, &table);
    if (shape_.tune_log != nullptr) shape_.tune_log(&options);
    cf.table_factory.reset(NewBlockBasedTableFactory(table));
    return OpenWithFamilies(options, cf, kName, shape_.families, db, handles);
  }

  static bool Compact(DB* db, const Handles& handles) {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    bool ok = true;
    for (const auto& [name, handle] : handles) {
      ok = db->CompactRange(options, handle, nullptr, nullptr).ok() && ok;
    }
    return ok;
  }

  // Returns the first table, blob file or log whose bytes are neither where they were nor in lost/.
  std::string LostFile(MemFileSystem* fs, const Files& before, bool logs_too) const {
    Files after;
    ReadTree(fs, kName, &after);
    for (const auto& [path, bytes] : before) {
      const bool log = EndsWith(path, ".log");
      if (!HoldsData(path) && !(log && logs_too)) continue;
      const std::string aside = kName + "/lost" + path.substr(kName.size());
      const auto kept = after.find(path);
      const auto moved = after.find(aside);
      if (kept != after.end() && kept->second == bytes) continue;
      if (moved != after.end() && moved->second == bytes) continue;
      return path;
    }
    return "";
  }

  static bool ReportsLoss(DB* db) {
    std::string report;
    if (!db->GetProperty("varve.recovery", &report)) return false;
    return report.find("first_bad_log=") != std::string::npos ||
           report.find(" missing=") != std::string::npos ||
           report.find("dropped_bytes=0 ") == std::string::npos;
  }

  // Makes all calls and ignores the results.
  CaseResult Survive(const std::shared_ptr<MemFileSystem>& fs) const {
    std::unique_ptr<Env> env = NewCompositeEnv(fs);
    std::unique_ptr<DB> db;
    Handles handles;
    CaseResult result;
    result.outcome = "sealed, refused";
    if (!Open(env.get(), &db, &handles).ok()) return result;
    const Verdict verdict = ReadTolerantly(db.get(), handles, states_, 0, states_.most());
    result.outcome = verdict.errors > 0 ? "sealed, error" : "sealed, read";
    if (!verdict.unnamed.empty()) result.wrong = "an error names no key: " + verdict.unnamed;
    db->VerifyChecksum(ReadOptions()).PermitUncheckedError();
    Compact(db.get(), handles);
    ReadTolerantly(db.get(), handles, states_, 0, states_.most());
    CloseWithFamilies(&db, &handles);
    return result;
  }

  // True if the damage leaves no trace: the newest log ends at a record, or is missing while an
  // older one, which the MANIFEST requires, is there.
  bool IsTraceless(const Case& c) const {
    if (c.damage == Damage::kTruncate) return RecordEnds(files_.at(*c.path)).count(c.at) > 0;
    if (c.damage != Damage::kRemove) return false;
    bool newest = true;
    size_t logs = 0;
    for (const auto& [path, contents] : files_) {
      if (!EndsWith(path, ".log")) continue;
      logs++;
      newest = newest && path <= *c.path;
    }
    return newest && logs > 1;
  }

  // True if reads failed because of a table or blob file, and the error does not name it.
  static bool IsBlamedOnAnother(const Case& c, const std::string& error) {
    const bool checked = c.path != nullptr && HoldsData(*c.path) && c.damage != Damage::kSwap;
    if (error.empty() || !checked) return false;
    return error.find(c.path->substr(c.path->rfind('/') + 1)) == std::string::npos;
  }

  // A null `c.path` means that nothing was damaged.
  CaseResult Judge(const std::shared_ptr<MemFileSystem>& fs, const Case& c) const {
    const bool log = c.path != nullptr && EndsWith(*c.path, ".log");
    const bool manifest = c.path != nullptr && c.path->find("MANIFEST-") != std::string::npos;
    Files before;
    ReadTree(fs.get(), kName, &before);
    std::unique_ptr<Env> env = NewCompositeEnv(fs);
    std::unique_ptr<DB> db;
    Handles handles;
    CaseResult result;
    const Status s = Open(env.get(), &db, &handles);
    if (!s.ok()) {
      result.outcome = "refused";
      const std::string lost = LostFile(fs.get(), before, /*logs_too=*/true);
      if (!lost.empty()) result.wrong = "refused, but changed " + lost + ": " + s.ToString();
      return result;
    }
    const uint64_t most = states_.most();
    uint64_t least = most;
    if (log) least = flushed_;
    if (manifest && c.damage == Damage::kTruncate) least = 0;
    Verdict verdict = ReadTolerantly(db.get(), handles, states_, least, most);
    result.outcome = verdict.errors > 0 ? "error" : "right";
    result.wrong = verdict.wrong;
    if (result.wrong.empty() && IsBlamedOnAnother(c, verdict.first_error)) {
      result.wrong = "an error does not name the file: " + verdict.first_error;
    }
    if (result.wrong.empty() && verdict.n < most) {
      result.outcome = "older";
      if (log) {
        const bool traceless = shape_.quiet_log || IsTraceless(c);
        if (!traceless && !ReportsLoss(db.get())) {
          result.wrong = "the log's end is lost (write " + std::to_string(verdict.n) + " of " +
                         std::to_string(most) + ") and nothing says so";
        }
      } else {
        const std::string lost = LostFile(fs.get(), before, /*logs_too=*/false);
        if (!lost.empty()) result.wrong = "an older state, and " + lost + " is gone";
      }
    }
    // A compaction leaves alone the blob files that it has no reason to read.
    const bool blob = c.path != nullptr && EndsWith(*c.path, ".blob");
    if (result.wrong.empty()) GoOn(db.get(), handles, verdict, least, blob, &result);
    CloseWithFamilies(&db, &handles);
    if (result.wrong.empty() && Open(env.get(), &db, &handles).ok()) {
      verdict = ReadTolerantly(db.get(), handles, states_, least, most);
      if (!verdict.wrong.empty()) result.wrong = "opened again: " + verdict.wrong;
      CloseWithFamilies(&db, &handles);
    }
    return result;
  }

  // A database that reads right may be verified and compacted; what cannot be read must stay an
  // error.
  void GoOn(DB* db, const Handles& handles, const Verdict& first, uint64_t least, bool blob,
            CaseResult* result) const {
    const Status verified = db->VerifyChecksum(ReadOptions());
    if (verified.ok() && first.errors > 0 &&
        first.first_error.find("checksum") != std::string::npos) {
      result->wrong = "VerifyChecksum is content, though a read said " + first.first_error;
      return;
    }
    const bool compacted = Compact(db, handles);
    const bool known = first.errors == 0;
    const Verdict verdict = ReadTolerantly(db, handles, states_, known ? first.n : least,
                                           known ? first.n : states_.most());
    if (!verdict.wrong.empty()) result->wrong = "after compaction: " + verdict.wrong;
    if (compacted && result->wrong.empty() && verdict.errors > 0 && !blob) {
      result->wrong = "compaction was content, but then: " + verdict.first_error;
    }
  }

  const RotShape& shape_;
  const StateTable states_;
  std::shared_ptr<MemFileSystem> fs_;
  const std::shared_ptr<Logger> logger_;
  uint64_t flushed_ = 0;
  Files files_;
  std::map<std::string, Seals> seals_;
  std::vector<Case> whole_;  // Damage to whole files.
  std::vector<Case> cases_;  // Damage to one byte.
};

}  // namespace

TEST(RotTest, DamageIsAnsweredRightlyOrWithAnError) {
  const uint64_t stride =
      std::max<uint64_t>(1, NumberFromEnvironment("VARVE_ROT_STRIDE", kDefaultStride));
  const char* only = getenv("VARVE_ROT_CASE");
  const auto start = std::chrono::steady_clock::now();
  uint64_t cases = 0;
  uint64_t sealed = 0;
  uint64_t wrong = 0;
  for (const RotShape& shape : RotShapes()) {
    RottingShape rotting(shape);
    rotting.Build();
    rotting.CheckUndamaged();
    if (HasFailure()) return;
    if (only != nullptr) {
      const std::string text = only;
      if (!text.starts_with(std::string(shape.name) + "/")) continue;
      const uint64_t i = strtoull(text.substr(text.find('/') + 1).c_str(), nullptr, 10);
      const CaseResult result = rotting.Run(rotting.Numbered(i));
      printf("%s: %s %s\n", only, result.outcome.c_str(), result.wrong.c_str());
      continue;
    }
    const CaseTotals totals = RunCases(
        rotting.size(stride), 2, [&](uint64_t i) { return rotting.NameOf(i, stride); },
        [&](uint64_t i) { return rotting.Run(rotting.At(i, stride)); });
    PrintTotals(shape.name, totals);
    for (const auto& [outcome, n] : totals.outcomes) {
      if (outcome != "unchanged" && outcome != "unsealed") cases += n;
      if (outcome.starts_with("sealed")) sealed += n;
    }
    wrong += totals.wrong_count;
  }
  if (only != nullptr) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf("RESULT rot cases=%llu sealed=%llu wrong=%llu lost=0 crash=0 hang=0 secs=%.0f\n",
         static_cast<unsigned long long>(cases), static_cast<unsigned long long>(sealed),
         static_cast<unsigned long long>(wrong), seconds.count());
  EXPECT_EQ(wrong, 0u);
  if (stride <= kDefaultStride) {
    EXPECT_GE(cases, kCasesWanted);
  }
}

}  // namespace varve::testing
