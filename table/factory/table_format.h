// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seam between the database and the formats of its tables: what builds and opens the tables of
// one kind of TableFactory. A new format is a new file here and a line in table_formats.cc.

#include <cstdint>
#include <memory>

#include "varve/status.h"

#include "table/table_builder.h"
#include "table/table_reader.h"

namespace varve {

// Each call but the first gets options whose factory this format is for.
//
// Thread safety: immutable.
class TableFormat {
 public:
  virtual ~TableFormat() = default;

  // Whether the factory's tables have this format.
  virtual bool IsOf(const TableFactory& factory) const = 0;
  // As the functions of TableBuilder and TableReader that have these names.
  virtual Status CheckOptions(const TableBuildOptions& options) const = 0;
  virtual Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                        std::unique_ptr<TableBuilder>* builder) const = 0;
  virtual bool FillsCache(const TableBuildOptions& options, uint64_t table_bytes) const = 0;
  virtual Status Open(const TableOpenOptions& options, std::unique_ptr<RandomAccessFileReader> file,
                      uint64_t file_size, std::unique_ptr<TableReader>* reader) const = 0;
};

// The format of FORMAT.md.
const TableFormat& BlockBasedTableFormat();

}  // namespace varve
