// SPDX-License-Identifier: BSD-3-Clause
// Pow2 check: whether |x - n 2^k| <= limit, where n is the integer nearest to x / 2^k. That takes
// no difference of f32: what x / 2^k has behind the point is the error in steps, and exact. A limit
// of half a step or more lets everything pass, one of a quarter or more is compared, one below that
// lets nothing pass; the library's are half a step, less a last bit, or more. Latency 2.
module lwy_pow2_check (
  input  logic        clk_i,
  input  logic [7:0]  step_exp_i,   // as in an f32; a cycle before what follows
  input  logic [30:0] limit_i,      // as the bits of an f32
  input  logic [24:0] fraction_i,   // of x / 2^k; less than a quarter where bits are missing
  output logic        is_within_o
);
  logic passes_q, compares_q;
  always_ff @(posedge clk_i) begin
    passes_q   <= {1'b0, limit_i[30:23]} + 9'd1 >= {1'b0, step_exp_i};
    compares_q <= {1'b0, limit_i[30:23]} + 9'd2 == {1'b0, step_exp_i};
  end

  // The distance to the nearest integer: that of -f is that of f. The bit below the last one is 1
  // where it is to be less than the limit.
  logic        is_upper1, is_less1;
  logic [23:0] distance1;
  lwy_pipe #(.Width(25)) u_distance (
    .clk_i,
    .data_i({fraction_i[24], fraction_i[23:0] ^ {24{fraction_i[24]}}}),
    .data_o({is_upper1, distance1})
  );
  assign is_less1 = {distance1, is_upper1} <= {1'b1, limit_i[22:0], 1'b0};
  lwy_pipe #(.Width(1)) u_within (
    .clk_i, .data_i(passes_q || (compares_q && is_less1)), .data_o(is_within_o)
  );
endmodule
