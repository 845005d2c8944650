# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DBUILD=... -DWORK=... -DSOURCE=... -DARTIFACT=... -P check.cmake
# Installs the runtime into a fresh folder, builds a small project against it in three ways, and runs it.
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
