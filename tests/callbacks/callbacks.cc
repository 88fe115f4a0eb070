// SPDX-License-Identifier: Apache-2.0

// Defines the users' objects: they do the minimum, and call the trigger.

#include "tests/callbacks/callbacks.h"

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/env.h"
#include "varve/listener.h"
#include "varve/merge_operator.h"
#include "varve/sst_partitioner.h"
#include "varve/table_properties.h"

#include "util/coding/fixed.h"

namespace varve::testing {

namespace {

class Listener final : public EventListener {
 public:
  Listener(Trigger* t, bool of_files) : t_(*t), of_files_(of_files) {}

  void OnFlushBegin(DB*, const FlushJobInfo&) override { t_.Fire("OnFlushBegin"); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { t_.Fire("OnFlushCompleted"); }
  void OnManualFlushScheduled(DB*, const std::vector<ManualFlushInfo>&) override {
    t_.Fire("OnManualFlushScheduled");
  }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { t_.Fire("OnCompactionBegin"); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override {
    t_.Fire("OnCompactionCompleted");
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo&) override {
    t_.Fire("OnSubcompactionBegin");
  }
  void OnSubcompactionCompleted(const SubcompactionJobInfo&) override {
    t_.Fire("OnSubcompactionCompleted");
  }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo&) override {
    t_.Fire("OnTableFileCreationStarted");
  }
  void OnTableFileCreated(const TableFileCreationInfo&) override { t_.Fire("OnTableFileCreated"); }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { t_.Fire("OnTableFileDeleted"); }
  void OnMemTableSealed(const MemTableInfo&) override { t_.Fire("OnMemTableSealed"); }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle*) override {
    t_.Fire("OnColumnFamilyHandleDeletionStarted");
  }
  void OnBackgroundError(BackgroundErrorReason, Status*) override { t_.Fire("OnBackgroundError"); }
  void OnStallConditionsChanged(const WriteStallInfo&) override {
    t_.Fire("OnStallConditionsChanged");
  }
  void OnBackgroundJobPressureChanged(DB*, const BackgroundJobPressure&) override {
    t_.Fire("OnBackgroundJobPressureChanged");
  }
  void OnFileReadFinish(const FileOperationInfo&) override { t_.Fire("OnFileReadFinish"); }
  void OnFileWriteFinish(const FileOperationInfo&) override { t_.Fire("OnFileWriteFinish"); }
  void OnFileFlushFinish(const FileOperationInfo&) override { t_.Fire("OnFileFlushFinish"); }
  void OnFileSyncFinish(const FileOperationInfo&) override { t_.Fire("OnFileSyncFinish"); }
  void OnFileRangeSyncFinish(const FileOperationInfo&) override {
    t_.Fire("OnFileRangeSyncFinish");
  }
  void OnFileTruncateFinish(const FileOperationInfo&) override { t_.Fire("OnFileTruncateFinish"); }
  void OnFileCloseFinish(const FileOperationInfo&) override { t_.Fire("OnFileCloseFinish"); }
  bool ShouldBeNotifiedOnFileIO() override { return of_files_; }
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool*) override {
    t_.Fire("OnErrorRecoveryBegin");
  }
  void OnErrorRecoveryCompleted(Status) override { t_.Fire("OnErrorRecoveryCompleted"); }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo&) override {
    t_.Fire("OnErrorRecoveryEnd");
  }
  void OnDataMoved(DB*, const DataMoveInfo&) override { t_.Fire("OnDataMoved"); }
  void OnDatabaseRecovered(const RecoveryInfo&) override { t_.Fire("OnDatabaseRecovered"); }
  void OnIOError(const IOErrorInfo&) override { t_.Fire("OnIOError"); }

 private:
  Trigger& t_;
  const bool of_files_;
};

class Filter final : public CompactionFilter {
 public:
  explicit Filter(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "Filter"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*,
                    std::string*) const override {
    t_.Fire("CompactionFilter");
    return Decision::kKeep;
  }

 private:
  Trigger& t_;
};

class FilterFactory final : public CompactionFilterFactory {
 public:
  explicit FilterFactory(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "FilterFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    t_.Fire("CompactionFilterFactory");
    return std::make_unique<Filter>(&t_);
  }

 private:
  Trigger& t_;
};

// Merge operator of the counters that the calls keep.
class Sum final : public AssociativeMergeOperator {
 public:
  explicit Sum(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "Sum"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    t_.Fire("MergeOperator");
    const auto number = [](const Slice& s) {
      return s.size() == 8 ? DecodeFixed64(s.data()) : uint64_t{0};
    };
    result->clear();
    PutFixed64(result, number(value) + (existing == nullptr ? 0 : number(*existing)));
    return true;
  }

 private:
  Trigger& t_;
};

class Bytewise final : public Comparator {
 public:
  explicit Bytewise(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "Bytewise"; }
  int Compare(const Slice& a, const Slice& b) const override {
    t_.Fire("Comparator");
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  Trigger& t_;
};

class Collector final : public TablePropertiesCollector {
 public:
  explicit Collector(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "Collector"; }
  Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
    t_.Fire("TablePropertiesCollector");
    return Status::OK();
  }
  Status Finish(UserCollectedProperties*) override { return Status::OK(); }
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  Trigger& t_;
};

class CollectorFactory final : public TablePropertiesCollectorFactory {
 public:
  explicit CollectorFactory(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "CollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context) override {
    t_.Fire("TablePropertiesCollectorFactory");
    return new Collector(&t_);
  }

 private:
  Trigger& t_;
};

class Partitioner final : public SstPartitioner {
 public:
  explicit Partitioner(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "Partitioner"; }
  PartitionerResult ShouldPartition(const PartitionerRequest&) override {
    t_.Fire("SstPartitioner");
    return kNotRequired;
  }
  bool CanDoTrivialMove(const Slice&, const Slice&) override { return true; }

 private:
  Trigger& t_;
};

class PartitionerFactory final : public SstPartitionerFactory {
 public:
  explicit PartitionerFactory(Trigger* t) : t_(*t) {}
  const char* Name() const override { return "PartitionerFactory"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(const SstPartitioner::Context&) const override {
    t_.Fire("SstPartitionerFactory");
    return std::make_unique<Partitioner>(&t_);
  }

 private:
  Trigger& t_;
};

class Log final : public Logger {
 public:
  explicit Log(Trigger* t) : t_(*t) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override { t_.Fire("Logger"); }

 private:
  Trigger& t_;
};

class FileSystemCallback final : public MemFileSystem::CallHook {
 public:
  explicit FileSystemCallback(Trigger* t) : t_(*t) {}
  void BeforeCall(uint64_t, MemCall, const std::string& path) override {
    if (path.ends_with(".log")) t_.Fire("FileSystem of logs");
    if (path.ends_with(".sst")) t_.Fire("FileSystem of tables");
    if (path.find("MANIFEST") != std::string::npos) t_.Fire("FileSystem of the MANIFEST");
    if (path.find("OPTIONS") != std::string::npos) t_.Fire("FileSystem of OPTIONS");
  }

 private:
  Trigger& t_;
};

}  // namespace

const std::vector<Callback>& Callbacks() {
  constexpr bool kInRecovery = true;
  static const std::vector<Callback> all = {
      {"OnFlushBegin"},
      {"OnFlushCompleted"},
      {"OnManualFlushScheduled"},
      {"OnDataMoved"},
      {"OnCompactionBegin"},
      {"OnCompactionCompleted"},
      {"OnSubcompactionBegin"},
      {"OnSubcompactionCompleted"},
      {"OnTableFileCreationStarted", kInRecovery},
      {"OnTableFileCreated", kInRecovery},
      {"OnTableFileDeleted", kInRecovery},
      {"OnMemTableSealed"},
      {"OnColumnFamilyHandleDeletionStarted"},
      {"OnBackgroundError"},
      {"OnStallConditionsChanged"},
      {"OnBackgroundJobPressureChanged"},
      {"OnFileReadFinish", kInRecovery},
      {"OnFileWriteFinish", kInRecovery},
      {"OnFileFlushFinish", kInRecovery},
      {"OnFileSyncFinish", kInRecovery},
      {"OnFileCloseFinish", kInRecovery},
      {"OnErrorRecoveryBegin"},
      {"OnErrorRecoveryCompleted"},
      {"OnErrorRecoveryEnd"},
      {"OnIOError", kInRecovery},
      {"CompactionFilter", kInRecovery},
      {"CompactionFilterFactory", kInRecovery},
      {"MergeOperator", kInRecovery},
      {"Comparator", kInRecovery},
      {"TablePropertiesCollector", kInRecovery},
      {"TablePropertiesCollectorFactory", kInRecovery},
      {"SstPartitioner"},
      {"SstPartitionerFactory"},
      {"Logger", kInRecovery},
      {"FileSystem of logs", kInRecovery},
      {"FileSystem of tables", kInRecovery},
      {"FileSystem of the MANIFEST", kInRecovery},
      {"FileSystem of OPTIONS", kInRecovery},
      {"UserWriteCallback"},
      {"TransactionNotifier"},
  };
  return all;
}

const std::set<std::string>& NeverCalled() {
  // The last three run before there is a database, and only where files are synced by ranges or
  // truncated.
  static const std::set<std::string> never = {
      "OnChangeStreamExpired", "OnBlobFileCreationStarted", "OnBlobFileCreated",
      "OnBlobFileDeleted",     "OnExternalFileIngested",    "OnDatabaseRecovered",
      "OnFileRangeSyncFinish", "OnFileTruncateFinish",      "ShouldBeNotifiedOnFileIO"};
  return never;
}

bool IsOfErrors(const std::string& callback) {
  return callback.find("Error") != std::string::npos;
}

void RegisterCallbacks(Options* options, Trigger* trigger, const std::string& callback) {
  const bool of_files = callback.starts_with("OnFile") || callback == "OnIOError";
  options->listeners = {std::make_shared<Listener>(trigger, of_files)};
  options->compaction_filter_factory = std::make_shared<FilterFactory>(trigger);
  options->merge_operator = std::make_shared<Sum>(trigger);
  options->table_properties_collector_factories = {std::make_shared<CollectorFactory>(trigger)};
  options->sst_partitioner_factory = std::make_shared<PartitionerFactory>(trigger);
  options->info_log = std::make_shared<Log>(trigger);
}

std::unique_ptr<Comparator> NewComparatorCallback(Trigger* trigger) {
  return std::make_unique<Bytewise>(trigger);
}

std::unique_ptr<MemFileSystem::CallHook> NewFileSystemCallback(Trigger* trigger) {
  return std::make_unique<FileSystemCallback>(trigger);
}

}  // namespace varve::testing
