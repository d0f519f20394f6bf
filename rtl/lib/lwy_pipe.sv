// SPDX-License-Identifier: BSD-3-Clause
// Pipe: N registers one behind the other, or wires where N is 0. Without a reset, so that tools may
// make shift registers of them.
module lwy_pipe #(
  parameter int unsigned Width = 1,
  parameter int unsigned N = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  if (N == 0) begin : g_wires
    logic unused;
    assign unused = clk_i;
    assign data_o = data_i;
  end else begin : g_registers
    logic [Width*(N+1)-1:0] line;
    assign line[Width-1:0] = data_i;
    for (genvar k = 0; k < N; k++) begin : g_stage
      logic [Width-1:0] stage_q;
      always_ff @(posedge clk_i) stage_q <= line[Width*k+:Width];
      assign line[Width*(k+1)+:Width] = stage_q;
    end
    assign data_o = line[Width*N+:Width];
  end
endmodule
