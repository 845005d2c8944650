# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds MLIR 22 and gives stator_use_mlir(), the one way a target of ours gets at it.

# MLIR's package refuses a version argument, so the version is checked here.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Stator needs LLVM and MLIR 22, found ${LLVM_VERSION}: install libmlir-22-dev llvm-22-dev mlir-22-tools")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# One precompiled header for all MLIR code: it takes a translation unit from nine seconds to one.
add_library(stator_mlir_pch STATIC ${CMAKE_SOURCE_DIR}/tools/cmake/MLIRPrecompiled.cpp)
target_include_directories(stator_mlir_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(stator_mlir_pch PUBLIC ${CMAKE_BINARY_DIR})
target_link_libraries(stator_mlir_pch PRIVATE stator_options)
add_dependencies(stator_mlir_pch stator_graph_gen stator_interfaces_gen)
target_compile_options(stator_mlir_pch PRIVATE -Wno-init-list-lifetime)
target_precompile_headers(stator_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/MLIRPrecompiled.h)
# MLIR identifies types and traits by the address of inline variables: the program's and libMLIR's must be one, so nothing
# of them may be hidden.
set_target_properties(stator_mlir_pch PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
# ccache would read and hash the whole precompiled header (a gigabyte) for every file: slower than compiling.
set_target_properties(stator_mlir_pch PROPERTIES CXX_COMPILER_LAUNCHER "")

function(stator_use_mlir name)
  target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR})
  target_compile_options(${name} PRIVATE -Wno-init-list-lifetime)
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "" CXX_VISIBILITY_PRESET default
                        VISIBILITY_INLINES_HIDDEN OFF ENABLE_EXPORTS ON)
  # An executable would be compiled with -fPIE, which the precompiled header (-fPIC) does not match.
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${name} REUSE_FROM stator_mlir_pch)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# stator_passes(PHASE SOURCES ... [LINK lib ...]): the library stator_PHASE of passes declared in Passes.td.
function(stator_passes phase)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  string(SUBSTRING ${phase} 0 1 initial)
  string(TOUPPER ${initial} initial)
  string(SUBSTRING ${phase} 1 -1 rest)
  set(title ${initial}${rest})
  include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  include_directories(${CMAKE_SOURCE_DIR})
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${title})
  add_public_tablegen_target(stator_${phase}_gen)
  stator_library(stator_${phase} MLIR SOURCES ${ARG_SOURCES} LINK stator_graph ${ARG_LINK}
                 DEPENDS stator_${phase}_gen stator_graph_gen stator_interfaces_gen)
endfunction()
