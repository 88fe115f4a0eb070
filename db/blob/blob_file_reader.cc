// SPDX-License-Identifier: Apache-2.0

// Implements reads of one blob file. A read is planned from its reference (Locate), executed, and
// checked before its bytes are used (Deliver).

#include "db/blob/blob_file_reader.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/compress/codec.h"
#include "util/env/file_prefetcher.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Format version of tables whose compressed blocks have the format of compressed values.
constexpr uint32_t kBlobCompressionVersion = 2;
// Values are smaller than 4 GiB.
constexpr size_t kLargestBlob = UINT32_MAX;
// Records up to this size are read to the stack, and copied.
constexpr size_t kCopiedRecordBytes = 4096;
// Records with smaller gaps than this are read together, up to a size.
constexpr uint64_t kJoinedGapBytes = 4096;
constexpr size_t kJoinedRegionBytes = size_t{1} << 20;

IOOptions BlobReadingOptions(const ReadOptions& options) {
  IOOptions io;
  io.timeout = options.io_timeout;
  io.rate_limiter_priority = options.rate_limiter_priority;
  io.io_activity = options.io_activity;
  return io;
}

void DeleteBytes(void* bytes, void* /*unused*/) {
  delete[] static_cast<char*>(bytes);
}

void PinBytes(const Slice& part, std::unique_ptr<char[]> buffer, PinnableSlice* value) {
  value->PinSlice(part, DeleteBytes, buffer.release(), nullptr);
}

std::unique_ptr<char[]> AllocateBytes(size_t n) {
  return std::unique_ptr<char[]>(new (std::nothrow) char[n]);
}

char* AllocateRawValue(void* arg, size_t bytes) {
  auto* const buffer = static_cast<std::unique_ptr<char[]>*>(arg);
  *buffer = AllocateBytes(bytes);
  return buffer->get();
}

}  // namespace

BlobFileReader::BlobFileReader(std::unique_ptr<RandomAccessFileReader> file, uint64_t number,
                               uint64_t file_size, const BlobFileOpenOptions& options)
    : file_(std::move(file)),
      number_(number),
      file_size_(file_size),
      statistics_(options.statistics),
      clock_(options.clock) {}

Status BlobFileReader::Corrupt(const std::string& what, uint64_t offset) const {
  return Status::Corruption(file_name(), what + " at offset " + std::to_string(offset));
}

void BlobFileReader::Count(uint64_t bytes) const {
  AddPerfCount<&PerfContext::blob_read_count>();
  AddPerfCount<&PerfContext::blob_read_byte>(bytes);
  RecordTick(statistics_, BLOB_DB_BLOB_FILE_BYTES_READ, bytes);
}

// The size is compared with the MANIFEST's before anything is read, so that offsets near the end
// are known to be in the file.
Status BlobFileReader::Open(const BlobFileOpenOptions& options, uint64_t number,
                            const std::string& path, uint64_t expected_size,
                            std::unique_ptr<BlobFileReader>* reader) {
  reader->reset();
  RandomAccessFileReader::Options file_options;
  file_options.stats = options.statistics;
  file_options.clock = options.clock;
  file_options.rate_limiter = options.rate_limiter;
  file_options.read_histogram = BLOB_DB_BLOB_FILE_READ_MICROS;
  std::unique_ptr<RandomAccessFileReader> file;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(options.fs.get(), path, options.file_options,
                                                     file_options, &file));
  // Asks the open file, since its name may be gone: a primary deletes files that a secondary has
  // open.
  uint64_t size = 0;
  IOStatus sized = file->file()->GetFileSize(&size);
  if (sized.IsNotSupported()) {
    sized = options.fs->GetFileSize(path, IOOptions(), &size, nullptr);
  }
  VARVE_RETURN_IF_ERROR(sized);
  if (expected_size != kAnySize && size != expected_size) {
    return Status::Corruption(path, "blob file has " + std::to_string(size) +
                                        " bytes, but the MANIFEST says " +
                                        std::to_string(expected_size));
  }
  if (size < kBlobFileFrameBytes) {
    return Status::Corruption(path, "has too few bytes for a blob file: " + std::to_string(size));
  }
  std::unique_ptr<BlobFileReader> made(new BlobFileReader(std::move(file), number, size, options));
  VARVE_RETURN_IF_ERROR(made->ReadFrame(options.column_family_id));
  *reader = std::move(made);
  return Status::OK();
}

Status BlobFileReader::CheckHeader(uint32_t column_family_id, const BlobFileHeader& header) const {
  if (header.has_ttl || header.smallest_expiration != 0 || header.largest_expiration != 0) {
    return Corrupt("values that expire, as only stores beside a database have", 0);
  }
  if (header.column_family_id != column_family_id) {
    return Corrupt("belongs to column family " + std::to_string(header.column_family_id) +
                       ", not " + std::to_string(column_family_id) + ", says the header",
                   0);
  }
  if (!CodecSupported(header.compression)) {
    return CodecNotSupported(header.compression, file_name());
  }
  return Status::OK();
}

// Reads and checks header and footer, and sets the compression and the number of records. Records
// are checked when they are read.
Status BlobFileReader::ReadFrame(uint32_t column_family_id) {
  char scratch[BlobFileFooter::kBytes];
  static_assert(BlobFileHeader::kBytes <= sizeof(scratch));
  Slice bytes;
  VARVE_RETURN_IF_ERROR(file_->Read(0, BlobFileHeader::kBytes, &bytes, scratch));
  BlobFileHeader header;
  Status s = BlobFileHeader::Decode(bytes, &header);
  if (!s.ok()) return Corrupt(s.ToString(), 0);
  VARVE_RETURN_IF_ERROR(CheckHeader(column_family_id, header));
  const uint64_t footer_offset = file_size_ - BlobFileFooter::kBytes;
  VARVE_RETURN_IF_ERROR(file_->Read(footer_offset, BlobFileFooter::kBytes, &bytes, scratch));
  BlobFileFooter footer;
  s = BlobFileFooter::Decode(bytes, &footer);
  if (!s.ok()) return Corrupt(s.ToString(), footer_offset);
  if (footer.smallest_expiration != 0 || footer.largest_expiration != 0) {
    return Corrupt("footer of values that expire", footer_offset);
  }
  compression_ = header.compression;
  blob_count_ = footer.blob_count;
  return Status::OK();
}

// The reference is not trusted: the value must be between header and footer, with room for its
// record's header and key before it. Without verify_checksums only the value's bytes are read.
Status BlobFileReader::Locate(const ReadOptions& options, const Slice& user_key,
                              const BlobReference& reference, Extent* extent) const {
  VARVE_ASSERT(reference.kind == BlobReference::Kind::kBlob && reference.file_number == number_);
  if (options.read_tier == kBlockCacheTier) {
    return Status::Incomplete("the value is in a blob file, not in a cache", file_name());
  }
  const uint64_t first = BlobFileHeader::kBytes + BlobRecordHeader::kBytes + user_key.size();
  const uint64_t end = file_size_ - BlobFileFooter::kBytes;
  if (reference.offset < first || reference.offset > end ||
      reference.size > end - reference.offset) {
    return Corrupt(
        "a reference reaches beyond the file: " + std::to_string(reference.size) + " bytes",
        reference.offset);
  }
  if (reference.compression != compression_) {
    return Corrupt("a reference has another compression than the file", reference.offset);
  }
  extent->before_value = options.verify_checksums ? BlobRecordHeader::kBytes + user_key.size() : 0;
  extent->offset = reference.offset - extent->before_value;
  extent->bytes = extent->before_value + static_cast<size_t>(reference.size);
  return Status::OK();
}

// Checks the header's own checksum, the lengths, the key, and the checksum over key and value, in
// this order, so that a reference to another record is distinguished from damage.
Status BlobFileReader::CheckRecord(const Extent& extent, const Slice& bytes, const Slice& user_key,
                                   Slice* stored) const {
  VARVE_ASSERT(bytes.size() == extent.bytes);
  *stored = Slice(bytes.data() + extent.before_value, bytes.size() - extent.before_value);
  if (extent.before_value == 0) return Status::OK();
  const PerfTimer<&PerfContext::blob_checksum_time> timer;
  const auto corrupt = [&](const std::string& what) {
    return Corrupt(
        what + " in the record of a key of " + std::to_string(user_key.size()) + " bytes",
        extent.offset);
  };
  BlobRecordHeader header;
  const Status s = BlobRecordHeader::Decode(Slice(bytes.data(), BlobRecordHeader::kBytes), &header);
  if (!s.ok()) return corrupt(s.ToString());
  const Slice key(bytes.data() + BlobRecordHeader::kBytes, user_key.size());
  if (header.key_bytes != key.size() || header.value_bytes != stored->size()) {
    return corrupt("other lengths than the reference has");
  }
  if (key != user_key) return corrupt("another key");
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  const bool sound = header.MatchesBlob(key, *stored) || VARVE_CANARY(kSkipBlobChecksum);
  return sound ? Status::OK() : corrupt("checksum mismatch of key and value");
}

Status BlobFileReader::Decompress(const Slice& stored, uint64_t offset,
                                  PinnableSlice* value) const {
  const PerfTimer<&PerfContext::blob_decompress_time> timer;
  const StopWatch histogram(clock_, statistics_, BLOB_DB_DECOMPRESSION_MICROS);
  std::unique_ptr<char[]> buffer;
  Slice raw;
  const Status s = FindCodec(compression_)
                       ->Uncompress(Slice(), stored, kBlobCompressionVersion, kLargestBlob,
                                    {AllocateRawValue, &buffer}, &raw);
  if (s.IsCorruption()) return Corrupt(s.ToString(), offset);
  if (!s.ok()) return s;
  PinBytes(raw, std::move(buffer), value);
  return Status::OK();
}

Status BlobFileReader::Deliver(const Extent& extent, const Slice& bytes, const Slice& user_key,
                               std::unique_ptr<char[]> buffer, PinnableSlice* value) const {
  Slice stored;
  VARVE_RETURN_IF_ERROR(CheckRecord(extent, bytes, user_key, &stored));
  if (compression_ != kNoCompression) return Decompress(stored, extent.offset, value);
  if (buffer != nullptr) {
    PinBytes(stored, std::move(buffer), value);
  } else {
    value->PinSelf(stored);
  }
  return Status::OK();
}

// A small record is read to the stack and copied. A large one is read to a buffer, which *value
// takes over.
Status BlobFileReader::Get(const ReadOptions& options, const Slice& user_key,
                           const BlobReference& reference, FilePrefetcher* prefetcher,
                           PinnableSlice* value, uint64_t* bytes_read) const {
  Extent extent;
  VARVE_RETURN_IF_ERROR(Locate(options, user_key, reference, &extent));
  // Locate has bounded extent.bytes by the size of the file.
  char small[kCopiedRecordBytes];
  std::unique_ptr<char[]> large;
  if (extent.bytes > sizeof(small)) {
    large = AllocateBytes(extent.bytes);
    if (large == nullptr) return Status::MemoryLimit("value of a blob file", file_name());
  }
  char* const scratch = large != nullptr ? large.get() : small;
  IOOptions io = BlobReadingOptions(options);
  if (options.deadline.count() != 0) {
    VARVE_RETURN_IF_ERROR(file_->LimitTime(options.deadline, &io));
  }
  Slice bytes;
  {
    const PerfTimer<&PerfContext::blob_read_time> timer;
    VARVE_RETURN_IF_ERROR(
        prefetcher != nullptr
            ? prefetcher->Read(*file_, extent.offset, extent.bytes, file_size_, &bytes, scratch, io)
            : file_->Read(extent.offset, extent.bytes, &bytes, scratch, io));
  }
  Count(extent.bytes);
  if (bytes_read != nullptr) *bytes_read = extent.bytes;
  if (bytes.data() != large.get()) large.reset();
  return Deliver(extent, bytes, user_key, std::move(large), value);
}

// The reads of one file in a batch, sorted by offset, and the regions that are read for them.
struct BlobFileReader::BatchPart {
  const BlobFileReader* file = nullptr;
  std::vector<std::pair<Extent, BlobRead*>> reads;
  std::vector<Region> regions;
  std::vector<FSReadRequest> requests;  // one for each region
  IOOptions io;
};

// Extents that overlap, as those of wrong references may, are always in one region, so requests
// never overlap.
void BlobFileReader::Collect(const ReadOptions& options, FileBatch* batch, BatchPart* part) const {
  part->file = this;
  part->io = BlobReadingOptions(options);
  for (BlobRead* const read : batch->reads) {
    Extent extent;
    read->status = Locate(options, read->user_key, read->reference, &extent);
    if (read->status.ok() && options.deadline.count() != 0) {
      read->status = file_->LimitTime(options.deadline, &part->io);
    }
    if (read->status.ok()) part->reads.emplace_back(extent, read);
  }
  std::ranges::sort(part->reads, {}, [](const auto& read) { return read.first.offset; });
  for (size_t i = 0; i < part->reads.size(); ++i) {
    const Extent& extent = part->reads[i].first;
    if (!part->regions.empty()) {
      Region& last = part->regions.back();
      const uint64_t end = last.offset + last.bytes;
      const bool near = extent.offset <= end + kJoinedGapBytes && last.bytes < kJoinedRegionBytes;
      if (extent.offset < end || near) {
        last.bytes = static_cast<size_t>(std::max(end, extent.offset + extent.bytes) - last.offset);
        last.count++;
        continue;
      }
    }
    part->regions.push_back({extent.offset, extent.bytes, i, 1, nullptr});
  }
  // A region lies within the file, as Locate has checked of each of its extents.
  for (Region& region : part->regions) {
    region.buffer = AllocateBytes(region.bytes);
    if (region.buffer == nullptr) continue;  // Complete reads its values one by one.
    FSReadRequest request;
    request.offset = region.offset;
    request.len = region.bytes;
    request.scratch = region.buffer.get();
    part->requests.push_back(std::move(request));
  }
}

// If a region could not be read, its values are read one by one, so that an error in one place does
// not fail its neighbours.
void BlobFileReader::Complete(const ReadOptions& options, BatchPart* part) const {
  auto request = part->requests.begin();
  for (Region& region : part->regions) {
    FSReadRequest* const done = region.buffer != nullptr ? &*request++ : nullptr;
    const bool was_read = done != nullptr && done->status.ok();
    if (was_read) Count(region.bytes);
    for (size_t i = region.first; i < region.first + region.count; ++i) {
      const auto& [extent, read] = part->reads[i];
      read->bytes_read = extent.bytes;
      if (!was_read) {
        read->status = Get(options, read->user_key, read->reference, nullptr, read->value, nullptr);
        continue;
      }
      const Slice bytes(done->result.data() + (extent.offset - region.offset), extent.bytes);
      const bool takes_all = region.count == 1 && done->result.data() == region.buffer.get() &&
                             extent.bytes > kCopiedRecordBytes;
      read->status = Deliver(extent, bytes, read->user_key,
                             takes_all ? std::move(region.buffer) : nullptr, read->value);
    }
  }
}

void BlobFileReader::MultiGet(const ReadOptions& options, std::span<BlobRead*> reads) const {
  FileBatch batch{this, {reads.begin(), reads.end()}};
  MultiGetFiles(options, std::span(&batch, 1));
}

// Plans the regions of each file, reads all of them together, and checks and sets the values.
void BlobFileReader::MultiGetFiles(const ReadOptions& options, std::span<FileBatch> batches) {
  std::vector<BatchPart> parts(batches.size());
  std::vector<FileReads> reads;
  for (size_t i = 0; i < batches.size(); ++i) {
    batches[i].file->Collect(options, &batches[i], &parts[i]);
    if (parts[i].requests.empty()) continue;
    reads.push_back({batches[i].file->file_.get(), parts[i].requests, &parts[i].io, IOStatus()});
  }
  {
    const PerfTimer<&PerfContext::blob_read_time> timer;
    RandomAccessFileReader::MultiReadFiles(reads, options.async_io);
  }
  for (const FileReads& file : reads) {
    if (file.status.ok()) continue;
    for (FSReadRequest& request : file.requests) request.status = file.status;
  }
  for (BatchPart& part : parts) part.file->Complete(options, &part);
}

Status BlobFileReader::VerifyHeader(uint64_t offset, FilePrefetcher* prefetcher,
                                    const IOOptions& io, BlobRecordHeader* header) const {
  const uint64_t end = file_size_ - BlobFileFooter::kBytes;
  if (end - offset < BlobRecordHeader::kBytes) return Corrupt("a record that is cut", offset);
  char header_bytes[BlobRecordHeader::kBytes];
  Slice bytes;
  VARVE_RETURN_IF_ERROR(
      prefetcher->Read(*file_, offset, sizeof(header_bytes), end, &bytes, header_bytes, io));
  const Status s = BlobRecordHeader::Decode(bytes, header);
  if (!s.ok()) return Corrupt(s.ToString(), offset);
  const uint64_t left = end - offset - BlobRecordHeader::kBytes;
  if (header->key_bytes > left || header->value_bytes > left - header->key_bytes) {
    return Corrupt("a record that reaches beyond the last one", offset);
  }
  return Status::OK();
}

// Reads the header first, and key and value only if they end before the footer, so that damaged
// lengths cannot cause large allocations. Sets *record_bytes to the size of the record.
Status BlobFileReader::VerifyRecord(uint64_t offset, FilePrefetcher* prefetcher,
                                    const IOOptions& io, uint64_t* record_bytes) const {
  const uint64_t end = file_size_ - BlobFileFooter::kBytes;
  BlobRecordHeader header;
  VARVE_RETURN_IF_ERROR(VerifyHeader(offset, prefetcher, io, &header));
  Slice bytes;
  const size_t n = static_cast<size_t>(header.key_bytes + header.value_bytes);
  const auto buffer = AllocateBytes(n);
  if (buffer == nullptr) return Status::MemoryLimit("record of a blob file", file_name());
  VARVE_RETURN_IF_ERROR(prefetcher->Read(*file_, offset + BlobRecordHeader::kBytes, n, end, &bytes,
                                         buffer.get(), io));
  const auto key_bytes = static_cast<size_t>(header.key_bytes);
  if (!header.MatchesBlob(Slice(bytes.data(), key_bytes),
                          Slice(bytes.data() + key_bytes, n - key_bytes))) {
    return Corrupt("checksum mismatch of key and value", offset);
  }
  *record_bytes = BlobRecordHeader::kBytes + n;
  return Status::OK();
}

struct BlobFileReader::Search {
  IOOptions io;
  const PaceReads& pace;
  // The bytes that were read ahead for the check may be older than the hole.
  FilePrefetcher prefetcher = FilePrefetcher::Fixed(FilePrefetcher::kLargestReadahead);
};

Status BlobFileReader::AllZero(uint64_t at, uint64_t n, Search* search, bool* zero) const {
  std::array<char, kHoleBlock> buffer;
  VARVE_ASSERT(n <= buffer.size());
  Slice bytes;
  VARVE_RETURN_IF_ERROR(search->prefetcher.Read(*file_, at, static_cast<size_t>(n),
                                                file_size_ - BlobFileFooter::kBytes, &bytes,
                                                buffer.data(), search->io));
  *zero = std::ranges::all_of(std::string_view(bytes.data(), bytes.size()),
                              [](char c) { return c == 0; });
  return Status::OK();
}

// A hole takes whole blocks. If the header at `offset` is sound, these may be any blocks that begin
// in the record, as a hole that a failure has cut short need not begin at the first border. If it
// is not, a hole has taken a part of it: one that ends at the first border, so that all up to there
// is zeros, or one that begins there, where the border lies in the header or at its start.
Status BlobFileReader::FindZeros(uint64_t offset, Search* search, uint64_t* end) const {
  const uint64_t end_of_records = file_size_ - BlobFileFooter::kBytes;
  *end = offset;
  uint64_t border = (offset + kHoleBlock - 1) / kHoleBlock * kHoleBlock;
  if (border > end_of_records) return Status::OK();
  BlobRecordHeader header;
  const Status s = VerifyHeader(offset, &search->prefetcher, search->io, &header);
  if (!s.ok() && !s.IsCorruption()) return s;
  bool zero = false;
  uint64_t end_of_record = border + 1;  // without a sound header only the first border is looked at
  if (s.ok()) {
    end_of_record = offset + BlobRecordHeader::kBytes + header.key_bytes + header.value_bytes;
  } else if (border > offset) {
    VARVE_RETURN_IF_ERROR(AllZero(offset, border - offset, search, &zero));
    if (zero) *end = border;
    if (zero || border - offset >= BlobRecordHeader::kBytes) return Status::OK();
  }
  for (; border < end_of_record && end_of_records - border >= kHoleBlock; border += kHoleBlock) {
    VARVE_RETURN_IF_ERROR(AllZero(border, kHoleBlock, search, &zero));
    if (zero) {
      *end = border + kHoleBlock;
      break;
    }
  }
  return Status::OK();
}

// Called for each byte of a search, so that lengths which cannot be right end it first.
Status BlobFileReader::FindHeader(uint64_t at, Search* search, bool* found) const {
  const uint64_t end_of_records = file_size_ - BlobFileFooter::kBytes;
  *found = at == end_of_records;
  if (end_of_records - at < BlobRecordHeader::kBytes) return Status::OK();
  std::array<char, 2 * sizeof(uint64_t)> buffer;
  Slice lengths;
  VARVE_RETURN_IF_ERROR(search->prefetcher.Read(*file_, at, buffer.size(), end_of_records, &lengths,
                                                buffer.data(), search->io));
  const uint64_t most = end_of_records - at;
  if (DecodeFixed64(lengths.data()) > most ||
      DecodeFixed64(lengths.data() + sizeof(uint64_t)) > most) {
    return Status::OK();
  }
  BlobRecordHeader header;
  const Status s = VerifyHeader(at, &search->prefetcher, search->io, &header);
  if (!s.ok() && !s.IsCorruption()) return s;
  *found = s.ok();
  return Status::OK();
}

// Behind a hole the garbage usually ends before the next block does, since that block would be a
// part of the hole. But neighbours whose holes were punched apart, before and after an opening,
// have a block between these, and the second hole may take the header of its record; and a hole
// that a failure has cut short leaves garbage behind. So the search goes on, over further zeros, as
// far as garbage may reach. It finds a record by its header alone, so that damage of the rest is
// not taken for garbage; where the header itself is damaged it is.
Status BlobFileReader::SkipHole(uint64_t offset, uint64_t most, Search* search, Hole* hole) const {
  hole->bytes = 0;
  const uint64_t end_of_records = file_size_ - BlobFileFooter::kBytes;
  if (most == 0 || end_of_records - offset < BlobRecordHeader::kBytes) return Status::OK();
  uint64_t zeros = 0;
  VARVE_RETURN_IF_ERROR(FindZeros(offset, search, &zeros));
  if (zeros == offset) return Status::OK();
  // The search begins a little before the end of the zeros: the next record's two lengths come
  // first in it, and begin with zeros if its key is empty.
  const auto behind = [&] { return std::max(offset + 1, zeros - 2 * sizeof(uint64_t)); };
  const uint64_t last = offset + std::min(most, end_of_records - offset);
  for (uint64_t at = behind(); at <= last; ++at) {
    if (at % kHoleBlock == 0 && at >= zeros) {
      if (search->pace) VARVE_RETURN_IF_ERROR(search->pace(kHoleBlock));
      bool zero = false;
      if (end_of_records - at >= kHoleBlock) {
        VARVE_RETURN_IF_ERROR(AllZero(at, kHoleBlock, search, &zero));
      }
      if (zero) {
        zeros = at + kHoleBlock;
        at = behind() - 1;
        continue;
      }
    }
    bool found = false;
    VARVE_RETURN_IF_ERROR(FindHeader(at, search, &found));
    if (found) {
      hole->next = at;
      hole->window = zeros + kHoleBlock;
      hole->bytes = at - offset;
      break;
    }
  }
  return Status::OK();
}

// The rest of a value, behind the hole that cut it, may be records of another blob file, which
// SkipHole has taken for records of this one. The last of them, at `offset`, is cut by the end of
// the value, so its lengths reach over the beginning of this file's next record: only bytes within
// them are searched. A damaged record of this file ends where the next one begins, so that none is
// found and the damage is reported. What is found must be sound, or have a hole of its own.
Status BlobFileReader::SearchOn(uint64_t offset, const Hole& hole, Search* search,
                                uint64_t* next) const {
  *next = offset;
  const uint64_t end_of_records = file_size_ - BlobFileFooter::kBytes;
  uint64_t last = std::min(hole.window, end_of_records);
  BlobRecordHeader header;
  const Status found = VerifyHeader(offset, &search->prefetcher, search->io, &header);
  if (!found.ok() && !found.IsCorruption()) return found;
  if (found.ok()) {
    const uint64_t bytes = BlobRecordHeader::kBytes + header.key_bytes + header.value_bytes;
    last = std::min(last, offset + bytes - 1);
  }
  for (uint64_t at = offset + 1; at <= last; ++at) {
    uint64_t bytes = 0;
    const Status s = at == end_of_records
                         ? Status::OK()
                         : VerifyRecord(at, &search->prefetcher, search->io, &bytes);
    if (!s.ok() && !s.IsCorruption()) return s;
    uint64_t zeros = at;
    if (!s.ok() && VerifyHeader(at, &search->prefetcher, search->io, &header).ok()) {
      VARVE_RETURN_IF_ERROR(FindZeros(at, search, &zeros));
    }
    if (s.ok() || zeros > at) {
      *next = at;
      break;
    }
  }
  return Status::OK();
}

// If there is no hole at `offset`, the records since the last one may have lain in a value, and
// then belong to that hole.
Status BlobFileReader::PassHole(uint64_t offset, uint64_t most, const IOOptions& io,
                                const PaceReads& pace, uint64_t* count, Hole* hole) const {
  Search search{io, pace};
  Hole found;
  VARVE_RETURN_IF_ERROR(SkipHole(offset, most, &search, &found));
  if (found.bytes == 0) {
    if (offset >= hole->window) return Status::OK();
    uint64_t next = 0;
    VARVE_RETURN_IF_ERROR(SearchOn(offset, *hole, &search, &next));
    if (next == offset) return Status::OK();
    found = {.next = next, .window = hole->window, .records = 0, .bytes = next - hole->next};
    *count = hole->records;
  }
  found.records = *count;
  *hole = found;
  return Status::OK();
}

// Finds the next record by the lengths in the current one, which a checksum covers, or behind a
// hole. A deadline applies to each record, as the whole may take long.
Status BlobFileReader::VerifyChecksums(const ReadOptions& options, const PaceReads& pace,
                                       const HoleBudget& most) const {
  FilePrefetcher prefetcher =
      FilePrefetcher::Fixed(std::max(options.readahead_size, FilePrefetcher::kLargestReadahead));
  IOOptions io = BlobReadingOptions(options);
  const uint64_t end = file_size_ - BlobFileFooter::kBytes;
  uint64_t count = 0;
  uint64_t in_holes = 0;
  Hole hole;  // the last one
  for (uint64_t offset = BlobFileHeader::kBytes; offset < end;) {
    if (options.deadline.count() != 0) {
      VARVE_RETURN_IF_ERROR(file_->LimitTime(options.deadline, &io));
    }
    uint64_t bytes = 0;
    const Status s = VerifyRecord(offset, &prefetcher, io, &bytes);
    if (s.ok()) {
      ++count;
      offset += bytes;
      if (pace) VARVE_RETURN_IF_ERROR(pace(bytes));
      continue;
    }
    if (!s.IsCorruption() || in_holes >= most.bytes) return s;
    VARVE_RETURN_IF_ERROR(PassHole(offset, most.bytes - in_holes, io, pace, &count, &hole));
    if (hole.next <= offset) return s;
    in_holes += hole.bytes;
    if (in_holes > most.bytes) return s;
    offset = hole.next;
  }
  // The number of records in a hole is not known. What is left of one may have been counted as
  // records, if it holds some.
  const uint64_t missing = blob_count_ - std::min(count, blob_count_);
  if (in_holes == 0 ? count == blob_count_ : missing <= most.count) return Status::OK();
  return Corrupt("a footer that counts " + std::to_string(blob_count_) + " records, not " +
                     std::to_string(count),
                 end);
}

}  // namespace varve
