// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/leveldb_calls.h"

namespace compare {

LevelDbCalls::LevelDbCalls(const c_library::Library& l)
    : put(l.Function<void(Opaque*, Opaque*, const char*, size_t, const char*, size_t, char**)>(
          "put")),
      new_batch(l.Function<Opaque*()>("writebatch_create")),
      end_batch(l.Function<void(Opaque*)>("writebatch_destroy")),
      batch_clear(l.Function<void(Opaque*)>("writebatch_clear")),
      batch_put(
          l.Function<void(Opaque*, const char*, size_t, const char*, size_t)>("writebatch_put")),
      write(l.Function<void(Opaque*, Opaque*, Opaque*, char**)>("write")),
      new_iterator(l.Function<Opaque*(Opaque*, Opaque*)>("create_iterator")),
      end_iterator(l.Function<void(Opaque*)>("iter_destroy")),
      seek(l.Function<void(Opaque*, const char*, size_t)>("iter_seek")),
      to_first(l.Function<void(Opaque*)>("iter_seek_to_first")),
      to_last(l.Function<void(Opaque*)>("iter_seek_to_last")),
      next(l.Function<void(Opaque*)>("iter_next")),
      previous(l.Function<void(Opaque*)>("iter_prev")),
      valid(l.Function<unsigned char(Opaque*)>("iter_valid")),
      key(l.Function<const char*(Opaque*, size_t*)>("iter_key")),
      value(l.Function<const char*(Opaque*, size_t*)>("iter_value")),
      iterator_error(l.Function<void(Opaque*, char**)>("iter_get_error")) {}

LevelDbCallsSession::LevelDbCallsSession(const LevelDbCalls& calls, const Handles& handles)
    : calls_(calls), handles_(handles), batch_(calls.new_batch()) {}

LevelDbCallsSession::~LevelDbCallsSession() {
  calls_.end_batch(batch_);
}

void LevelDbCallsSession::Put(std::string_view key, std::string_view value, Durability durability) {
  char* error = nullptr;
  calls_.put(handles_.db, Writes(durability), key.data(), key.size(), value.data(), value.size(),
             &error);
  Check(error);
}

void LevelDbCallsSession::BatchPut(std::string_view key, std::string_view value) {
  calls_.batch_put(batch_, key.data(), key.size(), value.data(), value.size());
}

void LevelDbCallsSession::BatchWrite(Durability durability) {
  char* error = nullptr;
  calls_.write(handles_.db, Writes(durability), batch_, &error);
  Check(error);
  calls_.batch_clear(batch_);
}

uint64_t LevelDbCallsSession::Scan(std::string_view from, uint64_t limit, bool forward,
                                   Digest* digest) {
  c_library::Opaque* const it = calls_.new_iterator(handles_.db, handles_.reads);
  if (!from.empty()) {
    calls_.seek(it, from.data(), from.size());
  } else {
    (forward ? calls_.to_first : calls_.to_last)(it);
  }
  const auto step = forward ? calls_.next : calls_.previous;
  uint64_t count = 0;
  for (; count < limit && calls_.valid(it) != 0; count++) {
    size_t key_size = 0;
    size_t value_size = 0;
    const char* const key = calls_.key(it, &key_size);
    const char* const value = calls_.value(it, &value_size);
    digest->AddEntry({key, key_size}, {value, value_size});
    step(it);
  }
  char* error = nullptr;
  calls_.iterator_error(it, &error);
  Check(error);
  calls_.end_iterator(it);
  return count;
}

}  // namespace compare
