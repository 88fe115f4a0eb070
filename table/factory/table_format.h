// SPDX-License-Identifier: Apache-2.0
#pragma once

// Separates the database from the formats of its tables: builds and opens the tables of one kind of
// TableFactory. A table is written in the format of its family's factory, and read in the format
// that its last bytes name, so a family may hold tables of several formats. A new format is a new
// file here and a line in table_formats.cc.

#include <cstdint>
#include <memory>
#include <span>

#include "varve/status.h"

#include "table/reader/probe_batch.h"
#include "table/reader/table_tail.h"
#include "table/table_builder.h"
#include "table/table_reader.h"

namespace varve {

// Interface of a table format. The methods that write require options with a factory of this
// format.
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

  // True if tables that end with this number have this format.
  virtual bool HasMagic(uint64_t magic) const = 0;
  // Checks that a file whose last bytes are `tail`, at `tail_offset` of it, ends with a footer that
  // can be read. Corruption: there is no valid footer. NotSupported: it is that of another format
  // or of a later version. No message names the file.
  virtual Status CheckFooter(const Slice& tail, uint64_t tail_offset) const = 0;
  // Opens a table whose last bytes are `tail`, and which HasMagic has recognised. See
  // TableReader::Open.
  virtual Status Open(const TableOpenOptions& options, const TableTail& tail,
                      std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                      std::unique_ptr<TableReader>* reader) const = 0;
  // Does what MultiGetFromTables does. Requires that all tables have this format.
  virtual ProbeReads MultiGet(const ReadOptions& options,
                              std::span<const TableProbe> probes) const = 0;
};

// Return the formats that are described in FORMAT.md.
const TableFormat& BlockBasedTableFormat();
const TableFormat& PlainTableFormat();

// Checks that a file of this size ends with the footer of a table that can be read. Reads only the
// file's end. NotSupported: the table has another format, or a later version of one. Corruption:
// the file is no table. Both name the file. Otherwise the error of the read.
Status CheckTableEnd(const RandomAccessFileReader& file, uint64_t file_size);

}  // namespace varve
