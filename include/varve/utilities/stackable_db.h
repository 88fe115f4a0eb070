// SPDX-License-Identifier: Apache-2.0
#pragma once

// StackableDB is a DB that forwards every call to another DB. It is the base of classes that
// change only some of the calls: TransactionDB, OptimisticTransactionDB and DBWithTTL derive from
// it, and so may a program's own.
//
// A derived class that overrides a call must keep what db.h says of it. Calls that the base
// database makes of itself, such as its background work, do not pass through the wrapper. Each
// call has the comment of the function of the same name in DB (db.h).
//
//   class CountingDB : public varve::StackableDB {
//    public:
//     using StackableDB::StackableDB;
//     using StackableDB::Get;  // the shorthands
//     varve::Status Get(const varve::ReadOptions& options, varve::ColumnFamilyHandle* family,
//                       const varve::Slice& key, varve::PinnableSlice* value,
//                       std::string* timestamp) override {
//       ++gets_;
//       return StackableDB::Get(options, family, key, value, timestamp);
//     }
//     std::atomic<uint64_t> gets_{0};
//   };
//
// Put, Merge and the other updates go to the calls of the same name of the base, and not to Write
// of the wrapper: a class that looks at every write overrides all of them. Shorthands of DB that
// are not virtual (such as Get without a column family) call the virtual form of the wrapper.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"

namespace varve {

// A database over another one, its base. Thread safety: as DB. Close and the destructor close the
// base database. If the wrapper shares it, the base stays open until its last owner releases it.
class VARVE_EXPORT StackableDB : public DB {
 public:
  // Takes ownership of `db`.
  explicit StackableDB(DB* db) : db_(db) {}
  // Shares ownership of `db`, which is deleted with its last owner.
  explicit StackableDB(std::shared_ptr<DB> db) : db_(db.get()), shared_db_(std::move(db)) {}
  ~StackableDB() override {
    if (shared_db_ == nullptr) delete db_;
  }

  // Returns the database that calls are forwarded to; it belongs to this object.
  virtual DB* GetBaseDB() { return db_; }
  // Returns the innermost database below all wrappers.
  DB* GetRootDB() override { return db_->GetRootDB(); }

  // Closes the base, so that calls of the wrapper return ShutdownInProgress too.
  Status Close() override { return db_->Close(); }
  Status Resume() override { return db_->Resume(); }

  Status CreateColumnFamily(const ColumnFamilyOptions& options,
                            const std::string& column_family_name,
                            ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamily(options, column_family_name, handle);
  }
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& column_family_names,
                              std::vector<ColumnFamilyHandle*>* handles) override {
    return db_->CreateColumnFamilies(options, column_family_names, handles);
  }
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles) override {
    return db_->CreateColumnFamilies(column_families, handles);
  }
  Status DropColumnFamily(ColumnFamilyHandle* column_family) override {
    return db_->DropColumnFamily(column_family);
  }
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->DropColumnFamilies(column_families);
  }
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) override {
    return db_->DestroyColumnFamilyHandle(column_family);
  }
  ColumnFamilyHandle* DefaultColumnFamily() const override { return db_->DefaultColumnFamily(); }

  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override {
    return db_->Put(options, column_family, key, value);
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& ts, const Slice& value) override {
    return db_->Put(options, column_family, key, ts, value);
  }
  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                const Slice& key) override {
    return db_->Delete(options, column_family, key);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                const Slice& ts) override {
    return db_->Delete(options, column_family, key, ts);
  }
  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key) override {
    return db_->SingleDelete(options, column_family, key);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key, const Slice& ts) override {
    return db_->SingleDelete(options, column_family, key, ts);
  }
  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key) override {
    return db_->DeleteRange(options, column_family, begin_key, end_key);
  }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key, const Slice& ts) override {
    return db_->DeleteRange(options, column_family, begin_key, end_key, ts);
  }
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override {
    return db_->Merge(options, column_family, key, value);
  }
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& ts, const Slice& value) override {
    return db_->Merge(options, column_family, key, ts, value);
  }
  using DB::PutEntity;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override {
    return db_->PutEntity(options, column_family, key, columns);
  }
  Status PutEntity(const WriteOptions& options, const Slice& key,
                   const AttributeGroups& attribute_groups) override {
    return db_->PutEntity(options, key, attribute_groups);
  }
  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    return db_->Write(options, updates);
  }
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override {
    return db_->WriteWithCallback(options, updates, callback);
  }

  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override {
    return db_->Get(options, column_family, key, value, timestamp);
  }
  using DB::GetMergeOperands;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* merge_operands,
                          GetMergeOperandsOptions* get_merge_operands_options,
                          int* number_of_operands) override {
    return db_->GetMergeOperands(options, column_family, key, merge_operands,
                                 get_merge_operands_options, number_of_operands);
  }
  using DB::MultiGet;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override {
    db_->MultiGet(options, num_keys, column_families, keys, values, timestamps, statuses,
                  sorted_input);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override {
    db_->MultiGet(options, column_family, num_keys, keys, values, timestamps, statuses,
                  sorted_input);
  }
  using DB::GetEntity;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   PinnableWideColumns* columns) override {
    return db_->GetEntity(options, column_family, key, columns);
  }
  Status GetEntity(const ReadOptions& options, const Slice& key,
                   PinnableAttributeGroups* result) override {
    return db_->GetEntity(options, key, result);
  }
  using DB::MultiGetEntity;
  void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                      size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                      Status* statuses, bool sorted_input) override {
    db_->MultiGetEntity(options, column_family, num_keys, keys, results, statuses, sorted_input);
  }
  void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                      ColumnFamilyHandle** column_families, const Slice* keys,
                      PinnableWideColumns* results, Status* statuses, bool sorted_input) override {
    db_->MultiGetEntity(options, num_keys, column_families, keys, results, statuses, sorted_input);
  }
  void MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                      PinnableAttributeGroups* results) override {
    db_->MultiGetEntity(options, num_keys, keys, results);
  }
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override {
    return db_->KeyMayExist(options, column_family, key, value, timestamp, value_found);
  }
  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override {
    return db_->NewIterator(options, column_family);
  }
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override {
    return db_->NewIterators(options, column_families, iterators);
  }
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->NewCoalescingIterator(options, column_families);
  }
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->NewAttributeGroupIterator(options, column_families);
  }
  const Snapshot* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const Snapshot* snapshot) override { db_->ReleaseSnapshot(snapshot); }

  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                   std::string* value) override {
    return db_->GetProperty(column_family, property, value);
  }
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      std::map<std::string, std::string>* value) override {
    return db_->GetMapProperty(column_family, property, value);
  }
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      uint64_t* value) override {
    return db_->GetIntProperty(column_family, property, value);
  }
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override {
    return db_->GetAggregatedIntProperty(property, value);
  }
  Status ResetStats() override { return db_->ResetStats(); }
  Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                         std::unique_ptr<StatsHistoryIterator>* stats_iterator) override;

  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const SizeApproximationOptions& options,
                             ColumnFamilyHandle* column_family, const Range* ranges, int n,
                             uint64_t* sizes) override {
    return db_->GetApproximateSizes(options, column_family, ranges, n, sizes);
  }
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                   uint64_t* count, uint64_t* size) override {
    db_->GetApproximateMemTableStats(column_family, range, count, size);
  }

  using DB::CompactRange;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                      const Slice* begin, const Slice* end) override {
    return db_->CompactRange(options, column_family, begin, end);
  }
  using DB::CompactFiles;
  Status CompactFiles(const CompactionOptions& compact_options, ColumnFamilyHandle* column_family,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id, std::vector<std::string>* output_file_names,
                      CompactionJobInfo* compaction_job_info) override {
    return db_->CompactFiles(compact_options, column_family, input_file_names, output_level,
                             output_path_id, output_file_names, compaction_job_info);
  }
  Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                             const Slice* end) override {
    return db_->SuggestCompactRange(column_family, begin, end);
  }
  Status WaitForCompact(const WaitForCompactOptions& options) override {
    return db_->WaitForCompact(options);
  }
  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* column_family,
                    const std::unordered_map<std::string, std::string>& new_options) override {
    return db_->SetOptions(column_family, new_options);
  }
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) override {
    return db_->SetDBOptions(new_options);
  }
  Status PauseBackgroundWork() override { return db_->PauseBackgroundWork(); }
  Status ContinueBackgroundWork() override { return db_->ContinueBackgroundWork(); }
  Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) override {
    return db_->EnableAutoCompaction(column_family_handles);
  }
  void DisableManualCompaction() override { db_->DisableManualCompaction(); }
  void EnableManualCompaction() override { db_->EnableManualCompaction(); }
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* column_family) override {
    return db_->NumberLevels(column_family);
  }
  using DB::MaxMemCompactionLevel;
  int MaxMemCompactionLevel(ColumnFamilyHandle* column_family) override {
    return db_->MaxMemCompactionLevel(column_family);
  }
  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) override {
    return db_->Level0StopWriteTrigger(column_family);
  }
  const std::string& GetName() const override { return db_->GetName(); }
  Env* GetEnv() const override { return db_->GetEnv(); }
  FileSystem* GetFileSystem() const override { return db_->GetFileSystem(); }
  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* column_family) const override {
    return db_->GetOptions(column_family);
  }
  DBOptions GetDBOptions() const override { return db_->GetDBOptions(); }

  using DB::Flush;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) override {
    return db_->Flush(options, column_family);
  }
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->Flush(options, column_families);
  }
  Status FlushWAL(bool sync) override { return db_->FlushWAL(sync); }
  Status FlushWAL(const FlushWALOptions& options) override { return db_->FlushWAL(options); }
  Status SyncWAL() override { return db_->SyncWAL(); }
  Status LockWAL() override { return db_->LockWAL(); }
  Status UnlockWAL() override { return db_->UnlockWAL(); }
  SequenceNumber GetLatestSequenceNumber() const override { return db_->GetLatestSequenceNumber(); }
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string ts_low) override {
    return db_->IncreaseFullHistoryTsLow(column_family, std::move(ts_low));
  }
  Status GetFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string* ts_low) override {
    return db_->GetFullHistoryTsLow(column_family, ts_low);
  }
  Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* column_family,
                                       std::string* newest_timestamp) override {
    return db_->GetNewestUserDefinedTimestamp(column_family, newest_timestamp);
  }

  Status DisableFileDeletions() override { return db_->DisableFileDeletions(); }
  Status EnableFileDeletions() override { return db_->EnableFileDeletions(); }
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable = true) override {
    return db_->GetLiveFiles(files, manifest_file_size, flush_memtable);
  }
  Status GetSortedWalFiles(VectorLogPtr& files) override { return db_->GetSortedWalFiles(files); }
  Status GetCurrentWalFile(std::unique_ptr<LogFile>* current_log_file) override {
    return db_->GetCurrentWalFile(current_log_file);
  }
  Status GetUpdatesSince(SequenceNumber seq_number, std::unique_ptr<TransactionLogIterator>* iter,
                         const TransactionLogIterator::ReadOptions& read_options) override {
    return db_->GetUpdatesSince(seq_number, iter, read_options);
  }
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                 std::vector<LiveFileStorageInfo>* files) override {
    return db_->GetLiveFilesStorageInfo(options, files);
  }
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override {
    return db_->GetLiveFilesChecksumInfo(checksum_list);
  }
  Status OpenChangeStream(const ChangeStreamOptions& options,
                          std::unique_ptr<ChangeStream>* stream) override {
    return db_->OpenChangeStream(options, stream);
  }
  Status DropChangeStream(const std::string& name) override { return db_->DropChangeStream(name); }
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override {
    return db_->GetCreationTimeOfOldestFile(creation_time);
  }
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override {
    db_->GetLiveFilesMetaData(metadata);
  }
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               ColumnFamilyMetaData* metadata) override {
    db_->GetColumnFamilyMetaData(column_family, metadata);
  }
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override {
    db_->GetAllColumnFamilyMetaData(metadata);
  }
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* column_family,
                            const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) override {
    return db_->IngestExternalFile(column_family, external_files, options);
  }
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override {
    return db_->IngestExternalFiles(args);
  }
  using DB::PrepareFileIngestion;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override {
    return db_->PrepareFileIngestion(args, handle);
  }
  Status CommitFileIngestionHandles(const std::vector<FileIngestionHandle*>& handles) override {
    return db_->CommitFileIngestionHandles(handles);
  }
  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamilyWithImport(options, column_family_name, import_options, metadatas,
                                             handle);
  }
  Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                          const Slice& end_key) override {
    return db_->ClipColumnFamily(column_family, begin_key, end_key);
  }
  Status PromoteL0(ColumnFamilyHandle* column_family, int target_level) override {
    return db_->PromoteL0(column_family, target_level);
  }
  Status Excise(ColumnFamilyHandle* column_family, const RangeOpt& range) override {
    return db_->Excise(column_family, range);
  }
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& read_options) override {
    return db_->VerifyChecksum(read_options);
  }
  Status VerifyFileChecksums(const ReadOptions& read_options) override {
    return db_->VerifyFileChecksums(read_options);
  }
  Status GetDbIdentity(std::string& identity) const override {
    return db_->GetDbIdentity(identity);
  }
  Status GetDbSessionId(std::string& session_id) const override {
    return db_->GetDbSessionId(session_id);
  }
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                  TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfAllTables(column_family, props);
  }
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                      std::size_t n, TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfTablesInRange(column_family, range, n, props);
  }
  using DB::DeleteFilesInRanges;
  Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangePtr* ranges, size_t n,
                             bool include_end = true) override {
    return db_->DeleteFilesInRanges(column_family, ranges, n, include_end);
  }
  void CancelAllBackgroundWork(bool wait) override { db_->CancelAllBackgroundWork(wait); }
  Status TryCatchUpWithPrimary() override { return db_->TryCatchUpWithPrimary(); }
  Status Promote(const PromoteOptions& options) override { return db_->Promote(options); }
  Status GetSecondaryLag(SecondaryLag* lag) override { return db_->GetSecondaryLag(lag); }
  Status StartTrace(const TraceOptions& options,
                    std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartTrace(options, std::move(trace_writer));
  }
  Status EndTrace() override { return db_->EndTrace(); }
  Status StartBlockCacheTrace(const TraceOptions& options,
                              std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartBlockCacheTrace(options, std::move(trace_writer));
  }
  Status EndBlockCacheTrace() override { return db_->EndBlockCacheTrace(); }
  Status StartIOTrace(const TraceOptions& options,
                      std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartIOTrace(options, std::move(trace_writer));
  }
  Status EndIOTrace() override { return db_->EndIOTrace(); }
  // Replays on the base database, whose calls are those of a trace.
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                            std::unique_ptr<TraceReader>&& reader,
                            std::unique_ptr<Replayer>* replayer) override {
    return db_->NewDefaultReplayer(handles, std::move(reader), replayer);
  }

 protected:
  // The base database, never null.
  DB* const db_;

 private:
  const std::shared_ptr<DB> shared_db_;  // null: db_ is owned
};

}  // namespace varve
