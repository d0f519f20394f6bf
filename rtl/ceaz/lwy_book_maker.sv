// SPDX-License-Identifier: BSD-3-Clause
// Book maker: what the counts of a page mean for a book [Zhang et al., ICS 2022, section 3.3]. Has
// the standard deviation changed by at most 5.18, the book stays; by 9.69 or more, the offline book
// comes back; by something between, a new book is made.
//
// It takes about 2100 cycles for the counts and 14 to 20 for every token of a new book.
module lwy_book_maker #(
  parameter logic [7:0] RestartByte = 8'd6  // the offline book, in a page
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        idle_o,
  input  logic        start_i,         // while idle; counts follow
  input  logic [24:0] deviation_i,     // of the page before
  input  logic        count_valid_i,   // 12 classes, then 1024 codes from the lowest on
  input  logic [19:0] count_i,
  input  logic        count_last_i,
  output logic        decided_o,       // one cycle: what follows is known
  output logic        makes_o,         // a new book
  output logic        restarts_o,      // the offline book, and counts from 0 on
  output logic [24:0] deviation_o,
  // The new book: codewords by token, then done_o and its interval.
  output logic        entry_valid_o,
  output logic [10:0] entry_token_o,
  output logic [3:0]  entry_length_o,
  output logic [11:0] entry_codeword_o,
  output logic        done_o,          // one cycle
  output logic [9:0]  low_o,           // of the interval, and 512
  output logic [10:0] size_o,          // codes in it
  // The same as a page has it: a byte that says what changes, then the book if it is new.
  output logic        byte_valid_o,
  input  logic        byte_ready_i,
  output logic [7:0]  byte_o,
  output logic        byte_last_o
);
  localparam logic [24:0] Keep = 25'd339476, Restart = 25'd635044;  // 5.18 and 9.69, by 2^16

  typedef enum logic [2:0] {Idle, Collect, Decide, Trim, Make, Head, Entries, Leave} state_e;
  state_e state_q;
  assign idle_o = state_q == Idle;

  logic [4:0] classes_q;  // still to come
  logic       has_deviation;
  lwy_deviation u_deviation (
    .clk_i, .rst_ni, .start_i, .valid_i(count_valid_i && classes_q == 5'd0),
    .last_i(count_last_i), .count_i, .done_o(has_deviation), .deviation_o
  );
  logic [24:0] before_q, change;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      before_q  <= deviation_i;
      classes_q <= 5'd12;
    end else if (count_valid_i && classes_q != 5'd0) begin
      classes_q <= classes_q - 5'd1;
    end
  end
  assign change = (deviation_o > before_q) ? deviation_o - before_q : before_q - deviation_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) decided_o <= 1'b0;
    else decided_o <= state_q == Decide;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Decide) begin
      restarts_o <= change >= Restart;
      makes_o    <= change > Keep && change < Restart;
    end
  end

  logic        trims, is_trimmed, is_sorted, has_tree, has_lengths;
  logic [10:0] tokens, centre, asked, place, placed;
  logic [19:0] count;
  assign trims = state_q == Trim && makes_o;
  lwy_book_trim u_trim (
    .clk_i, .rst_ni, .start_i, .valid_i(count_valid_i), .count_i, .trim_i(trims),
    .done_o(is_trimmed), .low_o, .size_o, .tokens_o(tokens), .centre_o(centre), .token_i(asked),
    .count_o(count)
  );
  logic        put;
  logic [10:0] put_place, put_token;
  logic [19:0] put_count;
  lwy_book_sort u_sort (
    .clk_i, .rst_ni, .start_i(is_trimmed), .tokens_i(tokens), .centre_i(centre),
    .done_o(is_sorted), .token_o(asked), .count_i(count), .put_o(put), .put_place_o(put_place),
    .put_token_o(put_token), .put_count_o(put_count)
  );
  logic        depth_valid;
  logic [10:0] depth_place;
  logic [3:0]  depth;
  lwy_book_tree u_tree (
    .clk_i, .rst_ni, .put_i(put), .put_place_i(put_place), .put_token_i(put_token),
    .put_count_i(put_count), .start_i(is_sorted), .tokens_i(tokens), .done_o(has_tree),
    .depth_valid_o(depth_valid), .depth_place_o(depth_place), .depth_o(depth), .place_i(place),
    .token_o(placed)
  );
  logic entries_ready;
  lwy_book_lengths u_lengths (
    .clk_i, .rst_ni, .clear_i(start_i), .depth_valid_i(depth_valid), .depth_place_i(depth_place),
    .depth_i(depth), .start_i(has_tree), .tokens_i(tokens), .done_o(has_lengths), .place_o(place),
    .token_i(placed), .ready_i(entries_ready), .valid_o(entry_valid_o), .token_o(entry_token_o),
    .length_o(entry_length_o), .codeword_o(entry_codeword_o)
  );
  assign done_o = state_q == Entries && has_lengths;

  // Bytes: what changes, low and size in two bytes each, two lengths in one.
  logic [2:0] head_q;
  logic [3:0] half_q;
  logic       may_put, has_half_q, is_last, is_sent_q;
  assign is_last       = entry_token_o == tokens - 11'd1;
  assign may_put       = !byte_valid_o || byte_ready_i;
  assign entries_ready = state_q == Entries && may_put;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      byte_valid_o <= 1'b0;
    end else begin
      if (may_put) byte_valid_o <= 1'b0;
      case (state_q)
        Idle:    if (start_i) state_q <= Collect;
        Collect: if (has_deviation) state_q <= Decide;
        Decide:  state_q <= Trim;
        Trim:    state_q <= makes_o ? Make : Leave;
        Make:    if (is_trimmed) state_q <= Head;
        Head: if (may_put) begin
          byte_valid_o <= 1'b1;
          if (head_q == 3'd4) state_q <= Entries;
        end
        Entries: begin
          if (entry_valid_o && (has_half_q || is_last)) byte_valid_o <= 1'b1;
          if (has_lengths) state_q <= Leave;
        end
        default: if (may_put) begin  // the only byte; or the last one has left
          byte_valid_o <= !is_sent_q;
          if (is_sent_q) state_q <= Idle;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    case (state_q)
      Decide: begin
        head_q     <= 3'd0;
        has_half_q <= 1'b0;
        is_sent_q  <= 1'b0;
      end
      Head: if (may_put) begin
        head_q      <= head_q + 3'd1;
        byte_last_o <= 1'b0;
        case (head_q)
          3'd0:    byte_o <= 8'd1;
          3'd1:    byte_o <= low_o[7:0];
          3'd2:    byte_o <= {6'd0, low_o[9:8]};
          3'd3:    byte_o <= size_o[7:0];
          default: byte_o <= {5'd0, size_o[10:8]};
        endcase
      end
      Entries: begin
        is_sent_q <= has_lengths;
        if (entry_valid_o) begin
          has_half_q  <= !has_half_q;
          half_q      <= entry_length_o;
          byte_o      <= has_half_q ? {entry_length_o, half_q} : {4'd0, entry_length_o};
          byte_last_o <= is_last;
        end
      end
      Leave: if (may_put && !is_sent_q) begin
        is_sent_q   <= 1'b1;
        byte_last_o <= 1'b1;
        byte_o      <= restarts_o ? RestartByte : 8'd0;
      end
      default: ;
    endcase
  end
endmodule
