// SPDX-License-Identifier: Apache-2.0
// Returns merge operands to C, as they were written.
#include <algorithm>

#include "db/api/c/c_types.h"
#include "util/base/assert.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::GetMergeOperandsOptions;
using varve::PinnableSlice;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::c::Family;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::StoreSize;

namespace {

// Number of places for operands while their number is not known.
constexpr size_t kFirstPlaces = 16;

void Clear(rocksdb_merge_operands_t* operands) {
  VARVE_ASSERT(operands->count <= operands->values.size());
  for (size_t i = 0; i < operands->count; ++i) operands->values[i].Reset();
  operands->count = 0;
}

// Reads one key's operands, into as many places as the options allow.
class OperandRead {
 public:
  OperandRead(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* family, const Slice& key)
      : db_(db), read_options_(read_options), family_(family), key_(key) {}

  // Sets *number like GetMergeOperands. Without a limit in the options, reads again with more
  // places while these do not suffice.
  Status Into(rocksdb_merge_operands_t* operands, GetMergeOperandsOptions options, int* number) {
    Clear(operands);
    const bool limited = options.expected_max_number_of_operands != 0;
    if (!limited) options.expected_max_number_of_operands = Places(*operands);
    for (;;) {
      const int places = options.expected_max_number_of_operands;
      // Places are kept from call to call, so that a program which reads many keys allocates them
      // once.
      if (places > 0 && operands->values.size() < static_cast<size_t>(places)) {
        operands->values = std::vector<PinnableSlice>(static_cast<size_t>(places));
      }
      const Status s = db_->GetMergeOperands(read_options_, family_, key_, operands->values.data(),
                                             &options, number);
      if (s.ok()) operands->count = static_cast<size_t>(*number);
      if (limited || !s.IsIncomplete() || *number <= places) return s;
      // There are *number operands. More may be written before the next read, which then says so
      // again.
      options.expected_max_number_of_operands = *number;
    }
  }

 private:
  static int Places(const rocksdb_merge_operands_t& operands) {
    return static_cast<int>(std::max(kFirstPlaces, operands.values.size()));
  }

  DB* const db_;
  const ReadOptions& read_options_;
  ColumnFamilyHandle* const family_;
  const Slice key_;
};

}  // namespace

unsigned char rocksdb_get_merge_operands(rocksdb_t* db, const rocksdb_readoptions_t* read_options,
                                         const char* key, size_t keylen,
                                         const rocksdb_get_merge_operands_options_t* options,
                                         rocksdb_merge_operands_t* operands,
                                         int* number_of_operands, char** errptr) {
  if (db == nullptr) {
    varve::c::SetError(errptr, NullArgument("db"));
    return 0;
  }
  rocksdb_column_family_handle_t family = {db->rep->DefaultColumnFamily(), false};
  return rocksdb_get_merge_operands_cf(db, read_options, &family, key, keylen, options, operands,
                                       number_of_operands, errptr);
}

unsigned char rocksdb_get_merge_operands_cf(rocksdb_t* db,
                                            const rocksdb_readoptions_t* read_options,
                                            rocksdb_column_family_handle_t* family, const char* key,
                                            size_t keylen,
                                            const rocksdb_get_merge_operands_options_t* options,
                                            rocksdb_merge_operands_t* operands,
                                            int* number_of_operands, char** errptr) {
  bool found = false;
  RunOnDb(db, read_options, errptr, [&](DB* d, const ReadOptions& o) -> Status {
    if (family == nullptr || operands == nullptr) return NullArgument("family or operands");
    int number = 0;
    OperandRead read(d, o, Family(family), Slice(key, keylen));
    const Status s =
        read.Into(operands, options == nullptr ? GetMergeOperandsOptions() : options->rep, &number);
    found = s.ok();
    if (number_of_operands != nullptr) *number_of_operands = number;
    return s.IsNotFound() ? Status::OK() : s;
  });
  return found ? 1 : 0;
}

void rocksdb_merge_operands_clear(rocksdb_merge_operands_t* operands) {
  if (operands != nullptr) Clear(operands);
}

size_t rocksdb_merge_operands_count(const rocksdb_merge_operands_t* operands) {
  return operands == nullptr ? 0 : operands->count;
}

const char* rocksdb_merge_operands_value(const rocksdb_merge_operands_t* operands, size_t index,
                                         size_t* size) {
  StoreSize(size, 0);
  if (operands == nullptr || index >= operands->count) return nullptr;
  StoreSize(size, operands->values[index].size());
  return operands->values[index].data();
}

void rocksdb_get_merge_operands_options_set_expected_max_number_of_operands(
    rocksdb_get_merge_operands_options_t* options, int value) {
  if (options != nullptr) options->rep.expected_max_number_of_operands = value;
}

int rocksdb_get_merge_operands_options_get_expected_max_number_of_operands(
    rocksdb_get_merge_operands_options_t* options) {
  return options == nullptr ? 0 : options->rep.expected_max_number_of_operands;
}

void rocksdb_get_merge_operands_options_set_continue_cb(
    rocksdb_get_merge_operands_options_t* options, void* state,
    unsigned char (*continue_cb)(void* state, const char* operand, size_t size)) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    if (continue_cb == nullptr) {
      options->rep.continue_cb = nullptr;
    } else {
      options->rep.continue_cb = [state, continue_cb](const Slice& operand) {
        return continue_cb(state, operand.data(), operand.size()) != 0;
      };
    }
  });
}
