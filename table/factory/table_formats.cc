// SPDX-License-Identifier: Apache-2.0

// Holds the registry of table formats, and the functions that dispatch on it.

#include <utility>

#include "table/factory/table_format.h"
#include "util/base/status_macros.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

Status FormatOf(const TableFactory* factory, const TableFormat** format) {
  static const TableFormat* const kFormats[] = {&BlockBasedTableFormat()};
  for (const TableFormat* const f : kFormats) {
    if (factory == nullptr || !f->IsOf(*factory)) continue;
    *format = f;
    return Status::OK();
  }
  return Status::NotSupported("table_factory",
                              factory == nullptr ? "is null" : "is none that makes known tables");
}

}  // namespace

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

Status TableReader::Open(const TableOpenOptions& options,
                         std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                         std::unique_ptr<TableReader>* reader) {
  const TableFormat* format = nullptr;
  VARVE_RETURN_IF_ERROR(FormatOf(options.factory.get(), &format));
  return format->Open(options, std::move(file), file_size, reader);
}

}  // namespace varve
