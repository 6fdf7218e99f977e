#include "export/web/page_assets.h"

namespace kepler::web {

std::string_view PageStyle() {
  return R"css(:root {
  color-scheme: light dark;
  --text: #1a1a1a; --page: #ffffff; --line: #d0d0d0; --soft: #595959; --link: #0057a8; --active: #c2570c; --idle: #5b86b8;
  --problem: #a40000;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8e8e8; --page: #16181c; --line: #42464e; --soft: #a9aeb6; --link: #7ab8ff; --active: #f0883e; --idle: #4c7cb3;
    --problem: #ff8a80;
  }
}
* { box-sizing: border-box; }
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 64rem; margin: 1.5rem auto; padding: 0 1rem;
}
h1 { margin-bottom: 0; }
h2 { margin: 1.6rem 0 .4rem; font-size: 1.2rem; }
.version { color: var(--soft); margin-top: .2rem; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; font-weight: normal; padding: .25rem .8rem .25rem 0; vertical-align: top;
  overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
thead th { font-weight: 600; overflow-wrap: normal; }
thead th a[href] { text-decoration-style: dotted; }
th[aria-sort]::after { content: " \2193"; }
td.number { text-align: right; }
.figures :is(th, td):nth-child(n+2):nth-child(-n+4), .zones :is(th, td):nth-child(5) { text-align: right; white-space: nowrap; }
.zones :is(th, td):nth-child(6), .rows :is(th, td):nth-child(5) { width: 35%; padding-left: .8rem; }
.rows :is(th, td) { overflow: clip; }
.scroll :is(th, td) { overflow-wrap: normal; }
.scroll :is(th, td):last-child { overflow-wrap: anywhere; min-width: 12rem; }
nav { margin: .4rem 0; }
nav a { display: inline-block; padding: .3rem .6rem .3rem 0; }
nav a[aria-current] { font-weight: 700; color: var(--text); text-decoration: none; }
form { display: flex; gap: .4rem; align-items: center; max-width: 24rem; margin: .4rem 0 .8rem; }
input { flex: 1; min-width: 0; }
input, button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--soft); border-radius: 4px;
  padding: .3rem .5rem; max-width: 100%; }
figure { margin: .5rem 0; }
svg { display: block; width: 100%; max-width: 46rem; }
svg text { font: 10px system-ui, sans-serif; fill: var(--soft); }
.grid { stroke: var(--line); fill: none; }
path.active { fill: var(--active); }
path.idle { fill: var(--idle); }
.key { display: inline-block; width: .8rem; height: .8rem; }
.key.active { background: var(--active); }
.key.idle { background: var(--idle); }
figcaption, p { color: var(--soft); margin: .4rem 0; overflow-wrap: anywhere; }
.problem { color: var(--problem); }
li { margin: .4rem 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
@media (max-width: 800px) {
  .scroll tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .3rem .5rem; padding: .4rem 0;
    border-bottom: 1px solid var(--line); }
  .scroll :is(table, tbody, td) { display: block; }
  .scroll thead, .scroll td:empty { display: none; }
  .scroll td { border: 0; padding: 0; text-align: left; overflow-wrap: anywhere; }
  .scroll td::before { content: attr(data-header); display: block; font-size: .8rem; color: var(--soft); }
  .scroll td:last-child { grid-column: 1 / -1; min-width: 0; }
}
@media (max-width: 640px) {
  th, td { padding-right: .5rem; font-size: .9rem; }
  .figures tr { display: grid; grid-template-columns: minmax(0, 1.8fr) repeat(3, minmax(0, 1fr)); border-bottom: 1px solid var(--line); }
  .figures.zones tr { grid-template-columns: minmax(0, 1.4fr) repeat(3, minmax(0, 1fr)) minmax(0, 1.5fr); }
  .figures tr > :is(th, td) { border: 0; white-space: normal; }
  .figures tr > :last-child { grid-column: 1 / -1; width: auto; padding: 0 0 .25rem; color: var(--soft); }
  .figures tr > :last-child:empty { display: none; }
  svg text { font-size: 14px; }
}
)css";
}

std::string_view PageIcon() {
  return R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#c2570c" d="M9 1 3 9h4l-1 6 7-9H9z"/></svg>)";
}

std::vector<std::pair<std::string, std::string>> PageHeaders() {
  return {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
       "form-action 'self'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"}};
}

}  // namespace kepler::web
