// SPDX-License-Identifier: Apache-2.0

// Goal: files from outside come into the database whole, where nothing older lies above them, with
// a number in the order of writes where one is needed, and stay. Method: small files, and what
// metadata, reads and openings say afterwards.

#include <gmock/gmock.h>

#include <memory>

#include "varve/change_stream.h"
#include "varve/external_file.h"
#include "varve/file_checksum.h"
#include "varve/perf_context.h"
#include "varve/sst_file_writer.h"
#include "varve/statistics.h"

#include "tests/db/ingest/ingest_fixture.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(IngestTest, GoesToTheLastLevelOfAnEmptyDatabase) {
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1").Put("b", "2"));
  ASSERT_EQ(Ingest({file}).ToString(), "OK");
  EXPECT_EQ(Places(), "L6:0");
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(db()->GetLatestSequenceNumber(), 0u);
  EXPECT_TRUE(Exists(file));
  EXPECT_EQ(StagedFiles(), 0u);
  Reopen();
  EXPECT_EQ(Places(), "L6:0");
  EXPECT_EQ(Scan(), "a=1 b=2");
}

// The numbers of tables are in no log; a reader of the logs is told whose they are.
TEST_F(IngestTest, AChangeStreamNamesTheFamilyOfTheGap) {
  Open();
  std::unique_ptr<ChangeStream> stream;
  ChangeStreamOptions options;
  options.name = "s";
  ASSERT_TRUE(db()->OpenChangeStream(options, &stream).ok());
  Put("a", "old");
  const std::string file = Make(ExternalFile().Put("a", "new"));
  ASSERT_EQ(Ingest({file}).ToString(), "OK");
  ChangeRecord record;
  ASSERT_TRUE(stream->Next(&record).ok());
  ASSERT_TRUE(stream->Next(&record).ok());
  ASSERT_EQ(record.kind, ChangeRecord::Kind::kGap);
  EXPECT_EQ(record.first, 2u);
  ASSERT_TRUE(record.families.has_value());
  EXPECT_EQ(*record.families, std::vector<std::string>{"default"});
}

// A table that overlaps nothing needs no number, but the ingestion has one for the stream.
TEST_F(IngestTest, AChangeStreamIsToldOfTablesWithoutNumbers) {
  Open();
  std::unique_ptr<ChangeStream> stream;
  ChangeStreamOptions options;
  options.name = "s";
  ASSERT_TRUE(db()->OpenChangeStream(options, &stream).ok());
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("a", "new"))}).ToString(), "OK");
  ChangeRecord record;
  ASSERT_TRUE(stream->Next(&record).ok());
  ASSERT_EQ(record.kind, ChangeRecord::Kind::kGap);
  EXPECT_EQ(record.first, 1u);
  EXPECT_EQ(record.last, 1u);
  ASSERT_TRUE(record.families.has_value());
  EXPECT_EQ(*record.families, std::vector<std::string>{"default"});
  EXPECT_EQ(Scan(), "a=new");
}

TEST_F(IngestTest, ManyFilesOfOneCall) {
  Open();
  std::vector<std::string> files;
  for (int i = 0; i < 30; i++) {
    const std::string key = std::to_string(100 + i);
    files.push_back(Make(ExternalFile().Put(key + "a", "v").Put(key + "b", "v")));
  }
  IngestExternalFileOptions options;
  options.file_opening_threads = 4;
  ASSERT_EQ(Ingest(files, options).ToString(), "OK");
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,30");
  EXPECT_EQ(Get("115b"), "v");
}

TEST_F(IngestTest, LinksAndMoves) {
  Open();
  IngestExternalFileOptions link;
  link.link_files = true;
  const std::string linked = Make(ExternalFile().Put("a", "1"));
  ASSERT_EQ(Ingest({linked}, link).ToString(), "OK");
  EXPECT_TRUE(Exists(linked));
  uint64_t links = 0;
  ASSERT_TRUE(file_system()->NumFileLinks(linked, IOOptions(), &links, nullptr).ok());
  EXPECT_EQ(links, 2u);
  IngestExternalFileOptions move;
  move.move_files = true;
  const std::string moved = Make(ExternalFile().Put("b", "2"));
  ASSERT_EQ(Ingest({moved}, move).ToString(), "OK");
  EXPECT_FALSE(Exists(moved));
  EXPECT_EQ(Scan(), "a=1 b=2");
  move.link_files = true;
  EXPECT_TRUE(Ingest({linked}, move).IsInvalidArgument());
}

TEST_F(IngestTest, CopiesWhereThereCanBeNoLink) {
  Open();
  IngestExternalFileOptions move;
  move.move_files = true;
  const std::string file = Make(ExternalFile().Put("a", "1"));
  FaultRule no_link;
  no_link.calls = Only(FaultCall::kLink);
  no_link.sticky = true;
  faults().Inject(no_link);
  move.failed_move_fall_back_to_copy = false;
  EXPECT_TRUE(Ingest({file}, move).IsIOError());
  EXPECT_TRUE(Exists(file));
  EXPECT_EQ(StagedFiles(), 0u);
  move.failed_move_fall_back_to_copy = true;
  EXPECT_TRUE(Ingest({file}, move).ok());
  EXPECT_FALSE(Exists(file));
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(IngestTest, IsNewerThanWhatItOverlaps) {
  Open();
  Put("a", "old");
  Put("c", "old");
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("a", "new").Delete("c").Put("d", "new"))}).ToString(),
            "OK");
  EXPECT_EQ(Places(), "L0:3 L1:2");
  EXPECT_EQ(Scan(), "a=new d=new");
  Put("d", "newer");
  EXPECT_EQ(Scan(), "a=new d=newer");
  Reopen();
  EXPECT_EQ(Scan(), "a=new d=newer");
  EXPECT_EQ(db()->GetLatestSequenceNumber(), 4u);
}

TEST_F(IngestTest, OverlappedMemTablesAreFlushedBeneath) {
  Open();
  Put("a", "old");
  Put("b", "old");
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("b", "new"))}).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=old b=new");
  EXPECT_EQ(Places(), "L0:3 L0:2");
  Put("b", "newer");
  EXPECT_EQ(Get("b"), "newer");
  Reopen();
  EXPECT_EQ(Scan(), "a=old b=newer");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "a=old b=newer");
}

TEST_F(IngestTest, MemTablesBesideItStay) {
  Open();
  Put("a", "1");
  Put("z", "1");
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("m", "2"))}).ToString(), "OK");
  EXPECT_EQ(Places(), "L6:0");
  EXPECT_EQ(Scan(), "a=1 m=2 z=1");
}

TEST_F(IngestTest, FilesThatOverlapEachOther) {
  Open();
  const std::string first = Make(ExternalFile().Put("a", "1").Put("c", "1"));
  const std::string second = Make(ExternalFile().Put("b", "2").Put("c", "2"));
  const std::string third = Make(ExternalFile().DeleteRange("a", "b").Put("x", "3"));
  ASSERT_EQ(Ingest({first, second, third}).ToString(), "OK");
  EXPECT_EQ(Scan(), "b=2 c=2 x=3");
  EXPECT_EQ(Places(), "L4:3 L5:2 L6:1");
  IngestExternalFileOptions options;
  options.allow_global_seqno = false;
  EXPECT_TRUE(Ingest({first, second}, options).IsInvalidArgument());
}

TEST_F(IngestTest, RangeTombstonesDeleteWhatIsOlder) {
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  ASSERT_EQ(Ingest({Make(ExternalFile().DeleteRange("b", "d").Put("c", "2"))}).ToString(), "OK");
  // Entries of one file are equally old.
  EXPECT_EQ(Scan(), "a=1 c=2 d=1");
  Put("b", "3");
  EXPECT_EQ(Scan(), "a=1 b=3 c=2 d=1");
  ASSERT_EQ(Ingest({Make(ExternalFile().DeleteRange("a", "zz"))}).ToString(), "OK");
  EXPECT_EQ(Scan(), "");
  Reopen();
  EXPECT_EQ(Scan(), "");
}

TEST_F(IngestTest, RangeTombstonesInMemoryCount) {
  Open();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "a", "z").ok());
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("m", "1"))}).ToString(), "OK");
  EXPECT_EQ(Get("m"), "1");
  EXPECT_EQ(Places(), "L0:2 L0:1");
}

TEST_F(IngestTest, SnapshotsDoNotChange) {
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db()->GetSnapshot();
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("m", "2"))}).ToString(), "OK");
  EXPECT_EQ(Places(), "L6:2");
  EXPECT_EQ(Get("m"), "2");
  EXPECT_EQ(Get("m", "default", snapshot), "NOT_FOUND");
  IngestExternalFileOptions options;
  options.snapshot_consistency = false;
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("n", "3"))}, options).ToString(), "OK");
  EXPECT_EQ(Get("n", "default", snapshot), "3");
  db()->ReleaseSnapshot(snapshot);
}

TEST_F(IngestTest, OptionsRefuse) {
  Open();
  Put("b", "1");
  const std::string file = Make(ExternalFile().Put("a", "2").Put("c", "2"));
  IngestExternalFileOptions options;
  options.allow_blocking_flush = false;
  EXPECT_TRUE(Ingest({file}, options).IsInvalidArgument());
  Flush();
  options.fail_if_not_bottommost_level = true;
  EXPECT_TRUE(Ingest({file}, options).IsTryAgain());
  EXPECT_EQ(Scan(), "b=1");
  EXPECT_EQ(StagedFiles(), 0u);
  EXPECT_EQ(Files(kTableFile).size(), 1u);
  EXPECT_TRUE(Ingest({}).IsInvalidArgument());
  EXPECT_TRUE(db()->IngestExternalFiles({}).IsInvalidArgument());
  IngestExternalFileArg arg;
  arg.column_family = Handle("default");
  arg.external_files = {file};
  EXPECT_TRUE(db()->IngestExternalFiles({arg, arg}).IsInvalidArgument());
  arg.files_checksums = {"x", "y"};
  EXPECT_TRUE(db()->IngestExternalFiles({arg}).IsInvalidArgument());
  EXPECT_TRUE(Ingest({"/outside/none.sst"}).IsPathNotFound());
}

TEST_F(IngestTest, RefusesWhatIsNoTableForIt) {
  Open();
  ExternalFile unmarked;
  unmarked.Put("a", "1").version = 0;
  EXPECT_TRUE(Ingest({Make(unmarked)}).IsCorruption());
  ExternalFile of_another;
  of_another.Put("a", "1").family_id = 7;
  EXPECT_TRUE(Ingest({Make(of_another)}).IsInvalidArgument());
  ExternalFile ordered_otherwise;
  ordered_otherwise.Put("a", "1").comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(Ingest({Make(ordered_otherwise)}).IsInvalidArgument());
  ExternalFile numbered;
  numbered.Put("a", "1").sequence = 5;
  EXPECT_TRUE(Ingest({Make(numbered)}).IsCorruption());
  EXPECT_TRUE(Ingest({Make(ExternalFile())}).IsInvalidArgument());
  WriteFile("/outside/text.sst", "no table at all, though long enough to be one, one might think");
  EXPECT_TRUE(Ingest({"/outside/text.sst"}).IsCorruption());
  EXPECT_EQ(Scan(), "");
  EXPECT_EQ(Files(kTableFile).size(), 0u);
  EXPECT_EQ(StagedFiles(), 0u);
}

TEST_F(IngestTest, SeveralFamiliesAtOnce) {
  Open({"default", "other"});
  Put("a", "old");
  Put("a", "old", "other");
  IngestExternalFileArg first;
  first.column_family = Handle("default");
  first.external_files = {Make(ExternalFile().Put("a", "1"))};
  IngestExternalFileArg second;
  second.column_family = Handle("other");
  second.external_files = {Make(ExternalFile().Put("a", "2")), Make(ExternalFile().Put("b", "3"))};
  ASSERT_EQ(db()->IngestExternalFiles({first, second}).ToString(), "OK");
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Scan(ReadOptions(), "other"), "a=2 b=3");
  // Both families begin with the same number, and a file that needs none has none.
  EXPECT_EQ(Places(), "L0:3 L0:1");
  EXPECT_EQ(Places("other"), "L0:3 L0:2 L6:0");
  Reopen();
  EXPECT_EQ(Scan(ReadOptions(), "other"), "a=2 b=3");
}

TEST_F(IngestTest, TwoSteps) {
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  std::unique_ptr<FileIngestionHandle> first;
  std::unique_ptr<FileIngestionHandle> second;
  IngestExternalFileOptions options;
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {file}, options, &first).ToString(),
            "OK");
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {Make(ExternalFile().Put("b", "2"))},
                                       options, &second)
                .ToString(),
            "OK");
  EXPECT_EQ(StagedFiles(), 2u);
  EXPECT_EQ(Scan(), "");
  EXPECT_TRUE(db()->CommitFileIngestionHandles({first.get(), first.get()}).IsInvalidArgument());
  EXPECT_TRUE(db()->CommitFileIngestionHandles({first.get(), nullptr}).IsInvalidArgument());
  ASSERT_EQ(db()->CommitFileIngestionHandles({first.get(), second.get()}).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_TRUE(db()->CommitFileIngestionHandle(first.get()).IsInvalidArgument());
  EXPECT_TRUE(first->Abort().IsInvalidArgument());
  EXPECT_EQ(StagedFiles(), 0u);
}

TEST_F(IngestTest, EachHandleHasItsOwnOptions) {
  Open();
  Put("a", "old");
  Put("b", "old");
  Flush();
  const std::string linked = Make(ExternalFile().Put("a", "new"));
  const std::string bytes = ReadFile(linked);
  IngestExternalFileOptions link;
  link.link_files = true;
  auto first = Prepare(linked, link);
  IngestExternalFileOptions write;
  write.write_global_seqno = true;
  auto second = Prepare(Make(ExternalFile().Put("b", "new")), write);
  ASSERT_EQ(db()->CommitFileIngestionHandles({first.get(), second.get()}).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=new b=new");
  EXPECT_EQ(db()->VerifyChecksum(ReadOptions()).ToString(), "OK");
  // The number of the second is not written through the link of the first.
  EXPECT_EQ(ReadFile(linked), bytes);
  IngestExternalFileOptions strict;
  strict.allow_global_seqno = false;
  first = Prepare(Make(ExternalFile().Put("a", "newer")), strict);
  second = Prepare(Make(ExternalFile().Put("c", "newer")), IngestExternalFileOptions());
  EXPECT_TRUE(db()->CommitFileIngestionHandles({first.get(), second.get()}).IsInvalidArgument());
  EXPECT_EQ(Scan(), "a=new b=new");
}

TEST_F(IngestTest, RefusedHandlesStayPrepared) {
  options_.cf_allow_ingest_behind = true;
  Open();
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  auto first = Prepare(Make(ExternalFile().Put("a", "1")), behind);
  auto second = Prepare(Make(ExternalFile().Put("b", "2")), IngestExternalFileOptions());
  EXPECT_TRUE(db()->CommitFileIngestionHandles({first.get(), second.get()}).IsInvalidArgument());
  EXPECT_EQ(StagedFiles(), 2u);
  ASSERT_EQ(db()->CommitFileIngestionHandle(first.get()).ToString(), "OK");
  ASSERT_EQ(db()->CommitFileIngestionHandle(second.get()).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=1 b=2");
}

// Commits a handle from a callback of a flush, which is refused.
class CommitsInFlush : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) override {
    if (handle != nullptr) status = db->CommitFileIngestionHandle(handle);
  }
  FileIngestionHandle* handle = nullptr;
  Status status;
};

TEST_F(IngestTest, CallbacksThatAreRefusedLeaveTheHandle) {
  const auto listener = std::make_shared<CommitsInFlush>();
  options_.listeners = {listener};
  Open();
  auto handle = Prepare(Make(ExternalFile().Put("a", "1")), IngestExternalFileOptions());
  listener->handle = handle.get();
  Put("b", "2");
  Flush();
  listener->handle = nullptr;
  EXPECT_TRUE(listener->status.IsBusy()) << listener->status.ToString();
  ASSERT_EQ(db()->CommitFileIngestionHandle(handle.get()).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(IngestTest, AbortedStepsLeaveNothing) {
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  std::unique_ptr<FileIngestionHandle> handle;
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {file}, {}, &handle).ToString(), "OK");
  ASSERT_TRUE(handle->Abort().ok());
  EXPECT_EQ(StagedFiles(), 0u);
  EXPECT_TRUE(db()->CommitFileIngestionHandle(handle.get()).IsInvalidArgument());
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {file}, {}, &handle).ToString(), "OK");
  EXPECT_EQ(StagedFiles(), 1u);
  handle.reset();
  EXPECT_EQ(StagedFiles(), 0u);
  EXPECT_TRUE(Exists(file));
  // A handle outlives the database, which keeps nothing for it.
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {file}, {}, &handle).ToString(), "OK");
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(StagedFiles(), 0u);
  EXPECT_TRUE(handle->Abort().IsShutdownInProgress());
}

TEST_F(IngestTest, OpeningsSweepWhatIsStaged) {
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  IngestExternalFileOptions options;
  options.link_files = true;
  std::unique_ptr<FileIngestionHandle> handle;
  ASSERT_EQ(db()->PrepareFileIngestion(Handle("default"), {file}, options, &handle).ToString(),
            "OK");
  const std::string bytes = ReadFile(file);
  Kill();
  EXPECT_EQ(StagedFiles(), 1u);
  Open();
  EXPECT_EQ(StagedFiles(), 0u);
  EXPECT_EQ(ReadFile(file), bytes);
}

TEST_F(IngestTest, ListenersAndCountersHear) {
  class Watch final : public EventListener {
   public:
    void OnExternalFileIngested(DB*, const ExternalFileIngestionInfo& info) override {
      infos.push_back(info);
    }
    std::vector<ExternalFileIngestionInfo> infos;
  };
  const auto watch = std::make_shared<Watch>();
  options_.listeners.push_back(watch);
  options_.statistics = CreateDBStatistics();
  Open();
  Put("a", "0");
  SetPerfLevel(kEnableTime);
  get_perf_context()->Reset();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  ASSERT_EQ(Ingest({file}).ToString(), "OK");
  SetPerfLevel(kDisable);
  ASSERT_EQ(watch->infos.size(), 1u);
  EXPECT_EQ(watch->infos[0].external_file_path, file);
  EXPECT_EQ(watch->infos[0].global_seqno, 2u);
  EXPECT_EQ(watch->infos[0].cf_name, "default");
  EXPECT_TRUE(Exists(watch->infos[0].internal_file_path));
  EXPECT_EQ(watch->infos[0].table_properties.num_entries, 1u);
  EXPECT_GT(get_perf_context()->file_ingestion_nanos, 0u);
  EXPECT_GT(get_perf_context()->file_ingestion_blocking_live_writes_nanos, 0u);
  HistogramData data;
  options_.statistics->histogramData(INGEST_EXTERNAL_FILE_PREPARE_MICROS, &data);
  EXPECT_EQ(data.count, 1u);
  options_.statistics->histogramData(INGEST_EXTERNAL_FILE_RUN_MICROS, &data);
  EXPECT_EQ(data.count, 1u);
}

TEST_F(IngestTest, NumbersInFiles) {
  Open();
  Put("a", "old");
  IngestExternalFileOptions options;
  options.write_global_seqno = true;
  options.link_files = true;
  const std::string file = Make(ExternalFile().Put("a", "new"));
  const std::string bytes = ReadFile(file);
  ASSERT_EQ(Ingest({file}, options).ToString(), "OK");
  // Whatever was asked for, the user's own file is not written into.
  EXPECT_EQ(ReadFile(file), bytes);
  bool written = false;
  for (const std::string& table : Files(kTableFile)) {
    const std::string now = ReadFile(std::string(kName) + "/" + table);
    written |= now.size() == bytes.size() && now != bytes;
  }
  EXPECT_TRUE(written);
  EXPECT_EQ(Get("a"), "new");
  Reopen();
  EXPECT_EQ(Get("a"), "new");
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(IngestTest, TablesOfDatabasesKeepTheirNumbers) {
  Open({"default", "other"});
  MakeTable({"a", "b"}, "other");
  MakeTable({"b", "c"}, "other");
  std::vector<LiveFileMetaData> live;
  db()->GetLiveFilesMetaData(&live);
  ASSERT_EQ(live.size(), 2u);
  if (live[0].smallest_seqno > live[1].smallest_seqno) std::swap(live[0], live[1]);
  const std::string older = live[0].directory + "/" + live[0].relative_filename;
  const std::string newer = live[1].directory + "/" + live[1].relative_filename;
  EXPECT_TRUE(Ingest({older}).IsCorruption());
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  EXPECT_TRUE(Ingest({newer, older}, options).IsInvalidArgument());
  const Snapshot* const snapshot = db()->GetSnapshot();
  EXPECT_TRUE(Ingest({older}, options).IsInvalidArgument());
  options.snapshot_consistency = false;
  ASSERT_EQ(Ingest({older, newer}, options).ToString(), "OK");
  db()->ReleaseSnapshot(snapshot);
  EXPECT_EQ(Places(), "L5:4 L6:2");
  EXPECT_EQ(Scan(), Scan(ReadOptions(), "other"));
  EXPECT_TRUE(Ingest({newer}, options).IsInvalidArgument()) << "it overlaps what is there";
  Reopen();
  EXPECT_EQ(Scan(), Scan(ReadOptions(), "other"));
}

// Without their timestamps all versions of a key are one entry, so a table that has them cannot be
// among tables that have none.
TEST_F(IngestTest, TimestampsAreStoredInAllTablesOrInNone) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  options_.allow_concurrent_memtable_write = false;
  const std::string none(8, '\0');
  for (const bool stored : {false, true}) {
    options_.persist_user_defined_timestamps = stored;
    const std::string path = stored ? "/outside/stored" : "/outside/left_out";
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(path).ok());
    if (stored) {
      ASSERT_TRUE(writer.Put("k", std::string(8, '\1'), "newer").ok());
    }
    ASSERT_TRUE(writer.Put("k", none, "older").ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  for (const bool stored : {false, true}) {
    options_.persist_user_defined_timestamps = stored;
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    const Status s = Ingest({stored ? "/outside/left_out" : "/outside/stored"});
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("persist_user_defined_timestamps"));
    EXPECT_EQ(Ingest({stored ? "/outside/stored" : "/outside/left_out"}).ToString(), "OK");
    EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(IngestTest, WholeFilesHaveChecksums) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  IngestExternalFileArg arg;
  arg.column_family = Handle("default");
  arg.external_files = {Make(ExternalFile().Put("a", "1"))};
  arg.files_checksums = {"1234"};
  arg.files_checksum_func_names = {"FileChecksumCrc32c"};
  EXPECT_TRUE(db()->IngestExternalFiles({arg}).IsCorruption());
  arg.files_checksum_func_names = {"Unheard"};
  EXPECT_TRUE(db()->IngestExternalFiles({arg}).IsNotSupported());
  arg.files_checksums.clear();
  arg.files_checksum_func_names.clear();
  ASSERT_EQ(db()->IngestExternalFiles({arg}).ToString(), "OK");
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
  std::vector<LiveFileMetaData> live;
  db()->GetLiveFilesMetaData(&live);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].file_checksum.size(), 4u);
  // A given checksum is trusted if the options say so.
  arg.external_files = {Make(ExternalFile().Put("b", "1"))};
  arg.files_checksums = {"1234"};
  arg.files_checksum_func_names = {"FileChecksumCrc32c"};
  arg.options.verify_file_checksum = false;
  ASSERT_EQ(db()->IngestExternalFiles({arg}).ToString(), "OK");
  EXPECT_FALSE(db()->VerifyFileChecksums(ReadOptions()).ok());
}

class PreparedInfoTest : public IngestTest {
 protected:
  // Writes a file as a program does.
  std::string Write(const std::string& name, const std::vector<std::string>& keys,
                    ExternalSstFileInfo* info, bool with_range = false) {
    const std::string path = std::string(kOutside) + "/" + name;
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_TRUE(writer.Open(path).ok());
    for (const std::string& key : keys) EXPECT_TRUE(writer.Put(key, std::string(50, 'v')).ok());
    if (with_range) {
      EXPECT_TRUE(writer.DeleteRange("a", "c").ok());
    }
    EXPECT_TRUE(writer.Finish(info).ok());
    EXPECT_NE(info->prepared_file_info, nullptr);
    return path;
  }
  // Returns how often the ingestion reads a file.
  uint64_t ReadsOf(const IngestExternalFileArg& arg) {
    const uint64_t before = faults().calls_in(Only(FaultCall::kRead));
    EXPECT_EQ(db()->IngestExternalFiles({arg}).ToString(), "OK");
    return faults().calls_in(Only(FaultCall::kRead)) - before;
  }
};

TEST_F(PreparedInfoTest, SparesReadsAndGivesTheSameTable) {
  Open({"default", "f"});
  std::vector<std::string> keys;
  for (int i = 0; i < 2000; i++) keys.push_back("k" + std::to_string(10000 + i));
  ExternalSstFileInfo info;
  IngestExternalFileArg arg;
  arg.external_files = {Write("1.sst", keys, &info, /*with_range=*/true)};
  arg.column_family = Handle("f");
  const uint64_t without = ReadsOf(arg);
  arg.column_family = Handle("default");
  arg.file_infos = {info.prepared_file_info.get()};
  EXPECT_LT(ReadsOf(arg), without);
  ColumnFamilyMetaData with_info;
  ColumnFamilyMetaData inspected;
  db()->GetColumnFamilyMetaData(Handle("default"), &with_info);
  db()->GetColumnFamilyMetaData(Handle("f"), &inspected);
  const SstFileMetaData& a = with_info.levels.back().files.at(0);
  const SstFileMetaData& b = inspected.levels.back().files.at(0);
  EXPECT_EQ(a.smallestkey, b.smallestkey);
  EXPECT_EQ(a.largestkey, b.largestkey);
  EXPECT_EQ(a.smallestkey, "a");
  EXPECT_EQ(a.largestkey, keys.back());
  EXPECT_EQ(Scan(), Scan(ReadOptions(), "f"));
  Reopen();
  EXPECT_EQ(Get(keys[1234]), std::string(50, 'v'));
}

TEST_F(PreparedInfoTest, MustBeOfTheFile) {
  Open();
  ExternalSstFileInfo one;
  ExternalSstFileInfo other;
  IngestExternalFileArg arg;
  arg.column_family = Handle("default");
  arg.external_files = {Write("1.sst", {"a"}, &one), Write("2.sst", {"b"}, &other)};
  arg.file_infos = {other.prepared_file_info.get(), one.prepared_file_info.get()};
  const Status s = db()->IngestExternalFiles({arg});
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("file_infos"));
  arg.file_infos = {one.prepared_file_info.get()};
  EXPECT_TRUE(db()->IngestExternalFiles({arg}).IsInvalidArgument());
  arg.file_infos = {one.prepared_file_info.get(), nullptr};
  EXPECT_EQ(db()->IngestExternalFiles({arg}).ToString(), "OK");
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,2");
}

TEST_F(IngestTest, DamageIsFoundIfAskedFor) {
  Open();
  ExternalFile file;
  for (int i = 0; i < 2000; i++) file.Put("k" + std::to_string(10000 + i), std::string(50, 'v'));
  const std::string path = Make(file);
  std::string bytes = ReadFile(path);
  bytes[bytes.size() / 3] ^= 1;
  WriteFile(path, bytes);
  IngestExternalFileOptions options;
  options.verify_checksums_before_ingest = true;
  EXPECT_TRUE(Ingest({path}, options).IsCorruption());
  EXPECT_EQ(Scan(), "");
  EXPECT_EQ(StagedFiles(), 0u);
}

TEST_F(IngestTest, WhatIsNotThereIsRefusedByName) {
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  EXPECT_THAT(Ingest({file}, behind).ToString(), HasSubstr("cf_allow_ingest_behind"));
}

}  // namespace
}  // namespace varve::testing
