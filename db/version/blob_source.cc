// SPDX-License-Identifier: Apache-2.0

// A value is looked for in the blob cache first; only then its file is opened and read. No file is
// opened twice at once: FindReader and PinLimited look again when they have the mutex of openings,
// which is held over I/O.
//
// Without max_open_files the BlobFile keeps its reader as long as it lives, and a pin is a bare
// pointer. With it the reader is an entry of the cache that the tables' readers share, and a pin is
// a reference there, so that the least used readers can be closed. FindReader, for callers that
// need a reader as long as the version lives, gives it to the BlobFile in either case.
//
// A reference is Corruption if the version has no such file: versions keep every file that a live
// reference leads to.

#include "db/version/blob_source.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/version/reader_key.h"
#include "util/base/status_macros.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

void DeleteBlobReader(Cache::ObjectPtr reader, MemoryAllocator*) {
  std::unique_ptr<BlobFileReader>(static_cast<BlobFileReader*>(reader)).reset();
}

constexpr Cache::CacheItemHelper kBlobReaderHelper(CacheEntryRole::kMisc, &DeleteBlobReader);

std::unique_ptr<const BlobCache> CacheOf(const BlobSourceOptions& options) {
  if (options.cache == nullptr) return nullptr;
  return std::make_unique<BlobCache>(options.cache, options.charge, options.open.statistics);
}

}  // namespace

// The error names file and offset already.
Status BlobErrorOfKey(const Status& s, const Slice& user_key, bool shows_key) {
  return Status::CopyAppendMessage(
      s, "; ",
      "the value of a key of " + std::to_string(user_key.size()) + " bytes" +
          (shows_key ? " (0x" + user_key.ToString(/*hex=*/true) + ")" : ""));
}

BlobSource::BlobSource(BlobSourceOptions options)
    : options_(std::move(options)), cache_(CacheOf(options_)) {}

// One lock for all files: opening is rare. The second look under it lets two threads that miss at
// once open the file once.
Status BlobSource::FindReader(const ReadOptions& options, const BlobFile& file,
                              const BlobFileReader** reader) {
  *reader = file.reader();
  if (*reader != nullptr) [[likely]]
    return Status::OK();
  const std::string path = options_.paths->BlobFileName(file.number());
  if (options.read_tier == kBlockCacheTier) {
    return Status::Incomplete("the blob file is not open and no read is allowed", path);
  }
  const IoMutexLock lock(&opening_);
  *reader = file.reader();
  if (*reader != nullptr) return Status::OK();
  std::unique_ptr<BlobFileReader> opened;
  VARVE_RETURN_IF_ERROR(Open(file, &opened));
  *reader = file.Publish(std::move(opened));
  return Status::OK();
}

// Versions keep their files, so a file that is missing is damage and not an error of the system.
Status BlobSource::Open(const BlobFile& file, std::unique_ptr<BlobFileReader>* reader) {
  const std::string path = options_.paths->BlobFileName(file.number());
  Status s =
      BlobFileReader::Open(options_.open, file.number(), path, file.facts().FileSize(), reader);
  if (s.IsNotFound() || s.IsPathNotFound() || s.subcode() == Status::SubCode::kPathNotFound) {
    return Status::Corruption(path, "is missing: " + s.ToString());
  }
  return s;
}

Status BlobSource::Pin(const ReadOptions& options, const BlobFile& file, BlobReaderPin* pin) {
  if (options_.limited != nullptr && file.reader() == nullptr) {
    return PinLimited(options, file, pin);
  }
  const BlobFileReader* reader = nullptr;
  VARVE_RETURN_IF_ERROR(FindReader(options, file, &reader));
  *pin = BlobReaderPin(BlobReaderPin(), reader);  // The BlobFile owns it.
  return Status::OK();
}

// Takes the reader from the cache that limits open files, or opens the file and puts it there. The
// pin has the cache's handle, so the reader stays open while it is used.
Status BlobSource::PinLimited(const ReadOptions& options, const BlobFile& file,
                              BlobReaderPin* pin) {
  Cache* const cache = options_.limited.get();
  const ReaderKey key(file.number());
  const auto borrow = [&](Cache::Handle* handle) {
    *pin = BlobReaderPin(static_cast<const BlobFileReader*>(cache->Value(handle)),
                         [cache, handle](const BlobFileReader*) { cache->Release(handle); });
    return Status::OK();
  };
  if (Cache::Handle* const handle = cache->Lookup(key.slice())) return borrow(handle);
  if (options.read_tier == kBlockCacheTier) {
    return Status::Incomplete("the blob file is not open and no read is allowed",
                              options_.paths->BlobFileName(file.number()));
  }
  const IoMutexLock lock(&opening_);
  // Another thread may have opened it while this one waited.
  if (Cache::Handle* const handle = cache->Lookup(key.slice())) return borrow(handle);
  std::unique_ptr<BlobFileReader> opened;
  VARVE_RETURN_IF_ERROR(Open(file, &opened));
  Cache::Handle* handle = nullptr;
  VARVE_RETURN_IF_ERROR(
      cache->Insert(key.slice(), opened.get(), &kBlobReaderHelper, /*charge=*/1, &handle));
  (void)opened.release();  // owned by the cache now
  return borrow(handle);
}

Status BlobSource::Locate(const ReadOptions& options, const Version& version,
                          const BlobReference& reference, BlobReaderPin* pin) {
  const BlobFileState* const file = version.blob_files().Find(reference.file_number);
  if (file == nullptr) {
    return Status::Corruption(options_.paths->BlobFileName(reference.file_number),
                              "is not in the version, and an entry refers to its offset " +
                                  std::to_string(reference.offset));
  }
  const Status s = Pin(options, *file->blobs, pin);
  if (s.ok() || s.IsIncomplete()) return s;
  return Status::CopyAppendMessage(s, "; ", reference.ToString());
}

// The reference is decoded before *value is reset, as it may lie there. Each step is taken only if
// those before it succeeded, and the error of any names the key.
Status BlobSource::Get(const ReadOptions& options, const Version& version, const Slice& user_key,
                       const Slice& encoded, PinnableSlice* value) {
  BlobReference reference;
  Status s = BlobReference::DecodeInDatabase(encoded, &reference);
  value->Reset();
  if (s.ok() && FindCached(user_key, reference, value)) return s;
  BlobReaderPin reader;
  if (s.ok()) s = Locate(options, version, reference, &reader);
  if (s.ok()) s = reader->Get(options, user_key, reference, nullptr, value, nullptr);
  if (s.ok()) Keep(options, user_key, reference, value);
  return s.ok() || s.IsIncomplete() ? s : BlobErrorOfKey(s, user_key, options_.shows_keys);
}

// Cached values are taken first; the rest is sorted by file, so that each file's reads can be
// joined.
void BlobSource::MultiGet(const ReadOptions& options, const Version& version,
                          std::span<BlobRequest> requests) {
  std::vector<BlobRead> reads(requests.size());
  std::map<BlobReaderPin, std::vector<BlobRead*>> by_file;
  for (size_t i = 0; i < requests.size(); i++) {
    BlobRead& read = reads[i];
    read.user_key = requests[i].user_key;
    read.value = requests[i].value;
    read.status = BlobReference::DecodeInDatabase(requests[i].encoded, &read.reference);
    read.value->Reset();
    if (read.status.ok() && FindCached(read.user_key, read.reference, read.value)) continue;
    BlobReaderPin reader;
    if (read.status.ok()) read.status = Locate(options, version, read.reference, &reader);
    if (read.status.ok()) by_file[reader].push_back(&read);
  }
  std::vector<BlobFileReader::FileBatch> batches;
  for (auto& [reader, of_file] : by_file) batches.push_back({reader.get(), std::move(of_file)});
  BlobFileReader::MultiGetFiles(options, batches);
  for (const BlobFileReader::FileBatch& batch : batches) {
    for (const BlobRead* read : batch.reads) {
      if (read->status.ok()) Keep(options, read->user_key, read->reference, read->value);
    }
  }
  for (size_t i = 0; i < requests.size(); i++) {
    const Status& s = reads[i].status;
    requests[i].status = s.ok() || s.IsIncomplete()
                             ? s
                             : BlobErrorOfKey(s, requests[i].user_key, options_.shows_keys);
  }
}

}  // namespace varve
