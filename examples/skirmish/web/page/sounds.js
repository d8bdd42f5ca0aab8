// The sounds: a table of tones, and the player that makes them with WebAudio. There are no files of sounds.

import { remember, recall } from "./dom.js";

// A tone has a wave ("noise" is one), its frequency at the start and at the end in Hz, its start and length in milliseconds,
// and its loudness from 0 to 1.
const tone = (wave, from, to, ms, loud, at = 0) => ({ wave, from, to, ms, loud, at });

// sounds are the tones of each sound, and the least time from one to the next in milliseconds.
export const sounds = {
  select: { gap: 60, tones: [tone("triangle", 660, 720, 50, 0.25)] },
  order: { gap: 80, tones: [tone("triangle", 520, 520, 45, 0.3), tone("triangle", 780, 780, 60, 0.3, 50)] },
  attack: { gap: 80, tones: [tone("sawtooth", 300, 220, 70, 0.25), tone("sawtooth", 360, 240, 90, 0.25, 70)] },
  build: { gap: 80, tones: [tone("square", 240, 180, 50, 0.2), tone("square", 320, 240, 60, 0.2, 60)] },
  hit: { gap: 110, tones: [tone("noise", 2600, 700, 60, 0.14)] },
  fall: { gap: 160, tones: [tone("noise", 900, 160, 170, 0.25)] },
  ruin: { gap: 400, tones: [tone("noise", 500, 60, 700, 0.5), tone("sine", 110, 40, 600, 0.5)] },
  made: { gap: 300, tones: [tone("sine", 587, 587, 70, 0.3), tone("sine", 880, 880, 120, 0.3, 80)] },
  built: { gap: 300, tones: [tone("sine", 392, 392, 90, 0.3), tone("sine", 494, 494, 90, 0.3, 90), tone("sine", 587, 587, 160, 0.3, 180)] },
  alarm: { gap: 3000, tones: [tone("square", 440, 440, 120, 0.22), tone("square", 330, 330, 120, 0.22, 150), tone("square", 440, 440, 120, 0.22, 300)] },
  error: { gap: 300, tones: [tone("square", 170, 130, 130, 0.22)] },
  ping: { gap: 200, tones: [tone("sine", 1175, 1175, 90, 0.35), tone("sine", 1568, 1568, 180, 0.3, 100)] },
  chat: { gap: 200, tones: [tone("sine", 880, 988, 60, 0.25)] },
  victory: { gap: 5000, tones: [tone("triangle", 523, 523, 150, 0.45), tone("triangle", 659, 659, 150, 0.45, 150), tone("triangle", 784, 784, 150, 0.45, 300), tone("triangle", 1047, 1047, 500, 0.5, 450)] },
  defeat: { gap: 5000, tones: [tone("triangle", 392, 392, 250, 0.45), tone("triangle", 330, 330, 250, 0.45, 250), tone("triangle", 262, 247, 700, 0.5, 500)] },
};

const usual = 0.5; // the volume at first
const attackMS = 4; // a tone that begins at once would click

export class Sounds {
  constructor() {
    this.volume = recall("volume") === "" ? usual : Math.min(1, Math.max(0, Number(recall("volume")) || 0));
    this.muted = recall("muted") === "yes";
    this.before = {};
    const start = () => this.#start();
    for (const gesture of ["pointerdown", "pointerup", "keydown"]) addEventListener(gesture, start, { capture: true }); // before one, browsers make no sound
  }

  #start() {
    if (!globalThis.AudioContext || this.muted || navigator.userActivation?.hasBeenActive === false) return;
    if (!this.audio) {
      this.audio = new AudioContext();
      this.out = this.audio.createGain();
      this.out.connect(this.audio.destination);
      this.#loudness();
    }
    if (this.audio.state === "suspended") this.audio.resume();
  }

  #loudness() {
    if (this.out) this.out.gain.value = this.muted ? 0 : this.volume ** 2;
  }

  // set changes and remembers the volume, from 0 to 1, and whether there is no sound.
  set(volume, muted) {
    Object.assign(this, { volume, muted });
    remember("volume", String(volume));
    remember("muted", muted ? "yes" : "");
    this.#start();
    this.#loudness();
  }

  // play makes a sound, and reports whether it is not muted and not too soon after the same one.
  play(name) {
    const { gap, tones } = sounds[name], now = performance.now();
    if (this.muted || now - (this.before[name] ?? -Infinity) < gap) return false;
    this.before[name] = now;
    if (this.audio?.state === "running" && !document.hidden) for (const x of tones) this.#tone(x);
    return true;
  }

  #tone({ wave, from, to, ms, loud, at }) {
    const begin = this.audio.currentTime + at / 1000, end = begin + ms / 1000, gain = this.audio.createGain();
    gain.gain.setValueAtTime(0, begin);
    gain.gain.linearRampToValueAtTime(loud, begin + attackMS / 1000);
    gain.gain.exponentialRampToValueAtTime(0.001, end);
    gain.connect(this.out);
    const source = wave === "noise" ? this.#noise(gain, from, to, begin, end) : this.#wave(gain, wave, from, to, begin, end);
    source.start(begin);
    source.stop(end);
    source.addEventListener("ended", () => gain.disconnect());
  }

  #wave(gain, wave, from, to, begin, end) {
    const source = this.audio.createOscillator();
    source.type = wave;
    source.frequency.setValueAtTime(from, begin);
    source.frequency.exponentialRampToValueAtTime(to, end);
    source.connect(gain);
    return source;
  }

  // #noise is a second of noise, of which a filter lets low frequencies pass.
  #noise(gain, from, to, begin, end) {
    if (!this.second) {
      this.second = this.audio.createBuffer(1, this.audio.sampleRate, this.audio.sampleRate);
      const samples = this.second.getChannelData(0);
      for (let i = 0; i < samples.length; i++) samples[i] = 2 * Math.random() - 1;
    }
    const source = this.audio.createBufferSource(), filter = this.audio.createBiquadFilter();
    source.buffer = this.second;
    filter.frequency.setValueAtTime(from, begin);
    filter.frequency.exponentialRampToValueAtTime(to, end);
    source.connect(filter);
    filter.connect(gain);
    return source;
  }
}
