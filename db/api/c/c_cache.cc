// SPDX-License-Identifier: Apache-2.0
// Implements caches and memory budgets for the C API.
//
// A handle is one reference to a shared object. Options take another one, so a program may destroy
// the handle as soon as it has set the option.
#include "db/api/c/c_types.h"

using varve::Status;
using varve::c::Make;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

// Returns null if the options are refused.
rocksdb_cache_t* Share(std::shared_ptr<varve::Cache> cache) {
  return cache == nullptr ? nullptr : new rocksdb_cache_t{std::move(cache)};
}

}  // namespace

rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) {
  return Try([&] { return Share(varve::NewLRUCache(capacity)); });
}

rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity) {
  return Try([&] { return Share(varve::NewLRUCache(capacity, -1, true)); });
}

rocksdb_cache_t* rocksdb_cache_create_lru_opts(const rocksdb_lru_cache_options_t* options) {
  if (options == nullptr) return nullptr;
  return Try([&] { return Share(options->rep.MakeSharedCache()); });
}

rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity, size_t estimated_entry_charge) {
  return Try([&] {
    return Share(varve::HyperClockCacheOptions(capacity, estimated_entry_charge).MakeSharedCache());
  });
}

rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options) {
  if (options == nullptr) return nullptr;
  return Try([&] { return Share(options->rep.MakeSharedCache()); });
}

void rocksdb_cache_disown_data(rocksdb_cache_t* cache) {
  if (cache != nullptr) cache->rep->DisownData();
}

void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) {
  if (cache != nullptr) TryVoid([&] { cache->rep->SetCapacity(capacity); });
}

size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache) {
  return cache == nullptr ? 0 : cache->rep->GetCapacity();
}

size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache) {
  return cache == nullptr ? 0 : cache->rep->GetUsage();
}

size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache) {
  return cache == nullptr ? 0 : cache->rep->GetPinnedUsage();
}

size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* cache) {
  return cache == nullptr ? 0 : cache->rep->GetTableAddressCount();
}

size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* cache) {
  return cache == nullptr ? 0 : cache->rep->GetOccupancyCount();
}

void rocksdb_lru_cache_options_set_memory_allocator(rocksdb_lru_cache_options_t* options,
                                                    rocksdb_memory_allocator_t* allocator) {
  if (options == nullptr) return;
  options->rep.memory_allocator = allocator == nullptr ? nullptr : allocator->rep;
}

rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge) {
  return Try([&] {
    return new rocksdb_hyper_clock_cache_options_t{
        varve::HyperClockCacheOptions(capacity, estimated_entry_charge)};
  });
}

void rocksdb_hyper_clock_cache_options_set_memory_allocator(
    rocksdb_hyper_clock_cache_options_t* options, rocksdb_memory_allocator_t* allocator) {
  if (options == nullptr) return;
  options->rep.memory_allocator = allocator == nullptr ? nullptr : allocator->rep;
}

rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr) {
  varve::c::Run(errptr, [] { return Status::NotSupported("C API: no allocator of jemalloc's"); });
  return nullptr;
}

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size,
                                                                    bool allow_stall) {
  return rocksdb_write_buffer_manager_create_with_cache(buffer_size, nullptr, allow_stall);
}

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall) {
  return Try([&] {
    return new rocksdb_write_buffer_manager_t{std::make_shared<varve::WriteBufferManager>(
        buffer_size, cache == nullptr ? nullptr : cache->rep, allow_stall)};
  });
}

bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager) {
  return manager != nullptr && manager->rep->enabled();
}

bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager) {
  return manager != nullptr && manager->rep->cost_to_cache();
}

size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->memory_usage();
}

size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(
    rocksdb_write_buffer_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->mutable_memtable_memory_usage();
}

size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(
    rocksdb_write_buffer_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->dummy_entries_in_cache_usage();
}

size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager) {
  return manager == nullptr ? 0 : manager->rep->buffer_size();
}

void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t* manager,
                                                  size_t new_size) {
  if (manager != nullptr) manager->rep->SetBufferSize(new_size);
}

void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t* manager,
                                                  bool new_allow_stall) {
  if (manager != nullptr) manager->rep->SetAllowStall(new_allow_stall);
}
