// SPDX-License-Identifier: BSD-3-Clause
// Moving pipe: N registers one behind the other that move together, or not at all.
module lwy_moving_pipe #(
  parameter int unsigned Width = 1,
  parameter int unsigned N = 2
) (
  input  logic             clk_i,
  input  logic             moves_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  logic [Width*N-1:0] line_q;
  always_ff @(posedge clk_i) if (moves_i) line_q <= {line_q[Width*(N-1)-1:0], data_i};
  assign data_o = line_q[Width*N-1-:Width];
endmodule
