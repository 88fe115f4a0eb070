// SPDX-License-Identifier: Apache-2.0
#include "tests/db/ingest/external_files.h"

#include <atomic>
#include <memory>

#include "varve/table.h"

#include "table/table_builder.h"
#include "util/coding/fixed.h"
#include "util/env/writable_file_writer.h"

namespace varve::testing {

Status WriteTo(FileSystem* fs, const std::string& path, const ExternalFile& file) {
  static std::atomic<uint64_t> next_number{1};
  const InternalKeyComparator icmp(file.comparator);
  TableBuildOptions build;
  build.icmp = &icmp;
  build.factory.reset(NewBlockBasedTableFactory());
  build.column_family_id = static_cast<uint32_t>(file.family_id);
  build.db_id = "SST Writer";
  build.db_session_id = "ABCDEFGHIJKLMNOPQRST";
  build.file_number = next_number.fetch_add(1);
  UserCollectedProperties& marks = build.added_properties;
  if (file.version != 0) PutFixed32(&marks["rocksdb.external_sst_file.version"], file.version);
  if (file.version >= 2) PutFixed64(&marks["rocksdb.external_sst_file.global_seqno"], 0);
  std::unique_ptr<WritableFileWriter> writer;
  const FileOptions options;
  Status s = WritableFileWriter::Create(fs, path, options, WritableFileWriter::OptionsFrom(options),
                                        &writer);
  if (!s.ok()) return s;
  std::unique_ptr<TableBuilder> builder;
  s = TableBuilder::Create(build, writer.get(), &builder);
  if (!s.ok()) return s;
  for (const auto& [key, entry] : file.entries) {
    builder->Add(InternalKey(key, file.sequence, entry.type).Encode(), entry.value);
  }
  for (const auto& [begin, end] : file.tombstones) {
    builder->AddTombstone(InternalKey(begin, file.sequence, kTypeRangeDeletion).Encode(), end);
  }
  s = builder->Finish();
  if (s.ok()) s = writer->Sync(/*use_fsync=*/false);
  if (s.ok()) s = writer->Close();
  return s;
}

}  // namespace varve::testing
