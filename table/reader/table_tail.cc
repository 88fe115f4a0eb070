// SPDX-License-Identifier: Apache-2.0
#include "table/reader/table_tail.h"

#include <algorithm>

#include "table/format/footer.h"
#include "table/table_reader.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Limits of the file's tail that is read at once: index and filter are about a fiftieth of a table.
constexpr uint64_t kTailBytesMin = 16 * 1024;
constexpr uint64_t kTailBytesMax = 512 * 1024;
constexpr uint64_t kTailShare = 40;

}  // namespace

static_assert(TableTail::kMinBytes == Footer::kLegacyBytes);

uint64_t TableTail::magic() const {
  VARVE_ASSERT(bytes.size() >= kMinBytes);
  return DecodeFixed64(bytes.data() + bytes.size() - sizeof(uint64_t));
}

// One read brings the footer and, mostly, index and filter. If it was too short, the rest is read
// block by block later.
Status ReadTableTail(const TableOpenOptions& options, const RandomAccessFileReader& file,
                     uint64_t file_size, TableTail* tail) {
  if (file_size < TableTail::kMinBytes) {
    return Status::Corruption(
        "file of " + std::to_string(file_size) + " bytes is too short to be a table",
        options.file_name.empty() ? file.file_name() : options.file_name);
  }
  uint64_t want = Footer::kMaxBytes;
  if (options.prefetch_index_and_filter) {
    want = std::clamp(file_size / kTailShare, kTailBytesMin, kTailBytesMax);
  }
  const size_t n = static_cast<size_t>(std::min(want, file_size));
  tail->offset = file_size - n;
  std::string& buffer = tail->buffer;
  buffer.resize(n);
  VARVE_RETURN_IF_ERROR(file.Read(tail->offset, n, &tail->bytes, buffer.data()));
  if (options.prefetch_index_and_filter) {
    RecordInHistogram(options.statistics, TABLE_OPEN_PREFETCH_TAIL_READ_BYTES, n);
  }
  // A file system may answer one read with memory of its own, and the next into the scratch buffer.
  tail->mapped = file.maps() && tail->bytes.data() != buffer.data();
  if (tail->mapped) return Status::OK();
  if (tail->bytes.data() != buffer.data()) std::copy_n(tail->bytes.data(), n, buffer.data());
  tail->bytes = Slice(buffer.data(), n);
  return Status::OK();
}

}  // namespace varve
