// The minimap: the ground, the fog, a dot for each unit, and the frame of the view.

import { of } from "./palette.js";
import { EFFECT, PLACE } from "./frame.js";
import { PING, ping } from "./effects.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Minimap {
  // look(x, y) moves the view, in fractions of the map's sides.
  constructor(canvas, look) {
    this.canvas = canvas;
    const go = (e) => {
      if (e.buttons & 1) look(clamp(e.offsetX / canvas.clientWidth), clamp(e.offsetY / canvas.clientHeight));
    };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      go(e);
    });
    canvas.addEventListener("pointermove", go);
  }

  draw(renderer) {
    const { frame, ground, fog } = renderer;
    if (!ground) return;
    const ratio = Math.min(devicePixelRatio || 1, 2), side = Math.round(this.canvas.clientWidth * ratio);
    if (this.canvas.width !== side) this.canvas.width = this.canvas.height = side;
    const c = this.canvas.getContext("2d"), k = side / frame.size;
    c.imageSmoothingEnabled = true;
    c.drawImage(ground.small, 0, 0, side, side);
    c.drawImage(fog.canvas, 0, 0, side, side);
    const w = frame.words;
    for (let i = frame.dots.start; i < frame.dots.end; i++) {
      const dot = w[i], size = (dot >> 27) & 1 ? Math.max(5, 2.6 * k) : Math.max(2, 1.1 * k);
      c.fillStyle = (dot >> 28) & 1 ? "#ffffff" : of((dot >> 22) & 31).fill;
      c.fillRect(((dot & 2047) / 4) * k - size / 2, (((dot >> 11) & 2047) / 4) * k - size / 2, size, size);
    }
    for (let i = frame.effects.start; i < frame.effects.end; i += EFFECT) {
      if ((w[i] & 255) !== PING) continue;
      c.setTransform(ratio, 0, 0, ratio, (w[i + 1] / PLACE) * k, (w[i + 2] / PLACE) * k);
      ping(c, 0, 0, of((w[i] >> 8) & 255), ((w[i] >> 16) & 255) / 255, calm.matches);
    }
    c.setTransform(1, 0, 0, 1, 0, 0);
    const wide = renderer.width / frame.cell, high = renderer.height / frame.cell;
    c.strokeStyle = "#ffffff";
    c.lineWidth = ratio;
    c.strokeRect((frame.x - wide / 2) * k, (frame.y - high / 2) * k, wide * k, high * k);
  }
}

const clamp = (v) => Math.min(1, Math.max(0, v));
