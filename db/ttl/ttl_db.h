// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlDb implements DBWithTTL on an open database: calls that write values append stamps to them,
// calls that return values judge the stamps and remove them, and all others go to the database
// unchanged.
//
//      Put "v"    -->  TtlDb  -->  DB: "v" + time of writing
//      Get        <--  TtlDb  <--  DB: stamp + ttl before the reader's time: NotFound, else "v"
//      compaction filter and merge operator: see the value without the stamp
//
// A family's lifetime is not stored with its values, so SetTtl changes the lifetime of all existing
// entries. PutWithTtl stores a stamp with which its entry expires after its own lifetime.
//
// The stamp lies at the end of the value, where the underlying database does not know of it. So a
// database opened without lifetimes shows values with their stamps, and values written without
// lifetimes are reported as corrupt here.

#include <memory>
#include <string>
#include <vector>

#include "varve/utilities/db_ttl.h"

#include "db/read/family_iterators.h"
#include "db/ttl/ttl_state.h"

namespace varve {

// Returns the options of a family for the underlying database: the user's filter and merge operator
// are wrapped in those that know stamps.
ColumnFamilyOptions WithTtl(const ColumnFamilyOptions& options,
                            const std::shared_ptr<TtlState>& state,
                            const std::shared_ptr<TtlFamily>& family);

// Returns OK if entries of such a family can have lifetimes. NotSupported: its keys have user
// timestamps.
Status CheckTtlFamily(const ColumnFamilyDescriptor& family);

// Thread safety: that of DB.
class TtlDb final : public DBWithTTL {
 public:
  // Takes ownership of `db`; the state knows its families, and is started.
  TtlDb(DB* db, std::shared_ptr<TtlState> state) : DBWithTTL(db), state_(std::move(state)) {}
  // The state may outlive the database, because iterators share it.
  ~TtlDb() override { state_->Stop(); }

  // Saves the last time that the clock has used, in place of the later one that it was granted.
  Status Close() override {
    state_->clock().Settle();
    return db_->Close();
  }

  // A family that is created without a lifetime has an endless one.
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override {
    return CreateColumnFamilyWithTtl(options, name, handle, /*ttl=*/0);
  }
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options, const std::string& name,
                                   ColumnFamilyHandle** handle, int ttl) override;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;
  void SetTtl(int32_t ttl) override { SetTtl(DefaultColumnFamily(), ttl); }
  void SetTtl(ColumnFamilyHandle* column_family, int32_t ttl) override;
  Status GetTtl(ColumnFamilyHandle* column_family, int32_t* ttl) override;

  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override;
  Status PutWithTtl(const WriteOptions& options, ColumnFamilyHandle* column_family,
                    const Slice& key, const Slice& value, int32_t ttl) override;
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override;
  // An entity has no place for a stamp.
  using DB::PutEntity;
  Status PutEntity(const WriteOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                   const Slice& /*key*/, const WideColumns& /*columns*/) override {
    return NoEntities("PutEntity");
  }
  Status PutEntity(const WriteOptions& /*options*/, const Slice& /*key*/,
                   const AttributeGroups& /*attribute_groups*/) override {
    return NoEntities("PutEntity");
  }
  using DB::GetEntity;
  Status GetEntity(const ReadOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                   const Slice& /*key*/, PinnableWideColumns* /*columns*/) override {
    return NoEntities("GetEntity");
  }
  Status GetEntity(const ReadOptions& /*options*/, const Slice& /*key*/,
                   PinnableAttributeGroups* /*result*/) override {
    return NoEntities("GetEntity");
  }
  using DB::MultiGetEntity;
  void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                      size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                      Status* statuses, bool sorted_input) override {
    DB::MultiGetEntity(options, column_family, num_keys, keys, results, statuses, sorted_input);
  }
  void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                      ColumnFamilyHandle** column_families, const Slice* keys,
                      PinnableWideColumns* results, Status* statuses, bool sorted_input) override {
    DB::MultiGetEntity(options, num_keys, column_families, keys, results, statuses, sorted_input);
  }
  void MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                      PinnableAttributeGroups* results) override {
    DB::MultiGetEntity(options, num_keys, keys, results);
  }
  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    return WriteWithCallback(options, updates, nullptr);
  }
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;

  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* operands,
                          GetMergeOperandsOptions* operand_options, int* count) override;
  using DB::MultiGet;
  // All keys of a call are judged by one time.
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override;
  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override;
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override;
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return MakeCoalescingIterator(
        [&](std::vector<Iterator*>* made) { return NewIterators(options, column_families, made); },
        column_families);
  }
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return MakeAttributeGroupIterator(
        [&](std::vector<Iterator*>* made) { return NewIterators(options, column_families, made); },
        column_families);
  }
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;

  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* column_family,
                            const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override;
  using DB::PrepareFileIngestion;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override;

 private:
  // Registers the family of *handle in the state; does nothing if `handle` or *handle is null.
  void NoteCreated(ColumnFamilyHandle* const* handle, const std::shared_ptr<TtlFamily>& family);
  // Returns the error of calls with wide columns.
  static Status NoEntities(const char* call) {
    return Status::NotSupported(std::string("DBWithTTL::") + call,
                                "lifetimes are of plain values and merge operands");
  }
  // Returns the family of the handle; nullptr, with *s set, if the handle is null or of another
  // database.
  TtlFamily* FamilyOf(ColumnFamilyHandle* handle, Status* s) const;
  // Returns the time by which a read with these options judges entries. Must be called after the
  // database has served the read.
  uint32_t TimeOf(const ReadOptions& options);
  // Removes the stamp of a stored value. Returns NotFound if it is expired at `now`, and Corruption
  // if it has no stamp; the value is empty then.
  static Status Show(const TtlFamily& family, uint32_t now, PinnableSlice* value);
  // Leaves in `operands` those of the *count stored operands of a key that still count, without
  // their stamps, and sets *count to their number. Returns NotFound if the chain is expired as a
  // whole, and Corruption if an operand has no stamp; *count is 0 then.
  static Status ShowOperands(const TtlFamily& family, uint32_t now, PinnableSlice* operands,
                             int* count);

  // Shared with filters, merge operators and iterators, which may outlive this object.
  const std::shared_ptr<TtlState> state_;
};

}  // namespace varve
