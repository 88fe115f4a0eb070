// SPDX-License-Identifier: Apache-2.0

// Goal: punch_holes_in_blob_files gives back what dropped values take, and nothing else: no byte of
// a live value, and no value that somebody may still read. Method: databases in memory, where a
// hole is a range of zeros, and one on disk, where fewer blocks are in use afterwards; each reason
// against holes in turn; and random changes beside a map.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/file_checksum.h"
#include "varve/listener.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/repair.h"

#include "db/blob/blob_file_format.h"
#include "tests/db/api/blob_database.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

using ::testing::SizeIs;

constexpr size_t kHoledBytes = 20000;
const char kHoleBytes[] = "varve.blob-hole-bytes";
const char kHoleErrors[] = "varve.blob-hole-errors";

// Returns the bytes of whole blocks in the records of keys first..last, if a file begins with
// Key(0) and has values of `n` bytes.
uint64_t BlocksOf(int first, int last, size_t n = kHoledBytes) {
  const uint64_t record = BlobRecordBytes(Key(0).size(), n);
  const uint64_t begin = BlobFileHeader::kBytes + static_cast<uint64_t>(first) * record;
  const uint64_t end = BlobFileHeader::kBytes + (static_cast<uint64_t>(last) + 1) * record;
  const uint64_t first_block = (begin + kHoleBlock - 1) / kHoleBlock;
  const uint64_t last_block = end / kHoleBlock;
  return first_block < last_block ? (last_block - first_block) * kHoleBlock : 0;
}

class BlobHolesTest : public BlobDatabase {
 protected:
  BlobHolesTest() { options_.punch_holes_in_blob_files = true; }

  // Puts keys first..last with values of this letter into one blob file.
  void Write(int first, int last, char c, size_t n = kHoledBytes) {
    for (int i = first; i <= last; ++i) Put(Key(i), Large(c, n));
    Flush();
  }
  void Expect(int first, int last, char c, size_t n = kHoledBytes) {
    for (int i = first; i <= last; ++i) EXPECT_TRUE(Get(Key(i)) == Large(c, n)) << Key(i);
  }
  // Waits until so many bytes were punched, as purges may run in the background.
  void ExpectPunched(uint64_t bytes) {
    EXPECT_TRUE(testing::Eventually([&] { return Number(kHoleBytes) == bytes; }))
        << Number(kHoleBytes) << ", not " << bytes;
  }
  // Expects that the blob file has zeros in these whole blocks, and what it had elsewhere.
  void ExpectHoles(const std::string& name, const std::string& before, uint64_t begin,
                   uint64_t end) {
    const std::string after = ReadFile(std::string(kName) + "/" + name);
    ASSERT_EQ(after.size(), before.size());
    EXPECT_TRUE(after.compare(0, begin, before, 0, begin) == 0);
    EXPECT_TRUE(after.substr(begin, end - begin) == std::string(end - begin, '\0'));
    EXPECT_TRUE(after.compare(end, std::string::npos, before, end, std::string::npos) == 0);
  }
};

TEST_F(BlobHolesTest, DroppedValuesAreGivenBack) {
  Open();
  Write(0, 9, 'a');
  ASSERT_THAT(Blobs(), SizeIs(1));
  const std::string name = Blobs()[0];
  const std::string before = ReadFile(std::string(kName) + "/" + name);
  Write(2, 7, 'b');
  EXPECT_EQ(Number(kHoleBytes), 0u);
  Compact();
  ExpectPunched(BlocksOf(2, 7));
  ExpectHoles(name, before, 40960, 159744);
  EXPECT_EQ(BlocksOf(2, 7), 159744u - 40960u);
  for (int round = 0; round < 2; ++round) {
    Expect(0, 1, 'a');
    Expect(2, 7, 'b');
    Expect(8, 9, 'a');
    EXPECT_TRUE(db()->VerifyChecksum().ok());
    Reopen();
  }
  EXPECT_EQ(Number(kHoleErrors), 0u);
  // Values beside holes can be written anew.
  Set("enable_blob_garbage_collection", "true");
  Set("blob_garbage_collection_age_cutoff", "1.0");
  Compact();
  Expect(0, 1, 'a');
  Expect(2, 7, 'b');
  Expect(8, 9, 'a');
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

// A block on the border of two records is punched once both are garbage, also if two compactions
// have dropped them, and if the database was opened in between, what is known since then.
TEST_F(BlobHolesTest, NeighboursBecomeOneHole) {
  constexpr size_t kSmall = 3000;
  Open();
  Write(0, 20, 'a', kSmall);
  uint64_t expected = 0;
  for (int last = 3; last < 12; ++last) {
    Write(last, last, 'b', kSmall);
    Compact();
    expected = BlocksOf(3, last, kSmall);
    ExpectPunched(expected);
  }
  EXPECT_EQ(expected, 5 * kHoleBlock);
  Reopen();
  Write(12, 14, 'b', kSmall);
  Compact();
  ExpectPunched(BlocksOf(12, 14, kSmall));
  Expect(0, 2, 'a', kSmall);
  Expect(3, 14, 'b', kSmall);
  Expect(15, 20, 'a', kSmall);
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(BlobHolesTest, DeletedValuesAreGivenBack) {
  Open();
  Write(0, 9, 'a');
  for (int i = 4; i < 6; ++i) Delete(Key(i));
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Key(6), Key(8)).ok());
  Flush();
  Compact();
  ExpectPunched(BlocksOf(4, 7));
  Expect(0, 3, 'a');
  Expect(8, 9, 'a');
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

// The iterator has a version with a table that is no input of the compaction that drops the values:
// another compaction has made the input of it.
TEST_F(BlobHolesTest, OldVersionsKeepTheirValues) {
  Open();
  Write(0, 9, 'a');
  ReadOptions lazy;
  lazy.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> first(db()->NewIterator(ReadOptions()));
  const std::unique_ptr<Iterator> second(db()->NewIterator(lazy));
  std::unique_ptr<Iterator> held(db()->NewIterator(ReadOptions()));
  first->SeekToFirst();
  second->SeekToFirst();
  Compact();
  Write(2, 7, 'b');
  Compact();
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  for (Iterator* it : {first.get(), second.get(), held.get()}) {
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ASSERT_TRUE(it->PrepareValue());
      EXPECT_TRUE(it->value() == Large('a', kHoledBytes)) << i;
      ++i;
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(i, 10);
  }
}

TEST_F(BlobHolesTest, TheLastReaderLetsHolesBePunched) {
  Open();
  Write(0, 9, 'a');
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  Compact();
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  it.reset();
  ExpectPunched(BlocksOf(2, 7));
  Expect(2, 7, 'b');
}

TEST_F(BlobHolesTest, SnapshotsKeepTheirValues) {
  Open();
  Write(0, 9, 'a');
  const Snapshot* const snapshot = db()->GetSnapshot();
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Get(Key(i), "default", snapshot) == Large('a', kHoledBytes));
  }
  db()->ReleaseSnapshot(snapshot);
  Compact();
  ExpectPunched(BlocksOf(2, 7));
  Expect(2, 7, 'b');
}

TEST_F(BlobHolesTest, ALinkOfACheckpointPreventsHoles) {
  Open();
  Write(0, 9, 'a');
  const std::string name = Blobs()[0];
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_TRUE(checkpoint->CreateCheckpoint("/copy").ok());
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  std::unique_ptr<DB> copy;
  Options options = options_;
  const Status s = DB::OpenForReadOnly(options, "/copy", &copy);
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (int i = 0; i < 10; ++i) {
    std::string value;
    ASSERT_TRUE(copy->Get(ReadOptions(), Key(i), &value).ok());
    EXPECT_TRUE(value == Large('a', kHoledBytes)) << i;
  }
  copy.reset();
  // Once the link is gone, the next garbage takes the earlier one along.
  ASSERT_TRUE(file_system()->DeleteFile("/copy/" + name, IOOptions(), nullptr).ok());
  Write(8, 8, 'b');
  Compact();
  ExpectPunched(BlocksOf(2, 8));
  EXPECT_EQ(Number(kHoleErrors), 0u);
  Expect(9, 9, 'a');
}

TEST_F(BlobHolesTest, AChecksumOfTheFilePreventsHoles) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Write(0, 9, 'a');
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(BlobHolesTest, HolesWaitWhileFilesMustNotBeDeleted) {
  Open();
  Write(0, 9, 'a');
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  ASSERT_TRUE(db()->EnableFileDeletions().ok());
  ExpectPunched(BlocksOf(2, 7));
}

// Blocks one deletion of a table, once it is armed, until it is let go.
class HeldDeletion final : public EventListener {
 public:
  void OnTableFileDeleted(const TableFileDeletionInfo&) override {
    if (!armed.exchange(false)) return;
    begun = true;
    testing::Eventually([&] { return let_go.load(); });
  }
  std::atomic<bool> armed{false};
  std::atomic<bool> begun{false};
  std::atomic<bool> let_go{false};
};

// The table that refers to the values may be on disk as long as a purge deletes it, although it is
// in no queue any more.
TEST_F(BlobHolesTest, HolesWaitForTheDeletionOfTables) {
  const auto held = std::make_shared<HeldDeletion>();
  options_.listeners.push_back(held);
  Open();
  Write(0, 9, 'a');
  Write(2, 7, 'b');
  held->armed = true;
  std::thread compaction([&] { Compact(); });
  EXPECT_TRUE(testing::Eventually([&] { return held->begun.load(); }));
  EXPECT_TRUE(db()->DisableFileDeletions().ok());
  EXPECT_TRUE(db()->EnableFileDeletions().ok()) << "purges";
  EXPECT_EQ(Number(kHoleBytes), 0u);
  held->let_go = true;
  compaction.join();
  ExpectPunched(BlocksOf(2, 7));
}

// Only files that are written while the option is set get holes, and only while it is set.
TEST_F(BlobHolesTest, TheOptionCanChange) {
  options_.punch_holes_in_blob_files = false;
  Open();
  Write(0, 9, 'a');
  Set("punch_holes_in_blob_files", "true");
  Write(2, 7, 'b');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  Write(3, 4, 'c');
  Compact();
  EXPECT_TRUE(testing::Eventually([&] { return Number(kHoleBytes) > 0; }));
  const uint64_t punched = Number(kHoleBytes);
  Set("punch_holes_in_blob_files", "false");
  Write(5, 5, 'd');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), punched);
  Expect(0, 1, 'a');
  Expect(2, 2, 'b');
  Expect(3, 4, 'c');
  Expect(5, 5, 'd');
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(BlobHolesTest, AFailureIsCountedAndTriedAgain) {
  Open();
  Write(0, 9, 'a');
  Write(2, 4, 'b');
  FaultRule rule;
  rule.calls = Only(FaultCall::kTruncate);
  rule.path_contains = ".blob";
  faults().Inject(rule);
  Compact();
  EXPECT_TRUE(testing::Eventually([&] { return Number(kHoleErrors) == 1; }));
  EXPECT_EQ(Number(kHoleBytes), 0u);
  Expect(2, 4, 'b');
  faults().ClearFaults();
  Write(5, 5, 'b');
  Compact();
  ExpectPunched(BlocksOf(2, 5));
  Expect(6, 9, 'a');
}

// A repair may bring back old tables, so that two refer to one record.
TEST_F(BlobHolesTest, ARepairedFileGetsNoMoreHoles) {
  Open();
  Write(0, 9, 'a');
  Write(2, 4, 'b');
  Compact();
  ExpectPunched(BlocksOf(2, 4));
  ASSERT_TRUE(Close().ok());
  // A repair leaves a sound database as it is.
  ASSERT_TRUE(options_.env->DeleteFile(std::string(kName) + "/CURRENT").ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  Write(6, 8, 'c');
  Compact();
  EXPECT_EQ(Number(kHoleBytes), 0u);
  Expect(0, 1, 'a');
  Expect(2, 4, 'b');
  Expect(5, 5, 'a');
  Expect(6, 8, 'c');
  Expect(9, 9, 'a');
}

// Holes that two openings punch side by side leave a block between them, here one in which the
// header of the second record begins. The database stays sound: also once the option is off, and
// once a repair has forgotten which files may have holes.
TEST_F(BlobHolesTest, HolesOfTwoOpeningsAreNoDamage) {
  const size_t first = 3 * kHoleBlock - 10 - BlobFileHeader::kBytes - BlobRecordBytes(7, 0);
  ASSERT_EQ(Key(0).size(), 7u);
  Open();
  Put(Key(0), Large('a', first));
  Write(1, 2, 'a');
  Write(0, 0, 'b');
  Compact();
  ExpectPunched(kHoleBlock);
  Reopen();
  Write(1, 1, 'b');
  Compact();
  EXPECT_TRUE(testing::Eventually([&] { return Number(kHoleBytes) >= 4 * kHoleBlock; }));
  const Status s = db()->VerifyChecksum();
  EXPECT_TRUE(s.ok()) << s.ToString();
  options_.punch_holes_in_blob_files = false;
  Reopen();
  EXPECT_TRUE(db()->VerifyChecksum().ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(options_.env->DeleteFile(std::string(kName) + "/CURRENT").ok());
    RepairReport report;
    const std::vector<ColumnFamilyDescriptor> families = {{"default", options_}};
    ASSERT_TRUE(RepairDB(kName, options_, families, nullptr, RepairOptions(), &report).ok());
    EXPECT_THAT(report.lost, SizeIs(0)) << round;
    Open();
    EXPECT_TRUE(db()->VerifyChecksum().ok()) << round;
    Expect(0, 1, 'b');
    Expect(2, 2, 'a');
  }
}

// On disk fewer blocks are in use afterwards, where the file system can do it.
TEST_F(BlobHolesTest, BlocksOfADiskAreGivenBack) {
  const char* const base = getenv("TEST_TMPDIR");
  const std::string directory = std::string(base != nullptr ? base : "/tmp") +
                                "/varve_blob_holes-" + std::to_string(::getpid());
  Options options = options_;
  options.env = Env::Default();
  options.create_if_missing = true;
  DestroyDB(directory, options).PermitUncheckedError();
  std::unique_ptr<DB> disk;
  const Status opened = DB::Open(options, directory, &disk);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  testing::Random random(3);
  std::map<std::string, std::string> model;
  const auto write = [&](int first, int last) {
    for (int i = first; i <= last; ++i) {
      model[Key(i)] = random.Text(200000);
      ASSERT_TRUE(disk->Put(WriteOptions(), Key(i), model[Key(i)]).ok());
    }
    ASSERT_TRUE(disk->Flush(FlushOptions()).ok());
  };
  write(0, 9);
  ColumnFamilyMetaData metadata;
  disk->GetColumnFamilyMetaData(&metadata);
  ASSERT_THAT(metadata.blob_files, SizeIs(1));
  const std::string path = directory + "/" + metadata.blob_files[0].blob_file_name;
  struct stat before = {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0) << path;
  write(2, 7);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(disk->CompactRange(all, nullptr, nullptr).ok());
  disk.reset();  // purges
  struct stat after = {};
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_size, before.st_size);
  const bool punched = after.st_blocks < before.st_blocks;
  EXPECT_TRUE(!punched || after.st_blocks * 512 <= before.st_blocks * 512 - 1000000);
  ASSERT_TRUE(DB::Open(options, directory, &disk).ok());
  for (const auto& [key, value] : model) {
    std::string read;
    ASSERT_TRUE(disk->Get(ReadOptions(), key, &read).ok()) << key;
    EXPECT_TRUE(read == value) << key;
  }
  EXPECT_TRUE(disk->VerifyChecksum().ok());
  disk.reset();
  ASSERT_TRUE(DestroyDB(directory, options).ok());
  if (!punched) GTEST_SKIP() << "the file system of " << directory << " punches no holes";
}

// Random changes, readers of old states, and options, beside a map.
TEST_F(BlobHolesTest, RandomHistoriesAnswerAsAMap) {
  uint64_t punched = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    options_.write_buffer_size = 256 << 10;
    options_.max_subcompactions = seed % 2 == 0 ? 4 : 1;
    options_.target_file_size_base = 4 << 10;
    options_.enable_blob_garbage_collection = seed % 3 == 0;
    Open();
    using Model = std::map<std::string, std::string>;
    Model model;
    std::vector<std::pair<std::unique_ptr<Iterator>, Model>> readers;
    const auto expect = [&](Iterator* it, const Model& old) {
      auto at = old.begin();
      for (it->SeekToFirst(); it->Valid() && at != old.end(); it->Next(), ++at) {
        EXPECT_EQ(it->key(), Slice(at->first));
        EXPECT_TRUE(it->value() == Slice(at->second)) << at->first;
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
      EXPECT_TRUE(!it->Valid() && at == old.end());
    };
    for (int step = 0; step < 1200; ++step) {
      const std::string key = Key(static_cast<int>(random.Below(120)));
      switch (random.Below(24)) {
        case 0:
          Delete(key);
          model.erase(key);
          break;
        case 1:
        case 2:
          if (random.OneIn(2)) Flush();
          break;
        case 3:
          if (random.OneIn(2)) Compact();
          break;
        case 4:
          if (readers.size() < 4) {
            readers.emplace_back(db()->NewIterator(ReadOptions()), model);
          } else {
            const size_t i = random.Below(readers.size());
            expect(readers[i].first.get(), readers[i].second);
            readers.erase(readers.begin() + static_cast<ptrdiff_t>(i));
          }
          break;
        case 5:
          if (random.OneIn(10)) {
            readers.clear();
            punched += Number(kHoleBytes);
            Reopen();
          }
          break;
        case 6:
          if (random.OneIn(8)) {
            Set("punch_holes_in_blob_files", random.OneIn(4) ? "false" : "true");
          }
          break;
        default:
          model[key] = random.Text(random.OneIn(4) ? random.Below(200) : random.Below(9000));
          Put(key, model[key]);
      }
    }
    for (const auto& [it, old] : readers) expect(it.get(), old);
    readers.clear();
    Compact();
    punched += Number(kHoleBytes);
    for (const auto& [key, value] : model) EXPECT_TRUE(Get(key) == value) << key;
    const Status s = db()->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(Number(kHoleErrors), 0u);
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "", "z").ok());
    Flush();
    Compact();
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GT(punched, 20 * kHoleBlock);
}

}  // namespace
}  // namespace varve
