// SPDX-License-Identifier: BSD-3-Clause
// Planes: codes to blocks of 32 differences as signs and bit planes, as CereSZ and cuSZp2 have them
// (leeway/encode/fixed.md). A block leaves as a head and words; at most 18 words while 32 codes
// come, so that codes never wait if words do not.
module lwy_planes #(
  parameter bit Outlier = 1'b0  // the first magnitude may stand apart
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [15:0] code_i,
  input  logic        bad_i,         // the chunk cannot be coded with it
  input  logic        last_i,        // of the chunk
  output logic        head_valid_o,
  input  logic        head_ready_i,
  output logic [7:0]  head_o,
  output logic        head_last_o,
  output logic        item_valid_o,
  input  logic        item_ready_i,
  output logic [31:0] item_o,
  output logic [2:0]  item_bytes_o,  // 1, 2 or 4; 0 behind the last one of a chunk
  output logic        item_last_o,
  output logic        item_bad_o     // beside the last: the chunk must be coded by somebody else
);
  // Everything up to the planes moves or stays together.
  logic moves, takes, pads_q;
  assign ready_o = moves && !pads_q;

  // Differences; the last block of a chunk is filled up with zeros.
  logic [4:0]  at_q;
  logic [15:0] before_q, difference, difference_q;
  logic        enters, ends_block, ends_chunk, valid1_q, first1_q, last1_q, end1_q, bad1_q;
  assign enters     = moves && (valid_i || pads_q);
  assign ends_block = at_q == 5'd31;
  assign ends_chunk = ends_block && (pads_q || last_i);
  assign difference = pads_q ? 16'd0 : (at_q == 5'd0) ? code_i : code_i - before_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q     <= 5'd0;
      pads_q   <= 1'b0;
      valid1_q <= 1'b0;
    end else if (moves) begin
      valid1_q <= enters;
      if (enters) begin
        at_q   <= at_q + 5'd1;
        pads_q <= !ends_block && (pads_q || last_i);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (enters) begin
      before_q     <= code_i;
      difference_q <= difference;
      first1_q     <= at_q == 5'd0;
      last1_q      <= ends_block;
      end1_q       <= ends_chunk;
      bad1_q       <= bad_i && !pads_q;
    end
  end

  // Magnitudes: that of the lowest code is 2^15.
  logic [15:0] magnitude_q;
  logic        negative_q, valid2_q, first2_q, last2_q, end2_q, bad2_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid2_q <= 1'b0;
    else if (moves) valid2_q <= valid1_q;
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      magnitude_q <= difference_q[15] ? -difference_q : difference_q;
      negative_q  <= difference_q[15];
      first2_q    <= first1_q;
      last2_q     <= last1_q;
      end2_q      <= end1_q;
      bad2_q      <= bad1_q;
    end
  end

  // 16 planes and the signs, 16. Code 0 goes to the highest bit in the end.
  logic [31:0] plane_q[17];
  logic [15:0] first_q, others_q;  // without outliers the first is one of the others
  logic        full_q, end_q, bad_q, is_new_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q   <= 1'b0;
      is_new_q <= 1'b1;
    end else if (moves) begin
      full_q <= valid2_q && last2_q;
      if (valid2_q) is_new_q <= last2_q && end2_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves && valid2_q) begin
      for (int k = 0; k < 16; k++) plane_q[k] <= {plane_q[k][30:0], magnitude_q[k]};
      plane_q[16] <= {plane_q[16][30:0], negative_q};
      if (first2_q) first_q <= Outlier ? magnitude_q : 16'd0;
      others_q <= !first2_q ? others_q | magnitude_q : Outlier ? 16'd0 : magnitude_q;
      end_q    <= end2_q;
      bad_q    <= bad2_q || (bad_q && !is_new_q);
    end
  end
  assign moves = !full_q || takes;

  // The form of the block. The first magnitude apart takes 1 or 2 bytes and saves 4 for each plane.
  function automatic logic [4:0] width_of(input logic [15:0] bits);
    width_of = 5'd0;
    for (int k = 0; k < 16; k++) if (bits[k]) width_of = 5'(k + 1);
  endfunction
  logic [4:0] all_width, others_width;
  logic       is_apart, is_long;
  assign all_width    = width_of(first_q | others_q);
  assign others_width = width_of(others_q);
  assign is_apart     = Outlier && others_width < all_width;
  assign is_long      = first_q[15:8] != 8'd0;

  // On their way out: the head beside the first magnitude, the signs, the planes, the end.
  logic [31:0] hold_q[17];
  logic [15:0] apart_q;
  logic [4:0]  words_q;
  logic        head_q, head_end_q, is_apart_q, is_long_q, ends_q, is_bad_q, busy, item_leaves;
  logic [7:0]  head_byte_q;
  assign busy  = head_q || item_valid_o;
  assign takes = full_q && !busy;
  assign item_leaves = item_valid_o && item_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q     <= 1'b0;
      is_apart_q <= 1'b0;
      words_q    <= 5'd0;
      ends_q     <= 1'b0;
    end else if (takes) begin
      head_q     <= 1'b1;
      is_apart_q <= is_apart;
      words_q    <= is_apart ? others_width + 5'd1
                             : (all_width == 5'd0) ? 5'd0 : all_width + 5'd1;
      ends_q     <= end_q;
    end else begin
      if (head_ready_i) head_q <= 1'b0;
      if (item_leaves) begin
        if (is_apart_q) is_apart_q <= 1'b0;
        else if (words_q != 5'd0) words_q <= words_q - 5'd1;
        else ends_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (takes) begin
      hold_q[0] <= plane_q[16];
      for (int k = 0; k < 16; k++)
        hold_q[k+1] <= {plane_q[k][31] && !is_apart, plane_q[k][30:0]};
      apart_q     <= first_q;
      is_long_q   <= is_long;
      head_byte_q <= is_apart ? {1'b1, 1'b0, is_long, others_width} : {3'b000, all_width};
      head_end_q  <= end_q;
      is_bad_q    <= bad_q;
    end else if (item_leaves && !is_apart_q) begin
      for (int k = 0; k < 16; k++) hold_q[k] <= hold_q[k+1];
    end
  end
  assign head_valid_o = head_q;
  assign head_o       = head_byte_q;
  assign head_last_o  = head_end_q;
  assign item_valid_o = is_apart_q || words_q != 5'd0 || ends_q;
  assign item_last_o  = !is_apart_q && words_q == 5'd0;
  assign item_bad_o   = is_bad_q;
  // The first code stands in the high bit of the first byte.
  always_comb begin
    if (is_apart_q) begin
      item_o       = {16'd0, apart_q};
      item_bytes_o = is_long_q ? 3'd2 : 3'd1;
    end else begin
      item_o       = {hold_q[0][7:0], hold_q[0][15:8], hold_q[0][23:16], hold_q[0][31:24]};
      item_bytes_o = (words_q == 5'd0) ? 3'd0 : 3'd4;
    end
  end
endmodule
