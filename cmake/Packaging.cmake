# What is installed, and how the .deb is made from it (tools/package.sh). `cmake --install` alone installs the agent, its
# man page and the licenses of all that is in it below any prefix; the unit, the configuration and Debian's own files belong
# to the package component. Debian has the Apache License elsewhere: it is in the plain component, which is not packaged.
find_program(GZIP gzip REQUIRED)
set(package_dir ${CMAKE_CURRENT_BINARY_DIR}/package)

# kepler_gzip(SOURCE NAME): SOURCE, compressed reproducibly, as ${package_dir}/NAME.
function(kepler_gzip source name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(MAKE_DIRECTORY ${package_dir})
  execute_process(COMMAND ${GZIP} -9nc ${source} OUTPUT_FILE ${package_dir}/${name} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

kepler_gzip(${CMAKE_SOURCE_DIR}/deploy/kepler.8 kepler.8.gz)
install(FILES ${package_dir}/kepler.8.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)

install(FILES ${CMAKE_SOURCE_DIR}/deploy/debian/copyright DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler COMPONENT plain)

kepler_gzip(${CMAKE_SOURCE_DIR}/deploy/debian/changelog changelog.gz)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/kepler.service DESTINATION /lib/systemd/system COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/config.yaml DESTINATION /etc/kepler COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${package_dir}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler COMPONENT package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kepler)
set(CPACK_PACKAGE_VENDOR "The Kepler in C++ authors")
set(CPACK_PACKAGE_CONTACT "The Kepler in C++ authors <kepler@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "node agent that attributes energy to processes and containers")
set(CPACK_PACKAGE_DESCRIPTION
"Reads how much energy the machine used, learns which processes were busy
meanwhile, and publishes for Prometheus which process, container, pod or
virtual machine used which joule. Where the machine has no energy meter, a
power model takes its place and says so in every series.
.
Metric names, flags and configuration are those of Kepler 0.11.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Unspecified package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_NAME kepler)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles ${CMAKE_SOURCE_DIR}/deploy/debian/postinst
  ${CMAKE_SOURCE_DIR}/deploy/debian/prerm ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)
include(CPack)
