// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/batch_seeds.h"

#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"

namespace varve::fuzz {

namespace {

void AddUpdate(WriteBatch* batch, ValueType type, uint32_t family, const std::string& key,
               const std::string& value) {
  const Slice key_slice(key);
  const Slice value_slice(value);
  const Status s = WriteBatchInternal::AddRecord(batch, type, family, SliceParts(&key_slice, 1),
                                                 SliceParts(&value_slice, 1));
  Promise(s.ok(), "a batch takes well-formed updates");
}

void AddAll(WriteBatch* batch, uint32_t family, const std::string& tail) {
  AddUpdate(batch, kTypeValue, family, "put" + tail, "a value");
  AddUpdate(batch, kTypeDeletion, family, "deleted" + tail, "");
  AddUpdate(batch, kTypeSingleDeletion, family, "single" + tail, "");
  const bool reversed = family == 3;
  AddUpdate(batch, kTypeRangeDeletion, family, (reversed ? "b" : "a") + tail,
            (reversed ? "a" : "b") + tail);
  AddUpdate(batch, kTypeMerge, family, "merged" + tail, "operand");
  // Families with timestamps have no entities.
  if (tail.empty()) {
    AddUpdate(batch, kTypeWideColumnEntity, family, "entity", std::string("\1\1\0\1d", 5));
  }
}

}  // namespace

void AddBatches(const std::string& before, Seeds* seeds) {
  WriteBatch empty;
  seeds->push_back(before + empty.Data());
  for (const uint32_t family : {0u, 3u, 5u}) {
    WriteBatch batch;
    AddAll(&batch, family, family == 5 ? std::string("\1\0\0\0\0\0\0\0", 8) : "");
    batch.PutLogData("a note").PermitUncheckedError();
    WriteBatchInternal::SetSequence(&batch, 100);
    seeds->push_back(before + batch.Data());
  }
  WriteBatch long_batch;
  for (int i = 0; i < 40; i++) {
    AddUpdate(&long_batch, kTypeValue, i % 2 == 0 ? 0 : 3, "key" + std::to_string(i),
              std::string(200, 'v'));
  }
  seeds->push_back(before + long_batch.Data());
}

}  // namespace varve::fuzz
