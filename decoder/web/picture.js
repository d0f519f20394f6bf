// SPDX-License-Identifier: BSD-3-Clause
// Pictures of slices: colours for planes, a curve for what has one axis.
"use strict";

const COLOURS = {
  viridis: ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"],
  inferno: ["000004", "1b0c41", "4a0c6b", "781c6d", "a52c60", "cf4446", "ed6925", "fb9b06", "f7d13d", "fcffa4"],
  "blue to red": ["2166ac", "67a9cf", "d1e5f0", "f7f7f7", "fddbc7", "ef8a62", "b2182b"],
  greys: ["111111", "eeeeee"],
};

// 256 colours as red, green, blue.
function paletteOf(name) {
  const stops = COLOURS[name].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const palette = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; ++i) {
    const x = (i / 255) * (stops.length - 1), low = Math.min(Math.floor(x), stops.length - 2);
    for (let k = 0; k < 3; ++k) palette[3 * i + k] = Math.round(stops[low][k] + (x - low) * (stops[low + 1][k] - stops[low][k]));
  }
  return palette;
}

// The smallest and the largest ordinary value, and how many are special: not finite, or a fill value.
function rangeOf(values, fills) {
  const isFill = new Set(fills);
  let min = Infinity, max = -Infinity, special = 0;
  for (const x of values) {
    if (!Number.isFinite(x) || isFill.has(x)) ++special;
    else {
      if (x < min) min = x;
      if (x > max) max = x;
    }
  }
  return { min, max, special };
}

// For every point of the screen, the row or column of a slice that it shows. Slices of a level lack values of every chunk.
function placesOf(points, extent, chunk, level) {
  const thin = Math.ceil(chunk / 2 ** level);
  return Int32Array.from({ length: points }, (_, point) => {
    const i = Math.min(extent - 1, Math.floor(((point + 0.5) * extent) / points));
    return Math.floor(i / chunk) * thin + Math.floor((i % chunk) / 2 ** level);
  });
}

// A plane in colours; what is special stays transparent.
function drawPlane(canvas, { slice, info, range, palette }) {
  const context = canvas.getContext("2d"), { width, height } = canvas;
  const image = context.createImageData(width, height), pixels = image.data;
  const [down, across] = [height, width].map((points, k) => {
    const axis = slice.axes[k];
    return placesOf(points, info.shape[axis], info.chunk[axis], slice.level);
  });
  const isFill = new Set(info.fills), scale = range.max > range.min ? 255 / (range.max - range.min) : 0;
  let at = 0;
  for (let y = 0; y < height; ++y) {
    const row = down[y] * slice.columns;
    for (let x = 0; x < width; ++x, at += 4) {
      const value = slice.values[row + across[x]];
      if (!Number.isFinite(value) || isFill.has(value)) continue;
      const colour = 3 * Math.max(0, Math.min(255, Math.round((value - range.min) * scale)));
      pixels[at] = palette[colour];
      pixels[at + 1] = palette[colour + 1];
      pixels[at + 2] = palette[colour + 2];
      pixels[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

// A curve; of values that share a point of the screen, all from the smallest to the largest.
function drawCurve(canvas, { slice, info, range, colour }) {
  const context = canvas.getContext("2d"), { width, height } = canvas, margin = 0.04 * height;
  const places = placesOf(width, info.shape[0], info.chunk[0], slice.level), isFill = new Set(info.fills);
  const toY = (value) => {
    const part = range.max > range.min ? (value - range.min) / (range.max - range.min) : 0.5;
    return height - margin - part * (height - 2 * margin);
  };
  context.clearRect(0, 0, width, height);
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, width / 600);
  context.lineJoin = "round";
  context.beginPath();
  let isDown = false;
  for (let x = 0; x < width; ++x) {
    const end = x + 1 < width ? Math.max(places[x] + 1, places[x + 1]) : slice.columns;
    const part = slice.values.subarray(places[x], end).filter((value) => Number.isFinite(value) && !isFill.has(value));
    if (part.length === 0) isDown = false;
    for (const value of part.length > 2 ? [part[0], Math.min(...part), Math.max(...part), part.at(-1)] : part) {
      if (isDown) context.lineTo(x, toY(value));
      else context.moveTo(x, toY(value));
      isDown = true;
    }
  }
  context.stroke();
}

function drawScale(canvas, palette) {
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, 1);
  for (let x = 0; x < canvas.width; ++x) {
    const colour = 3 * Math.round((255 * x) / (canvas.width - 1));
    image.data.set([palette[colour], palette[colour + 1], palette[colour + 2], 255], 4 * x);
  }
  for (let y = 0; y < canvas.height; ++y) context.putImageData(image, 0, y);
}

// Without long rows of zeros.
function plainText(value) {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞");
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e12 || size < 1e-4) ? value.toExponential().replace("e+", "e") : String(value);
}

// A number as short as its type allows. JavaScript's are not enough for large integers of 64 bits.
function textOf(value, dtype) {
  if (dtype.endsWith("64") && dtype !== "f64" && !Number.isSafeInteger(value)) return `≈ ${plainText(value)}`;
  const digits = { f32: 9, f16: 5, bf16: 4 }[dtype];
  if (!digits || !Number.isFinite(value)) return plainText(value);
  const half = Math.abs(value) * 2 ** -{ f32: 25, f16: 12, bf16: 9 }[dtype]; // of the least distance to another value
  let n = 1;
  while (n < digits && !(Math.abs(Number(value.toPrecision(n)) - value) < half)) ++n;
  return plainText(Number(value.toPrecision(n)));
}

const bytesText = (bytes) => {
  const units = ["B", "kB", "MB", "GB", "TB"], power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toLocaleString("en", { maximumSignificantDigits: power ? 3 : 4 })} ${units[power]}`;
};
