// SPDX-License-Identifier: Apache-2.0
//! Finds the shared library: in the folder that VARVE_LIB_DIR names, or where the linker looks.

fn main() {
    println!("cargo:rerun-if-env-changed=VARVE_LIB_DIR");
    if let Ok(folder) = std::env::var("VARVE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=rocksdb");
}
