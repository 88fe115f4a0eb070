// SPDX-License-Identifier: Apache-2.0

// Runs libraries with RocksDB's C API: RocksDB's and ours.

#include <filesystem>
#include <fstream>
#include <vector>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/leveldb_calls.h"

namespace compare {
namespace {

using c_library::Library;
using c_library::Opaque;

constexpr int kLz4 = 4;
constexpr int kNeverStalls = 99999;
constexpr int kUniversal = 1;
constexpr int kFifo = 2;
constexpr uint64_t kSmallestBlob = 512;
constexpr uint64_t kDropsNothing = uint64_t{1} << 40;

// The calls that LevelDB lacks, or has with other types.
struct RocksDbCalls {
  explicit RocksDbCalls(const Library& l)
      : get(l.Function<Opaque*(Opaque*, Opaque*, const char*, size_t, char**)>("get_pinned")),
        slice_value(l.Function<const char*(Opaque*, size_t*)>("pinnableslice_value")),
        slice_destroy(l.Function<void(Opaque*)>("pinnableslice_destroy")),
        multi_get(l.Function<void(Opaque*, Opaque*, Opaque*, size_t, const char* const*,
                                  const size_t*, Opaque**, char**, bool)>("batched_multi_get_cf")) {
  }

  Opaque* (*get)(Opaque*, Opaque*, const char*, size_t, char**);
  const char* (*slice_value)(Opaque*, size_t*);
  void (*slice_destroy)(Opaque*);
  void (*multi_get)(Opaque*, Opaque*, Opaque*, size_t, const char* const*, const size_t*, Opaque**,
                    char**, bool);
};

class RocksDbSession final : public LevelDbCallsSession {
 public:
  RocksDbSession(const LevelDbCalls& shared, const RocksDbCalls& calls, const Handles& handles,
                 Opaque* family)
      : LevelDbCallsSession(shared, handles), calls_(calls), handles_(handles), family_(family) {}

  bool Get(std::string_view key, Digest* digest) override {
    char* error = nullptr;
    Opaque* const slice = calls_.get(handles_.db, handles_.reads, key.data(), key.size(), &error);
    Check(error);
    if (slice == nullptr) return false;
    AddSlice(slice, digest);
    return true;
  }
  void MultiGet(std::span<const std::string_view> keys, Digest* digest) override {
    keys_.clear();
    sizes_.clear();
    for (const std::string_view key : keys) {
      keys_.push_back(key.data());
      sizes_.push_back(key.size());
    }
    slices_.assign(keys.size(), nullptr);
    errors_.assign(keys.size(), nullptr);
    calls_.multi_get(handles_.db, handles_.reads, family_, keys.size(), keys_.data(), sizes_.data(),
                     slices_.data(), errors_.data(), false);
    for (size_t i = 0; i < keys.size(); i++) {
      Check(errors_[i]);
      if (slices_[i] != nullptr) AddSlice(slices_[i], digest);
    }
  }

 private:
  void AddSlice(Opaque* slice, Digest* digest) const {
    size_t size = 0;
    const char* const value = calls_.slice_value(slice, &size);
    digest->AddValue({value, size});
    calls_.slice_destroy(slice);
  }

  const RocksDbCalls& calls_;
  const Handles& handles_;
  Opaque* const family_;
  std::vector<const char*> keys_;
  std::vector<size_t> sizes_;
  std::vector<Opaque*> slices_;
  std::vector<char*> errors_;
};

class RocksDbEngine final : public Engine {
 public:
  explicit RocksDbEngine(const std::string& path)
      : library_(path), shared_(library_), calls_(library_) {
    for (const Durability durability :
         {Durability::kNoLog, Durability::kLogged, Durability::kSynced}) {
      Opaque* const options = library_.Call<Opaque*>("writeoptions_create");
      if (durability == Durability::kNoLog) {
        library_.Call<void>("writeoptions_disable_WAL", options, 1);
      } else if (durability == Durability::kSynced) {
        library_.Call<void>("writeoptions_set_sync", options, static_cast<unsigned char>(1));
      }
      handles_.writes[static_cast<size_t>(durability)] = options;
    }
    handles_.reads = library_.Call<Opaque*>("readoptions_create");
  }

  // No function returns the version, but a database's options file states it. Ours states RocksDB's
  // version there, and has a property that no other library has.
  std::string Name(const std::string& scratch) override {
    Open(scratch, Settings());
    char* const memory = library_.Call<char*>("property_value", handles_.db, "varve.memory");
    Close();
    if (memory != nullptr) return "Varve";
    for (const auto& file : std::filesystem::directory_iterator(scratch)) {
      if (!file.path().filename().string().starts_with("OPTIONS-")) continue;
      std::ifstream lines(file.path());
      const std::string label = "rocksdb_version=";
      for (std::string line; std::getline(lines, line);) {
        const size_t at = line.find(label);
        if (at != std::string::npos) return "RocksDB " + line.substr(at + label.size());
      }
    }
    return "RocksDB";
  }

  Abilities abilities() const override {
    return {.compacts = true,
            .holds_compaction = true,
            .replays_log = true,
            .writes_without_log = true,
            .writes_unordered = true,
            .has_rocksdb_api = true,
            .has_entities = library_.Has("get_entity")};
  }

  void Open(const std::string& path, const Settings& settings) override {
    Opaque* const options = NewOptions(settings);
    options_ = options;
    const char* const name = "default";
    const Opaque* const family_options = options;
    handles_.db =
        library_.Checked<Opaque*>("open_column_families", static_cast<const Opaque*>(options),
                                  path.c_str(), 1, &name, &family_options, &family_);
  }
  void Close() override {
    library_.Call<void>("column_family_handle_destroy", family_);
    library_.Call<void>("close", handles_.db);
  }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksDbSession>(shared_, calls_, handles_, family_);
  }
  void Compact() override {
    const char* const none = nullptr;
    library_.Call<void>("compact_range", handles_.db, none, size_t{0}, none, size_t{0});
  }

  RocksDbHandles rocksdb() override { return {&library_, handles_.db, family_, options_}; }

 private:
  Opaque* NewOptions(const Settings& settings) const {
    Opaque* const options = library_.Call<Opaque*>("options_create");
    const auto set = [&](const std::string& name, auto value) {
      library_.Call<void>(("options_set_" + name).c_str(), options, value);
    };
    const auto on = static_cast<unsigned char>(1);
    set("create_if_missing", on);
    set("compression", settings.compresses ? kLz4 : 0);
    set("write_buffer_size", settings.write_buffer);
    if (settings.table_bytes != 0) {
      set("target_file_size_base", static_cast<uint64_t>(settings.table_bytes));
    }
    if (!settings.compacts) {
      set("disable_auto_compactions", 1);
      set("level0_slowdown_writes_trigger", kNeverStalls);
      set("level0_stop_writes_trigger", kNeverStalls);
      set("max_write_buffer_number", 16);
    }
    if (settings.small_levels) {
      set("max_bytes_for_level_base", uint64_t{64} << 20);
      set("target_file_size_base", uint64_t{16} << 20);
    }
    if (settings.unordered) set("unordered_write", on);
    if (settings.style != Style::kLevels) {
      set("compaction_style", settings.style == Style::kUniversal ? kUniversal : kFifo);
      Opaque* const fifo = library_.Call<Opaque*>("fifo_compaction_options_create");
      library_.Call<void>("fifo_compaction_options_set_max_table_files_size", fifo, kDropsNothing);
      set("fifo_compaction_options", fifo);
    }
    if (settings.blobs.apart) {
      set("enable_blob_files", on);
      set("min_blob_size", kSmallestBlob);
      set("enable_blob_gc", on);
      set("blob_gc_age_cutoff", settings.blobs.age_cutoff);
      set("blob_gc_force_threshold", settings.blobs.force_threshold);
    }
    if (settings.reads_directly) set("use_direct_reads", on);
    Opaque* const table = library_.Call<Opaque*>("block_based_options_create");
    library_.Call<void>("block_based_options_set_block_cache", table,
                        library_.Call<Opaque*>("cache_create_lru", settings.cache_bytes));
    library_.Call<void>("block_based_options_set_filter_policy", table,
                        library_.Call<Opaque*>("filterpolicy_create_bloom_full", 10.0));
    library_.Call<void>("options_set_block_based_table_factory", options, table);
    if (settings.plain_tables) SetPlainTables(options);
    return options;
  }

  // Sets the defaults of RocksDB's PlainTableOptions.
  void SetPlainTables(Opaque* options) const {
    library_.Call<void>("options_set_plain_table_factory", options, /*user_key_len=*/uint32_t{0},
                        /*bloom_bits_per_key=*/10, /*hash_table_ratio=*/0.75,
                        /*index_sparseness=*/size_t{16}, /*huge_page_tlb_size=*/size_t{0},
                        /*encoding_type=*/'\0', /*full_scan_mode=*/static_cast<unsigned char>(0),
                        /*store_index_in_file=*/static_cast<unsigned char>(0));
    library_.Call<void>("options_set_prefix_extractor", options,
                        library_.Call<Opaque*>("slicetransform_create_fixed_prefix", size_t{8}));
    library_.Call<void>("options_set_allow_mmap_reads", options, static_cast<unsigned char>(1));
  }

  const Library library_;
  const LevelDbCalls shared_;
  const RocksDbCalls calls_;
  Handles handles_;
  Opaque* family_ = nullptr;
  Opaque* options_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> NewRocksDbEngine(const std::string& path) {
  return std::make_unique<RocksDbEngine>(path);
}

}  // namespace compare
