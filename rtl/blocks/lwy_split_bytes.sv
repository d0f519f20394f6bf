// SPDX-License-Identifier: BSD-3-Clause
// Split bytes: words of up to 4 bytes to items of 1, 2 or 4; the inverse of lwy_join_bytes. Bytes
// that are left over at the end of a chunk are forgotten.
module lwy_split_bytes (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] word_i,
  input  logic [2:0]  bytes_i,
  input  logic        last_i,
  input  logic [2:0]  bytes_wanted_i,  // 1, 2 or 4
  output logic        valid_o,         // there are so many
  output logic        short_o,         // there are not, and none will come
  input  logic        take_i,
  output logic [31:0] item_o,
  input  logic        drop_i,          // the chunk is done: forget everything up to its last word
  output logic        dropped_o
);
  logic [55:0] waiting_q, rest;
  logic [2:0]  count_q, left;
  logic        ended_q, enters;
  assign ready_o   = !ended_q && !left[2];
  assign enters    = valid_i && ready_o;
  assign valid_o   = count_q >= bytes_wanted_i;
  assign short_o   = ended_q && !valid_o;
  assign item_o    = waiting_q[31:0];
  assign dropped_o = drop_i && ended_q;
  assign left      = take_i ? count_q - bytes_wanted_i : count_q;
  assign rest      = take_i ? waiting_q >> {bytes_wanted_i, 3'b000} : waiting_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 3'd0;
      ended_q <= 1'b0;
    end else if (drop_i) begin
      count_q <= 3'd0;
      ended_q <= !ended_q && enters && last_i;
    end else begin
      count_q <= enters ? left + bytes_i : left;
      ended_q <= ended_q || (enters && last_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (drop_i) waiting_q <= '0;
    else waiting_q <= enters ? rest | {24'd0, word_i} << {left, 3'b000} : rest;
  end
endmodule
