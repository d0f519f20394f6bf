// SPDX-License-Identifier: BSD-3-Clause
// Book sort: tokens in the approximate order of their counts, as CEAZ sorts: counts fall off on
// both sides of the most frequent token, so it is the last, and before it stand its neighbours, two
// by two, of two the rarer first. Two cycles a token.
module lwy_book_sort (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic [10:0] tokens_i,
  input  logic [10:0] centre_i,
  output logic        done_o,      // one cycle
  // The count of a token comes a cycle later.
  output logic [10:0] token_o,
  input  logic [19:0] count_i,
  // A token and its place, the last place first.
  output logic        put_o,
  output logic [10:0] put_place_o,
  output logic [10:0] put_token_o,
  output logic [19:0] put_count_o
);
  typedef enum logic [2:0] {Idle, Choose, Single, Second, Larger, Smaller} state_e;
  state_e      state_q;
  logic [10:0] low_q, high_q;  // tokens below the one and from the other on are left
  logic [10:0] place_q, token_q, other_q;
  logic [19:0] count_q;
  logic        has_low, has_high, is_larger;
  assign has_low   = low_q != 11'd0;
  assign has_high  = high_q != tokens_i;
  assign is_larger = count_q > count_i;  // the lower of the two

  always_comb begin
    if (state_q == Choose && has_low) token_o = low_q - 11'd1;
    else if (state_q == Idle) token_o = centre_i;
    else token_o = high_q;
    put_o       = state_q == Single || state_q == Larger || state_q == Smaller;
    put_place_o = place_q - 11'd1;
    put_token_o = (state_q == Larger && !is_larger) ? other_q : token_q;
    put_count_o = (state_q == Smaller || (state_q == Larger && is_larger)) ? count_q : count_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
    end else begin
      done_o <= 1'b0;
      case (state_q)
        Idle: if (start_i) state_q <= Single;
        Choose: begin
          if (has_low && has_high) begin
            state_q <= Second;
          end else if (has_low || has_high) begin
            state_q <= Single;
          end else begin
            state_q <= Idle;
            done_o  <= 1'b1;
          end
        end
        Second:  state_q <= Larger;
        Larger:  state_q <= Smaller;
        default: state_q <= Choose;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (put_o) place_q <= place_q - 11'd1;
    case (state_q)
      Idle: begin
        low_q   <= centre_i;
        high_q  <= centre_i + 11'd1;
        place_q <= tokens_i;
        token_q <= centre_i;
      end
      Choose: begin
        token_q <= token_o;
        if (has_low) low_q <= low_q - 11'd1;
        else high_q <= high_q + 11'd1;
      end
      Second: begin
        count_q <= count_i;
        other_q <= token_o;
        high_q  <= high_q + 11'd1;
      end
      Larger: if (is_larger) begin
        token_q <= other_q;
        count_q <= count_i;
      end
      default: ;
    endcase
  end
endmodule
