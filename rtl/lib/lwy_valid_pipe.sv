// SPDX-License-Identifier: BSD-3-Clause
// Valid pipe: N registers for the bits that say whether there is something, empty after a reset.
module lwy_valid_pipe #(
  parameter int unsigned N = 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic valid_o
);
  logic [N-1:0] valid_q;
  logic [N:0]   line;
  assign line = {valid_q, valid_i};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= line[N-1:0];
  end
  assign valid_o = line[N];
endmodule
