// SPDX-License-Identifier: Apache-2.0
#pragma once

// Separates the database from the formats of its tables: builds and opens the tables of one kind of
// TableFactory. A new format is a new file here and a line in table_formats.cc.

#include <cstdint>
#include <memory>

#include "varve/status.h"

#include "table/table_builder.h"
#include "table/table_reader.h"

namespace varve {

// Interface of a table format. All methods but IsOf require options with a factory of this format.
//
// Thread safety: immutable.
class TableFormat {
 public:
  virtual ~TableFormat() = default;

  // True if the factory's tables have this format.
  virtual bool IsOf(const TableFactory& factory) const = 0;
  // These methods do what the functions of the same names in TableBuilder and TableReader do.
  virtual Status CheckOptions(const TableBuildOptions& options) const = 0;
  virtual Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                        std::unique_ptr<TableBuilder>* builder) const = 0;
  virtual bool FillsCache(const TableBuildOptions& options, uint64_t table_bytes) const = 0;
  virtual Status Open(const TableOpenOptions& options, std::unique_ptr<RandomAccessFileReader> file,
                      uint64_t file_size, std::unique_ptr<TableReader>* reader) const = 0;
};

// Returns the format described in FORMAT.md.
const TableFormat& BlockBasedTableFormat();

}  // namespace varve
