// SPDX-License-Identifier: BSD-3-Clause
// Copies an HDF5 file object by object. Links, groups, attributes and dimension scales stay what
// they are; the chosen variables are written anew.
#include <hdf5_hl.h>

#include <algorithm>
#include <map>

#include "leeway/hdf5.h"
#include "tools/h5.h"

namespace leeway::cli::h5 {
namespace {

// References to other objects, which do not survive a copy: made again from the dimension scales.
bool is_scale_link(const std::string& attribute) {
  return attribute == "DIMENSION_LIST" || attribute == "REFERENCE_LIST";
}

// Whether values or attributes refer to other objects, apart from dimension scales.
bool has_references(hid_t object) {
  if (H5Iget_type(object) == H5I_DATASET) {
    const Handle type(H5Dget_type(object), H5Tclose);
    if (H5Tdetect_class(type, H5T_REFERENCE) > 0) return true;
  }
  const auto look = [](hid_t owner, const char* name, const H5A_info_t*, void*) -> herr_t {
    const Handle attribute(H5Aopen(owner, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    return !is_scale_link(name) && H5Tdetect_class(type, H5T_REFERENCE) > 0;
  };
  return H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, look, nullptr) > 0;
}

void refuse_references(hid_t object, const std::string& path) {
  if (has_references(object))
    throw Error(
        Errc::unsupported,
        "'" + path +
            "' holds references to other objects, which a copy would lose; h5repack keeps them");
}

// Called by HDF5, through which nothing may be thrown.
herr_t copy_attribute(hid_t source, const char* name, const H5A_info_t*, void* target) try {
  const hid_t to_object = *static_cast<hid_t*>(target);
  if (is_scale_link(name) || H5Aexists(to_object, name) > 0) return 0;
  const Handle attribute(H5Aopen(source, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  std::vector<u8> value(H5Aget_storage_size(attribute) +
                        size_t(std::max<hssize_t>(1, H5Sget_simple_extent_npoints(space))) *
                            H5Tget_size(type));
  const Handle copy(H5Acreate2(to_object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (copy < 0) return -1;
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return 0;
  if (H5Aread(attribute, type, value.data()) < 0 || H5Awrite(copy, type, value.data()) < 0)
    return -1;
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, value.data());
  return 0;
} catch (const std::exception&) {
  return -1;
}

// In the order of their creation, or, where the file does not know that, of their names.
void copy_attributes(hid_t from, hid_t to) {
  herr_t status = -1;
  H5E_BEGIN_TRY {
    hsize_t first = 0;
    status = H5Aiterate2(from, H5_INDEX_CRT_ORDER, H5_ITER_INC, &first, copy_attribute, &to);
  }
  H5E_END_TRY
  if (status < 0)
    status = H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, nullptr, copy_attribute, &to);
  checked(status, "cannot copy an attribute");
}

class Copy {
 public:
  Copy(const File& from, const std::string& to,
       const std::vector<std::pair<std::string, Plan>>& plans,
       const std::function<void(size_t, const Variable&)>& done)
      : from_(from.id()), plans_(plans), done_(done) {
    for (size_t i = 0; i < plans.size(); ++i) planned_[without_slash(plans[i].first)] = i;
    const Handle fcpl(H5Fget_create_plist(from_), H5Pclose);
    // netCDF asks for links and attributes in the order of their creation.
    to_ = Handle(checked(H5Fcreate(to.c_str(), H5F_ACC_TRUNC, fcpl, H5P_DEFAULT),
                         "cannot write '" + to + "'"),
                 H5Fclose);
  }

  void run() {
    const Handle from(H5Gopen2(from_, "/", H5P_DEFAULT), H5Gclose),
        to(H5Gopen2(to_, "/", H5P_DEFAULT), H5Gclose);
    refuse_references(from, "/");
    group(from, to, "");
    attach_scales();
    checked(H5Fflush(to_, H5F_SCOPE_GLOBAL), "cannot write the file");
  }

 private:
  static std::string without_slash(const std::string& name) {
    return name.starts_with('/') ? name.substr(1) : name;
  }

  void group(hid_t from, hid_t to, const std::string& path) {
    copy_attributes(from, to);
    struct Call {
      Copy* self;
      hid_t to;
      const std::string& path;
      std::exception_ptr failure;
    } call{this, to, path, nullptr};
    const auto visit = [](hid_t source, const char* name, const H5L_info_t* info,
                          void* data) -> herr_t {
      Call& call = *static_cast<Call*>(data);
      try {
        call.self->link(source, call.to, name, *info, call.path + name);
        return 0;
      } catch (...) {
        call.failure = std::current_exception();
        return -1;
      }
    };
    const Handle gcpl(H5Gget_create_plist(from), H5Pclose);
    unsigned order = 0;
    H5Pget_link_creation_order(gcpl, &order);
    const H5_index_t index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const herr_t status = H5Literate(from, index, H5_ITER_INC, nullptr, visit, &call);
    if (call.failure) std::rethrow_exception(call.failure);
    checked(status, "cannot list a group");
  }

  void link(hid_t from, hid_t to, const char* name, const H5L_info_t& info,
            const std::string& path) {
    if (info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL) {
      checked(H5Lcopy(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT),
              "cannot copy '" + path + "'");
      return;
    }
    H5O_info_t object{};
    checked(H5Oget_info_by_name(from, name, &object, H5P_DEFAULT), "cannot look at '" + path + "'");
    if (const auto known = copied_.find(object.addr); known != copied_.end()) {
      checked(H5Lcreate_hard(to_, known->second.c_str(), to, name, H5P_DEFAULT, H5P_DEFAULT),
              "cannot link '" + path + "'");
      return;
    }
    copied_[object.addr] = path;
    refuse_references(Handle(H5Oopen(from, name, H5P_DEFAULT), H5Oclose), path);
    if (object.type == H5O_TYPE_GROUP) {
      const Handle source(H5Gopen2(from, name, H5P_DEFAULT), H5Gclose);
      const Handle gcpl(H5Gget_create_plist(source), H5Pclose);
      const Handle target(checked(H5Gcreate2(to, name, H5P_DEFAULT, gcpl, H5P_DEFAULT),
                                  "cannot make '" + path + "'"),
                          H5Gclose);
      group(source, target, path + "/");
    } else if (const auto plan = planned_.find(path);
               object.type == H5O_TYPE_DATASET && plan != planned_.end()) {
      write_anew(Variable(from, name), to, name, plan->second);
    } else {
      as_it_is(from, to, name, path);
    }
  }

  // H5Ocopy() of HDF5 1.10 spoils the fill values of variable-length strings: these are read and
  // written.
  static bool copy_strings(hid_t from, hid_t to, const char* name) {
    const Handle source(H5Oopen(from, name, H5P_DEFAULT), H5Oclose);
    if (H5Iget_type(source) != H5I_DATASET) return false;
    const Handle type(H5Dget_type(source), H5Tclose), space(H5Dget_space(source), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT) filter_of(source, name);  // refuses leeway's
    if (H5Tis_variable_str(type) <= 0) return false;
    const Handle dcpl(H5Dget_create_plist(source), H5Pclose);
    const Handle target(H5Dcreate2(to, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT),
                        H5Dclose);
    std::vector<char*> strings(size_t(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space))));
    if (!strings.empty()) {
      checked(H5Dread(source, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, strings.data()),
              "cannot read strings");
      checked(H5Dwrite(target, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, strings.data()),
              "cannot write strings");
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, strings.data());
    }
    copy_attributes(source, target);
    return true;
  }

  void as_it_is(hid_t from, hid_t to, const char* name, const std::string& path) {
    if (copy_strings(from, to, name)) return;
    const Handle ocpypl(H5Pcreate(H5P_OBJECT_COPY), H5Pclose);
    // H5Ocopy() of HDF5 1.10 crashes on nine attributes or more if one of them is a list, as
    // DIMENSION_LIST is: they are copied one by one.
    H5Pset_copy_object(ocpypl, H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG | H5O_COPY_WITHOUT_ATTR_FLAG);
    checked(H5Ocopy(from, name, to, name, ocpypl, H5P_DEFAULT), "cannot copy '" + path + "'");
    const Handle source(H5Oopen(from, name, H5P_DEFAULT), H5Oclose),
        copy(H5Oopen(to, name, H5P_DEFAULT), H5Oclose);
    copy_attributes(source, copy);
  }

  void write_anew(const Variable& source, hid_t to, const char* name, size_t number) {
    const Plan& plan = plans_[number].second;
    const Handle type(H5Dget_type(source.id()), H5Tclose),
        space(H5Dget_space(source.id()), H5Sclose);
    const Handle old(H5Dget_create_plist(source.id()), H5Pclose), dcpl(H5Pcopy(old), H5Pclose);
    H5Premove_filter(dcpl, H5Z_FILTER_ALL);
    const std::vector<hsize_t> chunk(plan.chunk.extents().begin(), plan.chunk.extents().end());
    checked(H5Pset_chunk(dcpl, int(chunk.size()), chunk.data()),
            "cannot cut '" + source.name() + "' into chunks of " + to_string(plan.chunk));
    if (plan.parameters) {
      const hdf5::Words words = hdf5::given_words(*plan.parameters);
      checked(H5Pset_filter(dcpl, LEEWAY_H5Z_ID, H5Z_FLAG_MANDATORY, words.size(), words.data()),
              "cannot apply the filter");
    }
    const Handle dataset(checked(H5Dcreate2(to, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT),
                                 "cannot make '" + source.name() + "'"),
                         H5Dclose);
    copy_attributes(source.id(), dataset);
    for (const auto& [key, text] : plan.attributes) write_attribute(dataset, key, text);
    if (!plan.parameters) remove_attribute(dataset, "lossy_compression_reader");
    const Variable written(to, name);
    source.for_each_part(
        plan.chunk[0], [&](const Box& part, const Array& values) { written.write(part, values); });
    H5Dflush(dataset);
    if (done_) done_(number, written);
  }

  // Every dataset is given the scales that the original has.
  void attach_scales() {
    for (const auto& [address, path] : copied_) {
      const Handle from(H5Oopen(from_, path.c_str(), H5P_DEFAULT), H5Oclose);
      if (H5Iget_type(from) != H5I_DATASET || H5DSis_scale(from) > 0) continue;
      const Handle space(H5Dget_space(from), H5Sclose);
      const Handle to(H5Oopen(to_, path.c_str(), H5P_DEFAULT), H5Oclose);
      std::pair<Copy*, hid_t> call(this, to);
      const auto attach = [](hid_t, unsigned axis, hid_t scale, void* data) -> herr_t {
        auto& [self, target] = *static_cast<std::pair<Copy*, hid_t>*>(data);
        H5O_info_t info{};
        H5Oget_info(scale, &info);
        const auto known = self->copied_.find(info.addr);
        if (known == self->copied_.end()) return 0;
        const Handle copy(H5Dopen2(self->to_, known->second.c_str(), H5P_DEFAULT), H5Dclose);
        return H5DSattach_scale(target, copy, axis);
      };
      for (int axis = 0; axis < H5Sget_simple_extent_ndims(space); ++axis)
        if (H5DSget_num_scales(from, unsigned(axis)) > 0)
          checked(H5DSiterate_scales(from, unsigned(axis), nullptr, attach, &call),
                  "cannot copy the scales of '" + path + "'");
    }
  }

  hid_t from_;
  Handle to_;
  const std::vector<std::pair<std::string, Plan>>& plans_;
  const std::function<void(size_t, const Variable&)>& done_;
  std::map<std::string, size_t> planned_;  // plans by path
  std::map<haddr_t, std::string> copied_;  // objects by their place in the original
};

// A new scalar attribute, in the place of an old one.
Handle make_attribute(hid_t object, const std::string& name, hid_t type) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  remove_attribute(object, name);
  return Handle(checked(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                        "cannot write an attribute"),
                H5Aclose);
}

}  // namespace

void remove_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<size_t>(text.size(), 1));
  H5Awrite(make_attribute(object, name, type), type, text.c_str());
}

void write_attribute(hid_t object, const std::string& name, double value) {
  H5Awrite(make_attribute(object, name, H5T_IEEE_F64LE), H5T_NATIVE_DOUBLE, &value);
}

void copy_file(const File& from, const std::string& to,
               const std::vector<std::pair<std::string, Plan>>& plans,
               const std::function<void(size_t plan, const Variable& written)>& done) {
  Copy(from, to, plans, done).run();
}

}  // namespace leeway::cli::h5
