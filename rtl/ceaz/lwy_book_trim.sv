// SPDX-License-Identifier: BSD-3-Clause
// Book trim: counts, and which of them a book has. At both ends of the interval the rarest codes
// are left out while they are at most one in 4096 together; two stay. Then the count of a token is
// at least 1, and what was left out is in class 0 (Book::made_of in leeway/encode/parts/book.cc).
module lwy_book_trim (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,     // new counts are to come
  input  logic        valid_i,     // the next: 12 classes, 1024 codes from the lowest on
  input  logic [19:0] count_i,     // together less than 2^20
  input  logic        trim_i,      // all are here
  output logic        done_o,      // one cycle
  output logic [9:0]  low_o,       // of the interval, and 512
  output logic [10:0] size_o,      // codes in it
  output logic [10:0] tokens_o,    // 12 more
  output logic [10:0] centre_o,    // the first most frequent token
  // The count of a token, a cycle later.
  input  logic [10:0] token_i,
  output logic [19:0] count_o
);
  localparam logic [10:0] Classes = 11'd12, Last = 11'd1035;

  typedef enum logic [2:0] {Idle, Low, High, Fix, Centre} state_e;
  state_e      state_q;
  logic [19:0] memory[2048];
  logic [19:0] read_q, total_q, left_out_q, sum, most_q, class0_q;
  logic [10:0] filled_q, first_q, last_q, next_q, at_q, address, write_address, token;
  logic        has_read_q, fits, ends, writes;

  // The place of a token among all counts.
  assign token   = (state_q == Centre) ? next_q : token_i;
  always_comb begin
    if (state_q == Low || state_q == High) address = next_q;
    else if (token < Classes) address = token;
    else address = token - Classes + first_q;
  end
  assign writes        = valid_i || state_q == Fix;
  assign write_address = (state_q == Fix) ? 11'd0 : filled_q;
  always_ff @(posedge clk_i) begin
    read_q <= memory[address];
    if (writes) memory[write_address] <= (state_q == Fix) ? class0_q + left_out_q : count_i;
  end
  assign count_o = (read_q == 20'd0) ? 20'd1 : read_q;

  // What was read a cycle ago is left out, or ends the search.
  assign sum  = left_out_q + read_q;
  assign fits = sum <= {12'd0, total_q[19:12]};
  assign ends = has_read_q && !(fits && first_q + 11'd1 < last_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
    end else begin
      done_o <= 1'b0;
      case (state_q)
        Idle: if (trim_i) state_q <= Low;
        Low:  if (ends) state_q <= High;
        High: if (ends) state_q <= Fix;
        Fix:  state_q <= Centre;
        default: if (has_read_q && at_q == tokens_o - 11'd1) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    at_q       <= next_q;
    has_read_q <= 1'b1;
    next_q     <= (state_q == High) ? next_q - 11'd1 : next_q + 11'd1;
    if (start_i) begin
      filled_q   <= 11'd0;
      total_q    <= 20'd0;
      left_out_q <= 20'd0;
    end else if (valid_i) begin
      filled_q <= filled_q + 11'd1;
      total_q  <= total_q + count_i;
      if (filled_q == 11'd0) class0_q <= count_i;
    end
    case (state_q)
      Idle: begin
        next_q     <= Classes;
        has_read_q <= 1'b0;
        if (trim_i) begin
          first_q <= Classes;
          last_q  <= Last;
        end
      end
      Low: begin
        if (ends) begin
          next_q     <= Last;
          has_read_q <= 1'b0;
        end else if (has_read_q) begin
          first_q    <= first_q + 11'd1;
          left_out_q <= sum;
        end
      end
      High: begin
        if (!ends && has_read_q) begin
          last_q     <= last_q - 11'd1;
          left_out_q <= sum;
        end
      end
      Fix: begin
        next_q     <= 11'd0;
        has_read_q <= 1'b0;
        most_q     <= 20'd0;
      end
      default: if (has_read_q && count_o > most_q) begin
        most_q   <= count_o;
        centre_o <= at_q;
      end
    endcase
  end
  logic [10:0] low;
  assign low      = first_q - Classes;
  assign low_o    = low[9:0];
  assign size_o   = last_q - first_q + 11'd1;
  assign tokens_o = size_o + Classes;

  logic unused;
  assign unused = low[10];
endmodule
