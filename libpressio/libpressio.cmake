# The compressor of LibPressio: a library that registers itself when a program links it. LibPressio is found as its own
# package says; it is in Spack, neither in Debian nor on PyPI.
find_package(LibPressio REQUIRED)
add_library(leeway_pressio SHARED libpressio/plugin.cc)
leeway_flags(leeway_pressio)
target_link_libraries(leeway_pressio PRIVATE leeway LibPressio::libpressio)
if(LEEWAY_INSTALL)
  install(TARGETS leeway_pressio LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
