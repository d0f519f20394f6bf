// SPDX-License-Identifier: BSD-3-Clause
// The filter as a plugin that any HDF5 library loads. It is linked with none: the functions it
// needs are looked up in the library that calls H5PLget_plugin_info(). Where none are found, it does
// what needs none.
#include <dlfcn.h>
#include <H5PLextern.h>

#include <type_traits>

#include "leeway/hdf5.h"

namespace {

bool find_functions(void* library, leeway_h5_host& host) {
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  const auto value = [&](hid_t& id, const char* name) {
    const auto* variable = static_cast<const hid_t*>(::dlsym(library, name));
    if (variable) id = *variable;
    return variable != nullptr;
  };
  return find(host.Pget_filter_by_id2, "H5Pget_filter_by_id2") &&
         find(host.Pmodify_filter, "H5Pmodify_filter") &&
         find(host.Pget_nfilters, "H5Pget_nfilters") &&
         find(host.Pget_filter2, "H5Pget_filter2") &&
         find(host.Pfill_value_defined, "H5Pfill_value_defined") &&
         find(host.Pget_fill_value, "H5Pget_fill_value") && find(host.Tget_class, "H5Tget_class") &&
         find(host.Tget_size, "H5Tget_size") && find(host.Tget_precision, "H5Tget_precision") &&
         find(host.Tget_order, "H5Tget_order") && find(host.Tget_sign, "H5Tget_sign") &&
         find(host.Tget_fields, "H5Tget_fields") &&
         find(host.Sget_simple_extent_dims, "H5Sget_simple_extent_dims") &&
         find(host.allocate_memory, "H5allocate_memory") &&
         find(host.free_memory, "H5free_memory") && find(host.Epush2, "H5Epush2") &&
         value(host.error_class, "H5E_ERR_CLS_g") && value(host.error_major, "H5E_PLINE_g") &&
         value(host.error_minor, "H5E_CANTFILTER_g");
}

}  // namespace

extern "C" {

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }

const void* H5PLget_plugin_info(void) {
  leeway_h5_host host{};
  Dl_info caller{};
  if (::dladdr(__builtin_return_address(0), &caller) && caller.dli_fname) {
    void* library = ::dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library && find_functions(library, host)) return leeway_h5z_class(&host);
  }
  // A program that HDF5 is linked into.
  if (find_functions(::dlopen(nullptr, RTLD_LAZY), host)) return leeway_h5z_class(&host);
  // A program with a static HDF5, whose functions are hidden.
  return leeway_h5z_class(nullptr);
}
}
