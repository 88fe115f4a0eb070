// SPDX-License-Identifier: Apache-2.0
// Tables written beside the database, in the directory of its name and ".tables", and taken in.

#include <array>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/sst_file_writer.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

std::string DirectoryOfTables(const Worker& worker) {
  return worker.database.path() + ".tables";
}

std::string TableName(const Worker& worker, int64_t file) {
  return DirectoryOfTables(worker) + "/" + std::to_string(file) + ".sst";
}

void Prepare(Plan& plan) {
  if (FLAGS_ingest_files < 1) Fail("--ingest_files must be at least 1");
  plan.threads = 1;
}

// Writes the keys of fillseq into the files, which share them out.
void WriteTables(Worker& worker) {
  const Options& options = worker.database.options();
  const std::string directory = DirectoryOfTables(worker);
  Status s = worker.db()->GetEnv()->CreateDirIfMissing(directory);
  if (!s.ok()) Fail("cannot make " + directory, s);
  SstFileWriter writer{EnvOptions(options), options};
  KeyMaker keys = worker.NewKeyMaker();
  ValueStream values = worker.NewValues();
  const int64_t files = FLAGS_ingest_files;
  int64_t bytes = 0;
  for (int64_t file = 0; file < files; ++file) {
    const int64_t first = worker.plan.num * file / files;
    const int64_t end = worker.plan.num * (file + 1) / files;
    if (first == end) continue;
    s = writer.Open(TableName(worker, file));
    for (int64_t number = first; s.ok() && number < end; ++number) {
      const Slice key = keys.Make(static_cast<uint64_t>(number));
      const Slice value = values.Next();
      s = writer.Put(key, value);
      bytes += static_cast<int64_t>(key.size() + value.size());
      worker.stats.FinishedOps(1, Op::kWrite);
    }
    if (s.ok()) s = writer.Finish();
    if (!s.ok()) Fail("cannot write a table", s);
  }
  worker.stats.AddBytes(bytes);
}

// Ingests all files in one call and moves them, so that what writetables made is gone afterwards.
void IngestTables(Worker& worker) {
  std::vector<std::string> files;
  for (int64_t file = 0; file < FLAGS_ingest_files; ++file) {
    const std::string name = TableName(worker, file);
    if (worker.db()->GetEnv()->FileExists(name).ok()) files.push_back(name);
  }
  if (files.empty()) Fail("ingestexternalfile comes after writetables");
  IngestExternalFileOptions options;
  options.move_files = true;
  const Status s = worker.db()->IngestExternalFile(files, options);
  if (!s.ok()) Fail("ingestion failed", s);
  worker.stats.FinishedOps(static_cast<int64_t>(files.size()), Op::kOther);
}

constexpr std::array kIngestBenchmarks = {
    Benchmark{
        .name = "writetables", .body = WriteTables, .setup = Prepare, .takes_timestamps = false},
    Benchmark{.name = "ingestexternalfile",
              .body = IngestTables,
              .setup = Prepare,
              .takes_timestamps = false},
};

}  // namespace

std::span<const Benchmark> IngestBenchmarks() {
  return kIngestBenchmarks;
}

}  // namespace varve::bench
