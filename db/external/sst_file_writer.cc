// SPDX-License-Identifier: Apache-2.0

// Implements SstFileWriter: converts options to those of a table, and writes one file at a time.
//
// Options are used as a database would, so that the tables differ from a database's only in their
// properties. The files of a writer are numbered; a table's unique id is made of the writer's
// session and this number.

#include "varve/sst_file_writer.h"

#include <utility>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/merge_operator.h"
#include "varve/rate_limiter.h"
#include "varve/table.h"

#include "db/external/external_table.h"
#include "db/recovery/identity.h"
#include "db/recovery/sanitize.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/key/entity.h"

namespace varve {

namespace {

// The database id that RocksDB stores in such tables.
constexpr char kDbId[] = "SST Writer";

Env* EnvOf(const Options& options) {
  return options.env != nullptr ? options.env : Env::Default();
}

// Sets the compression of the last level, to which such files usually go.
void SetCompression(const Options& options, TableBuildOptions* build) {
  build->compression_opts = options.compression_opts;
  if (options.bottommost_compression != kDisableCompressionOption) {
    build->compression = options.bottommost_compression;
    if (options.bottommost_compression_opts.enabled) {
      build->compression_opts = options.bottommost_compression_opts;
    }
  } else if (!options.compression_per_level.empty()) {
    build->compression = options.compression_per_level.back();
  } else {
    build->compression = options.compression;
  }
}

}  // namespace

struct SstFileWriter::Rep {
  Rep(const EnvOptions& given_env_options, const Options& given, const Comparator* comparator,
      ColumnFamilyHandle* family, bool invalidate_page_cache, Env::IOPriority io_priority);

  // Returns NotSupported if timestamps cannot be left out with this comparator.
  Status CheckComparator() const;
  TableBuildOptions MakeBuildOptions() const;
  ExternalTableRequest MakeRequest(const std::string& path, Temperature temperature) const;
  // Runs `step` on the open file and returns its result. An exception becomes the error of all
  // later calls for this file.
  template <typename Step>
  Status Run(Step step) {
    if (table == nullptr) [[unlikely]]
      return Status::InvalidArgument("SstFileWriter: no file is open");
    try {
      return step(*table);
      // An exception, of a collector for example, leaves the builder in an unknown state, so the
      // file cannot be continued.
    } catch (...) {
      return table->Fail(CaughtException());
    }
  }

  const Options options;
  const EnvOptions env_options;
  const bool invalidate_page_cache;
  const Env::IOPriority io_priority;
  const InternalKeyComparator icmp;
  // Orders keys without timestamps; null unless the table leaves them out.
  std::unique_ptr<const InternalKeyComparator> order_without_timestamp;
  uint32_t family_id = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  std::string family_name;
  const std::string session_id;
  const std::string host_name;

  uint64_t files_opened = 0;
  uint64_t finished_bytes = 0;
  std::unique_ptr<ExternalTable> table;  // Null: no file is open.
};

SstFileWriter::Rep::Rep(const EnvOptions& given_env_options, const Options& given,
                        const Comparator* comparator, ColumnFamilyHandle* family,
                        bool invalidate_page_cache_, Env::IOPriority io_priority_)
    : options(given),
      env_options(given_env_options),
      invalidate_page_cache(invalidate_page_cache_),
      io_priority(io_priority_),
      icmp(comparator != nullptr ? comparator : BytewiseComparator()),
      session_id(NewSessionId(EnvOf(given))),
      host_name(HostNameForTables(given)) {
  if (!options.persist_user_defined_timestamps && icmp.timestamp_size() != 0) {
    // The table orders keys without timestamps, and that order is known only for built-in
    // comparators.
    const Comparator* const bare = ComparatorWithoutTimestamp(icmp.user_comparator());
    if (bare != nullptr) {
      order_without_timestamp = std::make_unique<InternalKeyComparator>(bare);
    }
  }
  if (family != nullptr) {
    family_id = family->GetID();
    family_name = family->GetName();
  }
}

Status SstFileWriter::Rep::CheckComparator() const {
  const bool omits = !options.persist_user_defined_timestamps && icmp.timestamp_size() != 0;
  if (omits && order_without_timestamp == nullptr) {
    return Status::NotSupported(
        "SstFileWriter: persist_user_defined_timestamps is false, and comparator " +
        std::string(icmp.user_comparator()->Name()) + " is none of the built-in ones");
  }
  return Status::OK();
}

TableBuildOptions SstFileWriter::Rep::MakeBuildOptions() const {
  TableBuildOptions build;
  build.icmp = &icmp;
  if (order_without_timestamp != nullptr) {
    build.icmp = order_without_timestamp.get();
    // The table stores the name of the comparator with timestamps, which the family that ingests it
    // has.
    build.comparator_name = icmp.user_comparator()->Name();
    build.persist_timestamps = false;
  }
  build.factory = options.table_factory;
  if (build.factory == nullptr) build.factory.reset(NewBlockBasedTableFactory());
  SetCompression(options, &build);
  build.prefix_extractor = options.prefix_extractor.get();
  build.collector_factories = options.table_properties_collector_factories;
  build.sample_for_compression = options.sample_for_compression;
  if (options.merge_operator != nullptr) build.merge_operator_name = options.merge_operator->Name();
  build.statistics = options.statistics.get();
  build.column_family_id = family_id;
  build.column_family_name = family_name;
  build.allow_data_in_errors = options.allow_data_in_errors;
  build.file_number = files_opened + 1;
  build.db_id = kDbId;
  build.db_session_id = session_id;
  build.db_host_id = host_name;
  return build;
}

ExternalTableRequest SstFileWriter::Rep::MakeRequest(const std::string& path,
                                                     Temperature temperature) const {
  ExternalTableRequest request;
  Env* const env = EnvOf(options);
  request.path = path;
  request.fs = env->GetFileSystem();
  request.file_options = FileOptions(env_options);
  // Tables are never written through a mapping, as in a database (db/compaction/table_output.cc).
  request.file_options.use_mmap_writes = false;
  request.file_options.temperature = temperature;
  request.file_options.io_options.rate_limiter_priority = io_priority;
  request.writer_options = WritableFileWriter::OptionsFrom(request.file_options);
  if (request.writer_options.rate_limiter == nullptr) {
    request.writer_options.rate_limiter = options.rate_limiter.get();
  }
  request.writer_options.stats = options.statistics.get();
  request.writer_options.clock = env->GetSystemClock().get();
  request.writer_options.write_histogram = SST_WRITE_MICROS;
  request.checksum_factory = options.file_checksum_gen_factory.get();
  request.use_fsync = options.use_fsync;
  request.leaves_page_cache = invalidate_page_cache;
  request.icmp = &icmp;
  request.build = MakeBuildOptions();
  return request;
}

SstFileWriter::SstFileWriter(const EnvOptions& env_options, const Options& options,
                             ColumnFamilyHandle* column_family, bool invalidate_page_cache,
                             Env::IOPriority io_priority)
    : SstFileWriter(env_options, options, options.comparator, column_family, invalidate_page_cache,
                    io_priority) {}

SstFileWriter::SstFileWriter(const EnvOptions& env_options, const Options& options,
                             const Comparator* user_comparator, ColumnFamilyHandle* column_family,
                             bool invalidate_page_cache, Env::IOPriority io_priority)
    : rep_(std::make_unique<Rep>(env_options, options, user_comparator, column_family,
                                 invalidate_page_cache, io_priority)) {}

SstFileWriter::~SstFileWriter() = default;

Status SstFileWriter::Open(const std::string& file_path, Temperature temperature) try {
  if (rep_->table != nullptr) {
    return Status::InvalidArgument("SstFileWriter::Open: the file before is not finished",
                                   file_path);
  }
  VARVE_RETURN_IF_ERROR(rep_->CheckComparator());
  VARVE_RETURN_IF_ERROR(
      ExternalTable::Create(rep_->MakeRequest(file_path, temperature), &rep_->table));
  rep_->files_opened++;
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status SstFileWriter::Put(const Slice& user_key, const Slice& value) {
  return rep_->Run(
      [&](ExternalTable& table) { return table.Add(kTypeValue, user_key, Slice(), value); });
}

Status SstFileWriter::Put(const Slice& user_key, const Slice& timestamp, const Slice& value) {
  return rep_->Run(
      [&](ExternalTable& table) { return table.Add(kTypeValue, user_key, timestamp, value); });
}

Status SstFileWriter::Merge(const Slice& user_key, const Slice& value) {
  return rep_->Run(
      [&](ExternalTable& table) { return table.Add(kTypeMerge, user_key, Slice(), value); });
}

Status SstFileWriter::PutEntity(const Slice& user_key, const WideColumns& columns) {
  std::string entity;
  return rep_->Run([&](ExternalTable& table) -> Status {
    VARVE_RETURN_IF_ERROR(EncodeEntity(columns, &entity));
    return table.Add(kTypeWideColumnEntity, user_key, Slice(), entity);
  });
}

Status SstFileWriter::Delete(const Slice& user_key) {
  return rep_->Run(
      [&](ExternalTable& table) { return table.Add(kTypeDeletion, user_key, Slice(), Slice()); });
}

Status SstFileWriter::Delete(const Slice& user_key, const Slice& timestamp) {
  return rep_->Run([&](ExternalTable& table) {
    return table.Add(kTypeDeletionWithTimestamp, user_key, timestamp, Slice());
  });
}

Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key) {
  return DeleteRange(begin_key, end_key, Slice());
}

Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key,
                                  const Slice& timestamp) {
  return rep_->Run(
      [&](ExternalTable& table) { return table.AddTombstone(begin_key, end_key, timestamp); });
}

Status SstFileWriter::Finish(ExternalSstFileInfo* file_info) {
  // The file stays open, so entries can still be added.
  if (rep_->table != nullptr && rep_->table->empty()) {
    return Status::InvalidArgument("SstFileWriter::Finish: nothing was added to the file");
  }
  const Status s = rep_->Run([&](ExternalTable& table) { return table.Finish(file_info); });
  if (s.ok()) rep_->finished_bytes = rep_->table->FileSize();
  // After any result another file may be opened. A file that failed is deleted here.
  rep_->table.reset();
  return s;
}

uint64_t SstFileWriter::FileSize() {
  return rep_->table != nullptr ? rep_->table->FileSize() : rep_->finished_bytes;
}

bool SstFileWriter::CreatedBySstFileWriter(const TableProperties& properties) {
  return properties.user_collected_properties.count(kExternalVersionProperty) != 0;
}

}  // namespace varve
