// SPDX-License-Identifier: BSD-3-Clause
// CEAZ lane: a pipeline whose chunks may have a fixed ratio. Then their steps do not come from the
// host but follow from what the chunks before took; the host reads step_o and writes the bound that
// belongs to it (lwy_ratio).
module lwy_ceaz_lane #(
  parameter bit Pow2 = 1'b0,
  parameter int unsigned Stages = 7,
  parameter int unsigned MostRow = 1024,
  parameter int unsigned MostPlane = 16384
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 book_write_i,
  input  logic [10:0]          book_token_i,
  input  logic [3:0]           book_length_i,
  input  logic [11:0]          book_codeword_i,
  // The ratio; not while a chunk is open.
  input  logic                 ratio_load_i,
  input  logic signed [14:0]   log_first_i,
  input  logic signed [14:0]   log_least_i,
  input  logic signed [14:0]   log_most_i,
  input  logic [10:0]          target_i,
  // A chunk and its streams, as in lwy_ceaz.
  input  logic                 chunk_valid_i,
  output logic                 chunk_ready_o,
  input  logic                 fixed_i,         // its step follows from the ratio
  input  logic [31:0]          step_i,
  input  logic [31:0]          inverse_i,
  input  logic [30:0]          limit_i,
  input  logic [9:0]           low_i,
  input  logic [10:0]          size_i,
  input  logic [23:0]          values_i,
  input  logic [1:0]           axes_i,
  input  logic [23:0]          row_i,
  input  logic [23:0]          rows_i,
  input  logic [4:0]           page_i,
  input  logic                 follows_i,
  output logic [31:0]          step_o,          // of the chunk that is open
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          x_i,
  output logic                 word_valid_o,
  input  logic                 word_ready_i,
  output logic [31:0]          word_o,
  output logic [2:0]           word_bytes_o,
  output logic                 word_last_o,
  output logic                 raw_valid_o,
  input  logic                 raw_ready_i,
  output logic [31:0]          raw_o,
  output logic [2:0]           raw_bytes_o,
  output logic                 raw_last_o,
  output logic                 bad_o,
  // The maker of books.
  output logic                 ask_o,
  input  logic                 start_maker_i,
  output logic [24:0]          deviation_o,
  output logic                 count_valid_o,
  output logic [19:0]          count_o,
  output logic                 count_last_o,
  input  logic                 decided_i,
  input  logic                 makes_i,
  input  logic                 restarts_i,
  input  logic [24:0]          deviation_i,
  input  logic                 entry_valid_i,
  input  logic [10:0]          entry_token_i,
  input  logic [3:0]           entry_length_i,
  input  logic [11:0]          entry_codeword_i,
  input  logic                 made_i,
  input  logic [9:0]           made_low_i,
  input  logic [10:0]          made_size_i
);
  logic        start, open_q, ends, core_ready, ratio_busy;
  logic [31:0] step, inverse;
  logic [30:0] limit;
  assign ends          = open_q && core_ready;
  assign chunk_ready_o = core_ready && !open_q && !ratio_busy;
  assign start         = chunk_valid_i && chunk_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else open_q <= start || (open_q && !ends);
  end
  always_ff @(posedge clk_i) if (start) step_o <= fixed_i ? step : step_i;

  lwy_ceaz #(
    .Books(1'b1), .Pow2(Pow2), .Stages(Stages), .MostRow(MostRow), .MostPlane(MostPlane)
  ) u_ceaz (
    .clk_i, .rst_ni, .book_write_i, .book_token_i, .book_length_i, .book_codeword_i,
    .chunk_valid_i(start), .chunk_ready_o(core_ready), .step_i(fixed_i ? step : step_i),
    .inverse_i(fixed_i ? inverse : inverse_i), .limit_i(fixed_i ? limit : limit_i), .low_i,
    .size_i, .values_i, .axes_i, .row_i, .rows_i, .page_i, .follows_i, .valid_i,
    .ready_o, .x_i, .word_valid_o, .word_ready_i, .word_o, .word_bytes_o, .word_last_o,
    .raw_valid_o, .raw_ready_i, .raw_o, .raw_bytes_o, .raw_last_o, .bad_o, .ask_o,
    .start_maker_i, .deviation_o, .count_valid_o, .count_o, .count_last_o, .decided_i, .makes_i,
    .restarts_i, .deviation_i, .entry_valid_i, .entry_token_i, .entry_length_i,
    .entry_codeword_i, .made_i, .made_low_i, .made_size_i
  );

  // The bytes of the chunk: streams, what changes with the pages, and 12 for the rest of a page.
  logic [31:0] bytes_q;
  logic [23:0] values_q;
  logic [2:0]  words, raws;
  logic [3:0]  page;
  logic [10:0] change;
  always_comb begin
    words = (word_valid_o && word_ready_i) ? word_bytes_o : 3'd0;
    raws  = (raw_valid_o && raw_ready_i) ? raw_bytes_o : 3'd0;
    page  = (raw_valid_o && raw_ready_i && raw_last_o) ? 4'd12 : 4'd0;
    if (made_i) change = 11'd5 + ((made_size_i + 11'd13) >> 1);
    else change = {10'd0, decided_i && !makes_i};
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      bytes_q  <= 32'd0;
      values_q <= values_i;
    end else begin
      bytes_q <= bytes_q + 32'(words) + 32'(raws) + 32'(page) + 32'(change);
    end
  end
  lwy_ratio u_ratio (
    .clk_i, .rst_ni, .load_i(ratio_load_i), .log_first_i, .log_least_i, .log_most_i, .target_i,
    .end_i(ends), .bad_i(bad_o), .bytes_i(bytes_q), .values_i(values_q), .busy_o(ratio_busy),
    .step_o(step), .inverse_o(inverse), .limit_o(limit)
  );
endmodule
