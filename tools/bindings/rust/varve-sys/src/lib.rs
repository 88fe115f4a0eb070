// SPDX-License-Identifier: Apache-2.0
//! The functions of Varve's C API that the crate `varve` calls. `varve/c.h` says what they do.
//! The script `declarations` writes this file from the headers.

#![allow(non_camel_case_types)]
#![allow(clippy::too_many_arguments)]

use std::os::raw::{c_char, c_int, c_uchar, c_void};

macro_rules! handles {
    ($($name:ident),* $(,)?) => {$(
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

handles!(
    rocksdb_backup_engine_info_t,
    rocksdb_backup_engine_options_t,
    rocksdb_backup_engine_t,
    rocksdb_checkpoint_t,
    rocksdb_column_family_handle_t,
    rocksdb_create_backup_options_t,
    rocksdb_env_t,
    rocksdb_flushoptions_t,
    rocksdb_iterator_t,
    rocksdb_mergeoperator_t,
    rocksdb_optimistictransaction_options_t,
    rocksdb_optimistictransactiondb_t,
    rocksdb_options_t,
    rocksdb_pinnableslice_t,
    rocksdb_readoptions_t,
    rocksdb_restore_options_t,
    rocksdb_snapshot_t,
    rocksdb_t,
    rocksdb_transaction_options_t,
    rocksdb_transaction_t,
    rocksdb_transactiondb_options_t,
    rocksdb_transactiondb_t,
    rocksdb_writebatch_t,
    rocksdb_writeoptions_t,
);

extern "C" {
    pub fn rocksdb_options_create() -> *mut rocksdb_options_t;
    pub fn rocksdb_options_destroy(options: *mut rocksdb_options_t);
    pub fn rocksdb_options_set_create_if_missing(arg0: *mut rocksdb_options_t, arg1: c_uchar);
    pub fn rocksdb_get_options_from_string(
        base_options: *const rocksdb_options_t,
        opts_str: *const c_char,
        new_options: *mut rocksdb_options_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_options_set_merge_operator(
        options: *mut rocksdb_options_t,
        merge_operator: *mut rocksdb_mergeoperator_t,
    );
    pub fn rocksdb_list_column_families(
        options: *const rocksdb_options_t,
        name: *const c_char,
        num_families: *mut usize,
        errptr: *mut *mut c_char,
    ) -> *mut *mut c_char;
    pub fn rocksdb_list_column_families_destroy(list: *mut *mut c_char, num_families: usize);
    pub fn rocksdb_open_column_families(
        options: *const rocksdb_options_t,
        name: *const c_char,
        num_families: c_int,
        family_names: *const *const c_char,
        family_options: *const *const rocksdb_options_t,
        handles: *mut *mut rocksdb_column_family_handle_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_t;
    pub fn rocksdb_open_for_read_only_column_families(
        options: *const rocksdb_options_t,
        name: *const c_char,
        num_families: c_int,
        family_names: *const *const c_char,
        family_options: *const *const rocksdb_options_t,
        handles: *mut *mut rocksdb_column_family_handle_t,
        error_if_wal_file_exists: c_uchar,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_t;
    pub fn rocksdb_close(db: *mut rocksdb_t);
    pub fn rocksdb_create_column_family(
        db: *mut rocksdb_t,
        options: *const rocksdb_options_t,
        name: *const c_char,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_column_family_handle_t;
    pub fn rocksdb_drop_column_family(
        db: *mut rocksdb_t,
        handle: *mut rocksdb_column_family_handle_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_column_family_handle_destroy(handle: *mut rocksdb_column_family_handle_t);
    pub fn rocksdb_readoptions_create() -> *mut rocksdb_readoptions_t;
    pub fn rocksdb_readoptions_destroy(arg0: *mut rocksdb_readoptions_t);
    pub fn rocksdb_readoptions_set_snapshot(
        options: *mut rocksdb_readoptions_t,
        snapshot: *const rocksdb_snapshot_t,
    );
    pub fn rocksdb_readoptions_set_iterate_lower_bound(
        options: *mut rocksdb_readoptions_t,
        key: *const c_char,
        keylen: usize,
    );
    pub fn rocksdb_readoptions_set_iterate_upper_bound(
        options: *mut rocksdb_readoptions_t,
        key: *const c_char,
        keylen: usize,
    );
    pub fn rocksdb_readoptions_set_total_order_seek(
        arg0: *mut rocksdb_readoptions_t,
        arg1: c_uchar,
    );
    pub fn rocksdb_writeoptions_create() -> *mut rocksdb_writeoptions_t;
    pub fn rocksdb_writeoptions_set_sync(arg0: *mut rocksdb_writeoptions_t, arg1: c_uchar);
    pub fn rocksdb_writeoptions_destroy(arg0: *mut rocksdb_writeoptions_t);
    pub fn rocksdb_put_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_writeoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        keylen: usize,
        val: *const c_char,
        vallen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_delete_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_writeoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        keylen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_merge_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_writeoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        keylen: usize,
        val: *const c_char,
        vallen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_delete_range_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_writeoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        start_key: *const c_char,
        start_key_len: usize,
        end_key: *const c_char,
        end_key_len: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_write(
        db: *mut rocksdb_t,
        options: *const rocksdb_writeoptions_t,
        batch: *mut rocksdb_writebatch_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_writebatch_create() -> *mut rocksdb_writebatch_t;
    pub fn rocksdb_writebatch_destroy(batch: *mut rocksdb_writebatch_t);
    pub fn rocksdb_writebatch_clear(batch: *mut rocksdb_writebatch_t);
    pub fn rocksdb_writebatch_count(batch: *mut rocksdb_writebatch_t) -> c_int;
    pub fn rocksdb_writebatch_put_cf(
        batch: *mut rocksdb_writebatch_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        val: *const c_char,
        vlen: usize,
    );
    pub fn rocksdb_writebatch_delete_cf(
        batch: *mut rocksdb_writebatch_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
    );
    pub fn rocksdb_writebatch_merge_cf(
        batch: *mut rocksdb_writebatch_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        val: *const c_char,
        vlen: usize,
    );
    pub fn rocksdb_writebatch_delete_range_cf(
        batch: *mut rocksdb_writebatch_t,
        family: *mut rocksdb_column_family_handle_t,
        start_key: *const c_char,
        start_key_len: usize,
        end_key: *const c_char,
        end_key_len: usize,
    );
    pub fn rocksdb_create_iterator_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_readoptions_t,
        family: *mut rocksdb_column_family_handle_t,
    ) -> *mut rocksdb_iterator_t;
    pub fn rocksdb_iter_destroy(iter: *mut rocksdb_iterator_t);
    pub fn rocksdb_iter_valid(iter: *const rocksdb_iterator_t) -> c_uchar;
    pub fn rocksdb_iter_seek_to_first(iter: *mut rocksdb_iterator_t);
    pub fn rocksdb_iter_seek_to_last(iter: *mut rocksdb_iterator_t);
    pub fn rocksdb_iter_seek(iter: *mut rocksdb_iterator_t, key: *const c_char, keylen: usize);
    pub fn rocksdb_iter_seek_for_prev(
        iter: *mut rocksdb_iterator_t,
        key: *const c_char,
        keylen: usize,
    );
    pub fn rocksdb_iter_next(iter: *mut rocksdb_iterator_t);
    pub fn rocksdb_iter_prev(iter: *mut rocksdb_iterator_t);
    pub fn rocksdb_iter_key(iter: *const rocksdb_iterator_t, keylen: *mut usize) -> *const c_char;
    pub fn rocksdb_iter_value(iter: *const rocksdb_iterator_t, vallen: *mut usize)
        -> *const c_char;
    pub fn rocksdb_iter_get_error(iter: *const rocksdb_iterator_t, errptr: *mut *mut c_char);
    pub fn rocksdb_create_snapshot(db: *mut rocksdb_t) -> *const rocksdb_snapshot_t;
    pub fn rocksdb_release_snapshot(db: *mut rocksdb_t, snapshot: *const rocksdb_snapshot_t);
    pub fn rocksdb_snapshot_get_sequence_number(snapshot: *const rocksdb_snapshot_t) -> u64;
    pub fn rocksdb_property_value_cf(
        db: *mut rocksdb_t,
        family: *mut rocksdb_column_family_handle_t,
        propname: *const c_char,
    ) -> *mut c_char;
    pub fn rocksdb_flush_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_flushoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_flushoptions_create() -> *mut rocksdb_flushoptions_t;
    pub fn rocksdb_flushoptions_destroy(arg0: *mut rocksdb_flushoptions_t);
    pub fn rocksdb_compact_range_cf(
        db: *mut rocksdb_t,
        family: *mut rocksdb_column_family_handle_t,
        start_key: *const c_char,
        start_key_len: usize,
        limit_key: *const c_char,
        limit_key_len: usize,
    );
    pub fn rocksdb_checkpoint_object_create(
        db: *mut rocksdb_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_checkpoint_t;
    pub fn rocksdb_checkpoint_create(
        checkpoint: *mut rocksdb_checkpoint_t,
        checkpoint_dir: *const c_char,
        log_size_for_flush: u64,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_checkpoint_object_destroy(arg0: *mut rocksdb_checkpoint_t);
    pub fn rocksdb_free(ptr: *mut c_void);
    pub fn rocksdb_get_pinned_cf(
        db: *mut rocksdb_t,
        options: *const rocksdb_readoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        keylen: usize,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_pinnableslice_t;
    pub fn rocksdb_pinnableslice_value(
        value: *const rocksdb_pinnableslice_t,
        vallen: *mut usize,
    ) -> *const c_char;
    pub fn rocksdb_pinnableslice_destroy(value: *mut rocksdb_pinnableslice_t);
    pub fn rocksdb_mergeoperator_create(
        state: *mut c_void,
        destructor: Option<unsafe extern "C" fn(arg0: *mut c_void)>,
        full_merge: Option<
            unsafe extern "C" fn(
                arg0: *mut c_void,
                key: *const c_char,
                key_length: usize,
                existing_value: *const c_char,
                existing_value_length: usize,
                operands_list: *const *const c_char,
                operands_list_length: *const usize,
                num_operands: c_int,
                success: *mut c_uchar,
                new_value_length: *mut usize,
            ) -> *mut c_char,
        >,
        partial_merge: Option<
            unsafe extern "C" fn(
                arg0: *mut c_void,
                key: *const c_char,
                key_length: usize,
                operands_list: *const *const c_char,
                operands_list_length: *const usize,
                num_operands: c_int,
                success: *mut c_uchar,
                new_value_length: *mut usize,
            ) -> *mut c_char,
        >,
        delete_value: Option<
            unsafe extern "C" fn(arg0: *mut c_void, value: *const c_char, value_length: usize),
        >,
        name: Option<unsafe extern "C" fn(arg0: *mut c_void) -> *const c_char>,
    ) -> *mut rocksdb_mergeoperator_t;
    pub fn rocksdb_metrics_text(db: *mut rocksdb_t, errptr: *mut *mut c_char) -> *mut c_char;
    pub fn rocksdb_transactiondb_options_create() -> *mut rocksdb_transactiondb_options_t;
    pub fn rocksdb_transactiondb_options_destroy(arg0: *mut rocksdb_transactiondb_options_t);
    pub fn rocksdb_transactiondb_open_column_families(
        options: *const rocksdb_options_t,
        txn_db_options: *const rocksdb_transactiondb_options_t,
        name: *const c_char,
        num_column_families: c_int,
        column_family_names: *const *const c_char,
        column_family_options: *const *const rocksdb_options_t,
        column_family_handles: *mut *mut rocksdb_column_family_handle_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_transactiondb_t;
    pub fn rocksdb_transactiondb_get_base_db(db: *mut rocksdb_transactiondb_t) -> *mut rocksdb_t;
    pub fn rocksdb_transactiondb_close_base_db(base_db: *mut rocksdb_t);
    pub fn rocksdb_transactiondb_close(db: *mut rocksdb_transactiondb_t);
    pub fn rocksdb_transactiondb_create_column_family(
        db: *mut rocksdb_transactiondb_t,
        column_family_options: *const rocksdb_options_t,
        column_family_name: *const c_char,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_column_family_handle_t;
    pub fn rocksdb_transactiondb_write(
        db: *mut rocksdb_transactiondb_t,
        options: *const rocksdb_writeoptions_t,
        batch: *mut rocksdb_writebatch_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_optimistictransactiondb_open_column_families(
        options: *const rocksdb_options_t,
        name: *const c_char,
        num_column_families: c_int,
        column_family_names: *const *const c_char,
        column_family_options: *const *const rocksdb_options_t,
        column_family_handles: *mut *mut rocksdb_column_family_handle_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_optimistictransactiondb_t;
    pub fn rocksdb_optimistictransactiondb_get_base_db(
        db: *mut rocksdb_optimistictransactiondb_t,
    ) -> *mut rocksdb_t;
    pub fn rocksdb_optimistictransactiondb_close_base_db(base_db: *mut rocksdb_t);
    pub fn rocksdb_optimistictransactiondb_close(db: *mut rocksdb_optimistictransactiondb_t);
    pub fn rocksdb_transaction_options_create() -> *mut rocksdb_transaction_options_t;
    pub fn rocksdb_transaction_options_destroy(arg0: *mut rocksdb_transaction_options_t);
    pub fn rocksdb_transaction_options_set_set_snapshot(
        arg0: *mut rocksdb_transaction_options_t,
        arg1: c_uchar,
    );
    pub fn rocksdb_transaction_options_set_lock_timeout(
        arg0: *mut rocksdb_transaction_options_t,
        arg1: i64,
    );
    pub fn rocksdb_transaction_options_set_deadlock_detect(
        arg0: *mut rocksdb_transaction_options_t,
        arg1: c_uchar,
    );
    pub fn rocksdb_transaction_begin(
        db: *mut rocksdb_transactiondb_t,
        write_options: *const rocksdb_writeoptions_t,
        txn_options: *const rocksdb_transaction_options_t,
        old_txn: *mut rocksdb_transaction_t,
    ) -> *mut rocksdb_transaction_t;
    pub fn rocksdb_optimistictransaction_options_create(
    ) -> *mut rocksdb_optimistictransaction_options_t;
    pub fn rocksdb_optimistictransaction_options_destroy(
        arg0: *mut rocksdb_optimistictransaction_options_t,
    );
    pub fn rocksdb_optimistictransaction_options_set_set_snapshot(
        arg0: *mut rocksdb_optimistictransaction_options_t,
        arg1: c_uchar,
    );
    pub fn rocksdb_optimistictransaction_begin(
        db: *mut rocksdb_optimistictransactiondb_t,
        write_options: *const rocksdb_writeoptions_t,
        otxn_options: *const rocksdb_optimistictransaction_options_t,
        old_txn: *mut rocksdb_transaction_t,
    ) -> *mut rocksdb_transaction_t;
    pub fn rocksdb_transaction_destroy(transaction: *mut rocksdb_transaction_t);
    pub fn rocksdb_transaction_commit(
        transaction: *mut rocksdb_transaction_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_rollback(
        transaction: *mut rocksdb_transaction_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_set_savepoint(transaction: *mut rocksdb_transaction_t);
    pub fn rocksdb_transaction_rollback_to_savepoint(
        transaction: *mut rocksdb_transaction_t,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_get_snapshot(
        transaction: *mut rocksdb_transaction_t,
    ) -> *const rocksdb_snapshot_t;
    pub fn rocksdb_transaction_get_pinned_cf(
        transaction: *mut rocksdb_transaction_t,
        options: *const rocksdb_readoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_pinnableslice_t;
    pub fn rocksdb_transaction_get_pinned_for_update_cf(
        transaction: *mut rocksdb_transaction_t,
        options: *const rocksdb_readoptions_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        exclusive: c_uchar,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_pinnableslice_t;
    pub fn rocksdb_transaction_put_cf(
        transaction: *mut rocksdb_transaction_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        value: *const c_char,
        vlen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_merge_cf(
        transaction: *mut rocksdb_transaction_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        value: *const c_char,
        vlen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_delete_cf(
        transaction: *mut rocksdb_transaction_t,
        family: *mut rocksdb_column_family_handle_t,
        key: *const c_char,
        klen: usize,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_create_iterator_cf(
        transaction: *mut rocksdb_transaction_t,
        options: *const rocksdb_readoptions_t,
        family: *mut rocksdb_column_family_handle_t,
    ) -> *mut rocksdb_iterator_t;
    pub fn rocksdb_backup_engine_options_create(
        backup_dir: *const c_char,
    ) -> *mut rocksdb_backup_engine_options_t;
    pub fn rocksdb_backup_engine_options_destroy(options: *mut rocksdb_backup_engine_options_t);
    pub fn rocksdb_backup_engine_open_opts(
        options: *const rocksdb_backup_engine_options_t,
        env: *mut rocksdb_env_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_backup_engine_t;
    pub fn rocksdb_backup_engine_open_read_only(
        options: *const rocksdb_backup_engine_options_t,
        env: *mut rocksdb_env_t,
        errptr: *mut *mut c_char,
    ) -> *mut rocksdb_backup_engine_t;
    pub fn rocksdb_backup_engine_close(engine: *mut rocksdb_backup_engine_t);
    pub fn rocksdb_create_backup_options_create() -> *mut rocksdb_create_backup_options_t;
    pub fn rocksdb_create_backup_options_destroy(arg0: *mut rocksdb_create_backup_options_t);
    pub fn rocksdb_create_backup_options_set_flush_before_backup(
        arg0: *mut rocksdb_create_backup_options_t,
        arg1: c_uchar,
    );
    pub fn rocksdb_backup_engine_create_new_backup_with_metadata(
        engine: *mut rocksdb_backup_engine_t,
        db: *mut rocksdb_t,
        options: *const rocksdb_create_backup_options_t,
        app_metadata: *const c_char,
        app_metadata_len: usize,
        backup_id: *mut u32,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_backup_engine_get_backup_info(
        engine: *mut rocksdb_backup_engine_t,
    ) -> *const rocksdb_backup_engine_info_t;
    pub fn rocksdb_backup_engine_info_count(info: *const rocksdb_backup_engine_info_t) -> c_int;
    pub fn rocksdb_backup_engine_info_backup_id(
        info: *const rocksdb_backup_engine_info_t,
        index: c_int,
    ) -> u32;
    pub fn rocksdb_backup_engine_info_timestamp(
        info: *const rocksdb_backup_engine_info_t,
        index: c_int,
    ) -> i64;
    pub fn rocksdb_backup_engine_info_size(
        info: *const rocksdb_backup_engine_info_t,
        index: c_int,
    ) -> u64;
    pub fn rocksdb_backup_engine_info_number_files(
        info: *const rocksdb_backup_engine_info_t,
        index: c_int,
    ) -> u32;
    pub fn rocksdb_backup_engine_info_app_metadata(
        info: *const rocksdb_backup_engine_info_t,
        index: c_int,
        len: *mut usize,
    ) -> *const c_char;
    pub fn rocksdb_backup_engine_info_destroy(info: *const rocksdb_backup_engine_info_t);
    pub fn rocksdb_backup_engine_verify_backup(
        engine: *mut rocksdb_backup_engine_t,
        backup_id: u32,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_backup_engine_delete_backup(
        engine: *mut rocksdb_backup_engine_t,
        backup_id: u32,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_backup_engine_purge_old_backups(
        engine: *mut rocksdb_backup_engine_t,
        num_backups_to_keep: u32,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_restore_options_create() -> *mut rocksdb_restore_options_t;
    pub fn rocksdb_restore_options_destroy(arg0: *mut rocksdb_restore_options_t);
    pub fn rocksdb_backup_engine_restore_db_from_backup(
        engine: *mut rocksdb_backup_engine_t,
        db_dir: *const c_char,
        wal_dir: *const c_char,
        restore_options: *const rocksdb_restore_options_t,
        backup_id: u32,
        errptr: *mut *mut c_char,
    );
    pub fn rocksdb_backup_engine_restore_db_from_latest_backup(
        engine: *mut rocksdb_backup_engine_t,
        db_dir: *const c_char,
        wal_dir: *const c_char,
        restore_options: *const rocksdb_restore_options_t,
        errptr: *mut *mut c_char,
    );
}
