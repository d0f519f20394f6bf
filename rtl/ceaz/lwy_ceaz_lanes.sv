// SPDX-License-Identifier: BSD-3-Clause
// CEAZ lanes: pipelines side by side, each with a chunk of its own, and one maker of books for all.
// The maker serves the lanes in turn. Ports have the bits of lane 0 lowest.
module lwy_ceaz_lanes #(
  parameter int unsigned Lanes = 4,
  parameter bit Pow2 = 1'b0,
  parameter int unsigned Stages = 7,
  parameter int unsigned MostRow = 1024,
  parameter int unsigned MostPlane = 16384
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // The offline book, for all lanes; see lwy_ceaz.
  input  logic                       book_write_i,
  input  logic [10:0]                book_token_i,
  input  logic [3:0]                 book_length_i,
  input  logic [11:0]                book_codeword_i,
  input  logic [9:0]                 low_i,
  input  logic [10:0]                size_i,
  // A fixed ratio, for some lanes; see lwy_ratio.
  input  logic [Lanes-1:0]           ratio_load_i,
  input  logic signed [14:0]         log_first_i,
  input  logic signed [14:0]         log_least_i,
  input  logic signed [14:0]         log_most_i,
  input  logic [10:0]                target_i,
  // Chunks.
  input  logic [Lanes-1:0]           chunk_valid_i,
  output logic [Lanes-1:0]           chunk_ready_o,
  input  logic [Lanes*32-1:0]        step_i,
  input  logic [Lanes*32-1:0]        inverse_i,
  input  logic [Lanes*31-1:0]        limit_i,
  input  logic [Lanes*24-1:0]        values_i,
  input  logic [Lanes*2-1:0]         axes_i,
  input  logic [Lanes*24-1:0]        row_i,
  input  logic [Lanes*24-1:0]        rows_i,
  input  logic [Lanes*5-1:0]         page_i,
  input  logic [Lanes-1:0]           follows_i,
  input  logic [Lanes-1:0]           fixed_i,
  output logic [Lanes*32-1:0]        step_o,
  input  logic [Lanes-1:0]           valid_i,
  output logic [Lanes-1:0]           ready_o,
  input  logic [Lanes*32-1:0]        x_i,
  output logic [Lanes-1:0]           word_valid_o,
  input  logic [Lanes-1:0]           word_ready_i,
  output logic [Lanes*32-1:0]        word_o,
  output logic [Lanes*3-1:0]         word_bytes_o,
  output logic [Lanes-1:0]           word_last_o,
  output logic [Lanes-1:0]           raw_valid_o,
  input  logic [Lanes-1:0]           raw_ready_i,
  output logic [Lanes*32-1:0]        raw_o,
  output logic [Lanes*3-1:0]         raw_bytes_o,
  output logic [Lanes-1:0]           raw_last_o,
  output logic [Lanes-1:0]           bad_o,
  // What changes with the pages from the third on, one packet for each, if books follow.
  output logic [Lanes-1:0]           change_valid_o,
  input  logic [Lanes-1:0]           change_ready_i,
  output logic [7:0]                 change_o,
  output logic                       change_last_o
);
  logic [Lanes-1:0]    ask, starts, is_served_q, decided, entry_valid, made;
  logic [Lanes-1:0]    count_valid, count_last;
  logic [Lanes*25-1:0] deviations;
  logic [Lanes*20-1:0] counts;
  logic        idle, start, makes, restarts, was_decided, has_entry, is_made, change_valid;
  logic [24:0] earlier, deviation;
  logic [19:0] count;
  logic [10:0] token, made_size;
  logic [3:0]  length;
  logic [11:0] codeword;
  logic [9:0]  made_low;

  // Of the lanes that ask, the next one behind the one that was served.
  logic [2*Lanes-1:0] twice, first;
  assign twice  = {ask, ask & ~(is_served_q | (is_served_q - 1'b1))};
  assign first  = twice & (~twice + 1'b1);
  assign starts = idle ? first[Lanes-1:0] | first[2*Lanes-1:Lanes] : '0;
  assign start  = |starts;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) is_served_q <= Lanes'(1);
    else if (start) is_served_q <= starts;
  end
  always_comb begin
    earlier = '0;
    count  = '0;
    for (int k = 0; k < Lanes; k++) begin
      earlier |= deviations[25*k+:25] & {25{starts[k]}};
      count  |= counts[20*k+:20] & {20{is_served_q[k]}};
    end
  end
  lwy_book_maker u_maker (
    .clk_i, .rst_ni, .idle_o(idle), .start_i(start), .deviation_i(earlier),
    .count_valid_i(|(count_valid & is_served_q)), .count_i(count),
    .count_last_i(|(count_last & is_served_q)), .decided_o(was_decided), .makes_o(makes),
    .restarts_o(restarts), .deviation_o(deviation), .entry_valid_o(has_entry),
    .entry_token_o(token), .entry_length_o(length), .entry_codeword_o(codeword),
    .done_o(is_made), .low_o(made_low), .size_o(made_size), .byte_valid_o(change_valid),
    .byte_ready_i(|(change_ready_i & is_served_q)), .byte_o(change_o), .byte_last_o(change_last_o)
  );
  assign decided        = {Lanes{was_decided}} & is_served_q;
  assign entry_valid    = {Lanes{has_entry}} & is_served_q;
  assign made           = {Lanes{is_made}} & is_served_q;
  assign change_valid_o = {Lanes{change_valid}} & is_served_q;

  for (genvar k = 0; k < Lanes; k++) begin : g_lane
    lwy_ceaz_lane #(
      .Pow2(Pow2), .Stages(Stages), .MostRow(MostRow), .MostPlane(MostPlane)
    ) u_lane (
      .clk_i, .rst_ni, .book_write_i, .book_token_i, .book_length_i, .book_codeword_i,
      .ratio_load_i(ratio_load_i[k]), .log_first_i, .log_least_i, .log_most_i, .target_i,
      .fixed_i(fixed_i[k]), .step_o(step_o[32*k+:32]), .chunk_valid_i(chunk_valid_i[k]),
      .chunk_ready_o(chunk_ready_o[k]),
      .step_i(step_i[32*k+:32]), .inverse_i(inverse_i[32*k+:32]), .limit_i(limit_i[31*k+:31]),
      .low_i, .size_i, .values_i(values_i[24*k+:24]), .axes_i(axes_i[2*k+:2]),
      .row_i(row_i[24*k+:24]), .rows_i(rows_i[24*k+:24]), .page_i(page_i[5*k+:5]),
      .follows_i(follows_i[k]),
      .valid_i(valid_i[k]), .ready_o(ready_o[k]), .x_i(x_i[32*k+:32]),
      .word_valid_o(word_valid_o[k]), .word_ready_i(word_ready_i[k]), .word_o(word_o[32*k+:32]),
      .word_bytes_o(word_bytes_o[3*k+:3]), .word_last_o(word_last_o[k]),
      .raw_valid_o(raw_valid_o[k]), .raw_ready_i(raw_ready_i[k]), .raw_o(raw_o[32*k+:32]),
      .raw_bytes_o(raw_bytes_o[3*k+:3]), .raw_last_o(raw_last_o[k]), .bad_o(bad_o[k]),
      .ask_o(ask[k]), .start_maker_i(starts[k]), .deviation_o(deviations[25*k+:25]),
      .count_valid_o(count_valid[k]), .count_o(counts[20*k+:20]), .count_last_o(count_last[k]),
      .decided_i(decided[k]), .makes_i(makes), .restarts_i(restarts), .deviation_i(deviation),
      .entry_valid_i(entry_valid[k]), .entry_token_i(token), .entry_length_i(length),
      .entry_codeword_i(codeword), .made_i(made[k]), .made_low_i(made_low),
      .made_size_i(made_size)
    );
  end
endmodule
