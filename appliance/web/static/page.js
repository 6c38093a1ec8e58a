// The question page: city picker, streamed answers, proof panel, model chip.
//
// Everything that comes from the server is set as text, never as markup; the page's policy makes
// the browser refuse anything else.  Where a quote lies in a section is worked out by the server,
// in code points; nothing here counts characters.

const $ = (id) => document.getElementById(id);
const form = $("ask");
const question = $("question");
const day = $("as_of");
const log = $("log");
const proof = $("proof");

const cities = new Map(); // id -> coverage
let city = $("city").value;
let running = null; // the AbortController of the answer that is being written
// The questions to this city so far: what a follow-up is read with.
let conversation = [...form.querySelectorAll("input[name=before]")].map((input) => input.value);
const MOST_TURNS = 4;

// ------------------------------------------------------------------ elements

/** Make an element; properties that are null are left out, children that are strings become text. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Isolated text: marks of direction in it cannot turn round what stands beside it. */
const bdi = (text) => el("bdi", {}, text);

const count = (number, one, many = `${one}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

// ------------------------------------------------------------------ law text (as law.html)

function lawRun(run) {
  const kind = run.syntax ? "syntax" : run.strong ? "strong" : null;
  return el(run.marked ? "mark" : "span", { class: kind }, run.text);
}

function lawBlock(block) {
  if (block.kind === "paragraph") {
    return el("p", { class: block.item ? "item" : null }, ...block.runs.map(lawRun));
  }
  const rows = block.rows.map((row) =>
    el("tr", {}, ...row.cells.map((c) => el(row.header ? "th" : "td", {}, ...c.map(lawRun)))),
  );
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", {}, ...rows));
}

/** The line above a title, unless the title says the same. */
const citeLine = (citation, title) =>
  title === citation ? null : el("p", { class: "cite" }, bdi(citation));

/** A heading without the citation that some codes begin it with. */
function titleOf(heading, citation) {
  const rest = heading.startsWith(citation) ? heading.slice(citation.length) : heading;
  return rest.replace(/^[ .—–-]+|[ .—–-]+$/g, "") || heading;
}

const notice = (words) => el("p", { class: "warned" }, bdi(words));

function citationCard(citation) {
  const where = `/sections/${citation.section_id}?start=${citation.start}&end=${citation.end}` +
    `&as_of=${citation.as_of}#quote`;
  const title = titleOf(citation.heading, citation.section);
  return el("article", { class: "card", "data-number": citation.number },
    el("header", {},
      el("span", { class: "number" }, String(citation.number)),
      el("div", {}, citeLine(citation.section, title), el("h3", {}, bdi(title)))),
    citation.titles.length ? el("p", { class: "over" }, bdi(citation.titles.join(" › "))) : null,
    el("blockquote", { class: "law" }, ...citation.blocks.map(lawBlock)),
    ...citation.notices.map(notice),
    el("footer", {},
      el("span", { class: "proven" }, "exact text"),
      el("span", {}, citation.dates),
      el("a", { href: where, "data-proof": "", "aria-label": `Read ${citation.section} whole` },
        "Read in the section")));
}

// ------------------------------------------------------------------ one question and its answer

// What is wrong with a sentence (as templates.py).
const FAULTS = {
  unproven: "no exact quote proves it",
  untraced_number: "a number of it stands in nothing that it cites",
  phantom: "it names a section that this code does not have",
  foreign: "it brings a link, markup or a code that stands in nothing it cites",
};
const GRADES = new Map([[1, "say so"], [0.5, "say a part of it"], [0, "do not say so"]]);

// What stands over a refusal (as templates.py); nothing over small talk.
const TITLES = { no_question: "", comparison: "Several cities", out_of_scope: "No matter of a city's code" };

const WAYS = { dense: "meaning", lexical: "words", named: "section number" };

/** The article of one question; each method shows one event of its stream. */
class Entry {
  constructor(asked) {
    this.status = el("p", { class: "status busy", role: "status" }, "Searching the code…");
    this.body = el("div");
    this.checking = el("p", { class: "checking" });
    this.cards = el("div", { class: "cards" });
    this.model = null;
    this.blocks = new Map(); // number of a citation -> how its quote is laid out
    this.meta = el("p", { class: "meta" }, bdi(cities.get(asked.city)?.name ?? asked.city),
      " · code in force on ", el("time", {}, asked.as_of));
    this.root = el("article", { class: "entry" }, el("h2", {}, bdi(asked.question)), this.meta,
      this.status, this.body, this.cards);
    this.done = false;
  }

  passages(found) {
    const there = count(found.hits.length, "passage");
    this.say(`Reading ${there} out of ${found.coverage.chunks.toLocaleString("en")}…`);
  }

  token(token) {
    if (token.demo) {
      this.demoWords().append(token.text);
      this.say("The quotes are proven. The demo model is writing its own wording…");
    } else {
      if (!this.checking.isConnected) this.body.append(this.checking);
      this.checking.append(token.text);
      this.say("The model is writing; its words are being checked against the code…");
    }
  }

  /** The folded place for words that are not proven. */
  demoWords() {
    if (this.model === null) {
      this.model = el("p");
      this.root.append(el("details", { class: "model" },
        el("summary", {}, "The model's own wording (demo model, not advice)"), this.model));
    }
    return this.model;
  }

  citation(citation) {
    this.blocks.set(citation.number, citation.blocks);
    this.cards.append(citationCard(citation));
  }

  answer(answer) {
    this.done = true;
    this.body.replaceChildren();
    if (answer.understood_as) this.meta.after(el("p", { class: "small" }, "Read as: ", bdi(answer.understood_as)));
    this.meta.querySelector("time").textContent = answer.as_of; // the question may name another day
    if (answer.outcome === "abstention") this.abstain(answer);
    else this.settle(answer);
  }

  settle(answer) {
    this.claims = answer.claims;
    if (answer.outcome === "answer") this.body.append(this.verified(answer.text));
    else if (answer.draft && this.model === null) this.demoWords().append(answer.draft.text);
    this.root.append(...this.warnings(answer));
    this.say(`${count(answer.citations.length, "quote")}, each found word for word in the code.`, false);
  }

  /** The verified text, with each [n] as a button that opens its proof. */
  verified(text) {
    const parts = text.split(/\[(\d+)\]/);
    return el("p", { class: "answer" }, ...parts.map((part, i) => (i % 2 ? this.seal(part) : part)));
  }

  seal(number) {
    const button = el("button", { class: "seal", type: "button", "aria-label": `Proof ${number}` }, number);
    button.addEventListener("click", () => {
      const link = this.cards.querySelector(`[data-number="${number}"] a`);
      if (link) openProof(link, button);
    });
    return button;
  }

  /** A model's opinion on one sentence: apart from the proof, and holding nothing back. */
  support({ claim, support }) {
    if (!this.judged) {
      this.judged = el("ul", { class: "support", "aria-label": "Support, as a model judges it" });
      this.body.append(this.judged);
    }
    this.judged.append(el("li", { "data-support": String(support) }, bdi(this.claims[claim].text),
      el("span", {}, `a model finds that the quotes ${GRADES.get(support) ?? `say so to ${support}`}`)));
  }

  calculator({ city: of, question: q }) {
    return el("p", { class: "note" }, "Is it a matter of numbers? ",
      el("a", { href: `/calculate?${new URLSearchParams({ city: of, q })}` }, "Calculate it"));
  }

  warnings(answer) {
    const found = [];
    if (answer.outcome === "answer" && answer.withheld.length) {
      found.push(el("details", { class: "withheld" },
        el("summary", {}, `${count(answer.withheld.length, "sentence")} of the model withheld`),
        el("ul", {}, ...answer.withheld.map((claim) =>
          el("li", {}, bdi(claim.text), el("span", {}, claim.flags.map((f) => FAULTS[f]).join("; ")))))));
    }
    if (answer.route === "calculation") found.push(this.calculator(answer));
    if (answer.note && !this.model) found.push(el("p", { class: "note" }, answer.note));
    return found;
  }

  abstain(answer) {
    const { chunks, legs, terms, nearest } = answer.searched;
    const words = terms.length ? ` for: ${terms.join(", ")}` : "";
    const links = nearest.map((near) => {
      const title = titleOf(near.heading, near.section);
      return el("li", {}, el("a", { href: `/sections/${near.section_id}`, "data-proof": "" },
        ...(title === near.section ? [] : [bdi(near.section), " "]), bdi(title)));
    });
    const title = TITLES[answer.reason] ?? "No answer from the code";
    const box = el("section", { class: "abstained" }, title ? el("h3", {}, title) : "",
      el("p", {}, answer.text));
    if (answer.places.length) {
      const wanted = new URLSearchParams([...answer.places.map((place) => ["city", place]), ["q", answer.question]]);
      box.append(el("p", {}, el("a", { href: `/compare?${wanted}` }, "Compare these cities")));
    }
    if (chunks) {
      box.append(el("p", { class: "small" },
        `Searched ${count(chunks, "passage")} by ${legs.map((leg) => WAYS[leg]).join(", ")}${words}.`));
    }
    if (links.length) {
      box.append(el("p", { class: "label" }, "Nearest sections"), el("ul", { class: "nearest" }, ...links));
    }
    if (answer.office) {
      box.append(el("p", { class: "office" }, el("span", { class: "label" }, "Ask"), bdi(answer.office)));
    }
    this.body.append(box);
    this.say("The box did not find an answer.", false);
    this.status.classList.add("hidden"); // the box above says it to the eye
  }

  error(problem) {
    this.done = true;
    this.checking.remove();
    this.status.remove();
    this.root.append(el("p", { class: "failed", role: "alert" }, problem.detail));
  }

  stopped() {
    this.done = true;
    this.checking.remove();
    this.say("Stopped.", false);
  }

  say(words, busy = true) {
    this.status.classList.toggle("busy", busy);
    if (this.status.textContent !== words) this.status.textContent = words;
  }
}

// ------------------------------------------------------------------ asking

async function ask(words) {
  const asked = { city, question: words, as_of: day.value, before: conversation.slice(-MOST_TURNS) };
  const entry = new Entry(asked);
  document.body.classList.add("asked");
  log.append(entry.root);
  entry.root.scrollIntoView({ block: "start" });
  const mine = new AbortController();
  running = mine;
  setBusy(true);
  try {
    await follow(entry, asked, mine);
    if (!entry.done) entry.error({ detail: "The answer broke off; ask again." });
  } catch (error) {
    if (error.name === "AbortError") entry.stopped();
    else entry.error({ detail: "The box does not answer; is it still running?" });
  } finally {
    release(mine);
  }
}

/** Let the next question be asked: the answer stands, though a judge may still be at work on it. */
function release(mine) {
  if (running !== mine) return;
  running = null;
  setBusy(false);
}

async function follow(entry, asked, mine) {
  const response = await fetch("/api/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
    signal: mine.signal,
  });
  if (!response.ok) {
    entry.error(await response.json());
    return;
  }
  for await (const [name, data] of events(response.body)) {
    entry[name](data);
    if (name !== "answer") continue;
    if (asked.city === city) conversation.push(asked.question);
    release(mine);
  }
}

/** Yield [name, data] of each server-sent event; comments (heartbeats) are passed over. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const frame of frames.filter((f) => f.startsWith("event: "))) {
      const [event, data] = frame.split("\n");
      yield [event.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
    }
  }
}

function setBusy(busy) {
  const button = $("send");
  button.textContent = busy ? "Stop" : "Ask";
  button.classList.toggle("stops", busy);
  if (!busy) question.focus({ preventScroll: true });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (running) return;
  const words = question.value.trim();
  if (!words || !city) return;
  question.value = "";
  ask(words);
});

$("send").addEventListener("click", (event) => {
  if (!running) return;
  event.preventDefault(); // an empty question is no reason not to stop
  running.abort();
});

question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!running) form.requestSubmit();
});

// ------------------------------------------------------------------ proof

let opener = null; // what had the focus when the panel was opened
const narrow = matchMedia("(max-width: 59.99rem)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

async function openProof(link, from = link) {
  const url = new URL(link.href);
  const response = await fetch(`/api${url.pathname}${url.search}`);
  if (!response.ok) {
    location.assign(link.href); // its own page says what is wrong
    return;
  }
  fillProof(await response.json(), link.href);
  markOpen(link);
  opener = from;
  if (!proof.open) {
    if (narrow.matches) proof.showModal();
    else proof.show();
    document.body.classList.add("with-proof");
  }
  $("proof-law").focus({ preventScroll: true });
  $("proof-law").scrollTop = 0;
  $("proof-law").querySelector("mark:not(.syntax)")?.scrollIntoView(
    { block: "center", behavior: still.matches ? "auto" : "smooth" });
}

function fillProof(section, page) {
  const title = titleOf(section.heading, section.citation);
  $("proof-cite").textContent = title === section.citation ? "" : section.citation;
  $("proof-title").replaceChildren(bdi(title));
  $("proof-path").replaceChildren(bdi(section.path.join(" › ")));
  $("proof-facts").replaceChildren(
    el("span", { class: `standing ${section.standing}` }, section.dates),
    " · version ", el("code", { title: section.version }, section.version.slice(0, 12)));
  $("proof-law").replaceChildren(
    ...section.notices.map(notice), ...section.blocks.map(lawBlock));
  $("proof-page").href = page;
  const source = $("proof-source");
  source.hidden = !/^https?:\/\//.test(section.url ?? "");
  if (!source.hidden) source.href = section.url;
}

function markOpen(link) {
  document.querySelector(".card.open")?.classList.remove("open");
  link?.closest(".card")?.classList.add("open");
}

proof.addEventListener("close", () => {
  document.body.classList.remove("with-proof");
  markOpen(null);
  // Whoever has moved on already (to the question, say) is not called back.
  if (document.activeElement === document.body) opener?.focus();
  opener = null;
});
$("proof-close").addEventListener("click", () => proof.close());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && proof.open && !event.defaultPrevented) proof.close();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-proof], a[data-ask]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  if ("proof" in link.dataset) openProof(link);
  else if (!running) ask(new URL(link.href).searchParams.get("q"));
});

// ------------------------------------------------------------------ city

function choose(id) {
  if (id !== city) conversation = [];
  city = id;
  try {
    localStorage.setItem("city", id);
  } catch {
    // a browser that keeps nothing: the address remembers
  }
  const address = new URL(location.href);
  address.search = new URLSearchParams({ city: id });
  history.replaceState(null, "", address);
  showCoverage(cities.get(id));
}

function showCoverage(held) {
  if (!held || !$("place")) return;
  $("place").textContent = held.name;
  $("coverage").textContent = [
    count(held.sections, "section"),
    count(held.chunks, "passage"),
    held.newest ? `newest law of ${held.newest}` : "law undated",
    held.status,
  ].join(" · ");
  const state = held.state[0].toUpperCase() + held.state.slice(1);
  $("held-state").textContent = held.reasons.length ? `${state}: ${held.reasons[0]}` : state;
  $("held-text").textContent = held.coverage;
  $("starters").replaceChildren(...held.subjects.slice(0, 6).map((subject) => {
    const q = `What does the code say about ${subject}?`;
    return el("a", { "data-ask": "", href: `/?${new URLSearchParams({ city: held.city, q })}` }, bdi(subject));
  }));
}

/** The cities whose name or id holds all typed words. */
function matching(typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return [...cities.values()].filter((held) => {
    const hay = `${held.name} ${held.city}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** Put a combobox (type to filter, arrows, Enter, Escape) in the place of the plain list. */
function makePicker() {
  const input = el("input", {
    id: "city", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": "options", autocomplete: "off", spellcheck: "false", placeholder: "Type a city",
  });
  const list = el("ul", { id: "options", class: "options", role: "listbox", "aria-label": "Cities", hidden: "" });
  $("city").replaceWith(input);
  $("picker").append(list);
  let shown = [];
  let active = -1;

  const rest = () => {
    input.value = cities.get(city)?.name ?? "";
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const pick = (held) => {
    if (held) choose(held.city);
    rest();
  };
  const show = (typed) => {
    shown = matching(typed).slice(0, 100);
    list.replaceChildren(...shown.map((held, i) =>
      el("li", { id: `option-${i}`, role: "option" }, bdi(held.name),
        el("span", {}, held.dense_ready ? "" : held.status))));
    if (!shown.length) list.append(el("li", { class: "none" }, "No such city in this box"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    light(typed ? 0 : shown.findIndex((held) => held.city === city));
  };
  const light = (index) => {
    active = shown.length ? (index + shown.length) % shown.length : -1;
    [...list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === active)));
    if (active < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", `option-${active}`);
      list.children[active].scrollIntoView({ block: "nearest" });
    }
  };
  const keys = {
    ArrowDown: () => (list.hidden ? show("") : light(active + 1)),
    ArrowUp: () => (list.hidden ? show("") : light(active - 1)),
    Enter: () => (list.hidden ? show("") : pick(shown[active])),
    Escape: rest,
  };
  input.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || (event.key === "Escape" && list.hidden)) return;
    event.preventDefault();
    act();
  });
  input.addEventListener("input", () => show(input.value));
  input.addEventListener("click", () => {
    input.select();
    show("");
  });
  input.addEventListener("blur", rest);
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the field keeps the focus
    pick(shown[[...list.children].indexOf(event.target.closest("li"))]);
  });
  rest();
}

function remembered() {
  const wanted = new URLSearchParams(location.search).get("city");
  if (wanted) return wanted;
  try {
    return localStorage.getItem("city");
  } catch {
    return null;
  }
}

async function loadCities() {
  const response = await fetch("/api/cities");
  if (!response.ok) return false;
  for (const held of (await response.json()).cities) cities.set(held.city, held);
  if (!cities.has(city)) city = cities.keys().next().value ?? "";
  return cities.size > 0;
}

async function begin() {
  if (!(await loadCities())) return;
  const last = remembered();
  if (last !== city && cities.has(last)) choose(last);
  makePicker();
}

// ------------------------------------------------------------------ the model's state

const SETTLED = ["ready", "failed", "stopped", "quotes"];

function showModel(state) {
  const chip = $("model");
  const words = {
    ready: state.model ? `model ready: ${state.model}` : "model ready",
    failed: "quotes mode",
    stopped: "quotes mode",
    quotes: "quotes mode",
  };
  chip.textContent = words[state.phase] ?? `model: ${state.detail}`;
  chip.title = state.detail;
  chip.dataset.phase = state.phase;
  chip.hidden = false;
}

/** Ask every 3 s while a model comes up and while a city is being encoded. */
async function watch() {
  try {
    const response = await fetch("/api/model");
    const state = response.ok ? await response.json() : null;
    if (state) showModel(state);
    const encoding = cities.has(city) && !cities.get(city).dense_ready;
    if (encoding && (await loadCities())) showCoverage(cities.get(city));
    if (state && SETTLED.includes(state.phase) && !encoding) return;
  } catch {
    // the box is away for a moment; the next round will tell
  }
  setTimeout(watch, 3000);
}

await begin();
watch();
if (!document.body.classList.contains("asked")) question.focus({ preventScroll: true });
