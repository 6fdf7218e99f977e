# Cross build for arm64: tools/setup.sh cross && cmake --preset arm64 && cmake --build --preset arm64
# Headers and libraries come from build/sysroot-arm64 (tools/arm64_sysroot.sh) and from nowhere else.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(KEPLER_DEBIAN_ARCHITECTURE arm64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(KEPLER_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64 ABSOLUTE)
if(NOT EXISTS ${KEPLER_SYSROOT}/.packages)
  message(FATAL_ERROR "${KEPLER_SYSROOT} is missing: run tools/setup.sh cross")
endif()
set(CMAKE_SYSROOT ${KEPLER_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${KEPLER_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${KEPLER_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${KEPLER_SYSROOT})
