// Images resized as Pillow does it, so that the page sees the pixels that Python sees: first along rows, then along
// columns, each rounded to a byte, with a filter that grows with the reduction.

const FILTERS = {
  bilinear: { reach: 1, weight: (x) => 1 - x },
  bicubic: {
    reach: 2,
    weight: (x) => (x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2),
  },
  lanczos: { reach: 3, weight: (x) => sinc(x) * sinc(x / 3) },
};

function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

// Which pixels make each of `size` new ones out of the stretch of `length` from `start`, and how much each counts.
function contributions(pixels, start, length, size, interpolation) {
  const scale = length / size;
  if (interpolation === "nearest") {
    return Array.from({ length: size }, (_, i) => ({ first: Math.floor(start + (i + 0.5) * scale), weights: [1] }));
  }
  const { reach, weight } = FILTERS[interpolation];
  const grown = Math.max(scale, 1);
  return Array.from({ length: size }, (_, i) => {
    const centre = start + (i + 0.5) * scale;
    const first = Math.max(Math.floor(centre - reach * grown + 0.5), 0);
    const end = Math.min(Math.floor(centre + reach * grown + 0.5), pixels);
    const weights = Array.from({ length: end - first }, (_, k) => {
      const away = Math.abs((first + k - centre + 0.5) / grown);
      return away < reach ? weight(away) : 0;
    });
    const total = weights.reduce((sum, each) => sum + each, 0);
    return { first, weights: weights.map((each) => each / total) };
  });
}

function rounded(weights, data, from, step) {
  let sum = 0.5;
  for (let k = 0; k < weights.length; k++) sum += weights[k] * data[from + k * step];
  return Math.floor(sum);
}

// The square that the model sees: (size, size, 3) bytes, of the middle of an image given as RGBA.
export function square(image, { size, resize, interpolation }) {
  const { width, height, data } = image;
  const shorter = Math.min(width, height);
  const kept = (shorter * size) / (shorter >= size ? resize : size);
  const columns = contributions(width, (width - kept) / 2, kept, size, interpolation);
  const rows = contributions(height, (height - kept) / 2, kept, size, interpolation);
  const top = rows[0].first;
  const bottom = rows[size - 1].first + rows[size - 1].weights.length;

  const narrow = new Uint8ClampedArray((bottom - top) * size * 3); // clips by itself; halves are rounded up first
  for (let y = top; y < bottom; y++) {
    columns.forEach(({ first, weights }, x) => {
      for (let channel = 0; channel < 3; channel++) {
        const from = (y * width + first) * 4 + channel;
        narrow[((y - top) * size + x) * 3 + channel] = rounded(weights, data, from, 4);
      }
    });
  }
  const small = new Uint8ClampedArray(size * size * 3);
  rows.forEach(({ first, weights }, y) => {
    for (let at = 0; at < size * 3; at++) {
      const from = (first - top) * size * 3 + at;
      small[y * size * 3 + at] = rounded(weights, narrow, from, size * 3);
    }
  });
  return new Uint8Array(small.buffer);
}
