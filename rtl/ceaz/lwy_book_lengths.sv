// SPDX-License-Identifier: BSD-3-Clause
// Book lengths: from depths to codewords. Lengths cut at 12 may need more than all bit patterns
// there are: then the rarest tokens get longer ones; where room is left the most frequent get
// shorter ones (prefix::code_lengths in leeway/encode/parts/prefix_code.cc). Codewords are
// canonical. Two cycles a token for each pass.
module lwy_book_lengths (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,         // a new tree is to come
  input  logic        depth_valid_i,   // by place, the rarest token first
  input  logic [10:0] depth_place_i,
  input  logic [3:0]  depth_i,
  input  logic        start_i,         // all depths are here
  input  logic [10:0] tokens_i,
  output logic        done_o,          // one cycle
  // The token at a place comes a cycle later.
  output logic [10:0] place_o,
  input  logic [10:0] token_i,
  // Codewords by token, their first bit lowest.
  input  logic        ready_i,         // for the next
  output logic        valid_o,
  output logic [10:0] token_o,
  output logic [3:0]  length_o,
  output logic [11:0] codeword_o
);
  localparam logic [12:0] Whole = 13'd4096;
  typedef enum logic [2:0] {Idle, Check, Repair, Shorten, First, Emit} state_e;
  state_e      state_q;
  logic [3:0]  by_place[2048];
  logic [3:0]  by_token[2048];
  logic [11:0] many_q[16];      // tokens with a length; then the next codeword of it
  logic [3:0]  place_length, token_length, length_q, length, new_length, step_q;
  logic [10:0] place_q;
  logic [23:0] used_q;          // of all bit patterns: up to 1036 times the whole
  logic [12:0] part;            // that a length takes
  logic [11:0] code_q, code;
  logic        is_read_q, is_changed_q, is_last, fits, grows, goes_on;

  // In Repair and Shorten a place is read in one cycle and worked on in the next or the next ones.
  assign place_o = place_q;
  assign length  = is_changed_q ? length_q : place_length;
  assign part    = Whole >> length;
  assign fits    = used_q <= {11'd0, Whole};
  assign grows   = length > 4'd1 && used_q + {11'd0, part} <= {11'd0, Whole};
  assign new_length = (state_q == Repair && length != 4'd12) ? length + 4'd1 : length;
  assign is_last = (state_q == Shorten) ? place_q == 11'd0 : place_q == tokens_i - 11'd1;
  assign goes_on = is_read_q && !(state_q == Shorten && grows);  // to the next place
  always_ff @(posedge clk_i) begin
    place_length <= by_place[place_q];
    if (depth_valid_i) by_place[depth_place_i] <= depth_i;
    else if (state_q == Repair && is_read_q && !fits) by_place[place_q] <= new_length;
  end
  always_ff @(posedge clk_i) begin
    token_length <= by_token[place_q];
    if (state_q == Shorten && goes_on) by_token[token_i] <= length;
  end

  logic emits;
  assign emits = state_q == Emit && is_read_q && ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
    end else begin
      done_o <= 1'b0;
      case (state_q)
        Idle:    if (start_i) state_q <= Check;
        Check:   state_q <= fits ? Shorten : Repair;
        Repair:  if (is_read_q && (fits || is_last)) state_q <= Check;
        Shorten: if (goes_on && is_last) state_q <= First;
        First:   if (step_q == 4'd12) state_q <= Emit;
        default: if (emits && is_last) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    is_read_q    <= 1'b0;
    is_changed_q <= 1'b0;
    case (state_q)
      Idle: begin
        if (clear_i) used_q <= 24'd0;
        else if (depth_valid_i) used_q <= used_q + {11'd0, Whole >> depth_i};
        step_q <= 4'd1;
        code_q <= 12'd0;
      end
      Check: place_q <= fits ? tokens_i - 11'd1 : 11'd0;
      Repair: begin
        is_read_q <= !is_read_q;
        if (is_read_q && !fits) begin
          place_q <= place_q + 11'd1;
          if (length != 4'd12) used_q <= used_q - {12'd0, part[12:1]};
        end
      end
      Shorten: begin
        is_read_q <= !goes_on;
        if (goes_on) begin
          place_q <= place_q - 11'd1;
        end else if (is_read_q) begin
          is_changed_q <= 1'b1;
          length_q     <= length - 4'd1;
          used_q       <= used_q + {11'd0, part};
        end
      end
      First: begin
        step_q  <= step_q + 4'd1;
        code_q  <= {code[10:0], 1'b0};
        place_q <= 11'd0;
      end
      default: begin
        is_read_q <= !emits;
        if (emits) place_q <= place_q + 11'd1;
      end
    endcase
  end

  // How many tokens have a length; then, from the shortest length on, its first codeword.
  assign code = code_q + many_q[step_q];
  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      for (int k = 0; k < 16; k++) many_q[k] <= 12'd0;
    end else if (state_q == Shorten && goes_on) begin
      many_q[length] <= many_q[length] + 12'd1;
    end else if (state_q == First) begin
      many_q[step_q] <= code_q;
    end else if (emits) begin
      many_q[token_length] <= many_q[token_length] + 12'd1;
    end
  end

  logic [11:0] reversed;
  always_comb begin
    for (int k = 0; k < 12; k++) reversed[k] = many_q[token_length][11-k];
    codeword_o = reversed >> (4'd12 - token_length);
  end
  assign valid_o  = emits;
  assign token_o  = place_q;
  assign length_o = token_length;

  logic unused;
  assign unused = code[11];
endmodule
