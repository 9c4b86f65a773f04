/* The decision tree: pan, zoom, expand and collapse; only visible parts are drawn. */

const WIDE = { width: 212, height: 46, rank: 268, slot: 58 };
const NARROW = 560;  // pixels; below, the tree is an indented list

class TreeView {
  /* options: choose(node) called when a node is selected */
  constructor(svg, model, options) {
    Object.assign(this, { svg, model, options });
    this.scene = s("g", { class: "scene" });
    svg.append(this.scene);
    this.view = { x: 40, y: 40, scale: 1 };
    this.passed = new Map();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(svg);
  }

  /* Cards beside each other; below each other, and wider, where there is no room for two. */
  shape() {
    const { width } = this.size();
    this.isList = width < NARROW;
    this.box = this.isList ? { width: width - 32, height: 46, rank: 12, slot: 54 } : WIDE;
  }

  resize() {
    if (!this.tree) return;
    const wasList = this.isList;
    this.shape();
    if (wasList || this.isList) this.layout();
    if (wasList !== this.isList) this.fit(1); else this.draw();
  }

  setTree(tree) {
    this.tree = tree;
    this.shape();
    this.chosen = 0;
    this.column = null;
    this.colours = tree.purity;
    this.open = this.firstOpen(Math.min(40, Math.max(9, Math.round(this.size().height / 30))));
    this.layout();
    this.fit(1);
  }

  /* Expands the largest nodes until about `limit` nodes are visible. */
  firstOpen(limit) {
    const open = new Set();
    const queue = [0];
    let seen = 1;
    while (queue.length && seen < limit) {
      queue.sort((a, b) => this.tree.weight[b] - this.tree.weight[a]);
      const node = queue.shift();
      if (this.tree.isLeaf(node)) continue;
      open.add(node);
      const below = this.tree.children(node);
      seen += below.length;
      queue.push(...below);
    }
    return open;
  }

  layout() {
    const { tree, open } = this;
    this.places = new Map();
    this.order = [];
    let slot = 0;
    const stack = [[0, false]];
    while (stack.length) {
      const [node, done] = stack.pop();
      const below = open.has(node) ? tree.children(node) : [];
      if (!done) this.order.push(node);
      if (this.isList && !done) this.places.set(node, this.listed(node));
      if (below.length && !done) {
        stack.push([node, true]);
        for (let k = below.length - 1; k >= 0; k--) stack.push([below[k], false]);
        continue;
      }
      if (this.isList) continue;
      const ends = below.length ? [below[0], below[below.length - 1]].map((c) => this.places.get(c).y) : null;
      const y = ends ? (ends[0] + ends[1]) / 2 : slot++ * this.box.slot;
      this.places.set(node, { x: tree.depth[node] * this.box.rank, y, width: this.box.width });
    }
    const deepest = Math.max(...this.order.map((node) => tree.depth[node]));
    if (this.isList) slot = this.order.length;
    this.extent = { width: deepest * this.box.rank + this.box.width, height: (slot - 1) * this.box.slot + this.box.height };
  }

  /* The place of a node in the list, which ends at the right edge unless it is very deep. */
  listed(node) {
    const x = this.tree.depth[node] * this.box.rank;
    return { x, y: (this.order.length - 1) * this.box.slot, width: Math.max(160, this.box.width - x) };
  }

  size() {
    const box = this.svg.getBoundingClientRect();
    return { width: Math.max(box.width, 50), height: Math.max(box.height, 50) };
  }

  /* Shows the whole tree; with a minimum scale, the root and as much as fits. */
  fit(least) {
    const { width, height } = this.size();
    const room = { width: width - 60, height: height - 100 };
    const whole = Math.min(1, room.width / this.extent.width, room.height / this.extent.height);
    const scale = Math.max(whole, least ? 0.82 * least : 0.03);
    if (this.isList) {
      this.view = { x: 12, y: 60, scale: least ? 1 : scale };
      this.draw();
      return;
    }
    const x = scale * this.extent.width < room.width ? (width - scale * this.extent.width) / 2 : 24;
    const root = this.places.get(0).y + this.box.height / 2;
    const y = scale * this.extent.height < room.height
      ? 60 + (room.height - scale * this.extent.height) / 2 : height / 2 - scale * root;
    this.view = { x, y, scale };
    this.draw();
  }

  zoom(factor, at) {
    const { width, height } = this.size();
    const point = at || { x: width / 2, y: height / 2 };
    const scale = Math.min(2.5, Math.max(0.02, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.view = { x: point.x - (point.x - this.view.x) * ratio, y: point.y - (point.y - this.view.y) * ratio, scale };
    this.move();
  }

  move() {
    const { x, y, scale } = this.view;
    this.scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    const seen = this.inSight(0);
    const drawn = this.drawn;
    const everything = this.coarse() && this.wasCoarse;  // at a small scale everything is drawn
    const stale = !drawn || (!everything && (seen.left < drawn.left || seen.right > drawn.right || seen.top < drawn.top
      || seen.bottom > drawn.bottom || this.coarse() !== this.wasCoarse));
    if (stale && !this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    }
  }

  inSight(margin) {
    const { width, height } = this.size();
    const { x, y, scale } = this.view;
    return {
      left: (-x - margin * width) / scale, right: (width - x + margin * width) / scale,
      top: (-y - margin * height) / scale, bottom: (height - y + margin * height) / scale,
    };
  }

  coarse() { return this.view.scale < 0.3; }

  draw() {
    if (!this.tree) return;
    const { x, y, scale } = this.view;
    this.scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.drawn = this.inSight(0.5);
    this.wasCoarse = this.coarse();
    const focused = this.scene.contains(document.activeElement);
    this.scene.replaceChildren(...(this.coarse() ? this.farParts() : this.nearParts()));
    if (focused) this.focus();
  }

  nearParts() {
    const edges = [];
    const nodes = [];
    for (const node of this.order) {
      const place = this.places.get(node);
      if (node > 0) this.addEdge(node, place, edges);
      const { left, right, top, bottom } = this.drawn;
      const near = place.x < right && place.x + place.width > left && place.y < bottom && place.y + this.box.height > top;
      if (near || node === this.chosen) nodes.push(this.card(node, place));
    }
    return [...edges, ...nodes];
  }

  /* At a small scale, draw all edges as two paths and all cards as one path per shade, so that
     thousands of nodes stay responsive. Clicks are resolved by position. */
  farParts() {
    const paths = { edge: "", passed: "" };
    const shades = Array.from({ length: 8 }, () => "");
    for (const node of this.order) {
      const { x, y } = this.places.get(node);
      if (node > 0) paths[this.passed.has(node) ? "passed" : "edge"] += this.curve(node);
      const shade = Math.min(7, Math.floor(this.colours[node] * 8));
      shades[shade] += `M${x} ${y}h${this.box.width}v${this.box.height}h${-this.box.width}z`;
    }
    const parts = [s("path", { class: "edge", d: paths.edge, "stroke-width": 1, "vector-effect": "non-scaling-stroke" }), s("path", { class: "edge passed", d: paths.passed, "stroke-width": 2.5, "vector-effect": "non-scaling-stroke" })];
    shades.forEach((d, k) => {
      if (d) parts.push(s("path", { class: "frame far", d }), s("path", { class: "tint", d, "fill-opacity": (0.45 * (k + 0.5)) / 8 }));
    });
    return [...parts, this.card(this.chosen, this.places.get(this.chosen))];
  }

  curve(node) {
    const from = this.places.get(this.tree.parent[node]);
    const place = this.places.get(node);
    if (this.isList) return `M${from.x + 8} ${from.y + this.box.height}V${place.y + this.box.height / 2}H${place.x}`;
    const x0 = from.x + this.box.width, y0 = from.y + this.box.height / 2, x1 = place.x, y1 = place.y + this.box.height / 2;
    const bend = (x0 + x1) / 2;
    return `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}`;
  }

  addEdge(node, place, edges) {
    const from = this.places.get(this.tree.parent[node]);
    const { left, right, top, bottom } = this.drawn;
    const y0 = from.y + this.box.height / 2, x1 = place.x, y1 = place.y + this.box.height / 2;
    if (Math.min(y0, y1) > bottom || Math.max(y0, y1) < top || x1 < left || (!this.isList && from.x + this.box.width > right)) return;
    const share = this.tree.share(this.tree.parent[node], this.tree.branch[node]);
    const passed = this.passed.has(node) ? " passed" : "";
    edges.push(s("path", { class: `edge${passed}`, d: this.curve(node), "stroke-width": (passed ? 2.5 : 1) + 4 * share }));
    if (this.isList) return;  // the card has the answer
    const text = cut(this.model.answer(this.tree, this.tree.parent[node], this.tree.branch[node]), 14);
    edges.push(s("text", { class: "answer", x: x1 - 6, y: y1 + (y1 > y0 + 1 ? 15 : -6), "text-anchor": "end", text }));
  }

  card(node, place) {
    const { tree, model } = this;
    const leaf = tree.isLeaf(node);
    const open = this.open.has(node);
    const classes = ["node", node === this.chosen ? "chosen" : "", this.passed.has(node) ? "passed" : ""].join(" ");
    const group = s("g", {
      class: classes, role: "treeitem", "data-node": node, transform: `translate(${place.x} ${place.y})`,
      tabindex: node === this.chosen ? "0" : "-1", "aria-level": tree.depth[node] + 1,
      "aria-expanded": leaf ? null : String(open), "aria-selected": String(node === this.chosen), "aria-label": this.spoken(node),
    });
    const shape = { width: place.width, height: this.box.height, rx: leaf ? 3 : 11 };
    group.append(s("rect", { class: "frame", ...shape }));
    const colour = this.colours[node];
    if (colour > 0.01) group.append(s("rect", { class: "tint", ...shape, "fill-opacity": (0.45 * colour).toFixed(3) }));
    if (this.coarse()) return group;
    group.append(s("title", { text: this.spoken(node) }));
    const room = Math.floor((place.width - 30) / 6.7);  // letters
    const answer = this.isList && node > 0 ? `${cut(model.answer(tree, tree.parent[node], tree.branch[node]), 14)}: ` : "";
    const first = answer + (leaf ? model.fitName(tree.top[node], room - 7 - answer.length) : cut(model.question(tree, node), room - answer.length));
    group.append(s("text", { x: 10, y: 19, text: first }));
    if (leaf && tree.topValue[node] !== 0) {
      group.append(s("text", { x: place.width - 8, y: 19, "text-anchor": "end", text: model.figure(tree.topValue[node]) }));
    }
    group.append(s("text", { class: "small", x: 10, y: 36, text: cut(this.note(node), Math.floor((place.width - 20) / 6)) }));
    if (!leaf) group.append(this.turn(node, open, place.width));
    return group;
  }

  note(node) {
    const missing = this.tree.missing[node] ? `, ${this.tree.missing[node]} missing` : "";
    const label = this.column === null ? "" : ` · ${this.model.hasMargins ? signed(this.column[node]) : fine(this.column[node])}`;
    const part = this.passed.get(node);
    if (part !== undefined && part < 0.9995) return `${rowsOf(this.tree, node)} · ${Math.round(100 * part)} % of the row${label}`;
    // Both do not fit into the box; the panel has both.
    return (missing ? rowsText(this.tree.n[node]) : rowsOf(this.tree, node)) + missing + label;
  }

  turn(node, open, x) {
    const knob = s("g", { class: "turn", transform: `translate(${x} ${this.box.height / 2})`, "aria-hidden": "true" },
      s("circle", { r: 8 }), s("text", { y: 4, text: open ? "−" : "+" }));
    knob.addEventListener("click", (event) => { event.stopPropagation(); this.toggle(node); });
    return knob;
  }

  spoken(node) {
    const { tree, model } = this;
    const path = tree.path(node).slice(1).map((i) => model.condition(tree, tree.parent[i], tree.branch[i]));
    const where = path.length ? path[path.length - 1] : "all rows";
    const what = tree.isLeaf(node) ? `leaf, ${model.labels[tree.top[node]] ?? "no label"} ${model.figure(tree.topValue[node])}` : `test: ${model.question(tree, node)}`;
    return `Node ${node}: ${where}. ${rowsOf(tree, node)}; ${what}`;
  }

  toggle(node) {
    const before = this.places.get(node);
    if (this.open.has(node)) this.open.delete(node);
    else {
      this.open.add(node);
      const below = this.tree.children(node);
      if (below.every((child) => this.tree.isLeaf(child))) below.forEach((child) => this.open.add(child));
    }
    this.layout();
    const after = this.places.get(node);
    this.view.y += (before.y - after.y) * this.view.scale;  // keep the node in place
    this.draw();
  }

  setAll(open) {
    this.open = new Set();
    if (open) for (let i = 0; i < this.tree.size; i++) if (!this.tree.isLeaf(i)) this.open.add(i);
    if (!open) this.choose(0, true);
    this.layout();
    this.fit(open ? Math.min(1, (this.size().width - 60) / this.extent.width) : 1);
  }

  /* Selects a node, expands the path to it and scrolls to it. */
  choose(node, quietly) {
    this.chosen = node;
    this.reveal(node);
    this.bring(node);
    this.draw();
    if (!quietly) this.options.choose(node);
  }

  /* Expands the path to a node. */
  reveal(node) {
    const hidden = this.tree.path(node).slice(0, -1).filter((i) => !this.open.has(i));
    hidden.forEach((i) => this.open.add(i));
    if (hidden.length) this.layout();
  }

  bring(node) {
    const place = this.places.get(node);
    const seen = this.inSight(0);
    const { width, height } = this.size();
    const scale = Math.max(this.view.scale, 0.45);
    if (this.isList) {
      const hidden = place.y < seen.top || place.y + this.box.height > seen.bottom;
      const x = Math.min(12, width - 12 - scale * (place.x + place.width));
      this.view = { x, y: hidden ? height / 2 - scale * place.y : this.view.y, scale };
      return;
    }
    const outside = place.x < seen.left || place.x + place.width > seen.right || place.y < seen.top || place.y + this.box.height > seen.bottom;
    if (!outside && scale === this.view.scale) return;
    // Right of the center, because the path to the node is on its left.
    this.view = { x: 0.66 * width - scale * (place.x + place.width / 2), y: height / 2 - scale * (place.y + this.box.height / 2), scale };
  }

  /* Scrolls to a path: all of it, or its end if it is long. */
  showWay(leaf) {
    this.reveal(leaf);
    if (this.isList) { this.bring(leaf); return; }
    const way = this.tree.path(leaf).map((node) => this.places.get(node));
    const { width, height } = this.size();
    const ys = way.map((place) => place.y);
    const top = Math.min(...ys), tall = Math.max(...ys) - top + this.box.height;
    const wide = way[way.length - 1].x + this.box.width;
    const scale = Math.min(1, Math.max(0.62, Math.min((width - 70) / wide, (height - 130) / tall)));
    const whole = scale * wide < width - 60 && scale * tall < height - 120;
    const x = whole ? (width - scale * wide) / 2 : width - 30 - scale * wide;
    const end = way[way.length - 1].y + this.box.height / 2;
    const y = whole ? 60 + (height - 120 - scale * tall) / 2 - scale * top : height / 2 - scale * end;
    this.view = { x, y, scale };
  }

  colourBy(label) {
    this.label = label;
    // Colours are relative to the most probable node, so that rare labels are visible too.
    this.column = label === undefined ? null : this.tree.column(label);
    this.largest = this.column ? Math.max(...this.column.map(Math.abs), 1e-9) : 1;
    this.colours = this.column ? this.column.map((p) => Math.abs(p) / this.largest) : this.tree.purity;
    this.draw();
  }

  pass(parts) {
    this.passed = parts;
    for (const [node, part] of parts) if (part > 0.25 && !this.tree.isLeaf(node)) this.open.add(node);
    this.layout();
    this.draw();
  }

  focus() {
    const card = this.scene.querySelector(`[data-node="${this.chosen}"]`);
    if (card) card.focus({ preventScroll: true });
  }

  listen() {
    const { svg } = this;
    const pointers = new Map();
    let moved = 0;
    svg.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); moved = 0; });
    svg.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      if (pointers.size === 2) this.pinch(pointers, event);
      else { this.view.x += dx; this.view.y += dy; this.move(); }
      pointers.set(event.pointerId, event);
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0015), { x: event.clientX - box.left, y: event.clientY - box.top });
    }, { passive: false });
    svg.addEventListener("click", (event) => {
      const node = this.nodeAt(event);
      if (node !== undefined && moved <= 4) { this.choose(node); this.focus(); }
    });
    svg.addEventListener("dblclick", (event) => {
      const node = this.nodeAt(event);
      if (node !== undefined && !this.tree.isLeaf(node)) this.toggle(node);
    });
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  nodeAt(event) {
    const box = this.svg.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.x) / this.view.scale;
    const y = (event.clientY - box.top - this.view.y) / this.view.scale;
    return this.order.find((node) => {
      const place = this.places.get(node);
      return x >= place.x && x <= place.x + place.width && y >= place.y && y <= place.y + this.box.height;
    });
  }

  pinch(pointers, event) {
    const other = [...pointers.values()].find((p) => p.pointerId !== event.pointerId);
    const last = pointers.get(event.pointerId);
    const distance = (a) => Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
    const box = this.svg.getBoundingClientRect();
    const middle = { x: (event.clientX + other.clientX) / 2 - box.left, y: (event.clientY + other.clientY) / 2 - box.top };
    if (distance(last) > 0) this.zoom(distance(event) / distance(last), middle);
  }

  key(event) {
    const { tree, chosen } = this;
    const at = this.order.indexOf(chosen);
    const open = this.open.has(chosen);
    let next = chosen;
    if (event.key === "ArrowDown") next = this.order[Math.min(this.order.length - 1, at + 1)];
    else if (event.key === "ArrowUp") next = this.order[Math.max(0, at - 1)];
    else if (event.key === "ArrowLeft") next = Math.max(0, tree.parent[chosen]);
    else if (event.key === "ArrowRight" && !tree.isLeaf(chosen)) { if (open) next = tree.children(chosen)[0]; else this.toggle(chosen); }
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = this.order[this.order.length - 1];
    else if ((event.key === "Enter" || event.key === " ") && !tree.isLeaf(chosen)) this.toggle(chosen);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    if (next !== chosen) this.choose(next);
    this.focus();
  }
}
