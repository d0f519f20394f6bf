// SPDX-License-Identifier: BSD-3-Clause
// Page books: which book a page of a chunk is coded with, and the counts that decide on it. The
// first page has the book that the host has loaded. A quarter of the codes is counted, the first
// 512 of every 2048; while the last 1536 codes of a page pass, the counts go to a maker of books,
// and what it decides holds for the page after the next: `adaptive:rule=paper,lag=1`. A page waits
// until its book is made.
module lwy_page_books (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        idle_o,            // a chunk may start
  input  logic        start_i,
  input  logic        is_open_i,         // the chunk has tokens left
  input  logic        follows_i,         // else all pages have the book of the host
  input  logic [9:0]  low_i,             // of the host's book
  input  logic [10:0] size_i,
  // Pages, and the tokens that pass.
  output logic        may_turn_o,
  input  logic        turns_i,
  input  logic        has_two_behind_i,
  input  logic [23:0] in_page_i,
  input  logic        next_i,
  input  logic        moves_i,
  input  logic        valid_i,           // a token, one move behind next_i
  input  logic [10:0] token_i,
  // The book of the page.
  output logic [11:0] base_o,
  output logic [9:0]  low_o,
  output logic [10:0] size_o,
  // The maker.
  output logic        ask_o,             // for it, until it starts
  input  logic        start_maker_i,
  output logic [24:0] deviation_o,
  output logic        count_valid_o,
  output logic [19:0] count_o,
  output logic        count_last_o,
  input  logic        decided_i,
  input  logic        makes_i,
  input  logic        restarts_i,
  input  logic [24:0] deviation_i,
  input  logic        made_i,
  input  logic [9:0]  made_low_i,
  input  logic [10:0] made_size_i,
  output logic [11:0] made_base_o        // where its codewords go
);
  // When 516 tokens of the last 2048 have passed, 512 of them are counted for sure.
  localparam logic [23:0] IsCounted = 24'd1532;
  localparam logic [10:0] Last = 11'd1035;
  // Book 0 is the host's, the others are made in turn; each has room for all tokens but the
  // host's, which has 988.
  function automatic logic [11:0] base_of(logic [1:0] number);
    case (number)
      2'd1: base_of = 12'd0;
      2'd2: base_of = 12'd1036;
      2'd3: base_of = 12'd2072;
      default: base_of = 12'd3108;
    endcase
  endfunction

  // Counting.
  logic       counts_page_q, is_counted_q, is_dirty_q, clears, asks;
  logic [8:0] in_quarter_q;
  logic [1:0] quarter_q;
  logic [10:0] address_q;
  lwy_counts u_counts (
    .clk_i, .rst_ni, .moves_i, .valid_i(valid_i && is_counted_q), .token_i, .clear_i(clears),
    .read_i(address_q), .count_o
  );
  assign asks = next_i && counts_page_q && in_page_i == IsCounted;
  always_ff @(posedge clk_i) begin
    if (turns_i) begin
      counts_page_q             <= follows_i && has_two_behind_i;
      {quarter_q, in_quarter_q} <= 11'd0;
    end else if (next_i) begin
      {quarter_q, in_quarter_q} <= {quarter_q, in_quarter_q} + 11'd1;
    end
    if (moves_i) is_counted_q <= next_i && counts_page_q && quarter_q == 2'd0;
  end

  // To the maker, and clearing.
  typedef enum logic [2:0] {Idle, Ask, Scan, Await, Clear} state_e;
  state_e state_q;
  logic   is_making_q, asked_q, is_pending;
  assign ask_o      = state_q == Ask;
  assign clears     = state_q == Clear;
  assign is_pending = state_q != Idle;
  assign idle_o     = !is_dirty_q && !is_pending && !is_making_q;
  // The page before asked: then the book before that one is made. Else it may be in the making.
  assign may_turn_o = !is_pending && (asked_q || !is_making_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      is_dirty_q    <= 1'b1;
      is_making_q   <= 1'b0;
      asked_q       <= 1'b0;
      count_valid_o <= 1'b0;
    end else begin
      count_valid_o <= state_q == Scan;
      if (start_i || turns_i) asked_q <= 1'b0;
      else if (asks) asked_q <= 1'b1;
      if (decided_i && makes_i) is_making_q <= 1'b1;
      else if (made_i) is_making_q <= 1'b0;
      if (asks) is_dirty_q <= 1'b1;
      case (state_q)
        Idle: begin
          if (asks) state_q <= Ask;
          else if (is_dirty_q && !is_open_i && !is_making_q) state_q <= Clear;
        end
        Ask:   if (start_maker_i) state_q <= Scan;
        Scan:  if (address_q == Last) state_q <= Await;
        Await: if (decided_i) state_q <= restarts_i ? Clear : Idle;
        default: if (address_q == Last) begin
          state_q    <= Idle;
          is_dirty_q <= is_open_i;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    address_q    <= (state_q == Scan || state_q == Clear) ? address_q + 11'd1 : 11'd0;
    count_last_o <= address_q == Last;
    if (start_i) deviation_o <= 25'd0;
    else if (decided_i) deviation_o <= deviation_i;
  end

  // What was decided for the next page but one and for the next, and where books are.
  logic [20:0] interval_q[4];  // low and size
  logic [20:0] interval;
  logic [2:0]  decided_q, waiting_q;  // whether there is another book, and which
  logic [1:0]  made_q, made, book_q, book;
  assign made        = (made_q == 2'd3) ? 2'd1 : made_q + 2'd1;
  assign made_base_o = base_of(made_q);
  assign book        = waiting_q[2] ? waiting_q[1:0] : book_q;
  assign interval    = interval_q[book];
  always_ff @(posedge clk_i) begin
    if (start_i) interval_q[0] <= {low_i, size_i};
    else if (made_i) interval_q[made_q] <= {made_low_i, made_size_i};
    if (start_i) begin
      book_q    <= 2'd0;
      made_q    <= 2'd1;
      waiting_q <= 3'd0;
      decided_q <= 3'd0;
    end else begin
      if (decided_i && makes_i) made_q <= made;
      if (decided_i) decided_q <= {makes_i || restarts_i, makes_i ? made : 2'd0};
      if (turns_i) begin
        book_q    <= book;
        waiting_q <= decided_q;
        decided_q <= 3'd0;
        base_o    <= base_of(book);
        {low_o, size_o} <= interval;
      end
    end
  end
endmodule
