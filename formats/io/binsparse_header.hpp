// SPDX-License-Identifier: Apache-2.0
/// @file binsparse_header.hpp
/// The descriptor of a binsparse file: how the file's arrays make up a tensor.
///
///     {"binsparse": {"version": "0.1.0", "format": "CSR", "shape": [5, 5], "number_of_stored_values": 6,
///                    "data_types": {"pointers_to_1": "int32", "indices_1": "int32", "values": "iso[int8]"}},
///      "author": "…"}
///
/// "Binary Sparse Format Specification", binsparse.org, version 0.1.0.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/format.hpp"
#include "../../core/value.hpp"
#include "../structure.hpp"
#include "json.hpp"
#include "matrix_market_header.hpp"

namespace sporos {

/// A level of a binsparse file: dense, with all coordinates of its mode, or sparse, with a list of those that
/// occur.
struct BinsparseLevel {
  bool sparse = false;
  int modes = 1;  ///< number of modes; the list of a sparse level holds tuples of this many coordinates

  friend bool operator==(const BinsparseLevel&, const BinsparseLevel&) = default;
};

/// How a binsparse file stores a tensor: its levels, and which modes they hold.
///
///     CSR  {dense, sparse}         modes 0 1      DVEC   {dense}
///     CSC  {dense, sparse}         modes 1 0      CVEC   {sparse}
///     DCSR {sparse, sparse}        modes 0 1      DMATR  {dense, dense}   modes 0 1
///     DCSC {sparse, sparse}        modes 1 0      DMATC  {dense, dense}   modes 1 0
///     COOR {sparse of two modes}   modes 0 1      COOC   {sparse of two modes}   modes 1 0
struct BinsparseLevels {
  std::vector<BinsparseLevel> levels;  ///< outermost first; a dense one has a single mode
  std::vector<int> modes;              ///< the tensor's modes, in the order in which the levels hold them

  int order() const { return static_cast<int>(modes.size()); }
  /// Whether the innermost level is dense, so that zeros are stored where there are no entries.
  bool padded() const { return levels.empty() || !levels.back().sparse; }

  friend bool operator==(const BinsparseLevels&, const BinsparseLevels&) = default;
};

/// A value type of the specification, such as complex[float64] or iso[int8].
struct BinsparseType {
  std::string stored;    ///< type of the numbers in the array: "float64", "int8", "bint8"
  bool complex = false;  ///< each value is two numbers, the real and the imaginary part
  bool iso = false;      ///< one value is stored and holds for all entries

  std::string str() const {
    const std::string value = complex ? "complex[" + stored + "]" : stored;
    return iso ? "iso[" + value + "]" : value;
  }
};

/// The contents of a binsparse file's descriptor.
struct BinsparseHeader {
  std::string version;
  std::string format;               ///< "CSR", "COOR", "custom", …
  BinsparseLevels levels;           ///< the same format, spelled out
  std::vector<std::int64_t> shape;  ///< extents of the tensor
  std::int64_t stored = 0;          ///< values in the file; for a symmetric matrix, those of one triangle
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  bool upper = false;  ///< the stored triangle is the upper one
  BinsparseType type;
  std::map<std::string, BinsparseType> arrays;        ///< the type of each array
  MatrixMarketField field = MatrixMarketField::real;  ///< pattern: a single boolean, true, for all entries
  bool fill = false;            ///< there is a value for everything that is not stored; it must be 0
  std::int64_t index_base = 0;  ///< base of coordinates and positions, 0 or 1
  std::map<std::string, std::string> attributes;  ///< texts; other values as JSON
};

namespace io {

inline constexpr BinsparseLevel binsparse_dense{}, binsparse_sparse{.sparse = true},
    binsparse_pairs{.sparse = true, .modes = 2};

/// The formats that have names. If a format has two names, the first is written.
inline const std::vector<std::pair<std::string_view, BinsparseLevels>>& binsparse_formats() {
  static const std::vector<std::pair<std::string_view, BinsparseLevels>> known = {
      {"DVEC", {{binsparse_dense}, {0}}},
      {"DMATR", {{binsparse_dense, binsparse_dense}, {0, 1}}},
      {"DMAT", {{binsparse_dense, binsparse_dense}, {0, 1}}},
      {"DMATC", {{binsparse_dense, binsparse_dense}, {1, 0}}},
      {"CVEC", {{binsparse_sparse}, {0}}},
      {"CSR", {{binsparse_dense, binsparse_sparse}, {0, 1}}},
      {"CSC", {{binsparse_dense, binsparse_sparse}, {1, 0}}},
      {"DCSR", {{binsparse_sparse, binsparse_sparse}, {0, 1}}},
      {"DCSC", {{binsparse_sparse, binsparse_sparse}, {1, 0}}},
      {"COOR", {{binsparse_pairs}, {0, 1}}},
      {"COO", {{binsparse_pairs}, {0, 1}}},
      {"COOC", {{binsparse_pairs}, {1, 0}}}};
  return known;
}

/// The specification's structures without the triangle: symmetric_lower, hermitian_upper, …
inline constexpr std::array binsparse_structures = {
    std::pair{std::string_view("symmetric"), MatrixMarketSymmetry::symmetric},
    std::pair{std::string_view("hermitian"), MatrixMarketSymmetry::hermitian},
    std::pair{std::string_view("skew_symmetric"), MatrixMarketSymmetry::skew_symmetric}};

/// Turns a descriptor into a header; throws ParseError if it is incomplete or impossible.
class BinsparseDescriptor {
 public:
  BinsparseDescriptor(const std::string& json, const std::string& file) : file_(file) {
    try {
      root_ = JsonParser(json).parse();
    } catch (const JsonFault& fault) {
      refuse(text("is not JSON: at byte ", fault.byte, ": ", fault.reason));
    }
  }

  BinsparseHeader header() const {
    if (!root_.is(Json::Kind::object)) refuse("is not an object of JSON");
    const Json* const inner = root_.find("binsparse");
    const Json& descriptor = inner ? *inner : root_;
    if (!descriptor.is(Json::Kind::object)) refuse("has a 'binsparse' that is not an object");
    BinsparseHeader out;
    out.version = letters(member(descriptor, "version"), "version");
    expect_version(out.version);
    out.format = letters(member(descriptor, "format"), "format");
    for (const Json& extent : list(member(descriptor, "shape"), "shape"))
      out.shape.push_back(whole(extent, "an extent of 'shape'"));
    out.stored = whole(member(descriptor, "number_of_stored_values"), "number_of_stored_values");
    out.levels = levels(descriptor, out.format);
    if (out.levels.order() != static_cast<int>(out.shape.size()))
      refuse(text("has a 'shape' of ", out.shape.size(), " extents, but the format ", out.format, " is of ",
                  out.levels.order()));
    take_types(member(descriptor, "data_types"), out);
    if (const Json* const structure = descriptor.find("structure")) take_structure(*structure, out);
    if (const Json* const fill = descriptor.find("fill")) {
      if (!fill->is(Json::Kind::boolean)) refuse("has a 'fill' that is neither true nor false");
      out.fill = fill->text == "true";
    }
    if (const Json* const base = descriptor.find("index_base")) out.index_base = whole(*base, "index_base");
    if (out.index_base > 1) refuse(text("has the 'index_base' ", out.index_base, ", expected 0 or 1"));
    if (inner)
      for (std::size_t at = 0; at < root_.names.size(); ++at)
        if (root_.names[at] != "binsparse") out.attributes[root_.names[at]] = root_.items[at].text;
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    throw ParseError(file_, 0, "its descriptor " + fault);
  }

  const Json& member(const Json& object, std::string_view name) const {
    const Json* const found = object.find(name);
    if (!found) refuse(text("lacks '", name, "'"));
    return *found;
  }
  std::string letters(const Json& value, std::string_view name) const {
    if (!value.is(Json::Kind::string)) refuse(text("has a '", name, "' that is not a string"));
    return value.text;
  }
  const std::vector<Json>& list(const Json& value, std::string_view name) const {
    if (!value.is(Json::Kind::array)) refuse(text("has a '", name, "' that is not an array"));
    return value.items;
  }
  std::int64_t whole(const Json& value, std::string_view name) const {
    const auto number = value.integer();
    if (!number || *number < 0)
      refuse(text("has ", value.text, " for ", name, ", expected an integer from 0 on"));
    return *number;
  }

  void expect_version(const std::string& version) const {
    const auto is = [&](std::string_view known) {
      return version == known || version.starts_with(text(known, '.')) ||
             version.starts_with(text(known, '-'));
    };
    if (!is("0.1") && !is("1"))
      refuse(text("is of version ", version, " of the specification, expected 0.1 or 1"));
  }

  BinsparseLevels levels(const Json& descriptor, const std::string& format) const {
    for (const auto& [name, levels] : binsparse_formats())
      if (name == format) return levels;
    if (format != "custom") {
      std::string names;
      for (const auto& known : binsparse_formats()) names += text(known.first, ", ");
      refuse(text("has the format '", format, "', expected ", names, "or custom"));
    }
    const Json& custom = member(descriptor, "custom");
    BinsparseLevels out;
    int order = 0;
    for (const Json* level = &member(custom, "level");; level = &member(*level, "level")) {
      const std::string kind = letters(member(*level, "level_desc"), "level_desc");
      if (kind == "element") break;
      if (kind != "dense" && kind != "sparse")
        refuse(text("has a level '", kind, "', expected dense, sparse or element"));
      const std::int64_t rank = whole(member(*level, "rank"), "rank");
      constexpr std::int64_t most = 32;  // modes of any tensor, more than can be read
      if (rank < 1 || rank > most) refuse(text("has a level of rank ", rank, ", expected 1 to ", most));
      order += static_cast<int>(rank);
      if (kind == "sparse")
        out.levels.push_back({.sparse = true, .modes = static_cast<int>(rank)});
      else
        out.levels.insert(out.levels.end(), static_cast<std::size_t>(rank), binsparse_dense);
    }
    out.modes.resize(static_cast<std::size_t>(order));
    std::iota(out.modes.begin(), out.modes.end(), 0);
    if (const Json* const transpose = custom.find("transpose")) take_transpose(*transpose, out.modes);
    return out;
  }

  void take_transpose(const Json& transpose, std::vector<int>& modes) const {
    std::vector<int> found;
    for (const Json& mode : list(transpose, "transpose")) {
      const std::int64_t number = whole(mode, "a mode of 'transpose'");
      found.push_back(static_cast<int>(std::min<std::int64_t>(number, std::ssize(modes))));
    }
    if (!std::is_permutation(modes.begin(), modes.end(), found.begin(), found.end()))
      refuse(text("has a 'transpose' that does not list each of ", modes.size(), " modes once"));
    modes = found;
  }

  void take_types(const Json& types, BinsparseHeader& out) const {
    if (!types.is(Json::Kind::object)) refuse("has 'data_types' that are not an object");
    for (std::size_t at = 0; at < types.names.size(); ++at)
      out.arrays[types.names[at]] = type_of(letters(types.items[at], types.names[at]), types.names[at]);
    if (!out.arrays.contains("values")) refuse("lacks the type of 'values' in 'data_types'");
    out.type = out.arrays["values"];
    out.field = out.type.complex                   ? MatrixMarketField::complex
                : out.type.stored.starts_with('f') ? MatrixMarketField::real
                                                   : MatrixMarketField::integer;
  }

  BinsparseType type_of(const std::string& name, const std::string& array) const {
    BinsparseType type;
    std::string_view inner = name;
    const auto unwrap = [&](std::string_view wrapper) {
      if (!inner.starts_with(wrapper) || !inner.ends_with(']')) return false;
      inner = inner.substr(wrapper.size(), inner.size() - wrapper.size() - 1);
      return true;
    };
    type.iso = unwrap("iso[");
    type.complex = unwrap("complex[");
    type.stored = inner;
    constexpr std::array known = {"uint8", "uint16", "uint32", "uint64",  "int8",   "int16",
                                  "int32", "int64",  "bint8",  "float32", "float64"};
    const bool is_known = std::find(known.begin(), known.end(), inner) != known.end();
    if (!is_known || (type.complex && !inner.starts_with("float")))
      refuse(text("has the type '", name, "' for ", array,
                  ", expected (u)int8 to (u)int64, float32, float64, bint8, complex[float32], "
                  "complex[float64] or iso[…] of one of them"));
    return type;
  }

  void take_structure(const Json& value, BinsparseHeader& out) const {
    const std::string structure = letters(value, "structure");
    for (const auto& [name, symmetry] : binsparse_structures)
      for (const bool upper : {false, true}) {
        if (structure != text(name, upper ? "_upper" : "_lower")) continue;
        out.symmetry = symmetry;
        out.upper = upper;
      }
    if (out.symmetry == MatrixMarketSymmetry::general)
      refuse(text("has the structure '", structure,
                  "', expected symmetric, hermitian or skew_symmetric, then _lower or _upper"));
    if (out.shape.size() != 2 || out.shape[0] != out.shape[1])
      refuse(text("has the structure '", structure, "', but the tensor is not a square matrix"));
    if (out.symmetry == MatrixMarketSymmetry::hermitian && !out.type.complex)
      refuse(text("has the structure '", structure, "', but the type ", out.type.str(), " is not complex"));
  }

  std::string file_;
  Json root_;
};

/// The specification's type for values of `Value`; nothing if there is none.
template <class Value>
std::optional<BinsparseType> binsparse_type() {
  if constexpr (std::same_as<Value, bool>)
    return BinsparseType{.stored = "bint8"};
  else if constexpr (std::integral<Value>)
    return BinsparseType{.stored = std::string(value_name<Value>())};
  else if constexpr (std::same_as<Value, float> || std::same_as<Value, double>)
    return BinsparseType{.stored = text("float", 8 * sizeof(Value))};
  else if constexpr (is_complex_v<Value>)
    return BinsparseType{.stored = text("float", 4 * sizeof(Value)), .complex = true};
  else
    return std::nullopt;
}

/// The name of a format; empty if it has none.
inline std::string_view binsparse_name(const BinsparseLevels& levels) {
  for (const auto& [name, known] : binsparse_formats())
    if (known == levels) return name;
  return {};
}

/// The names of the arrays of positions and coordinates of a sparse level whose first mode is at `depth`.
inline std::string binsparse_pointers(int depth) { return text("pointers_to_", depth); }
inline std::string binsparse_indices(int depth) { return text("indices_", depth); }

/// The descriptor of a file, as JSON.
inline std::string binsparse_descriptor(const BinsparseHeader& header) {
  std::string shape, types, attributes, custom;
  for (const std::int64_t extent : header.shape) shape += text(shape.empty() ? "" : ", ", extent);
  for (const auto& [array, type] : header.arrays)
    types += text(types.empty() ? "" : ", ", json_string(array), ": ", json_string(type.str()));
  for (const auto& [name, letters] : header.attributes)
    attributes += text(",\n ", json_string(name), ": ", json_string(letters));
  std::string_view format = binsparse_name(header.levels);
  if (format.empty()) {
    format = "custom";
    std::string inner = R"({"level_desc": "element"})";
    for (auto level = header.levels.levels.rbegin(); level != header.levels.levels.rend(); ++level)
      inner = text(R"({"level_desc": ")", level->sparse ? "sparse" : "dense", R"(", "rank": )", level->modes,
                   R"(, "level": )", inner, '}');
    std::string modes;
    for (const int mode : header.levels.modes) modes += text(modes.empty() ? "" : ", ", mode);
    const bool natural = std::is_sorted(header.levels.modes.begin(), header.levels.modes.end());
    custom = text(",\n  \"custom\": {", natural ? "" : text("\"transpose\": [", modes, "], "),
                  "\"level\": ", inner, '}');
  }
  std::string structure;
  for (const auto& [name, symmetry] : binsparse_structures)
    if (symmetry == header.symmetry)
      structure = text(",\n  \"structure\": \"", name, header.upper ? "_upper" : "_lower", '"');
  return text("{\"binsparse\": {\n  \"version\": ", json_string(header.version), ",\n  \"format\": \"",
              format, "\"", custom, structure, ",\n  \"shape\": [", shape,
              "],\n  \"number_of_stored_values\": ", header.stored, ",\n  \"data_types\": {", types, "}\n}",
              attributes, "}\n");
}

}  // namespace io

/// The levels in which a binsparse file stores a tensor of format F just as F does; nothing if the
/// specification has no such levels, as for blocks, N:M sparsity and the user's own levels.
template <TensorFormat F>
std::optional<BinsparseLevels> binsparse_levels() {
  BinsparseLevels out;
  if (F::is_blocked) return std::nullopt;
  for (std::size_t k = 0; k < F::properties.size(); ++k) {
    const LevelProperties level = F::properties[k];
    if (level.padded || level.branchless) return std::nullopt;
    const auto last = static_cast<std::size_t>(detail::Structure<F>::depth[k]);  // singletons continue a list
    const std::size_t modes = level.full ? 1 : last - k + 1;
    out.levels.push_back({.sparse = !level.full, .modes = static_cast<int>(modes)});
    k += modes - 1;
  }
  out.modes.assign(F::mode_of_level.begin(), F::mode_of_level.end());
  return out;
}

}  // namespace sporos
