// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of a storage engine to the rows: the same calls for every library. Each engine has
// one file that implements it over the engine's C functions.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "benchmarks/compare/digest.h"

namespace c_library {
class Library;
struct Opaque;
}  // namespace c_library

namespace compare {

// Says what an acknowledged write survives: nothing, the end of the process, or the end of the
// machine.
enum class Durability { kNoLog, kLogged, kSynced };

enum class Style { kLevels, kUniversal, kFifo };

// Says if values of 512 bytes and more lie in blob files, and how these lose their garbage: the
// options have RocksDB's names and meanings.
struct Blobs {
  bool apart = false;
  double age_cutoff = 0.25;
  double force_threshold = 1.0;
};

// Says how a row opens its database. Everything else is each library's default.
struct Settings {
  size_t cache_bytes = size_t{4} << 30;
  size_t write_buffer = size_t{64} << 20;
  size_t table_bytes = 0;        // at which tables below L0 are cut; 0: the library's default
  bool compacts = true;          // else flushed runs stay as they are, and writes never stall
  bool unordered = false;        // concurrent writes in no order
  bool small_levels = false;     // tables of 16 MiB, a first level of 64 MiB
  bool compresses = false;       // LZ4; Snappy for LevelDB
  Style style = Style::kLevels;  // of compactions; others need has_rocksdb_api
  Blobs blobs;                   // need has_rocksdb_api
  bool reads_directly = false;   // past the page cache; needs has_rocksdb_api
  // PlainTables in the place of block-based ones, mapped; their prefixes are eight bytes of a key.
  bool plain_tables = false;  // needs has_rocksdb_api
};

// Names what not every engine can do. A row that needs an ability is left out for the others.
struct Abilities {
  bool compacts = false;            // there is something to compact
  bool holds_compaction = false;    // automatic compaction can be switched off
  bool replays_log = false;         // closing leaves writes in a log that opening replays
  bool writes_without_log = false;  // the log can be left out
  bool writes_unordered = false;
  bool has_rocksdb_api = false;  // rocksdb() gives something
  bool has_entities = false;     // and that API has our functions for entities
};

// Holds an open database behind RocksDB's C API, for rows of calls that only that API has.
struct RocksDbHandles {
  const c_library::Library* library = nullptr;
  c_library::Opaque* db = nullptr;
  c_library::Opaque* family = nullptr;   // the only one
  c_library::Opaque* options = nullptr;  // that it was opened with
};

// Makes one thread's calls on an open database. It must end before the database is closed. A
// failing call ends the process.
class Session {
 public:
  virtual ~Session() = default;
  virtual void Put(std::string_view key, std::string_view value, Durability durability) = 0;
  // BatchWrite() writes, as one atomic batch, what BatchPut() was given since the last one.
  virtual void BatchPut(std::string_view key, std::string_view value) = 0;
  virtual void BatchWrite(Durability durability) = 0;
  // Adds the value to `digest`. Returns false if there is none.
  virtual bool Get(std::string_view key, Digest* digest) = 0;
  // Adds the values that exist, in the order of the keys.
  virtual void MultiGet(std::span<const std::string_view> keys, Digest* digest) = 0;
  // Adds up to `limit` entries, beginning at the first key at or after `from`, or at the first or
  // last key if `from` is empty. Returns the number of entries.
  virtual uint64_t Scan(std::string_view from, uint64_t limit, bool forward, Digest* digest) = 0;
};

// Holds a library. A failing call ends the process. Thread safety: NewSession() may be called from
// any thread, the rest from one at a time.
class Engine {
 public:
  virtual ~Engine() = default;
  // Returns the library's name, such as "RocksDB 11.8.1". May create files in the empty folder
  // `scratch`.
  virtual std::string Name(const std::string& scratch) = 0;
  virtual Abilities abilities() const = 0;
  // Opens the database in the folder `path`, which is created if it is missing. An engine has one
  // open database at a time, and Close() requires that all sessions have ended.
  virtual void Open(const std::string& path, const Settings& settings) = 0;
  virtual void Close() = 0;
  virtual std::unique_ptr<Session> NewSession() = 0;
  // Compacts everything, and returns when that is done; does nothing without Abilities::compacts.
  virtual void Compact() = 0;
  // Returns the handles of the open database, or nulls if the library lacks that API.
  virtual RocksDbHandles rocksdb() { return {}; }
};

// Each function returns an engine that loads the library at `path`.
std::unique_ptr<Engine> NewRocksDbEngine(const std::string& path);
std::unique_ptr<Engine> NewLevelDbEngine(const std::string& path);
std::unique_ptr<Engine> NewLmdbEngine(const std::string& path);

}  // namespace compare
