// SPDX-License-Identifier: Apache-2.0

// Goal: bytes that were synced and are gone are known for a loss, whatever the file that lost them
// looks like, and a crash is never taken for one. Method: a log of synced and unsynced writes, cut
// at every record's end and inside records, opened in every mode; the same with MANIFESTs.

#include "db/wal/synced_marks.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>

#include "varve/system_clock.h"

#include "db/wal/log_format.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr WALRecoveryMode kAllRecoveryModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

// Returns the size of the record at that offset, with its header. Requires a log of one block.
size_t SizeOfRecord(const std::string& log, size_t at) {
  const auto byte = [&log](size_t i) { return static_cast<unsigned char>(log.at(i)); };
  return wal::kHeaderBytes + byte(at + 4) + 256u * byte(at + 5);
}

class SyncedMarksTest : public Database {
 protected:
  // "a" to "f", one record each, of which the first `synced` are synced. The ends of the records.
  void WriteLog(int synced, bool close) {
    Open();
    path_ = std::string(kName) + "/" + Files(kWalFile).back();
    for (int i = 0; i < 6; i++) {
      const std::string key(1, static_cast<char>('a' + i));
      ASSERT_TRUE(db()->Put(WriteOptions(), key, key).ok());
      if (i + 1 == synced) {
        ASSERT_TRUE(db()->SyncWAL().ok());
      }
      ends_.push_back(ReadFile(path_).size());
    }
    if (close) {
      ASSERT_TRUE(Close().ok());
    } else {
      Kill();
    }
    bytes_ = ReadFile(path_);
    origin_ = mem().CrashClone(CrashPolicy::kKill, 1);
  }

  Status OpenCut(size_t size, WALRecoveryMode mode) {
    EXPECT_TRUE(Close().ok());
    Remount(origin_->CrashClone(CrashPolicy::kKill, 1));
    WriteFile(path_, bytes_.substr(0, size));
    options_.wal_recovery_mode = mode;
    return TryOpen();
  }

  std::string path_;
  std::vector<size_t> ends_;
  std::string bytes_;
  std::shared_ptr<MemFileSystem> origin_;
};

TEST_F(SyncedMarksTest, ACutBelowTheMarkIsEvidenceAndOneAboveIsACrash) {
  constexpr int kSynced = 4;
  WriteLog(kSynced, /*close=*/false);
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    for (size_t kept = 0; kept < ends_.size(); kept++) {
      for (const size_t more : {0, 5}) {  // at a record's end, and inside the next
        const size_t size = (kept == 0 ? 0 : ends_[kept - 1]) + more;
        SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", cut at " +
                     std::to_string(size));
        const bool evidence = kept < kSynced;
        const bool strict = mode == WALRecoveryMode::kAbsoluteConsistency;
        const bool refuses = strict || mode == WALRecoveryMode::kTolerateCorruptedTailRecords;
        const Status s = OpenCut(size, mode);
        if ((evidence && refuses) || (strict && more > 0)) {
          EXPECT_TRUE(s.IsCorruption()) << s.ToString();
          EXPECT_THAT(s.ToString(), HasSubstr(path_));
          EXPECT_EQ(ReadFile(path_).size(), size) << "a refusal changed the log";
          continue;
        }
        ASSERT_TRUE(s.ok()) << s.ToString();
        EXPECT_EQ(Scan(),
                  std::string("a=a b=b c=c d=d e=e").substr(0, kept == 0 ? 0 : 4 * kept - 1));
        const std::string report = Text("varve.recovery");
        const size_t lost = evidence ? ends_[kSynced - 1] - (size - more) : 0;
        EXPECT_THAT(report, HasSubstr("synced_bytes_lost=" + std::to_string(lost) + " "));
        EXPECT_EQ(evidence, !Files(kWalFile, "/db/lost").empty()) << "for the user to look at";
      }
    }
  }
}

TEST_F(SyncedMarksTest, CloseMarksAllThatThereIs) {
  WriteLog(/*synced=*/0, /*close=*/true);
  ASSERT_TRUE(OpenCut(ends_[4], WALRecoveryMode::kPointInTimeRecovery).ok());
  EXPECT_EQ(Scan(), "a=a b=b c=c d=d e=e");
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("reason=\"the end of the log is missing\""));
  EXPECT_TRUE(OpenCut(ends_[4], WALRecoveryMode::kTolerateCorruptedTailRecords).IsCorruption());
  ASSERT_TRUE(OpenCut(ends_[5], WALRecoveryMode::kAbsoluteConsistency).ok());
  EXPECT_THAT(Text("varve.recovery"), Not(HasSubstr("reason")));
}

TEST_F(SyncedMarksTest, ALogThatIsGoneWithSyncedBytesIsEvidence) {
  WriteLog(/*synced=*/2, /*close=*/false);
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    ASSERT_TRUE(Close().ok());
    Remount(origin_->CrashClone(CrashPolicy::kKill, 1));
    ASSERT_TRUE(mem().DeleteFile(path_, IOOptions(), nullptr).ok());
    options_.wal_recovery_mode = mode;
    const Status s = TryOpen();
    const bool refuses = mode == WALRecoveryMode::kAbsoluteConsistency ||
                         mode == WALRecoveryMode::kTolerateCorruptedTailRecords;
    EXPECT_EQ(s.IsCorruption(), refuses) << s.ToString();
    if (refuses) continue;
    EXPECT_THAT(Text("varve.recovery"), HasSubstr("missing=" + path_));
    EXPECT_THAT(Text("varve.recovery"),
                HasSubstr("synced_bytes_lost=" + std::to_string(ends_[1]) + " "));
  }
}

// A record's end in a MANIFEST is where a cut leaves no trace: all of them are tried.
TEST_F(SyncedMarksTest, AManifestThatWasCutIsRefused) {
  Open({"default", "a"});
  MakeTable({"t"});
  MakeTable({"t"}, "a");
  ASSERT_TRUE(Close().ok());
  const std::string path = std::string(kName) + "/" + Files(kDescriptorFile).back();
  const std::string bytes = ReadFile(path);
  origin_ = mem().CrashClone(CrashPolicy::kKill, 1);
  size_t record_end = 0;
  for (size_t size = 0; size < bytes.size(); size++) {
    const bool after_a_record = size == record_end;
    if (after_a_record) record_end += SizeOfRecord(bytes, size);
    // A cut after a whole record looks like a MANIFEST that was never longer, so it is always made.
    if (!after_a_record && size % StepUnderSanitizer() != FirstUnderSanitizer()) continue;
    Remount(origin_->CrashClone(CrashPolicy::kKill, 1));
    WriteFile(path, bytes.substr(0, size));
    const std::vector<std::string> tables = Files(kTableFile);
    for (const bool read_only : {false, true}) {
      const Status s = read_only ? TryOpenReadOnly({"default", "a"}) : TryOpen({"default", "a"});
      EXPECT_TRUE(s.IsCorruption() || s.IsInvalidArgument()) << size << ": " << s.ToString();
      EXPECT_EQ(Files(kTableFile), tables);
      EXPECT_EQ(ReadFile(path).size(), size);
      ASSERT_TRUE(Close().ok());
    }
  }
  Remount(origin_);
  Open({"default", "a"});
  EXPECT_EQ(Scan(ReadOptions(), "a"), "t=of t");
}

TEST_F(SyncedMarksTest, AnOlderManifestInCurrentIsRefusedWithTheTablesItLacks) {
  Open();
  MakeTable({"t"});
  const std::string manifest = Files(kDescriptorFile).back();
  const std::string older = ReadFile(std::string(kName) + "/" + manifest);
  ASSERT_TRUE(Close().ok());
  Open();
  MakeTable({"u"});
  const std::string table = Files(kTableFile).back();
  ASSERT_TRUE(Close().ok());
  WriteFile(std::string(kName) + "/" + manifest, older);
  WriteFile(CurrentFileName(kName), manifest + "\n");
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), HasSubstr("was in force"));
  EXPECT_THAT(s.ToString(), HasSubstr(table));
  // This follows the advice of the message.
  ASSERT_TRUE(mem().DeleteFile(SyncedMarksFileName(kName), IOOptions(), nullptr).ok());
  EXPECT_THAT(TryOpen().ToString(), Not(HasSubstr(manifest)));
}

// The file's contents are never needed, and not believed unless they are whole.
TEST_F(SyncedMarksTest, AnyDamageToTheMarksThemselvesIsHarmless) {
  WriteLog(/*synced=*/4, /*close=*/true);
  const std::string marks = ReadFile(SyncedMarksFileName(kName));
  ASSERT_GT(marks.size(), 100u);
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  for (size_t at = 0; at < marks.size(); at += marks[at] == '\0' ? 7 : 1) {
    Remount(origin_->CrashClone(CrashPolicy::kKill, 1));
    std::string damaged = marks;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    if (at % 3 == 0) damaged.resize(at);
    WriteFile(SyncedMarksFileName(kName), damaged);
    const Status s = TryOpen();
    ASSERT_TRUE(s.ok()) << at << ": " << s.ToString();
    EXPECT_EQ(Scan(), "a=a b=b c=c d=d e=e f=f");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(SyncedMarksTest, WhereTheyCannotBeWrittenTheDatabaseGoesOn) {
  FaultRule rule;
  rule.calls = kMutatingFaultCalls;
  rule.path_contains = std::string("/") + kSyncedMarksBaseName;
  rule.sticky = true;
  faults().Inject(rule);
  WriteLog(/*synced=*/4, /*close=*/true);
  EXPECT_GT(faults().strikes(), 0u);
  faults().ClearFaults();
  Open();
  EXPECT_EQ(Scan(), "a=a b=b c=c d=d e=e f=f");
}

TEST_F(SyncedMarksTest, MarksOfADestroyedDatabaseDoNotBind) {
  WriteLog(/*synced=*/4, /*close=*/true);
  const std::string marks = ReadFile(SyncedMarksFileName(kName));
  Open();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  ASSERT_TRUE(mem().CreateDirIfMissing(kName, IOOptions(), nullptr).ok());
  WriteFile(SyncedMarksFileName(kName), marks);
  Open();
  EXPECT_EQ(Scan(), "");
}

// A repair is killed before it deletes the marks, which name a MANIFEST and a log that are gone.
TEST_F(SyncedMarksTest, MarksThatAnInterruptedRepairLeavesDoNotBind) {
  struct BeforeTheMarks final : MemFileSystem::CallHook {
    void BeforeCall(uint64_t, MemCall call, const std::string& path) override {
      if (call != MemCall::kDelete || path != SyncedMarksFileName(kName)) return;
      left = mem->CrashClone(CrashPolicy::kKill, 1);
    }
    MemFileSystem* mem = nullptr;
    std::shared_ptr<MemFileSystem> left;
  };
  Open();
  MakeTable({"t"});
  ASSERT_TRUE(Close().ok());
  {
    wal::SyncedMarks marks(file_system(), kName, SystemClock::Default().get());
    marks.Begin();
    marks.NoteManifest(1000, 100);
    marks.NoteLog(1001, 10, /*last=*/true);
  }
  ASSERT_TRUE(TryOpen().IsCorruption());
  BeforeTheMarks hook;
  hook.mem = &mem();
  mem().SetCallHook(&hook);
  const Status repaired = RepairDB(kName, options_);
  mem().SetCallHook(nullptr);
  ASSERT_TRUE(repaired.ok()) << repaired.ToString();
  ASSERT_NE(hook.left, nullptr);
  Remount(hook.left);
  ASSERT_EQ(wal::ReadSyncedMark(&mem(), kName).manifest, 1000u);
  Open();
  EXPECT_EQ(Scan(), "t=of t");
}

}  // namespace
}  // namespace varve::testing
