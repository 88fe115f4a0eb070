// SPDX-License-Identifier: Apache-2.0
// Implements change streams for the C API (wal.h), which RocksDB does not have.
#include <memory>
#include <string>

#include "varve/change_stream.h"

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"

using varve::ChangeRecord;
using varve::ChangeStream;
using varve::DB;
using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::RunOnDb;
using varve::c::StoreSize;
using varve::c::Try;
using varve::c::TryVoid;

// Has the record that was read last.
struct rocksdb_change_stream_t {
  std::unique_ptr<ChangeStream> rep;
  ChangeRecord record;
};

namespace {

// Returns the number of the C enum for the kind of a record.
int KindOf(const ChangeRecord& record) {
  switch (record.kind) {
    case ChangeRecord::Kind::kNothing:
      return rocksdb_change_nothing;
    case ChangeRecord::Kind::kBatch:
      return rocksdb_change_batch;
    case ChangeRecord::Kind::kGap:
      break;
  }
  return record.gap == ChangeRecord::Gap::kLost ? rocksdb_change_gap_lost
                                                : rocksdb_change_gap_not_logged;
}

// Reads a record with `next`. A stream that fails has none.
template <typename Next>
int Read(rocksdb_change_stream_t* stream, char** errptr, Next next, const char* call) {
  const auto read = [&]() -> Status {
    if (stream == nullptr) return NullArgument("stream");
    stream->record = ChangeRecord();
    Status s = next(stream->rep.get(), &stream->record);
    if (!s.ok()) stream->record = ChangeRecord();
    return s;
  };
  return Run(errptr, read, call) ? KindOf(stream->record) : rocksdb_change_nothing;
}

}  // namespace

void rocksdb_change_stream_options_set_name(rocksdb_change_stream_options_t* options,
                                            const char* name, size_t size) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.name = name == nullptr ? std::string() : std::string(name, size); });
}

rocksdb_change_stream_t* rocksdb_change_stream_open(rocksdb_t* db,
                                                    const rocksdb_change_stream_options_t* options,
                                                    char** errptr) {
  std::unique_ptr<rocksdb_change_stream_t> stream;
  const bool opened = RunOnDb(db, options, errptr, [&](DB* d, const auto& wanted) {
    stream = std::make_unique<rocksdb_change_stream_t>();
    return d->OpenChangeStream(wanted, &stream->rep);
  });
  return opened ? stream.release() : nullptr;
}

void rocksdb_change_stream_destroy(rocksdb_change_stream_t* stream) {
  delete stream;
}

void rocksdb_change_stream_drop(rocksdb_t* db, const char* name, size_t size, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return name == nullptr ? NullArgument("name") : d->DropChangeStream(std::string(name, size));
  });
}

int rocksdb_change_stream_next(rocksdb_change_stream_t* stream, char** errptr) {
  const auto next = [](ChangeStream* rep, ChangeRecord* record) { return rep->Next(record); };
  return Read(stream, errptr, next, __func__);
}

int rocksdb_change_stream_wait_next(rocksdb_change_stream_t* stream, uint64_t timeout_micros,
                                    char** errptr) {
  const auto next = [timeout_micros](ChangeStream* rep, ChangeRecord* record) {
    return rep->WaitNext(timeout_micros, record);
  };
  return Read(stream, errptr, next, __func__);
}

uint64_t rocksdb_change_stream_first(const rocksdb_change_stream_t* stream) {
  return stream == nullptr ? 0 : stream->record.first;
}

uint64_t rocksdb_change_stream_last(const rocksdb_change_stream_t* stream) {
  return stream == nullptr ? 0 : stream->record.last;
}

rocksdb_writebatch_t* rocksdb_change_stream_get_batch(const rocksdb_change_stream_t* stream) {
  if (stream == nullptr || stream->record.kind != ChangeRecord::Kind::kBatch) return nullptr;
  return Try([&] { return new rocksdb_writebatch_t{stream->record.batch, {}}; });
}

unsigned char rocksdb_change_stream_families(const rocksdb_change_stream_t* stream, size_t* count) {
  const bool known = stream != nullptr && stream->record.families.has_value();
  if (count != nullptr) *count = known ? stream->record.families->size() : 0;
  return known ? 1 : 0;
}

const char* rocksdb_change_stream_family_name(const rocksdb_change_stream_t* stream, size_t index,
                                              size_t* size) {
  const bool has = stream != nullptr && stream->record.families.has_value() &&
                   index < stream->record.families->size();
  const std::string* const name = has ? &(*stream->record.families)[index] : nullptr;
  StoreSize(size, name == nullptr ? 0 : name->size());
  return name == nullptr ? nullptr : name->c_str();
}

void rocksdb_change_stream_acknowledge(rocksdb_change_stream_t* stream, uint64_t last,
                                       unsigned char durably, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (stream == nullptr) return NullArgument("stream");
    return stream->rep->Acknowledge(last, durably != 0);
  });
}

uint64_t rocksdb_change_stream_position(const rocksdb_change_stream_t* stream) {
  return stream == nullptr ? 0 : stream->rep->position();
}
