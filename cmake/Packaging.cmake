# What is installed, and how the .debs are made from it (tools/package.sh). `cmake --install` alone installs the programs,
# their man pages and the licenses of all that is in them below any prefix; the unit, the configuration and Debian's own
# files belong to the package component. Debian has the Apache License elsewhere: it is in the plain component, which is not
# packaged. kepler-model is a package of its own: the agent is not to depend on the libraries of trainers.
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

kepler_gzip(${CMAKE_SOURCE_DIR}/deploy/kepler-model.1 kepler-model.1.gz)
install(FILES ${package_dir}/kepler-model.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT model)

install(FILES ${CMAKE_SOURCE_DIR}/deploy/debian/copyright DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/debian/copyright DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler-model
  COMPONENT model)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler COMPONENT plain)

kepler_gzip(${CMAKE_SOURCE_DIR}/deploy/debian/changelog changelog.gz)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/kepler.service DESTINATION /lib/systemd/system COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/config.yaml DESTINATION /etc/kepler COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${package_dir}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler COMPONENT package EXCLUDE_FROM_ALL)
kepler_gzip(${CMAKE_SOURCE_DIR}/deploy/debian/changelog.kepler-model changelog-model.gz)
install(FILES ${package_dir}/changelog-model.gz RENAME changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/kepler-model COMPONENT model)

install(FILES ${CMAKE_SOURCE_DIR}/deploy/kepler-model-server.service DESTINATION /lib/systemd/system
  COMPONENT modelserver EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/deploy/debian/kepler-model.sysusers RENAME kepler-model.conf DESTINATION /usr/lib/sysusers.d
  COMPONENT modelserver EXCLUDE_FROM_ALL)
# dpkg knows them by their plain names.
foreach(script postinst prerm postrm)
  configure_file(${CMAKE_SOURCE_DIR}/deploy/debian/kepler-model.${script} ${package_dir}/model/${script} COPYONLY)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kepler)
set(CPACK_PACKAGE_VENDOR "The Kepler in C++ authors")
set(CPACK_PACKAGE_CONTACT "The Kepler in C++ authors <kepler@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # it would stand above the description of each package
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Unspecified package model modelserver)
set(CPACK_COMPONENT_UNSPECIFIED_GROUP agent)
set(CPACK_COMPONENT_PACKAGE_GROUP agent)
set(CPACK_COMPONENT_MODEL_GROUP model)
set(CPACK_COMPONENT_MODELSERVER_GROUP model)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${KEPLER_DEBIAN_ARCHITECTURE})
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_AGENT_PACKAGE_NAME kepler)
set(CPACK_DEBIAN_AGENT_PACKAGE_SECTION net)
set(CPACK_DEBIAN_AGENT_DESCRIPTION "node agent that attributes energy to processes and containers
Reads how much energy the machine used, learns which processes were busy
meanwhile, and publishes for Prometheus which process, container, pod or
virtual machine used which joule. Without an energy
meter a power model estimates, and the label path marks
the series of the node.
.
Metric names, flags and configuration are those of Kepler 0.11.")
set(CPACK_DEBIAN_AGENT_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles ${CMAKE_SOURCE_DIR}/deploy/debian/postinst
  ${CMAKE_SOURCE_DIR}/deploy/debian/prerm ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)
set(CPACK_DEBIAN_MODEL_PACKAGE_NAME kepler-model)
set(CPACK_DEBIAN_MODEL_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MODEL_DESCRIPTION "trainer of power models for Kepler
Fits models that tell the power of a machine from what its processors did,
says by rows that the fit has not seen how far they are off, and predicts.
Reads tables of measurements in CSV, and makes them of what Prometheus has
recorded or of this machine under loads.
.
The model server, kepler-model-server.service, is off by default.")
set(CPACK_DEBIAN_MODEL_PACKAGE_CONTROL_EXTRA
  ${package_dir}/model/postinst ${package_dir}/model/prerm ${package_dir}/model/postrm)
set(CPACK_DEBIAN_MODEL_PACKAGE_SUGGESTS stress-ng)
include(CPack)
