// SPDX-License-Identifier: Apache-2.0

// Runs LMDB, a B+ tree in a mapped file. It has neither a log nor compactions; a batch is a
// transaction. It writes without waiting for the device, as the others do by default, so the end of
// the process loses nothing.

#include <sys/types.h>

#include <filesystem>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/engine.h"

namespace compare {
namespace {

using c_library::Library;
using c_library::Opaque;

constexpr size_t kMapSize = size_t{64} << 30;  // of address space; the file grows as needed
constexpr unsigned kNoSync = 0x10000;
constexpr unsigned kTransactionsBelongToNoThread = 0x200000;
constexpr unsigned kReadOnly = 0x20000;
constexpr int kNotFound = -30798;
// These are LMDB's cursor operations. The last one is MDB_SET_RANGE.
constexpr int kFirst = 0;
constexpr int kLast = 6;
constexpr int kNext = 8;
constexpr int kPrevious = 12;
constexpr int kNotBefore = 17;

struct Bytes {
  size_t size;
  const void* data;

  explicit Bytes(std::string_view text = {}) : size(text.size()), data(text.data()) {}
  std::string_view view() const { return {static_cast<const char*>(data), size}; }
};

struct Calls {
  explicit Calls(const Library& l)
      : begin(l.Function<int(Opaque*, Opaque*, unsigned, Opaque**)>("txn_begin")),
        commit(l.Function<int(Opaque*)>("txn_commit")),
        abort(l.Function<void(Opaque*)>("txn_abort")),
        reset(l.Function<void(Opaque*)>("txn_reset")),
        renew(l.Function<int(Opaque*)>("txn_renew")),
        put(l.Function<int(Opaque*, unsigned, Bytes*, Bytes*, unsigned)>("put")),
        get(l.Function<int(Opaque*, unsigned, Bytes*, Bytes*)>("get")),
        sync(l.Function<int(Opaque*, int)>("env_sync")),
        open_cursor(l.Function<int(Opaque*, unsigned, Opaque**)>("cursor_open")),
        move_cursor(l.Function<int(Opaque*, Bytes*, Bytes*, int)>("cursor_get")),
        close_cursor(l.Function<void(Opaque*)>("cursor_close")),
        text_of_error(l.Function<const char*(int)>("strerror")) {}

  void Check(int error) const {
    if (error != 0) c_library::Die(text_of_error(error));
  }

  int (*begin)(Opaque*, Opaque*, unsigned, Opaque**);
  int (*commit)(Opaque*);
  void (*abort)(Opaque*);
  void (*reset)(Opaque*);
  int (*renew)(Opaque*);
  int (*put)(Opaque*, unsigned, Bytes*, Bytes*, unsigned);
  int (*get)(Opaque*, unsigned, Bytes*, Bytes*);
  int (*sync)(Opaque*, int);
  int (*open_cursor)(Opaque*, unsigned, Opaque**);
  int (*move_cursor)(Opaque*, Bytes*, Bytes*, int);
  void (*close_cursor)(Opaque*);
  const char* (*text_of_error)(int);
};

class LmdbSession final : public Session {
 public:
  LmdbSession(const Calls& calls, Opaque* environment, unsigned table)
      : calls_(calls), environment_(environment), table_(table) {}
  ~LmdbSession() override {
    if (reader_ != nullptr) calls_.abort(reader_);
  }

  void Put(std::string_view key, std::string_view value, Durability durability) override {
    BatchPut(key, value);
    BatchWrite(durability);
  }
  void BatchPut(std::string_view key, std::string_view value) override {
    if (writer_ == nullptr) calls_.Check(calls_.begin(environment_, nullptr, 0, &writer_));
    Bytes k(key);
    Bytes v(value);
    calls_.Check(calls_.put(writer_, table_, &k, &v, 0));
  }
  void BatchWrite(Durability durability) override {
    if (writer_ == nullptr) return;
    calls_.Check(calls_.commit(writer_));
    writer_ = nullptr;
    if (durability == Durability::kSynced) calls_.Check(calls_.sync(environment_, 1));
  }
  bool Get(std::string_view key, Digest* digest) override {
    BeginReading();
    const bool found = Find(key, digest);
    calls_.reset(reader_);
    return found;
  }
  void MultiGet(std::span<const std::string_view> keys, Digest* digest) override {
    BeginReading();
    for (const std::string_view key : keys) Find(key, digest);
    calls_.reset(reader_);
  }
  uint64_t Scan(std::string_view from, uint64_t limit, bool forward, Digest* digest) override {
    BeginReading();
    Opaque* cursor = nullptr;
    calls_.Check(calls_.open_cursor(reader_, table_, &cursor));
    Bytes key(from);
    Bytes value;
    const int ends = forward ? kFirst : kLast;
    const int step = forward ? kNext : kPrevious;
    int error = calls_.move_cursor(cursor, &key, &value, from.empty() ? ends : kNotBefore);
    uint64_t count = 0;
    for (; count < limit && error == 0; count++) {
      digest->AddEntry(key.view(), value.view());
      error = calls_.move_cursor(cursor, &key, &value, step);
    }
    if (error != kNotFound) calls_.Check(error);
    calls_.close_cursor(cursor);
    calls_.reset(reader_);
    return count;
  }

 private:
  // A transaction that was reset and is renewed costs less than a new one, and sees the newest
  // state as that would.
  void BeginReading() {
    calls_.Check(reader_ == nullptr ? calls_.begin(environment_, nullptr, kReadOnly, &reader_)
                                    : calls_.renew(reader_));
  }
  bool Find(std::string_view key, Digest* digest) {
    Bytes k(key);
    Bytes v;
    const int error = calls_.get(reader_, table_, &k, &v);
    if (error == kNotFound) return false;
    calls_.Check(error);
    digest->AddValue(v.view());
    return true;
  }

  const Calls& calls_;
  Opaque* const environment_;
  const unsigned table_;
  Opaque* reader_ = nullptr;
  Opaque* writer_ = nullptr;
};

class LmdbEngine final : public Engine {
 public:
  explicit LmdbEngine(const std::string& path) : library_(path, "mdb_"), calls_(library_) {}

  std::string Name(const std::string&) override {
    int major = 0;
    int minor = 0;
    int patch = 0;
    library_.Call<const char*>("version", &major, &minor, &patch);
    return "LMDB " + std::to_string(major) + "." + std::to_string(minor) + "." +
           std::to_string(patch);
  }
  Abilities abilities() const override { return {}; }
  void Open(const std::string& path, const Settings&) override {
    std::filesystem::create_directories(path);
    calls_.Check(library_.Call<int>("env_create", &environment_));
    calls_.Check(library_.Call<int>("env_set_mapsize", environment_, kMapSize));
    calls_.Check(library_.Call<int>("env_open", environment_, path.c_str(),
                                    kNoSync | kTransactionsBelongToNoThread, mode_t{0644}));
    Opaque* transaction = nullptr;
    const char* const unnamed = nullptr;
    calls_.Check(calls_.begin(environment_, nullptr, 0, &transaction));
    calls_.Check(library_.Call<int>("dbi_open", transaction, unnamed, 0U, &table_));
    calls_.Check(calls_.commit(transaction));
  }
  void Close() override { library_.Call<void>("env_close", environment_); }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LmdbSession>(calls_, environment_, table_);
  }
  void Compact() override {}

 private:
  const Library library_;
  const Calls calls_;
  Opaque* environment_ = nullptr;
  unsigned table_ = 0;
};

}  // namespace

std::unique_ptr<Engine> NewLmdbEngine(const std::string& path) {
  return std::make_unique<LmdbEngine>(path);
}

}  // namespace compare
