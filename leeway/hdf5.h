/* SPDX-License-Identifier: BSD-3-Clause
 * leeway as an HDF5 filter, for programs that link HDF5 and leeway themselves:
 *
 *   leeway_h5z_register();
 *   unsigned words[LEEWAY_H5Z_MAX_WORDS];
 *   size_t count = leeway_h5z_words("abs=1e-3 recipe=small", words);
 *   H5Pset_filter(dcpl, LEEWAY_H5Z_ID, H5Z_FLAG_MANDATORY, count, words);
 *
 * Programs that do not link leeway use the plugin: they put its folder into HDF5_PLUGIN_PATH. */
#ifndef LEEWAY_HDF5_H
#define LEEWAY_HDF5_H

#include <hdf5.h>

#include "leeway/leeway.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEEWAY_H5Z_ID 47310 /* of the range for private use, until one is assigned */
#define LEEWAY_H5Z_MAX_WORDS 20
/* What a dataset may say, in an attribute, to readers that do not know the filter. */
#define LEEWAY_H5Z_READER                                                                 \
  "HDF5 filter 47310 of leeway, an error-bounded lossy compressor of scientific arrays. " \
  "Python: install its package, then import leeway.hdf5 (h5py) or leeway.xarray. "        \
  "Other programs: put the folder of libh5zleeway.so into HDF5_PLUGIN_PATH"

/* The functions of the HDF5 library that the filter works for: a process may hold several. */
typedef struct leeway_h5_host {
  herr_t (*Pget_filter_by_id2)(hid_t, H5Z_filter_t, unsigned*, size_t*, unsigned*, size_t, char*,
                               unsigned*);
  herr_t (*Pmodify_filter)(hid_t, H5Z_filter_t, unsigned, size_t, const unsigned*);
  int (*Pget_nfilters)(hid_t);
  H5Z_filter_t (*Pget_filter2)(hid_t, unsigned, unsigned*, size_t*, unsigned*, size_t, char*,
                               unsigned*);
  herr_t (*Pfill_value_defined)(hid_t, H5D_fill_value_t*);
  herr_t (*Pget_fill_value)(hid_t, hid_t, void*);
  H5T_class_t (*Tget_class)(hid_t);
  size_t (*Tget_size)(hid_t);
  size_t (*Tget_precision)(hid_t);
  H5T_order_t (*Tget_order)(hid_t);
  H5T_sign_t (*Tget_sign)(hid_t);
  herr_t (*Tget_fields)(hid_t, size_t*, size_t*, size_t*, size_t*, size_t*);
  int (*Sget_simple_extent_dims)(hid_t, hsize_t*, hsize_t*);
  void* (*allocate_memory)(size_t, hbool_t);
  herr_t (*free_memory)(void*);
  herr_t (*Epush2)(hid_t, const char*, const char*, unsigned, hid_t, hid_t, hid_t, const char*,
                   ...);
  hid_t error_class, error_major, error_minor;
} leeway_h5_host;

/* The filter class for H5Zregister(), working with these functions; the table is copied. NULL: the
 * functions are hidden, as in a program with a static HDF5. Then all chunks are read, and those of
 * datasets are written whose filter has its stored parameters ("leeway filter --stored"), because
 * nothing can be asked about a dataset. */
LEEWAY_API const H5Z_class2_t* leeway_h5z_class(const leeway_h5_host* host);

/* The words (cd_values) for parameters written as text, e.g. "abs=1e-3 recipe=small fill=-999".
 * Returns how many; 0 if the text is wrong or too long. */
LEEWAY_API size_t leeway_h5z_words(const char* text, unsigned* words);

/* Makes the filter known to the HDF5 library this program is linked with. Negative: it failed. */
static inline herr_t leeway_h5z_register(void) {
  leeway_h5_host host;
  if (H5open() < 0) return -1;
  host.Pget_filter_by_id2 = H5Pget_filter_by_id2;
  host.Pmodify_filter = H5Pmodify_filter;
  host.Pget_nfilters = H5Pget_nfilters;
  host.Pget_filter2 = H5Pget_filter2;
  host.Pfill_value_defined = H5Pfill_value_defined;
  host.Pget_fill_value = H5Pget_fill_value;
  host.Tget_class = H5Tget_class;
  host.Tget_size = H5Tget_size;
  host.Tget_precision = H5Tget_precision;
  host.Tget_order = H5Tget_order;
  host.Tget_sign = H5Tget_sign;
  host.Tget_fields = H5Tget_fields;
  host.Sget_simple_extent_dims = H5Sget_simple_extent_dims;
  host.allocate_memory = H5allocate_memory;
  host.free_memory = H5free_memory;
  host.Epush2 = H5Epush2;
  host.error_class = H5E_ERR_CLS;
  host.error_major = H5E_PLINE;
  host.error_minor = H5E_CANTFILTER;
  return H5Zregister(leeway_h5z_class(&host));
}

#ifdef __cplusplus
}
#endif

#endif
