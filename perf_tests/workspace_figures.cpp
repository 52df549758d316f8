// SPDX-License-Identifier: Apache-2.0
/// @file workspace_figures.cpp
/// The evaluations of Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI
/// 2024), section 7, at the scale of one machine: figures 14 to 24 and table 3. scripts/plot draws them.
///
///     perf_workspace_figures --rounds 20 --json workspace_figures.json MATRIX.mtx.gz... TENSOR.tns.gz...
///
/// As there, the second factor of a product of matrices is the transpose of the first, its columns shifted by
/// one. Each case says which figure it belongs to and its place on the horizontal axis, "x". All results are
/// compared.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nips_like.hpp"
#include "peers.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// What a policy needs that gathers in a class template of the value's type and the order.
template <template <class, int> class W>
struct PolicyOf {
  static constexpr bool takes(int) { return true; }
  template <class T, int Order>
  using workspace = W<T, Order>;
};

struct MapPolicy;
struct VectorPolicy;
struct NoPolicy;

/// One extreme of insert-sort-merge: every insertion sorts (figure 21).
template <class T, int Order>
struct MapWorkspace {
  static constexpr bool in_order = true;
  std::map<Extents<Order>, T> sums;

  MapWorkspace(const MapPolicy&, const Extents<Order>&) {}
  void add(const Extents<Order>& at, const T& value) { sums[at] += value; }
  template <class Take>
  void drain(const Take& take) {
    for (const auto& [at, sum] : sums) take(at, sum);
    sums.clear();
  }
  static std::int64_t most_bytes(const MapPolicy&, const Extents<Order>&, std::int64_t adds) {
    return adds * static_cast<std::int64_t>(sizeof(std::pair<Extents<Order>, T>) + 64);
  }
};
struct MapPolicy : PolicyOf<MapWorkspace> {
  static constexpr std::string_view name = "map";
};

/// The other: everything is sorted at the end.
template <class T, int Order>
struct VectorWorkspace {
  static constexpr bool in_order = true;
  std::vector<std::pair<Extents<Order>, T>> components;

  VectorWorkspace(const VectorPolicy&, const Extents<Order>&) {}
  void add(const Extents<Order>& at, const T& value) { components.emplace_back(at, value); }
  template <class Take>
  void drain(const Take& take) {
    std::sort(components.begin(), components.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t at = 0; at < components.size();) {
      T sum{};
      const Extents<Order> here = components[at].first;
      for (; at < components.size() && components[at].first == here; ++at) sum += components[at].second;
      take(here, sum);
    }
    components.clear();
  }
  static std::int64_t most_bytes(const VectorPolicy&, const Extents<Order>&, std::int64_t adds) {
    return 2 * adds * static_cast<std::int64_t>(sizeof(std::pair<Extents<Order>, T>));
  }
};
struct VectorPolicy : PolicyOf<VectorWorkspace> {
  static constexpr std::string_view name = "vector";
};

/// The lower bound of section 5.3: the loops without a workspace. What they insert is added up, so that it is
/// computed, and the result is empty.
template <class T, int Order>
struct NoWorkspace {
  static constexpr bool in_order = true;
  T sum{};
  std::int64_t coordinates = 0;

  NoWorkspace(const NoPolicy&, const Extents<Order>&) {}
  void add(const Extents<Order>& at, const T& value) {
    sum += value;
    for (const std::int64_t coordinate : at) coordinates ^= coordinate;
  }
  template <class Take>
  void drain(const Take&) {
    ::benchmark::DoNotOptimize(sum);
    ::benchmark::DoNotOptimize(coordinates);
  }
  static std::int64_t most_bytes(const NoPolicy&, const Extents<Order>&, std::int64_t) { return 0; }
};
struct NoPolicy : PolicyOf<NoWorkspace> {
  static constexpr std::string_view name = "no workspace";
};

/// @throws StateError unless both tensors store the same coordinates, with about the same values
template <class T>
void expect_same(const std::string& who, const T& made, const T& expected) {
  const auto a = entries(made), b = entries(expected);
  bool same = a.size() == b.size();
  for (std::int64_t e = 0; same && e < a.size(); ++e) {
    const double x = a.values(static_cast<std::size_t>(e)), y = b.values(static_cast<std::size_t>(e));
    same = a.coordinate(e) == b.coordinate(e) && std::abs(x - y) <= 1e-10 * (1 + std::abs(y));
  }
  if (!same) throw StateError(text(who, " computes another result"));
}

/// Bytes of all arrays of a tensor.
template <class T>
std::int64_t bytes_of(const T& tensor) {
  return storage_bound<typename T::format_type, typename T::value_type>(tensor.extents(), tensor.nnz()).bytes;
}

/// Ways of computing one result, each added under its name.
template <class F>
class Ways {
 public:
  Ways(std::string name, const Extents<F::order>& extents) : name_(std::move(name)), extents_(extents) {}

  /// @param write  makes the statement for a result
  template <class Write>
  void add(const std::string& who, Role role, const Write& write) {
    const auto run = [write, extents = extents_] {
      const Tensor<double, F> A(extents);
      write(A).run();
      return A;
    };
    const auto made = run();
    if (expected_.extents()[0] == 0)
      expected_ = made;
    else
      expect_same(text(name_, ", ", who), made, expected_);
    contenders_.emplace_back(who, role, run);
  }
  /// A way that makes nothing that could be compared, or is compared by its caller.
  void add(Contender contender) { contenders_.push_back(std::move(contender)); }

  const Tensor<double, F>& expected() const { return expected_; }

  void compare(Report& report, json about) const {
    about["result_nnz"] = expected_.nnz();
    about["result_bytes"] = bytes_of(expected_);
    report.compare({name_, std::move(about)}, contenders_);
  }

 private:
  std::string name_;
  Extents<F::order> extents_;
  Tensor<double, F> expected_;
  std::vector<Contender> contenders_;
};

/// Whether a dense workspace over so many coordinates is measured: it takes 9 bytes for each.
bool dense_fits(std::int64_t rows, std::int64_t columns) { return rows * columns <= std::int64_t{400} << 20; }

AccumulationSettings settings(bool pipelined, bool double_buffered) {
  AccumulationSettings out;
  out.pipelined = pipelined;
  out.double_buffered = double_buffered;
  return out;
}

/// The transpose, its columns shifted by one.
Rows shifted_transpose(const Rows& rows) {
  const std::int64_t columns = rows.rows();
  return rows.transposed().with_columns([columns](std::int64_t column) { return (column + 1) % columns; });
}

/// Outer products into CSR by every policy.
void outer_product(Report& report, const std::string& name, const Rows& left, const Rows& right, json about) {
  if (!report.wants(name)) return;
  const auto by_rows = left.matrix<>(3);
  const auto B = convert<CSC<>>(by_rows);
  const auto C = right.matrix<>(4);
  Ways<CSR<>> ways(name, {B.extent(0), C.extent(1)});
  const auto product = [=](const auto& A) { return assign(A(i, j), B(i, k) * C(k, j)); };
  const auto with = [&](const auto& policy) {
    ways.add(std::string(std::remove_cvref_t<decltype(policy)>::name), Role::variant,
             [=](const auto& A) { return product(A).workspace(policy); });
  };
  ways.add("sporos", Role::ours, product);
  ways.add("runs", Role::variant, [=](const auto& A) { return product(A).template use<MergedNest>(); });
  with(coordinate_workspace);
  with(hash_workspace);
  with(bucket_workspace);
  ways.add("bucket, all array kept once", Role::variant, [=](const auto& A) {
    return product(A).workspace(BucketPolicy{.settings = settings(false, false)});
  });
  ways.add("bucket, pipelined, all array kept once", Role::variant, [=](const auto& A) {
    return product(A).workspace(BucketPolicy{.settings = settings(true, false)});
  });
  ways.add("bucket, pipelined", Role::variant, [=](const auto& A) {
    return product(A).workspace(BucketPolicy{.settings = settings(true, true)});
  });
  if (dense_fits(B.extent(0), C.extent(1))) with(dense_workspace);
  with(MapPolicy{});
  with(VectorPolicy{});
  ways.add({"no workspace", Role::yardstick, [=] {
              const Tensor<double, CSR<>> A({B.extent(0), C.extent(1)});
              product(A).workspace(NoPolicy{}).run();
            }});
#ifdef SPOROS_HAVE_EIGEN
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
  const auto b = left.matrix<double, std::int32_t>(3), c = right.matrix<double, std::int32_t>(4);
  ways.add({"eigen, by rows", Role::peer,
            [b = eigen(b), c = eigen(c)] { return std::make_shared<const Sparse>(b * c); }});
#endif
  std::int64_t products = 0;
  const auto columns = B.level<1>().view();
  const auto rows = C.level<1>().view();
  for (std::int64_t row = 0; row < C.extent(0); ++row)
    products += (columns.positions[row + 1] - columns.positions[row]) *
                (rows.positions[row + 1] - rows.positions[row]);
  about["products"] = products;
  ways.compare(report, std::move(about));
}

/// Products by rows into CSR, gathered row by row (figures 14 and 15).
void row_product(Report& report, const std::string& name, const Rows& left, const Rows& right, json about) {
  if (!report.wants(name)) return;
  const auto B = left.matrix<>(3);
  const auto C = right.matrix<>(4);
  Ways<CSR<>> ways(name, {B.extent(0), C.extent(1)});
  const auto product = [=](const auto& A) { return assign(A(i, j), B(i, k) * C(k, j)); };
  ways.add("sporos", Role::ours, product);
  ways.add("dense workspace", Role::variant,
           [=](const auto& A) { return product(A).generic().workspace(dense_workspace); });
  ways.add("sorted workspace", Role::variant,
           [=](const auto& A) { return product(A).generic().workspace(sorted_workspace); });
#ifdef SPOROS_HAVE_EIGEN
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
  const auto b = left.matrix<double, std::int32_t>(3), c = right.matrix<double, std::int32_t>(4);
  ways.add(
      {"eigen", Role::peer, [b = eigen(b), c = eigen(c)] { return std::make_shared<const Sparse>(b * c); }});
#endif
  ways.compare(report, std::move(about));
}

/// A matrix of which every tenth column has nonzeros, `each` of them, here and there (section 7.2).
Rows tenth_of_columns(std::int64_t rows, std::int64_t columns, std::int64_t each) {
  std::mt19937_64 draw(5);
  std::int64_t count = 0;
  return from_pairs(columns, rows, columns / 10 * each,
                    [&] {
                      const std::int64_t column = count++ / each * 10;
                      return std::pair(column,
                                       static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(rows)));
                    })
      .transposed();
}

/// `each` columns of each row, or fewer where one is drawn twice: of all columns, or of a thousand that are
/// spread over a larger extent, so that two factors have as many columns in common over any extent.
Rows factor(std::int64_t rows, std::int64_t columns, std::int64_t each, unsigned seed) {
  const std::int64_t drawn = std::min<std::int64_t>(columns, 1'000);
  std::mt19937_64 draw(seed);
  std::int64_t count = 0;
  return from_pairs(rows, columns, rows * each, [&] {
    const auto column = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(drawn));
    return std::pair(count++ / each, column * (columns / drawn));
  });
}

/// SpMTTKRP A(i, j) = B(k, l, i) * C(k, j) * D(l, j), loops over k, l, i, j.
void mttkrp(Report& report, const std::string& name, const Tensor<double, CSF<3>>& B, std::int64_t columns,
            std::int64_t each, json about) {
  if (!report.wants(name)) return;
  using Wide = CSR<std::int64_t, std::int64_t>;
  const auto C = factor(B.extent(0), columns, each, 4).matrix<double, std::int64_t, std::int64_t>(4);
  const auto D = factor(B.extent(1), columns, each, 5).matrix<double, std::int64_t, std::int64_t>(5);
  Ways<Wide> ways(name, {B.extent(2), columns});
  const auto product = [=](const auto& A) { return assign(A(i, j), B(k, l, i) * C(k, j) * D(l, j)); };
  const auto with = [&](const auto& policy) {
    ways.add(std::string(std::remove_cvref_t<decltype(policy)>::name), Role::variant,
             [=](const auto& A) { return product(A).workspace(policy); });
  };
  ways.add("sporos", Role::ours, product);
  with(coordinate_workspace);
  with(hash_workspace);
  with(bucket_workspace);
  if (dense_fits(B.extent(2), columns)) {
    with(dense_workspace);
    ways.add({"dense, compressed afterwards", Role::peer, [=] {
                const Tensor<double, DenseMatrix<>> A({B.extent(2), columns});
                product(A).run();
                return convert<Wide>(A);
              }});
  }
  about["tensor_nnz"] = B.nnz();
  ways.compare(report, std::move(about));
}

/// What is inserted, in two arrays of a component each, sorted by std::sort and added up: what a programmer
/// writes first.
template <class F>
Tensor<double, F> sorted_entries(const Extents<3>& extents,
                                 std::vector<std::pair<Extents<3>, double>>& components) {
  std::sort(components.begin(), components.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t at = 0; at < components.size(); ++kept) {
    auto sum = components[at];
    for (++at; at < components.size() && components[at].first == sum.first; ++at)
      sum.second += components[at].second;
    components[kept] = sum;
  }
  Entries<double, 3> out(extents, static_cast<std::int64_t>(kept));
  for (std::size_t e = 0; e < kept; ++e)
    out.set(static_cast<std::int64_t>(e), components[e].first, components[e].second);
  return assemble<F>(out);
}

/// SpTTM A(i, j, l) = B(k, i, j) * C(k, l), loops over k, i, j, l; and SpTTM-I A(k, j, l) = B(k, i, j) * C(i,
/// l).
template <bool Inner>
void ttm(Report& report, const std::string& name, const Tensor<double, CSF<3>>& B, std::int64_t columns,
         std::int64_t each, json about) {
  if (!report.wants(name)) return;
  using Result = CSF<3, detail::natural_order<3>, std::int64_t, std::int64_t>;
  const auto C =
      factor(B.extent(Inner ? 1 : 0), columns, each, 4).matrix<double, std::int64_t, std::int64_t>(4);
  const Extents<3> extents{Inner ? B.extent(0) : B.extent(1), B.extent(2), columns};
  Ways<Result> ways(name, extents);
  const auto product = [=](const auto& A) {
    if constexpr (Inner)
      return assign(A(k, j, l), B(k, i, j) * C(i, l));
    else
      return assign(A(i, j, l), B(k, i, j) * C(k, l));
  };
  const auto with = [&](const auto& policy) {
    ways.add(std::string(std::remove_cvref_t<decltype(policy)>::name), Role::variant,
             [=](const auto& A) { return product(A).workspace(policy); });
  };
  ways.add("sporos", Role::ours, product);
  with(coordinate_workspace);
  with(hash_workspace);
  if constexpr (Inner)
    ways.add("inside the loop over k", Role::variant,
             [=](const auto& A) { return product(A).template use<HoistedNest>(); });
  const auto tensor = entries(B);
  const auto rows = C.template level<1>().view();
  const auto gathered = [=, values = C.values().data()] {
    std::vector<std::pair<Extents<3>, double>> components;
    for (std::int64_t e = 0; e < tensor.size(); ++e) {
      const auto at = tensor.coordinate(e);
      const auto row = Inner ? at[1] : at[0], first = Inner ? at[0] : at[1];
      for (std::int64_t q = rows.positions[row]; q < rows.positions[row + 1]; ++q)
        components.push_back(
            {{first, at[2], rows.coordinates[q]}, tensor.values(static_cast<std::size_t>(e)) * values[q]});
    }
    return sorted_entries<Result>(extents, components);
  };
  expect_same(name + ", std::sort", gathered(), ways.expected());
  ways.add({"gathered, std::sort", Role::peer, gathered});
  about["tensor_nnz"] = B.nnz();
  ways.compare(report, std::move(about));
}

/// The name of a file without folder and ending.
std::string tensor_name(const std::string& file) {
  const std::string name = file_name(file);
  return name.substr(0, name.find('.'));
}

void run(Report& report) {
  const Peers peers(report);
  report.count_memory();
  for (const std::int64_t columns : {500, 1'000, 2'000, 4'000}) {
    const Rows left = tenth_of_columns(4'000, columns, 100), right = shifted_transpose(left);
    const json about{{"x", columns}};
    json first = about, second = about;
    first["figure"] = "15";
    second["figure"] = "16";
    row_product(report, text("15, by rows, K = ", columns), left, right, first);
    outer_product(report, text("16, outer product, K = ", columns), left, right, second);
  }
  std::vector<std::pair<std::string, Tensor<double, CSF<3>>>> tensors;
  for (const auto& file : report.options().files) {
    if (file.find(".tns") != std::string::npos) {
      tensors.emplace_back(tensor_name(file), assemble<CSF<3>>(read_entries<double, 3>(file)));
      continue;
    }
    const std::string name = matrix_name(file);
    if (!report.wants("14, " + name) && !report.wants("17, " + name)) continue;
    const Rows left = pattern_of(file), right = shifted_transpose(left);
    row_product(report, "14, " + name, left, right, {{"figure", "14"}, {"x", name}});
    outer_product(report, "17, " + name, left, right, {{"figure", "17"}, {"x", name}});
  }
  tensors.emplace_back("nips-like", assemble<CSF<3>>(nips_like(200'000)));
  for (const auto& [name, tensor] : tensors) {
    for (const std::int64_t columns : {16, 64, 256}) {
      const std::int64_t tenth = std::max<std::int64_t>(columns / 10, 1);
      const json about{{"x", columns}, {"tensor", name}, {"figure", "19"}};
      mttkrp(report, text("19, SpMTTKRP, ", name, ", J = ", columns), tensor, columns, tenth, about);
      ttm<false>(report, text("19, SpTTM, ", name, ", L = ", columns), tensor, columns, tenth, about);
    }
    for (const std::int64_t columns : {1'000, 1'000'000, 1'000'000'000}) {
      const json about{{"x", columns}, {"tensor", name}, {"figure", "20"}};
      mttkrp(report, text("20, SpMTTKRP, ", name, ", J = ", columns), tensor, columns, 4, about);
      ttm<true>(report, text("20, SpTTM-I, ", name, ", L = ", columns), tensor, columns, 4, about);
    }
    for (std::int64_t columns = 4; columns <= 2048; columns *= 2)
      mttkrp(report, text("table 3, ", name, ", J = ", columns), tensor, columns,
             std::max<std::int64_t>(columns / 100, 1),
             {{"x", columns}, {"tensor", name}, {"figure", "table 3"}});
  }
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "workspace_figures", sporos::perf::run);
}
