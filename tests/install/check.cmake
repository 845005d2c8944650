# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DBUILD=... -DWORK=... -DSOURCE=... -DARTIFACT=... -P check.cmake
# Installs the runtime (and the compiler, where COMPILER is on) into a fresh folder, builds small projects against them with CMake
# and with pkg-config, and runs them.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/installed)
run(${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${prefix})
if(COMPILER)
  run(${CMAKE_COMMAND} --install ${BUILD} --component compiler --prefix ${prefix})
endif()
# Moved, because a package must not depend on where it was first put.
file(RENAME ${prefix} ${WORK}/moved)
set(prefix ${WORK}/moved)

run(${CMAKE_COMMAND} -S ${SOURCE}/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer_runtime ${ARTIFACT})
run(${WORK}/build/consumer_runtime_static ${ARTIFACT})

file(GLOB_RECURSE pc ${prefix}/*/stator-runtime.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} pkg-config --cflags --libs stator-runtime)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(GLOB_RECURSE library ${prefix}/*/libstator_runtime.so)
get_filename_component(library_dir ${library} DIRECTORY)
run(c++ -std=c++17 ${SOURCE}/consumer/main.cpp -o ${WORK}/by_pkg_config ${flags} -Wl,-rpath,${library_dir})
run(${WORK}/by_pkg_config ${ARTIFACT})

if(COMPILER)
  run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/consumer_compiler)
  file(MAKE_DIRECTORY ${WORK}/run)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} pkg-config --cflags --libs stator-compiler stator-runtime)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(c++ -std=c++17 ${SOURCE}/consumer/compiler.cpp -o ${WORK}/compiler_by_pkg_config ${flags} -Wl,-rpath,${library_dir})
  run(${CMAKE_COMMAND} -E chdir ${WORK}/run ${WORK}/compiler_by_pkg_config)
  # The installed command line runs from where it is.
  run(${CMAKE_COMMAND} -E chdir ${WORK}/run ${prefix}/bin/stator compile program.json -q -o again.stator)
  run(${CMAKE_COMMAND} -E compare_files ${WORK}/run/program.stator ${WORK}/run/again.stator)
endif()
