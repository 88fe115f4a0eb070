# SPDX-License-Identifier: Apache-2.0
# Defines what `cmake --install` writes: headers, documents, the three libraries, the CMake package and varve.pc. Nothing in it names
# an absolute path, so the prefix may be moved. Programs are installed by varve_program.
include(CMakePackageConfigHelpers)
set(varve_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/varve")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/varve" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md include/varve/MOVING_FROM_ROCKSDB.md
  include/varve/MOVING_FROM_LEVELDB.md db/metrics/METRICS.md db/metrics/grafana.json tools/varve/PROBES.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS varve_static varve_shared EXPORT varveTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# librocksdb.so lives in a folder of its own, so that installing Varve never replaces a RocksDB. The loader looks a
# library up by the name a program was linked with; a link answers to RocksDB 11's, and Debian 12's is a library of its
# own. RocksDB's headers and package names stand in a folder of their own for the same reason.
set(varve_compat_lib "${CMAKE_INSTALL_LIBDIR}/varve-compat")
set(varve_compat_include "${CMAKE_INSTALL_INCLUDEDIR}/varve-compat")
install(TARGETS varve_rocksdb varve_rocksdb_7_8 LIBRARY DESTINATION ${varve_compat_lib})
install(CODE "
  file(CREATE_LINK librocksdb.so
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${varve_compat_lib}/librocksdb.so.11\" SYMBOLIC)")
# Programs for RocksDB 7 find its c.h and, by the linker's name, its library in separate folders.
install(FILES tools/cmake/rocksdb_7_c.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/varve-compat-7/rocksdb" RENAME c.h)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/varve-compat/7/librocksdb.so" CONTENT
  "/* For the linker: a library has what only the library that it needs defines, too. */
INPUT ( librocksdb.so.7.8 librocksdb.so.11 )
")
install(FILES "${PROJECT_BINARY_DIR}/varve-compat/7/librocksdb.so" DESTINATION "${varve_compat_lib}-7")
foreach(name 7.8 11)
  install(CODE "
    file(CREATE_LINK ../varve-compat/librocksdb.so.${name}
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${varve_compat_lib}-7/librocksdb.so.${name}\" SYMBOLIC)")
endforeach()
if(TARGET header_check)
  # One source includes all headers that exist.
  add_library(rocksdb_header_check OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/varve-compat/include/all_headers.cc")
  target_link_libraries(rocksdb_header_check PRIVATE varve::rocksdb_source)
  target_compile_options(rocksdb_header_check PRIVATE $<TARGET_PROPERTY:header_check,COMPILE_OPTIONS>)
  add_dependencies(header_check rocksdb_header_check)
endif()
install(DIRECTORY "${PROJECT_BINARY_DIR}/varve-compat/include/rocksdb" DESTINATION ${varve_compat_include})
# find_package(RocksDB) with CMAKE_PREFIX_PATH, and rocksdb.pc with PKG_CONFIG_PATH, in that folder.
file(RELATIVE_PATH varve_compat_to_prefix "/prefix/${varve_compat_lib}/cmake" "/prefix")
configure_file(tools/cmake/RocksDBConfig.cmake.in "${PROJECT_BINARY_DIR}/varve-compat/RocksDBConfig.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/varve-compat/RocksDBConfigVersion.cmake" VERSION 11.8.1
  COMPATIBILITY AnyNewerVersion)
configure_file(tools/cmake/rocksdb.pc.in "${PROJECT_BINARY_DIR}/varve-compat/rocksdb.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/varve-compat/RocksDBConfig.cmake"
  "${PROJECT_BINARY_DIR}/varve-compat/RocksDBConfigVersion.cmake" DESTINATION ${varve_compat_lib}/cmake)
install(FILES "${PROJECT_BINARY_DIR}/varve-compat/rocksdb.pc" DESTINATION ${varve_compat_lib}/pkgconfig)

install(EXPORT varveTargets NAMESPACE varve:: DESTINATION "${varve_package_dir}")
configure_package_config_file(tools/cmake/varveConfig.cmake.in "${PROJECT_BINARY_DIR}/varveConfig.cmake"
  INSTALL_DESTINATION "${varve_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/varveConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/varveConfig.cmake" "${PROJECT_BINARY_DIR}/varveConfigVersion.cmake"
  tools/cmake/VarveDependencies.cmake DESTINATION "${varve_package_dir}")

file(RELATIVE_PATH varve_pc_to_prefix
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
get_property(varve_pc_linked GLOBAL PROPERTY varve_linked)
list(TRANSFORM varve_pc_linked REPLACE "^zlib$" "z")
list(TRANSFORM varve_pc_linked REPLACE "^bzip2$" "bz2")
list(TRANSFORM varve_pc_linked PREPEND "-l")
list(JOIN varve_pc_linked " " varve_pc_libs)
foreach(package varve varve-rocksdb)
  configure_file(tools/cmake/${package}.pc.in "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
