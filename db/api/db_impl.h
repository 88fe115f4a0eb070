// SPDX-License-Identifier: Apache-2.0
#pragma once

// DbImpl implements the public DB on an Engine: it checks the arguments of each call, then hands it
// to the part of the engine that does the work.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

#include "db/copy/copy_host.h"
#include "db/engine/engine.h"
#include "db/engine/fork_guard.h"
#include "db/transaction/transaction_host.h"
#include "db/ttl/ttl_host.h"

namespace varve {

class Follower;
class Secondary;
struct MultiGetCall;
class PointLookup;
enum class ValueForm : uint8_t;

// Thread safety: that of DB. Ownership: shares the engine with the families' holders, owns the
// handle of the default family.
class DbImpl final : public DB, public TransactionHost, public CopyHost, public TtlHost {
 public:
  // `secondary`, unless null, applies what another process writes to `engine`. With
  // `follows_by_itself`, which requires it, StartWork starts a thread that lets it catch up
  // periodically (DB::OpenAsFollower).
  explicit DbImpl(std::shared_ptr<Engine> engine, std::unique_ptr<Secondary> secondary = nullptr,
                  bool follows_by_itself = false);
  ~DbImpl() override;

  using DB::CompactRange;
  using DB::Flush;
  using DB::Get;
  using DB::GetApproximateSizes;
  using DB::KeyMayExist;
  using DB::MultiGet;
  using DB::MultiGetEntity;

  Status Close() override;
  Status Resume() override;

  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override;
  ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }

  Status Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             const Slice& ts, const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                const Slice& ts) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                      const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                      const Slice& ts) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& begin,
                     const Slice& end) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& begin,
                     const Slice& end, const Slice& ts) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
               const Slice& value) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
               const Slice& ts, const Slice& value) override;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const WriteOptions& options, const Slice& key,
                   const AttributeGroups& groups) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;

  Status Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          PinnableSlice* operands, GetMergeOperandsOptions* operand_options,
                          int* count) override;
  void MultiGet(const ReadOptions& options, size_t n, ColumnFamilyHandle** handles,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n, const Slice* keys,
                PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableWideColumns* columns) override;
  Status GetEntity(const ReadOptions& options, const Slice& key,
                   PinnableAttributeGroups* result) override;
  void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  void MultiGetEntity(const ReadOptions& options, size_t n, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  void MultiGetEntity(const ReadOptions& options, size_t n, const Slice* keys,
                      PinnableAttributeGroups* results) override;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                      std::vector<Iterator*>* iterators) override;
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) override;
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;

  bool GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) override;
  bool GetMapProperty(ColumnFamilyHandle* handle, const Slice& property,
                      std::map<std::string, std::string>* value) override;
  bool GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override;
  Status ResetStats() override;
  Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                         std::unique_ptr<StatsHistoryIterator>* stats_iterator) override;
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* handle,
                             const Range* ranges, int n, uint64_t* sizes) override;
  void GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& range, uint64_t* count,
                                   uint64_t* size) override;

  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                      const Slice* begin, const Slice* end) override;
  Status CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* handle,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id, std::vector<std::string>* output_file_names,
                      CompactionJobInfo* info) override;
  Status SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                             const Slice* end) override;
  Status DeleteFilesInRanges(ColumnFamilyHandle* handle, const RangePtr* ranges, size_t n,
                             bool include_end) override;
  Status PromoteL0(ColumnFamilyHandle* handle, int target_level) override;
  Status ClipColumnFamily(ColumnFamilyHandle* handle, const Slice& begin_key,
                          const Slice& end_key) override;
  Status Excise(ColumnFamilyHandle* handle, const RangeOpt& range) override;
  Status WaitForCompact(const WaitForCompactOptions& options) override;
  Status SetOptions(ColumnFamilyHandle* handle,
                    const std::unordered_map<std::string, std::string>& new_options) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) override;
  Status PauseBackgroundWork() override;
  Status ContinueBackgroundWork() override;
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) override;
  void DisableManualCompaction() override;
  void EnableManualCompaction() override;
  void CancelAllBackgroundWork(bool wait) override;

  int NumberLevels(ColumnFamilyHandle* handle) override;
  int Level0StopWriteTrigger(ColumnFamilyHandle* handle) override;
  const std::string& GetName() const override { return engine_->context.given_name(); }
  Env* GetEnv() const override { return engine_->context.env(); }
  FileSystem* GetFileSystem() const override { return GetEnv()->GetFileSystem().get(); }
  Options GetOptions(ColumnFamilyHandle* handle) const override;
  DBOptions GetDBOptions() const override;

  Status Flush(const FlushOptions& options, ColumnFamilyHandle* handle) override;
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& handles) override;
  Status FlushWAL(bool sync) override;
  Status FlushWAL(const FlushWALOptions& options) override;
  Status SyncWAL() override;
  Status LockWAL() override;
  Status UnlockWAL() override;
  SequenceNumber GetLatestSequenceNumber() const override;
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) override;
  // Removes all versions of the family that are newer than `trim_ts`, which must have the
  // comparator's timestamp size. Requires that nothing else writes to the family meanwhile.
  Status TrimHistory(ColumnFamilyHandle* handle, const std::string& trim_ts);
  Status GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) override;
  Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* handle,
                                       std::string* newest_timestamp) override;

  Status DisableFileDeletions() override;
  Status EnableFileDeletions() override;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable) override;
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                 std::vector<LiveFileStorageInfo>* files) override;
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override;
  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;
  Status GetSortedWalFiles(VectorLogPtr& files) override;
  Status GetCurrentWalFile(std::unique_ptr<LogFile>* current_log_file) override;
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override;
  Status OpenChangeStream(const ChangeStreamOptions& options,
                          std::unique_ptr<ChangeStream>* stream) override;
  Status DropChangeStream(const std::string& name) override;
  Status GetUpdatesSince(SequenceNumber seq, std::unique_ptr<TransactionLogIterator>* iter,
                         const TransactionLogIterator::ReadOptions& read_options) override;
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* handle, ColumnFamilyMetaData* metadata) override;
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override;
  Status IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& files,
                            const IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override;
  Status CommitFileIngestionHandles(const std::vector<FileIngestionHandle*>& handles) override;
  Status VerifyChecksum(const ReadOptions& options) override;
  Status VerifyFileChecksums(const ReadOptions& options) override;
  Status GetDbIdentity(std::string& identity) const override;
  Status GetDbSessionId(std::string& session_id) const override;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* handle,
                                  TablePropertiesCollection* props) override;
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* handle, const Range* range, size_t n,
                                      TablePropertiesCollection* props) override;

  Status StartTrace(const TraceOptions& options,
                    std::unique_ptr<TraceWriter>&& trace_writer) override;
  Status EndTrace() override;
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                            std::unique_ptr<TraceReader>&& reader,
                            std::unique_ptr<Replayer>* replayer) override;

  Status TryCatchUpWithPrimary() override;
  Status GetSecondaryLag(SecondaryLag* lag) override;
  Status Promote(const PromoteOptions& options) override;

  // --- For transactions, copies and DBWithTTL; TransactionHost, CopyHost and TtlHost say what each
  // call does.
  Status CheckHandle(ColumnFamilyHandle* handle) const override;
  Status CheckRead(const ReadOptions& options, ColumnFamilyHandle* handle) const override;
  Status CheckUpdate(ColumnFamilyHandle* handle) const override;
  Status FindNewest(ColumnFamilyHandle* handle, const Slice& key, NewestWrite* newest) override;
  Status HasNewerTimestamp(ColumnFamilyHandle* handle, const Slice& key, const Slice& timestamp,
                           bool* newer) override;
  const Snapshot* CheckedSnapshot() override;
  SequenceNumber NewestDroppedWithFiles(ColumnFamilyHandle* handle) override;
  const Snapshot* TimestampedSnapshot(uint64_t timestamp) override;
  void WatchKeys() override;
  Status WriteIf(const WriteOptions& options, WriteBatch* updates,
                 WriteCondition* condition) override;
  void ChargeTransactions(int64_t bytes) override {
    engine_->state.transaction_bytes.fetch_add(static_cast<uint64_t>(bytes),
                                               std::memory_order_relaxed);
  }
  void CountTransaction(uint64_t updates) override;
  SequenceNumber WaitForAllWrites() override;
  EvidenceHolds::Slot* HoldEvidence(const void* holder) override;
  void ReleaseEvidence(EvidenceHolds::Slot* slot) override;
  const Comparator* ComparatorOf(uint32_t family) override;
  std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t family) override;
  Status PrepareTransaction(const WriteOptions& options, const std::string& name,
                            const WriteBatch& updates, PreparedTransaction** prepared) override;
  Status CommitPrepared(const WriteOptions& options, PreparedTransaction* prepared,
                        const WriteBatch& updates, const Slice& timestamp,
                        SequenceNumber* first) override;
  Status RollbackPrepared(const WriteOptions& options, PreparedTransaction* prepared) override;
  std::vector<PreparedTransaction*> ClaimPrepared() override;
  void AbandonPrepared(PreparedTransaction* prepared) override;
  bool HasPrepared(const std::string& name) override;
  uint64_t LogOfPrepared(const PreparedTransaction* prepared) override;

  Status WithEngine(const std::function<Status(Engine* engine)>& work) override;
  uint64_t SavedTtlClock() const override;
  Status SaveTtlClock(uint64_t seconds) override;

  // Never null; lives at least as long as this object.
  Engine* engine() { return engine_.get(); }
  void StartWork() override;

 private:
  // Registers the calling thread as inside the database until the result is destroyed; Close waits
  // for that (open_calls.h).
  OpenCall EnterCall() const { return OpenCall(&engine_->lifecycle); }
  // Return OK, or the reason why no call can be served. CheckWritable also refuses a read-only
  // database. CheckNotForked is for calls that a closed database still answers. Those that take the
  // result of EnterCall refuse if it did not get in; and CheckWritable then refuses calls from
  // callbacks of the thread that writes the MANIFEST, for which they would wait.
  Status CheckOpen() const { return engine_->lifecycle.CheckOpen(); }
  Status CheckOpen(const OpenCall& call) const;
  Status CheckWritable() const;
  Status CheckWritable(const OpenCall& call) const;
  Status CheckNotForked() const { return engine_->lifecycle.CheckNotForked(); }
  // Returns a snapshot of the newest visible state, or null if the database is closed, memory is
  // out, or the caller would wait for itself (HoldsIngestionsUp). Its GetTimestamp returns
  // `timestamp`; UINT64_MAX: it has none. If `holds_evidence`, compactions keep evidence of each
  // later change until the snapshot is released, for the conflict checks of transactions.
  const Snapshot* TakeSnapshot(uint64_t timestamp, bool holds_evidence);
  // True if the thread runs in a callback that an ingestion may wait for, and so cannot wait for
  // one.
  bool HoldsIngestionsUp() const;
  // Does WaitForCompact without its Close.
  Status WaitForWork(const WaitForCompactOptions& options);
  // Checks, for the call `name`, that a deletion of ranges may be written to the family and
  // flushed. Sets *family; null: the database cannot be written to, or the handle is wrong.
  // NotSupported: the database is read-only, or the family has timestamps. InvalidArgument: the
  // handle is null or another database's. ColumnFamilyDropped: the family was dropped. Busy: the
  // call comes from a callback of a flush or a compaction, and would wait for it. Otherwise the
  // error of CheckOpen.
  Status CheckRemoval(const char* name, ColumnFamilyHandle* handle, ColumnFamily** family);
  // Writes the deletions of `batch`, and returns OK when they are durable, and in a table.
  Status WriteRemoval(ColumnFamilyHandle* handle, WriteBatch* batch);
  // Writes the changed options to the OPTIONS file. The message of an error says that they are in
  // force all the same.
  Status ChangedOptionsKept();
  // Returns InvalidArgument if the options name a snapshot that this database does not hold.
  Status CheckReadOptions(const ReadOptions& options) const;
  // Sets *families to the family of each handle. Requires that *families is empty. InvalidArgument:
  // a handle is null or another database's; *families has those before it.
  Status ResolveAll(const std::vector<ColumnFamilyHandle*>& handles,
                    std::vector<ColumnFamily*>* families) const;
  // The inputs and outputs of MultiGet, n of each; all are the caller's. `timestamps` may be null.
  // If `forms` is null, an entity is read as its default column.
  struct KeyBatch {
    size_t n;
    const Slice* keys;
    PinnableSlice* values;
    std::string* timestamps;
    Status* statuses;
    ValueForm* forms = nullptr;
  };
  // Writes one update without a batch: its key and value are copied from the caller's memory into
  // the log and the memtable. `key` is a user key without its timestamp; `ts`, unless null, is the
  // timestamp. For a range deletion, `key` and `value` are its bounds.
  Status WriteOne(const WriteOptions& options, ColumnFamilyHandle* handle, ValueType type,
                  const Slice& key, const Slice& value, const Slice* ts = nullptr);
  // Checks a write, waits until writes are admitted, and commits it.
  Status Submit(const WriteOptions& options, WriteRequest* request, UserWriteCallback* callback);
  // Waits until a checked write is admitted, and commits it; it adds `bytes` to memtables.
  Status Enter(const WriteOptions& options, WriteRequest* request, size_t bytes,
               UserWriteCallback* callback);
  // Adds an admitted write to the trace, and commits it.
  Status CommitTraced(const WriteOptions& options, WriteRequest* request,
                      UserWriteCallback* callback);
  // Add a MultiGet to the trace.
  void TraceMultiGet(const ColumnFamily& family, const KeyBatch& batch) noexcept;
  void TraceMultiGet(ColumnFamilyHandle** handles, const KeyBatch& batch) noexcept;
  // Does what Submit does for a step of two-phase commit.
  Status SubmitStep(const WriteOptions& options, WriteRequest* request, size_t bytes);
  // Checks that the prepared updates of `prepared`, and the further ones that come with the commit,
  // can be inserted.
  Status CheckPrepared(const PreparedTransaction& prepared, const WriteBatch& updates,
                       const WriteOptions& options) const;
  // Sets *any: true if keys of the prepared transaction have timestamps. Then sets *stamped to a
  // copy of its updates in which all timestamps are `timestamp`; leaves *stamped otherwise.
  // InvalidArgument: *any is true, and `timestamp` is empty or has another size than keys want.
  Status StampPrepared(const PreparedTransaction& prepared, const Slice& timestamp,
                       WriteBatch* stamped, bool* any) const;
  // Searches the super-version for the key of *lookup, merges its operands, reads its blob, and
  // counts the read in the statistics. Requires that `value` is not null, and the one that the
  // lookup was made with. NotFound: there is no value.
  Status GetOne(const ReadOptions& options, const SuperVersion& super_version, PointLookup* lookup,
                PinnableSlice* value) const;
  // Do MultiGet for keys of one family, and for keys of a family each.
  void MultiGetOf(const ReadOptions& options, ColumnFamilyHandle* handle, const KeyBatch& batch);
  void MultiGetOf(const ReadOptions& options, ColumnFamilyHandle** handles, const KeyBatch& batch);
  // Empties the places for values and timestamps, and returns the call that is to fill them.
  MultiGetCall StartMultiGet(const ReadOptions& options, const KeyBatch& batch) const;
  // Counts a finished MultiGet of n keys in the statistics and the perf context.
  void CountMultiGet(const MultiGetCall& call, size_t n) const;
  // True for kPersistedTier if a memtable may hold entries that no log does.
  bool SkipsMemTables(const ReadOptions& options) const;
  // Returns the sequence number for reading one key; the super-version is pinned already.
  SequenceNumber ReadSequence(const ReadOptions& options, const SuperVersion& super_version) const;
  // Returns the newest sequence number below which no insertion is under way, so that every read at
  // it shows the same state. May wait for running insertions.
  SequenceNumber StableReadSequence(const ReadOptions& options,
                                    const SuperVersion& super_version) const;
  // Requires that *pinned maps each family that is to be read to null. Sets their super-versions,
  // which the caller must release with Unref, and returns a sequence number at which all of them
  // show the same moment.
  SequenceNumber PinOneMoment(const ReadOptions& options,
                              std::map<ColumnFamily*, SuperVersion*>* pinned);
  // Does PinOneMoment for a database that follows another process, where it needs no snapshot.
  SequenceNumber PinFollowed(std::map<ColumnFamily*, SuperVersion*>* pinned);
  // Returns OK if the handle is this database's and not of the default family.
  Status CheckDroppable(ColumnFamilyHandle* handle) const;
  // Drops one family, and tells listeners if that ends a write stall.
  Status DropOne(ColumnFamilyHandle* handle);

  // Stores the growth of each ticker since the last call, as of `seconds` since 1970, in the column
  // family of statistics (StatisticsRecorder::Store).
  Status StoreStatisticsRecord(uint64_t seconds, const StatisticsHistory::Counts& growth);

  const std::shared_ptr<Engine> engine_;
  std::unique_ptr<Secondary> secondary_;  // Null unless opened as a secondary or a follower.
  std::unique_ptr<Follower> follower_;    // Null unless opened as a follower.
  ForkGuard fork_guard_;
  std::unique_ptr<ColumnFamilyHandleImpl> default_handle_;
  std::unique_ptr<ColumnFamilyHandleImpl> statistics_handle_;  // Set with persist_stats_to_disk.
};

}  // namespace varve
