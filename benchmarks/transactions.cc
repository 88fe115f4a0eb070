// SPDX-License-Identifier: Apache-2.0

// Measures transactions beside plain puts, and on few shared keys. It uses the C API of the
// library it is given, so that the same program measures this engine and any other with that API:
//
//   transactions LIBRARY [--db=/dev/shm/transactions] [--num=1000000] [--seconds=3] [--only=ROW]
//
// Keys of 16 bytes, values of 100, a log that is not synced; each thread uses one transaction again
// and again. Rows, by the number of threads, in transactions (or puts) a second, and how many of
// a thousand were refused:
//
//   put            plain puts of random keys, in a database without transactions
//   locked         a put in a pessimistic transaction; locked10: ten of them, in the order of keys,
//                  so that nobody waits in a cycle
//   update         a read for update and a put, of random keys of `num`
//   update-hot     the same, of a hundred keys
//   checked        a put in an optimistic transaction; checked10: ten of them
//   batch          batches of eight puts without a transaction, nothing compacted beside
//   batch-loose    the same with unordered_write
//   batch-prepared
//                  the same in a transaction database under WRITE_PREPARED, unordered, without
//                  locks
//
// `--only` takes the rows whose names begin with that. See indexed_batch for indexed batches.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

constexpr size_t kValueBytes = 100;
constexpr uint64_t kHotKeys = 100;
constexpr int64_t kLockTimeoutMillis = 1000;

using c_library::Die;
using c_library::Opaque;

struct Settings {
  std::string library;
  std::string directory = "/dev/shm/transactions";
  uint64_t num = 1'000'000;
  double seconds = 3;
  std::string only;
};

// Draws numbers by splitmix64.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t n) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(i));
  return key;
}

enum class Kind { kPlain, kLocked, kChecked, kBatch, kLooseBatch, kPreparedBatch };

bool IsPlain(Kind kind) {
  return kind == Kind::kPlain || kind == Kind::kBatch || kind == Kind::kLooseBatch;
}
bool WritesBatches(Kind kind) {
  return kind == Kind::kBatch || kind == Kind::kLooseBatch || kind == Kind::kPreparedBatch;
}

// Holds a filled database of one kind and runs operations on it. Thread-safe.
class Subject : private c_library::Library {
 public:
  Subject(const Settings& settings, Kind kind)
      : Library(settings.library),
        kind_(kind),
        options_(Call<Opaque*>("options_create")),
        write_(Call<Opaque*>("writeoptions_create")),
        read_(Call<Opaque*>("readoptions_create")) {
    Call<void>("options_set_create_if_missing", options_, static_cast<unsigned char>(1));
    Call<void>("options_set_compression", options_, 0);
    if (WritesBatches(kind_)) UseBatches();
    Checked<void>("destroy_db", options_, settings.directory.c_str());
    Open(settings.directory.c_str());
    Fill(settings.num);
  }
  ~Subject() {
    if (IsPlain(kind_)) Call<void>("close", base_);
    if (kind_ == Kind::kLocked || kind_ == Kind::kPreparedBatch) {
      Call<void>("transactiondb_close", db_);
    }
    if (kind_ == Kind::kChecked) {
      Call<void>("optimistictransactiondb_close_base_db", base_);
      Call<void>("optimistictransactiondb_close", db_);
    }
    Call<void>("options_destroy", options_);
    Call<void>("writeoptions_destroy", write_);
    Call<void>("readoptions_destroy", read_);
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  void PutPlain(const std::string& key) {
    char* error = nullptr;
    put_(base_, write_, key.data(), key.size(), value_.data(), value_.size(), &error);
    if (error != nullptr) Die(error);
  }

  // Writes the keys in a batch, which is reused.
  void WriteBatch(Opaque** batch, const std::vector<uint64_t>& keys) {
    if (*batch == nullptr) *batch = new_batch_();
    clear_batch_(*batch);
    for (const uint64_t number : keys) {
      const std::string key = KeyOf(number);
      batch_put_(*batch, key.data(), key.size(), value_.data(), value_.size());
    }
    char* error = nullptr;
    const bool prepared = kind_ == Kind::kPreparedBatch;
    (prepared ? write_locked_ : write_batch_)(prepared ? db_ : base_, write_, *batch, &error);
    if (error != nullptr) Die(error);
  }
  void ForgetBatch(Opaque* batch) const {
    if (batch != nullptr) forget_batch_(batch);
  }

  // Begins a transaction, reusing `old`.
  Opaque* Begin(Opaque* old) const {
    return kind_ == Kind::kLocked ? begin_locked_(db_, write_, txn_options_, old)
                                  : begin_checked_(db_, write_, txn_options_, old);
  }
  void Forget(Opaque* txn) const {
    if (txn != nullptr) forget_(txn);
  }
  // Returns false on a conflict with another transaction; any other failure ends the program.
  bool Put(Opaque* txn, const std::string& key) const {
    char* error = nullptr;
    txn_put_(txn, key.data(), key.size(), value_.data(), value_.size(), &error);
    return Judge(error);
  }
  bool ReadForUpdate(Opaque* txn, const std::string& key) const {
    char* error = nullptr;
    size_t size = 0;
    char* const value = get_for_update_(txn, read_, key.data(), key.size(), &size,
                                        static_cast<unsigned char>(1), &error);
    if (value != nullptr) free_(value);
    return Judge(error);
  }
  bool Commit(Opaque* txn) const {
    char* error = nullptr;
    commit_(txn, &error);
    return Judge(error);
  }
  void RollBack(Opaque* txn) const {
    char* error = nullptr;
    roll_back_(txn, &error);
    if (error != nullptr) Die(error);
  }

 private:
  // Uses the options of the published measurement of unordered writes.
  void UseBatches() {
    const auto on = static_cast<unsigned char>(kind_ != Kind::kBatch);
    Call<void>("options_set_unordered_write", options_, on);
    if (kind_ == Kind::kPreparedBatch) Call<void>("options_set_two_write_queues", options_, on);
    Call<void>("options_set_disable_auto_compactions", options_, 1);
    Call<void>("options_set_level0_slowdown_writes_trigger", options_, 99999);
    Call<void>("options_set_level0_stop_writes_trigger", options_, 99999);
    Call<void>("options_set_max_write_buffer_number", options_, 16);
    Call<void>("options_set_max_background_jobs", options_, 64);
  }

  void Open(const char* directory) {
    if (IsPlain(kind_)) {
      base_ = Checked<Opaque*>("open", options_, directory);
    } else if (kind_ == Kind::kLocked || kind_ == Kind::kPreparedBatch) {
      Opaque* const of_db = Call<Opaque*>("transactiondb_options_create");
      if (kind_ == Kind::kPreparedBatch) {
        Call<void>("transactiondb_options_set_write_policy", of_db, 1);
        Call<void>("transactiondb_options_set_skip_concurrency_control", of_db,
                   static_cast<unsigned char>(1));
      }
      db_ = Checked<Opaque*>("transactiondb_open", options_, of_db, directory);
      txn_options_ = Call<Opaque*>("transaction_options_create");
      Call<void>("transaction_options_set_lock_timeout", txn_options_, kLockTimeoutMillis);
    } else {
      db_ = Checked<Opaque*>("optimistictransactiondb_open", options_, directory);
      base_ = Call<Opaque*>("optimistictransactiondb_get_base_db", db_);
      txn_options_ = Call<Opaque*>("optimistictransaction_options_create");
    }
  }

  void Fill(uint64_t num) {
    if (WritesBatches(kind_)) return;
    const auto put_locked = Function<PutFunction>("transactiondb_put");
    for (uint64_t i = 0; i < num; i++) {
      const std::string key = KeyOf(i);
      if (kind_ != Kind::kLocked) {
        PutPlain(key);
        continue;
      }
      char* error = nullptr;
      put_locked(db_, write_, key.data(), key.size(), value_.data(), value_.size(), &error);
      if (error != nullptr) Die(error);
    }
  }

  // Takes over `error`. Returns false if it tells of a conflict, and ends the program at any other.
  bool Judge(char* error) const {
    if (error == nullptr) return true;
    if (std::strstr(error, "timed out") == nullptr && std::strstr(error, "busy") == nullptr) {
      Die(error);
    }
    free_(error);
    return false;
  }

  using PutFunction = void(Opaque*, Opaque*, const char*, size_t, const char*, size_t, char**);
  using BeginFunction = Opaque*(Opaque*, Opaque*, Opaque*, Opaque*);
  using TxnPutFunction = void(Opaque*, const char*, size_t, const char*, size_t, char**);
  using WriteFunction = void(Opaque*, Opaque*, Opaque*, char**);
  using ReadFunction = char*(Opaque*, Opaque*, const char*, size_t, size_t*, unsigned char, char**);
  using EndFunction = void(Opaque*, char**);

  const Kind kind_;
  Opaque* const options_;
  Opaque* const write_;
  Opaque* const read_;
  Opaque* txn_options_ = nullptr;  // set for a kind with transactions
  Opaque* db_ = nullptr;           // set for a kind with transactions
  Opaque* base_ = nullptr;         // for plain puts
  const std::string value_ = std::string(kValueBytes, 'v');
  PutFunction* const put_ = Function<PutFunction>("put");
  WriteFunction* const write_batch_ = Function<WriteFunction>("write");
  WriteFunction* const write_locked_ = Function<WriteFunction>("transactiondb_write");
  Opaque* (*const new_batch_)() = Function<Opaque*()>("writebatch_create");
  void (*const clear_batch_)(Opaque*) = Function<void(Opaque*)>("writebatch_clear");
  void (*const forget_batch_)(Opaque*) = Function<void(Opaque*)>("writebatch_destroy");
  void (*const batch_put_)(Opaque*, const char*, size_t, const char*, size_t) =
      Function<void(Opaque*, const char*, size_t, const char*, size_t)>("writebatch_put");
  BeginFunction* const begin_locked_ = Function<BeginFunction>("transaction_begin");
  BeginFunction* const begin_checked_ = Function<BeginFunction>("optimistictransaction_begin");
  TxnPutFunction* const txn_put_ = Function<TxnPutFunction>("transaction_put");
  ReadFunction* const get_for_update_ = Function<ReadFunction>("transaction_get_for_update");
  EndFunction* const commit_ = Function<EndFunction>("transaction_commit");
  EndFunction* const roll_back_ = Function<EndFunction>("transaction_rollback");
  void (*const forget_)(Opaque*) = Function<void(Opaque*)>("transaction_destroy");
  void (*const free_)(void*) = Function<void(void*)>("free");
};

struct Row {
  const char* name;
  Kind kind;
  std::vector<int> threads;
  int puts;         // puts of a transaction
  bool for_update;  // each put after a read of its key
  bool hot;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"put", Kind::kPlain, {1, 8}, 1, false, false},
      {"locked", Kind::kLocked, {1, 8}, 1, false, false},
      {"locked10", Kind::kLocked, {1, 8}, 10, false, false},
      {"update", Kind::kLocked, {8, 32}, 1, true, false},
      {"update-hot", Kind::kLocked, {8, 32}, 1, true, true},
      {"checked", Kind::kChecked, {1, 8}, 1, false, false},
      {"checked10", Kind::kChecked, {1, 8}, 10, false, false},
      {"batch", Kind::kBatch, {2, 32}, 8, false, false},
      {"batch-loose", Kind::kLooseBatch, {2, 32}, 8, false, false},
      {"batch-prepared", Kind::kPreparedBatch, {2, 32}, 8, false, false},
  };
  return rows;
}

// Objects that a thread reuses.
struct Worker {
  explicit Worker(int thread) : draw(static_cast<uint64_t>(thread) + 1) {}
  Draw draw;
  std::vector<uint64_t> chosen;
  Opaque* txn = nullptr;  // or a batch
};

// Runs one transaction, batch or plain put. Returns false if it was refused.
bool RunOnce(const Row& row, uint64_t keys, Subject* subject, Worker* worker) {
  std::vector<uint64_t>& chosen = worker->chosen;
  chosen.resize(static_cast<size_t>(row.puts));
  for (uint64_t& number : chosen) number = worker->draw.Below(keys);
  if (row.kind == Kind::kPlain) {
    subject->PutPlain(KeyOf(chosen[0]));
    return true;
  }
  Opaque** const txn = &worker->txn;
  if (WritesBatches(row.kind)) {
    subject->WriteBatch(txn, chosen);
    return true;
  }
  *txn = subject->Begin(*txn);
  if (chosen.size() > 1) std::sort(chosen.begin(), chosen.end());
  bool ok = true;
  for (size_t i = 0; ok && i < chosen.size(); i++) {
    const std::string key = KeyOf(chosen[i]);
    ok = (!row.for_update || subject->ReadForUpdate(*txn, key)) && subject->Put(*txn, key);
  }
  if (ok && subject->Commit(*txn)) return true;
  subject->RollBack(*txn);
  return false;
}

void Measure(const Settings& settings, const Row& row, int threads, Subject* subject) {
  const uint64_t keys = row.hot ? kHotKeys : settings.num;
  // Workers read `over` in relaxed order, as it publishes nothing; the counts are read after joins.
  std::atomic<bool> over{false};
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> running;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < threads; i++) {
    running.emplace_back([&, i] {
      Worker worker(i);
      uint64_t mine = 0;
      uint64_t mine_refused = 0;
      while (!over.load(std::memory_order_relaxed)) {
        RunOnce(row, keys, subject, &worker) ? mine++ : mine_refused++;
      }
      WritesBatches(row.kind) ? subject->ForgetBatch(worker.txn) : subject->Forget(worker.txn);
      done += mine;
      refused += mine_refused;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(settings.seconds));
  over = true;
  for (std::thread& thread : running) thread.join();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const double tried = static_cast<double>(done + refused);
  std::printf("%-14s %2d threads %12.0f /s %8.1f refused of 1000\n", row.name, threads,
              static_cast<double>(done) / elapsed.count(),
              tried == 0 ? 0.0 : 1000 * static_cast<double>(refused) / tried);
  std::fflush(stdout);
}

bool Take(const char* argument, const char* name, std::string* value) {
  const size_t size = std::strlen(name);
  if (std::strncmp(argument, name, size) != 0) return false;
  *value = argument + size;
  return true;
}

Settings SettingsFrom(int argc, char** argv) {
  if (argc < 2) Die("usage: transactions LIBRARY [--db=] [--num=] [--seconds=] [--only=]");
  Settings settings;
  settings.library = argv[1];
  for (int i = 2; i < argc; i++) {
    std::string value;
    if (Take(argv[i], "--db=", &value)) {
      settings.directory = value;
    } else if (Take(argv[i], "--num=", &value)) {
      settings.num = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Take(argv[i], "--seconds=", &value)) {
      settings.seconds = std::strtod(value.c_str(), nullptr);
    } else if (!Take(argv[i], "--only=", &settings.only)) {
      Die("an argument that is not known");
    }
  }
  if (settings.num < kHotKeys || settings.seconds <= 0)
    Die("--num: 100 or more; --seconds: above 0");
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = SettingsFrom(argc, argv);
  for (const Row& row : Rows()) {
    if (std::strncmp(row.name, settings.only.c_str(), settings.only.size()) != 0) continue;
    Subject subject(settings, row.kind);
    for (const int threads : row.threads) Measure(settings, row, threads, &subject);
  }
  return 0;
}
