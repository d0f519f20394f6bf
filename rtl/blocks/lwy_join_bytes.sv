// SPDX-License-Identifier: BSD-3-Clause
// Join bytes: items of 1, 2 or 4 bytes to words of 4. What is left at the end leaves with the last
// beat, which has 0 to 3 bytes.
module lwy_join_bytes (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] item_i,
  input  logic [2:0]  bytes_i,  // 0 beside the last
  input  logic        last_i,
  input  logic        bad_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] word_o,
  output logic [2:0]  bytes_o,
  output logic        last_o,
  output logic        bad_o
);
  // Fewer than four bytes wait.
  logic [23:0] waiting_q;
  logic [1:0]  count_q;
  logic [55:0] all;
  logic [2:0]  sum;
  logic        fills, enters;
  assign ready_o = !valid_o || ready_i;
  assign enters  = valid_i && ready_o;
  assign all     = {24'd0, item_i} << {count_q, 3'b000} | {32'd0, waiting_q};
  assign sum     = {1'b0, count_q} + bytes_i;  // at most 7
  assign fills   = sum[2];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= 2'd0;
      waiting_q <= 24'd0;
      valid_o   <= 1'b0;
    end else begin
      if (ready_o) valid_o <= valid_i && (fills || last_i);
      if (enters) begin
        count_q   <= last_i ? 2'd0 : sum[1:0];
        waiting_q <= last_i ? 24'd0 : fills ? all[55:32] : all[23:0];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (enters) begin
      word_o  <= last_i ? {8'd0, waiting_q} : all[31:0];
      bytes_o <= last_i ? {1'b0, count_q} : 3'd4;
      last_o  <= last_i;
      bad_o   <= bad_i;
    end
  end
endmodule
