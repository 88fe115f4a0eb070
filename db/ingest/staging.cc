// SPDX-License-Identifier: Apache-2.0

// Links or copies files into the staging directory. A link is cheap, but shares the file with its
// owner, so it is made only if the options ask for it (move_files, link_files). A copy belongs to
// the database alone, and may be written to. In both cases the contents are durable when StageFile
// returns; the final name becomes durable with the edit.

#include "db/ingest/staging.h"

#include <memory>

#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/file_checksums.h"
#include "util/env/io_error.h"
#include "util/env/writable_file_writer.h"

namespace varve {

namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

Status CopyFile(const DbContext& context, const std::string& source, const std::string& target) {
  FileSystem* const fs = context.fs().get();
  std::unique_ptr<FSSequentialFile> from;
  VARVE_RETURN_IF_ERROR(fs->NewSequentialFile(source, FileOptions(), &from, nullptr));
  std::unique_ptr<WritableFileWriter> to;
  const FileOptions& file_options = context.file_options();
  VARVE_RETURN_IF_ERROR(WritableFileWriter::Create(
      fs, target, file_options, WritableFileWriter::OptionsFrom(file_options), &to));
  const auto buffer = std::make_unique<char[]>(kCopyBytes);
  for (;;) {
    Slice piece;
    VARVE_RETURN_IF_ERROR(from->Read(kCopyBytes, IOOptions(), &piece, buffer.get(), nullptr));
    if (piece.empty()) break;
    VARVE_RETURN_IF_ERROR(to->Append(piece));
  }
  VARVE_RETURN_IF_ERROR(to->Sync(context.options().use_fsync));
  return to->Close();
}

Status RemoveLeft(FileSystem* fs, const std::string& name) {
  const IOStatus s = fs->DeleteFile(name, IOOptions(), nullptr);
  return s.ok() || IsMissing(s) ? Status::OK() : Status(s);
}

Status LinkFile(const DbContext& context, const std::string& source, const std::string& target) {
  FileSystem* const fs = context.fs().get();
  IOStatus s = fs->LinkFile(source, target, IOOptions(), nullptr);
  // An interrupted ingestion may have left a file with this name.
  if (!s.ok() && fs->DeleteFile(target, IOOptions(), nullptr).ok()) {
    s = fs->LinkFile(source, target, IOOptions(), nullptr);
  }
  if (!s.ok()) return s;
  // The writer of the source may not have synced it.
  return fs->SyncFile(target, context.file_options(), IOOptions(), context.options().use_fsync,
                      nullptr);
}

}  // namespace

StagingWay WayOf(const IngestExternalFileOptions& options) {
  // The sequence number is written into the file, so it must be a copy.
  if (options.write_global_seqno || (!options.move_files && !options.link_files))
    return StagingWay::kCopy;
  return options.failed_move_fall_back_to_copy ? StagingWay::kLinkOrCopy : StagingWay::kLink;
}

Status StageFile(const DbContext& context, const std::string& source, const std::string& target,
                 StagingWay way) {
  FileSystem* const fs = context.fs().get();
  Status s;
  if (way != StagingWay::kCopy) {
    s = LinkFile(context, source, target);
    if (s.ok()) return s;
    if (way == StagingWay::kLink) {
      RemoveLeft(fs, target).PermitUncheckedError();
      return Status::CopyAppendMessage(
          s, "; ", "failed_move_fall_back_to_copy would have the file copied instead");
    }
  }
  // The target may be a hard link to a user's file: a copy must not write through it.
  VARVE_RETURN_IF_ERROR(RemoveLeft(fs, target));
  s = CopyFile(context, source, target);
  if (!s.ok()) fs->DeleteFile(target, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

// Overwrites the eight bytes of the global sequence number in place, so the file must be a copy
// (WayOf).
Status WriteSequence(const DbContext& context, const std::string& path, uint64_t offset,
                     SequenceNumber sequence) {
  std::unique_ptr<FSRandomRWFile> file;
  VARVE_RETURN_IF_ERROR(
      context.fs()->NewRandomRWFile(path, context.file_options(), &file, nullptr));
  char bytes[sizeof(uint64_t)];
  EncodeFixed64(bytes, sequence);
  VARVE_RETURN_IF_ERROR(file->Write(offset, Slice(bytes, sizeof(bytes)), IOOptions(), nullptr));
  VARVE_RETURN_IF_ERROR(file->Sync(IOOptions(), nullptr));
  return file->Close(IOOptions(), nullptr);
}

Status FillInChecksum(const DbContext& context, StagedTable* table, const std::string& function) {
  std::unique_ptr<FileChecksumGenerator> checksum;
  VARVE_RETURN_IF_ERROR(NewFileChecksum(context.options().file_checksum_gen_factory.get(),
                                        table->path, function, &checksum));
  if (checksum == nullptr) return Status::OK();
  VARVE_RETURN_IF_ERROR(
      ChecksumOfFile(context.fs().get(), table->path, context.file_options(), checksum.get()));
  table->file.checksum = {checksum->GetChecksum(), checksum->Name()};
  return Status::OK();
}

}  // namespace varve
