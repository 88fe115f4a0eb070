# SPDX-License-Identifier: Apache-2.0
# Builds the tree that the port lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tools VARVE_BUILD_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DVARVE_BUILD_TESTS=OFF
    -DVARVE_BUILD_BENCHMARKS=OFF
    -DVARVE_INSTALL=ON
    ${features}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME varve CONFIG_PATH lib/cmake/varve)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES varve db_bench db_stress AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
