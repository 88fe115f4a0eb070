// SPDX-License-Identifier: Apache-2.0
// Asks, as a foreign program would, for the type of every class of the public headers that programs
// derive from: with RTTI, deriving needs it, and the shared library must have it or leave it to
// them.

#include <cstdio>
#include <memory>
#include <string>
#include <typeinfo>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/concurrent_task_limiter.h"
#include "varve/configurable.h"
#include "varve/convenience.h"
#include "varve/customizable.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/env_wrappers.h"
#include "varve/file_checksum.h"
#include "varve/file_system.h"
#include "varve/file_system_wrappers.h"
#include "varve/filter_policy.h"
#include "varve/iterator.h"
#include "varve/listener.h"
#include "varve/memory_allocator.h"
#include "varve/memtablerep.h"
#include "varve/merge_operator.h"
#include "varve/rate_limiter.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/sst_partitioner.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"
#include "varve/table.h"
#include "varve/table_properties.h"
#include "varve/transaction_log.h"
#include "varve/user_write_callback.h"
#include "varve/utilities/object_registry.h"
#include "varve/write_batch.h"

namespace {

// Stands for all comparators of programs.
class Backwards : public varve::Comparator {
 public:
  static const char* kClassName() { return "backwards"; }
  const char* Name() const override { return kClassName(); }
  int Compare(const varve::Slice& a, const varve::Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const varve::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Names that the program registers are known to the library.
bool ReadsRegisteredName() {
  varve::ObjectLibrary::Default()->AddFactory<varve::Comparator>(
      "of the program", [](const std::string&, std::unique_ptr<varve::Comparator>*, std::string*) {
        static Backwards backwards;
        return static_cast<varve::Comparator*>(&backwards);
      });
  varve::ColumnFamilyOptions options;
  return varve::GetColumnFamilyOptionsFromString(varve::ConfigOptions(), options,
                                                 "comparator=of the program", &options)
             .ok() &&
         dynamic_cast<const Backwards*>(options.comparator) != nullptr;
}

// A class that the library has no like of.
class Shelf : public varve::Customizable {
 public:
  static const char* kClassName() { return "shelf"; }
  const char* Name() const override { return kClassName(); }
};

// Objects of the program and of the library are asked in the same way.
bool TellsWhatObjectsAre(const Backwards& backwards) {
  const varve::ConfigOptions config;
  const Shelf shelf;
  const varve::Customizable* const objects[] = {&backwards, &shelf};
  const std::unique_ptr<varve::TableFactory> factory(varve::NewBlockBasedTableFactory());
  return objects[0]->CheckedCast<Backwards>() == &backwards && shelf.ToString(config) == "shelf" &&
         objects[1]->CheckedCast<Backwards>() == nullptr &&
         factory->ConfigureOption(config, "block_size", "99").ok() &&
         factory->GetOptions<varve::BlockBasedTableOptions>()->block_size == 99;
}

template <typename... Classes>
size_t Names() {
  size_t named = 0;
  for (const char* name : {typeid(Classes).name()...}) named += name[0] != '\0' ? 1 : 0;
  return named;
}

}  // namespace

int main(int argc, char**) {
  if (argc != 2) return 2;  // Called as all strangers are: with the name of a directory.
  const Backwards backwards;
  const varve::Comparator* comparator = &backwards;
  if (dynamic_cast<const Backwards*>(comparator) == nullptr) return 3;
  if (!ReadsRegisteredName()) return 4;
  if (!TellsWhatObjectsAre(backwards)) return 5;
  const size_t named =
      Names<varve::AssociativeMergeOperator, varve::Cache, varve::ColumnFamilyHandle,
            varve::CompactionFilter, varve::CompactionFilterFactory, varve::Comparator,
            varve::CompareInterface, varve::ConcurrentTaskLimiter, varve::Configurable,
            varve::Customizable, varve::DB, varve::Directory, varve::Env, varve::EnvWrapper,
            varve::EventListener, varve::FSWritableFile, varve::FileChecksumGenFactory,
            varve::FileChecksumGenerator, varve::FileSystem, varve::FileSystemWrapper,
            varve::FilterPolicy, varve::Iterator, varve::LogFile, varve::Logger,
            varve::MemTableRepFactory, varve::MemoryAllocator, varve::MergeOperator,
            varve::ObjectLibrary::Entry, varve::RandomAccessFile, varve::RateLimiter,
            varve::SequentialFile, varve::SliceTransform, varve::SstPartitioner,
            varve::SstPartitionerFactory, varve::Snapshot, varve::Statistics, varve::SystemClock,
            varve::TableFactory, varve::TablePropertiesCollector,
            varve::TablePropertiesCollectorFactory, varve::TransactionLogIterator,
            varve::UserWriteCallback, varve::WritableFile, varve::WriteBatch,
            varve::WriteBatch::Handler>();
  std::printf("%zu classes\n", named);
  return 0;
}
