// SPDX-License-Identifier: BSD-3-Clause
// The style sheet of the page: light and dark, for screens, phones and paper.
#pragma once

namespace leeway::report {

inline constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1c2430;--soft:#5a6675;--line:#d9dfe6;--panel:#f6f8fa;
--good:#1a7f4b;--doubtful:#8a5a00;--bad:#b3261e;--c1:#1f5fa8;--c2:#c2541b;--c3:#2a8a57;--c4:#8e44ad;--c5:#6b7684;--band:#2a8a5722}
@media(prefers-color-scheme:dark){:root{--back:#12171d;--text:#e4e9ef;--soft:#9fabb9;--line:#313a45;--panel:#1a2129;
--good:#5cc98d;--doubtful:#e0b04c;--bad:#ff8a80;--c1:#7db4f0;--c2:#f2a071;--c3:#6fd09b;--c4:#c89be0;--c5:#9fabb9;--band:#6fd09b2b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1060px;padding:1rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0 .6rem}h2{font-size:1.25rem;margin:2.2rem 0 .4rem;border-top:2px solid var(--line);padding-top:1rem;overflow-wrap:anywhere}
h3{font-size:1.02rem;margin:1.5rem 0 .4rem}p{margin:.35rem 0}.soft,figcaption,caption{color:var(--soft);font-size:.88rem}
a{color:var(--c1)}code{overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4rem 0}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;white-space:nowrap}caption{text-align:left}
.chips{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;padding:0;margin:.5rem 0}
.chips li{border:1.5px solid;border-radius:1rem;padding:.05rem .65rem;font-size:.88rem}
.good{color:var(--good)}.doubtful{color:var(--doubtful)}.bad{color:var(--bad);font-weight:600}
.trio{position:relative;display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.7rem;margin:.4rem 0}
figure{margin:0}img{width:100%;height:auto;image-rendering:pixelated;display:block;border:1px solid var(--line)}
.tables{display:flex;flex-wrap:wrap;gap:0 1.6rem;align-items:flex-start}.tables>*{max-width:100%}
.bar{height:.7rem;border:1px solid var(--line);margin-top:.25rem}.ends{display:flex;justify-content:space-between;gap:.4rem}
.flicker{margin-right:.4rem}.flicker:checked~.trio .decoded{position:absolute;left:0;top:0;width:calc((100% - 1.4rem)/3);animation:blink 1s steps(1) infinite}
@keyframes blink{0%{opacity:1}50%{opacity:0}}
.slices{display:flex;overflow-x:auto;scroll-snap-type:x mandatory;gap:.7rem;padding-bottom:.5rem}
.slices>div{flex:0 0 30%;min-width:220px;scroll-snap-align:start}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:.8rem}
.plot{width:100%;height:auto;background:var(--panel);border-radius:.4rem;font:11px system-ui,sans-serif}
.plot text{fill:var(--text)}.plot .head{font-weight:600;font-size:12px}.middle{text-anchor:middle}.end{text-anchor:end}
.plot path{stroke:currentColor;stroke-width:1.5}.plot .grid{stroke:var(--line);stroke-width:1;fill:none}
.plot .guide{stroke:var(--bad);stroke-dasharray:4 3;fill:none}.band{fill:var(--band)}
.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}
.plot path.c2{stroke-dasharray:7 3}.plot path.c3{stroke-dasharray:2 3}.plot path.c4{stroke-dasharray:9 3 2 3}.up{font-size:8px}
@media(max-width:620px){.trio:not(.window){grid-template-columns:1fr}.flicker:checked~.trio:not(.window) .decoded{width:100%}body{padding:.7rem}
.trio{gap:.4rem}.flicker:checked~.window .decoded{width:calc((100% - .8rem)/3)}th,td{padding-right:.6rem}}
@media print{:root{color-scheme:light}body{font-size:10pt;max-width:none;padding:0}section+section{break-before:page}
.plots{grid-template-columns:1fr 1fr}.slices>div{flex-basis:22%;min-width:0}
figure,.plot,table,.trio{break-inside:avoid}.slices{flex-wrap:wrap;overflow:visible}.flicker,.flicker+label{display:none}
.bar{print-color-adjust:exact;-webkit-print-color-adjust:exact}@page{size:A4;margin:14mm}}
)css";

}  // namespace leeway::report
