// Two ways to put pictures and bars onto a canvas. Both take places in pixels of the canvas.

// Brush draws on the canvas itself. That is best for few pictures, and for large ones.
export class Brush {
  constructor(c) {
    this.c = c;
  }

  begin() {
    this.c.setTransform(1, 0, 0, 1, 0, 0);
    this.c.clearRect(0, 0, this.c.canvas.width, this.c.canvas.height);
  }

  stamp(picture, x, y) {
    this.c.drawImage(picture.canvas, Math.round(x) - picture.half, Math.round(y) - picture.half);
  }

  // bar fills a rectangle with a colour of colourOf.
  bar(x, y, width, height, colour) {
    this.c.fillStyle = colour.css;
    this.c.fillRect(Math.round(x), Math.round(y), Math.max(1, Math.round(width)), Math.round(height));
  }

  end() {}
}

// Press copies the pixels of thousands of small pictures into an image by itself, and the image onto the canvas: several times
// as fast as a call for each picture where the browser draws without a graphics processor, and never slow with one.
export class Press {
  constructor(c) {
    this.c = c;
    this.from = this.to = 0; // the rows that the last frame has filled
  }

  begin() {
    const { width, height } = this.c.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.from = 0;
      this.to = height; // something else was on the canvas
    }
    this.pixels.fill(0, this.from * width, this.to * width);
    this.before = { from: this.from, to: this.to };
    this.from = height;
    this.to = 0;
  }

  // #rows notes that rows are filled.
  #rows(from, to) {
    if (from < this.from) this.from = from;
    if (to > this.to) this.to = to;
  }

  stamp(picture, x, y) {
    const { width, height } = this.image, { pixels } = this, source = picture.pixels, side = 2 * picture.half;
    const left = Math.round(x) - picture.half, top = Math.round(y) - picture.half;
    const x0 = Math.max(0, -left), x1 = Math.min(side, width - left), y0 = Math.max(0, -top), y1 = Math.min(side, height - top);
    if (x0 >= x1 || y0 >= y1) return;
    this.#rows(top + y0, top + y1);
    for (let row = y0; row < y1; row++) {
      let from = row * side + x0, to = (top + row) * width + left + x0;
      for (const end = from + x1 - x0; from < end; from++, to++) {
        const s = source[from];
        if (s === 0) continue;
        const d = pixels[to];
        pixels[to] = d === 0 || s >>> 24 === 255 ? s : over(s, d);
      }
    }
  }

  bar(x, y, width, height, colour) {
    const left = Math.max(0, Math.round(x)), right = Math.min(this.image.width, Math.round(x) + Math.max(1, Math.round(width)));
    const top = Math.max(0, Math.round(y)), bottom = Math.min(this.image.height, Math.round(y) + Math.round(height));
    if (left >= right || top >= bottom) return;
    this.#rows(top, bottom);
    for (let row = top; row < bottom; row++) this.pixels.fill(colour.word, row * this.image.width + left, row * this.image.width + right);
  }

  end() {
    const from = Math.min(this.from, this.before.from), to = Math.max(this.to, this.before.to);
    this.c.setTransform(1, 0, 0, 1, 0, 0);
    if (to > from) this.c.putImageData(this.image, 0, 0, 0, from, this.image.width, to - from);
    // what the frame draws above the image may be anywhere
    if (from > 0) this.c.clearRect(0, 0, this.image.width, from);
    if (to < this.image.height) this.c.clearRect(0, to, this.image.width, this.image.height - to);
  }

  // forget says that something else draws on the canvas.
  forget() {
    this.image = null;
  }
}

// over returns a pixel above another one: 8 bits each of blue, green and red below the opacity.
function over(s, d) {
  const a = s >>> 24, b = 255 - a, opacity = a + (((d >>> 24) * b) >> 8);
  const share = ((a << 8) / opacity) | 0, rest = 256 - share;
  const even = (((s & 0xff00ff) * share + (d & 0xff00ff) * rest) >>> 8) & 0xff00ff;
  const odd = ((((s >>> 8) & 0xff) * share + ((d >>> 8) & 0xff) * rest) >>> 8) & 0xff;
  return ((opacity << 24) | even | (odd << 8)) >>> 0;
}

// colourOf returns a colour of six digits, or of eight with the opacity, for both ways.
export function colourOf(css) {
  const [r, g, b, a] = [1, 3, 5, 7].map((i) => (css.length > i ? parseInt(css.slice(i, i + 2), 16) : 255));
  return { css, word: ((a << 24) | (b << 16) | (g << 8) | r) >>> 0 };
}
