// The battle behind the title: a film that comes with the page, and is played again and again.

import { el } from "./dom.js";
import { Film } from "./film.js";
import { Renderer } from "./renderer.js";

const pictureMS = 30; // at least between two: nothing moves fast, and the program is to start meanwhile
const slowMS = 45; // a device that needs more for a frame gets no battle
const speed = 12; // ticks a second, 0.6 of the match
const fade = 15; // ticks before the end, for the transition in lobby.css
const margin = 1.15; // by which the map is larger than the screen

export class Backdrop {
  constructor() {
    const ground = el("canvas"), moving = el("canvas");
    this.element = el("div", { class: "backdrop", "aria-hidden": "true" }, ground, moving);
    this.renderer = new Renderer(ground, moving, {
      frame: (...args) => this.film.frame(...args), ground: (cells) => this.film.ground(cells), fog: (cells) => this.film.fog(cells),
    });
    new ResizeObserver(() => this.#resize()).observe(this.element);
    globalThis.backdrop = this; // for debugging and tests
  }

  // show plays the film, unless the user or the device wants no motion.
  async show() {
    this.showing = true;
    if (weak()) return;
    this.film ??= await load().catch(() => null);
    if (!this.film || !this.showing || this.next) return;
    this.tick = 0;
    this.costs = [];
    this.#resize();
    this.before = performance.now();
    this.next = requestAnimationFrame((now) => this.#frame(now));
  }

  hide() {
    this.showing = false;
    cancelAnimationFrame(this.next);
    this.next = 0;
    this.element.classList.remove("drawn");
    this.renderer.reset();
  }

  // #resize takes the size of the element. The map is larger than it, and begins at its left, because the title is there.
  #resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !this.film) return;
    this.renderer.resize(width, height);
    const middle = this.film.size / 2, cell = (margin * Math.max(width, height)) / this.film.size;
    this.camera = { x: width > height ? width / 2 / cell : middle, y: middle, cell };
  }

  #frame(now) {
    this.next = requestAnimationFrame((then) => this.#frame(then));
    if (now - this.before < pictureMS) return;
    const seconds = Math.min(100, now - this.before) / 1000;
    this.before = now;
    if (scrollY > this.element.clientHeight) return; // out of sight
    const began = performance.now();
    this.tick = (this.tick + seconds * speed) % this.film.last;
    this.renderer.draw(this.tick, this.camera);
    this.element.classList.toggle("drawn", this.tick < this.film.last - fade);
    this.#judge(performance.now() - began);
  }

  // #judge stops the battle on a device that is too slow for it. A still picture stays.
  #judge(ms) {
    this.costs.push(ms);
    if (this.costs.length < 60) return;
    const middle = this.costs.sort((a, b) => a - b)[30];
    this.costs = [];
    if (middle > slowMS) cancelAnimationFrame(this.next);
  }
}

async function load() {
  const answer = await fetch(document.querySelector('meta[name="backdrop"]').content);
  return answer.ok ? new Film(new Uint8Array(await answer.arrayBuffer())) : null;
}

// weak reports whether the user wants less motion or less data, or the device has little power.
function weak() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches || navigator.connection?.saveData || navigator.hardwareConcurrency < 2 || navigator.deviceMemory < 2;
}
