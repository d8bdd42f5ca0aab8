// The battle behind the title: a replay that comes with the page, and is played again and again.

import { el } from "./dom.js";
import { program } from "./program.js";
import { Renderer } from "./renderer.js";

const one = 65536; // fractions of a tick are in 1/65536
const workMS = 12; // to simulate in a frame
const slowMS = 45; // a device that needs more for a frame gets no battle
const begin = 205; // ticks after the first, when the armies meet and the replay has a keyframe
const speed = 0.6; // of the match
const margin = 1.15; // by which the map is larger than the screen

export class Backdrop {
  constructor() {
    const ground = el("canvas"), moving = el("canvas");
    this.element = el("div", { class: "backdrop", "aria-hidden": "true" }, ground, moving);
    this.renderer = new Renderer(ground, moving, {
      frame: (...args) => samestep.watchFrame(...args), ground: (array) => samestep.watchGround(array), fog: (array) => samestep.watchFog(array),
    });
    new ResizeObserver(() => this.#resize()).observe(this.element);
    program.addEventListener("progress", () => program.running && this.showing && this.#play());
    globalThis.backdrop = this; // for debugging and tests
  }

  show() {
    this.showing = true;
    if (program.running) this.#play();
  }

  hide() {
    this.showing = false;
    this.#stop();
  }

  // #play opens the replay, unless the user or the device wants no motion.
  async #play() {
    if (this.about || weak()) return;
    this.about = {}; // while it is loaded
    const answer = await fetch(document.querySelector('meta[name="backdrop"]').content), file = new Uint8Array(await answer.arrayBuffer());
    this.about = null;
    if (!this.showing || !answer.ok) return;
    const about = JSON.parse(samestep.watchOpen(file));
    if (about.error) return; // it is of another version of the game
    this.about = about;
    this.position = about.first + begin;
    this.costs = [];
    this.renderer.reset();
    this.#resize();
    const { width, height } = this.renderer;
    samestep.watchFrame(new Uint8Array(0), width, height, one, false); // the whole map fits the screen at first
    samestep.watchZoom(Math.round(1000 * margin * Math.max(width, height) / Math.min(width, height)), width / 2, height / 2);
    samestep.watchPan(width > height ? Math.round(-width / 8) : 0, 0); // the title is on the left
    this.before = performance.now();
    this.next = requestAnimationFrame((now) => this.#frame(now));
  }

  #stop() {
    cancelAnimationFrame(this.next);
    if (this.about?.last) samestep.watchClose();
    this.about = null;
    this.element.classList.remove("drawn");
  }

  #resize() {
    if (this.element.clientWidth) this.renderer.resize(this.element.clientWidth, this.element.clientHeight);
  }

  #frame(now) {
    this.next = requestAnimationFrame((then) => this.#frame(then));
    const seconds = Math.min(100, now - this.before) / 1000, { about } = this;
    this.before = now;
    if (scrollY > this.element.clientHeight) return; // out of sight
    const began = performance.now();
    this.position += seconds * about.tick_rate * speed;
    if (this.position >= about.last) this.position = about.first + begin;
    const to = Math.ceil(this.position);
    samestep.watchGo(to);
    if (!samestep.watchWork(workMS)) this.position = Math.min(this.position, samestep.watchTick() + 1);
    const ahead = to - this.position;
    if (this.renderer.draw(this.renderer.width, this.renderer.height, samestep.watchTick() === to ? Math.round((1 - ahead) * one) : one, false)) {
      this.element.classList.add("drawn");
    }
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

// weak reports whether the user wants less motion or less data, or the device has little power.
function weak() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches || navigator.connection?.saveData || navigator.hardwareConcurrency < 2 || navigator.deviceMemory < 2;
}
