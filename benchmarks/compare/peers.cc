// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/peers.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "benchmarks/c_library.h"

namespace compare {
namespace {

namespace fs = std::filesystem;

struct Known {
  Kind kind;
  const char* file;       // begins so
  const char* function;   // that it exports
  const char* signature;  // begins so in the text of an assertion of its own code
};

constexpr Known kKnown[] = {
    {Kind::kRocksDb, "librocksdb", "rocksdb_open", "rocksdb::"},
    {Kind::kLevelDb, "libleveldb", "leveldb_open", "leveldb::"},
    {Kind::kLmdb, "liblmdb", "mdb_env_open", "mdb_"},
};
constexpr std::string_view kOurs = "varve::";

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool HasWord(std::string_view bytes, const std::string& word) {
  const std::string whole = '\0' + word + '\0';
  return bytes.find(std::string_view(whole)) != std::string_view::npos;
}

// Returns true if the text has a signature such as "bool space::Class::Function(int)", which the
// compiler leaves for each assertion and, in these engines, for nothing else. An import of
// assert()'s function proves little: a linked codec may use it.
bool HasSignature(std::string_view bytes, std::string_view space) {
  for (size_t at = bytes.find(space); at != std::string_view::npos;
       at = bytes.find(space, at + space.size())) {
    size_t end = at;
    while (end < bytes.size() && (std::isalnum(static_cast<unsigned char>(bytes[end])) != 0 ||
                                  bytes[end] == '_' || bytes[end] == ':' || bytes[end] == '~')) {
      end++;
    }
    const size_t text_end = bytes.find('\0', end);
    if (end >= bytes.size() || bytes[end] != '(' || text_end == std::string_view::npos) continue;
    if (bytes.substr(end, text_end - end).find(')') != std::string_view::npos) return true;
  }
  return false;
}

std::vector<std::string> SystemFolders() {
  std::vector<std::string> folders = {"/usr/local/lib", "/usr/lib64"};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib", none)) {
    if (entry.path().filename().string().ends_with("-linux-gnu")) folders.push_back(entry.path());
  }
  folders.emplace_back("/usr/lib");
  return folders;
}

// Returns the real paths without duplicates.
std::vector<std::string> In(const std::string& folder, const Known& known) {
  std::set<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(known.file) || name.find(".so") == std::string::npos) continue;
    const fs::path real = fs::canonical(entry.path(), none);
    if (!none && Inspect(real).kind == known.kind) found.insert(real);
  }
  return {found.begin(), found.end()};
}

}  // namespace

Contender Inspect(const std::string& path) {
  Contender library;
  library.path = path;
  const std::string bytes = ReadWhole(path);
  if (!std::string_view(bytes).starts_with("\177ELF")) return library;
  for (const Known& known : kKnown) {
    if (!HasWord(bytes, known.function)) continue;
    library.kind = known.kind;
    const bool asserts = HasWord(bytes, "__assert_fail") &&
                         (HasSignature(bytes, known.signature) || HasSignature(bytes, kOurs));
    if (asserts) library.unfit = "built with assertions";
  }
  for (const char* sanitizer : {"__asan_init", "__tsan_init", "__ubsan_handle_type_mismatch_v1"}) {
    if (HasWord(bytes, sanitizer)) library.unfit = "built for a sanitizer";
  }
  return library;
}

std::unique_ptr<Engine> Load(const std::string& path, Kind kind) {
  switch (kind) {
    case Kind::kRocksDb:
      return NewRocksDbEngine(path);
    case Kind::kLevelDb:
      return NewLevelDbEngine(path);
    case Kind::kLmdb:
      return NewLmdbEngine(path);
    case Kind::kUnknown:
      break;
  }
  c_library::Die("no library of a known engine");
}

std::vector<std::string> FindPeers(const std::string& near) {
  std::vector<std::string> peers;
  for (const Known& known : kKnown) {
    std::vector<std::string> found = In(near, known);
    for (const std::string& folder : SystemFolders()) {
      if (found.empty()) found = In(folder, known);
    }
    peers.insert(peers.end(), found.begin(), found.end());
  }
  return peers;
}

}  // namespace compare
