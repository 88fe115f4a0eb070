// SPDX-License-Identifier: Apache-2.0

// The entries of the table are held in memory, the first 256 MiB of them, and written once for each
// codec and level into a file system in memory, so that no disk is measured. Times are processor
// time of this thread, as other processes may be busy. Each table is read back and must have as
// many entries.

#include "tools/varve/recompress.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/convenience.h"
#include "varve/table.h"

#include "table/table_builder.h"
#include "util/base/status_macros.h"
#include "util/env/mem_file_system.h"
#include "util/env/random_access_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve::tool {

namespace {

constexpr char kTrial[] = "/trial";
// A larger table is tried with the entries at its beginning.
constexpr uint64_t kMaxSampleBytes = uint64_t{256} << 20;

struct Codec {
  CompressionType type;
  const char* name;
  std::vector<int> levels;
};

constexpr int kUsual = CompressionOptions::kDefaultCompressionLevel;

const std::vector<Codec>& Codecs() {
  static const std::vector<Codec> codecs = {
      {kNoCompression, "none", {kUsual}},    {kSnappyCompression, "snappy", {kUsual}},
      {kLZ4Compression, "lz4", {kUsual}},    {kLZ4HCCompression, "lz4hc", {1, 4, 9}},
      {kZlibCompression, "zlib", {1, 6, 9}}, {kBZip2Compression, "bzip2", {kUsual}},
      {kZSTD, "zstd", {1, 3, 6, 9, 19}}};
  return codecs;
}

struct Trial {
  std::string codec;
  uint64_t bytes = 0;
  double write_seconds = 0;
  double read_seconds = 0;
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Holds the entries of a table, in order.
struct Entries {
  std::vector<std::pair<std::string, std::string>> all;
  uint64_t bytes = 0;

  Status Read(const TableFile& file) {
    SalvageCount count;
    const Status full = Status::Aborted();
    const Status s = file.reader().Salvage(
        [&](const Slice& key, const Slice& value) {
          // The entries are held in memory, with a trial table beside them.
          if (bytes >= kMaxSampleBytes) return full;
          bytes += key.size() + value.size();
          all.emplace_back(key.ToString(), value.ToString());
          return Status::OK();
        },
        &count);
    if (!s.ok() && !s.IsAborted()) return s;
    // A sample with gaps would compress in another way.
    return count.lost_blocks == 0 ? Status::OK() : count.first_error;
  }
};

// Writes the entries as one table, and reads it once.
Status Try(const TableFile& file, const Entries& entries, const TableBuildOptions& options,
           FileSystem* memory, Trial* trial) {
  std::unique_ptr<WritableFileWriter> writer;
  VARVE_RETURN_IF_ERROR(WritableFileWriter::Create(memory, kTrial, FileOptions(),
                                                   WritableFileWriter::Options(), &writer));
  const double begin = ThreadSeconds();
  std::unique_ptr<TableBuilder> builder;
  VARVE_RETURN_IF_ERROR(TableBuilder::Create(options, writer.get(), &builder));
  for (const auto& [key, value] : entries.all) builder->Add(key, value);
  VARVE_RETURN_IF_ERROR(builder->Finish());
  VARVE_RETURN_IF_ERROR(writer->Close());
  const double written = ThreadSeconds();
  trial->write_seconds = written - begin;
  trial->bytes = builder->FileSize();
  std::unique_ptr<RandomAccessFileReader> source;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(memory, kTrial, FileOptions(),
                                                     RandomAccessFileReader::Options(), &source));
  TableOpenOptions open;
  open.icmp = &file.icmp();
  open.factory = options.factory;
  open.past_cache = true;  // Each block is decompressed once, and none comes from a cache.
  open.file_name = kTrial;
  std::unique_ptr<TableReader> reader;
  VARVE_RETURN_IF_ERROR(TableReader::Open(open, std::move(source), trial->bytes, &reader));
  SalvageCount count;
  VARVE_RETURN_IF_ERROR(
      reader->Salvage([](const Slice&, const Slice&) { return Status::OK(); }, &count));
  trial->read_seconds = ThreadSeconds() - written;
  return count.entries == entries.all.size() && count.lost_blocks == 0
             ? Status::OK()
             : Status::Corruption("a table of " + trial->codec + " is not read as it was written");
}

void Print(const Request& request, const Entries& entries, const Trial& trial, Console* console) {
  if (console->json) {
    Json json;
    json.BeginObject().Text("file", request.db).Text("codec", trial.codec);
    json.Number("bytes", trial.bytes).Number("entry_bytes", entries.bytes);
    json.Number("write_micros", static_cast<uint64_t>(trial.write_seconds * 1e6));
    json.Number("read_micros", static_cast<uint64_t>(trial.read_seconds * 1e6)).EndObject();
    return console->Line(&json);
  }
  char row[160];
  std::snprintf(row, sizeof(row), "%-10s %14llu %7.1f %12.1f %12.1f", trial.codec.c_str(),
                static_cast<unsigned long long>(trial.bytes),
                100.0 * static_cast<double>(trial.bytes) /
                    static_cast<double>(std::max<uint64_t>(entries.bytes, 1)),
                trial.write_seconds * 1e3, trial.read_seconds * 1e3);
  console->Line(row);
}

}  // namespace

Status TryCompressions(const Request& request, const TableFile& file, Console* console) {
  if (!file.order_known()) {
    return Status::NotSupported(request.db, "its comparator is not known here");
  }
  Entries entries;
  VARVE_RETURN_IF_ERROR(entries.Read(file));
  if (!console->json) {
    console->Line(std::to_string(entries.all.size()) + " entries of " +
                  std::to_string(entries.bytes) + " bytes, blocks of " +
                  std::to_string(request.block_size) + " bytes; times are of one processor");
    console->Line("codec               bytes       %     write ms      read ms");
  }
  BlockBasedTableOptions table;
  table.block_size = request.block_size;
  TableBuildOptions options;
  options.icmp = &file.icmp();
  options.factory = std::shared_ptr<const TableFactory>(NewBlockBasedTableFactory(table));
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  for (const Codec& codec : Codecs()) {
    if (codec.type != kNoCompression && std::ranges::count(supported, codec.type) == 0) continue;
    for (const int level : codec.levels) {
      options.compression = codec.type;
      options.compression_opts.level = level;
      Trial trial;
      trial.codec = codec.name + (level == kUsual ? "" : "-" + std::to_string(level));
      // One for each trial: the table of the last one is gone before the next is written.
      MemFileSystem memory;
      VARVE_RETURN_IF_ERROR(Try(file, entries, options, &memory, &trial));
      Print(request, entries, trial, console);
      console->out.Flush();
      if (console->out.failed()) return Status::OK();
    }
  }
  return Status::OK();
}

}  // namespace varve::tool
