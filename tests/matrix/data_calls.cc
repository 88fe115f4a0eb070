// SPDX-License-Identifier: Apache-2.0

// Lists the rows of calls that write and read.

#include "varve/attribute_groups.h"
#include "varve/comparator.h"
#include "varve/snapshot.h"
#include "varve/wide_columns.h"
#include "varve/write_batch.h"

#include "tests/harness/after_log.h"
#include "tests/matrix/call_table.h"
#include "util/coding/fixed.h"

namespace varve::testing {

namespace {

void PutIn(Player& p, const std::string& family, const WriteOptions& options, size_t bytes = 20) {
  const std::string key = p.Key();
  const std::string value = p.Value(bytes);
  const Status s = p.db()->Put(options, p.family(family), key, value);
  // A write does not find a dropped family any more.
  if (family == "b" && s.IsInvalidArgument()) return;
  p.Wrote(s, family, key, &value);
}

std::string One() {
  std::string one;
  PutFixed64(&one, 1);
  return one;
}

// Returns timestamps that both players draw from one growing sequence.
std::string NextTimestamp(Player& p) {
  std::string text;
  EncodeU64Ts(p.stage().next_timestamp.fetch_add(1), &text);
  return text;
}

std::string NewestTimestamp() {
  std::string text;
  PutFixed64(&text, UINT64_MAX);
  return text;
}

void WriteBatchOver(Player& p, const std::vector<std::string>& families,
                    UserWriteCallback* callback) {
  WriteBatch batch;
  const std::string key = p.Key();
  const std::string value = p.Value();
  for (const std::string& family : families) {
    batch.Put(p.family(family), key, value).PermitUncheckedError();
  }
  batch.Merge(p.family("a"), p.CounterKey(), One()).PermitUncheckedError();
  const Status s = callback == nullptr
                       ? p.db()->Write(WriteOptions(), &batch)
                       : p.db()->WriteWithCallback(WriteOptions(), &batch, callback);
  for (const std::string& family : families) p.Wrote(s, family, key, &value);
  p.Counted(s, "a");
}

const Call kWriting[] = {
    {"Put", [](Player& p) { PutIn(p, "default", WriteOptions()); }},
    {"Put in b", [](Player& p) { PutIn(p, "b", WriteOptions()); }},
    {"Put synced",
     [](Player& p) {
       WriteOptions options;
       options.sync = true;
       PutIn(p, "a", options);
     }},
    {"Put unlogged",
     [](Player& p) {
       if (p.stage().options.recycle_log_file_num > 0) return;
       WriteOptions options;
       options.disableWAL = true;
       PutIn(p, "a", options);
     }},
    {"Put without slowdown",
     [](Player& p) {
       WriteOptions options;
       options.no_slowdown = true;
       PutIn(p, "default", options);
     }},
    {"Put of low priority",
     [](Player& p) {
       WriteOptions options;
       options.low_pri = true;
       PutIn(p, "default", options);
     }},
    {"Put of much", [](Player& p) { PutIn(p, "default", WriteOptions(), 40 << 10); }},
    {"Put with timestamp",
     [](Player& p) {
       const std::string key = p.Key();
       const std::string value = p.Value();
       p.Wrote(p.db()->Put(WriteOptions(), p.family("t"), key, NextTimestamp(p), value), "t", key,
               &value);
     }},
    {"Delete",
     [](Player& p) {
       const std::string key = p.Key();
       p.Wrote(p.db()->Delete(WriteOptions(), p.family("a"), key), "a", key, nullptr);
     }},
    {"SingleDelete",
     [](Player& p) {
       const std::string key = "once-" + p.Value(0);
       const std::string value = p.Value();
       Status s = p.db()->Put(WriteOptions(), key, value);
       p.Wrote(s, "default", key, &value);
       if (!s.ok()) return;
       s = p.db()->SingleDelete(WriteOptions(), key);
       p.Wrote(s, "default", key, nullptr);
     }},
    {"DeleteRange",
     [](Player& p) {
       const std::string from = p.Key();
       const Status s = p.db()->DeleteRange(WriteOptions(), from, from + "\x01");
       p.Wrote(s, "default", from, nullptr);
     }},
    {"PutEntity",
     [](Player& p) {
       const std::string key = p.Key();
       const std::string value = p.Value();
       const Status s =
           p.db()->PutEntity(WriteOptions(), p.family("a"), key, {{"", value}, {"key", key}});
       p.Wrote(s, "a", key, &value);
     }},
    {"Merge",
     [](Player& p) { p.Counted(p.db()->Merge(WriteOptions(), p.CounterKey(), One()), "default"); }},
    {"Write",
     [](Player& p) {
       WriteBatchOver(p, {"default", "a"}, nullptr);
     }},
    {"WriteWithCallback",
     [](Player& p) {
       AfterLog callback([] {});
       WriteBatchOver(p, {"a"}, &callback);
     }},
};

void ExpectFirstKey(Player& p, const char* call, const Status& s, const Slice& value) {
  p.Expect(call, s);
  if (s.ok() && !value.starts_with("first"))
    p.Wrong(std::string(call) + " read " + value.ToString());
}

std::string FirstKey(Player& p) {
  const int i = static_cast<int>(p.random.Below(kFirstKeys));
  return std::string("i") + static_cast<char>('0' + i / 10) + static_cast<char>('0' + i % 10);
}

void WalkAndKeep(Player& p, const char* call, const ReadOptions& options,
                 ColumnFamilyHandle* family, std::initializer_list<Status::Code> others = {}) {
  Iterator* const it = p.db()->NewIterator(options, family);
  p.Walk(call, it, others);
  p.KeepIterator(it);
}

const Call kReading[] = {
    {"Get",
     [](Player& p) {
       std::string value;
       const Status s = p.db()->Get(ReadOptions(), p.AnyFamily(), FirstKey(p), &value);
       ExpectFirstKey(p, "Get", s, value);
     }},
    {"Get pinned",
     [](Player& p) {
       auto pin = std::make_unique<PinnableSlice>();
       const Status s = p.db()->Get(ReadOptions(), p.AnyFamily(), FirstKey(p), pin.get());
       ExpectFirstKey(p, "Get pinned", s, *pin);
       p.KeepPin(std::move(pin));
     }},
    {"Get with timestamp",
     [](Player& p) {
       const std::string text = NewestTimestamp();
       const Slice newest(text);
       ReadOptions options;
       options.timestamp = &newest;
       std::string value;
       std::string timestamp;
       const Status s = p.db()->Get(options, p.family("t"), FirstKey(p), &value, &timestamp);
       ExpectFirstKey(p, "Get with timestamp", s, value);
     }},
    {"Get persisted",
     [](Player& p) {
       ReadOptions options;
       options.read_tier = kPersistedTier;
       std::string value;
       p.Expect("Get persisted", p.db()->Get(options, p.AnyFamily(), p.Key(), &value),
                {Status::kNotFound});
     }},
    {"MultiGet",
     [](Player& p) {
       const std::string keys[] = {FirstKey(p), FirstKey(p), "missing"};
       const Slice slices[] = {keys[0], keys[1], keys[2]};
       PinnableSlice values[3];
       Status statuses[3];
       p.db()->MultiGet(ReadOptions(), p.AnyFamily(), 3, slices, values, statuses);
       for (int i = 0; i < 2; i++) ExpectFirstKey(p, "MultiGet", statuses[i], values[i]);
       p.Expect("MultiGet", statuses[2], {Status::kNotFound});
     }},
    {"MultiGet of families",
     [](Player& p) {
       ColumnFamilyHandle* families[] = {p.family("default"), p.family("a"), p.family("b")};
       const std::string keys[] = {FirstKey(p), FirstKey(p), FirstKey(p)};
       const Slice slices[] = {keys[0], keys[1], keys[2]};
       PinnableSlice values[3];
       Status statuses[3];
       p.db()->MultiGet(ReadOptions(), 3, families, slices, values, statuses);
       for (int i = 0; i < 3; i++)
         ExpectFirstKey(p, "MultiGet of families", statuses[i], values[i]);
     }},
    {"GetEntity",
     [](Player& p) {
       PinnableWideColumns entity;
       const Status s = p.db()->GetEntity(ReadOptions(), p.AnyFamily(), FirstKey(p), &entity);
       const WideColumns& columns = entity.columns();
       ExpectFirstKey(p, "GetEntity", s, columns.empty() ? Slice() : columns.front().value());
     }},
    {"MultiGetEntity",
     [](Player& p) {
       const std::string keys[] = {FirstKey(p), "missing"};
       const Slice slices[] = {keys[0], keys[1]};
       PinnableWideColumns entities[2];
       Status statuses[2];
       p.db()->MultiGetEntity(ReadOptions(), p.AnyFamily(), 2, slices, entities, statuses);
       const WideColumns& columns = entities[0].columns();
       ExpectFirstKey(p, "MultiGetEntity", statuses[0],
                      columns.empty() ? Slice() : columns.front().value());
       p.Expect("MultiGetEntity", statuses[1], {Status::kNotFound});
     }},
    {"NewCoalescingIterator",
     [](Player& p) {
       const auto it =
           p.db()->NewCoalescingIterator(ReadOptions(), {p.family("default"), p.family("a")});
       p.Walk("NewCoalescingIterator", it.get());
     }},
    {"NewAttributeGroupIterator",
     [](Player& p) {
       const auto it =
           p.db()->NewAttributeGroupIterator(ReadOptions(), {p.family("default"), p.family("a")});
       it->SeekToFirst();
       for (int i = 0; i < 20 && it->Valid(); i++) it->Next();
       p.Expect("NewAttributeGroupIterator", it->status());
     }},
    {"GetMergeOperands",
     [](Player& p) {
       PinnableSlice operands[64];
       GetMergeOperandsOptions options;
       options.expected_max_number_of_operands = 64;
       int count = 0;
       p.Expect("GetMergeOperands",
                p.db()->GetMergeOperands(ReadOptions(), p.family("default"), p.CounterKey(),
                                         operands, &options, &count),
                {Status::kNotFound, Status::kIncomplete});
     }},
    {"KeyMayExist",
     [](Player& p) {
       std::string value;
       if (!p.db()->KeyMayExist(ReadOptions(), p.AnyFamily(), FirstKey(p), &value,
                                static_cast<bool*>(nullptr))) {
         p.Wrong("KeyMayExist says that a key is not there");
       }
     }},
    {"NewIterator", [](Player& p) { WalkAndKeep(p, "NewIterator", ReadOptions(), p.AnyFamily()); }},
    {"NewIterator tailing",
     [](Player& p) {
       ReadOptions options;
       options.tailing = true;
       WalkAndKeep(p, "NewIterator tailing", options, p.AnyFamily());
     }},
    {"NewIterator pinning data",
     [](Player& p) {
       ReadOptions options;
       options.pin_data = true;
       WalkAndKeep(p, "NewIterator pinning data", options, p.AnyFamily());
     }},
    {"NewIterator with timestamp",
     [](Player& p) {
       // The text is static, as kept iterators refer to it.
       static const std::string text = NewestTimestamp();
       static const Slice newest(text);
       ReadOptions options;
       options.timestamp = &newest;
       WalkAndKeep(p, "NewIterator with timestamp", options, p.family("t"));
     }},
    {"NewIterator of a history",
     [](Player& p) {
       static const std::string text = NewestTimestamp();
       static const std::string zero(8, '\0');
       static const Slice newest(text);
       static const Slice oldest(zero);
       ReadOptions options;
       options.timestamp = &newest;
       options.iter_start_ts = &oldest;
       // The mark may have been raised beyond the start of the history.
       WalkAndKeep(p, "NewIterator of a history", options, p.family("t"),
                   {Status::kInvalidArgument});
     }},
    {"NewIterators",
     [](Player& p) {
       std::vector<Iterator*> made;
       p.Expect("NewIterators",
                p.db()->NewIterators(ReadOptions(), {p.family("default"), p.family("a")}, &made));
       for (Iterator* it : made) {
         p.Walk("NewIterators", it);
         p.KeepIterator(it);
       }
     }},
    {"NewIterator and Refresh",
     [](Player& p) {
       const std::unique_ptr<Iterator> it(p.db()->NewIterator(ReadOptions(), p.AnyFamily()));
       it->SeekToFirst();
       p.Expect("Refresh", it->Refresh(), {Status::kNotSupported});
       p.Walk("Refresh", it.get());
     }},
    {"GetSnapshot and ReleaseSnapshot",
     [](Player& p) {
       ManagedSnapshot held(p.db());
       if (held.snapshot() == nullptr) return;  // closed
       ReadOptions options;
       options.snapshot = held.snapshot();
       std::string value;
       const Status s = p.db()->Get(options, p.AnyFamily(), FirstKey(p), &value);
       ExpectFirstKey(p, "Get at a snapshot", s, value);
       if (s.IsShutdownInProgress()) p.Wrong("closed, though a snapshot was held");
     }},
};

}  // namespace

std::span<const Call> WritingCalls() {
  return kWriting;
}

std::span<const Call> ReadingCalls() {
  return kReading;
}

}  // namespace varve::testing
