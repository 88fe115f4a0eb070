// SPDX-License-Identifier: Apache-2.0

// Wraps one table file in what a read of a column family needs: a version with the table in one
// level, an empty memtable and a super-version over both.
//
//       super-version { empty memtable, version { L0: the table } }
//
// So a read of a file takes the paths of db/read, with their rules for merges, deletions, ranges
// and timestamps. Nobody installs another super-version, and nothing is ever compacted.

#include "db/external/single_table.h"

#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/env.h"
#include "varve/system_clock.h"
#include "varve/table.h"

#include "db/recovery/sanitize.h"
#include "memtable/memtable.h"
#include "table/inspect/inspect_table.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Returns the options with defaults for pointers that an opening of a database would have set.
std::shared_ptr<const Options> WithDefaults(const Options& given) {
  auto options = std::make_shared<Options>(given);
  if (options->env == nullptr) options->env = Env::Default();
  if (options->comparator == nullptr) options->comparator = BytewiseComparator();
  if (options->table_factory == nullptr) {
    options->table_factory.reset(NewBlockBasedTableFactory());
  }
  return options;
}

FileRef Describe(InspectedTable* table) {
  auto file = std::make_shared<FileMetaData>();
  // Number and epoch only have to exist: there is no other table.
  file->number = 1;
  file->size = table->file_size;
  file->smallest = table->smallest;
  file->largest = table->largest;
  // Only the ends were read, so the smallest sequence number is unknown.
  file->smallest_seq = 0;
  file->largest_seq = kMaxSequenceNumber;
  file->epoch_number = 1;
  file->unique_id = table->unique_id;
  file->timestamps_persisted = table->timestamps_persisted;
  file->SetCounts(CountsOf(*table->properties));
  // The metadata owns the open reader, so no cache of tables is asked.
  file->reader.store(table->reader.release(), std::memory_order_release);
  return file;
}

}  // namespace

SingleTable::SingleTable(const Options& options, const std::string& path)
    : path_(path), options_(WithDefaults(options)), icmp_(options_->comparator) {}

SingleTable::~SingleTable() {
  if (super_version_ != nullptr) super_version_->Unref();
}

Status SingleTable::Open(const Options& options, const std::string& path,
                         std::shared_ptr<SingleTable>* table) {
  std::shared_ptr<SingleTable> made(new SingleTable(options, path));
  VARVE_RETURN_IF_ERROR(PrepareTableFactory(*made->options_));
  VARVE_RETURN_IF_ERROR(made->OpenFile());
  *table = std::move(made);
  return Status::OK();
}

Status SingleTable::OpenFile() {
  const std::shared_ptr<FileSystem> fs = options_->env->GetFileSystem();
  const FileOptions file_options(*options_);
  InspectOptions inspect;
  inspect.fs = fs.get();
  inspect.file_options = file_options;
  inspect.icmp = &icmp_;
  inspect.factory = options_->table_factory;
  inspect.prefix_extractor = options_->prefix_extractor;
  inspect.statistics = options_->statistics.get();
  // The file may be a database's table or one that SstFileWriter has made.
  inspect.writer = InspectOptions::Writer::kEither;
  inspect.past_cache = false;
  InspectedTable inspected;
  VARVE_RETURN_IF_ERROR(InspectTable(path_, inspect, &inspected));
  reader_ = inspected.reader.get();

  std::vector<std::vector<FileRef>> levels(1);
  if (inspected.empty()) {
    // A version has no place for a table without entries, so its reader is kept beside it, for its
    // properties.
    empty_ = std::move(inspected.reader);
  } else {
    levels[0].push_back(Describe(&inspected));
  }
  const std::shared_ptr<const ColumnFamilyOptions> family_options = options_;
  TableCacheOptions cache;
  cache.fs = fs;
  cache.file_options = file_options;
  cache.icmp = &icmp_;
  cache.cf_options = family_options;
  cache.statistics = options_->statistics.get();
  super_version_ = new SuperVersion(
      /*number=*/1, std::make_shared<MemTable>(icmp_, MemTableOptions(), /*id=*/1), {},
      std::make_shared<const Version>(&icmp_, /*version_number=*/1, std::move(levels)),
      family_options, std::make_shared<TableCache>(std::move(cache)),
      MergeCaller(options_->merge_operator.get(), options_->info_log.get(),
                  options_->statistics.get()));
  return Status::OK();
}

SystemClock* SingleTable::clock() const {
  return options_->env->GetSystemClock().get();
}

SuperVersion* SingleTable::AcquireSuperVersion() {
  super_version_->Ref();
  return super_version_;
}

}  // namespace varve
