// SPDX-License-Identifier: Apache-2.0

// Implements LevelDB's C API over a map in memory that loses every hundredth write, which a
// comparison of engines must not take for a quick one. It has only the calls that
// benchmarks/compare makes to fill a database.

#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Entries = std::map<std::string, std::string>;

struct Database {
  Entries entries;
  int writes = 0;
};
struct Batch {
  std::vector<std::pair<std::string, std::string>> entries;
};
struct Iterator {
  const Entries* entries;
  Entries::const_iterator at;
};

int nothing = 0;  // options point here

void Write(Database* db, std::string key, std::string value) {
  if (++db->writes % 100 != 0) db->entries[std::move(key)] = std::move(value);
}

}  // namespace

extern "C" {

int leveldb_major_version() {
  return 1;
}
int leveldb_minor_version() {
  return 99;
}
void* leveldb_options_create() {
  return &nothing;
}
void* leveldb_readoptions_create() {
  return &nothing;
}
void* leveldb_writeoptions_create() {
  return &nothing;
}
void* leveldb_cache_create_lru(size_t) {
  return &nothing;
}
void* leveldb_filterpolicy_create_bloom(int) {
  return &nothing;
}
void leveldb_writeoptions_set_sync(void*, unsigned char) {}
void leveldb_options_set_create_if_missing(void*, unsigned char) {}
void leveldb_options_set_compression(void*, int) {}
void leveldb_options_set_write_buffer_size(void*, size_t) {}
void leveldb_options_set_max_open_files(void*, int) {}
void leveldb_options_set_max_file_size(void*, size_t) {}
void leveldb_options_set_cache(void*, void*) {}
void leveldb_options_set_filter_policy(void*, void*) {}

Database* leveldb_open(const void*, const char*, char**) {
  return new Database;
}
void leveldb_close(Database* db) {
  delete db;
}
void leveldb_compact_range(Database*, const char*, size_t, const char*, size_t) {}
void leveldb_put(Database* db, void*, const char* key, size_t key_size, const char* value,
                 size_t value_size, char**) {
  Write(db, {key, key_size}, {value, value_size});
}
Batch* leveldb_writebatch_create() {
  return new Batch;
}
void leveldb_writebatch_destroy(Batch* batch) {
  delete batch;
}
void leveldb_writebatch_clear(Batch* batch) {
  batch->entries.clear();
}
void leveldb_writebatch_put(Batch* batch, const char* key, size_t key_size, const char* value,
                            size_t value_size) {
  batch->entries.emplace_back(std::string(key, key_size), std::string(value, value_size));
}
void leveldb_write(Database* db, void*, Batch* batch, char**) {
  for (const auto& [key, value] : batch->entries) Write(db, key, value);
}
char* leveldb_get(Database*, void*, const char*, size_t, size_t*, char**) {
  return nullptr;
}
void leveldb_free(void*) {}

Iterator* leveldb_create_iterator(Database* db, void*) {
  return new Iterator{&db->entries, db->entries.end()};
}
void leveldb_iter_destroy(Iterator* it) {
  delete it;
}
void leveldb_iter_seek(Iterator* it, const char* key, size_t size) {
  it->at = it->entries->lower_bound({key, size});
}
void leveldb_iter_seek_to_first(Iterator* it) {
  it->at = it->entries->begin();
}
void leveldb_iter_seek_to_last(Iterator* it) {
  it->at = it->entries->empty() ? it->entries->end() : std::prev(it->entries->end());
}
void leveldb_iter_next(Iterator* it) {
  ++it->at;
}
void leveldb_iter_prev(Iterator* it) {
  it->at = it->at == it->entries->begin() ? it->entries->end() : std::prev(it->at);
}
unsigned char leveldb_iter_valid(const Iterator* it) {
  return it->at == it->entries->end() ? 0 : 1;
}
const char* leveldb_iter_key(const Iterator* it, size_t* size) {
  *size = it->at->first.size();
  return it->at->first.data();
}
const char* leveldb_iter_value(const Iterator* it, size_t* size) {
  *size = it->at->second.size();
  return it->at->second.data();
}
void leveldb_iter_get_error(const Iterator*, char**) {}

}  // extern "C"
