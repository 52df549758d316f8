// SPDX-License-Identifier: Apache-2.0
/// @file transport.cpp
/// How values travel between the GPUs of ranks: which GPU a rank has, which transport is chosen, that results
/// are those of any other, and that what one rank does wrong fails on all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "../ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Sparse = Distributed<Tensor<double, CSR<>, Cuda>>;
using DeviceVector = Distributed<Tensor<double, DenseVector, Cuda>>;
using DeviceMatrix = Distributed<Tensor<double, DenseMatrix<>, Cuda>>;

/// Of all ranks.
std::vector<detail::DeviceId> devices() { return world().all(detail::device_id()); }

bool each_has_its_own() {
  auto all = devices();
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

constexpr bool has_nccl() {
#ifdef SPOROS_HAVE_NCCL
  return true;
#else
  return false;
#endif
}

bool is_there(Transport which) {
  switch (which) {
    case Transport::staged:
      return true;
    case Transport::mpi:
      return Communicator::reaches<Kokkos::CudaSpace>();
    case Transport::nccl:
      return has_nccl() && each_has_its_own();
  }
  return false;
}

constexpr Transport all_transports[] = {Transport::staged, Transport::mpi, Transport::nccl};

/// Calls f with each transport that is there, and goes back to the one that was chosen.
template <class F>
void with_each(const F& f) {
  const Transport chosen = transport(world());
  for (const Transport one : all_transports)
    if (is_there(one)) {
      SCOPED_TRACE(to_string(one));
      use_transport(world(), one);
      EXPECT_EQ(transport(world()), one);
      f();
    }
  use_transport(world(), chosen);
}

template <class T>
auto spread(const Distribution<T::order>& distribution, const T& whole) {
  return assemble<typename T::format_type, Cuda>(distribution, share(world(), entries(whole)));
}

TEST(Transports, RanksShareAGpuOnlyIfThereAreFewerGpusThanRanks) {
  const auto all = devices();
  const std::set<detail::DeviceId> different(all.begin(), all.end());
  EXPECT_EQ(std::ssize(different), std::min(world().size(), Kokkos::num_devices()));
}

TEST(Transports, AreChosenByWhatIsThere) {
  const auto alike = world().split(0);
  const Transport chosen = transport(alike);
  EXPECT_EQ(transport(alike), chosen);
  if (const char* const given = std::getenv("SPOROS_TRANSPORT"); given && *given) {
    EXPECT_EQ(to_string(chosen), given);
  } else if (world().size() > 1) {
    EXPECT_EQ(chosen == Transport::nccl, is_there(Transport::nccl));
    EXPECT_EQ(chosen == Transport::mpi, is_there(Transport::mpi) && !is_there(Transport::nccl));
  } else {
    EXPECT_NE(chosen, Transport::nccl);
  }
}

TEST(Transports, ThatAreNotThereAreRefusedOnAllRanks) {
  const Transport chosen = transport(world());
  for (const Transport one : all_transports) {
    if (is_there(one)) continue;
    EXPECT_THROW(use_transport(world(), one), StateError) << to_string(one);
    EXPECT_EQ(transport(world()), chosen);
    agree(world(), "the next transport");
  }
}

TEST(Transports, OfRanksMustBeTheSame) {
  if (world().size() == 1) GTEST_SKIP() << "one rank is of one mind";
  const Transport chosen = transport(world());
  EXPECT_THROW(use_transport(world(), world().rank() == 0 ? Transport::staged : Transport::mpi), CommError);
  agree(world(), "the next step");
  EXPECT_EQ(transport(world()), chosen);
}

TEST(Transports, AreNamedByTheEnvironmentAndMisnamedOnAllRanks) {
  const char* const given = std::getenv("SPOROS_TRANSPORT");
  const std::string before = given ? given : "";
  const auto choose = [&](const char* name) {
    setenv("SPOROS_TRANSPORT", name, 1);
    const auto alike = world().split(0);
    return transport(alike);
  };
  EXPECT_EQ(choose("staged"), Transport::staged);
  // On the last rank alone.
  EXPECT_THROW(choose(world().rank() + 1 == world().size() ? "pigeon" : "staged"), StateError);
  agree(world(), "the next step");
  given ? setenv("SPOROS_TRANSPORT", before.c_str(), 1) : unsetenv("SPOROS_TRANSPORT");
}

/// A matrix with one 1 in each row: what it is multiplied with moves by `step`.
Tensor<double, CSR<>> shift(std::int64_t n, std::int64_t step) {
  Entries<double, 2> out({n, n}, n);
  for (std::int64_t e = 0; e < n; ++e) out.set(e, {e, (e + step) % n}, 1.0);
  return assemble<CSR<>>(out);
}

TEST(Transports, OrderEachRunBehindTheOneBefore) {
  // Each product reads what the last one has written, here and on other ranks, without a fence between.
  const std::int64_t n = 20011, step = 7;
  const int runs = 60;
  const auto first = assemble<DenseVector>(all_entries<1>({n}, 2, 1));
  Entries<double, 1> moved({n}, n);
  for (std::int64_t e = 0; e < n; ++e)
    moved.set(e, {e}, first.values()(static_cast<std::size_t>((e + 2 * runs * step) % n)));
  const auto expected = assemble<DenseVector>(moved);
  with_each([&] {
    const Sparse A = spread(Distribution<2>::blocks(world(), {n, n}), shift(n, step));
    const DeviceVector x = spread(along(A, 0), first), y(along(A, 0));
    auto there = plan(assign(y(i), A(i, j) * x(j)));
    auto back = plan(assign(x(i), A(i, j) * y(j)));
    for (int run = 0; run < runs; ++run) {
      there.run();
      back.run();
    }
    EXPECT_TRUE(holds(x, expected));
  });
}

TEST(Transports, GiveTheSameProducts) {
  // Nonzeros anywhere, so that no row is interior: narrow products go by rows, wide ones by columns.
  const std::int64_t m = 150, n = 170;
  const auto A = assemble<CSR<>>(all_entries<2>({m, n}, 0.08));
  for (const std::int64_t width : {std::int64_t{3}, HaloProduct::narrowest_by_columns, std::int64_t{40}}) {
    SCOPED_TRACE(width);
    const auto X = assemble<DenseMatrix<>>(all_entries<2>({n, width}, 2, 2));
    const Tensor<double, DenseMatrix<>> Y({m, width}), added({m, width});
    Y(i, k) = A(i, j) * X(j, k);
    added(i, k) = 9.0 * Y(i, k);
    with_each([&] {
      const Sparse a = spread(Distribution<2>::blocks(world(), {m, n}), A);
      const DeviceMatrix x = spread(Distribution<2>::blocks(world(), {n, width}), X);
      const DeviceMatrix y(Distribution<2>::blocks(world(), {m, width}));
      auto product = plan(assign(y(i, k), a(i, j) * x(j, k)));
      EXPECT_EQ(product.candidate(), world().size() > 1 ? HaloProduct::name : OwnerComputes::name);
      product.run();
      EXPECT_TRUE(holds(y, Y));
      const auto values = a.local().values();
      const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
      for (std::size_t q = 0; q < here.extent(0); ++q) here(q) *= 3;
      Kokkos::deep_copy(values, here);
      product.run();
      auto more = plan(assign(y(i, k), x(j, k) * a(i, j)).accumulate());
      more.run();
      y(i, k) += a(i, j) * x(j, k);
      EXPECT_TRUE(holds(y, added));
    });
  }
}

TEST(Transports, ReadTheirOwnResults) {
  // The result is the operand: the rows are computed apart, by rows and by columns.
  const std::int64_t n = 90;
  for (const std::int64_t width : {std::int64_t{2}, std::int64_t{32}}) {
    const auto A = assemble<CSR<>>(all_entries<2>({n, n}, 0.1));
    const auto X = assemble<DenseMatrix<>>(all_entries<2>({n, width}, 2, 2));
    const Tensor<double, DenseMatrix<>> Y({n, width});
    Y(i, k) = A(i, j) * X(j, k);
    Y(i, k) += 1.0 * X(i, k);
    with_each([&] {
      const Sparse a = spread(Distribution<2>::blocks(world(), {n, n}), A);
      const DeviceMatrix x = spread(Distribution<2>::blocks(world(), {n, width}), X);
      x(i, k) += a(i, j) * x(j, k);
      EXPECT_TRUE(holds(x, Y));
    });
  }
}

TEST(Transports, SayHowAProductIsDivided) {
  if (world().size() == 1) GTEST_SKIP() << "nothing is divided";
  const std::int64_t n = 60;
  const Sparse a =
      spread(Distribution<2>::blocks(world(), {n, n}), assemble<CSR<>>(all_entries<2>({n, n}, 0.3)));
  const auto text_of = [&](std::int64_t width) {
    const DeviceMatrix x(Distribution<2>::blocks(world(), {n, width})), y(x.distribution());
    return explain(assign(y(i, k), a(i, j) * x(j, k)));
  };
  EXPECT_NE(text_of(1).find("then the rows that need others' values"), std::string::npos);
  EXPECT_NE(text_of(64).find("those in columns of its own, then adds the others"), std::string::npos);
  const auto by = text("transport between GPUs: ", to_string(transport(world())));
  EXPECT_NE(text_of(64).find(by), std::string::npos) << text_of(64);
}

TEST(Transports, BringFactorsAndSums) {
  const Extents<3> extents{31, 23, 17};
  const std::int64_t rank = 8;
  const auto all = all_entries<3>(extents, 0.1);
  const auto T = assemble<COO<3>>(all);
  const auto U = assemble<DenseMatrix<>>(all_entries<2>({extents[1], rank}, 2, 2));
  const auto V = assemble<DenseMatrix<>>(all_entries<2>({extents[2], rank}, 2, 3));
  const Tensor<double, DenseMatrix<>> M({extents[0], rank}), N({extents[2], rank}), G({rank, rank});
  M(i, r) = T(i, k, l) * U(k, r) * V(l, r);
  N(l, r) = T(i, k, l) * M(i, r) * U(k, r);
  G(r, s) = U(k, r) * U(k, s);
  with_each([&] {
    const auto rows = [&](std::int64_t n) { return Distribution<2>::blocks(world(), {n, rank}); };
    const DeviceMatrix u = spread(rows(extents[1]), U), v = spread(rows(extents[2]), V);
    const DeviceMatrix a(rows(extents[0])), b(rows(extents[2]));
    const auto mine = share(world(), all);
    for (const auto& of :
         {Distribution<3>::bricks(world(), extents), Distribution<3>::fine_grained(world(), mine)}) {
      const auto t = assemble<COO<3>, Cuda>(of, mine);
      auto first = plan(assign(a(i, r), t(i, k, l) * u(k, r) * v(l, r)));
      auto second = plan(assign(b(l, r), t(i, k, l) * a(i, r) * u(k, r)));
      for (int run = 0; run < 3; ++run) {
        first.run();
        second.run();
      }
      EXPECT_TRUE(holds(a, M)) << of.str();
      EXPECT_TRUE(holds(b, N)) << of.str();
    }
    const Tensor<double, DenseMatrix<>, Cuda> gram({rank, rank});  // on every rank
    auto sum = plan(assign(gram(r, s), u(k, r) * u(k, s)));
    sum.run();
    sum.run();
    gram(r, s) += u(k, r) * u(k, s);
    const auto here = gram.copy_to<Host>();
    for (std::int64_t q = 0; q < rank * rank; ++q)
      EXPECT_EQ(here.values()(static_cast<std::size_t>(q)), 2 * G.values()(static_cast<std::size_t>(q)));
  });
}

TEST(Transports, AddValuesOfManyTypes) {
  const std::int64_t n = 300;
  with_each([&] {
    const auto check = [&]<class Value>(Value) {
      Entries<Value, 1> mine({n}, world().rank() == 0 ? n : 0);
      for (std::int64_t e = 0; e < mine.size(); ++e) mine.set(e, {e}, static_cast<Value>(e % 5));
      const auto x = assemble<DenseVector, Cuda>(Distribution<1>::blocks(world(), {n}), mine);
      const Tensor<Value, Scalar, Cuda> sum;
      sum() = x(i) * x(i);
      EXPECT_EQ(at(sum.template copy_to<Host>(), {}), static_cast<Value>(n / 5 * 30));
    };
    check(float{});
    check(double{});
    check(std::int32_t{});
    check(std::int64_t{});
    check(std::int16_t{});
    check(Kokkos::complex<double>{});
  });
}

TEST(Transports, FailTogether) {
  const std::int64_t n = 50, width = 24;
  const bool is_bad = world().rank() + 1 == world().size();
  const auto A = assemble<CSR<>>(all_entries<2>({n, n}, 0.2));
  const auto X = assemble<DenseMatrix<>>(all_entries<2>({n, width}, 2, 2));
  const Tensor<double, DenseMatrix<>> Y({n, width});
  Y(i, k) = A(i, j) * X(j, k);
  with_each([&] {
    const Sparse a = spread(Distribution<2>::blocks(world(), {n, n}), A);
    const DeviceMatrix x = spread(Distribution<2>::blocks(world(), {n, width}), X), y(x.distribution());
    auto product = plan(assign(y(i, k), a(i, j) * x(j, k)));
    product.run();
    const auto extents = a.local().extents();
    const auto levels = a.local().levels();
    const auto values = a.local().values();
    if (is_bad) {  // a matrix without nonzeros in the place of this rank's
      const Tensor<double, CSR<>, Cuda> none(extents);
      a.local().replace(none.extents(), none.levels(), none.values());
    }
    EXPECT_THROW(product.run(), ScheduleError);
    agree(world(), "the next step");
    EXPECT_THROW(jointly(world(),
                         [&] {
                           if (is_bad) throw RangeError("one rank's own fault");
                           product.run();
                         }),
                 Error);
    agree(world(), "the next step");
    if (is_bad) a.local().replace(extents, levels, values);
    product.run();
    EXPECT_TRUE(holds(y, Y));
  });
}

}  // namespace
}  // namespace sporos::test
