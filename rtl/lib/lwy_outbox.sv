// SPDX-License-Identifier: BSD-3-Clause
// Outbox: the end of a pipeline that cannot stop. It has room for all that is on its way: whoever
// starts something (start_i) must have seen may_start_o, and what comes out later always fits.
module lwy_outbox #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 64,  // a power of two; at least the length of the pipeline
  localparam int unsigned PlaceBits = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  output logic             may_start_o,
  output logic             is_idle_o,  // nothing is on its way or waits
  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  // Promised: started and not yet handed over. A start is counted a cycle late, and the flag is
  // another one late, so that nobody waits for sums: three more may be promised than it has seen.
  logic [PlaceBits:0] promised_q;
  logic               leaves, start_q, is_nearly_full;
  assign leaves         = valid_o && ready_i;
  assign is_idle_o      = promised_q == '0 && !start_q;
  assign is_nearly_full = promised_q[PlaceBits] || (&promised_q[PlaceBits-1:2]);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q     <= 1'b0;
      promised_q  <= '0;
      may_start_o <= 1'b0;
    end else begin
      start_q     <= start_i;
      promised_q  <= promised_q + (PlaceBits + 1)'(start_q) - (PlaceBits + 1)'(leaves);
      may_start_o <= !is_nearly_full;
    end
  end

  // A memory that is read in the same cycle, and a register behind it.
  logic [Width-1:0]   memory[Depth];
  logic [PlaceBits:0] write_q, read_q;
  logic               takes;
  assign takes = (write_q != read_q) && (!valid_o || ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      valid_o <= 1'b0;
    end else begin
      if (valid_i) write_q <= write_q + 1'b1;
      if (takes) read_q <= read_q + 1'b1;
      valid_o <= takes || (valid_o && !ready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) memory[write_q[PlaceBits-1:0]] <= data_i;
    if (takes) data_o <= memory[read_q[PlaceBits-1:0]];
  end
endmodule
