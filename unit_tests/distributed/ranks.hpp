// SPDX-License-Identifier: Apache-2.0
/// @file ranks.hpp
/// What the tests of distributed/ share: the ranks, all kinds of distributions, and the whole tensors that
/// distributed ones are compared with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../kernels/inputs.hpp"

namespace sporos::test {

/// All ranks, on one communicator for the whole program.
inline const Communicator& world() {
  static const Communicator& ranks = *new Communicator(Communicator::world());
  return ranks;
}

/// Every kind of distribution of a tensor, all ranks the same.
template <int Order>
std::vector<Distribution<Order>> distributions(const Communicator& ranks, const Extents<Order>& extents) {
  using D = Distribution<Order>;
  std::vector<D> out{D::replicated(ranks, extents)};
  for (int mode = 0; mode < Order; ++mode) {
    const std::int64_t extent = extents[static_cast<std::size_t>(mode)];
    out.push_back(D::blocks(ranks, extents, mode));
    out.push_back(D::cyclic(ranks, extents, mode));
    std::vector<int> owners;
    std::mt19937 draw(3);
    for (std::int64_t c = 0; c < extent; ++c)
      owners.push_back(static_cast<int>(draw() % static_cast<unsigned>(ranks.size())));
    out.push_back(D::owned(ranks, extents, mode, owners));
    // The last rank has everything, the others nothing.
    std::vector<std::int64_t> begins(static_cast<std::size_t>(ranks.size()) + 1, 0);
    begins.back() = extent;
    out.push_back(D::along(ranks, extents, mode, Partition::ranges(begins)));
  }
  if constexpr (Order >= 2) {
    out.push_back(D::grid(ranks, extents));
    out.push_back(D::grid(ranks, extents, Order - 1, 0));
  }
  if constexpr (Order >= 3) out.push_back(D::bricks(ranks, extents));
  return out;
}

/// Random entries of a fixed seed, all of them on every rank.
template <int Order, class Value = double>
Entries<Value, Order> all_entries(const Extents<Order>& extents, double density, std::uint64_t seed = 7) {
  return random_entries<Value, Order>(extents, density, false, seed);
}

/// This rank's share of entries that all ranks have: every size()-th.
template <class Value, int Order>
Entries<Value, Order> share(const Communicator& ranks, const Entries<Value, Order>& all) {
  Entries<Value, Order> out(all.extents, (all.size() - ranks.rank() + ranks.size() - 1) / ranks.size());
  for (std::int64_t e = 0; e < out.size(); ++e) {
    const std::int64_t from = e * ranks.size() + ranks.rank();
    out.set(e, all.coordinate(from), all.values.data()[from]);
  }
  return out;
}

inline constexpr std::size_t combinations = 60;  // of distributions, for each statement and format

/// A dense tensor of small integers.
template <class F, class Value = double>
Tensor<Value, F> whole_dense(const Extents<F::order>& extents, std::uint64_t seed) {
  return assemble<F>(all_entries<F::order, Value>(extents, 1.5, seed));
}

/// The same tensor, distributed.
template <class T>
Distributed<T> spread(const Distribution<T::order>& distribution, const T& whole) {
  return assemble<typename T::format_type>(distribution, share(world(), entries(whole)));
}

template <int Order>
auto kinds(const Extents<Order>& extents) {
  return distributions<Order>(world(), extents);
}

/// Whether a distributed tensor holds what a whole one holds; collective. Values are small integers, so that
/// sums in any order are exact.
template <class T, class Whole>
testing::AssertionResult holds(const T& tensor, const Whole& whole) {
  validate(tensor);
  const auto here = entries(gather(tensor), Zeros::drop), expected = entries(whole, Zeros::drop);
  if (here.extents != expected.extents)
    return testing::AssertionFailure() << to_string(here.extents) << ", not " << to_string(expected.extents);
  if (here.size() != expected.size())
    return testing::AssertionFailure() << here.size() << " entries, not " << expected.size();
  for (std::int64_t e = 0; e < here.size(); ++e)
    if (here.coordinate(e) != expected.coordinate(e) || here.values.data()[e] != expected.values.data()[e])
      return testing::AssertionFailure()
             << coordinate_text(here.coordinate(e)) << ": " << here.values.data()[e] << ", not "
             << coordinate_text(expected.coordinate(e)) << ": " << expected.values.data()[e];
  return testing::AssertionSuccess();
}

/// Whether this is the rank on which something goes wrong: the last one.
inline bool is_bad() { return world().rank() + 1 == world().size(); }

/// Expects that f throws an E on all ranks, with the same message, and that ranks still work together.
template <class E, class F>
void expect_everywhere(const F& f, const std::string& part_of_message) {
  std::string message = "nothing was thrown";
  bool is_right = false;
  try {
    f();
  } catch (const E& error) {
    is_right = true;
    message = error.what();
  } catch (const std::exception& error) {
    message = std::string("another error: ") + error.what();
  }
  EXPECT_TRUE(is_right) << message;
  EXPECT_NE(message.find(part_of_message), std::string::npos) << message;
  const auto number = Signature(message).number();
  EXPECT_EQ(world().min(number), world().max(number)) << message;
  agree(world(), "the next test");
}

/// Some of the combinations of distributions, the same ones on all ranks: f(i, j, …) for at most `most` of
/// the index tuples below the counts, all of them if they are no more.
template <class F, class... Count>
void for_some(std::size_t most, std::uint64_t seed, const F& f, Count... counts) {
  const std::size_t all = (static_cast<std::size_t>(counts) * ...);
  std::mt19937_64 draw(seed);
  for (std::size_t at = 0; at < std::min(all, most); ++at) {
    std::size_t code = all <= most ? at : draw() % all;
    const auto next = [&](std::size_t count) {
      const std::size_t index = code % count;
      code /= count;
      return index;
    };
    const std::array<std::size_t, sizeof...(Count)> indices{next(static_cast<std::size_t>(counts))...};
    std::apply(f, indices);
  }
}

}  // namespace sporos::test
