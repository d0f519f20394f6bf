// SPDX-License-Identifier: BSD-3-Clause
// CEAZ: one pipeline [Zhang et al., ICS 2022]: dual quantization, Lorenzo's rule on integers along
// up to three axes, tokens, codewords, packing. What leaves are the bit streams of the pages of the
// encoder `adaptive`, four a page, and beside them the raw bits of the codes that the book does not
// have. Pages have the book that the host has loaded, or those of a maker of books that pipelines
// share (lwy_ceaz_lanes).
module lwy_ceaz #(
  parameter bit Books = 1'b0,              // books may follow the data
  parameter bit Pow2 = 1'b0,               // steps are powers of two: no multiplier
  parameter int unsigned Stages = 7,       // of the adder
  parameter int unsigned MostRow = 1024,   // values of a row
  parameter int unsigned MostPlane = 16384,
  localparam int unsigned RowBits = $clog2(MostRow),
  localparam int unsigned PlaneBits = $clog2(MostPlane)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // The book: codewords (their first bit lowest) and lengths, by token. Not while a chunk is open.
  // If books may follow, it has at most 988 tokens.
  input  logic                 book_write_i,
  input  logic [10:0]          book_token_i,
  input  logic [3:0]           book_length_i,
  input  logic [11:0]          book_codeword_i,
  // A chunk. Taken when nothing of the one before is left inside.
  input  logic                 chunk_valid_i,
  output logic                 chunk_ready_o,
  input  logic [31:0]          step_i,
  input  logic [31:0]          inverse_i,   // f32(1 / step)
  input  logic [30:0]          limit_i,     // of the error, as the bits of an f32
  input  logic [9:0]           low_i,       // of the book's interval, and 512
  input  logic [10:0]          size_i,      // codes in it
  input  logic [23:0]          values_i,    // at least 1
  input  logic [1:0]           axes_i,      // 1 to 3, of at least two values each
  input  logic [23:0]          row_i,       // less 1: values of a row, with two axes up to MostRow
  input  logic [23:0]          rows_i,      // less 1: of a plane, which has up to MostPlane values
  input  logic [4:0]           page_i,      // values of a page, as a power of two: 11 to 23
  input  logic                 follows_i,   // books follow the data; then up to 2^22 values
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          x_i,
  // Codewords.
  output logic                 word_valid_o,
  input  logic                 word_ready_i,
  output logic [31:0]          word_o,
  output logic [2:0]           word_bytes_o,
  output logic                 word_last_o,  // of a stream: a quarter of a page
  // Raw bits.
  output logic                 raw_valid_o,
  input  logic                 raw_ready_i,
  output logic [31:0]          raw_o,
  output logic [2:0]           raw_bytes_o,
  output logic                 raw_last_o,   // of a page
  // When all has left: whether a value had no code; the host forgets the chunk then.
  output logic                 bad_o,
  // The maker of books (lwy_book_maker).
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
  localparam int unsigned Latency = Pow2 ? 5 : Stages + 11;

  // The chunk.
  logic        start, opens_q, open_q, is_idle, is_empty, may_start, takes, late, books_idle;
  logic [31:0] step_q, inverse_q;
  logic [23:0] values_q;
  logic [30:0] limit_q;
  logic        has_rows_q, has_planes_q;
  assign chunk_ready_o = !open_q && !opens_q && is_idle && is_empty && books_idle;
  assign start         = chunk_valid_i && chunk_ready_o;
  assign ready_o       = open_q && may_start;
  assign takes         = valid_i && ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opens_q <= 1'b0;
      open_q  <= 1'b0;
    end else begin
      opens_q <= start;  // a cycle for what follows from the step
      open_q  <= opens_q || (open_q && !(takes && values_q == 24'd1));
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      step_q    <= step_i;
      inverse_q <= inverse_i;
      limit_q   <= limit_i;
      has_rows_q   <= axes_i >= 2'd2;
      has_planes_q <= axes_i == 2'd3;
      values_q  <= values_i;
    end else if (takes) begin
      values_q <= values_q - 24'd1;
    end
  end

  logic [15:0] code, code0;
  logic        has_code, bad0, valid0, moves;
  lwy_quantize #(.Stages(Stages), .Pow2(Pow2)) u_quantize (
    .clk_i, .step_i(step_q), .inverse_i(inverse_q), .limit_i(limit_q), .x_i,
    .has_code_o(has_code), .code_o(code)
  );
  lwy_valid_pipe #(.N(Latency)) u_valid (.clk_i, .rst_ni, .valid_i(takes), .valid_o(late));
  lwy_outbox #(.Width(17), .Depth(32)) u_codes (
    .clk_i, .rst_ni, .start_i(takes), .may_start_o(may_start), .is_idle_o(is_idle),
    .valid_i(late), .data_i({!has_code, code}), .valid_o(valid0), .ready_i(moves),
    .data_o({bad0, code0})
  );
  always_ff @(posedge clk_i) begin
    if (start) bad_o <= 1'b0;
    else if (valid0 && bad0) bad_o <= 1'b1;
  end

  // From here on all moves, or nothing. Places go beside the differences.
  logic                 valid1, valid2, valid3;
  logic                 is_first_x, is_first_y, is_first_z, first_y, first_z;
  logic [15:0]          code1, code2, code3;
  logic [RowBits-1:0]   in_row, in_row_late;
  logic [PlaneBits-1:0] in_plane, in_plane_late;
  lwy_place #(.RowBits(RowBits), .PlaneBits(PlaneBits)) u_place (
    .clk_i, .start_i(start), .row_i, .rows_i, .next_i(moves && valid0), .in_row_o(in_row),
    .in_plane_o(in_plane), .is_first_x_o(is_first_x), .is_first_y_o(is_first_y),
    .is_first_z_o(is_first_z)
  );
  lwy_moving_pipe #(.Width(RowBits + 1), .N(2)) u_y_late (
    .clk_i, .moves_i(moves), .data_i({is_first_y || !has_rows_q, in_row}),
    .data_o({first_y, in_row_late})
  );
  lwy_moving_pipe #(.Width(PlaneBits + 1), .N(4)) u_z_late (
    .clk_i, .moves_i(moves), .data_i({is_first_z || !has_planes_q, in_plane}),
    .data_o({first_z, in_plane_late})
  );
  lwy_difference u_x (
    .clk_i, .rst_ni, .moves_i(moves), .valid_i(valid0), .is_first_i(is_first_x), .place_i(1'b0),
    .value_i(code0), .valid_o(valid1), .difference_o(code1)
  );
  lwy_difference #(.Most(MostRow)) u_y (
    .clk_i, .rst_ni, .moves_i(moves), .valid_i(valid1), .is_first_i(first_y),
    .place_i(in_row_late), .value_i(code1), .valid_o(valid2), .difference_o(code2)
  );
  lwy_difference #(.Most(MostPlane)) u_z (
    .clk_i, .rst_ni, .moves_i(moves), .valid_i(valid2), .is_first_i(first_z),
    .place_i(in_plane_late), .value_i(code2), .valid_o(valid3), .difference_o(code3)
  );

  // Where the token is, and the book of its page.
  logic        may_turn, turns, waits, has_two_behind, last_of_stream3, last_of_page3, next3;
  logic        last_of_chunk3;
  logic [23:0] in_page;
  logic [11:0] base, made_base;
  logic [9:0]  low;
  logic [10:0] size;
  assign next3 = moves && valid3;
  lwy_page_order u_order (
    .clk_i, .rst_ni, .start_i(start), .values_i, .page_i, .may_turn_i(may_turn), .turns_o(turns),
    .waits_o(waits), .has_two_behind_o(has_two_behind), .next_i(next3),
    .last_of_stream_o(last_of_stream3), .last_of_page_o(last_of_page3), .in_page_o(in_page),
    .last_of_chunk_o(last_of_chunk3)
  );

  logic        valid4_q, apart4, last_of_stream4_q, last_of_page4_q;
  logic [10:0] counted4;
  logic [11:0] address4;
  logic [15:0] zigzag4;
  logic [4:0]  bits4;
  lwy_token u_token (
    .clk_i, .moves_i(moves), .base_i(base), .low_i(low), .size_i(size), .code_i(code3),
    .address_o(address4), .count_o(counted4), .apart_o(apart4), .zigzag_o(zigzag4), .bits_o(bits4)
  );
  if (Books) begin : g_books
    lwy_page_books u_books (
      .clk_i, .rst_ni, .idle_o(books_idle), .start_i(start), .is_open_i(!is_empty), .follows_i,
      .low_i, .size_i, .may_turn_o(may_turn), .turns_i(turns), .has_two_behind_i(has_two_behind),
      .in_page_i(in_page), .next_i(next3), .moves_i(moves), .valid_i(valid4_q),
      .token_i(counted4), .base_o(base), .low_o(low), .size_o(size), .ask_o, .start_maker_i,
      .deviation_o, .count_valid_o, .count_o, .count_last_o, .decided_i, .makes_i, .restarts_i,
      .deviation_i, .made_i, .made_low_i, .made_size_i, .made_base_o(made_base)
    );
  end else begin : g_book
    assign books_idle = 1'b1;
    assign may_turn   = 1'b1;
    assign base       = 12'd0;
    assign made_base  = 12'd0;
    always_ff @(posedge clk_i) if (start) {low, size} <= {low_i, size_i};
    assign {ask_o, deviation_o, count_valid_o, count_o, count_last_o} = '0;
    logic unused;
    assign unused = ^{start_maker_i, decided_i, makes_i, restarts_i, deviation_i, made_i,
                      made_low_i, made_size_i, counted4, in_page, turns, has_two_behind,
                      follows_i};
  end

  localparam int unsigned BookBits = Books ? 12 : 11;
  localparam logic [11:0] HostBase = Books ? 12'd3108 : 12'd0;
  logic [15:0] book[2**BookBits];
  logic [15:0] entry5_q;
  logic [11:0] book_address;
  logic        valid5_q, last_of_chunk4_q;
  assign book_address = book_write_i ? HostBase + {1'b0, book_token_i}
                                     : made_base + {1'b0, entry_token_i};
  always_ff @(posedge clk_i) begin
    if (book_write_i || (Books && entry_valid_i))
      book[book_address[BookBits-1:0]] <= book_write_i ? {book_length_i, book_codeword_i}
                                                       : {entry_length_i, entry_codeword_i};
    if (moves) entry5_q <= book[address4[BookBits-1:0]];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid4_q <= 1'b0;
      valid5_q <= 1'b0;
      valid6_q <= 1'b0;
    end else if (moves) begin
      valid4_q <= valid3;
      valid5_q <= valid4_q;
      valid6_q <= valid5_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      last_of_stream4_q <= last_of_stream3;
      last_of_page4_q   <= last_of_page3;
      last_of_chunk4_q  <= last_of_chunk3;
    end
  end

  // A memory gives late what it is asked for: one more register.
  logic [15:0] entry6_q, zigzag6;
  logic [4:0]  bits6;
  logic        valid6_q, last_of_stream6, last_of_page6, last_of_chunk6;
  always_ff @(posedge clk_i) if (moves) entry6_q <= entry5_q;
  lwy_moving_pipe #(.Width(24), .N(2)) u_beside (
    .clk_i, .moves_i(moves),
    .data_i({apart4 ? {zigzag4, bits4} : 21'd0, last_of_stream4_q, last_of_page4_q,
             last_of_chunk4_q}),
    .data_o({zigzag6, bits6, last_of_stream6, last_of_page6, last_of_chunk6})
  );

  // Both packers take a token, or none does.
  logic words_ready, raw_ready, words_busy, raw_busy, enters6;
  assign enters6 = valid6_q && !(waits && valid3);
  assign moves   = (!valid6_q || (words_ready && raw_ready)) && !(waits && valid3);
  lwy_pack u_words (
    .clk_i, .rst_ni, .valid_i(enters6 && raw_ready), .ready_o(words_ready),
    .bits_i({4'd0, entry6_q[11:0]}), .count_i({1'b0, entry6_q[15:12]}),
    .last_i(last_of_stream6), .busy_o(words_busy), .valid_o(word_valid_o),
    .ready_i(word_ready_i), .word_o, .bytes_o(word_bytes_o), .last_o(word_last_o)
  );
  lwy_pack u_raw (
    .clk_i, .rst_ni, .valid_i(enters6 && words_ready), .ready_o(raw_ready), .bits_i(zigzag6),
    .count_i(bits6), .last_i(last_of_page6), .busy_o(raw_busy), .valid_o(raw_valid_o),
    .ready_i(raw_ready_i), .word_o(raw_o), .bytes_o(raw_bytes_o), .last_o(raw_last_o)
  );

  // Nothing is left when the last token has become bits, and these have left.
  logic has_tokens_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) has_tokens_q <= 1'b0;
    else has_tokens_q <= start || (has_tokens_q && !(moves && valid6_q && last_of_chunk6));
  end
  assign is_empty = !has_tokens_q && !words_busy && !raw_busy;

  logic unused;
  assign unused = ^{book_address, address4, entry_valid_i};
endmodule
