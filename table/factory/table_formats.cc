// SPDX-License-Identifier: Apache-2.0

// Holds the registry of table formats, and the functions that dispatch on it.

#include <algorithm>
#include <span>
#include <utility>

#include "table/factory/table_format.h"
#include "table/format/footer.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

std::span<const TableFormat* const> Formats() {
  static const TableFormat* const formats[] = {&BlockBasedTableFormat(), &PlainTableFormat()};
  return formats;
}

// Writing follows the factory in the options, and reading follows the file: a database whose
// factory was exchanged has tables of both kinds.
Status FormatOf(const TableFactory* factory, const TableFormat** format) {
  for (const TableFormat* const f : Formats()) {
    if (factory == nullptr || !f->IsOf(*factory)) continue;
    *format = f;
    return Status::OK();
  }
  return Status::NotSupported("table_factory",
                              factory == nullptr ? "is null" : "is none that makes known tables");
}

// Returns the format of tables that end with this number. For any other number that is the
// block-based one, whose CheckFooter and Open return an error that says what the file is.
const TableFormat& FormatOf(uint64_t magic) {
  for (const TableFormat* const format : Formats()) {
    if (format->HasMagic(magic)) return *format;
  }
  return BlockBasedTableFormat();
}

}  // namespace

Status CheckTableEnd(const RandomAccessFileReader& file, uint64_t file_size) {
  const size_t n = static_cast<size_t>(std::min<uint64_t>(file_size, Footer::kMaxBytes));
  char scratch[Footer::kMaxBytes];
  Slice tail;
  VARVE_RETURN_IF_ERROR(file.Read(file_size - n, n, &tail, scratch));
  constexpr size_t kMagicBytes = sizeof(uint64_t);
  const uint64_t magic =
      n < kMagicBytes ? 0 : DecodeFixed64(tail.data() + tail.size() - kMagicBytes);
  const Status s = FormatOf(magic).CheckFooter(tail, file_size - n);
  return s.ok() ? s : Status::CopyAppendMessage(s, ": ", file.file_name());
}

Status TableBuilder::CheckOptions(const TableBuildOptions& options) {
  const TableFormat* format = nullptr;
  VARVE_RETURN_IF_ERROR(FormatOf(options.factory.get(), &format));
  return format->CheckOptions(options);
}

Status TableBuilder::Create(const TableBuildOptions& options, WritableFileWriter* file,
                            std::unique_ptr<TableBuilder>* builder) {
  builder->reset();
  const TableFormat* format = nullptr;
  VARVE_RETURN_IF_ERROR(FormatOf(options.factory.get(), &format));
  return format->Create(options, file, builder);
}

bool TableBuilder::FillsCache(const TableBuildOptions& options, uint64_t table_bytes) {
  const TableFormat* format = nullptr;
  return FormatOf(options.factory.get(), &format).ok() && format->FillsCache(options, table_bytes);
}

// A family whose factory was exchanged may have range deletions in its log and in its tables.
std::shared_ptr<const TableFactory> FactoryWithTombstones(
    const std::shared_ptr<const TableFactory>& factory) {
  if (factory == nullptr || factory->IsDeleteRangeSupported()) return factory;
  return std::shared_ptr<const TableFactory>(NewBlockBasedTableFactory());
}

Status TableReader::Open(const TableOpenOptions& options,
                         std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                         std::unique_ptr<TableReader>* reader) {
  TableTail tail;
  VARVE_RETURN_IF_ERROR(ReadTableTail(options, *file, file_size, &tail));
  return FormatOf(tail.magic()).Open(options, tail, std::move(file), file_size, reader);
}

// Cuts the probes into runs of one format. Nearly always there is one run.
ProbeReads MultiGetFromTables(const ReadOptions& options, std::span<const TableProbe> probes) {
  ProbeReads sum;
  for (size_t begin = 0, end = 0; begin < probes.size(); begin = end) {
    const TableFormat& format = probes[begin].table->format();
    for (end = begin + 1; end < probes.size(); end++) {
      if (probes[end].table == probes[end - 1].table) continue;
      if (&probes[end].table->format() != &format) break;
    }
    sum.Add(format.MultiGet(options, probes.subspan(begin, end - begin)));
  }
  return sum;
}

}  // namespace varve
