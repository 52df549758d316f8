// SPDX-License-Identifier: Apache-2.0
/// @file binsparse.cpp
/// Binsparse files: those of the specification's own library, broken ones, and what is written.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>
#include <sporos/formats/io/read.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/read_only.hpp>

#include "files.hpp"
#include "scipy_files.hpp"

#ifdef SPOROS_HAVE_HDF5

namespace binsparse_tests {
namespace {

using namespace sporos;
using namespace sporos_test;

/// A file that the specification's own library wrote (binsparse/write.py).
std::string reference_file(const std::string& name) {
  return (std::filesystem::absolute(__FILE__).parent_path() / "binsparse" / name).string();
}

using Complex = Kokkos::complex<double>;

TEST(Binsparse, ReadsWhatTheReferenceLibraryWrote) {
  for (const auto& [file, format] : {std::pair("csr", "CSR"),
                                     {"csc", "CSC"},
                                     {"coo", "COOR"},
                                     {"cooc", "COOC"},
                                     {"dcsr", "DCSR"},
                                     {"dcsc", "DCSC"},
                                     {"dmatr", "DMATR"},
                                     {"dmatc", "DMATC"},
                                     {"csr_custom", "custom"},
                                     {"float32", "CSR"}}) {
    const std::string path = reference_file(std::string(file) + ".h5");
    EXPECT_TRUE(same_matrix(read_entries<double, 2>(path), scipy_matrix(1))) << path;
    const FileInfo info = inspect(path);
    EXPECT_EQ(info.kind, FileKind::binsparse);
    EXPECT_EQ(info.extents, (std::vector<std::int64_t>{4, 6}));
    EXPECT_EQ(info.stored, format[0] == 'D' && format[1] == 'M' ? 24 : 4);
    EXPECT_EQ(info.field, MatrixMarketField::real);
    EXPECT_EQ(info.binsparse->format, format);
  }
  EXPECT_EQ(read_binsparse_header(reference_file("csr_custom.h5")).levels, binsparse_levels_named("CSR"));
  EXPECT_EQ((read_entries<Complex, 2>(reference_file("complex.h5")).values(0)), Complex(1.5, 3));
  EXPECT_EQ(inspect(reference_file("complex.h5")).field, MatrixMarketField::complex);
  EXPECT_TRUE(identical(read_entries<bool, 2>(reference_file("bint8.h5")),
                        Entries<bool, 2>({2, 2}, {{{0, 0}, true}, {{1, 1}, true}})));
  EXPECT_TRUE(identical(read_entries<float, 2>(reference_file("iso.h5")),
                        Entries<float, 2>({4, 6}, {{{0, 1}, 7}, {{1, 0}, 7}, {{2, 5}, 7}, {{3, 4}, 7}})));
  EXPECT_TRUE(
      identical(read_entries<int, 1>(reference_file("dvec.h5")), Entries<int, 1>({3}, {{{1}, 5}, {{2}, 6}})));
  EXPECT_TRUE(identical(read_entries<double, 1>(reference_file("cvec.h5")),
                        Entries<double, 1>({9}, {{{2}, 5.0}, {{7}, 6.0}})));
  EXPECT_TRUE(identical(read_entries<double, 3>(reference_file("cube.h5")),
                        Entries<double, 3>({2, 3, 4}, {{{0, 2, 1}, 1.5}, {{1, 0, 3}, -2.0}})));
  ReadOptions options;
  options.group = "a/b";
  EXPECT_TRUE(identical(read_entries<bool, 2>(reference_file("group.h5"), options),
                        Entries<bool, 2>({2, 2}, {{{0, 1}, true}, {{1, 1}, false}})));
}

TEST(Binsparse, IsReadFromAPipeAndFromGzip) {
  const std::string bytes = content(reference_file("csr.h5"));
  io::PipeSource pipe(std::make_unique<io::MemoryStream>(bytes), "pipe");
  EXPECT_EQ(inspect(pipe).kind, FileKind::binsparse);
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(pipe), scipy_matrix(1)));
  const Folder folder;
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(folder.put("a.h5.gz", gzip(bytes))), scipy_matrix(1)));
}

/// Entries of random places and values that are not 0.
template <class Value, int Order>
Entries<Value, Order> random_entries(const Extents<Order>& extents, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::set<Extents<Order>> places;
  while (static_cast<int>(places.size()) < count) {
    Extents<Order> at{};
    for (std::size_t mode = 0; mode < at.size(); ++mode)
      at[mode] = static_cast<std::int64_t>(random() % static_cast<unsigned>(extents[mode]));
    places.insert(at);
  }
  std::vector<Extents<Order>> shuffled(places.begin(), places.end());
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  Entries<Value, Order> out(extents, count);
  for (int q = 0; q < count; ++q)
    out.set(q, shuffled[static_cast<std::size_t>(q)],
            static_cast<Value>(static_cast<float>(random() % 100 + 1)));
  return out;
}

/// Whether two lists hold the same entries, each coordinate once, in any order.
template <class Value, int Order>
bool same_entries(const Entries<Value, Order>& a, const Entries<Value, Order>& b) {
  const auto sorted = [](const Entries<Value, Order>& entries) {
    std::vector<std::pair<Extents<Order>, std::int64_t>> at;
    for (std::int64_t q = 0; q < entries.size(); ++q) at.emplace_back(entries.coordinate(q), q);
    std::sort(at.begin(), at.end());
    Entries<Value, Order> out(entries.extents, entries.size());
    for (std::size_t q = 0; q < at.size(); ++q)
      out.set(static_cast<std::int64_t>(q), at[q].first,
              entries.values(static_cast<std::size_t>(at[q].second)));
    return out;
  };
  return identical(sorted(a), sorted(b));
}

/// All ways to store `order` modes in dense levels and sparse ones of any number of modes.
std::vector<std::vector<BinsparseLevel>> all_levels(int order) {
  if (order == 0) return {{}};
  std::vector<std::vector<BinsparseLevel>> out;
  const auto add = [&](BinsparseLevel first) {
    for (auto rest : all_levels(order - first.modes)) {
      rest.insert(rest.begin(), first);
      out.push_back(std::move(rest));
    }
  };
  add({});
  for (int modes = 1; modes <= order; ++modes) add({.sparse = true, .modes = modes});
  return out;
}

template <int Order>
void expect_all_levels_to_hold(const Entries<double, Order>& entries) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  std::vector<int> modes(Order);
  std::iota(modes.begin(), modes.end(), 0);
  do
    for (const auto& levels : all_levels(Order)) {
      const BinsparseLevels how{levels, modes};
      write_binsparse(path, entries, {.levels = how, .level = static_cast<int>(levels.size()) % 2});
      const BinsparseHeader header = read_binsparse_header(path);
      EXPECT_EQ(header.levels, how);
      EXPECT_EQ(header.format == "custom", io::binsparse_name(how).empty());
      EXPECT_TRUE(same_entries(read_entries<double, Order>(path), entries)) << testing::PrintToString(modes);
    }
  while (Order < 4 && std::next_permutation(modes.begin(), modes.end()));
}

TEST(Binsparse, RoundTripsInAllLevelsAndOrdersOfModes) {
  expect_all_levels_to_hold(random_entries<double, 1>({17}, 6, 1));
  expect_all_levels_to_hold(random_entries<double, 2>({5, 9}, 11, 2));
  expect_all_levels_to_hold(random_entries<double, 3>({3, 4, 5}, 13, 3));
  expect_all_levels_to_hold(random_entries<double, 4>({2, 3, 2, 4}, 9, 4));
  expect_all_levels_to_hold(Entries<double, 1>({0}, 0));
  expect_all_levels_to_hold(Entries<double, 2>({0, 4}, 0));
  expect_all_levels_to_hold(Entries<double, 2>({3, 4}, 0));
  expect_all_levels_to_hold(Entries<double, 3>({3, 0, 2}, 0));
}

template <class Value>
void expect_values_to_be_kept(const std::string& type) {
  const Folder folder;
  const auto entries = random_entries<Value, 2>({6, 7}, 9, 5);
  write_entries(folder.file("a.h5"), entries);
  EXPECT_TRUE(same_entries(read_entries<Value, 2>(folder.file("a.h5")), entries)) << type;
  EXPECT_EQ(read_binsparse_header(folder.file("a.h5")).type.str(), type);
}

TEST(Binsparse, RoundTripsAllTypesOfValues) {
  expect_values_to_be_kept<double>("float64");
  expect_values_to_be_kept<float>("float32");
  expect_values_to_be_kept<Complex>("complex[float64]");
  expect_values_to_be_kept<Kokkos::complex<float>>("complex[float32]");
  expect_values_to_be_kept<std::int8_t>("int8");
  expect_values_to_be_kept<std::uint8_t>("uint8");
  expect_values_to_be_kept<std::int16_t>("int16");
  expect_values_to_be_kept<std::uint16_t>("uint16");
  expect_values_to_be_kept<std::int32_t>("int32");
  expect_values_to_be_kept<std::uint32_t>("uint32");
  expect_values_to_be_kept<std::int64_t>("int64");
  expect_values_to_be_kept<std::uint64_t>("uint64");
  expect_values_to_be_kept<bool>("iso[bint8]");  // all true
  const Folder folder;
  EXPECT_THROW(write_entries(folder.file("a.h5"), random_entries<half, 2>({6, 7}, 9, 5)), FormatError);
  EXPECT_THROW(write_entries(folder.file("a.h5"), random_entries<bfloat16, 2>({6, 7}, 9, 5)), FormatError);
  EXPECT_THAT(folder.names(), testing::IsEmpty());
}

TEST(Binsparse, StoresOneOfValuesThatAreAllTheSame) {
  const Folder folder;
  const Entries<double, 2> sevens({2, 3}, {{{0, 1}, 7.0}, {{1, 0}, 7.0}});
  const auto type = [&](const Entries<double, 2>& entries, const BinsparseWriteOptions& options) {
    write_binsparse(folder.file("a.h5"), entries, options);
    EXPECT_TRUE(same_entries(read_entries<double, 2>(folder.file("a.h5")), entries));
    return read_binsparse_header(folder.file("a.h5")).type.str();
  };
  EXPECT_EQ(type(sevens, {}), "iso[float64]");
  EXPECT_EQ(type(sevens, {.iso = false}), "float64");
  EXPECT_EQ(type(sevens, {.levels = binsparse_levels_named("DMATR")}), "float64");  // with zeros
  EXPECT_EQ(type(Entries<double, 2>({2, 3}, {{{0, 1}, 0.0}, {{1, 0}, -0.0}}), {}), "float64");
  write_binsparse(folder.file("a.h5"), Entries<bool, 2>({2, 2}, {{{0, 1}, true}, {{1, 1}, true}}));
  EXPECT_EQ(inspect(folder.file("a.h5")).field, MatrixMarketField::pattern);
  write_binsparse(folder.file("a.h5"), Entries<bool, 2>({2, 2}, {{{0, 1}, false}, {{1, 1}, false}}));
  EXPECT_EQ(inspect(folder.file("a.h5")).field, MatrixMarketField::integer);
}

TEST(Binsparse, TensorsAreStoredAsTheirFormatStoresThem) {
  EXPECT_EQ(binsparse_levels<CSR<>>(), binsparse_levels_named("CSR"));
  EXPECT_EQ(binsparse_levels<CSC<>>(), binsparse_levels_named("CSC"));
  EXPECT_EQ(binsparse_levels<DCSR<>>(), binsparse_levels_named("DCSR"));
  EXPECT_EQ(binsparse_levels<DCSC<>>(), binsparse_levels_named("DCSC"));
  EXPECT_EQ((binsparse_levels<COO<2>>()), binsparse_levels_named("COOR"));
  EXPECT_EQ((binsparse_levels<COO<2, ColumnMajor>>()), binsparse_levels_named("COOC"));
  EXPECT_EQ((binsparse_levels<DenseMatrix<>>()), binsparse_levels_named("DMATR"));
  EXPECT_EQ((binsparse_levels<DenseMatrix<ColumnMajor>>()), binsparse_levels_named("DMATC"));
  EXPECT_EQ((binsparse_levels<DenseVector>()), binsparse_levels_named("DVEC"));
  EXPECT_EQ((binsparse_levels<SparseVector<>>()), binsparse_levels_named("CVEC"));
  const BinsparseLevel sparse{.sparse = true};
  EXPECT_EQ((binsparse_levels<CSF<3, ModeOrder<2, 0, 1>>>()),
            (BinsparseLevels{{sparse, sparse, sparse}, {2, 0, 1}}));
  EXPECT_EQ((binsparse_levels<BCSR<2, 2>>()), std::nullopt);
  EXPECT_EQ((binsparse_levels<NM<2, 4>>()), std::nullopt);

  const Folder folder;
  const auto entries = random_entries<double, 2>({8, 8}, 20, 6);
  const auto format_of = [&](const auto& tensor) {
    write(folder.file("a.h5"), tensor);
    EXPECT_TRUE(same_entries(read_entries<double, 2>(folder.file("a.h5")), entries));
    return read_binsparse_header(folder.file("a.h5")).format;
  };
  EXPECT_EQ(format_of(assemble<CSC<>>(entries, Duplicates::sum)), "CSC");
  EXPECT_EQ(format_of(assemble<DCSR<>>(entries, Duplicates::sum)), "DCSR");
  EXPECT_EQ(format_of(assemble<COO<2>>(entries, Duplicates::sum)), "COOR");
  EXPECT_EQ(format_of(assemble<DenseMatrix<ColumnMajor>>(entries, Duplicates::sum)), "DMATC");
  EXPECT_EQ(format_of(assemble<BCSR<2, 2>>(entries, Duplicates::sum)), "CSR");
  const Tensor<const double, CSC<>> only_read = assemble<CSC<>>(entries, Duplicates::sum);
  EXPECT_EQ(format_of(only_read), "CSC");
  const auto again = read<CSR<>>(folder.file("a.h5"));
  EXPECT_EQ(again.nnz(), 20);
}

TEST(Binsparse, OneTriangleOfASymmetricMatrixIsStored) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  using enum MatrixMarketSymmetry;
  const Complex d(2, 0), v(3, 4);
  for (const auto& [symmetry, image, diagonal] :
       {std::tuple(symmetric, v, v), {hermitian, Complex(3, -4), d}, {skew_symmetric, -v, Complex(0)}}) {
    Entries<Complex, 2> all({3, 3}, {{{2, 0}, v}, {{0, 2}, image}, {{1, 1}, diagonal}});
    if (symmetry == skew_symmetric) all = Entries<Complex, 2>({3, 3}, {{{2, 0}, v}, {{0, 2}, image}});
    write_binsparse(path, all, {.symmetry = symmetry});
    EXPECT_EQ(inspect(path).symmetry(), symmetry);
    EXPECT_EQ(inspect(path).stored, symmetry == skew_symmetric ? 1 : 2);
    EXPECT_TRUE(same_entries(read_entries<Complex, 2>(path), all));
    ReadOptions one;
    one.expand_symmetry = false;
    EXPECT_EQ((read_entries<Complex, 2>(path, one).size()), *inspect(path).stored);
    all.values(0) = Complex(5, 5);
    EXPECT_THROW(write_binsparse(path, all, {.symmetry = symmetry}), FormatError);
  }
}

TEST(Binsparse, KeepsAttributesOfTheUser) {
  const Folder folder;
  write_binsparse(folder.file("a.h5"), scipy_matrix(1),
                  {.attributes = {{"author", "Ω \"x\""}, {"source", "a\nb"}}});
  const auto attributes = read_binsparse_header(folder.file("a.h5")).attributes;
  EXPECT_THAT(attributes,
              testing::ElementsAre(testing::Pair("author", "Ω \"x\""), testing::Pair("source", "a\nb")));
  EXPECT_THAT(read_binsparse_header(reference_file("csr_custom.h5")).attributes,
              testing::ElementsAre(testing::Pair("author", "Ω \"quoted\""), testing::Pair("year", "2026")));
}

TEST(Binsparse, HoldsExtentsBeyond32Bits) {
  const Folder folder;
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const Entries<double, 2> entries({2 * far, far}, {{{far, 3}, 1.5}, {{0, far - 1}, 2.5}});
  write_binsparse(folder.file("a.h5"), entries, {.levels = binsparse_levels_named("DCSR")});
  EXPECT_TRUE(same_entries(read_entries<double, 2>(folder.file("a.h5")), entries));
  EXPECT_EQ(read_binsparse_header(folder.file("a.h5")).arrays.at("indices_0").stored, "int64");
  write_binsparse(folder.file("a.h5"), entries,
                  {.levels = io::default_binsparse_levels(2).modes == std::vector{0, 1}
                                 ? binsparse_levels_named("COOR")
                                 : binsparse_levels_named("COOC")});
  EXPECT_TRUE(same_entries(read_entries<double, 2>(folder.file("a.h5")), entries));
  EXPECT_THROW(write_binsparse(folder.file("a.h5"), Entries<double, 3>({far, far, far}, 0),
                               {.levels = BinsparseLevels{{{}, {}, {}}, {0, 1, 2}}}),
               FormatError);
}

/// A file of a CSR matrix of 2 x 3 with entries at (0, 1) and (1, 2), of which parts are replaced.
struct Parts {
  std::string version = R"("0.1")", format = R"("CSR")", shape = "[2, 3]", stored = "2",
              types = R"("pointers_to_1": "int64", "indices_1": "int64", "values": "float64")", more = {};
  std::vector<std::int64_t> pointers = {0, 1, 2}, indices = {1, 2};
  std::vector<double> values = {5, 6};

  std::string write(const Folder& folder) const {
    return write_with(folder, text(R"({"binsparse": {"version": )", version, R"(, "format": )", format,
                                   R"(, "shape": )", shape, R"(, "number_of_stored_values": )", stored,
                                   R"(, "data_types": {)", types, "}", more, "}}"));
  }
  std::string write_with(const Folder& folder, const std::string& descriptor) const {
    const std::string path = folder.file("a.h5");
    io::Hdf5Writer file(path, 0, 0);
    file.put("pointers_to_1", pointers.data(), std::ssize(pointers));
    file.put("indices_1", indices.data(), std::ssize(indices));
    file.put("values", values.data(), std::ssize(values));
    if (!descriptor.empty()) file.put_attribute("binsparse", descriptor);
    return folder.put("a.h5", file.image());
  }
};

void expect_fault(const Parts& parts, const std::string& reason, const std::string& array = "") {
  const Folder folder;
  const std::string path = parts.write(folder);
  expect_parse_error(path + (array.empty() ? "" : ": " + array), 0, reason,
                     [&] { read_entries<double, 2>(path); });
}

TEST(Binsparse, RefusesDescriptorsThatSayTooLittleOrTheImpossible) {
  const Folder folder;
  EXPECT_EQ((read_entries<double, 2>(Parts().write(folder)).size()), 2);
  expect_fault({.version = R"("2.0")"}, "is of version 2.0 of the specification, expected 0.1 or 1");
  expect_fault({.version = "1"}, "a 'version' that is not a string");
  expect_fault({.format = R"("LIL")"}, "has the format 'LIL', expected DVEC, ");
  expect_fault({.format = R"("custom")"}, "lacks 'custom'");
  expect_fault({.shape = "[2, 3, 4]"}, "a 'shape' of 3 extents, but the format CSR is of 2");
  expect_fault({.shape = "[2, -3]"}, "has -3 for an extent of 'shape', expected an integer from 0 on");
  expect_fault({.shape = "[2, 3.5]"}, "has 3.5 for an extent");
  expect_fault({.shape = "6"}, "a 'shape' that is not an array");
  expect_fault({.stored = "3"}, "announces 3 stored values, but its levels have 2");
  expect_fault({.types = R"("values": "float64")"}, "lacks the type of 'pointers_to_1' in 'data_types'");
  expect_fault({.types = R"("pointers_to_1": "int64")"}, "lacks the type of 'values'");
  expect_fault({.types = R"("values": "decimal")"}, "the type 'decimal' for values");
  expect_fault({.types = R"("values": "complex[int32]")"}, "the type 'complex[int32]' for values");
  expect_fault({.types = R"("pointers_to_1": "int64", "indices_1": "int64", "values": "float32")"},
               "its elements are of type float64, but the descriptor says float32", "values");
  expect_fault({.more = R"(, "structure": "symmetric")"}, "the structure 'symmetric', expected");
  expect_fault({.more = R"(, "structure": "symmetric_lower")"}, "is not a square matrix");
  expect_fault({.shape = "[2, 2]", .more = R"(, "structure": "hermitian_upper")"}, "is not complex");
  expect_fault({.more = R"(, "fill": 1)"}, "a 'fill' that is neither true nor false");
  expect_fault({.more = R"(, "fill": true)"}, "lacks the type of 'fill_value'");
  expect_fault({.more = R"(, "index_base": 2)"}, "the 'index_base' 2, expected 0 or 1");
  expect_parse_error(Parts().write_with(folder, ""), 0, "the attribute 'binsparse' is missing",
                     [&] { read_entries<double, 2>(folder.file("a.h5")); });
  expect_parse_error(Parts().write_with(folder, "{"), 0, "its descriptor is not JSON: at byte 1",
                     [&] { read_entries<double, 2>(folder.file("a.h5")); });
  expect_parse_error(Parts().write_with(folder, "[]"), 0, "is not an object",
                     [&] { read_entries<double, 2>(folder.file("a.h5")); });
  expect_parse_error(Parts().write_with(folder, R"({"binsparse": {}})"), 0, "lacks 'version'",
                     [&] { read_entries<double, 2>(folder.file("a.h5")); });
  EXPECT_THROW((read_entries<double, 3>(Parts().write(folder))), ShapeError);
}

TEST(Binsparse, RefusesCustomFormatsThatAreNone) {
  const auto custom = [](const std::string& inner) {
    return Parts{.format = R"("custom")", .more = R"(, "custom": )" + inner};
  };
  expect_fault(custom("{}"), "lacks 'level'");
  expect_fault(custom(R"({"level": {"level_desc": "hash"}})"),
               "a level 'hash', expected dense, sparse or element");
  expect_fault(custom(R"({"level": {"level_desc": "dense", "level": {}}})"), "lacks 'rank'");
  expect_fault(custom(R"({"level": {"level_desc": "dense", "rank": 0}})"), "a level of rank 0");
  expect_fault(custom(R"({"level": {"level_desc": "dense", "rank": 2}})"), "lacks 'level'");
  const std::string csr = R"({"level_desc": "dense", "rank": 1, "level": {"level_desc": "sparse", "rank": 1,
                             "level": {"level_desc": "element"}}})";
  expect_fault(custom(R"({"transpose": [0, 0], "level": )" + csr + "}"), "each of 2 modes once");
  expect_fault(custom(R"({"transpose": [0], "level": )" + csr + "}"), "each of 2 modes once");
  const Folder folder;
  EXPECT_EQ((read_entries<double, 2>(custom(R"({"level": )" + csr + "}").write(folder)).size()), 2);
}

TEST(Binsparse, RefusesArraysThatDoNotFitTogether) {
  expect_fault({.pointers = {0, 2}}, "it has 2 elements, expected 2 + 1", "pointers_to_1");
  expect_fault({.pointers = {1, 1, 2}}, "element 0 is 1, expected 0", "pointers_to_1");
  expect_fault({.pointers = {0, 2, 1}}, "element 2 is 1, expected at least 2", "pointers_to_1");
  expect_fault({.pointers = {0, 1, 3}}, "it has 2 elements, expected 3, where the last position ends",
               "indices_1");
  expect_fault({.indices = {1, 3}}, "element 1 is 3, expected 0 to 2", "indices_1");
  expect_fault({.indices = {-1, 2}}, "element 0 is -1, expected 0 to 2", "indices_1");
  expect_fault({.pointers = {0, 2, 2}, .indices = {1, 1}}, "element 1 is 1, expected more than 1",
               "indices_1");
  expect_fault({.pointers = {0, 2, 2}, .indices = {2, 1}}, "element 1 is 1, expected more than 2",
               "indices_1");
  expect_fault({.values = {5}}, "it has 1 elements, expected 2", "values");
  expect_fault({.types = R"("pointers_to_1": "int64", "indices_1": "int64", "values": "iso[float64]")"},
               "it has 2 elements, expected 1, as all values are the same", "values");
  expect_fault({.types = R"("pointers_to_1": "int64", "indices_1": "int64", "values": "complex[float64]")"},
               "it has 2 elements, expected 2 pairs", "values");
  expect_fault({.format = R"("COO")", .types = R"("indices_0": "int64", "values": "float64")"},
               "the array indices_0 is missing");
  expect_fault({.shape = "[3, 3]", .more = R"(, "structure": "symmetric_lower")", .pointers = {0, 1, 2, 2}},
               "the entry at row 0, column 1 lies above the diagonal");
  // 3 * 2^62 positions.
  expect_fault({.format = R"("DMATR")", .shape = "[4611686018427387904, 3]"},
               "more positions than 64 bits count");
  const Folder folder;
  const std::string path = Parts{.values = {5, 6.5}}.write(folder);
  expect_parse_error(path + ": values", 0, "element 1 is 6.5, which int32 cannot hold",
                     [&] { read_entries<int, 2>(path); });
}

TEST(Binsparse, CountsFromOneIfTheFileDoes) {
  const Folder folder;
  const std::string path =
      Parts{.more = R"(, "index_base": 1)", .pointers = {1, 2, 3}, .indices = {2, 3}}.write(folder);
  EXPECT_TRUE(
      identical(read_entries<double, 2>(path), Entries<double, 2>({2, 3}, {{{0, 1}, 5.0}, {{1, 2}, 6.0}})));
  expect_fault({.more = R"(, "index_base": 1)", .pointers = {1, 2, 3}, .indices = {2, 4}},
               "element 1 is 4, expected 1 to 3", "indices_1");
  expect_fault({.more = R"(, "index_base": 1)",
                .pointers = {1, 2, 3},
                .indices = {std::numeric_limits<std::int64_t>::min(), 3}},
               "element 0 is 0, expected 1 to 3", "indices_1");
  expect_fault({.pointers = {0, 1, 2}, .indices = {std::numeric_limits<std::int64_t>::max(), 2}},
               "element 0 is 9223372036854775807, expected 0 to 2", "indices_1");
}

TEST(Binsparse, AnArrayOfNoDataTakesNoMemory) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  {
    // 2^60 elements are announced, and none is there.
    const io::Hdf5Session session;
    const io::Hdf5Object file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t many = hsize_t{1} << 58, chunk = 1024;
    const io::Hdf5Object space(H5Screate_simple(1, &many, nullptr), H5Sclose);
    const io::Hdf5Object how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(how, 1, &chunk);
    const io::Hdf5Object array(
        H5Dcreate2(file, "indices_0", H5T_NATIVE_INT64, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(array);
  }
  const io::Hdf5Reader file(path);
  expect_parse_error(path + ": indices_0", 0,
                     "it announces 288230376151711744 elements of type int64, but the file has 0",
                     [&] { file.array("indices_0"); });
  expect_parse_error(path, 0, "the array values is missing", [&] { file.array("values"); });
}

TEST(Binsparse, TakesNoDataFromOtherFiles) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const std::string secret = folder.put("secret", "12345678");
  {
    const io::Hdf5Session session;
    const io::Hdf5Object file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t one = 1;
    const io::Hdf5Object space(H5Screate_simple(1, &one, nullptr), H5Sclose);
    const io::Hdf5Object how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(how, secret.c_str(), 0, 8);
    const io::Hdf5Object array(
        H5Dcreate2(file, "outside", H5T_NATIVE_INT64, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(array);
    ASSERT_GE(H5Lcreate_external("b.h5", "/values", file, "linked", H5P_DEFAULT, H5P_DEFAULT), 0);
  }
  const io::Hdf5Reader file(path);
  expect_parse_error(path + ": outside", 0, "are in other files", [&] { file.array("outside"); });
  expect_parse_error(path + ": linked", 0, "a link to another place", [&] { file.array("linked"); });
}

TEST(Binsparse, RefusesAFileThatIsCutOffAnywhere) {
  const Folder folder;
  for (const std::string name : {"csr.h5", "cube.h5"}) {
    const std::string bytes = content(reference_file(name));
    for (std::size_t size = 8; size < bytes.size(); size += 37) {
      const std::string path = folder.put("a.h5", std::string_view(bytes).substr(0, size));
      EXPECT_THROW((read_entries<double, 2>(path)), ParseError) << name << " cut at " << size;
    }
  }
  expect_parse_error(folder.put("a.h5", content(reference_file("csr.h5")).substr(0, 3000)), 0,
                     "it is not a complete HDF5 file: truncated file",
                     [&] { read_entries<double, 2>(folder.file("a.h5")); });
  EXPECT_THROW((read_entries<double, 2>(folder.file("none.h5"))), IoError);
  EXPECT_THROW((read_binsparse_entries<double, 2>(folder.path())), Error);
  expect_parse_error(folder.put("b.h5", "no HDF5"), 0,
                     "it is not a complete HDF5 file: file signature not found",
                     [&] { read_binsparse_entries<double, 2>(folder.file("b.h5")); });
}

TEST(Binsparse, LeavesNothingHalfWritten) {
  const Folder folder;
  const std::string path = folder.put("a.h5", "as it was");
  const Entries<double, 2> twice({2, 2}, {{{0, 1}, 1.0}, {{0, 1}, 2.0}});
  EXPECT_THROW(write_binsparse(path, twice), FormatError);
  EXPECT_THROW(write_binsparse(path, scipy_matrix(1), {.levels = binsparse_levels_named("CVEC")}),
               FormatError);
  EXPECT_THROW(binsparse_levels_named("LIL"), FormatError);
  EXPECT_THROW(write_binsparse(folder.file("none/a.h5"), scipy_matrix(1)), IoError);
  EXPECT_EQ(content(path), "as it was");
  EXPECT_THAT(folder.names(), testing::ElementsAre("a.h5"));
  write_entries(path, scipy_matrix(1));
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(path), scipy_matrix(1)));
  EXPECT_THAT(folder.names(), testing::ElementsAre("a.h5"));
}

TEST(Binsparse, AFullDiskIsAnErrorThatLeavesTheOldFile) {
  const Folder folder;
  const std::string path = folder.put("a.h5", "as it was");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 20000;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_binsparse(path, random_entries<double, 2>({100, 100}, 5000, 7)), IoError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(content(path), "as it was");
  EXPECT_THAT(folder.names(), testing::ElementsAre("a.h5"));
  write_binsparse(path, scipy_matrix(1));
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(path), scipy_matrix(1)));
}

TEST(Binsparse, LeavesTheMessagesOfHdf5AsTheCallerSetThem) {
  H5E_auto2_t before = nullptr, after = nullptr;
  void* stream = nullptr;
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &before, &stream);
  const Folder folder;
  EXPECT_THROW((read_entries<double, 2>(folder.put("a.h5", std::string(io::hdf5_magic) + "..."))),
               ParseError);
  H5Eget_auto2(H5E_DEFAULT, &after, &stream);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace binsparse_tests

#endif
