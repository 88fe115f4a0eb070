// SPDX-License-Identifier: Apache-2.0

// Lists the rows of DB, of iterators, and of functions that are given a DB.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/trace_reader_writer.h"
#include "varve/utilities/replayer.h"

#include "tests/strangers/calls.h"

namespace varve::testing {

namespace {

Status WriteOf(const Scene& s, const std::function<Status(WriteBatch*)>& write) {
  WriteBatch batch;
  Status added = batch.Put(s.family, "w", "1");
  return added.ok() ? write(&batch) : added;
}

// A trace without records.
class NoTrace final : public TraceReader {
 public:
  Status Read(std::string* /*data*/) override { return Status::Incomplete("no trace"); }
  Status Close() override { return Status::OK(); }
  Status Reset() override { return Status::OK(); }
};

const RangePtr kEverything(nullptr, nullptr);
const Range kSome("a", "z");

const Call kDb[] = {
    // ---- Column families
    {"DB::DropColumnFamily(ColumnFamilyHandle*)",
     [](const Scene& s) { return s.db->DropColumnFamily(s.family); }},
    {"DB::DropColumnFamilies(std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) { return s.db->DropColumnFamilies(s.Both()); }, /*dropped=*/""},
    {"DB::DestroyColumnFamilyHandle(ColumnFamilyHandle*)",
     [](const Scene& s) { return s.db->DestroyColumnFamilyHandle(s.family); }, "", ""},

    // ---- Writing
    {"DB::Put(WriteOptions, ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.db->Put(WriteOptions(), s.family, "w", "1"); }},
    {"DB::Put(WriteOptions, ColumnFamilyHandle*, Slice, Slice, Slice)",
     [](const Scene& s) { return s.db->Put(WriteOptions(), s.family, "w", "12345678", "1"); }},
    {"DB::Delete(WriteOptions, ColumnFamilyHandle*, Slice)",
     [](const Scene& s) { return s.db->Delete(WriteOptions(), s.family, "own"); }},
    {"DB::Delete(WriteOptions, ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.db->Delete(WriteOptions(), s.family, "own", "12345678"); }},
    {"DB::SingleDelete(WriteOptions, ColumnFamilyHandle*, Slice)",
     [](const Scene& s) { return s.db->SingleDelete(WriteOptions(), s.family, "own"); }},
    {"DB::SingleDelete(WriteOptions, ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) {
       return s.db->SingleDelete(WriteOptions(), s.family, "own", "12345678");
     }},
    {"DB::DeleteRange(WriteOptions, ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.db->DeleteRange(WriteOptions(), s.family, "a", "z"); }},
    {"DB::DeleteRange(WriteOptions, ColumnFamilyHandle*, Slice, Slice, Slice)",
     [](const Scene& s) {
       return s.db->DeleteRange(WriteOptions(), s.family, "a", "z", "12345678");
     },
     "InvalidArgument", ""},
    {"DB::Merge(WriteOptions, ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.db->Merge(WriteOptions(), s.family, "w", "1"); }},
    {"DB::Merge(WriteOptions, ColumnFamilyHandle*, Slice, Slice, Slice)",
     [](const Scene& s) { return s.db->Merge(WriteOptions(), s.family, "w", "12345678", "1"); }},
    {"DB::PutEntity(WriteOptions, ColumnFamilyHandle*, Slice, WideColumns)",
     [](const Scene& s) {
       return s.db->PutEntity(WriteOptions(), s.family, "w", {{"a", "1"}});
     }},
    {"DB::PutEntity(WriteOptions, Slice, AttributeGroups)",
     [](const Scene& s) {
       return s.db->PutEntity(WriteOptions(), "w", {AttributeGroup(s.family, {{"a", "1"}})});
     }},
    {"DB::Write(WriteOptions, WriteBatch*)",
     [](const Scene& s) {
       return WriteOf(s, [&](WriteBatch* b) { return s.db->Write(WriteOptions(), b); });
     }},
    {"DB::WriteWithCallback(WriteOptions, WriteBatch*, UserWriteCallback*)",
     [](const Scene& s) {
       return WriteOf(
           s, [&](WriteBatch* b) { return s.db->WriteWithCallback(WriteOptions(), b, nullptr); });
     }},

    // ---- Reading
    {"DB::Get(ReadOptions, ColumnFamilyHandle*, Slice, PinnableSlice*, std::string*)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.db->Get(s.Reads(), s.family, "own", &value);
     },
     "OK"},
    {"DB::GetMergeOperands(ReadOptions, ColumnFamilyHandle*, Slice, PinnableSlice*, "
     "GetMergeOperandsOptions*, int*)",
     [](const Scene& s) {
       PinnableSlice operands[2];
       GetMergeOperandsOptions options;
       options.expected_max_number_of_operands = 2;
       int count = 0;
       return s.db->GetMergeOperands(s.Reads(), s.family, "own", operands, &options, &count);
     },
     "OK"},
    {"DB::GetEntity(ReadOptions, ColumnFamilyHandle*, Slice, PinnableWideColumns*)",
     [](const Scene& s) {
       PinnableWideColumns columns;
       return s.db->GetEntity(s.Reads(), s.family, "own", &columns);
     },
     "OK"},
    {"DB::GetEntity(ReadOptions, Slice, PinnableAttributeGroups*)",
     [](const Scene& s) {
       PinnableAttributeGroups groups;
       groups.emplace_back(s.family);
       const Status status = s.db->GetEntity(s.Reads(), "own", &groups);
       return status.ok() ? groups[0].status() : status;
     },
     "OK"},
    {"DB::MultiGetEntity(ReadOptions, ColumnFamilyHandle*, size_t, Slice*, PinnableWideColumns*, "
     "Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableWideColumns columns[2];
       Status statuses[2];
       s.db->MultiGetEntity(s.Reads(), s.family, 2, keys, columns, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"DB::MultiGetEntity(ReadOptions, size_t, ColumnFamilyHandle**, Slice*, PinnableWideColumns*, "
     "Status*, bool)",
     [](const Scene& s) {
       ColumnFamilyHandle* families[] = {s.own, s.family};
       const Slice keys[] = {"own", "own"};
       PinnableWideColumns columns[2];
       Status statuses[2];
       s.db->MultiGetEntity(s.Reads(), 2, families, keys, columns, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"DB::MultiGetEntity(ReadOptions, size_t, Slice*, PinnableAttributeGroups*)",
     [](const Scene& s) {
       const Slice key = "own";
       PinnableAttributeGroups groups;
       groups.emplace_back(s.family);
       s.db->MultiGetEntity(s.Reads(), 1, &key, &groups);
       return groups[0].status();
     },
     "OK"},
    {"DB::MultiGet(ReadOptions, size_t, ColumnFamilyHandle**, Slice*, PinnableSlice*, "
     "std::string*, Status*, bool)",
     [](const Scene& s) {
       ColumnFamilyHandle* families[] = {s.own, s.family};
       const Slice keys[] = {"own", "own"};
       PinnableSlice values[2];
       Status statuses[2];
       s.db->MultiGet(s.Reads(), 2, families, keys, values, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"DB::MultiGet(ReadOptions, ColumnFamilyHandle*, size_t, Slice*, PinnableSlice*, "
     "std::string*, Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableSlice values[2];
       Status statuses[2];
       s.db->MultiGet(s.Reads(), s.family, 2, keys, values, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"DB::KeyMayExist(ReadOptions, ColumnFamilyHandle*, Slice, std::string*, std::string*, bool*)",
     [](const Scene& s) {
       std::string value;
       bool found = false;
       s.db->KeyMayExist(s.Reads(), s.family, "own", &value, &found);
       return Answered(found);
     },
     "OK", "InvalidArgument"},
    {"DB::NewIterator(ReadOptions, ColumnFamilyHandle*)",
     [](const Scene& s) { return StatusOf(s.db->NewIterator(s.Reads(), s.family)); }, "OK"},
    {"DB::NewCoalescingIterator(ReadOptions, std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) {
       return StatusOf(s.db->NewCoalescingIterator(s.Reads(), s.Both()).release());
     },
     "OK"},
    {"DB::NewAttributeGroupIterator(ReadOptions, std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) {
       const auto made = s.db->NewAttributeGroupIterator(s.Reads(), s.Both());
       made->SeekToFirst();
       return made->status();
     },
     "OK"},
    {"DB::NewIterators(ReadOptions, std::vector<ColumnFamilyHandle*>, std::vector<Iterator*>*)",
     [](const Scene& s) {
       std::vector<Iterator*> made;
       const Status answer = s.db->NewIterators(s.Reads(), s.Both(), &made);
       if (!answer.ok() && !made.empty()) return Status::Corruption("iterators, and an error");
       for (const Iterator* it : made) delete it;
       return answer;
     },
     "OK"},
    {"DB::NewDefaultReplayer(std::vector<ColumnFamilyHandle*>, std::unique_ptr<TraceReader>, "
     "std::unique_ptr<Replayer>*)",
     [](const Scene& s) {
       std::unique_ptr<Replayer> made;
       return s.db->NewDefaultReplayer(s.Both(), std::make_unique<NoTrace>(), &made);
     },
     "OK"},
    {"DB::ReleaseSnapshot(Snapshot*)",
     [](const Scene& s) {
       s.db->ReleaseSnapshot(s.snapshot);
       return Answered(false);  // its owner still has it
     },
     "", ""},
    {"IteratorBase::Refresh(Snapshot*)",
     [](const Scene& s) {
       const std::unique_ptr<Iterator> it(s.db->NewIterator(ReadOptions(), s.own));
       it->SeekToFirst();
       return it->Refresh(s.snapshot);
     },
     "OK", ""},

    // ---- Telling
    {"DB::GetProperty(ColumnFamilyHandle*, Slice, std::string*)",
     [](const Scene& s) {
       std::string text;
       return Answered(s.db->GetProperty(s.family, DB::Properties::kStats, &text));
     },
     "OK", "OK"},
    {"DB::GetMapProperty(ColumnFamilyHandle*, Slice, std::map<std::string, std::string>*)",
     [](const Scene& s) {
       std::map<std::string, std::string> map;
       return Answered(s.db->GetMapProperty(s.family, DB::Properties::kCFStats, &map));
     },
     "OK", "OK"},
    {"DB::GetIntProperty(ColumnFamilyHandle*, Slice, uint64_t*)",
     [](const Scene& s) {
       uint64_t number = 0;
       return Answered(s.db->GetIntProperty(s.family, DB::Properties::kEstimateNumKeys, &number));
     },
     "OK", "OK"},
    {"DB::GetApproximateSizes(SizeApproximationOptions, ColumnFamilyHandle*, Range*, int, "
     "uint64_t*)",
     [](const Scene& s) {
       uint64_t bytes = 0;
       return s.db->GetApproximateSizes(SizeApproximationOptions(), s.family, &kSome, 1, &bytes);
     },
     "OK"},
    {"DB::GetApproximateMemTableStats(ColumnFamilyHandle*, Range, uint64_t*, uint64_t*)",
     [](const Scene& s) {
       uint64_t count = 0;
       uint64_t bytes = 0;
       s.db->GetApproximateMemTableStats(s.family, kSome, &count, &bytes);
       return Answered(bytes != 0);
     },
     "OK", "InvalidArgument"},
    {"DB::NumberLevels(ColumnFamilyHandle*)",
     [](const Scene& s) { return Answered(s.db->NumberLevels(s.family) != 0); }, "OK", "OK"},
    {"DB::MaxMemCompactionLevel(ColumnFamilyHandle*)",
     [](const Scene& s) { return Answered(s.db->MaxMemCompactionLevel(s.family) != 0); },
     "InvalidArgument", "InvalidArgument"},
    {"DB::Level0StopWriteTrigger(ColumnFamilyHandle*)",
     [](const Scene& s) { return Answered(s.db->Level0StopWriteTrigger(s.family) != 0); }, "OK",
     "OK"},
    {"DB::GetOptions(ColumnFamilyHandle*)",
     [](const Scene& s) { return Answered(s.db->GetOptions(s.family).num_levels == 5); }, "OK",
     "OK"},
    {"DB::GetFullHistoryTsLow(ColumnFamilyHandle*, std::string*)",
     [](const Scene& s) {
       std::string low;
       return s.db->GetFullHistoryTsLow(s.family, &low);
     }},
    {"DB::GetNewestUserDefinedTimestamp(ColumnFamilyHandle*, std::string*)",
     [](const Scene& s) {
       std::string newest;
       return s.db->GetNewestUserDefinedTimestamp(s.family, &newest);
     }},
    {"DB::GetColumnFamilyMetaData(ColumnFamilyHandle*, ColumnFamilyMetaData*)",
     [](const Scene& s) {
       ColumnFamilyMetaData metadata;
       s.db->GetColumnFamilyMetaData(s.family, &metadata);
       return Answered(!metadata.name.empty());
     },
     "OK", "InvalidArgument"},
    {"DB::GetPropertiesOfAllTables(ColumnFamilyHandle*, TablePropertiesCollection*)",
     [](const Scene& s) {
       TablePropertiesCollection properties;
       return s.db->GetPropertiesOfAllTables(s.family, &properties);
     },
     "OK"},
    {"DB::GetPropertiesOfTablesInRange(ColumnFamilyHandle*, Range*, std::size_t, "
     "TablePropertiesCollection*)",
     [](const Scene& s) {
       TablePropertiesCollection properties;
       return s.db->GetPropertiesOfTablesInRange(s.family, &kSome, 1, &properties);
     },
     "OK"},

    // ---- Changing its shape
    {"DB::CompactRange(CompactRangeOptions, ColumnFamilyHandle*, Slice*, Slice*)",
     [](const Scene& s) {
       return s.db->CompactRange(CompactRangeOptions(), s.family, nullptr, nullptr);
     },
     "ColumnFamilyDropped"},
    {"DB::CompactFiles(CompactionOptions, ColumnFamilyHandle*, std::vector<std::string>, int, int, "
     "std::vector<std::string>*, CompactionJobInfo*)",
     [](const Scene& s) {
       return s.db->CompactFiles(CompactionOptions(), s.family, {"000001.sst"}, 1);
     },
     "ColumnFamilyDropped"},
    {"DB::SuggestCompactRange(ColumnFamilyHandle*, Slice*, Slice*)",
     [](const Scene& s) { return s.db->SuggestCompactRange(s.family, nullptr, nullptr); },
     "ColumnFamilyDropped"},
    {"DB::SetOptions(ColumnFamilyHandle*, std::unordered_map<std::string, std::string>)",
     [](const Scene& s) {
       return s.db->SetOptions(s.family, {{"disable_auto_compactions", "false"}});
     },
     "OK"},
    {"DB::EnableAutoCompaction(std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) { return s.db->EnableAutoCompaction(s.Both()); }, "OK"},
    {"DB::Flush(FlushOptions, ColumnFamilyHandle*)",
     [](const Scene& s) { return s.db->Flush(FlushOptions(), s.family); }, "ColumnFamilyDropped"},
    {"DB::Flush(FlushOptions, std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) { return s.db->Flush(FlushOptions(), s.Both()); }, "ColumnFamilyDropped"},
    {"DB::IncreaseFullHistoryTsLow(ColumnFamilyHandle*, std::string)",
     [](const Scene& s) { return s.db->IncreaseFullHistoryTsLow(s.family, "12345678"); }},
    {"DB::DeleteFilesInRanges(ColumnFamilyHandle*, RangePtr*, size_t, bool)",
     [](const Scene& s) { return s.db->DeleteFilesInRanges(s.family, &kEverything, 1); },
     "ColumnFamilyDropped"},
    {"DB::ClipColumnFamily(ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.db->ClipColumnFamily(s.family, "a", "z"); },
     "ColumnFamilyDropped"},
    {"DB::PromoteL0(ColumnFamilyHandle*, int)",
     [](const Scene& s) { return s.db->PromoteL0(s.family, 1); }, "ColumnFamilyDropped"},
    {"DB::Excise(ColumnFamilyHandle*, RangeOpt)",
     [](const Scene& s) { return s.db->Excise(s.family, RangeOpt("a", "z")); },
     "ColumnFamilyDropped"},
    {"DB::IngestExternalFile(ColumnFamilyHandle*, std::vector<std::string>, "
     "IngestExternalFileOptions)",
     [](const Scene& s) {
       return s.db->IngestExternalFile(s.family, {"none.sst"}, IngestExternalFileOptions());
     }},
    {"::DeleteFilesInRange(DB*, ColumnFamilyHandle*, Slice*, Slice*, bool)",
     [](const Scene& s) { return DeleteFilesInRange(s.db, s.family, nullptr, nullptr); },
     "ColumnFamilyDropped"},
    {"::DeleteFilesInRanges(DB*, ColumnFamilyHandle*, RangePtr*, size_t, bool)",
     [](const Scene& s) { return DeleteFilesInRanges(s.db, s.family, &kEverything, 1); },
     "ColumnFamilyDropped"},
};

}  // namespace

Status StatusOf(Iterator* made) {
  const std::unique_ptr<Iterator> it(made);
  it->SeekToFirst();
  return it->status();
}

std::span<const Call> DbCalls() {
  return kDb;
}

}  // namespace varve::testing
