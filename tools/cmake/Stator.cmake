# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler settings and the few functions that every folder's CMakeLists.txt uses.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(STATOR_CCACHE ccache)
if(STATOR_CCACHE)
  # pch_defines and time_macros let ccache serve objects that use a precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${STATOR_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(STATOR_MOLD mold)
if(STATOR_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
if(STATOR_SANITIZE)
  add_compile_options(-fsanitize=${STATOR_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STATOR_SANITIZE})
endif()

if(STATOR_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Warnings are errors on our own code; third-party headers are SYSTEM includes and stay quiet.
add_library(stator_options INTERFACE)
target_include_directories(stator_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
target_compile_options(stator_options INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<BOOL:${STATOR_FUZZ}>:-Wno-error>) # clang warns of other things than gcc

# stator_library(NAME SOURCES a.cpp ... [LINK lib ...] [MLIR]): a static library of one folder.
# MLIR: compiles against LLVM and MLIR with the shared precompiled header.
function(stator_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE stator_options)
  if(ARG_MLIR)
    stator_use_mlir(${name})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# stator_tool(NAME SOURCES a.cpp ... [LINK lib ...] [MLIR]): a program in build/*/bin.
function(stator_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} stator_options)
  if(ARG_MLIR)
    stator_use_mlir(${name})
  endif()
endfunction()

# stator_unit_test(NAME SOURCES a_test.cpp ... [LINK lib ...] [MLIR]): a GoogleTest program that ctest runs.
function(stator_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} stator_options GTest::gtest_main)
  if(ARG_MLIR)
    stator_use_mlir(${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()
