# SPDX-License-Identifier: Apache-2.0
# Functions that make every target. Files are listed in the CMakeLists.txt of their room, sorted.

# With VARVE_PRECOMPILED_HEADERS the headers that most sources include are read once for all rooms, and once for all
# tests. Whether a source includes what it needs shows in the builds without: header_check, the release.
set(varve_common_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <functional>
  <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>)

# varve_precompiled(<target> <kind> [<header>...]): the target shares the headers of its kind, which the first of the
# kind compiles. All targets of a kind have the same flags.
function(varve_precompiled target kind)
  if(NOT VARVE_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET varve_headers_${kind})
    set(source "${PROJECT_BINARY_DIR}/varve_headers_${kind}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Precompiled headers hang on it.\n")
    add_library(varve_headers_${kind} OBJECT "${source}")
    foreach(property COMPILE_OPTIONS COMPILE_FEATURES LINK_LIBRARIES POSITION_INDEPENDENT_CODE CXX_VISIBILITY_PRESET
        VISIBILITY_INLINES_HIDDEN)
      get_target_property(value ${target} ${property})
      if(NOT value MATCHES "NOTFOUND$")
        set_target_properties(varve_headers_${kind} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    target_precompile_headers(varve_headers_${kind} PRIVATE ${varve_common_headers} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM varve_headers_${kind})
endfunction()

# varve_room(<name> SOURCES ... [DEPENDS <room>...]): one static library varve_<name>. A room's tests link this
# library and the rooms below it only, so an upward call does not link.
function(varve_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(NOT arg_SOURCES)
    set(arg_SOURCES "${CMAKE_CURRENT_BINARY_DIR}/empty.cc")
    file(CONFIGURE OUTPUT "${arg_SOURCES}" CONTENT "// This room has no sources yet.\n")
  endif()
  add_library(varve_${name} STATIC ${arg_SOURCES})
  target_compile_features(varve_${name} PUBLIC cxx_std_20)
  target_include_directories(varve_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(varve_${name} PRIVATE varve_flags PUBLIC Threads::Threads)
  foreach(room IN LISTS arg_DEPENDS)
    target_link_libraries(varve_${name} PUBLIC varve_${room})
  endforeach()
  set_target_properties(varve_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  varve_precompiled(varve_${name} room)
endfunction()

# varve_codec(<name> <MACRO>): option VARVE_WITH_<MACRO>; when on, util alone is compiled with VARVE_HAVE_<MACRO>=1.
function(varve_codec name macro)
  option(VARVE_WITH_${macro} "Compress with ${name}" ${varve_${name}_FOUND})
  if(VARVE_WITH_${macro})
    if(NOT varve_${name}_FOUND)
      message(FATAL_ERROR "VARVE_WITH_${macro} is ON but ${name} was not found; run tools/deps")
    endif()
    target_compile_definitions(varve_util PRIVATE VARVE_HAVE_${macro}=1)
    target_link_libraries(varve_util PRIVATE varve_dep::${name})
    set_property(GLOBAL APPEND PROPERTY varve_linked ${name})
  endif()
endfunction()

# varve_again_as_rocksdb(<room>...): target varve_rocksdb from a second compilation of all rooms, in which the word varve
# is rocksdb: the namespace is the only place where it stands alone.
function(varve_again_as_rocksdb)
  add_library(varve_rocksdb SHARED)
  foreach(room IN LISTS ARGN)
    get_target_property(sources varve_${room} SOURCES)
    get_target_property(folder varve_${room} SOURCE_DIR)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      target_sources(varve_rocksdb PRIVATE "${source}")
    endforeach()
    target_compile_definitions(varve_rocksdb PRIVATE $<TARGET_PROPERTY:varve_${room},COMPILE_DEFINITIONS>)
    target_include_directories(varve_rocksdb PRIVATE $<TARGET_PROPERTY:varve_${room},INCLUDE_DIRECTORIES>)
  endforeach()
  target_include_directories(varve_rocksdb PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(varve_rocksdb PRIVATE varve=rocksdb)
  set_target_properties(varve_rocksdb PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# varve_libraries(<room>...): what is shipped, each holding the objects of all rooms and the C API.
#   varve_static   libvarve.a
#   varve_shared   libvarve.so
#   varve_rocksdb  librocksdb.so: the C API alone, for programs linked against that name
#   varve_rocksdb_7_8  librocksdb.so.7.8, which needs the last and has two functions as RocksDB 7.8 had them
#   varve::varve   varve_shared if BUILD_SHARED_LIBS, else varve_static
function(varve_libraries)
  foreach(room IN LISTS ARGN)
    list(APPEND objects $<TARGET_OBJECTS:varve_${room}>)
  endforeach()
  get_property(linked GLOBAL PROPERTY varve_linked)
  list(TRANSFORM linked PREPEND varve_dep::)
  add_library(varve_static STATIC ${objects})
  add_library(varve_shared SHARED ${objects})
  set(exports "${PROJECT_SOURCE_DIR}/tools/cmake/rocksdb_c.map")
  if(VARVE_ROCKSDB_CXX)
    set(exports "${PROJECT_SOURCE_DIR}/tools/cmake/rocksdb_cxx.map")
    varve_again_as_rocksdb(${ARGN})
  else()
    add_library(varve_rocksdb SHARED ${objects})
  endif()
  foreach(library varve_static varve_shared varve_rocksdb)
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PRIVATE Threads::Threads ${linked} $<BUILD_INTERFACE:varve_flags>)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME varve)
    add_library(varve::${library} ALIAS ${library})
  endforeach()
  set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_target_properties(varve_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi})
  set_target_properties(varve_rocksdb PROPERTIES OUTPUT_NAME rocksdb LINK_DEPENDS "${exports}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/varve-compat")
  target_link_options(varve_rocksdb PRIVATE "LINKER:--version-script=${exports}")
  add_library(varve_rocksdb_7_8 SHARED "${PROJECT_SOURCE_DIR}/db/api/c/rocksdb_7_8.c")
  target_link_libraries(varve_rocksdb_7_8 PRIVATE varve_rocksdb ${CMAKE_DL_LIBS})
  target_link_options(varve_rocksdb_7_8 PRIVATE "LINKER:--no-as-needed")
  set_target_properties(varve_rocksdb_7_8 PROPERTIES OUTPUT_NAME rocksdb SUFFIX .so.7.8 C_STANDARD 11
    C_VISIBILITY_PRESET hidden BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/varve-compat")
  if(varve_lto)
    target_link_options(varve_shared PRIVATE -flto=auto -O2)
    target_link_options(varve_rocksdb PRIVATE -flto=auto -O2)
    add_custom_command(TARGET varve_static POST_BUILD VERBATIM COMMAND ${CMAKE_OBJCOPY} --wildcard
      "--remove-section=.gnu.lto_*" "--remove-section=.gnu.debuglto_*" "--strip-symbol=__gnu_lto_v1"
      $<TARGET_FILE:varve_static>)
  endif()
  if(BUILD_SHARED_LIBS)
    add_library(varve::varve ALIAS varve_shared)
  else()
    add_library(varve::varve ALIAS varve_static)
  endif()
endfunction()

# varve_program(<name> SOURCES ... [INSTALL]): a program over the whole engine, bin/<name> of the build, with jemalloc
# when wanted and found.
function(varve_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTALL" "" "SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE varve_flags varve_db)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(varve_lto)
    target_link_options(${name} PRIVATE -flto=auto -O2)
  endif()
  if(VARVE_WITH_JEMALLOC AND NOT VARVE_SANITIZE)
    find_library(VARVE_JEMALLOC_LIBRARY NAMES jemalloc)
    mark_as_advanced(VARVE_JEMALLOC_LIBRARY)
    if(VARVE_JEMALLOC_LIBRARY)
      target_link_libraries(${name} PRIVATE "${VARVE_JEMALLOC_LIBRARY}")
    endif()
  endif()
  if(arg_INSTALL AND VARVE_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# varve_tests_need(<label>... TARGETS <target>...): building tests_<label> builds what the tests of the label run.
function(varve_tests_need)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TARGETS")
  foreach(label IN LISTS arg_UNPARSED_ARGUMENTS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${arg_TARGETS})
  endforeach()
endfunction()

# varve_test(<name> ROOM <room> LABEL <label>... SOURCES ... [SHARDS <n>] [COST <n>] [SANITIZED <VARIABLE=value>...]): one
# GoogleTest executable per room, registered as <n> ctest tests that each run every n-th case. SANITIZED is the
# environment of builds with a sanitizer, which are several times slower: it makes long tests take samples. Units and the
# rules of the tree are labelled quick, too: what is worth its minute after every build. COST, about the seconds that it
# takes: long tests begin first, so that none is left to run alone at the end.
function(varve_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOM;SHARDS;COST" "LABEL;SOURCES;SANITIZED")
  set(timeout 1500)
  if(NOT VARVE_SANITIZE)
    set(arg_SANITIZED "")
    set(timeout 600)
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  if("unit" IN_LIST arg_LABEL OR "tidy" IN_LIST arg_LABEL)
    list(APPEND arg_LABEL quick)
  endif()
  if(VARVE_SANITIZE AND "unit" IN_LIST arg_LABEL)
    list(APPEND arg_SANITIZED VARVE_SAMPLE_STEP=11)
  endif()
  add_executable(${name} ${arg_SOURCES})
  varve_tests_need(${arg_LABEL} TARGETS ${name})
  target_link_libraries(${name} PRIVATE varve_flags varve_fault_file_system varve_${arg_ROOM} GTest::gmock GTest::gtest_main)
  set(kind test)
  if(VARVE_SANITIZE AND "unit" IN_LIST arg_LABEL)
    # Their macros make so much code that instrumenting it takes the compiler three times as long when it optimises.
    set(kind unit_test)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  varve_precompiled(${name} ${kind} <gmock/gmock.h> <gtest/gtest.h>)
  if(varve_lto)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}.${shard})
    endif()
    add_test(NAME ${test} COMMAND ${name})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${timeout} COST ${arg_COST}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_BRIEF=1;${arg_SANITIZED}")
  endforeach()
endfunction()

# varve_benchmark(<name> ROOM <room> SOURCES ...): a Google Benchmark program, bin/<name> of the build.
function(varve_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOM" "SOURCES")
  if(arg_SOURCES)
    varve_program(${name} SOURCES ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE varve_${arg_ROOM} benchmark::benchmark_main)
  endif()
endfunction()

# varve_fuzzer(<name> SOURCES ... [CORPUS <folder>]): a libFuzzer program when VARVE_BUILD_FUZZERS is on, and a test
# that feeds it the corpus once.
function(varve_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES")
  if(NOT VARVE_BUILD_FUZZERS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE varve_flags varve_db)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  if(arg_CORPUS)
    add_test(NAME ${name} COMMAND ${name} -runs=0 "${CMAKE_CURRENT_SOURCE_DIR}/${arg_CORPUS}")
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 600)
  endif()
endfunction()

# varve_header_check(): target header_check compiles each public header alone, and twice in one file; c.h as C, too.
function(varve_header_check)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/include/varve/*.h")
  set(units "")
  foreach(header IN LISTS headers)
    string(REPLACE "/" "_" stem "${header}")
    set(languages cc)
    if(header STREQUAL "varve/c.h")
      list(APPEND languages c)
    endif()
    foreach(language IN LISTS languages)
      set(unit "${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.${language}")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
      list(APPEND units "${unit}")
    endforeach()
  endforeach()
  if(NOT units)
    add_custom_target(header_check)
    return()
  endif()
  add_library(header_check OBJECT EXCLUDE_FROM_ALL ${units})
  target_include_directories(header_check PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_compile_features(header_check PRIVATE cxx_std_20)
  target_compile_options(header_check PRIVATE -Wall -Wextra -Wshadow $<$<BOOL:${VARVE_WERROR}>:-Werror>)
endfunction()
