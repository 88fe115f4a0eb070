// SPDX-License-Identifier: Apache-2.0

// Goal: any two public calls may be made at the same time, beside Close and beside the end of a
// column family too: a call happens before Close or is refused, after Close no file changes, what
// was acknowledged is there when the directory is opened again, what was refused is not, and
// whatever users hold can be used and released afterwards. Method: a table of all calls, held to
// the interface's header; each pair is played by two threads, beside calls that end something by
// three, on a small database with slow files, in several ways to keep a log. VARVE_MATRIX_ROUNDS=n:
// every pair n times, instead of those with a call that ends something and a slice of the others,
// which VARVE_ROTATION chooses; VARVE_MATRIX_ONLY=text: of the pairs, as the report names them,
// those with this text.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "varve/comparator.h"
#include "varve/utilities/merge_operators.h"

#include "tests/crash/case_watch.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/source_root.h"
#include "tests/matrix/call_table.h"

namespace varve::testing {
namespace {

constexpr uint64_t kSlices = 4;
constexpr int kRepeats = 3;
constexpr int kRepeatsMost = 60;  // beside a call that ends something
constexpr const char* kFamilies[] = {"default", "a", "b", "t"};

struct Way {
  const char* name;
  void (*tune)(Options* options, MemFileSystem* disk);
};

const Way kWays[] = {
    {"mapped", [](Options*, MemFileSystem* disk) { disk->OfferMappedFiles(); }},
    {"buffered", [](Options*, MemFileSystem*) {}},
    {"flushed by hand", [](Options* options, MemFileSystem*) { options->manual_wal_flush = true; }},
    {"recycled", [](Options* options, MemFileSystem*) { options->recycle_log_file_num = 2; }},
    {"atomic flush", [](Options* options, MemFileSystem*) { options->atomic_flush = true; }},
    {"unordered", [](Options* options, MemFileSystem*) { options->unordered_write = true; }},
    {"small MANIFEST",
     [](Options* options, MemFileSystem*) { options->max_manifest_file_size = 1; }},
};

std::vector<ColumnFamilyDescriptor> Describe(const Options& options,
                                             const std::vector<std::string>& names) {
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, options);
    if (name == "t") families.back().options.comparator = BytewiseComparatorWithU64Ts();
  }
  return families;
}

Status OpenStage(Stage* stage, const std::vector<std::string>& names) {
  std::vector<ColumnFamilyHandle*> handles;
  DB* raw = nullptr;
  const Status s = DB::Open(stage->options, "/db", Describe(stage->options, names), &handles, &raw);
  stage->db.reset(raw);
  for (size_t i = 0; i < handles.size(); i++) stage->handles[names[i]] = handles[i];
  return s;
}

void CloseStage(Stage* stage) {
  for (auto& [name, handle] : stage->handles) {
    stage->db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  stage->handles.clear();
  stage->db.reset();
}

// Half of the first keys are in a table.
Status Furnish(Stage* stage) {
  std::string timestamp;
  EncodeU64Ts(60, &timestamp);
  Status s;
  for (int i = 0; i < kFirstKeys; i++) {
    const std::string key =
        std::string("i") + static_cast<char>('0' + i / 10) + static_cast<char>('0' + i % 10);
    const std::string value = "first" + std::string(300, 'f');
    for (const auto& [name, handle] : stage->handles) {
      s.UpdateIfOk(name == "t" ? stage->db->Put(WriteOptions(), handle, key, timestamp, value)
                               : stage->db->Put(WriteOptions(), handle, key, value));
    }
    if (i != kFirstKeys / 2) continue;
    for (const auto& [name, handle] : stage->handles) {
      s.UpdateIfOk(stage->db->Flush(FlushOptions(), handle));
    }
  }
  return s;
}

void Prepare(Stage* stage, const Way& way) {
  stage->disk = std::make_shared<MemFileSystem>();
  stage->env = NewCompositeEnv(stage->disk);
  Options& options = stage->options;
  options.env = stage->env.get();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log = SilentLogger();
  options.compression = kNoCompression;
  options.write_buffer_size = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.merge_operator = MergeOperators::CreateUInt64AddOperator();
  way.tune(&options, stage->disk.get());
}

// Plays the call a few times. Beside a call that ends something it continues until that is over,
// and once more.
void Play(const Call& call, const Call& other, std::atomic<int>* ended, Player* player) {
  int after = 0;
  for (int i = 0; i < (other.ends ? kRepeatsMost : kRepeats) && after < 2; i++) {
    const auto pause = std::chrono::microseconds(player->random.Skewed(call.ends ? 10 : 5));
    const auto until = std::chrono::steady_clock::now() + pause;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    call.play(*player);
    if (other.ends && ended->load() > 0) after++;
    if (call.ends && i + 1 == kRepeats) ended->fetch_add(1);
  }
}

// Slows files down, so that calls overlap.
class SlowFiles final : public MemFileSystem::CallHook {
 public:
  explicit SlowFiles(uint64_t seed) : seed_(seed) {}
  void BeforeCall(uint64_t index, MemCall, const std::string&) override {
    Random random(seed_ + index);
    if (random.OneIn(3)) std::this_thread::sleep_for(std::chrono::microseconds(random.Below(200)));
  }

 private:
  const uint64_t seed_;
};

class Case {
 public:
  Case(const Call& first, const Call& second, const Way& way, uint64_t seed)
      : slow_(seed), seed_(seed) {
    Prepare(&stage_, way);
    Add(first, second);
    Add(second, first);
    if (first.ends) Add(second, first);
    if (second.ends) Add(first, second);
  }

  std::string Run() {
    Status s = OpenStage(&stage_, {std::begin(kFamilies), std::end(kFamilies)});
    if (s.ok()) s = Furnish(&stage_);
    if (!s.ok()) return "could not begin: " + s.ToString();
    for (Part& part : parts_) {
      if (std::string(part.call->name).find("Ingest") != std::string::npos) {
        part.player->WriteTables();
      }
    }
    stage_.disk->SetCallHook(&slow_);
    std::atomic<size_t> ready{0};
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    for (Part& part : parts_) {
      threads.emplace_back([&] {
        ready++;
        while (ready.load() < parts_.size()) std::this_thread::yield();
        Play(*part.call, *part.other, &ended, part.player.get());
      });
    }
    for (std::thread& thread : threads) thread.join();
    CheckNothingChangedAfterClose();
    End();
    stage_.disk->SetCallHook(nullptr);
    Reopen();
    for (const Part& part : parts_) {
      if (wrong_.empty()) wrong_ = part.player->wrong();
    }
    return wrong_;
  }

 private:
  struct Part {
    const Call* call;
    const Call* other;
    std::unique_ptr<Player> player;
  };

  void Add(const Call& call, const Call& other) {
    const auto name = static_cast<char>('p' + parts_.size());
    parts_.push_back(
        {&call, &other, std::make_unique<Player>(&stage_, name, seed_ + parts_.size())});
  }

  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void CheckNothingChangedAfterClose() {
    for (const uint64_t then : stage_.calls_then) {
      if (stage_.disk->call_count() != then) Wrong("files were changed after Close");
    }
  }

  // Uses and releases everything that is held, at some step of the end.
  void End() {
    held_ = !stage_.unmade.empty();
    for (const Part& part : parts_) held_ = held_ || part.player->HoldsAnything();
    Status s = stage_.db->Close();
    if (!s.ok()) Wrong("Close answered " + s.ToString());
    for (const Part& part : parts_) {
      part.player->UseAfterClose();
      part.player->ReleasePins();
      part.player->ReleaseSomeHandles();
    }
    CloseStage(&stage_);
    for (const Part& part : parts_) part.player->UseAfterDelete();
  }

  void Reopen() {
    std::vector<std::string> names;
    Status s = DB::ListColumnFamilies(stage_.options, "/db", &names);
    if (!s.ok()) return Wrong("LOST families: " + s.ToString());
    for (const char* name : kFamilies) CheckFamily(names, name, stage_.unmade.count(name) == 0);
    for (const std::string& name : stage_.made) CheckFamily(names, name, true);
    for (const std::string& name : stage_.unmade) CheckFamily(names, name, false);
    s = OpenStage(&stage_, names);
    if (!s.ok()) return Wrong("LOST it does not open: " + s.ToString());
    for (const Part& part : parts_) part.player->Check(stage_.db.get(), stage_.handles);
    s = stage_.db->VerifyChecksum();
    if (!s.ok()) Wrong("VerifyChecksum: " + s.ToString());
    CheckNothingSetAside();
    CloseStage(&stage_);
  }

  // Only a table that was held when the database was closed may be left and set aside.
  void CheckNothingSetAside() {
    std::vector<std::string> names;
    if (!stage_.disk->GetChildren("/db/lost", IOOptions(), &names, nullptr).ok()) return;
    for (const std::string& name : names) {
      if (!held_ || !name.ends_with(".sst")) Wrong("nothing explains " + name);
    }
  }

  void CheckFamily(const std::vector<std::string>& names, const std::string& name, bool wanted) {
    const bool found = std::find(names.begin(), names.end(), name) != names.end();
    if (found != wanted) Wrong("LOST " + name + (wanted ? ": is not there" : ": is there"));
  }

  SlowFiles slow_;
  const uint64_t seed_;
  Stage stage_;
  std::vector<Part> parts_;
  bool held_ = false;
  std::string wrong_;
};

struct Pair {
  const Call* first;
  const Call* second;
};

std::string NameOf(const Pair& pair) {
  return std::string(pair.first->name) + " beside " + pair.second->name;
}

std::vector<Pair> ChosenPairs(uint64_t rounds, const char* only) {
  const uint64_t slice = Rotation() % kSlices;
  const std::vector<Call>& calls = AllCalls();
  std::vector<Pair> pairs;
  uint64_t number = 0;
  for (size_t i = 0; i < calls.size(); i++) {
    for (size_t j = i; j < calls.size(); j++) {
      const std::string name = NameOf({&calls[i], &calls[j]});
      if (only != nullptr && name.find(only) == std::string::npos) continue;
      const bool always = rounds > 0 || calls[i].ends || calls[j].ends;
      if (always || number++ % kSlices == slice) pairs.push_back({&calls[i], &calls[j]});
    }
  }
  return pairs;
}

TEST(CallMatrixTest, AnyTwoCallsAtATime) {
  const uint64_t rounds = NumberFromEnvironment("VARVE_MATRIX_ROUNDS", 0);
  const uint64_t rotation = Rotation();
  const char* const only = getenv("VARVE_MATRIX_ONLY");
  const std::vector<Pair> pairs = ChosenPairs(rounds, only);
  ASSERT_FALSE(pairs.empty());
  const uint64_t cases = pairs.size() * std::max<uint64_t>(rounds, 1);
  const auto pair_of = [&](uint64_t i) { return pairs[i % pairs.size()]; };
  const auto way_of = [&](uint64_t i) -> const Way& {
    return kWays[(i + i / pairs.size() + rotation) % std::size(kWays)];
  };
  const auto name = [&](uint64_t i) {
    return NameOf(pair_of(i)) + ", " + way_of(i).name + ", case " + std::to_string(i);
  };
  const auto run = [&](uint64_t i) {
    CaseResult result;
    result.wrong = Case(*pair_of(i).first, *pair_of(i).second, way_of(i), rotation + i).Run();
    result.outcome = result.wrong.empty() ? "right" : "wrong";
    return result;
  };
  const CaseTotals totals = RunCases(cases, 2, name, run);
  PrintTotals("pairs of calls", totals);
  const auto lost = std::count_if(totals.wrong.begin(), totals.wrong.end(), [](const auto& text) {
    return text.find(": LOST ") != std::string::npos;
  });
  printf("RESULT matrix cases=%llu wrong=%llu lost=%llu crash=0 hang=0\n",
         static_cast<unsigned long long>(totals.cases),
         static_cast<unsigned long long>(totals.wrong_count),
         static_cast<unsigned long long>(lost));
  EXPECT_EQ(totals.wrong_count, 0u);
  EXPECT_EQ(totals.cases, cases);
  EXPECT_TRUE(only != nullptr || cases >= 500) << "too few to prove anything";
}

// Every method of the interface must have a row.
TEST(CallMatrixTest, EveryMethodHasItsRow) {
  // These calls are refused by name, or do the same as a call that is played.
  const std::set<std::string> kWithout = {
      "IngestExternalFiles",
      "GetStatsHistory",
      "GetDbSessionId",
      "ReleaseSnapshot",
      "UnlockWAL",
      "ContinueBackgroundWork",
      "EnableManualCompaction",
      "EnableFileDeletions",
      "GetSortedWalFiles",
      "GetNewestUserDefinedTimestamp",
      "GetDBOptions",
      "Level0StopWriteTrigger",
      "MaxMemCompactionLevel",
      "GetEnv",
      "GetFileSystem",
      "GetRootDB",
      "DefaultColumnFamily",
      "TryCatchUpWithPrimary",
      "CommitFileIngestionHandles",
      "DropChangeStream",
      "GetLiveFilesChecksumInfo",
      "GetSecondaryLag",
      "Promote",
      "EndTrace",
      "NewDefaultReplayer",
      "StartBlockCacheTrace",
      "EndBlockCacheTrace",
      "StartIOTrace",
      "EndIOTrace",
  };
  std::ifstream header(testing::SourceRoot() + "/include/varve/db.h");
  const std::string text((std::istreambuf_iterator<char>(header)),
                         std::istreambuf_iterator<char>());
  const size_t begin = text.find("class VARVE_EXPORT DB ");
  ASSERT_NE(begin, std::string::npos);
  std::set<std::string> rows;
  for (const Call& call : AllCalls()) {
    const std::string name = call.name;
    rows.insert(name.substr(0, name.find(' ')));
  }
  const std::regex method(R"(virtual [A-Za-z:&*<> 0-9_]*?([A-Z][A-Za-z0-9]*)\()");
  const std::string rest = text.substr(begin);
  size_t methods = 0;
  for (std::sregex_iterator it(rest.begin(), rest.end(), method), end; it != end; ++it, methods++) {
    const std::string name = (*it)[1];
    EXPECT_TRUE(rows.count(name) != 0 || kWithout.count(name) != 0) << name;
  }
  EXPECT_GT(methods, 60u);
}

}  // namespace
}  // namespace varve::testing
