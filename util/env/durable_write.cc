// SPDX-License-Identifier: Apache-2.0
#include "util/env/durable_write.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "varve/env.h"

#include "util/base/canary.h"
#include "util/env/file_names.h"

namespace varve {

namespace {

// Bytes of one read of a file whose size is not trusted.
constexpr size_t kReadPiece = 64 * 1024;

IOOptions MetadataOptions() {
  IOOptions options;
  options.type = IOType::kMetadata;
  return options;
}

// Leaves `path` with durable contents, though its name may still be lost. The file is closed on
// every path, and the first error counts: a failed close after a good sync is reported too, because
// some network file systems report a failed write only there.
IOStatus WriteAndSync(FileSystem* fs, const std::string& path, const Slice& contents) {
  const IOOptions io = MetadataOptions();
  FileOptions file_options;
  file_options.io_options = io;
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(path, file_options, &file, nullptr);
  if (!s.ok()) return s;
  s = file->Append(contents, io, nullptr);
  if (s.ok()) s = file->Flush(io, nullptr);
  if (s.ok() && !VARVE_CANARY(kRenameBeforeSync)) s = file->Fsync(io, nullptr);
  IOStatus closed = file->Close(io, nullptr);
  return s.ok() ? closed : s;
}

}  // namespace

IOStatus SyncDirectory(FileSystem* fs, const std::string& dir, const DirFsyncOptions& reason) {
  const IOOptions io = MetadataOptions();
  std::unique_ptr<FSDirectory> handle;
  IOStatus s = fs->NewDirectory(dir, io, &handle, nullptr);
  if (!s.ok()) return s;
  s = handle->FsyncWithDirOptions(io, nullptr, reason);
  // The result of closing does not affect what the sync guarantees.
  (void)handle->Close(io, nullptr).ok();
  return s;
}

// The order is what makes the file atomic:
//
//   write temp -> fsync temp -> rename to final -> fsync directory
//        |            |             |                 |
//   nothing seen   bytes safe   name switched     name safe
//
// Without the first fsync a crash may keep the rename and lose the bytes, and recovery reads an
// empty final file. Without the second one the old file may come back, although the caller has told
// others that the new one is there.
IOStatus WriteFileDurably(FileSystem* fs, const std::string& dir, const std::string& temp_name,
                          const std::string& final_name, const Slice& contents,
                          FSDirectory* open_dir, bool* in_doubt) {
  const IOOptions io = MetadataOptions();
  const std::string temp_path = dir + "/" + temp_name;
  const std::string final_path = dir + "/" + final_name;
  IOStatus s = WriteAndSync(fs, temp_path, contents);
  // From the rename on, an error does not say which of the two contents the name has: a network
  // file system may carry a rename out and lose the answer.
  if (in_doubt != nullptr) *in_doubt = s.ok();
  if (s.ok()) s = fs->RenameFile(temp_path, final_path, io, nullptr);
  if (!s.ok()) {
    // If deletion fails, the next open removes the file, because it has a temporary's name.
    (void)fs->DeleteFile(temp_path, io, nullptr).ok();
    return s;
  }
  const DirFsyncOptions reason{std::string(final_path)};
  s = open_dir != nullptr ? open_dir->FsyncWithDirOptions(io, nullptr, reason)
                          : SyncDirectory(fs, dir, reason);
  if (in_doubt != nullptr) *in_doubt = !s.ok();
  return s;
}

// CURRENT holds the base name of the MANIFEST and a newline. Recovery takes a CURRENT without the
// newline for a torn one.
IOStatus SetCurrentFile(FileSystem* fs, const std::string& dbname, uint64_t manifest_number,
                        FSDirectory* open_dir, bool* in_doubt) {
  const std::string temp_path = TempFileName(dbname, manifest_number);
  return WriteFileDurably(fs, dbname, temp_path.substr(dbname.size() + 1), "CURRENT",
                          DescriptorFileBaseName(manifest_number) + "\n", open_dir, in_doubt);
}

IOStatus ReadFileToString(FileSystem* fs, const std::string& fname, uint64_t max_size,
                          std::string* data) {
  data->clear();
  const IOOptions io = MetadataOptions();
  FileOptions file_options;
  file_options.io_options = io;
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(fname, file_options, &file, nullptr);
  if (!s.ok()) return s;
  // The file is not asked for its size: it may grow while it is read, and a hostile size must not
  // decide how much memory is allocated. The limit is checked piece by piece instead.
  const auto scratch = std::make_unique<char[]>(kReadPiece);
  std::string read;
  for (;;) {
    Slice piece;
    s = file->Read(kReadPiece, io, &piece, scratch.get(), nullptr);
    if (!s.ok()) return s;
    if (piece.empty()) break;
    if (piece.size() > max_size - read.size()) {
      return IOStatus::Corruption(
          fname, "longer than the limit of " + std::to_string(max_size) + " bytes");
    }
    read.append(piece.data(), piece.size());
  }
  *data = std::move(read);
  return s;
}

// Implements the public helper, which promises less than WriteFileDurably: the file is written in
// place, so a crash may leave a part of it, and its directory is not synced.
Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname, bool should_sync) {
  std::unique_ptr<WritableFile> file;
  Status s = env->NewWritableFile(fname, &file, EnvOptions());
  if (!s.ok()) return s;
  s = file->Append(data);
  if (s.ok() && should_sync) s = file->Sync();
  Status closed = file->Close();
  if (s.ok()) s = closed;
  if (!s.ok()) (void)env->DeleteFile(fname).ok();
  return s;
}

Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  return ReadFileToString(env->GetFileSystem().get(), fname, std::numeric_limits<uint64_t>::max(),
                          data);
}

}  // namespace varve
