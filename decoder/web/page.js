// SPDX-License-Identifier: BSD-3-Clause
// The page: opens streams, asks the worker for slices, shows them.
"use strict";

const $ = (id) => document.getElementById(id);
const bytesOf = (base64) => Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));

const FALLBACKS =
  "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|" +
  "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack";
const PRESETS = {
  [FALLBACKS]: "balanced",
  "linear+lorenzo:axes=0+pack": "fast",
  [`pyramid+linear:range=1+rans|${FALLBACKS}`]: "small",
  [`pyramid:taps=28,every=4,gain=0+linear:range=1+rans|pyramid+linear:range=1+rans|${FALLBACKS}`]: "smallest",
  "exact+lorenzo+huffman+zstd": "lossless",
};

let worker, info, name;
let number = 0; // of the stream: what the worker says about earlier ones comes too late
let axes = [-1, -1]; // of the picture: vertical, horizontal
let index = []; // of the array; along the axes of the picture it does not count
let slice; // the last one that came
let cursor; // [row, column] of the array, or nothing
let palette = paletteOf("viridis");
let asked = 0, answered = 0; // slices
let finest = Infinity; // the finest level that is there
let done = 0;

const setState = (state) => (document.documentElement.dataset.state = state);

function startWorker() {
  const code = new Blob([$("worker").textContent], { type: "text/javascript" });
  const started = new Worker(URL.createObjectURL(code));
  started.onmessage = ({ data }) => {
    if (data.number !== number) return;
    if (data.error !== undefined) fail(data.error);
    if (data.info) show(data.info);
    if (data.level !== undefined) progress(data);
    if (data.slice) receive(data.slice);
  };
  started.onerror = (event) => fail(event.message || "the decoder could not be started");
  started.postMessage({ wasm: bytesOf($("wasm").textContent) });
  return started;
}

// ---- opening -------------------------------------------------------------------------------------

// What the stream states stays, if that much could be read.
function fail(message) {
  $("error").textContent = name ? `${name}: ${message}` : message;
  $("error").hidden = false;
  $("welcome").hidden = info !== undefined;
  $("viewer").classList.toggle("facts-only", !slice);
  setState("error");
}

function begin(title) {
  name = title;
  info = slice = undefined;
  asked = answered = 0;
  ++number;
  $("error").hidden = $("viewer").hidden = $("welcome").hidden = true;
  setState("loading");
}

function open(bytes, title) {
  begin(title);
  worker ??= startWorker();
  worker.postMessage({ open: bytes, number }, [bytes]);
}

async function openFile(file) {
  if (file) open(await file.arrayBuffer(), file.name);
}

async function openAddress(address) {
  begin(address.split("/").pop());
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
    open(await answer.arrayBuffer(), name);
  } catch (error) {
    fail(error.message);
  }
}

const openSample = () => open(bytesOf($("sample-stream").textContent).buffer, $("sample-stream").dataset.name);

// ---- what the stream states ----------------------------------------------------------------------

function factsOf(info) {
  const times = (extents) => extents.join(" × ") || "a single value", number = (x) => plainText(Number(x.toPrecision(6)));
  const value = (x) => textOf(x, info.dtype), exact = (x) => plainText(x);
  const preset = PRESETS[info.recipe.replace(/^log\+/, "")];
  const bounds = info.bounds.map(({ kind, value }) => (kind === "lossless" ? kind : `${kind} ${exact(value)}`)).join(", ");
  const hasRange = info.min !== 0 || info.max !== 0;
  return [
    ["Type", info.dtype],
    ["Shape", times(info.shape)],
    ["Array", bytesText(info.bytes)],
    ["Stream", bytesText(info.streamBytes) + (info.isBrief ? ", brief form" : "")],
    ["Ratio", (info.bytes / info.streamBytes).toLocaleString("en", { maximumSignificantDigits: 3 })],
    ["Bound", bounds],
    ["Absolute bound", info.absBound > 0 ? number(info.absBound) : "no loss", exact(info.absBound)],
    ["Largest error", number(info.maxError), exact(info.maxError)],
    preset && ["Preset", preset],
    ["Recipe", info.recipe.replaceAll("+", "+\u200b")],
    ["Chunks", info.chunks > 1 ? `${info.chunks} of ${times(info.chunk)}` : "1"],
    hasRange && ["Range", `${value(info.min)} to ${value(info.max)}`],
    info.special > 0 && ["Special values", info.special.toLocaleString("en")],
    info.exact > 0 && ["Kept exactly", info.exact.toLocaleString("en")],
    info.fills.length > 0 && ["Fill values", info.fills.map(value).join(", ")],
  ].filter(Boolean);
}

// The title has all digits.
function addFact(term, text, title = "") {
  const dt = document.createElement("dt"), dd = document.createElement("dd");
  dt.textContent = term;
  dd.textContent = text;
  dd.title = title;
  $("facts").append(dt, dd);
}

// ---- what to show --------------------------------------------------------------------------------

function fillSelect(select, options) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  select.parentElement.hidden = options.length < 2;
}

function show(stated) {
  info = stated;
  slice = cursor = undefined;
  finest = Infinity;
  done = 0;
  document.title = `${name} - leeway viewer`;
  $("title").textContent = name;
  $("viewer").hidden = false;
  $("viewer").classList.remove("facts-only");
  $("facts").replaceChildren();
  for (const fact of factsOf(info)) addFact(...fact);
  index = info.shape.map((n) => Math.floor(n / 2));
  const long = info.shape.map((_, k) => k).filter((k) => info.shape[k] > 1);
  const used = long.length > 1 ? long : info.shape.map((_, k) => k);
  const planes = used.flatMap((y, i) => used.slice(i + 1).map((x) => [`${y},${x}`, `axes ${y} and ${x}`]));
  fillSelect($("plane"), planes);
  fillSelect($("detail"), Array.from({ length: info.levels + 1 }, (_, k) => [k, k ? `every ${ordinal(2 ** k)} value` : "all values"]));
  $("range").disabled = info.min === 0 && info.max === 0;
  if ($("range").disabled) $("range").value = "slice";
  if (planes.length) $("plane").value = planes.at(-1)[0];
  choosePlane();
}

const ordinal = (n) => `${n}${n === 2 ? "nd" : "th"}`;

function choosePlane() {
  const rank = info.shape.length;
  axes = rank > 1 ? $("plane").value.split(",").map(Number) : [-1, rank - 1];
  cursor = undefined;
  $("sliders").replaceChildren(...index.flatMap((_, k) => (axes.includes(k) || info.shape[k] < 2 ? [] : [sliderOf(k)])));
  ask();
}

function sliderOf(axis) {
  const row = document.createElement("div"), label = document.createElement("label");
  const [range, box] = ["range", "number"].map((type) =>
    Object.assign(document.createElement("input"), { type, min: 0, max: info.shape[axis] - 1, value: index[axis] }));
  row.className = "slider";
  range.id = `axis-${axis}`;
  label.htmlFor = range.id;
  label.textContent = `Axis ${axis} of ${info.shape[axis]}`;
  box.setAttribute("aria-label", `Index along axis ${axis}`);
  for (const input of [range, box])
    input.addEventListener("input", () => {
      const wanted = Number(input.value);
      if (input.value === "" || !(wanted >= 0 && wanted < info.shape[axis])) return;
      index[axis] = Math.floor(wanted);
      (input === range ? box : range).value = index[axis];
      ask();
    });
  row.append(label, range, box);
  return row;
}

// One slice at a time: what changes meanwhile is asked for when the answer has come.
function ask() {
  if (info.values === 0) return draw();
  if (asked === answered) worker.postMessage({ number, slice: { id: ++asked, axes, index, level: Number($("detail").value || 0) } });
  else ask.again = true;
}

function receive(came) {
  answered = came.id;
  const isOld = ask.again;
  ask.again = false;
  if (came.axes.join() === axes.join()) {
    slice = came;
    draw();
  }
  if (isOld) ask();
}

function progress({ level, complete, done: part, hash }) {
  done = Math.max(done, part);
  if (complete) {
    finest = Math.min(finest, level);
    ask();
  } else if (!slice) ask();
  if (hash) addFact("XXH3 of the values", hash);
  $("progress").style.visibility = finest === 0 ? "hidden" : "visible";
  $("progress").setAttribute("aria-valuenow", Math.round(100 * done));
  $("progress").firstElementChild.style.width = `${100 * done}%`;
  if (finest === 0) setState("done");
}

// ---- the picture ---------------------------------------------------------------------------------

// Cells are square unless that makes a picture too long one way.
function sizeCanvas() {
  const canvas = $("picture"), around = getComputedStyle($("stage").parentElement);
  const room = $("stage").parentElement.clientWidth - 2 * parseFloat(around.paddingLeft), most = Math.max(240, 0.68 * innerHeight);
  const ratio = axes[0] < 0 ? 0.45 : Math.min(3, Math.max(1 / 3, info.shape[axes[0]] / info.shape[axes[1]]));
  const width = Math.max(120, Math.min(room, most / ratio)), sharp = Math.min(devicePixelRatio || 1, 2048 / width);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${width * ratio}px`;
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(width * ratio * sharp);
}

function draw() {
  $("stage").hidden = $("legend").hidden = !slice || info.shape.length === 0;
  if (!slice) {
    $("readout").textContent = info.values === 0 ? "The array has no values." : "";
    if (info.values === 0) setState("done");
    return;
  }
  const found = rangeOf(slice.values, info.fills), isEmpty = found.min > found.max;
  const range = $("range").value === "array" ? { min: info.min, max: info.max } : isEmpty ? { min: 0, max: 0 } : found;
  const isPlane = axes[0] >= 0, text = (x) => textOf(x, info.dtype);
  sizeCanvas();
  $("stage").classList.toggle("curve", !isPlane);
  $("scale").style.visibility = isPlane ? "visible" : "hidden";
  $("colours").parentElement.hidden = !isPlane;
  if (isPlane) drawPlane($("picture"), { slice, info, range, palette });
  else drawCurve($("picture"), { slice, info, range, colour: getComputedStyle(document.body).getPropertyValue("--accent") });
  drawScale($("scale"), palette);
  $("lowest").textContent = text(range.min);
  $("highest").textContent = text(range.max);
  const range_text = isEmpty ? "nothing but special values" : `${text(found.min)} to ${text(found.max)}`;
  const special = found.special ? `, ${found.special.toLocaleString("en")} special` : "";
  const coarse = slice.level > 0 ? ` · every ${ordinal(2 ** slice.level)} value` : "";
  $("state").textContent = `Slice: ${range_text}${special}${coarse}`;
  $("picture").setAttribute("aria-label", `${isPlane ? `Slice along axes ${axes[0]} and ${axes[1]}` : "Curve"} of ${name}: ${range_text}`);
  tell();
}

// The value that is shown at the cursor; a coarse slice shows the one before it that it has.
function tell() {
  $("cross").hidden = !cursor;
  if (!cursor) {
    $("readout").textContent = info.shape.length === 0 && slice ? textOf(slice.values[0], info.dtype) : "";
    return;
  }
  const step = 2 ** slice.level, place = [0, 0], at = [...index];
  axes.forEach((axis, k) => {
    if (axis < 0) return;
    const chunk = info.chunk[axis], inside = Math.floor((cursor[k] % chunk) / step), whole = Math.floor(cursor[k] / chunk);
    place[k] = whole * Math.ceil(chunk / step) + inside;
    at[axis] = whole * chunk + inside * step;
  });
  $("readout").textContent = `[${at.join(", ")}] = ${textOf(slice.values[place[0] * slice.columns + place[1]], info.dtype)}`;
  const extents = axes.map((axis) => info.shape[axis] ?? 1);
  $("cross").style.top = axes[0] < 0 ? "50%" : `${(100 * (cursor[0] + 0.5)) / extents[0]}%`;
  $("cross").style.left = `${(100 * (cursor[1] + 0.5)) / extents[1]}%`;
}

function point(event) {
  if (!slice) return;
  const box = $("picture").getBoundingClientRect();
  const parts = [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width];
  cursor = axes.map((axis, k) => (axis < 0 ? 0 : Math.max(0, Math.min(info.shape[axis] - 1, Math.floor(parts[k] * info.shape[axis])))));
  tell();
}

function move(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!steps || !slice) return;
  event.preventDefault();
  const length = (event.shiftKey ? 10 : 1) * 2 ** slice.level;
  const from = cursor ?? axes.map((axis) => (axis < 0 ? 0 : Math.floor(info.shape[axis] / 2)));
  cursor = axes.map((axis, k) => (axis < 0 ? 0 : Math.max(0, Math.min(info.shape[axis] - 1, from[k] + (cursor ? steps[k] * length : 0)))));
  tell();
}

// ---- what the user does --------------------------------------------------------------------------

fillSelect($("colours"), Object.keys(COLOURS).map((colour) => [colour, colour]));
$("file").addEventListener("change", () => openFile($("file").files[0]));
$("sample").addEventListener("click", openSample);
$("plane").addEventListener("change", choosePlane);
$("detail").addEventListener("change", ask);
$("range").addEventListener("change", draw);
$("colours").addEventListener("change", () => {
  palette = paletteOf($("colours").value);
  draw();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("picture").addEventListener("pointermove", point);
$("picture").addEventListener("pointerdown", point);
$("picture").addEventListener("keydown", move);
addEventListener("resize", () => info && draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => info && draw());
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("over");
});
addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  openFile(event.dataTransfer.files[0]);
});

setState("empty");
const wanted = new URLSearchParams(location.search);
if (wanted.get("url")) openAddress(wanted.get("url"));
else if (wanted.has("sample")) openSample();
