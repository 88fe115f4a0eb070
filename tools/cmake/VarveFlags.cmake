# SPDX-License-Identifier: Apache-2.0
# varve_flags: warnings, sanitizers and optimisation of our own code. Linked privately and only while building,
# so nothing of it reaches a consumer.
add_library(varve_flags INTERFACE)
target_compile_features(varve_flags INTERFACE cxx_std_20)
target_include_directories(varve_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")

# GCC 12 reports overlapping copies in std::string's operator+ that do not exist, hence -Wno-restrict. Clang suspects every
# literal of a list that continues in the next line.
target_compile_options(varve_flags INTERFACE
  -Wall -Wextra -Wshadow -Wimplicit-fallthrough
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wsuggest-override;-Wno-restrict>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wsuggest-override;-Wthread-safety;-Werror=thread-safety;-Wno-string-concatenation>
  $<$<BOOL:${VARVE_WERROR}>:-Werror>
  $<$<CONFIG:Release>:-O2>)
target_compile_definitions(varve_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
# Debug information and __FILE__ name sources relative to the checkout: the same bytes in every folder.
target_compile_options(varve_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(VARVE_COPY_MERGE_OPERANDS)
  target_compile_definitions(varve_flags INTERFACE VARVE_COPY_MERGE_OPERANDS)
endif()

# Hardening flags, as distributions use them, turn a memory error that slipped through into a stop instead of a hole.
# Sanitizers and debug builds say more. Each flag is used only where the compiler has it. Together they cost 1 or 2 % of
# reads and writes in memory;
# clearing all variables on the stack (-ftrivial-auto-var-init=zero) would cost 5 %, and is not among them.
if(VARVE_HARDENING AND NOT VARVE_SANITIZE)
  include(CheckCXXCompilerFlag)
  include(CheckLinkerFlag)
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "VARVE_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      target_compile_options(varve_flags INTERFACE $<${optimised}:${flag}>)
    endif()
  endforeach()
  target_compile_options(varve_flags INTERFACE $<${optimised}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
  check_linker_flag(CXX LINKER:-z,relro,-z,now VARVE_HAS_RELRO)
  if(VARVE_HAS_RELRO)
    target_link_options(varve_flags INTERFACE LINKER:-z,relro,-z,now)
  endif()
endif()

if(VARVE_SANITIZE)
  target_compile_options(varve_flags INTERFACE
    -fsanitize=${VARVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # Clang reports a null pointer plus an offset as an overflow even if it is never dereferenced; GCC does not.
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=pointer-overflow>)
  target_link_options(varve_flags INTERFACE -fsanitize=${VARVE_SANITIZE})
  if(VARVE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_definitions(varve_flags INTERFACE __SANITIZE_THREAD__)  # as GCC does
  endif()
endif()

# Objects carry both machine code and GCC's intermediate code: the shared libraries and the tools are linked with
# the latter, tests with the former, and the installed archive is stripped of it (it only suits one compiler version).
set(varve_lto OFF)
if(VARVE_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(varve_lto ON)
  target_compile_options(varve_flags INTERFACE -flto=auto -ffat-lto-objects)
elseif(VARVE_LTO)
  message(STATUS "VARVE_LTO is for GCC; ${CMAKE_CXX_COMPILER_ID} builds without it")
endif()
