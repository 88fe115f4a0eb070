# SPDX-License-Identifier: Apache-2.0
"""Builds the tree that the recipe lies in. For Conan 2."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class VarveConan(ConanFile):
    name = "varve"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Embeddable log-structured key-value engine with RocksDB's API and files"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def requirements(self):
        for library in ("bzip2/1.0.8", "lz4/1.9.4", "snappy/1.1.10", "xxhash/0.8.2", "zlib/[>=1.2.11 <2]", "zstd/1.5.5"):
            self.requires(library)

    def layout(self):
        cmake_layout(self)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "*.md", "include/*", "util/*", "memtable/*", "table/*", "db/*",
                        "tools/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("VARVE_BUILD_TESTS", "VARVE_BUILD_BENCHMARKS", "VARVE_BUILD_TOOLS"):
            toolchain.cache_variables[option] = "OFF"
        toolchain.cache_variables["VARVE_INSTALL"] = "ON"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["varve"]
        self.cpp_info.set_property("cmake_file_name", "varve")
        self.cpp_info.set_property("cmake_target_name", "varve::varve" if self.options.shared else "varve::varve_static")
        self.cpp_info.system_libs = ["m", "pthread"]
