// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers, clusters and asynchronous stores: each form once, with results worked out by hand, in every mode.
#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

namespace stator::sim::test {
namespace {

const char *const kHead =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<24>, %t, %s, %bar, %rank; .reg .b64 %x<8>, %state; .reg .pred %p<6>, %one; .reg .b16 %h<2>;\n"
    ".reg .f32 %f<4>;\n"
    ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 barrier[2];\n"
    "ld.param.u64 %x0, [out]; mov.u32 %t, %tid.x; mov.u32 %s, s; mov.u32 %bar, barrier;\n"
    "mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %one, %t, 0;\n"
    "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r21, %r20, %r21, %t;\n"
    "mul.wide.u32 %x1, %r21, 4; add.u64 %x1, %x0, %x1;\n";
const char *const kInit = "@%one mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster;\n"
                          "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";
const char *const kEnd = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; ret;\n}\n";
const char *const kWait = "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%bar], 0; @!%p1 bra W;\n";

/// Runs `body`, whose threads each write a word at [%x1], under every mode and some schedules.
void expectWords(const std::string &body, Dim3 grid, Dim3 block, uint32_t cluster, const std::vector<uint32_t> &want) {
  for (auto mode : {Settings::Async::early, Settings::Async::late, Settings::Async::random})
    for (uint64_t seed : {0, 1, 2, 5}) {
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + " seed " + std::to_string(seed));
      Machine machine("h100");
      machine.settings.async = mode;
      machine.settings.schedule = seed;
      machine.cluster = {cluster, 1, 1};
      uint64_t out = machine.upload(std::vector<uint32_t>(grid.x * block.x));
      LaunchResult result;
      try {
        result = machine.run(kHead + body + kEnd, grid, block, out);
      } catch (const std::exception &e) {
        FAIL() << e.what();
      }
      std::string details;
      for (const Finding &f : result.findings) details += toText(f) + "\n";
      ASSERT_EQ(details, "");
      auto got = machine.download<uint32_t>(out, want.size());
      ASSERT_EQ(got, want);
    }
}

std::vector<uint32_t> words(size_t count, uint32_t (*f)(uint32_t)) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(f(i));
  return all;
}

TEST(Mbarrier, StatesCountsAndDrops) {
  // Three arrivals a phase: two with a count, one alone. The state names the phase; after a drop two suffice.
  std::string body = "@%one mbarrier.init.shared::cta.b64 [%bar], 3;\n"
                     "mbarrier.arrive.noComplete.shared::cta.b64 %state, [%bar], 2;\n"
                     "mbarrier.pending_count.b64 %r0, %state;\n"                                           // 3
                     "mbarrier.test_wait.shared::cta.b64 %p1, [%bar], %state; selp.u32 %r1, 10, 0, %p1;\n" // 0
                     "mbarrier.arrive_drop.shared::cta.b64 _, [%bar];\n"
                     "mbarrier.test_wait.shared::cta.b64 %p1, [%bar], %state; selp.u32 %r2, 100, 0, %p1;\n" // 100
                     "mbarrier.arrive.shared::cta.b64 %state, [%bar], 1;\n"
                     "mbarrier.pending_count.b64 %r3, %state; mul.lo.u32 %r3, %r3, 1000;\n" // 2 a phase now
                     "mbarrier.arrive.release.cta.shared::cta.b64 %state, [%bar];\n"
                     "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%bar], 1; selp.u32 %r4, 10000, 0, %p1;\n"
                     "mbarrier.inval.shared::cta.b64 [%bar]; st.shared.u32 [%bar], %t; ld.shared.u32 %r5, [%bar];\n"
                     "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4;\n"
                     "st.global.u32 [%x1], %r0;\n";
  expectWords(body, {1}, {1}, 1, {12103});
}

TEST(Mbarrier, ArrivesWithCopies) {
  // Each thread's copy arrives when it is over; .noinc counts against the 32 that were announced.
  std::string body = "@%one mbarrier.init.shared::cta.b64 [%bar], 32; bar.sync 0;\n"
                     "st.global.u32 [%x1], %r21; bar.sync 0; shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1;\n"
                     "cp.async.ca.shared.global [%r2], [%x1], 4;\n"
                     "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar];\n" +
                     std::string(kWait) +
                     "xor.b32 %r1, %r1, 4; add.u32 %r2, %s, %r1; ld.shared.u32 %r3, [%r2];\n"
                     "st.global.u32 [%x1], %r3;\n";
  expectWords(body, {1}, {32}, 1, words(32, [](uint32_t i) { return i ^ 1; }));
}

TEST(Cluster, RegistersAndRanks) {
  std::string body = std::string(kInit) +
                     "mov.u32 %r0, %cluster_nctarank; mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.x;\n"
                     "mapa.shared::cluster.u32 %r3, %s, 1; getctarank.shared::cluster.u32 %r4, %r3;\n"
                     "cvta.shared.u64 %x2, s; mapa.u64 %x3, %x2, 0; getctarank.u64 %r5, %x3;\n"
                     "mad.lo.u32 %r0, %rank, 10, %r0; mad.lo.u32 %r0, %r1, 100, %r0; mad.lo.u32 %r0, %r2, 1000, %r0;\n"
                     "mad.lo.u32 %r0, %r4, 10000, %r0; mad.lo.u32 %r0, %r5, 100000, %r0; st.global.u32 [%x1], %r0;\n";
  expectWords(body, {4}, {1}, 2, {12002, 12012, 12102, 12112});
}

TEST(Cluster, KnowsThatItIsOne) {
  std::string body = "mov.pred %p2, %is_explicit_cluster; selp.u32 %r0, 7, 9, %p2; st.global.u32 [%x1], %r0;\n";
  expectWords(body, {2}, {1}, 2, {7, 7});
  expectWords(body, {2}, {1}, 1, {9, 9});
}

TEST(Cluster, RemoteArrivalAndStore) {
  // Each block writes a word into the other's memory and arrives at its barrier.
  std::string body =
      std::string(kInit) +
      "xor.b32 %r0, %rank, 1; mapa.shared::cluster.u32 %r1, %s, %r0; mapa.shared::cluster.u32 %r2, %bar, %r0;\n"
      "add.u32 %r3, %rank, 70; st.shared::cluster.u32 [%r1], %r3;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n"
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%bar], 0; @!%p1 bra W;\n"
      "ld.shared.u32 %r4, [%s]; st.global.u32 [%x1], %r4;\n";
  expectWords(body, {2}, {1}, 2, {71, 70});
}

TEST(Cluster, AtomicsOnOtherBlocks) {
  std::string body = "@%one st.shared.u32 [%s], 5;\n" + std::string(kInit) +
                     "mapa.shared::cluster.u32 %r1, %s, 0; atom.shared::cluster.add.u32 %r2, [%r1], 3;\n"
                     "barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r3, [%r1];\n"
                     "st.global.u32 [%x1], %r3;\n";
  expectWords(body, {2}, {4}, 2, std::vector<uint32_t>(8, 5 + 3 * 8));
}

TEST(Cluster, AsynchronousStoreAndReduction) {
  // 4 bytes to the neighbour, then 4 + 8 more: three operations for one phase.
  std::string body =
      "st.shared.u32 [%s+16], 40; fence.proxy.async.shared::cta;\n" + std::string(kInit) +
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;\n"
      "xor.b32 %r0, %rank, 1; mapa.shared::cluster.u32 %r1, %s, %r0; mapa.shared::cluster.u32 %r2, %bar, %r0;\n"
      "add.u32 %r3, %rank, 100; add.u32 %r4, %rank, 7;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r3, [%r2];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+16], %r4, [%r2];\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r1+32], {%r3, %r4}, [%r2];\n" +
      std::string(kWait) +
      "ld.shared.u32 %r5, [%s]; ld.shared.u32 %r6, [%s+16]; ld.shared.v2.u32 {%r7, %r8}, [%s+32];\n"
      "add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8; st.global.u32 [%x1], %r5;\n";
  // From rank r: 100 + r, 40 + 7 + r, 100 + r, 7 + r.
  expectWords(body, {2}, {1}, 2, {254 + 4, 254});
}

TEST(Cluster, MulticastAndCopiesBetweenBlocks) {
  // Block 0 copies 16 words to all four blocks; block 1 then sends its first 16 bytes on to block 2.
  std::string body =
      std::string(kInit) +
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64; setp.eq.u32 %p2, %rank, 0; mov.b16 %h0, 15;\n"
      "mov.u64 %x2, table; cvta.global.u64 %x2, %x2; cvta.to.global.u64 %x2, %x2;\n"
      "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%x2], 64, "
      "[%bar], %h0;\n" +
      std::string(kWait) +
      "ld.shared.u32 %r0, [%s+8]; setp.eq.u32 %p3, %rank, 1; setp.eq.u32 %p4, %rank, 2;\n"
      "mapa.shared::cluster.u32 %r1, %s, 2; mapa.shared::cluster.u32 %r2, %bar, 2;\n"
      "@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;\n"
      "barrier.cluster.arrive; barrier.cluster.wait;\n"
      "@%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+128], [%s], 16, [%r2];\n"
      "@!%p4 bra D;\nV: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 1; @!%p1 bra V;\n"
      "ld.shared.u32 %r3, [%s+132]; add.u32 %r0, %r0, %r3;\nD: st.global.u32 [%x1], %r0;\n";
  std::string text = body;
  for (auto mode : {Settings::Async::early, Settings::Async::late}) {
    Machine machine("h100");
    machine.settings.async = mode;
    machine.cluster = {4, 1, 1};
    uint64_t out = machine.upload(std::vector<uint32_t>(4));
    std::string module = kHead + body + kEnd;
    size_t at = module.find(".visible");
    module.insert(at,
                  ".global .align 16 .u32 table[16] = {9, 20, 30, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};\n");
    LaunchResult result = machine.run(module, {4}, {1}, out);
    std::string details;
    for (const Finding &f : result.findings) details += toText(f) + "\n";
    ASSERT_EQ(details, "");
    EXPECT_EQ(machine.download<uint32_t>(out, 4), (std::vector<uint32_t>{30, 30, 50, 30}));
  }
}

TEST(BulkCopies, Reductions) {
  // out[i] is i; shared words 3 i + 1 are added, then the smaller of both kept.
  std::string body = "st.global.u32 [%x1], %t; shl.b32 %r1, %t, 2; add.u32 %r2, %s, %r1; mad.lo.u32 %r3, %t, 3, 1;\n"
                     "st.shared.u32 [%r2], %r3; fence.proxy.async; bar.sync 0;\n"
                     "@%one cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%x0], [%s], 128;\n"
                     "@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0; bar.sync 0;\n"
                     "@%one cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%x0], [%s], 64;\n"
                     "@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0; bar.sync 0;\n";
  expectWords(body, {1}, {32}, 1, words(32, [](uint32_t i) { return i < 16 ? 3 * i + 1 : 4 * i + 1; }));
}

TEST(Cluster, DependentLaunchesAndRegisters) {
  std::string body = "griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.dec.sync.aligned.u32 40;\n"
                     "setmaxnreg.inc.sync.aligned.u32 232; st.global.u32 [%x1], %t;\n";
  expectWords(body, {1}, {128}, 1, words(128, [](uint32_t i) { return i; }));
}

} // namespace
} // namespace stator::sim::test
