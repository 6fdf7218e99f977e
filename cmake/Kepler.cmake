include(GoogleTest OPTIONAL)

# kepler_library(NAME SOURCES a.cc ... [DEPS target ...] [PRIVATE_DEPS target ...])
# One per folder; the target is kepler::NAME (folder names joined by _).
function(kepler_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(kepler_${name} STATIC ${A_SOURCES})
  add_library(kepler::${name} ALIAS kepler_${name})
  target_link_libraries(kepler_${name} PUBLIC ${A_DEPS} PRIVATE kepler_flags ${A_PRIVATE_DEPS})
endfunction()

# kepler_test(NAME SOURCES a_test.cc ... [DEPS target ...] [LOCK resource]): one GoogleTest binary, a ctest entry per
# test. LOCK: none of them runs beside another test that has it: they count what happens on the whole machine, say.
function(kepler_test name)
  if(NOT KEPLER_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "LOCK" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE kepler_flags ${A_DEPS} kepler::testing GTest::gmock GTest::gtest_main rapidcheck)
  target_include_directories(${name} SYSTEM PRIVATE /usr/include/rapidcheck)
  set(lock)
  if(A_LOCK)
    set(lock RESOURCE_LOCK ${A_LOCK})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 ${lock})
endfunction()

# kepler_fuzz(NAME SOURCES x_fuzz.cc DEPS target ...): one libFuzzer binary, seeds in fuzz/corpus/NAME.
function(kepler_fuzz name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE kepler_flags ${A_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
