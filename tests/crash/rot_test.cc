// SPDX-License-Identifier: Apache-2.0

// Goal: whatever byte of whatever file rots, and wherever a file is cut, a database answers rightly
// or with an error; it never answers wrongly, crashes or hangs. Method: small databases of several
// shapes on the in-memory file system; each case damages one file of a copy, opens it, reads it by
// every way, verifies, compacts, reads again. A damaged log may cost its end, if that is reported;
// a damaged MANIFEST may bring an older state back, if no table's bytes are lost by it.
//
// VARVE_ROT_STRIDE=k takes every k-th case (1: all), VARVE_ROT_CASE=shape/number runs one.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>

#include "varve/env.h"
#include "varve/filter_policy.h"
#include "varve/table.h"

#include "tests/crash/case_watch.h"
#include "tests/crash/tolerant_reading.h"
#include "util/coding/fixed.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const std::string kName = "/db";
constexpr uint64_t kDefaultStride = 11;
constexpr uint64_t kCasesWanted = 20000;  // at the default stride or a smaller one
constexpr uint64_t kBytesMost = 32 << 10;

class SilentLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

struct Shape {
  const char* name;
  std::vector<std::string> families;
  uint64_t writes;
  uint64_t flush_every;
  uint64_t compact_at;  // 0: never
  bool pending;         // the last writes are only in the log, and the process died
  void (*tune)(ColumnFamilyOptions* cf, BlockBasedTableOptions* table);
};

const Shape kShapes[] = {
    {"range_deletes",
     {"default"},
     80,
     30,
     0,
     false,
     [](ColumnFamilyOptions*, BlockBasedTableOptions* table) { table->block_size = 512; }},
    {"two_families",
     {"default", "other"},
     40,
     15,
     25,
     false,
     [](ColumnFamilyOptions*, BlockBasedTableOptions* table) {
       table->block_size = 1024;
       table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
       table->metadata_block_size = 64;
     }},
    {"pending_log",
     {"default", "other"},
     50,
     20,
     0,
     true,
     [](ColumnFamilyOptions*, BlockBasedTableOptions*) {}},
    {"compressed_with_filter",
     {"default"},
     90,
     20,
     60,
     false,
     [](ColumnFamilyOptions* cf, BlockBasedTableOptions* table) {
       cf->compression = kSnappyCompression;
       table->filter_policy.reset(NewBloomFilterPolicy(10));
       table->block_size = 400;
       table->block_restart_interval = 2;
       table->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
     }},
};

using Files = std::map<std::string, std::string>;  // by path

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

// Where a log's whole records end: a cut there leaves no trace. For files of one 32 KiB block.
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

enum class Damage { kFlip, kZero, kOnes, kTruncate };

struct Case {
  const std::string* path;
  Damage damage;
  uint64_t at;
};

class RottingShape {
 public:
  explicit RottingShape(const Shape& shape)
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
      if (i == shape_.compact_at) Compact(db.get(), handles);
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
    EXPECT_LE(bytes, kBytesMost) << "make the shape smaller";
  }

  // The database as it is must be right, or the sweep proves nothing.
  void CheckUndamaged() {
    const CaseResult result = Judge(fs_->CrashClone(CrashPolicy::kKill, 1), Case{nullptr, {}, 0});
    EXPECT_EQ(result.wrong, "");
    EXPECT_EQ(result.outcome, "right");
  }

  size_t size() const { return cases_.size(); }

  std::string NameOf(uint64_t i) const {
    static const char* const kDamages[] = {"flip", "zero", "ones", "cut"};
    const Case& c = cases_[i];
    return std::string(shape_.name) + "/" + std::to_string(i) + " " + *c.path + " " +
           kDamages[static_cast<int>(c.damage)] + " at " + std::to_string(c.at) + " of " +
           std::to_string(files_.at(*c.path).size());
  }

  CaseResult Run(uint64_t i) const {
    const Case& c = cases_[i];
    std::string bytes = files_.at(*c.path);
    switch (c.damage) {
      case Damage::kFlip:
        bytes[c.at] = static_cast<char>(bytes[c.at] ^ (1 << ((c.at * 5 + 3) % 8)));
        break;
      case Damage::kZero:
        bytes[c.at] = '\0';
        break;
      case Damage::kOnes:
        bytes[c.at] = '\xff';
        break;
      case Damage::kTruncate:
        bytes.resize(c.at);
        break;
    }
    if (bytes == files_.at(*c.path)) return CaseResult{"", "unchanged"};
    std::shared_ptr<MemFileSystem> fs = fs_->CrashClone(CrashPolicy::kKill, 1);
    WriteWhole(fs.get(), *c.path, bytes);
    return Judge(fs, c);
  }

 private:
  void ListCases(const std::string& path, const std::string& contents) {
    const std::string* name = &files_.find(path)->first;
    // Nobody reads the file of options: a few cases show it.
    const uint64_t step = path.find("OPTIONS-") == std::string::npos ? 1 : 97;
    for (uint64_t at = 0; at < contents.size(); at += step) {
      for (Damage damage : {Damage::kFlip, Damage::kZero, Damage::kOnes, Damage::kTruncate}) {
        cases_.push_back(Case{name, damage, at});
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
    ColumnFamilyOptions cf;
    cf.compression = kNoCompression;
    cf.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    shape_.tune(&cf, &table);
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

  // The first table or log whose bytes are neither where they were nor in lost/.
  std::string LostFile(MemFileSystem* fs, const Files& before, bool logs_too) const {
    Files after;
    ReadTree(fs, kName, &after);
    for (const auto& [path, bytes] : before) {
      const bool log = EndsWith(path, ".log");
      if (!EndsWith(path, ".sst") && !(log && logs_too)) continue;
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
           report.find("dropped_bytes=0 ") == std::string::npos;
  }

  // `c.path` null: nothing was damaged.
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
    if (result.wrong.empty() && verdict.n < most) {
      result.outcome = "older";
      if (log) {
        const bool traceless =
            c.damage == Damage::kTruncate && RecordEnds(files_.at(*c.path)).count(c.at) > 0;
        if (!traceless && !ReportsLoss(db.get())) {
          result.wrong = "the log's end is lost (write " + std::to_string(verdict.n) + " of " +
                         std::to_string(most) + ") and nothing says so";
        }
      } else {
        const std::string lost = LostFile(fs.get(), before, /*logs_too=*/false);
        if (!lost.empty()) result.wrong = "an older state, and " + lost + " is gone";
      }
    }
    if (result.wrong.empty()) GoOn(db.get(), handles, verdict, least, &result);
    CloseWithFamilies(&db, &handles);
    if (result.wrong.empty() && Open(env.get(), &db, &handles).ok()) {
      verdict = ReadTolerantly(db.get(), handles, states_, least, most);
      if (!verdict.wrong.empty()) result.wrong = "opened again: " + verdict.wrong;
      CloseWithFamilies(&db, &handles);
    }
    return result;
  }

  // What reads right may be verified and compacted; what cannot be read stays an error.
  void GoOn(DB* db, const Handles& handles, const Verdict& first, uint64_t least,
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
    if (compacted && result->wrong.empty() && verdict.errors > 0) {
      result->wrong = "compaction was content, but then: " + verdict.first_error;
    }
  }

  const Shape& shape_;
  const StateTable states_;
  std::shared_ptr<MemFileSystem> fs_;
  const std::shared_ptr<Logger> logger_;
  uint64_t flushed_ = 0;
  Files files_;
  std::vector<Case> cases_;
};

}  // namespace

TEST(RotTest, DamageIsAnsweredRightlyOrWithAnError) {
  const uint64_t stride =
      std::max<uint64_t>(1, NumberFromEnvironment("VARVE_ROT_STRIDE", kDefaultStride));
  const char* only = getenv("VARVE_ROT_CASE");
  uint64_t cases = 0;
  uint64_t wrong = 0;
  for (const Shape& shape : kShapes) {
    RottingShape rotting(shape);
    rotting.Build();
    rotting.CheckUndamaged();
    if (HasFailure()) return;
    if (only != nullptr) {
      const std::string text = only;
      if (!text.starts_with(std::string(shape.name) + "/")) continue;
      const uint64_t i = strtoull(text.substr(text.find('/') + 1).c_str(), nullptr, 10);
      const CaseResult result = rotting.Run(i);
      printf("%s: %s %s\n", rotting.NameOf(i).c_str(), result.outcome.c_str(),
             result.wrong.c_str());
      continue;
    }
    // Odd, so that every kind of damage is met.
    const uint64_t step = stride % 2 == 0 ? stride + 1 : stride;
    const CaseTotals totals = RunCases(
        rotting.size() / step, 2, [&](uint64_t i) { return rotting.NameOf(i * step); },
        [&](uint64_t i) { return rotting.Run(i * step); });
    PrintTotals(shape.name, totals);
    cases += totals.cases;
    wrong += totals.wrong_count;
  }
  if (only != nullptr) return;
  printf("RESULT rot cases=%llu wrong=%llu lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(cases), static_cast<unsigned long long>(wrong));
  EXPECT_EQ(wrong, 0u);
  if (stride <= kDefaultStride) {
    EXPECT_GE(cases, kCasesWanted);
  }
}

}  // namespace varve::testing
