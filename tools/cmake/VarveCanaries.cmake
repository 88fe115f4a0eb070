# SPDX-License-Identifier: Apache-2.0
# Makes a build in which bugs can be planted (util/base/canary.h, tests/canaries): only source files that ask for one
# are compiled with VARVE_CANARIES, so that most objects are those of a normal build.
option(VARVE_CANARIES "Build with bugs that tests/canaries plants; never ship it" OFF)

function(varve_plant_canaries)
  foreach(room IN LISTS ARGN)
    get_target_property(sources varve_${room} SOURCES)
    foreach(source IN LISTS sources)
      set(path "${PROJECT_SOURCE_DIR}/${room}/${source}")
      if(EXISTS "${path}")
        file(STRINGS "${path}" uses REGEX "VARVE_CANARY\\(")
        if(uses)
          set_property(SOURCE "${path}" TARGET_DIRECTORY varve_${room} APPEND PROPERTY COMPILE_DEFINITIONS VARVE_CANARIES)
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()
