// SPDX-License-Identifier: BSD-3-Clause
// Difference: each value less the one before it along an axis, modulo 2^16; where there is none it
// stays. One of these for each axis is Lorenzo's rule on integers. Latency 2.
module lwy_difference #(
  parameter int unsigned Most = 1,  // values up to the next along the axis; 1, or 2 and more
  localparam int unsigned PlaceBits = (Most > 1) ? $clog2(Most) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 moves_i,
  input  logic                 valid_i,
  input  logic                 is_first_i,    // there is none
  input  logic [PlaceBits-1:0] place_i,       // among values up to the next along the axis
  input  logic [15:0]          value_i,
  output logic                 valid_o,
  output logic [15:0]          difference_o
);
  logic [15:0] value_q, earlier;
  logic        valid_q, is_first_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid_o, valid_q} <= 2'b00;
    else if (moves_i) {valid_o, valid_q} <= {valid_q, valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (moves_i && valid_i) begin
      value_q    <= value_i;
      is_first_q <= is_first_i;
    end
    if (moves_i && valid_q) difference_o <= value_q - (is_first_q ? 16'd0 : earlier);
  end

  // A memory is written a cycle after it is read.
  if (Most > 1) begin : g_memory
    logic [15:0]          memory[Most];
    logic [PlaceBits-1:0] place_q;
    always_ff @(posedge clk_i) begin
      if (moves_i) begin
        if (valid_i) earlier <= memory[place_i];
        if (valid_q) memory[place_q] <= value_q;
        if (valid_i) place_q <= place_i;
      end
    end
  end else begin : g_register
    always_ff @(posedge clk_i) if (moves_i && valid_q) earlier <= value_q;
    logic unused;
    assign unused = place_i;
  end
endmodule
