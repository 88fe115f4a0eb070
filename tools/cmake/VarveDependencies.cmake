# SPDX-License-Identifier: Apache-2.0
# Finds what the library links: threads and the codecs. The same file is installed beside
# varveConfig.cmake, so that a consumer of the static library finds the same things.
#
# Each library becomes an imported target varve_dep::<name>. A build sets VARVE_WITH_SNAPPY, _ZSTD, _LZ4,
# _ZLIB and _BZIP2: ON when the codec is found, and a forced ON with a missing codec stops the configuration.
include_guard(GLOBAL)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# varve_dependency(<name> HEADER <file> LIBRARY <name>...): sets varve_<name>_FOUND.
function(varve_dependency name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER" "LIBRARY")
  if(NOT TARGET varve_dep::${name})
    find_path(VARVE_${name}_INCLUDE_DIR NAMES ${arg_HEADER})
    find_library(VARVE_${name}_LIBRARY NAMES ${arg_LIBRARY})
    mark_as_advanced(VARVE_${name}_INCLUDE_DIR VARVE_${name}_LIBRARY)
    if(VARVE_${name}_INCLUDE_DIR AND VARVE_${name}_LIBRARY)
      add_library(varve_dep::${name} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(varve_dep::${name} PROPERTIES
        IMPORTED_LOCATION "${VARVE_${name}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${VARVE_${name}_INCLUDE_DIR}")
    endif()
  endif()
  if(TARGET varve_dep::${name})
    set(varve_${name}_FOUND ON PARENT_SCOPE)
  else()
    set(varve_${name}_FOUND OFF PARENT_SCOPE)
  endif()
endfunction()

varve_dependency(snappy HEADER snappy.h LIBRARY snappy)
varve_dependency(zstd HEADER zstd.h LIBRARY zstd)
varve_dependency(lz4 HEADER lz4.h LIBRARY lz4)
varve_dependency(zlib HEADER zlib.h LIBRARY z)
varve_dependency(bzip2 HEADER bzlib.h LIBRARY bz2)
