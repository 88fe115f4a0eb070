// SPDX-License-Identifier: Apache-2.0
// Implements the defaults of FileSystem and the FS* file types.

#include "varve/file_system.h"

#include <algorithm>

#include "varve/system_clock.h"

#include "util/env/info_log.h"

namespace varve {

// A request id belongs to the caller of SetRequestId, and may be destroyed before a copy is. So a
// copy owns a string of its own and points at that, never at the original's.
IODebugContext::IODebugContext(const IODebugContext& other)
    : file_path(other.file_path),
      counters(other.counters),
      msg(other.msg),
      trace_data(other.trace_data),
      cost_info(other.cost_info) {
  if (other.request_id != nullptr) {
    own_request_id_ = *other.request_id;
    request_id = &own_request_id_;
  }
}

IODebugContext& IODebugContext::operator=(const IODebugContext& other) {
  if (this == &other) return *this;
  file_path = other.file_path;
  counters = other.counters;
  msg = other.msg;
  trace_data = other.trace_data;
  cost_info = other.cost_info;
  request_id = nullptr;
  if (other.request_id != nullptr) {
    own_request_id_ = *other.request_id;
    request_id = &own_request_id_;
  }
  return *this;
}

std::string IODebugContext::ToString() const {
  std::string out = file_path + ", ";
  for (const auto& [name, value] : counters) out += name + " = " + std::to_string(value) + ",";
  return out + msg;
}

Status FileSystem::RegisterDbPaths(const std::vector<std::string>&) {
  return Status::OK();
}

Status FileSystem::UnregisterDbPaths(const std::vector<std::string>&) {
  return Status::OK();
}

IOStatus FileSystem::ReopenWritableFile(const std::string&, const FileOptions&,
                                        std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  result->reset();
  return IOStatus::NotSupported("ReopenWritableFile", Name());
}

IOStatus FileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                       const FileOptions& file_opts,
                                       std::unique_ptr<FSWritableFile>* result,
                                       IODebugContext* dbg) {
  result->reset();
  IOStatus s = RenameFile(old_fname, fname, file_opts.io_options, dbg);
  return s.ok() ? NewWritableFile(fname, file_opts, result, dbg) : s;
}

IOStatus FileSystem::NewRandomRWFile(const std::string&, const FileOptions&,
                                     std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  result->reset();
  return IOStatus::NotSupported("NewRandomRWFile", Name());
}

IOStatus FileSystem::NewMemoryMappedFileBuffer(const std::string&,
                                               std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  return IOStatus::NotSupported("NewMemoryMappedFileBuffer", Name());
}

// Files that vanish during the call are left out, like in Env::GetChildrenFileAttributes.
IOStatus FileSystem::GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                               std::vector<FileAttributes>* result,
                                               IODebugContext* dbg) {
  result->clear();
  std::vector<std::string> names;
  IOStatus s = GetChildren(dir, options, &names, dbg);
  if (!s.ok()) return s;
  for (std::string& name : names) {
    const std::string path = dir + "/" + name;
    uint64_t size = 0;
    s = GetFileSize(path, options, &size, dbg);
    if (s.ok()) {
      result->push_back(FileAttributes{std::move(name), size});
    } else if (!FileExists(path, options, dbg).IsNotFound()) {
      result->clear();
      return s;
    }
  }
  return IOStatus::OK();
}

IOStatus FileSystem::Truncate(const std::string&, size_t, const IOOptions&, IODebugContext*) {
  return IOStatus::NotSupported("Truncate", Name());
}

IOStatus FileSystem::LinkFile(const std::string&, const std::string&, const IOOptions&,
                              IODebugContext*) {
  return IOStatus::NotSupported("LinkFile", Name());
}

// Serves files that are not open for writing here, such as ingested tables and replayed logs.
// Reopening must not truncate them, which is why this does not use NewWritableFile. A file system
// that cannot reopen files answers NotSupported.
IOStatus FileSystem::SyncFile(const std::string& fname, const FileOptions& file_options,
                              const IOOptions& io_options, bool use_fsync, IODebugContext* dbg) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = ReopenWritableFile(fname, file_options, &file, dbg);
  if (!s.ok()) return s;
  s = use_fsync ? file->Fsync(io_options, dbg) : file->Sync(io_options, dbg);
  IOStatus closed = file->Close(io_options, dbg);
  return s.ok() ? closed : s;
}

IOStatus FileSystem::NumFileLinks(const std::string&, const IOOptions&, uint64_t*,
                                  IODebugContext*) {
  return IOStatus::NotSupported("NumFileLinks", Name());
}

IOStatus FileSystem::PunchHole(const std::string&, uint64_t, uint64_t, const IOOptions&,
                               IODebugContext*) {
  return IOStatus::NotSupported("PunchHole", Name());
}

IOStatus FileSystem::AreFilesSame(const std::string&, const std::string&, const IOOptions&, bool*,
                                  IODebugContext*) {
  return IOStatus::NotSupported("AreFilesSame", Name());
}

IOStatus FileSystem::NewLogger(const std::string& fname, const IOOptions& io_opts,
                               std::shared_ptr<Logger>* result, IODebugContext* dbg) {
  return NewFileLogger(this, SystemClock::Default(), fname, io_opts, result, dbg);
}

void FileSystem::SanitizeFileOptions(FileOptions*) const {}

FileOptions FileSystem::OptimizeForLogRead(const FileOptions& file_options) const {
  FileOptions out = file_options;
  out.use_direct_reads = false;
  return out;
}

FileOptions FileSystem::OptimizeForManifestRead(const FileOptions& file_options) const {
  FileOptions out = file_options;
  out.use_direct_reads = false;
  return out;
}

FileOptions FileSystem::OptimizeForManifestWrite(const FileOptions& file_options) const {
  return file_options;
}

FileOptions FileSystem::OptimizeForCompactionTableWrite(const FileOptions& file_options,
                                                        const ImmutableDBOptions&) const {
  return file_options;
}

FileOptions FileSystem::OptimizeForCompactionTableRead(const FileOptions& file_options,
                                                       const ImmutableDBOptions&) const {
  return file_options;
}

FileOptions FileSystem::OptimizeForBlobFileRead(const FileOptions& file_options,
                                                const ImmutableDBOptions&) const {
  return file_options;
}

IOStatus FileSystem::GetFreeSpace(const std::string&, const IOOptions&, uint64_t*,
                                  IODebugContext*) {
  return IOStatus::NotSupported("GetFreeSpace", Name());
}

// These two are right for the ReadAsync below, which has finished when it returns: nothing is ever
// in flight.
IOStatus FileSystem::Poll(std::vector<void*>&, size_t) {
  return IOStatus::OK();
}

IOStatus FileSystem::AbortIO(std::vector<void*>&) {
  return IOStatus::OK();
}

void FileSystem::DiscardCacheForDirectory(const std::string&) {}

void FileSystem::SupportedOps(int64_t& supported_ops) {
  supported_ops = 0;
}

IOStatus FSSequentialFile::InvalidateCache(size_t, size_t) {
  return IOStatus::NotSupported("InvalidateCache");
}

IOStatus FSSequentialFile::PositionedRead(uint64_t, size_t, const IOOptions&, Slice*, char*,
                                          IODebugContext*) {
  return IOStatus::NotSupported("PositionedRead");
}

IOStatus FSRandomAccessFile::Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) {
  return IOStatus::NotSupported("Prefetch");
}

IOStatus FSRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs,
                                       const IOOptions& options, IODebugContext* dbg) {
  for (size_t i = 0; i < num_reqs; ++i) {
    FSReadRequest& r = reqs[i];
    r.status = Read(r.offset, r.len, options, &r.result, r.scratch, dbg);
  }
  return IOStatus::OK();
}

size_t FSRandomAccessFile::GetUniqueId(char*, size_t) const {
  return 0;
}

void FSRandomAccessFile::Hint(AccessPattern) {}

IOStatus FSRandomAccessFile::InvalidateCache(size_t, size_t) {
  return IOStatus::NotSupported("InvalidateCache");
}

// Reads synchronously and calls back before it returns. The null handle tells the caller that there
// is nothing to poll, abort or delete.
IOStatus FSRandomAccessFile::ReadAsync(FSReadRequest& req, const IOOptions& opts,
                                       std::function<void(FSReadRequest&, void*)> cb, void* cb_arg,
                                       void** io_handle, IOHandleDeleter*, IODebugContext* dbg) {
  if (io_handle != nullptr) *io_handle = nullptr;
  req.status = Read(req.offset, req.len, opts, &req.result, req.scratch, dbg);
  cb(req, cb_arg);
  return IOStatus::OK();
}

IOStatus FSRandomAccessFile::GetFileSize(uint64_t*) {
  return IOStatus::NotSupported("GetFileSize");
}

IOStatus FSWritableFile::Append(const Slice& data, const IOOptions& options,
                                const DataVerificationInfo&, IODebugContext* dbg) {
  return Append(data, options, dbg);
}

IOStatus FSWritableFile::PositionedAppend(const Slice&, uint64_t, const IOOptions&,
                                          IODebugContext*) {
  return IOStatus::NotSupported("PositionedAppend");
}

IOStatus FSWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                          const IOOptions& options, const DataVerificationInfo&,
                                          IODebugContext* dbg) {
  return PositionedAppend(data, offset, options, dbg);
}

IOStatus FSWritableFile::Truncate(uint64_t, const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

uint64_t FSWritableFile::GetFileSize(const IOOptions&, IODebugContext*) {
  return 0;
}

size_t FSWritableFile::GetUniqueId(char*, size_t) const {
  return 0;
}

IOStatus FSWritableFile::InvalidateCache(size_t, size_t) {
  return IOStatus::NotSupported("InvalidateCache");
}

IOStatus FSWritableFile::RangeSync(uint64_t, uint64_t, const IOOptions& options,
                                   IODebugContext* dbg) {
  return strict_bytes_per_sync_ ? Sync(options, dbg) : IOStatus::OK();
}

// Reserves whole blocks ahead of the write at [offset, offset + len), each block once. The counter
// moves before the allocation is tried, so a file system that cannot allocate is asked once per
// block and not once per write.
void FSWritableFile::PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                                  IODebugContext* dbg) {
  const size_t block = preallocation_block_size_;
  if (block == 0) return;
  const size_t blocks_needed = (offset + len) / block + ((offset + len) % block != 0 ? 1 : 0);
  if (blocks_needed <= last_preallocated_block_) return;
  const size_t first = last_preallocated_block_;
  last_preallocated_block_ = blocks_needed;
  // Preallocation is an optimisation; the write itself reports a full disk.
  (void)Allocate(first * block, (blocks_needed - first) * block, options, dbg).ok();
}

IOStatus FSWritableFile::Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

IOStatus FSDirectory::FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                          const DirFsyncOptions&) {
  return Fsync(options, dbg);
}

IOStatus FSDirectory::Close(const IOOptions&, IODebugContext*) {
  return IOStatus::NotSupported("Close");
}

size_t FSDirectory::GetUniqueId(char*, size_t) const {
  return 0;
}

}  // namespace varve
