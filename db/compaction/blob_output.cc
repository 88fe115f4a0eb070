// SPDX-License-Identifier: Apache-2.0

// Decides for each surviving entry where its value goes, and writes blob files. Each entry takes
// one of these ways:
//
//      value, small             stays in the table
//      value, large             Separate: record in the open blob file; the table gets a reference
//      reference, file stays    as it is
//      reference, relocated     value is read, then as a value
//
// Two tallies are kept on the way: the references of the table that is being written, for its
// metadata, and those that were kept, from which the job's garbage follows.

#include "db/compaction/blob_output.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"
#include "util/metrics/statistics.h"

namespace varve {

void BlobTally::Add(const std::vector<BlobShare>& shares) {
  for (const BlobShare& share : shares) {
    BlobGarbage& sum = sums_[share.file];
    sum.number = share.file;
    sum.count += share.count;
    sum.bytes += share.bytes;
  }
}

std::vector<BlobShare> BlobTally::Shares() const {
  std::vector<BlobShare> shares;
  for (const auto& [number, sum] : sums_) shares.push_back({number, sum.count, sum.bytes});
  return shares;
}

// Garbage of the job: what the inputs referred to, less what the outputs still do, for files that
// the version has.
std::vector<BlobGarbage> BlobTally::Without(const BlobTally& left, const BlobFiles& present) const {
  std::vector<BlobGarbage> gone;
  for (const auto& [number, sum] : sums_) {
    BlobGarbage rest = sum;
    const auto found = left.sums_.find(number);
    if (found != left.sums_.end()) {
      VARVE_ASSERT(found->second.count <= sum.count && found->second.bytes <= sum.bytes);
      rest.count -= found->second.count;
      rest.bytes -= found->second.bytes;
    }
    if (rest.count > 0 && present.Find(number) != nullptr) gone.push_back(rest);
  }
  return gone;
}

NewFile AsDataFile(const BlobFileFacts& blobs) {
  NewFile file;
  file.kind = DataFileKind::kBlobs;
  file.number = blobs.number;
  file.size = blobs.FileSize();
  return file;
}

std::vector<NewFile> AsDataFiles(const std::vector<BlobFileFacts>& files) {
  std::vector<NewFile> data_files;
  for (const BlobFileFacts& file : files) data_files.push_back(AsDataFile(file));
  return data_files;
}

// Members are destroyed in reverse order: the builder uses the writer, which uses the checksum.
struct BlobOutput::OpenFile {
  std::string name;
  uint64_t number = 0;
  std::unique_ptr<FileChecksumGenerator> checksum;
  std::unique_ptr<WritableFileWriter> file;
  std::unique_ptr<BlobFileBuilder> builder;
};

BlobOutput::BlobOutput(BlobOutputOptions options) : options_(std::move(options)) {}

BlobOutput::~BlobOutput() {
  // No MANIFEST knows a leftover file: the next open sets it aside.
  for (std::unique_ptr<OpenFile>& open : open_) {
    if (open == nullptr) continue;
    const std::string name = open->name;
    open.reset();
    Delete(name);
  }
  for (const BlobFileFacts& file : finished_) {
    Delete(options_.files->paths->BlobFileName(file.number));
  }
}

void BlobOutput::Delete(const std::string& name) const {
  options_.files->fs->DeleteFile(name, IOOptions(), nullptr).PermitUncheckedError();
}

// Checks the options before it creates the file. With an error *opened does not change.
Status BlobOutput::Open(std::unique_ptr<OpenFile>* opened) {
  const TableOutputContext& context = *options_.files;
  BlobFileBuildOptions build;
  build.number = options_.new_file_number();
  build.column_family_id = options_.column_family_id;
  build.compression = options_.options->blob_compression_type;
  build.statistics = options_.statistics;
  build.clock = context.clock;
  VARVE_RETURN_IF_ERROR(BlobFileBuilder::CheckOptions(build));
  auto made = std::make_unique<OpenFile>();
  made->number = build.number;
  made->name = context.paths->BlobFileName(build.number);
  WritableFileWriter::Options writer;
  writer.stats = options_.statistics;
  writer.write_histogram = BLOB_DB_BLOB_FILE_WRITE_MICROS;
  writer.sync_histogram = BLOB_DB_BLOB_FILE_SYNC_MICROS;
  VARVE_RETURN_IF_ERROR(context.CreateFile(made->name, writer, context.on_create_blobs,
                                           &made->checksum, &made->file));
  made->builder = std::make_unique<BlobFileBuilder>(build, made->file.get());
  *opened = std::move(made);
  return Status::OK();
}

Status BlobOutput::Finish() {
  for (std::unique_ptr<OpenFile>& open : open_) VARVE_RETURN_IF_ERROR(Finish(&open));
  return Status::OK();
}

// A file without values is deleted instead. With an error the file stays open, and the destructor
// deletes it.
Status BlobOutput::Finish(std::unique_ptr<OpenFile>* open) {
  if (*open == nullptr) return Status::OK();
  if ((*open)->builder->blob_count() == 0) {  // The codec has refused all its values.
    const std::string name = (*open)->name;
    open->reset();
    Delete(name);
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR((*open)->builder->Finish());
  // Synced before the edit that adds it, as tables are: a table in force must not refer to values
  // that a power loss takes.
  VARVE_RETURN_IF_ERROR((*open)->file->Sync(options_.files->use_fsync));
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_SYNCED);
  VARVE_RETURN_IF_ERROR((*open)->file->Close());
  BlobFileFacts facts;
  facts.number = (*open)->number;
  facts.count = (*open)->builder->blob_count();
  facts.bytes = (*open)->builder->blob_bytes();
  facts.referred_once = options_.options->punch_holes_in_blob_files;
  VARVE_ASSERT(facts.FileSize() == (*open)->builder->file_size());
  if ((*open)->checksum != nullptr) {
    (*open)->checksum->Finalize();
    facts.checksum.value = (*open)->checksum->GetChecksum();
    facts.checksum.function = (*open)->checksum->Name();
  }
  finished_.push_back(std::move(facts));
  open->reset();
  return Status::OK();
}

std::vector<BlobFileFacts> BlobOutput::TakeFiles() {
  std::ranges::sort(finished_, {}, &BlobFileFacts::number);
  return std::exchange(finished_, {});
}

void BlobOutput::SetType(Slice* key, ValueType type) {
  const SequenceNumber sequence = ExtractSequence(*key);
  const Slice user_key = ExtractUserKey(*key);
  std::string changed;
  changed.reserve(key->size());
  AppendInternalKey(&changed, user_key, sequence, type);
  key_ = std::move(changed);  // *key may point to the old one
  *key = key_;
}

Status BlobOutput::Take(Slice* key, Slice* value) {
  switch (ExtractValueType(*key)) {
    case kTypeValue:
      return IsLarge(*value) ? Separate(Age::kNew, ExtractUserKey(*key), key, value) : Status::OK();
    case kTypeBlobIndex:
      return TakeReference(ExtractUserKey(*key), key, value);
    default:  // Entities, too, stay whole in the table.
      return Status::OK();
  }
}

// Appends the value to the open file of its age, which is opened with its first value and ended
// once it has blob_file_size bytes.
Status BlobOutput::Separate(Age age, const Slice& user_key, Slice* key, Slice* value) {
  std::unique_ptr<OpenFile>& open = open_[static_cast<size_t>(age)];
  if (open == nullptr) VARVE_RETURN_IF_ERROR(Open(&open));
  BlobReference reference;
  const Status s = open->builder->Add(user_key, *value, &reference);
  // The codec refuses the value, which then stays in the table.
  if (s.IsNotSupported()) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  of_table_.Add(user_key, reference);
  if (options_.warms != nullptr) options_.warms->KeepUnread(user_key, reference, *value);
  reference_.clear();
  reference.EncodeTo(&reference_);
  SetType(key, kTypeBlobIndex);
  *value = reference_;
  if (open->builder->file_size() < options_.options->blob_file_size) return Status::OK();
  return Finish(&open);
}

Status BlobOutput::TakeReference(const Slice& user_key, Slice* key, Slice* value) {
  BlobReference reference;
  const Status s = BlobReference::DecodeInDatabase(*value, &reference);
  // The fetcher meets the same error, and adds the key and the table.
  if (!s.ok()) return options_.fetch ? options_.fetch(user_key, *value, &fetched_) : s;
  // A reference to a lost file stays as it is: the other entries must not suffer from it.
  if (options_.relocates && options_.relocates(reference.file_number) &&
      options_.present->Find(reference.file_number) != nullptr) {
    return Relocate(user_key, key, value);
  }
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (!VARVE_CANARY(kForgetBlobReference) || !kept_.empty()) of_table_.Add(user_key, reference);
  kept_.Add(user_key, reference);
  if (options_.dropped != nullptr) options_.dropped->Keep(user_key, reference);
  return Status::OK();
}

Status BlobOutput::Relocate(const Slice& user_key, Slice* key, Slice* value) {
  VARVE_ASSERT(options_.fetch != nullptr);
  fetched_.Reset();
  VARVE_RETURN_IF_ERROR(options_.fetch(user_key, *value, &fetched_));
  RecordTick(options_.statistics, BLOB_DB_GC_NUM_KEYS_RELOCATED);
  RecordTick(options_.statistics, BLOB_DB_GC_BYTES_RELOCATED, fetched_.size());
  // The value is in the table's form first; a large one is separated again, into a new file.
  SetType(key, kTypeValue);
  *value = fetched_;
  return IsLarge(*value) ? Separate(Age::kSurvivor, ExtractUserKey(*key), key, value)
                         : Status::OK();
}

void BlobOutput::DescribeTable(NewFile* file) {
  file->blob_shares = of_table_.Shares();
  file->oldest_blob_file_number = file->blob_shares.empty() ? 0 : file->blob_shares.front().file;
  of_table_.Clear();
}

}  // namespace varve
