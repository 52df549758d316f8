// SPDX-License-Identifier: Apache-2.0
/// @file hdf5_file.hpp
/// HDF5 files: their text attributes and one-dimensional arrays, read and written by the HDF5 library. Only
/// available if SPOROS_HAVE_HDF5 is defined.
#pragma once

#ifdef SPOROS_HAVE_HDF5

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/value.hpp"

namespace sporos::io {

/// An object of the HDF5 library, released at the end of its life.
class Hdf5Object {
 public:
  Hdf5Object() = default;
  Hdf5Object(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Object() {
    if (id_ >= 0) close_(id_);
  }

  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// The period during which the HDF5 library is used: by one thread, since it is not always built for several,
/// and without its own messages on standard error.
class Hdf5Session {
 public:
  Hdf5Session() : lock_(mutex()) {
    H5open();
    H5Eget_auto2(H5E_DEFAULT, &print_, &stream_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, print_, stream_); }
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

  /// Why the last call failed, according to the function that first noticed it.
  static std::string reason() {
    std::string reason = "the HDF5 library gives no reason";
    const auto take_first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
      if (error->desc) *static_cast<std::string*>(out) = error->desc;
      return 1;  // no more messages
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
    return reason;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  std::scoped_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* stream_ = nullptr;
};

/// The HDF5 type of numbers of type `Number` on this machine.
template <class Number>
  requires std::integral<Number> || std::floating_point<Number>
hid_t hdf5_type() {
  if constexpr (std::same_as<Number, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::same_as<Number, double>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (sizeof(Number) == 1)
    return std::is_signed_v<Number> ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
  else if constexpr (sizeof(Number) == 2)
    return std::is_signed_v<Number> ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
  else if constexpr (sizeof(Number) == 4)
    return std::is_signed_v<Number> ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
  else
    return std::is_signed_v<Number> ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
}

/// An array of numbers in a file that is being read.
class Hdf5Array {
 public:
  /// @param name  the name used in messages
  /// @throws ParseError if it is not one-dimensional, holds no numbers, or if the file has no data for it
  Hdf5Array(std::string name, Hdf5Object dataset) : name_(std::move(name)), dataset_(std::move(dataset)) {
    const Hdf5Object space(H5Dget_space(dataset_), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    expect(dimensions == 0 || dimensions == 1, text("it has ", dimensions, " dimensions, expected 1"));
    count_ = H5Sget_simple_extent_npoints(space);
    type_ = Hdf5Object(H5Dget_type(dataset_), H5Tclose);
    type_name_ = name_of_type();
    expect_data();
  }

  const std::string& name() const { return name_; }
  std::int64_t count() const { return count_; }
  /// "int32", "float64"; "bool" for the booleans that h5py writes, which are an enumeration of one byte.
  const std::string& type_name() const { return type_name_; }

  void expect(bool holds, const std::string& reason) const {
    if (!holds) throw ParseError(name_, 0, reason);
  }

  /// Reads elements [first, first + count), which must exist, converted in HDF5's way: a number that is too
  /// large becomes the largest one.
  template <class Number>
  void read(Number* out, std::int64_t first, std::int64_t count) const {
    if (count == 0) return;
    const hid_t type = type_name_ == "bool" ? static_cast<hid_t>(type_) : hdf5_type<Number>();
    const auto from = static_cast<hsize_t>(first), some = static_cast<hsize_t>(count);
    const Hdf5Object memory(H5Screate_simple(1, &some, nullptr), H5Sclose);
    const Hdf5Object place(H5Dget_space(dataset_), H5Sclose);
    const bool one = H5Sget_simple_extent_ndims(place) == 0;
    if (!one) H5Sselect_hyperslab(place, H5S_SELECT_SET, &from, nullptr, &some, nullptr);
    if (H5Dread(dataset_, type, memory, place, H5P_DEFAULT, out) < 0)
      throw ParseError(name_, 0, text("it cannot be read: ", Hdf5Session::reason()));
  }

 private:
  std::string name_of_type() const {
    const auto bits = 8 * H5Tget_size(type_);
    const H5T_class_t kind = H5Tget_class(type_);
    if (kind == H5T_ENUM && bits == 8) return "bool";
    if (kind == H5T_FLOAT && (bits == 32 || bits == 64)) return text("float", bits);
    const bool whole = kind == H5T_INTEGER && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
    expect(whole, "its elements are no integers of up to 64 bits, float32 or float64");
    return text(H5Tget_sign(type_) == H5T_SGN_NONE ? "uint" : "int", bits);
  }

  /// Checks that the elements are in this file, so that no small file demands much memory, and none reads
  /// another file: HDF5 can take data from any file that the writer names.
  void expect_data() const {
    const Hdf5Object how(H5Dget_create_plist(dataset_), H5Pclose);
    expect(H5Pget_layout(how) != H5D_VIRTUAL && H5Pget_external_count(how) == 0,
           "its elements are in other files, which are not read");
    constexpr std::int64_t deflated = 1040;  // deflate never compresses by more than 1032
    const std::int64_t factor = H5Pget_nfilters(how) > 0 ? deflated : 1;
    const auto stored = static_cast<std::int64_t>(H5Dget_storage_size(dataset_));
    const auto element = static_cast<std::int64_t>(H5Tget_size(type_));
    expect(count_ / factor <= stored / element,
           text("it announces ", count_, " elements of type ", type_name_, ", but the file has ", stored,
                " bytes of it"));
  }

  std::string name_;
  Hdf5Object dataset_, type_;
  std::string type_name_;
  std::int64_t count_ = 0;
};

/// The name of a file in memory, which the library requires; no file on the disk has it.
inline constexpr const char* image_name = "sporos in memory";

/// A file that is being read; messages use its name.
class Hdf5Reader {
 public:
  /// The file at a path.
  /// @throws IoError if there is none; ParseError if it is not a complete HDF5 file
  explicit Hdf5Reader(const std::string& path) : name_(path) {
    open(path, Hdf5Object(H5Pcreate(H5P_FILE_ACCESS), H5Pclose));
  }

  /// The bytes of a file.
  Hdf5Reader(std::string bytes, const std::string& name) : name_(name) {
    Hdf5Object access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    constexpr std::size_t portion = std::size_t{1} << 16;  // increment by which the image would grow
    H5Pset_fapl_core(access, portion, false);
    H5Pset_file_image(access, bytes.data(), bytes.size());
    bytes = {};  // the library has made its own copy
    open(image_name, access);
  }

  const std::string& name() const { return name_; }

  /// Enters a group, in which attributes and arrays are then looked up. Throws ParseError if it does not
  /// exist.
  void enter(const std::string& group) {
    Hdf5Object entered(H5Gopen2(place_ ? place_ : file_, group.c_str(), H5P_DEFAULT), H5Gclose);
    if (!entered) throw ParseError(name_, 0, text("there is no group '", group, "'"));
    place_ = std::move(entered);
  }

  /// The text of an attribute, of fixed or variable length. Throws ParseError if there is no such text.
  std::string attribute(const std::string& attribute) const {
    const auto refuse = [&](std::string_view reason) {
      throw ParseError(name_, 0, text("the attribute '", attribute, "' ", reason));
    };
    if (H5Aexists(place_, attribute.c_str()) <= 0) refuse("is missing");
    const Hdf5Object held(H5Aopen(place_, attribute.c_str(), H5P_DEFAULT), H5Aclose);
    const Hdf5Object space(H5Aget_space(held), H5Sclose);
    const Hdf5Object type(H5Aget_type(held), H5Tclose);
    if (!held || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
      refuse("is not one text");
    const Hdf5Object as(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_cset(as, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
      H5Tset_size(as, H5T_VARIABLE);
      char* letters = nullptr;
      if (H5Aread(held, as, &letters) < 0 || !letters) refuse("cannot be read: " + Hdf5Session::reason());
      std::string out(letters);
      H5free_memory(letters);
      return out;
    }
    std::string out(H5Tget_size(type), '\0');
    H5Tset_size(as, out.size() + 1);
    out.push_back('\0');
    if (H5Aread(held, as, out.data()) < 0) refuse("cannot be read: " + Hdf5Session::reason());
    out.resize(std::min(out.find('\0'), out.size()));
    return out;
  }

  /// An array of the group. Throws ParseError if it is missing.
  Hdf5Array array(const std::string& array) const {
    const std::string full = text(name_, ": ", array);
    if (H5Lexists(place_, array.c_str(), H5P_DEFAULT) <= 0)
      throw ParseError(name_, 0, text("the array ", array, " is missing"));
    H5L_info_t link{};
    if (H5Lget_info(place_, array.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      throw ParseError(full, 0, "it is a link to another place, expected an array of this file");
    Hdf5Object dataset(H5Dopen2(place_, array.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) throw ParseError(full, 0, text("it cannot be opened: ", Hdf5Session::reason()));
    return {full, std::move(dataset)};
  }

 private:
  void open(const std::string& path, const Hdf5Object& access) {
    file_ = Hdf5Object(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file_) throw ParseError(name_, 0, text("it is not a complete HDF5 file: ", Hdf5Session::reason()));
    enter("/");
  }

  Hdf5Session session_;
  std::string name_;
  Hdf5Object file_, place_;
};

/// A file that is written in memory: HDF5 can only write to files with names, which would be left incomplete
/// if the program ended early.
class Hdf5Writer {
 public:
  /// @param name     the name used in messages
  /// @param bytes    approximate size
  /// @param deflate  0: arrays are not compressed; 1 (fast) to 9 (small)
  /// @throws IoError if it cannot be created or this HDF5 library does not compress
  Hdf5Writer(std::string name, std::int64_t bytes, int deflate) : name_(std::move(name)), deflate_(deflate) {
    const Hdf5Object access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    constexpr std::int64_t least = std::int64_t{1} << 16;  // increment by which the memory grows
    H5Pset_fapl_core(access, static_cast<std::size_t>(std::max(bytes, least)), false);
    file_ = Hdf5Object(H5Fcreate(image_name, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    expect(bool(file_), "created");
    if (deflate > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
      throw IoError(name_, "this HDF5 library cannot compress: write the file without compression");
  }

  /// Writes an array of numbers.
  template <class Number>
  void put(const std::string& array, const Number* elements, std::int64_t count) {
    const auto size = static_cast<hsize_t>(count);
    const Hdf5Object space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Object how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    constexpr hsize_t chunk = hsize_t{1} << 17;  // elements compressed together
    if (deflate_ > 0 && count > 0) {
      const hsize_t part = std::min(size, chunk);
      H5Pset_chunk(how, 1, &part);
      H5Pset_shuffle(how);
      H5Pset_deflate(how, static_cast<unsigned>(deflate_));
    }
    const hid_t type = hdf5_type<Number>();
    const Hdf5Object dataset(H5Dcreate2(file_, array.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT),
                             H5Dclose);
    expect(bool(dataset), "written");
    expect(count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) >= 0, "written");
  }

  /// Writes an attribute of the root group.
  void put_attribute(const std::string& attribute, const std::string& letters) {
    const Hdf5Object type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_size(type, H5T_VARIABLE);
    const Hdf5Object space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Object held(H5Acreate2(file_, attribute.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose);
    const char* const start = letters.c_str();
    expect(held && H5Awrite(held, type, &start) >= 0, "written");
  }

  /// All bytes of the file.
  std::string image() const {
    expect(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "written");
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    expect(size >= 0, "written");
    std::string bytes(static_cast<std::size_t>(size), '\0');
    expect(H5Fget_file_image(file_, bytes.data(), bytes.size()) == size, "written");
    return bytes;
  }

 private:
  void expect(bool holds, std::string_view what) const {
    if (!holds) throw IoError(name_, text("cannot be ", what, ": ", Hdf5Session::reason()));
  }

  Hdf5Session session_;
  std::string name_;
  int deflate_;
  Hdf5Object file_;
};

}  // namespace sporos::io

#endif
