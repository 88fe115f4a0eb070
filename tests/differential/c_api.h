// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the C API's calls that histories make, as one table for each library: Varve's, which this
// program is linked with, and another's with the same names, found at run time.

#include <string>
#include <vector>

#include "varve/c.h"

namespace varve::testing {

// Source of a table's functions.
class CallSource {
 public:
  // Uses Varve's functions or, with a `library` from dlopen, the functions of the same names there.
  explicit CallSource(void* library) : library_(library) {}

  bool is_varve() const { return library_ == nullptr; }
  // Returns null when there is no "rocksdb_<name>", and records that.
  void* Find(const char* name);
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  void* const library_;
  std::vector<std::string> missing_;
};

// Holds one function of a table, with the type that varve/c.h declares.
template <auto kVarves>
class CCall {
 public:
  CCall(CallSource* source, const char* name)
      : call_(source->is_varve() ? kVarves
                                 : reinterpret_cast<decltype(kVarves)>(source->Find(name))) {}

  template <typename... Args>
  auto operator()(Args... args) const {
    return call_(args...);
  }
  // Replaces the function, for tests that plant a fault.
  void Replace(decltype(kVarves) other) { call_ = other; }

 private:
  decltype(kVarves) call_;
};

struct CApi {
  explicit CApi(void* library) : source_storage(library) {}

  // Returns the functions that the library lacks. If there are any, the table cannot be used.
  const std::vector<std::string>& missing() const { return source_storage.missing(); }

  CallSource source_storage;
  CallSource* const source = &source_storage;

  // Databases and families.
  CCall<&rocksdb_free> free{source, "free"};
  CCall<&rocksdb_open_column_families> open_column_families{source, "open_column_families"};
  CCall<&rocksdb_open_for_read_only_column_families> open_for_read_only_column_families{
      source, "open_for_read_only_column_families"};
  CCall<&rocksdb_close> close{source, "close"};
  CCall<&rocksdb_list_column_families> list_column_families{source, "list_column_families"};
  CCall<&rocksdb_list_column_families_destroy> list_column_families_destroy{
      source, "list_column_families_destroy"};
  CCall<&rocksdb_create_column_family> create_column_family{source, "create_column_family"};
  CCall<&rocksdb_drop_column_family> drop_column_family{source, "drop_column_family"};
  CCall<&rocksdb_column_family_handle_destroy> column_family_handle_destroy{
      source, "column_family_handle_destroy"};
  CCall<&rocksdb_column_family_handle_get_id> column_family_handle_get_id{
      source, "column_family_handle_get_id"};

  // Options.
  CCall<&rocksdb_options_create> options_create{source, "options_create"};
  CCall<&rocksdb_options_create_copy> options_create_copy{source, "options_create_copy"};
  CCall<&rocksdb_options_destroy> options_destroy{source, "options_destroy"};
  CCall<&rocksdb_options_set_create_if_missing> options_set_create_if_missing{
      source, "options_set_create_if_missing"};
  CCall<&rocksdb_options_set_comparator> options_set_comparator{source, "options_set_comparator"};
  CCall<&rocksdb_options_set_merge_operator> options_set_merge_operator{
      source, "options_set_merge_operator"};
  CCall<&rocksdb_get_options_from_string> get_options_from_string{source,
                                                                  "get_options_from_string"};
  CCall<&rocksdb_comparator_create> comparator_create{source, "comparator_create"};
  CCall<&rocksdb_mergeoperator_create> mergeoperator_create{source, "mergeoperator_create"};
  CCall<&rocksdb_set_options_cf> set_options_cf{source, "set_options_cf"};
  CCall<&rocksdb_writeoptions_create> writeoptions_create{source, "writeoptions_create"};
  CCall<&rocksdb_writeoptions_destroy> writeoptions_destroy{source, "writeoptions_destroy"};
  CCall<&rocksdb_writeoptions_set_sync> writeoptions_set_sync{source, "writeoptions_set_sync"};
  CCall<&rocksdb_writeoptions_disable_WAL> writeoptions_disable_WAL{source,
                                                                    "writeoptions_disable_WAL"};
  CCall<&rocksdb_writeoptions_set_ignore_missing_column_families>
      writeoptions_set_ignore_missing_column_families{
          source, "writeoptions_set_ignore_missing_column_families"};
  CCall<&rocksdb_readoptions_create> readoptions_create{source, "readoptions_create"};
  CCall<&rocksdb_readoptions_destroy> readoptions_destroy{source, "readoptions_destroy"};
  CCall<&rocksdb_readoptions_set_snapshot> readoptions_set_snapshot{source,
                                                                    "readoptions_set_snapshot"};
  CCall<&rocksdb_readoptions_set_iterate_lower_bound> readoptions_set_iterate_lower_bound{
      source, "readoptions_set_iterate_lower_bound"};
  CCall<&rocksdb_readoptions_set_iterate_upper_bound> readoptions_set_iterate_upper_bound{
      source, "readoptions_set_iterate_upper_bound"};
  CCall<&rocksdb_readoptions_set_prefix_same_as_start> readoptions_set_prefix_same_as_start{
      source, "readoptions_set_prefix_same_as_start"};
  CCall<&rocksdb_readoptions_set_total_order_seek> readoptions_set_total_order_seek{
      source, "readoptions_set_total_order_seek"};
  CCall<&rocksdb_readoptions_set_tailing> readoptions_set_tailing{source,
                                                                  "readoptions_set_tailing"};
  CCall<&rocksdb_readoptions_set_ignore_range_deletions> readoptions_set_ignore_range_deletions{
      source, "readoptions_set_ignore_range_deletions"};
  CCall<&rocksdb_readoptions_set_max_skippable_internal_keys>
      readoptions_set_max_skippable_internal_keys{source,
                                                  "readoptions_set_max_skippable_internal_keys"};
  CCall<&rocksdb_readoptions_set_read_tier> readoptions_set_read_tier{source,
                                                                      "readoptions_set_read_tier"};
  CCall<&rocksdb_flushoptions_create> flushoptions_create{source, "flushoptions_create"};
  CCall<&rocksdb_flushoptions_destroy> flushoptions_destroy{source, "flushoptions_destroy"};
  CCall<&rocksdb_compactoptions_create> compactoptions_create{source, "compactoptions_create"};
  CCall<&rocksdb_compactoptions_destroy> compactoptions_destroy{source, "compactoptions_destroy"};
  CCall<&rocksdb_compactoptions_set_bottommost_level_compaction>
      compactoptions_set_bottommost_level_compaction{
          source, "compactoptions_set_bottommost_level_compaction"};

  // Writes.
  CCall<&rocksdb_put_cf> put_cf{source, "put_cf"};
  CCall<&rocksdb_delete_cf> delete_cf{source, "delete_cf"};
  CCall<&rocksdb_singledelete_cf> singledelete_cf{source, "singledelete_cf"};
  CCall<&rocksdb_merge_cf> merge_cf{source, "merge_cf"};
  CCall<&rocksdb_delete_range_cf> delete_range_cf{source, "delete_range_cf"};
  CCall<&rocksdb_write> write{source, "write"};
  CCall<&rocksdb_writebatch_create> writebatch_create{source, "writebatch_create"};
  CCall<&rocksdb_writebatch_create_from> writebatch_create_from{source, "writebatch_create_from"};
  CCall<&rocksdb_writebatch_destroy> writebatch_destroy{source, "writebatch_destroy"};
  CCall<&rocksdb_writebatch_count> writebatch_count{source, "writebatch_count"};
  CCall<&rocksdb_writebatch_data> writebatch_data{source, "writebatch_data"};
  CCall<&rocksdb_writebatch_put_cf> writebatch_put_cf{source, "writebatch_put_cf"};
  CCall<&rocksdb_writebatch_delete_cf> writebatch_delete_cf{source, "writebatch_delete_cf"};
  CCall<&rocksdb_writebatch_singledelete_cf> writebatch_singledelete_cf{
      source, "writebatch_singledelete_cf"};
  CCall<&rocksdb_writebatch_merge_cf> writebatch_merge_cf{source, "writebatch_merge_cf"};
  CCall<&rocksdb_writebatch_delete_range_cf> writebatch_delete_range_cf{
      source, "writebatch_delete_range_cf"};
  CCall<&rocksdb_writebatch_put_log_data> writebatch_put_log_data{source,
                                                                  "writebatch_put_log_data"};
  CCall<&rocksdb_writebatch_set_save_point> writebatch_set_save_point{source,
                                                                      "writebatch_set_save_point"};
  CCall<&rocksdb_writebatch_rollback_to_save_point> writebatch_rollback_to_save_point{
      source, "writebatch_rollback_to_save_point"};
  CCall<&rocksdb_writebatch_pop_save_point> writebatch_pop_save_point{source,
                                                                      "writebatch_pop_save_point"};

  // Reads.
  CCall<&rocksdb_get_cf> get_cf{source, "get_cf"};
  CCall<&rocksdb_get_pinned_cf> get_pinned_cf{source, "get_pinned_cf"};
  CCall<&rocksdb_pinnableslice_value> pinnableslice_value{source, "pinnableslice_value"};
  CCall<&rocksdb_pinnableslice_destroy> pinnableslice_destroy{source, "pinnableslice_destroy"};
  CCall<&rocksdb_multi_get_cf> multi_get_cf{source, "multi_get_cf"};
  CCall<&rocksdb_batched_multi_get_cf> batched_multi_get_cf{source, "batched_multi_get_cf"};
  CCall<&rocksdb_key_may_exist_cf> key_may_exist_cf{source, "key_may_exist_cf"};
  CCall<&rocksdb_create_snapshot> create_snapshot{source, "create_snapshot"};
  CCall<&rocksdb_release_snapshot> release_snapshot{source, "release_snapshot"};
  CCall<&rocksdb_property_int_cf> property_int_cf{source, "property_int_cf"};
  CCall<&rocksdb_property_value_cf> property_value_cf{source, "property_value_cf"};
  CCall<&rocksdb_get_latest_sequence_number> get_latest_sequence_number{
      source, "get_latest_sequence_number"};
  CCall<&rocksdb_create_iterator_cf> create_iterator_cf{source, "create_iterator_cf"};
  CCall<&rocksdb_iter_destroy> iter_destroy{source, "iter_destroy"};
  CCall<&rocksdb_iter_valid> iter_valid{source, "iter_valid"};
  CCall<&rocksdb_iter_key> iter_key{source, "iter_key"};
  CCall<&rocksdb_iter_value> iter_value{source, "iter_value"};
  CCall<&rocksdb_iter_get_error> iter_get_error{source, "iter_get_error"};
  CCall<&rocksdb_iter_refresh> iter_refresh{source, "iter_refresh"};
  CCall<&rocksdb_iter_seek_to_first> iter_seek_to_first{source, "iter_seek_to_first"};
  CCall<&rocksdb_iter_seek_to_last> iter_seek_to_last{source, "iter_seek_to_last"};
  CCall<&rocksdb_iter_seek> iter_seek{source, "iter_seek"};
  CCall<&rocksdb_iter_seek_for_prev> iter_seek_for_prev{source, "iter_seek_for_prev"};
  CCall<&rocksdb_iter_next> iter_next{source, "iter_next"};
  CCall<&rocksdb_iter_prev> iter_prev{source, "iter_prev"};

  // Maintenance.
  CCall<&rocksdb_flush_cf> flush_cf{source, "flush_cf"};
  CCall<&rocksdb_compact_range_cf_opt> compact_range_cf_opt{source, "compact_range_cf_opt"};
  CCall<&rocksdb_delete_file_in_range_cf> delete_file_in_range_cf{source,
                                                                  "delete_file_in_range_cf"};
  CCall<&rocksdb_flush_wal> flush_wal{source, "flush_wal"};

  // Batches with an index.
  CCall<&rocksdb_writebatch_wi_create> writebatch_wi_create{source, "writebatch_wi_create"};
  CCall<&rocksdb_writebatch_wi_destroy> writebatch_wi_destroy{source, "writebatch_wi_destroy"};
  CCall<&rocksdb_writebatch_wi_count> writebatch_wi_count{source, "writebatch_wi_count"};
  CCall<&rocksdb_writebatch_wi_data> writebatch_wi_data{source, "writebatch_wi_data"};
  CCall<&rocksdb_writebatch_wi_put_cf> writebatch_wi_put_cf{source, "writebatch_wi_put_cf"};
  CCall<&rocksdb_writebatch_wi_delete_cf> writebatch_wi_delete_cf{source,
                                                                  "writebatch_wi_delete_cf"};
  CCall<&rocksdb_writebatch_wi_singledelete_cf> writebatch_wi_singledelete_cf{
      source, "writebatch_wi_singledelete_cf"};
  CCall<&rocksdb_writebatch_wi_merge_cf> writebatch_wi_merge_cf{source, "writebatch_wi_merge_cf"};
  CCall<&rocksdb_writebatch_wi_put_log_data> writebatch_wi_put_log_data{
      source, "writebatch_wi_put_log_data"};
  CCall<&rocksdb_writebatch_wi_set_save_point> writebatch_wi_set_save_point{
      source, "writebatch_wi_set_save_point"};
  CCall<&rocksdb_writebatch_wi_rollback_to_save_point> writebatch_wi_rollback_to_save_point{
      source, "writebatch_wi_rollback_to_save_point"};
  CCall<&rocksdb_writebatch_wi_get_from_batch_cf> writebatch_wi_get_from_batch_cf{
      source, "writebatch_wi_get_from_batch_cf"};
  CCall<&rocksdb_writebatch_wi_get_from_batch_and_db_cf> writebatch_wi_get_from_batch_and_db_cf{
      source, "writebatch_wi_get_from_batch_and_db_cf"};
  CCall<&rocksdb_writebatch_wi_create_iterator_with_base_cf>
      writebatch_wi_create_iterator_with_base_cf{source,
                                                 "writebatch_wi_create_iterator_with_base_cf"};
  CCall<&rocksdb_write_writebatch_wi> write_writebatch_wi{source, "write_writebatch_wi"};

  // Transactional databases.
  CCall<&rocksdb_transactiondb_options_create> transactiondb_options_create{
      source, "transactiondb_options_create"};
  CCall<&rocksdb_transactiondb_options_destroy> transactiondb_options_destroy{
      source, "transactiondb_options_destroy"};
  CCall<&rocksdb_transactiondb_options_set_default_lock_timeout>
      transactiondb_options_set_default_lock_timeout{
          source, "transactiondb_options_set_default_lock_timeout"};
  CCall<&rocksdb_transactiondb_options_set_transaction_lock_timeout>
      transactiondb_options_set_transaction_lock_timeout{
          source, "transactiondb_options_set_transaction_lock_timeout"};
  CCall<&rocksdb_transactiondb_options_set_max_num_locks> transactiondb_options_set_max_num_locks{
      source, "transactiondb_options_set_max_num_locks"};
  CCall<&rocksdb_transactiondb_open_column_families> transactiondb_open_column_families{
      source, "transactiondb_open_column_families"};
  CCall<&rocksdb_transactiondb_get_base_db> transactiondb_get_base_db{source,
                                                                      "transactiondb_get_base_db"};
  CCall<&rocksdb_transactiondb_close_base_db> transactiondb_close_base_db{
      source, "transactiondb_close_base_db"};
  CCall<&rocksdb_transactiondb_close> transactiondb_close{source, "transactiondb_close"};
  CCall<&rocksdb_transactiondb_create_column_family> transactiondb_create_column_family{
      source, "transactiondb_create_column_family"};
  CCall<&rocksdb_transactiondb_put_cf> transactiondb_put_cf{source, "transactiondb_put_cf"};
  CCall<&rocksdb_transactiondb_delete_cf> transactiondb_delete_cf{source,
                                                                  "transactiondb_delete_cf"};
  CCall<&rocksdb_transactiondb_merge_cf> transactiondb_merge_cf{source, "transactiondb_merge_cf"};
  CCall<&rocksdb_transactiondb_write> transactiondb_write{source, "transactiondb_write"};
  CCall<&rocksdb_transactiondb_get_prepared_transactions> transactiondb_get_prepared_transactions{
      source, "transactiondb_get_prepared_transactions"};
  CCall<&rocksdb_optimistictransactiondb_open_column_families>
      optimistictransactiondb_open_column_families{source,
                                                   "optimistictransactiondb_open_column_families"};
  CCall<&rocksdb_optimistictransactiondb_get_base_db> optimistictransactiondb_get_base_db{
      source, "optimistictransactiondb_get_base_db"};
  CCall<&rocksdb_optimistictransactiondb_close_base_db> optimistictransactiondb_close_base_db{
      source, "optimistictransactiondb_close_base_db"};
  CCall<&rocksdb_optimistictransactiondb_close> optimistictransactiondb_close{
      source, "optimistictransactiondb_close"};

  // Transactions.
  CCall<&rocksdb_transaction_options_create> transaction_options_create{
      source, "transaction_options_create"};
  CCall<&rocksdb_transaction_options_destroy> transaction_options_destroy{
      source, "transaction_options_destroy"};
  CCall<&rocksdb_transaction_options_set_set_snapshot> transaction_options_set_set_snapshot{
      source, "transaction_options_set_set_snapshot"};
  CCall<&rocksdb_transaction_options_set_max_write_batch_size>
      transaction_options_set_max_write_batch_size{source,
                                                   "transaction_options_set_max_write_batch_size"};
  CCall<&rocksdb_transaction_begin> transaction_begin{source, "transaction_begin"};
  CCall<&rocksdb_optimistictransaction_options_create> optimistictransaction_options_create{
      source, "optimistictransaction_options_create"};
  CCall<&rocksdb_optimistictransaction_options_destroy> optimistictransaction_options_destroy{
      source, "optimistictransaction_options_destroy"};
  CCall<&rocksdb_optimistictransaction_options_set_set_snapshot>
      optimistictransaction_options_set_set_snapshot{
          source, "optimistictransaction_options_set_set_snapshot"};
  CCall<&rocksdb_optimistictransaction_begin> optimistictransaction_begin{
      source, "optimistictransaction_begin"};
  CCall<&rocksdb_transaction_destroy> transaction_destroy{source, "transaction_destroy"};
  CCall<&rocksdb_transaction_put_cf> transaction_put_cf{source, "transaction_put_cf"};
  CCall<&rocksdb_transaction_delete_cf> transaction_delete_cf{source, "transaction_delete_cf"};
  CCall<&rocksdb_transaction_merge_cf> transaction_merge_cf{source, "transaction_merge_cf"};
  CCall<&rocksdb_transaction_put_log_data> transaction_put_log_data{source,
                                                                    "transaction_put_log_data"};
  CCall<&rocksdb_transaction_get_cf> transaction_get_cf{source, "transaction_get_cf"};
  CCall<&rocksdb_transaction_get_for_update_cf> transaction_get_for_update_cf{
      source, "transaction_get_for_update_cf"};
  CCall<&rocksdb_transaction_multi_get_cf> transaction_multi_get_cf{source,
                                                                    "transaction_multi_get_cf"};
  CCall<&rocksdb_transaction_create_iterator_cf> transaction_create_iterator_cf{
      source, "transaction_create_iterator_cf"};
  CCall<&rocksdb_transaction_set_savepoint> transaction_set_savepoint{source,
                                                                      "transaction_set_savepoint"};
  CCall<&rocksdb_transaction_rollback_to_savepoint> transaction_rollback_to_savepoint{
      source, "transaction_rollback_to_savepoint"};
  CCall<&rocksdb_transaction_rollback> transaction_rollback{source, "transaction_rollback"};
  CCall<&rocksdb_transaction_commit> transaction_commit{source, "transaction_commit"};
  CCall<&rocksdb_transaction_prepare> transaction_prepare{source, "transaction_prepare"};
  CCall<&rocksdb_transaction_set_name> transaction_set_name{source, "transaction_set_name"};
  CCall<&rocksdb_transaction_get_name> transaction_get_name{source, "transaction_get_name"};
  CCall<&rocksdb_transaction_get_snapshot> transaction_get_snapshot{source,
                                                                    "transaction_get_snapshot"};
  CCall<&rocksdb_transaction_get_writebatch_wi> transaction_get_writebatch_wi{
      source, "transaction_get_writebatch_wi"};
  CCall<&rocksdb_transaction_rebuild_from_writebatch> transaction_rebuild_from_writebatch{
      source, "transaction_rebuild_from_writebatch"};
};

}  // namespace varve::testing
