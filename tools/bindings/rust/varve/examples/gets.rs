// SPDX-License-Identifier: Apache-2.0
//! Measures reads through the crate against the same reads through the C API. Both have one folder
//! open for reading at the same time, and take turns at short pieces of the work, so that what
//! slows the machine slows both. The rate of a round is that of the middle piece.
//! Usage: gets <new folder> [keys [crate|c]]   `crate` and `c` only read, for tools that count

use std::os::raw::c_char;
use std::time::{Duration, Instant};
use std::{env, ptr};

use varve_sys as sys;

const PIECE: usize = 500;
const ROUNDS: usize = 21;

fn keys(count: u32) -> Vec<[u8; 16]> {
    let mut state = 1u64;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let mut key = [b'0'; 16];
            let digits = ((state >> 33) % u64::from(count)).to_string();
            key[16 - digits.len()..].copy_from_slice(digits.as_bytes());
            key
        })
        .collect()
}

/// Returns the number of bytes read.
#[inline(never)]
fn through_crate(db: &varve::Database, keys: &[[u8; 16]]) -> usize {
    keys.iter()
        .filter_map(|key| db.get(key).unwrap())
        .map(|value| value.len())
        .sum()
}

/// A database that is read by functions of the C API.
struct Raw {
    db: *mut sys::rocksdb_t,
    family: *mut sys::rocksdb_column_family_handle_t,
    reads: *mut sys::rocksdb_readoptions_t,
    options: *mut sys::rocksdb_options_t,
}

impl Raw {
    fn open(folder: &str) -> Raw {
        let path = std::ffi::CString::new(folder).unwrap();
        let name = std::ffi::CString::new("default").unwrap();
        let (mut family, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the arguments outlive the call, and the objects are this one's own.
        unsafe {
            let options = sys::rocksdb_options_create();
            let db = sys::rocksdb_open_for_read_only_column_families(
                options,
                path.as_ptr(),
                1,
                &name.as_ptr(),
                &(options as *const _),
                &mut family,
                0,
                &mut error,
            );
            assert!(!db.is_null());
            let reads = sys::rocksdb_readoptions_create();
            Raw {
                db,
                family,
                reads,
                options,
            }
        }
    }

    /// Returns the number of bytes read.
    #[inline(never)]
    fn get(&self, keys: &[[u8; 16]]) -> usize {
        let mut bytes = 0;
        for key in keys {
            let mut error: *mut c_char = ptr::null_mut();
            let data = key.as_ptr() as *const c_char;
            // SAFETY: the arguments outlive the calls, and the value is freed.
            unsafe {
                let value = sys::rocksdb_get_pinned_cf(
                    self.db,
                    self.reads,
                    self.family,
                    data,
                    16,
                    &mut error,
                );
                assert!(error.is_null());
                if !value.is_null() {
                    let mut size = 0;
                    assert!(!sys::rocksdb_pinnableslice_value(value, &mut size).is_null());
                    bytes += size;
                    sys::rocksdb_pinnableslice_destroy(value);
                }
            }
        }
        bytes
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: they are this object's own.
        unsafe {
            sys::rocksdb_column_family_handle_destroy(self.family);
            sys::rocksdb_close(self.db);
            sys::rocksdb_readoptions_destroy(self.reads);
            sys::rocksdb_options_destroy(self.options);
        }
    }
}

fn timed(times: &mut Vec<Duration>, read: impl FnOnce() -> usize) {
    let begin = Instant::now();
    let bytes = read();
    times.push(begin.elapsed());
    assert!(bytes > 0);
}

/// Returns the rates of the crate and of the C API, in reads a second.
fn round(db: &varve::Database, raw: &Raw, keys: &[[u8; 16]]) -> (f64, f64) {
    let (mut by_crate, mut by_c) = (Vec::new(), Vec::new());
    for (i, piece) in keys.chunks_exact(PIECE).enumerate() {
        // Who comes second finds the keys in the processor's caches, so that changes.
        if i % 2 == 0 {
            timed(&mut by_crate, || through_crate(db, piece));
            timed(&mut by_c, || raw.get(piece));
        } else {
            timed(&mut by_c, || raw.get(piece));
            timed(&mut by_crate, || through_crate(db, piece));
        }
    }
    let rate = |mut times: Vec<Duration>| {
        times.sort();
        PIECE as f64 / times[times.len() / 2].as_secs_f64()
    };
    (rate(by_crate), rate(by_c))
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let folder = arguments.get(1).expect("a folder");
    let count = arguments
        .get(2)
        .map_or(200_000, |text| text.parse().expect("a number"));
    let options = varve::Options::new();
    {
        let db = varve::Database::open(folder, &options).unwrap();
        for i in 0..count {
            db.put(format!("{i:016}").as_bytes(), &[b'v'; 100]).unwrap();
        }
        db.default_family().flush().unwrap();
    }
    let keys = keys(count);
    let db = varve::Database::open_read_only(folder, &options).unwrap();
    let raw = Raw::open(folder);
    match arguments.get(3).map(String::as_str) {
        Some("crate") => println!("{} bytes", through_crate(&db, &keys)),
        Some("c") => println!("{} bytes", raw.get(&keys)),
        Some(_) => panic!("crate or c"),
        None => compare(&db, &raw, &keys),
    }
}

fn compare(db: &varve::Database, raw: &Raw, keys: &[[u8; 16]]) {
    assert_eq!(through_crate(db, keys), raw.get(keys));
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let (by_crate, by_c) = round(db, raw, keys);
        let share = by_crate / by_c;
        println!("crate {by_crate:.0} C {by_c:.0} gets/s, share {share:.3}");
        shares.push(share);
    }
    shares.sort_by(|a, b| a.total_cmp(b));
    let (low, median, high) = (
        shares[ROUNDS / 4],
        shares[ROUNDS / 2],
        shares[ROUNDS * 3 / 4],
    );
    println!("RESULT rust_gets share={median:.3} quartiles {low:.3} {high:.3} rounds={ROUNDS}");
}
