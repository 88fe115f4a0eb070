// SPDX-License-Identifier: Apache-2.0
#include "util/env/sequential_file_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/metrics/iostats.h"

namespace varve {

SequentialFileReader::SequentialFileReader(std::unique_ptr<FSSequentialFile> file,
                                           std::string file_name, size_t readahead_size,
                                           const IOOptions& io_options)
    : file_name_(std::move(file_name)),
      io_options_(io_options),
      file_(std::move(file)),
      direct_(file_->use_direct_io()),
      alignment_(file_->GetRequiredBufferAlignment()),
      readahead_size_(
          static_cast<size_t>(RoundUp(std::max(readahead_size, kDefaultPageSize), alignment_))) {}

IOStatus SequentialFileReader::Open(FileSystem* fs, const std::string& fname,
                                    const FileOptions& file_options,
                                    std::unique_ptr<SequentialFileReader>* reader,
                                    size_t readahead_size) {
  reader->reset();
  const IOTimer<&IOStatsContext::open_nanos> timer;
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(fname, file_options, &file, nullptr);
  if (s.ok()) {
    *reader = std::make_unique<SequentialFileReader>(std::move(file), fname, readahead_size,
                                                     file_options.io_options);
  }
  return s;
}

IOStatus SequentialFileReader::ReadFully(uint64_t offset, size_t n, char* scratch, size_t* got) {
  *got = 0;
  const IOTimer<&IOStatsContext::read_nanos, &IOStatsContext::cpu_read_nanos> timer;
  while (*got < n) {
    Slice piece;
    IOStatus s = direct_ ? file_->PositionedRead(offset + *got, n - *got, io_options_, &piece,
                                                 scratch + *got, nullptr)
                         : file_->Read(n - *got, io_options_, &piece, scratch + *got, nullptr);
    if (!s.ok()) return s;
    if (piece.empty()) break;
    if (piece.size() > n - *got) {
      return IOStatus::Corruption(file_name_, "read returned too many bytes");
    }
    if (piece.data() != scratch + *got) std::memmove(scratch + *got, piece.data(), piece.size());
    *got += piece.size();
    CountFileRead(Temperature::kUnknown, piece.size());
    // Reading on from an unaligned offset is not possible, and only the end of the file causes one.
    if (direct_ && *got % alignment_ != 0) break;
  }
  return IOStatus::OK();
}

// An error leaves the buffer empty, and the file's own position unknown: what the file gives next
// need not be what follows, so the first error must be the last read.
IOStatus SequentialFileReader::Refill() {
  buffer_start_ += filled_;
  filled_ = 0;
  consumed_ = 0;
  if (buffer_.capacity() == 0 && !buffer_.Allocate(readahead_size_, alignment_)) {
    return IOStatus::Aborted(file_name_, "no memory to read ahead");
  }
  // Nothing follows an unaligned end of the file.
  if (direct_ && buffer_start_ % alignment_ != 0) return IOStatus::OK();
  size_t got = 0;
  IOStatus s = ReadFully(buffer_start_, readahead_size_, buffer_.data(), &got);
  if (s.ok()) filled_ = got;
  return s;
}

IOStatus SequentialFileReader::Read(size_t n, Slice* result, char* scratch) {
  size_t got = 0;
  *result = Slice(scratch, 0);
  while (got < n) {
    if (consumed_ == filled_) {
      IOStatus s = Refill();
      if (!s.ok()) return s;
      if (filled_ == 0) break;
    }
    const size_t piece = std::min(n - got, filled_ - consumed_);
    std::memcpy(scratch + got, buffer_.data() + consumed_, piece);
    consumed_ += piece;
    got += piece;
  }
  *result = Slice(scratch, got);
  return IOStatus::OK();
}

// Reads what it skips, as the file's own Skip may go past the end without a word.
IOStatus SequentialFileReader::Skip(uint64_t n) {
  while (n > 0) {
    if (consumed_ == filled_) {
      IOStatus s = Refill();
      if (!s.ok()) return s;
      if (filled_ == 0) break;
    }
    const auto piece = static_cast<size_t>(std::min<uint64_t>(n, filled_ - consumed_));
    consumed_ += piece;
    n -= piece;
  }
  return IOStatus::OK();
}

}  // namespace varve
