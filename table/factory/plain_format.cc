// SPDX-License-Identifier: Apache-2.0

// Implements the PlainTable format: joins the options of its factory to those of the given table.

#include <utility>

#include "varve/table.h"

#include "table/factory/table_format.h"
#include "table/plain/plain_table_builder.h"
#include "table/plain/plain_table_format.h"
#include "table/plain/plain_table_reader.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

// Returns the factory's options; the defaults if it makes other tables.
PlainTableOptions PlainOptionsOf(const TableFactory* factory) {
  const auto* const own = factory == nullptr ? nullptr : factory->GetOptions<PlainTableOptions>();
  return own == nullptr ? PlainTableOptions() : *own;
}

class PlainFormat final : public TableFormat {
 public:
  bool IsOf(const TableFactory& factory) const override {
    return factory.GetOptions<PlainTableOptions>() != nullptr;
  }
  Status CheckOptions(const TableBuildOptions& options) const override {
    return PlainTableBuilder::CheckOptions({options, PlainOptionsOf(options.factory.get())});
  }
  Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                std::unique_ptr<TableBuilder>* builder) const override {
    return PlainTableBuilder::Create({options, PlainOptionsOf(options.factory.get())}, file,
                                     builder);
  }
  bool FillsCache(const TableBuildOptions& /*options*/, uint64_t /*table_bytes*/) const override {
    return false;
  }

  bool HasMagic(uint64_t magic) const override {
    return magic == kPlainTableMagic || magic == kLegacyPlainTableMagic;
  }
  Status CheckFooter(const Slice& tail, uint64_t tail_offset) const override {
    PlainFooter footer;
    return footer.DecodeFrom(tail, tail_offset);
  }
  Status Open(const TableOpenOptions& options, const TableTail& tail,
              std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
              std::unique_ptr<TableReader>* reader) const override {
    return PlainTableReader::Open({options, PlainOptionsOf(options.factory.get())}, tail,
                                  std::move(file), file_size, reader);
  }
  ProbeReads MultiGet(const ReadOptions& options,
                      std::span<const TableProbe> probes) const override {
    // The lines of all probes, first of maps and filters and then of rows, are asked for before the
    // first is waited for.
    for (const TableProbe& probe : probes) probe.table->Prefetch(*probe.lookup);
    for (const TableProbe& probe : probes) {
      TableHint none;
      probe.table->PrefetchSpeculatively(*probe.lookup, &none);
    }
    // Errors are reported by the lookups.
    for (const TableProbe& probe : probes) (void)probe.table->Get(options, probe.lookup);
    return {};
  }
};

}  // namespace

const TableFormat& PlainTableFormat() {
  static const PlainFormat format;
  return format;
}

const TableFormat& PlainTableReader::format() const {
  return PlainTableFormat();
}

}  // namespace varve
