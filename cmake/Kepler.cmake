# kepler_library(NAME [SOURCES a.cc ...] [DEPS target ...] [PRIVATE_DEPS target ...] [HOT])
# One per folder; the target is kepler::NAME (folder names joined by _). A folder of headers has no SOURCES.
# HOT: tests spend seconds in this code, so a sanitizer build optimizes it. Other code compiles faster without.
function(kepler_library name)
  cmake_parse_arguments(A "HOT" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT A_SOURCES)
    add_library(kepler_${name} INTERFACE)
    add_library(kepler::${name} ALIAS kepler_${name})
    target_link_libraries(kepler_${name} INTERFACE ${A_DEPS})
    return()
  endif()
  add_library(kepler_${name} STATIC ${A_SOURCES})
  add_library(kepler::${name} ALIAS kepler_${name})
  target_link_libraries(kepler_${name} PUBLIC ${A_DEPS} PRIVATE kepler_flags ${A_PRIVATE_DEPS})
  if(A_HOT AND KEPLER_SANITIZE)
    target_compile_options(kepler_${name} PRIVATE -O1)
  endif()
endfunction()

# Test code is compiled without optimization: it takes half as long, and what is tested, the libraries, is optimized as
# shipped. What most test programs include is compiled once for all of them. The owner of that is a program as they are:
# GCC takes precompiled headers only where the flags are the same, and programs and libraries differ in them.
if(KEPLER_TESTS)
  # What the sanitizer presets build: the tests of the rooms that the sanitizer can judge, and no other program.
  add_custom_target(kepler_tests)

  add_library(kepler_test_flags INTERFACE)
  target_link_libraries(kepler_test_flags INTERFACE GTest::gmock GTest::gtest_main rapidcheck)
  target_include_directories(kepler_test_flags SYSTEM INTERFACE /usr/include/rapidcheck)
  target_compile_options(kepler_test_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O0>)
  # Links in a third of the time. The shipped programs are linked by the system's own linker.
  find_program(MOLD mold)
  if(MOLD)
    target_link_options(kepler_test_flags INTERFACE -fuse-ld=mold)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kepler_test_flags INTERFACE -fpch-preprocess)  # ccache wants it
  else()
    # A precompiled header of clang has absolute paths, so ccache must not take one of another checkout: it may be gone.
    # CMake's options for clang have such a path, which ccache does not make relative.
    target_compile_options(kepler_test_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  if(KEPLER_FUZZ)
    target_compile_options(kepler_test_flags INTERFACE -fno-sanitize=fuzzer-no-link)
  endif()

  add_executable(kepler_test_headers ${CMAKE_SOURCE_DIR}/tests/headers.cc)
  target_link_libraries(kepler_test_headers PRIVATE kepler_flags kepler_test_flags)
  target_precompile_headers(kepler_test_headers PRIVATE <algorithm> <array> <chrono> <functional> <map> <memory> <optional>
    <set> <string> <string_view> <thread> <utility> <vector> <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
endif()

# Whether anything in this folder is about threads.
function(kepler_has_threads result)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  foreach(source ${sources})
    file(STRINGS ${source} found REGEX "#include [<\"](atomic|condition_variable|mutex|thread|base/thread\\.h)[>\"]")
    if(found)
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

# kepler_test(NAME SOURCES a_test.cc ... [DEPS target ...] [SHARDS n] [LOCK resource]): one GoogleTest program and one ctest
# entry; tools/test_report.py counts the tests inside it. SHARDS: that many entries, which may run side by side. LOCK: no
# other test with that lock runs meanwhile, for example since it counts what happens on the whole machine.
# ThreadSanitizer has nothing to find in a room without threads, so its tests are left out there.
function(kepler_test name)
  if(NOT KEPLER_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "LOCK;SHARDS" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE kepler_flags kepler_test_flags ${A_DEPS} kepler::testing)
  target_precompile_headers(${name} REUSE_FROM kepler_test_headers)
  if(KEPLER_SANITIZE STREQUAL "thread")
    kepler_has_threads(threads)
    if(NOT threads)
      return()
    endif()
  endif()
  add_dependencies(kepler_tests ${name})
  set(shards 1)
  if(A_SHARDS)
    set(shards ${A_SHARDS})
  endif()
  foreach(shard RANGE 1 ${shards})
    set(entry ${name})
    if(shards GREATER 1)
      string(APPEND entry .${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name})
    # What takes long begins first. Four slots: see tests/CMakeLists.txt.
    set_tests_properties(${entry} PROPERTIES TIMEOUT 300 COST ${shards} PROCESSORS 4
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
    if(A_LOCK)
      set_tests_properties(${entry} PROPERTIES RESOURCE_LOCK ${A_LOCK})
    endif()
  endforeach()
endfunction()

# kepler_fuzz(NAME SOURCES x_fuzz.cc DEPS target ...): one libFuzzer binary, seeds in fuzz/corpus/NAME.
function(kepler_fuzz name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE kepler_flags ${A_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer $<$<BOOL:${MOLD}>:-fuse-ld=mold>)
endfunction()
