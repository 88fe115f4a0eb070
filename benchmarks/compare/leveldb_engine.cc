// SPDX-License-Identifier: Apache-2.0

// Runs LevelDB through its C API. It has no MultiGet, so keys are read one after the other.

#include "benchmarks/c_library.h"
#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/leveldb_calls.h"

namespace compare {
namespace {

using c_library::Library;
using c_library::Opaque;

constexpr int kSnappy = 1;
constexpr int kOpenFiles = 10000;  // all of them, as the other libraries do

struct ReadCalls {
  explicit ReadCalls(const Library& l)
      : get(l.Function<char*(Opaque*, Opaque*, const char*, size_t, size_t*, char**)>("get")),
        free(l.Function<void(void*)>("free")) {}

  char* (*get)(Opaque*, Opaque*, const char*, size_t, size_t*, char**);
  void (*free)(void*);
};

class LevelDbSession final : public LevelDbCallsSession {
 public:
  LevelDbSession(const LevelDbCalls& shared, const ReadCalls& calls, const Handles& handles)
      : LevelDbCallsSession(shared, handles), calls_(calls), handles_(handles) {}

  bool Get(std::string_view key, Digest* digest) override {
    char* error = nullptr;
    size_t size = 0;
    char* const value =
        calls_.get(handles_.db, handles_.reads, key.data(), key.size(), &size, &error);
    Check(error);
    if (value == nullptr) return false;
    digest->AddValue({value, size});
    calls_.free(value);
    return true;
  }
  void MultiGet(std::span<const std::string_view> keys, Digest* digest) override {
    for (const std::string_view key : keys) Get(key, digest);
  }

 private:
  const ReadCalls& calls_;
  const Handles& handles_;
};

class LevelDbEngine final : public Engine {
 public:
  explicit LevelDbEngine(const std::string& path)
      : library_(path, "leveldb_"), shared_(library_), calls_(library_) {
    handles_.reads = library_.Call<Opaque*>("readoptions_create");
    for (Opaque*& options : handles_.writes) {
      options = library_.Call<Opaque*>("writeoptions_create");
    }
    library_.Call<void>("writeoptions_set_sync",
                        handles_.writes[static_cast<size_t>(Durability::kSynced)],
                        static_cast<unsigned char>(1));
  }

  std::string Name(const std::string&) override {
    return "LevelDB " + std::to_string(library_.Call<int>("major_version")) + "." +
           std::to_string(library_.Call<int>("minor_version"));
  }
  Abilities abilities() const override {
    Abilities abilities;
    abilities.compacts = true;
    abilities.replays_log = true;
    return abilities;
  }
  void Open(const std::string& path, const Settings& settings) override {
    Opaque* const options = library_.Call<Opaque*>("options_create");
    const auto set = [&](const std::string& name, auto value) {
      library_.Call<void>(("options_set_" + name).c_str(), options, value);
    };
    set("create_if_missing", static_cast<unsigned char>(1));
    set("compression", settings.compresses ? kSnappy : 0);
    set("write_buffer_size", settings.write_buffer);
    set("max_open_files", kOpenFiles);
    if (settings.small_levels) set("max_file_size", size_t{16} << 20);
    set("cache", library_.Call<Opaque*>("cache_create_lru", settings.cache_bytes));
    set("filter_policy", library_.Call<Opaque*>("filterpolicy_create_bloom", 10));
    handles_.db =
        library_.Checked<Opaque*>("open", static_cast<const Opaque*>(options), path.c_str());
  }
  void Close() override { library_.Call<void>("close", handles_.db); }
  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LevelDbSession>(shared_, calls_, handles_);
  }
  void Compact() override {
    const char* const none = nullptr;
    library_.Call<void>("compact_range", handles_.db, none, size_t{0}, none, size_t{0});
  }

 private:
  const Library library_;
  const LevelDbCalls shared_;
  const ReadCalls calls_;
  Handles handles_;
};

}  // namespace

std::unique_ptr<Engine> NewLevelDbEngine(const std::string& path) {
  return std::make_unique<LevelDbEngine>(path);
}

}  // namespace compare
