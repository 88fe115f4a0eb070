// SPDX-License-Identifier: Apache-2.0

// Makes a super-version for one table file: an empty memtable, and a version with the table in L0.
//
//       super-version { empty memtable, version { L0: the table } }
//
// So reads of a file use the code of db/read, with its handling of merges, deletions, ranges and
// timestamps. The super-version never changes, and nothing is compacted.

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

// Returns the options, with defaults for null pointers as an opening of a database would set them.
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
  // Number and epoch are arbitrary, as there is no other table.
  file->number = 1;
  file->size = table->file_size;
  file->smallest = table->smallest;
  file->largest = table->largest;
  // Only the first and the last entry were read, so the sequence numbers are not known.
  file->smallest_seq = 0;
  file->largest_seq = kMaxSequenceNumber;
  file->epoch_number = 1;
  file->unique_id = table->unique_id;
  file->timestamps_persisted = table->timestamps_persisted;
  file->SetCounts(CountsOf(*table->properties));
  // The metadata owns the open reader, so no table cache is needed.
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
    // A version cannot have a table without entries; its reader is kept for the properties.
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
