// SPDX-License-Identifier: Apache-2.0

// A table can be read in the order of its file without its comparator, but a search needs it, and
// its name is known only when the table is open. The table is hence opened with the bytewise one,
// and again with the right one if the properties name another.

#include "tools/varve/table_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "varve/file_system.h"

#include "util/base/status_macros.h"
#include "util/env/random_access_file_reader.h"

namespace varve::tool {

namespace {

const Comparator* FindComparator(const std::string& name) {
  const std::array<const Comparator*, 4> known = {BytewiseComparator(), ReverseBytewiseComparator(),
                                                  BytewiseComparatorWithU64Ts(),
                                                  ReverseBytewiseComparatorWithU64Ts()};
  const auto found = std::ranges::find(known, name, &Comparator::Name);
  return found == known.end() ? nullptr : *found;
}

}  // namespace

Status TableFile::Open(const std::string& path, SequenceNumber largest_seq,
                       std::unique_ptr<TableFile>* file) {
  file->reset(new TableFile);
  TableFile& table = **file;
  VARVE_RETURN_IF_ERROR(table.OpenWith(path, largest_seq, BytewiseComparator()));
  const std::string name = table.reader_->properties()->comparator_name;
  if (name.empty() || name == BytewiseComparator()->Name()) return Status::OK();
  const Comparator* comparator = FindComparator(name);
  // A comparator of the user's program. Entries can be walked, blocks can be checked, and only
  // comparisons are out of reach.
  if (comparator == nullptr) {
    table.absent_ = std::make_unique<AbsentComparator>(name);
    comparator = table.absent_.get();
  }
  return table.OpenWith(path, largest_seq, comparator);
}

Status TableFile::OpenWith(const std::string& path, SequenceNumber largest_seq,
                           const Comparator* comparator) {
  FileSystem* const fs = FileSystem::Default().get();
  VARVE_RETURN_IF_ERROR(fs->GetFileSize(path, IOOptions(), &bytes_, nullptr));
  std::unique_ptr<RandomAccessFileReader> reader;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(fs, path, FileOptions(),
                                                     RandomAccessFileReader::Options(), &reader));
  // Before the comparator that it refers to is replaced.
  reader_.reset();
  icmp_ = std::make_unique<InternalKeyComparator>(comparator);
  TableOpenOptions open;
  open.icmp = icmp_.get();
  open.factory = options_.table_factory;
  open.past_cache = true;
  open.file_name = path;
  open.largest_seq = largest_seq;
  return TableReader::Open(open, std::move(reader), bytes_, &reader_);
}

const char* EntryName(ValueType type) {
  switch (type) {
    case kTypeValue:
      return "put";
    case kTypeDeletion:
      return "delete";
    case kTypeSingleDeletion:
      return "single-delete";
    case kTypeMerge:
      return "merge";
    case kTypeRangeDeletion:
      return "delete-range";
    case kTypeDeletionWithTimestamp:
      return "delete-with-timestamp";
    case kTypeLogData:
      return "log-data";
    case kTypeNoop:
      return "noop";
    case kTypeBeginPrepareXID:
      return "begin-prepare";
    case kTypeBeginPersistedPrepareXID:
      return "begin-persisted-prepare";
    case kTypeBeginUnprepareXID:
      return "begin-unprepared";
    case kTypeEndPrepareXID:
      return "end-prepare";
    case kTypeCommitXID:
      return "commit";
    case kTypeCommitXIDAndTimestamp:
      return "commit-with-timestamp";
    case kTypeRollbackXID:
      return "rollback";
    case kTypeBlobIndex:
      return "blob-index";
    case kTypeWideColumnEntity:
      return "entity";
    case kTypeValuePreferredSeqno:
      return "timed-put";
    default:
      return "other";
  }
}

}  // namespace varve::tool
