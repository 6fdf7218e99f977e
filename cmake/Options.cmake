# What can be switched on, and what every target is compiled with.
option(KEPLER_TESTS "Build the tests" OFF)
option(KEPLER_BENCH "Build the benchmarks" OFF)
option(KEPLER_FUZZ "Build the fuzz targets (clang only, with KEPLER_SANITIZE)" OFF)
option(KEPLER_WERROR "Warnings are errors" OFF)
set(KEPLER_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE ccache)
if(CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the first two the checkout's path makes every look-up miss; without the third precompiled headers do.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Warnings and hardening sit on one interface target, so that third-party code is compiled without them.
add_library(kepler_flags INTERFACE)
target_include_directories(kepler_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# Paths in messages are relative, so that ccache finds the same sources in another checkout and no program holds the path
# of its build.
target_compile_options(kepler_flags INTERFACE "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
target_compile_options(kepler_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports overlaps inside std::string's operator+ that cannot happen (GCC bug 105651).
  target_compile_options(kepler_flags INTERFACE -Wno-restrict)
  if(KEPLER_TESTS)
    # The compiler frees no memory below 1 GB: it compiles tests in 0.86 and libraries in 0.92 of the time.
    target_compile_options(kepler_flags INTERFACE "SHELL:--param ggc-min-expand=1000" "SHELL:--param ggc-min-heapsize=1000000")
  endif()
endif()
if(KEPLER_WERROR)
  target_compile_options(kepler_flags INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR KEPLER_SANITIZE)
  target_compile_definitions(kepler_flags INTERFACE _GLIBCXX_ASSERTIONS)
elseif(CMAKE_BUILD_TYPE)
  target_compile_options(kepler_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(kepler_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
if(KEPLER_SANITIZE)
  add_compile_options(-fsanitize=${KEPLER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KEPLER_SANITIZE})
  if(KEPLER_SANITIZE MATCHES "undefined")
    # Checks inside templates of libraries take a sixth of the compiler's time. Our code keeps its checks, and the libraries keep
    # AddressSanitizer and their assertions. The path is relative to the build folder, where the compiler runs, so that ccache
    # finds the object of another checkout.
    file(RELATIVE_PATH ignored ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/cmake/ubsan.ignore)
    add_compile_options(-fsanitize-ignorelist=${ignored})
    target_compile_definitions(kepler_flags INTERFACE KEPLER_UBSAN)  # compilers differ in how they say so
  endif()
endif()
if(KEPLER_FUZZ)
  # What the fuzzer steers by.
  target_compile_options(kepler_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
