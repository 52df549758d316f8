// SPDX-License-Identifier: Apache-2.0
/// @file communicator.cpp
/// Communicators: collectives, messages in pieces, and what the caller's communicator keeps.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <sporos/distributed/communicator.hpp>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

/// Calls f with the calls of MPI limited to 3 elements, as those past 2^31 are, and without.
template <class F>
void with_and_without_pieces(const F& f) {
  const Communicator ranks = world().split(0);
  const std::int64_t usual = ranks.largest_count();
  for (const std::int64_t largest : {usual, std::int64_t{3}}) {
    ranks.set_largest_count(largest);
    f(ranks, largest != usual);
  }
}

TEST(Communicator, CombinesValuesOfAllRanks) {
  with_and_without_pieces([](const Communicator& ranks, bool) {
    const int size = ranks.size(), rank = ranks.rank();
    EXPECT_EQ(ranks.sum(rank), size * (size - 1) / 2);
    EXPECT_EQ(ranks.min(std::int64_t{rank}), 0);
    EXPECT_EQ(ranks.max(static_cast<float>(rank)), static_cast<float>(size - 1));
    EXPECT_EQ(ranks.sum(Kokkos::complex<double>(1, rank)).real(), size);
    EXPECT_EQ(static_cast<float>(ranks.sum(half(1.0f))), static_cast<float>(size));
    EXPECT_FALSE(ranks.min(rank != 0));
    EXPECT_TRUE(ranks.min(true));
    EXPECT_TRUE(ranks.max(rank == 0));
    EXPECT_TRUE(ranks.sum(rank == 0));
    EXPECT_FALSE(ranks.sum(false));
    std::vector<double> many(10, 1.0);
    ranks.sum(many.data(), 10);
    EXPECT_EQ(many, std::vector<double>(10, size));
    std::vector<std::int16_t> told(8, static_cast<std::int16_t>(rank));
    ranks.broadcast(told.data(), 8, size - 1);
    EXPECT_EQ(told, std::vector<std::int16_t>(8, static_cast<std::int16_t>(size - 1)));
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(ranks.all(rank), all);
    EXPECT_EQ(ranks.sum_before(2), 2 * rank);
  });
}

TEST(Communicator, ExchangesAnyNumberOfElements) {
  with_and_without_pieces([](const Communicator& ranks, bool any_large) {
    // Rank r sends r + s elements to rank s.
    const int size = ranks.size(), rank = ranks.rank();
    std::vector<std::int64_t> sends, expected;
    std::vector<std::int32_t> sent, wanted;
    for (int to = 0; to < size; ++to) {
      sends.push_back(rank + to);
      for (int at = 0; at < rank + to; ++at) {
        sent.push_back(100 * rank + to);
        wanted.push_back(100 * to + rank);
      }
    }
    const auto receives = ranks.transpose(sends);
    EXPECT_EQ(receives, sends);
    std::vector<std::int32_t> received(wanted.size());
    ranks.exchange(sent.data(), sends, received.data(), receives, any_large);
    EXPECT_EQ(received, wanted);
  });
}

TEST(Communicator, KeepsTheBuffersOfMessagesThatAreUnderWay) {
  with_and_without_pieces([](const Communicator& ranks, bool) {
    if (ranks.size() == 1) return;
    const int to = (ranks.rank() + 1) % ranks.size(), from = (ranks.rank() + ranks.size() - 1) % ranks.size();
    std::weak_ptr<std::vector<double>> watched;
    std::vector<double> received(1000);
    {
      Requests requests;
      ranks.receive(requests, received.data(), 1000, from, {});
      {
        const auto buffer = std::make_shared<std::vector<double>>(1000, ranks.rank());
        watched = buffer;
        ranks.send(requests, buffer->data(), 1000, to, buffer);
      }
      EXPECT_FALSE(watched.expired());
      requests.wait();
      EXPECT_TRUE(watched.expired());
    }
    EXPECT_EQ(received, std::vector<double>(1000, from));
  });
}

TEST(Communicator, GathersAndScattersAnyNumberOfElements) {
  with_and_without_pieces([](const Communicator& ranks, bool any_large) {
    // Rank r has 2 r elements, r each.
    const int size = ranks.size(), rank = ranks.rank();
    std::vector<std::int64_t> counts;
    std::vector<std::int16_t> expected;
    for (int from = 0; from < size; ++from) {
      counts.push_back(2 * from);
      expected.insert(expected.end(), static_cast<std::size_t>(2 * from), static_cast<std::int16_t>(from));
    }
    const std::vector<std::int16_t> mine(static_cast<std::size_t>(2 * rank), static_cast<std::int16_t>(rank));
    std::vector<std::int16_t> all(expected.size());
    ranks.gather_all(mine.data(), all.data(), counts, any_large);
    EXPECT_EQ(all, expected);
    for (int root = 0; root < size; ++root) {
      std::vector<std::int16_t> there(rank == root ? expected.size() : 0), back(mine.size());
      ranks.gather(mine.data(), there.data(), counts, root, any_large);
      if (rank == root) {
        EXPECT_EQ(there, expected);
      }
      ranks.scatter(there.data(), back.data(), counts, root, any_large);
      EXPECT_EQ(back, mine);
    }
  });
}

TEST(Communicator, RepeatsMessages) {
  with_and_without_pieces([](const Communicator& ranks, bool) {
    const int to = (ranks.rank() + 1) % ranks.size(), from = (ranks.rank() + ranks.size() - 1) % ranks.size();
    if (to == ranks.rank()) return;
    std::vector<double> sent(5), received(5);
    RepeatedMessages messages;
    ranks.prepare_receive(messages, received.data(), 5, from, {});
    ranks.prepare_send(messages, sent.data(), 5, to, {});
    for (int round = 0; round < 3; ++round) {
      sent.assign(5, 10 * round + ranks.rank());
      messages.start();
      messages.wait();
      EXPECT_EQ(received, std::vector<double>(5, 10 * round + from));
    }
  });
}

TEST(Communicator, SplitsIntoRowsAndColumns) {
  const int columns = 2;
  const Communicator row = world().split(world().rank() / columns, world().rank());
  const Communicator column = world().split(world().rank() % columns, world().rank());
  EXPECT_EQ(row.rank(), world().rank() % columns);
  EXPECT_EQ(column.rank(), world().rank() / columns);
  EXPECT_EQ(world().sum(row.rank() == 0 ? row.size() : 0), world().size());
}

TEST(Communicator, OfOneProcessNeedsNoMpi) {
  const Communicator alone;
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.sum(3), 3);
  EXPECT_EQ(alone.split(1).size(), 1);
  const Distributed<Tensor<double, DenseVector>> x(Distribution<1>::blocks(alone, {5}));
  EXPECT_EQ(gather(x).nnz(), 5);
}

#ifdef SPOROS_HAVE_MPI
TEST(Communicator, LeavesTheCallersCommunicatorAlone) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(mine, &before);
  {
    const Communicator ranks(mine);
    const Communicator copy = ranks;  // NOLINT: shares the duplicate
    EXPECT_EQ(ranks, copy);
    EXPECT_EQ(ranks.size(), world().size());
    int compared = 0;
    MPI_Comm_compare(mine, ranks.mpi(), &compared);
    EXPECT_EQ(compared, MPI_CONGRUENT);
  }
  MPI_Comm_get_errhandler(mine, &after);
  EXPECT_EQ(before, after);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, mine);
  EXPECT_EQ(sum, world().size());
  MPI_Comm_free(&mine);
}
#endif

}  // namespace
}  // namespace sporos::test
